/* The solver's kernels in the ladders `roofline` and `smooth`: hierarchies and rows, where kernels
 * run, and the check of their results. */
#ifndef LAB_ROOFLINE_H
#define LAB_ROOFLINE_H

#include "lab/lab.h"
#include "lab/lab_cpu.h"
#include "level/level.h"
#include <math.h>

/** What a kernel computes. */
typedef enum {
  ROOFLINE_SMOOTHS, /**< a complete smooth of level 0 */
  ROOFLINE_FIRST,   /**< its first step, from a zero guess */
  ROOFLINE_RESIDUAL,
  ROOFLINE_RESIDUAL_NORM,
  ROOFLINE_RESTRICTS_RESIDUAL,
  ROOFLINE_RESTRICTS,
  ROOFLINE_CORRECTS,     /**< V-cycle interpolation, added to the existing values */
  ROOFLINE_INTERPOLATES, /**< F-cycle interpolation */
  ROOFLINE_AXPBY,
  ROOFLINE_MULTIPLIES,
  ROOFLINE_SHIFTS,
  ROOFLINE_SCALES,
  ROOFLINE_FILLS,
  ROOFLINE_MAX_NORM,
  ROOFLINE_DIFFERENCE, /**< maximum norm of a difference */
  ROOFLINE_DOT,
  ROOFLINE_SMOOTHS_RESTRICTS, /**< a smooth and its restricted residual: the way down */
  ROOFLINE_SMOOTHS_NORM,      /**< a smooth and the norm of its residual: the end of a cycle */
  ROOFLINE_CORRECTS_SMOOTHS,  /**< a correction and a smooth: the way up */
  ROOFLINE_HALO,              /**< periodic level: ghosts of one vector */
  /* Between double and float cells, of a hierarchy with --precision=mixed: */
  ROOFLINE_LOWERS,               /**< right-hand side */
  ROOFLINE_RAISES,               /**< correction, added to the existing values */
  ROOFLINE_LOWERS_RESIDUAL,      /**< residual of double cells */
  ROOFLINE_LOWERS_RESIDUAL_NORM, /**< the same, and its norm */
  ROOFLINE_LOWERS_GUESS,         /**< residual of an interpolated guess */
  ROOFLINE_RAISES_GUESS,         /**< correction of an interpolated guess */
  ROOFLINE_RAISES_GUESS_NORM,    /**< the same, and the norm of its residual */
  N_ROOFLINE
} roofline_kind_t;

/** Where a kernel leaves its result: in a vector of a level with `rim` layers of ghosts, or, if
 *  vec is ROOFLINE_NUMBER, only in a number. */
typedef struct {
  int level, vec, rim;
  bool smooths; /**< the smoothed iterate of level 0 is a result too */
  bool low;     /**< the level is one of the float levels of the hierarchy */
} roofline_output_t;
enum { ROOFLINE_NUMBER = -1 };
extern const roofline_output_t roofline_output[N_ROOFLINE];

/** The vector with the smoothed iterate of level 0. */
static inline mg_vector_t roofline_smoothed(const mg_level_t *fine, roofline_kind_t kind) {
  return kind == ROOFLINE_SMOOTHS_RESTRICTS ? fine->descended : MG_U;
}

/** Coefficients passed to the vector operations. */
enum { ROOFLINE_ALPHA = 2, ROOFLINE_BETA = 3 };

/** Run a kernel; `number` receives its scalar result, if any. */
typedef mg_status_t (*roofline_fn)(mg_hierarchy_t *h, roofline_kind_t kind, double *number);

/** Run a kernel as the solver does. */
MG_MUST_CHECK mg_status_t roofline_run(mg_hierarchy_t *h, roofline_kind_t kind, double *number);

/** Memory and timing functions for the place (CPU or GPU) that holds the levels. */
typedef struct {
  /** at[i] = lab_value(first + i), of type float if value_bytes is 4, else double. */
  mg_status_t (*fill)(void *at, int value_bytes, int64_t n, int64_t first);
  mg_status_t (*fetch)(void *host, const void *at, size_t bytes);
  mg_status_t (*put)(double *at, double value);
  /** Median time of `work`; on a GPU also the row of its largest launch. */
  mg_status_t (*time)(const lab_t *lab, lab_work_t work, void *arg, lab_row_t *row);
  /** Time chains of dependent links, as a row. For each of n numbers from[i % ROOFLINE_KINDS],
   *  ROOFLINE_CHAINS chains start at x, x + 1, ..; their sum is stored in `to`. `from` and `to` lie
   *  where the levels are. */
  mg_status_t (*chains)(const lab_t *lab, double *from, double *to, int64_t n, lab_row_t *row);
  /** Count of numbers that saturates the place. */
  int64_t (*chain_numbers)(const lab_t *lab);
  bool fused; /**< a link is one FMA */
} roofline_place_t;

