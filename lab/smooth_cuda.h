/* Shared by the parts of the CUDA smooth ladder: a level, the arithmetic of one cell, and the
 * expected results. */
#ifndef SMOOTH_CUDA_H
#define SMOOTH_CUDA_H

#include "lab/lab_cuda.h"

enum { SMOOTH_GHOSTS = 4, SMOOTH_MOST_STEPS = 4 };
enum { SMOOTH_MOST_MOVED = 256 }; /* most cells per side of levels that migrate */

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
 *  Pointers are to cell (0, 0, 0), i fastest. Four ghost layers surround it: zero in x and
 *  previous, with valid values in the betas. Rows start at multiples of 128 bytes. */
template <typename T> struct smooth_level_t {
  int n;
  ptrdiff_t js, ks;
  T a, b_h2;
  T c1, c2;                    /**< coefficients of a Chebyshev step */
  T weight[SMOOTH_MOST_STEPS]; /**< weights of successive Jacobi-type steps */
  const T *x, *previous, *f, *dinv, *beta[3];
  T *to;
};

/** A cell, its six neighbours and the betas of its six faces; low and high in i, j, k. */
template <typename T> struct smooth_near_t { T c, low[3], high[3], beta[3][2]; };

/** A x, with the operations of mg_apply_7 in the same order, in any precision. */
template <typename T>
__device__ __forceinline__ T smooth_apply(const smooth_near_t<T> &v, T a, T b_h2) {
  T s = v.beta[0][1] * (v.high[0] - v.c);
  s = fma(v.beta[0][0], v.low[0] - v.c, s);
  s = fma(v.beta[1][1], v.high[1] - v.c, s);
  s = fma(v.beta[1][0], v.low[1] - v.c, s);
  s = fma(v.beta[2][1], v.high[2] - v.c, s);
  s = fma(v.beta[2][0], v.low[2] - v.c, s);
  return fma(-b_h2, s, a * v.c);
}

/** 1 / diagonal, as mg_diagonal_7 computes it away from walls. */
template <typename T> __device__ __forceinline__ T smooth_dinv(const T beta[3][2], T a, T b_h2) {
  T s = beta[0][0];
  s = s + beta[0][1];
  s = s + beta[1][0];
  s = s + beta[1][1];
  s = s + beta[2][0];
  s = s + beta[2][1];
  return T(1) / fma(b_h2, s, a);
}

/** Jacobi-type step: x + weight / diagonal * (f - A x). */
template <typename T> __device__ __forceinline__ T smooth_step(T c, T ax, T f, T dinv, T weight) {
  return fma(weight * dinv, f - ax, c);
}

/** Arrays of a level on the device, and the expected results. */
template <typename T> struct smooth_data_t {
  smooth_level_t<T> level;
  T *memory;           /**< one allocation for all arrays */
  int64_t array_cells; /**< cells per array, ghosts included */
  T *want;

  smooth_data_t() : level(), memory(nullptr), array_cells(0), want(nullptr) {}
  ~smooth_data_t() {
    if (memory) (void)cudaFree(memory);
  }
  /** Fill a level of n^3 cells.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t make(int n);
  /** The same level with its arrays in memory `other`. */
  smooth_level_t<T> level_in(T *other) const;
  /** want = one Chebyshev step, or `steps` Jacobi-type steps, computed by the plain kernel.
   *
   *  Some planes are compared with src/formulas/stencil.h on the host.
   *  @return MG_OK, MG_ERR_INTERNAL if they differ, MG_ERR_DEVICE */
  mg_status_t expect_chebyshev();
  mg_status_t expect_steps(int steps);
  /** Same for a Chebyshev step of the fourth-order operator. */
  mg_status_t expect_fv4();
  /** Largest |to - want|, infinite if any value is NaN; overwrites `to`. */
  mg_status_t differ(double *error);
};

/** One Chebyshev step by the plain kernel. */
mg_status_t smooth_launch_plain(const smooth_level_t<double> &level, cudaStream_t stream);

/** Cells per side, a power of two, so that arrays have roughly the lab's size. */
int smooth_cells(int64_t bytes);

/** Time a launch, check its output and add a row.
 *
 *  The launch performs `steps` steps on n^3 cells; each step must move `bytes` bytes per cell. */
template <typename T>
mg_status_t smooth_add(lab_t *lab, smooth_data_t<T> *d, const lab_launch_t &launch, void **args,
                       int steps, double bytes, double flops, const char *name);

/** Add a row for the solver's own Chebyshev step on the same arrays, called as in a
 *  solve. */
mg_status_t smooth_add_solver(lab_t *lab, smooth_data_t<double> *d, mg_operator_t op, double bytes,
                              double flops);

/* Tables with their own source files. */
template <typename T> mg_status_t smooth_fused(lab_t *lab, smooth_data_t<T> *d);
mg_status_t smooth_fv4(lab_t *lab, smooth_data_t<double> *d);
mg_status_t smooth_migration(lab_t *lab);

#endif
