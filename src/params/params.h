/* Run-time parameters from the command line and input deck, checked before any allocation. */
#ifndef MG_PARAMS_H
#define MG_PARAMS_H

#include "base/status.h"
#include "base/types.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
  MG_PATH_MAX = 4096,
  MG_AGGLOMERATE_AUTO = -1, /**< agglomerate_below: a fixed figure for CPU and GPU levels (plan.h),
                               unless measured (run/agglomeration.h) */
  MG_CPU_BELOW_AUTO = -1,   /**< cpu_below: measured later; until then no level lives on the CPU */
  MG_STRIP_BYTES_AUTO = -1, /**< strip_bytes: measured later (run/strip_size.h) */
  MG_STEPS_AUTO = -1,       /**< steps_per_pass: as many as GPU and operator allow */
  MG_MAX_DEGREE = 50        /**< of the Chebyshev polynomial */
};

/** All run-time parameters. Filled by mg_params_parse, constant afterwards. */
typedef struct {
  int log2_box_dim;       /**< log2 of the cells per side of a box: 4 to 10 */
  int64_t boxes_per_rank; /**< 1 or more */

  mg_operator_t op;
  mg_equation_t equation;
  mg_beta_t beta;
  bool constant_beta; /**< not an option: the stored betas are (mg_constant_betas_t) */
  bool alpha_varies;  /**< not an option: set if the --coefficients file has an alpha */
  bool has_arrays;    /**< not an option: a library's caller gives beta, alpha and f */
  bool closes_cells;  /**< not an option: faces inside of the grid are closed (solver/solids.h);
                           then alpha varies, with either equation */
  int64_t n_outside, n_singular; /**< not options: cells without an open face, singular pockets */
  int32_t boxes[3];      /**< not an option: boxes of the finest grid in i, j, k; 0: a cube */
  int32_t cells[3];      /**< cells of the finest grid in i, j, k; 0: a cube of boxes */
  double spacing[3];     /**< widths of a cell, if given with --spacing; otherwise 0 */
  double length[3];      /**< of the domain in each direction; used with `cells` */
  double origin[3];      /**< not an option: position of the domain's low corner, by files */
  double stretch[3];     /**< B of axes stretched by tanh (--stretch); 0: not */
  double mean;           /**< of u, if the problem determines u only up to a constant */
  const double *face[3]; /**< not an option: positions of the faces of a stretched axis, one more
                            than cells; NULL: cells of equal width */
  /** Not options, of given betas: the mean over the low faces of each plane of cells across an
   *  axis, and over all faces of its cells (plan/widths.c). NULL: betas are built in. */
  const double *face_beta[3], *plane_beta[3];
  bool follows_betas;   /**< not an option: these changed the levels */
  mg_side_t side[3][2]; /**< low and high side of the domain in each direction */
  mg_method_t method;
  struct {
    bool smoother, bottom, cycle, krylov;
  } chooses;        /**< not options: what --method=auto chooses, as no option gives it */
  char reason[112]; /**< not an option: why it chose so; "": it has not */
  mg_smoother_t smoother;
  int smooths;     /**< sweeps before and after each correction (see --help for the unit) */
  int degree;      /**< degree of the Chebyshev polynomial */
  int slow_degree; /**< not an option: of slow solves (solver/method.h); 0: the same degree */
  double omega;    /**< relaxation weight of the other smoothers */
  mg_bottom_t bottom;
  mg_cycle_t cycle;
  mg_precision_class_t precision;
  double rtol;               /**< 0: exactly one cycle; otherwise V-cycles follow until reached */
  int max_cycles;            /**< maximum number of cycles, including the first; 1 without rtol */
  mg_krylov_method_t krylov; /**< method of the cycles after the first; none without rtol */
  int coarsest;              /**< never coarsen below this many cells per side */

  int warmup;         /**< solves before timing */
  int min_solves;     /**< minimum number of timed solves of each size */
  double min_time;    /**< minimum seconds of timed solves of each size */
  bool official;      /**< the three above have the values of an official run */
  bool verify_only;   /**< no warm-up and no timing: one solve of each size */
  mg_choice_t energy; /**< measure the energy of the timed solves at h; auto: if official */
  bool levels_breakdown;

  mg_device_t device;
  mg_gpu_t gpu;  /**< not an option: where no GPU is known, an H100 or H200 */
  int device_id; /**< CUDA device number; -1: chosen by the rank's index on its host */
  mg_memory_t memory;
  int64_t cpu_below;         /**< levels with fewer total cells live on the CPU */
  mg_transport_t transport;  /**< transport of messages between GPUs */
  int64_t steps_per_pass;    /**< maximum number of steps fused into a pass, or auto */
  int64_t strip_bytes;       /**< of strips in passes of CPUs, or auto */
  int64_t agglomerate_below; /**< gather a level until each rank holds this many cells, or auto */
  int64_t finest_ranks;      /**< not an option: maximum number of ranks that hold cells of the
                                finest level; 0: no limit */

  int verbosity;          /**< -1 quiet, 0 normal, 1 verbose */
  bool print_config;      /**< print a deck of this run and stop */
  bool dry_run;           /**< print the levels table and stop */
  int64_t ranks;          /**< ranks of a dry run; 0: as started */
  char json[MG_PATH_MAX]; /**< path, "-" for stdout, "" for none */
  char csv[MG_PATH_MAX];
  char input[MG_PATH_MAX]; /**< path of the deck, "" for none */

  char coefficients[MG_PATH_MAX]; /**< path of the user's alpha and beta, "" for none */
  char rhs[MG_PATH_MAX];          /**< path of the user's f, "" for none */
  char restart[MG_PATH_MAX];      /**< path of the dump to continue from, "" for none */
  char dump[MG_PATH_MAX];         /**< path of the HDF5 dump to write, "" for none */
  unsigned dump_fields;           /**< set of fields: bits 1 << mg_field_t */
  unsigned dump_levels;           /**< set of levels: bits 1 << level */
  int dump_every;                 /**< extra solve that dumps every n cycles; 0: none */
  mg_precision_t dump_precision;
  int dump_compress; /**< deflate level, 0 for none */
  mg_centering_t dump_centering;
  char dump_hints[MG_PATH_MAX]; /**< MPI-IO hints, "key=value,..." */
} mg_params_t;

