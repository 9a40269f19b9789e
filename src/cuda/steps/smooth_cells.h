/* Smoother step of a single cell, for kernels with one thread per cell. */
#ifndef MG_CUDA_STEPS_SMOOTH_CELLS_H
#define MG_CUDA_STEPS_SMOOTH_CELLS_H

#include "cuda/cuda.h"

static const dim3 mg_smooth_block(32, 8, 1);

/** 1 / diagonal: stored if it is l1-scaled or the operator is fv4, otherwise computed. */
template <bool stored, bool varies>
static __device__ __forceinline__ mg_real_t mg_smooth_dinv(const mg_cuda_patch_t *l, int i, int j,
                                                           int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  if (stored) return p->vec[MG_DINV][at];
  const mg_real_t a = varies ? p->vec[MG_ALPHA][at] : l->v.a;
  return MG_REAL(1.0) / mg_diagonal_7(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at,
                                      p->vec[MG_BETA_K] + at, js, ks,
                                      mg_face_weights(p, l->order, i, j, k), a, l->v.b_h2);
}

/** Update of a cell of the color, in place; 7-point operators. */
template <bool varies>
static __device__ __forceinline__ void mg_relax_cell(const mg_cuda_patch_t *l, const mg_update_t &u,
                                                     int i, int j, int k) {
  mg_real_t *x = l->p.vec[u.x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  x[at] = mg_relax(x[at], mg_apply<false, varies>(l, x, i, j, k), l->p.vec[MG_F][at],
                   mg_smooth_dinv<false, varies>(l, i, j, k), u.c2);
}

/** Update of a cell of a 7-point operator in a step on all cells. */
template <bool stored, bool varies>
static __device__ __forceinline__ void mg_update_cell(const mg_cuda_patch_t *l,
                                                      const mg_update_t &u, int i, int j, int k) {
  const mg_real_t *x = l->p.vec[u.x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  const mg_real_t previous = u.previous < 0 ? MG_REAL(0.0) : l->p.vec[u.previous][at];
  l->p.vec[u.dst][at] =
      mg_update(x[at], previous, mg_apply<false, varies>(l, x, i, j, k), l->p.vec[MG_F][at],
                mg_smooth_dinv<stored, varies>(l, i, j, k), u.c1, u.c2);
}

/** Enqueue one step on one patch.
 *  @param[in] stored  1 / diagonal is read from MG_DINV */
void mg_cuda_smooth_patch(const mg_cuda_patch_t &l, const mg_update_t &u, bool stored);

/** One step of a 7-point smoother on a region: smooth_overlap.cu. */
mg_status_t mg_cuda_smooth_region(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region);
bool mg_cuda_step_overlaps(const mg_view_t *v, bool host);

#endif
