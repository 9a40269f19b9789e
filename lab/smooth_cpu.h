/* The CPU smoother ladder: its grid and row kernels for each kind of step. */
#ifndef SMOOTH_CPU_H
#define SMOOTH_CPU_H

#include "formulas/smoother.h"
#include "formulas/stencil.h"
#include "lab/lab_cpu.h"

/** n^3 cells with two ghost layers that no step changes. Vectors point at cell (0, 0, 0), which
 * starts a cache line; cell (i, j, k) is at i + j js + k ks. */
typedef struct {
  int64_t n;
  ptrdiff_t js, ks;
  double *x[2]; /**< step s = 1, 2, ... writes x[s % 2], overwriting step s - 2 */
  const double *f, *bi, *bj, *bk, *dinv;
  float *small_x[2]; /**< same as float; NULL if absent */
  const float *small_f, *small_bi, *small_bj, *small_bk;
} lab_grid_t;

/* Equation and step coefficients: the iteration contracts for the betas here, between 1 and 2. */
#define LAB_A    0.5
#define LAB_B_H2 1.0
#define LAB_C1   0.25
#define LAB_C2   0.6

/** 1 / diagonal of the 7-point operator in one cell. */
MG_INLINE double lab_dinv(const double *bi, const double *bj, const double *bk, ptrdiff_t js,
                          ptrdiff_t ks) {
  const mg_face_weights_t inside = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  return 1.0 / mg_diagonal_7(bi, bj, bk, js, ks, inside, LAB_A, LAB_B_H2);
}

/** Row (j, k) of step s. For GSRB a step is a half sweep in x[0] only; odd steps are red. */
typedef void (*lab_cells_t)(const lab_grid_t *g, int s, int64_t j, int64_t k);

/* Chebyshev: one cell at a time; vectorized; vectorized, 1 / diagonal stored; float in memory. */
void lab_chebyshev_plain(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_chebyshev(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_chebyshev_stored(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_chebyshev_small(const lab_grid_t *g, int s, int64_t j, int64_t k);
/* The fourth-order operator (fv4). 1 / diagonal is always read; the 7-point diagonal stands in. */
void lab_fv4_plain(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_fv4(const lab_grid_t *g, int s, int64_t j, int64_t k);
/* GSRB: every other cell, one at a time; vectorized, storing in place; vectorized via a buffer. */
void lab_gsrb_plain(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_gsrb_in_place(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_gsrb(const lab_grid_t *g, int s, int64_t j, int64_t k);

/** The whole Chebyshev step s with the worst loop order: k innermost, a stride of one plane. */
void lab_chebyshev_k_innermost(const lab_grid_t *g, int s);

#endif