/** What the program should do after a successful parse. */
typedef enum { MG_ACTION_RUN, MG_ACTION_HELP, MG_ACTION_VERSION } mg_action_t;

struct mg_settings_reader; /* params_files.h */

/** Fill params from the defaults, the files that options name, the --input deck and the command
 *  line, which takes precedence. A setting of a file applies only if no earlier file sets the
 *  option. A different value for a binding setting is an error.
 *
 *  Not collective and without MPI: rank 0 parses, and the result is broadcast as bytes.
 *  Prints nothing.
 *  @param[in]  argc, argv  as passed to main; not modified
 *  @param[in]  readers     of files, in order; the last entry has option NULL; NULL: none
 *  @param[out] params      complete and consistent on MG_OK
 *  @param[out] action      what to do next
 *  @param[out] message     on error: one line with the value, the limit and the remedy; at least
 *                          1024 bytes
 *  @return MG_OK, MG_ERR_USAGE (bad option or deck content), MG_ERR_IO (deck unreadable),
 *          MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_params_parse(int argc, char *const argv[],
                                          const struct mg_settings_reader *readers,
                                          mg_params_t *params, mg_action_t *action, char *message,
                                          int message_size);

/** mg_params_parse on rank 0; all ranks get the result, and errors are logged.
 *
 *  A launcher may start ranks with different command lines, such as a wrapper script that selects
 *  devices. Only --device-id may differ. Collective over the world.
 *  @return as mg_params_parse, MG_ERR_USAGE (command lines differ) or MG_ERR_COMM, the same on
 *          every rank */
MG_MUST_CHECK mg_status_t mg_params_parse_on_ranks(int argc, char *const argv[],
                                                   const struct mg_settings_reader *readers,
                                                   mg_params_t *params, mg_action_t *action);

