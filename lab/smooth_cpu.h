/* The smoother's ladder on a CPU: its grid, and rows of its kinds of step. */
#ifndef SMOOTH_CPU_H
#define SMOOTH_CPU_H

#include "formulas/stencil.h"
#include "lab/lab_cpu.h"

/** n^3 cells in two layers of ghosts, which no step changes. Vectors point at cell (0, 0, 0), which
 *  begins a line; cell (i, j, k) is at i + j js + k ks. */
typedef struct {
  int64_t n;
  ptrdiff_t js, ks;
  double *x[2]; /**< step s = 1, 2, ... writes x[s % 2], over what step s - 2 wrote */
  const double *f, *bi, *bj, *bk, *dinv;
  float *small_x[2]; /**< the same in half of the bytes; NULL where it is not there */
  const float *small_f, *small_bi, *small_bj, *small_bk;
} lab_grid_t;

/** The equation and the step: contracting for the betas here, which are between 1 and 2. */
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

/** Row (j, k) of step s. A half sweep of GSRB is a step, in x[0] alone: red in odd ones. */
typedef void (*lab_cells_t)(const lab_grid_t *g, int s, int64_t j, int64_t k);

/* Chebyshev: a cell at a time; vectors; vectors with 1 / diagonal from memory; floats in memory. */
void lab_chebyshev_plain(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_chebyshev(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_chebyshev_stored(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_chebyshev_small(const lab_grid_t *g, int s, int64_t j, int64_t k);
/* The same of fv4, whose 1 / diagonal is always read; some diagonal: that of the 7 points. */
void lab_fv4_plain(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_fv4(const lab_grid_t *g, int s, int64_t j, int64_t k);
/* GSRB: a cell at a time, every other one; vectors that store where they load; through a buffer. */
void lab_gsrb_plain(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_gsrb_in_place(const lab_grid_t *g, int s, int64_t j, int64_t k);
void lab_gsrb(const lab_grid_t *g, int s, int64_t j, int64_t k);

/** The whole Chebyshev step s with the loops the wrong way round: k innermost, a plane apart. */
void lab_chebyshev_k_innermost(const lab_grid_t *g, int s);

#endif
