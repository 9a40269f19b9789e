/* Shared by the parts of the smooth ladder on a CUDA device: a level, one cell's arithmetic, and
 * what a variant must give. */
#ifndef SMOOTH_CUDA_H
#define SMOOTH_CUDA_H

#include "lab/lab_cuda.h"

enum { SMOOTH_GHOSTS = 4, SMOOTH_MOST_STEPS = 4 };
enum { SMOOTH_MOST_MOVED = 256 }; /* cells a side of levels that come from elsewhere */

/** Arrays of a level, in this order in its memory. */
enum {
  SMOOTH_X,
  SMOOTH_PREVIOUS,
  SMOOTH_F,
  SMOOTH_DINV,
  SMOOTH_BETA,
  SMOOTH_TO = SMOOTH_BETA + 3,
  SMOOTH_WANT, /**< what a variant must give, at the same places as `to` */
  SMOOTH_ARRAYS
};

/** A level of n^3 cells, as kernels take it: by value. Pointers are to cell (0, 0, 0), i fastest;
 *  four layers of ghosts around it are zero in x and previous, and betas have values there. Rows
 *  begin at multiples of 128 bytes. */
template <typename T> struct smooth_level_t {
  int n;
  ptrdiff_t js, ks;
  T a, b_h2;
  T c1, c2;                    /**< of a Chebyshev step */
  T weight[SMOOTH_MOST_STEPS]; /**< of steps that follow each other, each of Jacobi's form */
  const T *x, *previous, *f, *dinv, *beta[3];
  T *to;
};

/** A cell, its six neighbours and its six faces' betas: below and above in i, j, k. */
template <typename T> struct smooth_near_t { T c, low[3], high[3], beta[3][2]; };

/** A x, with the operations of mg_apply_7 in their order, in any precision. */
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

/** 1 / diagonal, as mg_diagonal_7 has it away from walls. */
template <typename T> __device__ __forceinline__ T smooth_dinv(const T beta[3][2], T a, T b_h2) {
  T s = beta[0][0];
  s = s + beta[0][1];
  s = s + beta[1][0];
  s = s + beta[1][1];
  s = s + beta[2][0];
  s = s + beta[2][1];
  return T(1) / fma(b_h2, s, a);
}

/** Jacobi's form: x + weight / diagonal * (f - A x). */
template <typename T> __device__ __forceinline__ T smooth_step(T c, T ax, T f, T dinv, T weight) {
  return fma(weight * dinv, f - ax, c);
}

/** Arrays of a level on the device, and the results that variants are compared with. */
template <typename T> struct smooth_data_t {
  smooth_level_t<T> level;
  T *memory;           /**< all arrays in one */
  int64_t array_cells; /**< of an array, ghosts included */
  T *want;

  smooth_data_t() : level(), memory(nullptr), array_cells(0), want(nullptr) {}
  ~smooth_data_t() {
    if (memory) (void)cudaFree(memory);
  }
  /** Fill a level of n^3 cells.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t make(int n);
  /** The same level with its arrays in other memory. */
  smooth_level_t<T> level_in(T *other) const;
  /** want = a Chebyshev step, or `steps` steps of Jacobi's form, by the plainest kernel, which is
   *  compared with src/formulas/stencil.h on the host in some planes.
   *  @return MG_OK, MG_ERR_INTERNAL where they differ, MG_ERR_DEVICE */
  mg_status_t expect_chebyshev();
  mg_status_t expect_steps(int steps);
  /** The same of a Chebyshev step of the operator of fourth order. */
  mg_status_t expect_fv4();
  /** The largest |to - want|, infinite where a number is none; `to` is spoilt afterwards. */
  mg_status_t differ(double *error);
};

/** A Chebyshev step by the plainest kernel. */
mg_status_t smooth_launch_plain(const smooth_level_t<double> &level, cudaStream_t stream);

/** Sizes of a level whose arrays are of the lab's size, more or less: a power of two. */
int smooth_cells(int64_t bytes);

/** Time a launch, compare what it wrote, and add its row: `steps` steps of n^3 cells, of which each
 *  has to move `bytes`. */
template <typename T>
mg_status_t smooth_add(lab_t *lab, smooth_data_t<T> *d, const lab_launch_t &launch, void **args,
                       int steps, double bytes, double flops, const char *name);

/** The solver's own Chebyshev step on the same arrays, through its door, as a row. */
mg_status_t smooth_add_solver(lab_t *lab, smooth_data_t<double> *d, mg_operator_t op, double bytes,
                              double flops);

/* Tables of their own files. */
template <typename T> mg_status_t smooth_fused(lab_t *lab, smooth_data_t<T> *d);
mg_status_t smooth_fv4(lab_t *lab, smooth_data_t<double> *d);
mg_status_t smooth_migration(lab_t *lab);

#endif