/** Is the domain periodic in direction d? */
static inline bool mg_params_is_periodic(const mg_params_t *params, int d) {
  return params->side[d][0].wall == MG_WALL_NONE;
}

/** Number of the domain's sides of a kind; MG_WALL_NONE: periodic. */
static inline int mg_params_count_sides(const mg_params_t *params, mg_wall_t kind) {
  int n = 0;
  for (int d = 0; d < 3; d++)
    n += (params->side[d][0].wall == kind) + (params->side[d][1].wall == kind);
  return n;
}

/** Is the domain periodic in all directions? */
static inline bool mg_params_is_all_periodic(const mg_params_t *params) {
  return mg_params_count_sides(params, MG_WALL_NONE) == 6;
}

/** Does --cells set the grid, instead of LOG2_BOX_DIM and BOXES_PER_RANK? */
static inline bool mg_params_has_cells(const mg_params_t *params) {
  return params->cells[0] > 0;
}

/** Does the run use a GPU? --device is resolved, or names it. */
static inline bool mg_params_uses_gpu(const mg_params_t *params) {
  return params->device == MG_DEVICE_CUDA || params->device == MG_DEVICE_CUDA_SIMPLE;
}

/** Does a side, by Dirichlet's or Robin's condition, determine u without alpha? */
static inline bool mg_params_has_fixing_side(const mg_params_t *params) {
  bool fixed = false;
  for (int s = 0; s < 6; s++)
    fixed = fixed || params->side[s / 2][s % 2].u > 0.0;
  return fixed;
}

/** Does the problem determine u only up to a constant? */
static inline bool mg_params_is_singular(const mg_params_t *params) {
  return params->equation == MG_EQUATION_POISSON && !params->alpha_varies &&
         !mg_params_has_fixing_side(params);
}

/** Is an axis stretched? */
static inline bool mg_params_is_stretched(const mg_params_t *params) {
  return params->face[0] || params->face[1] || params->face[2];
}

/** Is the problem read from files (--coefficients, --rhs) instead of the built-in one? */
static inline bool mg_params_has_files(const mg_params_t *params) {
  return params->coefficients[0] != '\0' || params->rhs[0] != '\0';
}

/** Is only h solved, once and to a tolerance, instead of the benchmark's h, 2h and 4h? */
static inline bool mg_params_solves_once(const mg_params_t *params) {
  return mg_params_has_cells(params) || mg_params_has_files(params);
}

/** Do smooths, degree and omega have the defaults of the operator and the smoother? */
bool mg_params_has_default_smooths(const mg_params_t *params);

/** Fill params with the defaults. */
void mg_params_defaults(mg_params_t *params);

/** Write --help: usage, every option with its default, exit codes, examples. */
void mg_params_help(FILE *out);

/** Six sides, each Robin's with three numbers of 17 digits, fit. */
enum { MG_BOUNDARY_TEXT_MAX = 512 };

/** The value of --boundary, as short as possible. */
typedef struct {
  char text[MG_BOUNDARY_TEXT_MAX];
} mg_boundary_text_t;
mg_boundary_text_t mg_boundary_text(const mg_params_t *params);

/** Set a smoother with its default smooths, degree and omega. */
void mg_params_set_smoother(mg_params_t *params, mg_smoother_t smoother);

/** The option word of an enum value ("fv2", "poisson", ...); static strings. */
const char *mg_operator_name(mg_operator_t op);
const char *mg_equation_name(mg_equation_t equation);
const char *mg_method_name(mg_method_t method);
const char *mg_smoother_name(mg_smoother_t smoother);
const char *mg_bottom_name(mg_bottom_t bottom);
const char *mg_cycle_name(mg_cycle_t cycle);
const char *mg_krylov_name(mg_krylov_method_t krylov);
const char *mg_precision_name(mg_precision_class_t precision);
const char *mg_device_name(mg_device_t device);

/** Let --device=guard be a value (mg_level_provide_guard). */
void mg_params_allow_guard(void);

const char *mg_transport_name(mg_transport_t transport);
const char *mg_field_name(mg_field_t field);

#endif
