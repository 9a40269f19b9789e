/* What the user asked for: command line and input deck, checked before anything is allocated. */
#ifndef MG_PARAMS_H
#define MG_PARAMS_H

#include "base/status.h"
#include "base/types.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
  MG_PATH_MAX = 4096,
  MG_AGGLOMERATE_AUTO = -1, /**< of agglomerate_below: what suits the processor of each level */
  MG_CPU_BELOW_AUTO = -1, /**< of cpu_below: to be measured; until then no level lives on the CPU */
  MG_HINTS_MAX = 1024
};

/** Every run-time choice. Filled by mg_params_parse, constant afterwards. */
typedef struct {
  int log2_box_dim;       /**< cells a side of a box, as a power of two: 4 to 10 */
  int64_t boxes_per_rank; /**< 1 or more */

  mg_operator_t op;
  mg_equation_t equation;
  bool alpha_varies; /**< no option: the file of --coefficients has an alpha */
  mg_boundary_t boundary;
  mg_smoother_t smoother;
  int smooths; /**< sweeps before and after each correction (see --help for the unit) */
  int degree;  /**< of the Chebyshev polynomial */
  mg_bottom_t bottom;
  mg_cycle_t cycle;
  double rtol;               /**< 0: exactly one cycle; else V-cycles follow until reached */
  int max_cycles;            /**< the most cycles, the first included; 1 without rtol */
  mg_krylov_method_t krylov; /**< what follows is; none without rtol */
  int coarsest;              /**< never coarsen below this many cells a side */

  int warmup;       /**< solves before timing */
  int min_solves;   /**< timed solves of each size, at least */
  double min_time;  /**< seconds of timed solves of each size, at least */
  bool official;    /**< the three above have the values of an official run */
  bool verify_only; /**< no warm-up and no timing: one solve a size */
  bool levels_breakdown;

  mg_device_t device;
  int device_id; /**< number of the CUDA device, -1: by the rank's place on its host */
  mg_memory_t memory;
  int64_t cpu_below;         /**< levels with fewer cells in all live on the CPU */
  mg_transport_t transport;  /**< of messages between levels on devices */
  int steps_per_pass;        /**< of a smoother, at the most, in one pass over memory */
  int64_t agglomerate_below; /**< gather a level until each rank holds this many cells; or auto */

  int verbosity;          /**< -1 quiet, 0 normal, 1 verbose */
  bool print_config;      /**< print a deck of this run and stop */
  bool dry_run;           /**< print the levels table and stop */
  int64_t ranks;          /**< of a dry run; 0: as started */
  char json[MG_PATH_MAX]; /**< path, "-" for stdout, "" for none */
  char csv[MG_PATH_MAX];
  char input[MG_PATH_MAX]; /**< the deck that was read, "" for none */

  char coefficients[MG_PATH_MAX]; /**< file of the user's alpha and beta, "" for none */
  char rhs[MG_PATH_MAX];          /**< file of the user's f, "" for none */
  char restart[MG_PATH_MAX];      /**< file of a dump to go on from, "" for none */
  char dump[MG_PATH_MAX];         /**< HDF5 file of the grid's state, "" for none */
  unsigned dump_fields;           /**< 1 << mg_field_t of each */
  unsigned dump_levels;           /**< 1 << level of each */
  int dump_every; /**< a file after every so many cycles of one more solve; 0: none */
  mg_precision_t dump_precision;
  int dump_compress; /**< level of deflate, 0 for none */
  mg_centering_t dump_centering;
  char dump_hints[MG_PATH_MAX]; /**< for MPI-IO, "key=value,..." */
} mg_params_t;

/** An option and its value as text, as a file has them that another option names. */
typedef struct {
  char name[32], value[MG_PATH_MAX];
  bool binding; /**< the file holds what no other value fits to */
} mg_setting_t;

enum { MG_MAX_SETTINGS = 20 };

/** What the program should do after a successful parse. */
typedef enum { MG_ACTION_RUN, MG_ACTION_HELP, MG_ACTION_VERSION } mg_action_t;

/** A list of them in the making: room for MG_MAX_SETTINGS. */
typedef struct {
  mg_setting_t *setting;
  int n;
} mg_settings_t;

