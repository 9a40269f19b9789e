/* The table of options: parser, decks, --help and --print-config all read this one. */
#ifndef MG_PARAMS_TABLE_H
#define MG_PARAMS_TABLE_H

#include "params/params.h"
#include <stddef.h>

/** One for each option or deck key, in the order of --help. */
typedef enum {
  MG_OPT_LOG2_BOX_DIM,
  MG_OPT_BOXES_PER_RANK,
  MG_OPT_OPERATOR,
  MG_OPT_EQUATION,
  MG_OPT_BOUNDARY,
  MG_OPT_COEFFICIENTS,
  MG_OPT_RHS,
  MG_OPT_SMOOTHER,
  MG_OPT_SMOOTHS,
  MG_OPT_DEGREE,
  MG_OPT_BOTTOM,
  MG_OPT_CYCLE,
  MG_OPT_RTOL,
  MG_OPT_MAX_CYCLES,
  MG_OPT_KRYLOV,
  MG_OPT_COARSEST,
  MG_OPT_WARMUP,
  MG_OPT_MIN_SOLVES,
  MG_OPT_MIN_TIME,
  MG_OPT_OFFICIAL,
  MG_OPT_VERIFY_ONLY,
  MG_OPT_DEVICE,
  MG_OPT_DEVICE_ID,
  MG_OPT_MEMORY,
  MG_OPT_TRANSPORT,
  MG_OPT_CPU_BELOW,
  MG_OPT_AGGLOMERATE_BELOW,
  MG_OPT_STEPS_PER_PASS,
  MG_OPT_RESTART,
  MG_OPT_INPUT,
  MG_OPT_DRY_RUN,
  MG_OPT_RANKS,
  MG_OPT_LEVELS_BREAKDOWN,
  MG_OPT_JSON,
  MG_OPT_CSV,
  MG_OPT_DUMP,
  MG_OPT_DUMP_FIELDS,
  MG_OPT_DUMP_LEVELS,
  MG_OPT_DUMP_EVERY,
  MG_OPT_DUMP_PRECISION,
  MG_OPT_DUMP_COMPRESS,
  MG_OPT_DUMP_CENTERING,
  MG_OPT_DUMP_HINTS,
  MG_OPT_PRINT_CONFIG,
  MG_OPT_QUIET,
  MG_OPT_VERBOSE,
  MG_OPT_HELP,
  MG_OPT_VERSION,
  MG_N_OPTIONS
} mg_option_id_t;

/** What the value of an option is, and so the type of its field in mg_params_t. */
typedef enum {
  MG_KIND_WORD,      /**< one of `words`; the field is an enum, the index of the word */
  MG_KIND_INT,       /**< int */
  MG_KIND_INT64,     /**< int64_t; words stand for -1, -2, ... */
  MG_KIND_DOUBLE,    /**< double */
  MG_KIND_FLAG,      /**< bool */
  MG_KIND_VERBOSITY, /**< a flag that puts `min` into an int which another flag may own */
  MG_KIND_SET,       /**< some of `words` with commas, or all; unsigned, a bit for each word */
  MG_KIND_PATH,      /**< char[MG_PATH_MAX] */
  MG_KIND_PAIRS,     /**< "key=value,key=value": char[MG_PATH_MAX] */
  MG_KIND_ACTION     /**< --help and --version: no field */
} mg_option_kind_t;

/** Heading in --help; the first four are sections of a deck as well. */
typedef enum {
  MG_GROUP_PROBLEM,
  MG_GROUP_SOLVER,
  MG_GROUP_RUN,
  MG_GROUP_OUTPUT,
  MG_GROUP_HELP,
  MG_N_GROUPS
} mg_option_group_t;

enum { MG_IN_DECK = 1, MG_AS_OPTION = 2, MG_AS_ARGUMENT = 4 };

/** One row. Pointers are to static storage. */
typedef struct {
  const char *name;    /**< long option and deck key */
  char letter;         /**< short option, 0 for none */
  const char *metavar; /**< what stands for the value in --help; NULL for flags and words */
  mg_option_kind_t kind;
  mg_option_group_t group;
  unsigned where;           /**< MG_IN_DECK | MG_AS_OPTION | MG_AS_ARGUMENT */
  size_t offset;            /**< of the field in mg_params_t */
  const char *const *words; /**< of MG_KIND_WORD and _SET, also beside numbers; ends with NULL */
  double min, max;          /**< limits of a number, exact in a double */
  bool open;                /**< the limits themselves are not allowed */
  const char *value;        /**< default, as a user would write it; NULL: unset */
  const char *note;         /**< default in words where it depends on other options */
  const char *official;     /**< the value that --official gives, NULL where it does not */
  bool (*applies)(const mg_params_t *params); /**< NULL: always */
  const char *condition;     /**< in words: "only with --X"; set when `applies` is */
  const char *remedy;        /**< what to do where it does not apply: "add --X" */
  mg_option_id_t decided_by; /**< the X of the condition */
  const char *help;          /**< one or more sentences without limits and default */
} mg_option_t;

extern const mg_option_t mg_options[MG_N_OPTIONS];

/** The name of a group, which is its section in decks ("problem", ...); static string. */
const char *mg_option_group_name(mg_option_group_t group);

/** The option called `name` (without dashes).
 *  @return NULL when there is none */
const mg_option_t *mg_option_find(const char *name);

/** The option whose short form is `letter`.
 *  @return NULL when there is none */
const mg_option_t *mg_option_find_letter(char letter);

/** Whether an option has a meaning beside the others of `params`. */
bool mg_option_applies(const mg_option_t *option, const mg_params_t *params);

#endif
