/* Shared by the parts of the CUDA smooth ladder: a level and the expected results, which the
 * solver's single steps compute. The ladder `roofline` compares these with the CPU backend. */
#ifndef SMOOTH_CUDA_H
#define SMOOTH_CUDA_H

#include "lab/lab_cuda.h"

enum { SMOOTH_GHOSTS = 2 };

/** Arrays of a level, in memory order. */
enum {
  SMOOTH_X,
  SMOOTH_PREVIOUS,
  SMOOTH_F,
  SMOOTH_DINV,
  SMOOTH_BETA,
  SMOOTH_TO = SMOOTH_BETA + 3,
  SMOOTH_WANT, /**< expected result, with the layout of `to` */
  SMOOTH_ARRAYS
};

/** A level of n^3 cells, passed to kernels by value.
 *
 *  Pointers are to cell (0, 0, 0), i fastest. Ghost layers surround it: zero in x and previous,
 * with valid values in the betas. Rows start at multiples of 128 bytes. */
struct smooth_level_t {
  int n;
  ptrdiff_t js, ks;
  double a, b_h2;
  double c1, c2; /**< coefficients of a step; Jacobi's form uses c2 alone */
  const double *x, *previous, *f, *dinv, *beta[3];
  double *to;
};

/** The level on the device. */
struct smooth_data_t {
  smooth_level_t level;
  lab_array_t memory;  /**< all arrays */
  int64_t array_cells; /**< cells per array, ghosts included */
  mg_patch_t patch;    /**< the level in the solver's form; MG_U is x, MG_TMP `to` */
  mg_view_t view;

  /** Fill a level of n^3 cells.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, as all functions here */
  mg_status_t make(int n);
  /** Copy one array to another. */
  mg_status_t copy(int to, int from);
  /** Compute the expected result of n steps by the solver. Chebyshev: n is 1.
   *  @param[in] walls  the ghosts are beyond walls; otherwise they are the neighbors' cells */
  mg_status_t expect(mg_operator_t op, const mg_step_t *steps, int n, bool walls);
  /** Largest |to - want|, infinite if any value is NaN; overwrites `to`. */
  mg_status_t differ(double *error);
};

/** Cells per side, a power of two, so that arrays have roughly the lab's size. */
int smooth_cells(int64_t bytes);

/** A row: `steps` steps on n^3 cells, each of which must move `bytes` bytes per cell. */
struct smooth_row_t {
  const char *name;
  int steps;
  double bytes, flops;
  double requested; /**< bytes per cell of all loads and stores; 0: not counted */
};

/** Time a launch, check its output and add a row. */
mg_status_t smooth_add(lab_t *lab, smooth_data_t *d, const lab_launch_t &launch,
                       const smooth_row_t &row);

/** Same for the solver's own code, which enqueues on mg_cuda.stream and writes `to`.
 *  @param[in] before  array that `to` must hold before each run */
mg_status_t smooth_add_solver(lab_t *lab, smooth_data_t *d, lab_enqueue_t enqueue, void *arg,
                              int before, const smooth_row_t &row);

/** The tables of fused steps. */
mg_status_t smooth_fused(lab_t *lab, smooth_data_t *d);

#endif
