/* Smoother step of a single cell, for kernels with one thread per cell. */
#ifndef MG_CUDA_SMOOTH_CELLS_H
#define MG_CUDA_SMOOTH_CELLS_H

#include "cuda/cuda.h"

static const dim3 mg_smooth_block(32, 8, 1);

/** 1 / diagonal: stored if it is l1-scaled or the operator is fv4, otherwise computed. */
template <bool stored, bool varies>
static __device__ __forceinline__ double mg_smooth_dinv(const mg_cuda_patch_t *l, int i, int j,
                                                        int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  if (stored) return p->vec[MG_DINV][at];
  const double a = varies ? p->vec[MG_ALPHA][at] : l->v.a;
  return 1.0 / mg_diagonal_7(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at,
                             js, ks, mg_face_weights(p, l->order, i, j, k), a, l->v.b_h2);
}

/** GSRB update of a cell of the current colour. */
template <bool varies>
static __device__ __forceinline__ void mg_gsrb_cell(const mg_cuda_patch_t *l, int x, int i, int j,
                                                    int k) {
  double *u = l->p.vec[x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  u[at] = mg_relax(u[at], mg_apply<false, varies>(l, u, i, j, k), l->p.vec[MG_F][at],
                   mg_smooth_dinv<false, varies>(l, i, j, k));
}

/** Chebyshev or Jacobi update of a cell. previous < 0: the previous iterate or c1 is zero. */
template <bool fv4, bool stored, bool varies>
static __device__ __forceinline__ void mg_polynomial_cell(const mg_cuda_patch_t *l, int x,
                                                          int previous, int dst, double c1,
                                                          double c2, int i, int j, int k) {
  const double *u = l->p.vec[x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  const double before = previous < 0 ? 0.0 : l->p.vec[previous][at];
  l->p.vec[dst][at] =
      mg_polynomial(u[at], before, mg_apply<fv4, varies>(l, u, i, j, k), l->p.vec[MG_F][at],
                    mg_smooth_dinv<stored, varies>(l, i, j, k), c1, c2);
}

/** Enqueue one smoother step on one patch. */
void mg_cuda_smooth_patch(const mg_cuda_patch_t &l, int x, int previous, int dst,
                          const mg_step_t *step);

#endif
