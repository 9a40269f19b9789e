/* The ladder of the solver's kernels: what it knows of each, where it runs, what it must give. */
#ifndef LAB_ROOFLINE_H
#define LAB_ROOFLINE_H

#include "lab/lab.h"
#include "lab/lab_cpu.h"
#include "level/level.h"
#include <math.h>

/** What a kernel does, which is what its results are compared with. */
typedef enum {
  ROOFLINE_SMOOTHS, /**< a whole smooth of level 0 */
  ROOFLINE_FIRST,   /**< its first step, from zero */
  ROOFLINE_RESIDUAL,
  ROOFLINE_RESIDUAL_NORM,
  ROOFLINE_RESTRICTS_RESIDUAL,
  ROOFLINE_RESTRICTS,
  ROOFLINE_CORRECTS,     /**< a V-cycle's interpolation, onto what is there */
  ROOFLINE_INTERPOLATES, /**< an F-cycle's */
  ROOFLINE_AXPBY,
  ROOFLINE_MULTIPLIES,
  ROOFLINE_SHIFTS,
  ROOFLINE_SCALES,
  ROOFLINE_FILLS,
  ROOFLINE_MAX_NORM,
  ROOFLINE_DIFFERENCE, /**< the maximum norm of one */
  ROOFLINE_DOT,
  ROOFLINE_HALO /**< of a periodic level: the ghosts of one vector */
} roofline_kind_t;

/** What the vector operations are called with. */
enum { ROOFLINE_ALPHA = 2, ROOFLINE_BETA = 3 };

/** Runs a kernel; `number` is what it gives beside what it writes, if anything. */
typedef mg_status_t (*roofline_fn)(mg_hierarchy_t *h, roofline_kind_t kind, double *number);

/** As the solver does. */
MG_MUST_CHECK mg_status_t roofline_run(mg_hierarchy_t *h, roofline_kind_t kind, double *number);

/** Memory of levels, and time, where the levels are. */
typedef struct {
  /** at[i] = lab_value(first + i). */
  mg_status_t (*fill)(double *at, int64_t n, int64_t first);
  mg_status_t (*fetch)(double *host, const double *at, int64_t n);
  mg_status_t (*put)(double *at, double value);
  mg_status_t (*set)(double *at, int64_t n, double value); /**< put for each of n */
  /** The median time of `work`; and, on a device, the row of its largest launch. */
  mg_status_t (*time)(const lab_t *lab, lab_work_t work, void *arg, lab_row_t *row);
  /** Links of chains for each of n numbers, from[i % ROOFLINE_KINDS], in ROOFLINE_CHAINS that
   *  begin at x, x + 1, .., into `to` their sum; timed, as a row. from, to: where levels are. */
  mg_status_t (*chains)(const lab_t *lab, double *from, double *to, int64_t n, lab_row_t *row);
  /** Numbers that keep it busy. */
  int64_t (*chain_numbers)(const lab_t *lab);
  bool fused; /**< a link is one operation */
} roofline_place_t;

/** What each chain does. */
enum { ROOFLINE_CHAINS = 8, ROOFLINE_LINKS = 512, ROOFLINE_KINDS = 64 };
#if defined(__FMA__) || defined(__aarch64__)
enum { ROOFLINE_HOST_FUSES = 1 };
#else
enum { ROOFLINE_HOST_FUSES = 0 };
#endif

/** A link: two flops. */
MG_INLINE double roofline_link(double x, bool fused) {
  return fused ? fma(x, 0.999, 0.25) : x * 0.999 + 0.25;
}

extern const roofline_place_t roofline_on_cpu;
extern const roofline_place_t roofline_on_cuda; /**< in builds with HAVE_CUDA */

/** MG_U is numbers that depend on their place alone, and MG_F then A MG_U, on level 0: smoothing
 *  leaves them as they are, to rounding, however often. */
MG_MUST_CHECK mg_status_t roofline_begin(const roofline_place_t *place, mg_hierarchy_t *h);

/** Let `run` do a kernel's work on numbers that depend on their place alone, and compare what it
 * wrote with src/formulas/stencil.h, cell by cell: all cells up to 128^3, beyond in planes at the
 * two walls and in the middle; numbers of whole levels in a way of their own. Overwrites vectors of
 * levels 0 and 1.
 *
 *  @param[out] error  the largest difference over the largest value
 *  @return as the operations; MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t roofline_check(const roofline_place_t *place, mg_hierarchy_t *h,
                                         roofline_kind_t kind, roofline_fn run, double *error);

/** Wait for what a level was asked for. */
MG_MUST_CHECK mg_status_t roofline_wait(const mg_level_t *level);

#endif
