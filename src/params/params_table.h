/* The option table behind the parser, decks, --help and --print-config. */
#ifndef MG_PARAMS_TABLE_H
#define MG_PARAMS_TABLE_H

#include "params/params.h"
#include <stddef.h>

/** Options and deck keys: MG_OPT_LOG2_BOX_DIM, ... */
typedef enum {
#define OPTION(id, ...) MG_OPT_##id,
#include "params/params_options.h"
#undef OPTION
  MG_N_OPTIONS
} mg_option_id_t;

/** Kind of an option's value. Determines the type of its field in mg_params_t. */
typedef enum {
  MG_KIND_WORD,      /**< one of `words`; the field is an enum: the word's index */
  MG_KIND_INT,       /**< int */
  MG_KIND_INT64,     /**< int64_t; words stand for -1, -2, ... */
  MG_KIND_DOUBLE,    /**< double */
  MG_KIND_FLAG,      /**< bool */
  MG_KIND_VERBOSITY, /**< a flag that sets an int to `min`; two flags share the int */
  MG_KIND_SET,       /**< comma-separated `words`, or all; unsigned, one bit per word */
  MG_KIND_SIDES,     /**< 1, 3 or 6 `words`: mg_side_t[3][2]; the last word is periodic */
  MG_KIND_CELLS,     /**< "NXxNYxNZ": int32_t[3]; unset: zeros */
  MG_KIND_REALS,     /**< "X,Y,Z": double[3]; unset: zeros */
  MG_KIND_STRETCH,   /**< "x:tanh:B,...", for some of x, y, z: double[3]; unset: zeros */
  MG_KIND_PATH,      /**< char[MG_PATH_MAX] */
  MG_KIND_PAIRS,     /**< "key=value,key=value": char[MG_PATH_MAX] */
  MG_KIND_ACTION     /**< --help and --version: no field */
} mg_option_kind_t;

/** Heading in --help. The first four are also the sections of a deck. */
typedef enum {
  MG_GROUP_PROBLEM,
  MG_GROUP_SOLVER,
  MG_GROUP_RUN,
  MG_GROUP_OUTPUT,
  MG_GROUP_HELP,
  MG_N_GROUPS
} mg_option_group_t;

enum { MG_IN_DECK = 1, MG_AS_OPTION = 2, MG_AS_ARGUMENT = 4 };

/** One option. All pointers refer to static storage. */
typedef struct {
  const char *name;    /**< name of the long option and the deck key */
  const char *alias;   /**< a second name, also accepted; NULL: none */
  char letter;         /**< short option, 0 for none */
  const char *metavar; /**< placeholder of the value in --help; NULL for flags and words */
  mg_option_kind_t kind;
  mg_option_group_t group;
  unsigned where;           /**< MG_IN_DECK | MG_AS_OPTION | MG_AS_ARGUMENT */
  size_t offset;            /**< offset of the field in mg_params_t */
  const char *const *words; /**< NULL-terminated; MG_KIND_WORD, _SET, or alternatives to a number */
  double min, max;          /**< limits of a number, exactly representable in double */
  bool open;                /**< the limits are exclusive */
  const char *value;        /**< default as the user would write it; NULL: unset */
  const char *bare;         /**< value of the option without "="; NULL: the next argument */
  const char *note;         /**< description of a default that depends on other options */
  const char *official;     /**< value set by --official; NULL: not set by it */
  const char *attribute;    /**< name in a dump; NULL: the name with '_' for '-' */
  bool in_dump;             /**< dumps store the value; a restart takes it from there */
  bool in_later_dumps;      /**< the same, but older dumps lack it: the default applies */
  bool (*applies)(const mg_params_t *params); /**< NULL: always */
  const char *condition;                      /**< `applies` in words: "requires --X" */
  mg_option_id_t decided_by;                  /**< the option X of `condition` */
  const char *wing;      /**< name of the wing that it needs and this build lacks, or NULL */
  const char *wing_word; /**< the word that needs it. NULL: all but the default and 1, one step */
  const char *help;      /**< one or more sentences, without limits or default */
} mg_option_t;

extern const mg_option_t mg_options[MG_N_OPTIONS];

/** Find an option by its name or alias, without dashes.
 *  @return NULL if there is none */
const mg_option_t *mg_option_find(const char *name);

/** Find an option by its short form.
 *  @return NULL if there is none */
const mg_option_t *mg_option_find_letter(char letter);

/** Does the option have an effect, given the other values in `params`? */
bool mg_option_applies(const mg_option_t *option, const mg_params_t *params);

#endif