void mg_settings_add(mg_settings_t *settings, const char *name, const char *value, bool binding);
void mg_settings_add_integer(mg_settings_t *settings, const char *name, int64_t value);

/** How to get at the settings in the file of an option.
 *  @param[in]  params  what the command line, the deck and readers before said; sizes are 0 where
 *                      nobody did, paths "" for no file
 *  @param[out] message  why it failed: one line, "" where it has been logged
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE, MG_ERR_MEMORY */
typedef struct {
  const char *option; /**< that names the file */
  mg_status_t (*read)(const mg_params_t *params, mg_setting_t settings[MG_MAX_SETTINGS], int *n,
                      char *message, int message_size);
} mg_settings_reader_t;

/** Fill params from defaults, the deck of --input, and the command line, which wins.
 *
 *  Not collective and without MPI: rank 0 parses, the result is broadcast as bytes.
 *  On an error one line that names the value, the limit and what to do is in `message`
 *  (at least 1024 bytes); nothing is printed.
 *  @param[in]  argc, argv  as main got them; not modified
 *  @param[out] params      complete and consistent on MG_OK
 *  @param[out] action      what to do next
 *  @return MG_OK, MG_ERR_USAGE (bad option or deck content), MG_ERR_IO (deck unreadable),
 *          MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_params_parse(int argc, char *const argv[], mg_params_t *params,
                                          mg_action_t *action, char *message, int message_size);

/** The same with readers for options that name files, in turn: settings hold where nothing else was
 *  said; those that bind must not be contradicted.
 *  @param[in] readers  the last has no option; NULL: none */
MG_MUST_CHECK mg_status_t mg_params_parse_with(int argc, char *const argv[],
                                               const mg_settings_reader_t *readers,
                                               mg_params_t *params, mg_action_t *action,
                                               char *message, int message_size);

/** What the command line and its deck say, without files that other options name and without a look
 * at what belongs together: for a rank with a command line of its own. */
MG_MUST_CHECK mg_status_t mg_params_read(int argc, char *const argv[], mg_params_t *params,
                                         mg_action_t *action, char *message, int message_size);

/** The first option in which what one rank read differs from what another did. --device-id is not
 *  looked at.
 *  @param[out] text  "--degree is 3, not 4", or "" where there is none */
void mg_params_compare(const mg_params_t *mine, const mg_params_t *others, char *text, int size);

/** mg_params_parse for a deck alone, from memory: what the fuzzer drives.
 *
 *  @param[in] name  the file name for messages ("name:line: ...") */
MG_MUST_CHECK mg_status_t mg_params_parse_deck(const char *text, int64_t length, const char *name,
                                               mg_params_t *params, char *message,
                                               int message_size);

/** Is the problem the user's, or the one that is built in? */
static inline bool mg_params_has_files(const mg_params_t *params) {
  return params->coefficients[0] != '\0' || params->rhs[0] != '\0';
}

/** What the text that goes with a dump's FILE is called: FILE and this. */
#define MG_XDMF_ENDING ".xdmf"

/** The name of --dump-every's file after so many cycles: NAME.0003.hdf out of NAME.hdf. */
void mg_dump_numbered(const char *path, int cycles, char numbered[MG_PATH_MAX]);

/** Defaults that hold before any option is read. */
void mg_params_defaults(mg_params_t *params);

/** Write a commented deck that reproduces the run of `params`; it parses back to the same. */
void mg_params_print(FILE *out, const mg_params_t *params);

/** Write --help: usage, every option with its default, exit codes, examples. */
void mg_params_help(FILE *out);

/** The command line's word for a choice ("fv2", "poisson", ...); static strings. */
const char *mg_operator_name(mg_operator_t op);
const char *mg_equation_name(mg_equation_t equation);
const char *mg_boundary_name(mg_boundary_t boundary);
const char *mg_smoother_name(mg_smoother_t smoother);
const char *mg_bottom_name(mg_bottom_t bottom);
const char *mg_cycle_name(mg_cycle_t cycle);
const char *mg_krylov_name(mg_krylov_method_t krylov);
const char *mg_device_name(mg_device_t device);
const char *mg_memory_name(mg_memory_t memory);
const char *mg_transport_name(mg_transport_t transport);
const char *mg_field_name(mg_field_t field);

#endif