/** Shape of the chains. */
enum { ROOFLINE_CHAINS = 8, ROOFLINE_LINKS = 512, ROOFLINE_KINDS = 64 };
#if defined(__FMA__) || defined(__aarch64__)
enum { ROOFLINE_HOST_FUSES = 1 };
#else
enum { ROOFLINE_HOST_FUSES = 0 };
#endif

/** One link: two flops. */
MG_INLINE double roofline_link(double x, bool fused) {
  return fused ? fma(x, 0.999, 0.25) : x * 0.999 + 0.25;
}

extern const roofline_place_t roofline_on_cpu;
extern const roofline_place_t roofline_on_cuda; /**< only in builds with HAVE_CUDA */

/** Initialize level 0: MG_U depends only on position, and MG_F = A MG_U. Smoothing any number of
 *  times then leaves MG_U unchanged up to rounding. */
MG_MUST_CHECK mg_status_t roofline_begin(const roofline_place_t *place, mg_hierarchy_t *h);

/** Create the oracle of a hierarchy of one box: its levels 0 and 1 on the CPU backend, without
 *  fused operations. Its smoother has the bound of the eigenvalues of `h`. With mixed precision,
 * the oracle of h->low is (*twin)->low.
 *  @return as mg_hierarchy_create; free with mg_hierarchy_free before `h` */
MG_MUST_CHECK mg_status_t roofline_twin_create(const mg_hierarchy_t *h, mg_hierarchy_t **twin);

/** Run a kernel on position-dependent values and compare its output, cell by cell, with that of
 *  roofline_run on the twin. A norm must also find the largest cell at many places.
 *
 *  Overwrites vectors of levels 0 and 1.
 *  @param[out] error  largest difference divided by the largest value
 *  @return as the operations; MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t roofline_check(const roofline_place_t *place, mg_hierarchy_t *h,
                                         mg_hierarchy_t *twin, roofline_kind_t kind,
                                         roofline_fn run, double *error);

/** A kernel and its cost per cell of the finer level; of a smooth, per cell and step. */
typedef struct {
  const char *name;
  double bytes, flops;
  roofline_kind_t kind;
} roofline_kernel_t;

/** A problem on one box. */
typedef struct {
  const char *op, *smoother;
  const char *boundary; /**< NULL: walls */
  bool alpha_varies;
  bool mixed; /**< --precision=mixed */
} roofline_problem_t;

/** Levels, by log2 of the cells per side: the smallest, and the largest that is checked on a GPU.
 */
enum { ROOFLINE_SMALLEST = 6, ROOFLINE_LARGEST_CHECKED = 7 };

/** True if kernels are checked on levels of 2^log2_n cells per side; larger ones are timed only. On
 * a CPU, whose checks take longest, tests/op/op_cpu_passes checks larger levels. */
static inline bool roofline_is_checked(const lab_t *lab, int log2_n) {
  return log2_n <= (lab->place == LAB_CUDA ? ROOFLINE_LARGEST_CHECKED : ROOFLINE_SMALLEST);
}

/** Build the hierarchy of a problem on 2^log2_n cells per side as the solver does. If the level is
 *  small enough to be checked, fused sweeps compute residuals on levels of any size.
 *  @return as mg_hierarchy_create; free with mg_hierarchy_free */
MG_MUST_CHECK mg_status_t roofline_make(const lab_t *lab, const roofline_place_t *place,
                                        const roofline_problem_t *problem, int log2_n,
                                        mg_hierarchy_t **h);

/** Time a kernel on inputs as of roofline_begin and add a row.
 *  @param[in] steps  number of steps that the time is divided by
 *  @param[in] error  of the kernel's results, from roofline_check
 *  @return also MG_ERR_INTERNAL if `error` is not 0 (logged) */
MG_MUST_CHECK mg_status_t roofline_add(lab_t *lab, const roofline_place_t *place, mg_hierarchy_t *h,
                                       const roofline_kernel_t *kernel, int steps, double error);

/** Add the tables of legs of a V-cycle to the ladder `smooth`. */
MG_MUST_CHECK mg_status_t lab_legs(lab_t *lab, const roofline_place_t *place);

/** Wait for all work queued on a level. */
MG_MUST_CHECK mg_status_t roofline_wait(const mg_level_t *level);

#endif
