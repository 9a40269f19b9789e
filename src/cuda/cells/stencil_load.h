/* What the 7-point operators read at a cell: all loads are issued together. Most blocks of a large
 * level touch no wall, so their cells need no wall checks. */
#ifndef MG_CUDA_CELLS_STENCIL_LOAD_H
#define MG_CUDA_CELLS_STENCIL_LOAD_H

#include "cuda/cuda.h"

static __device__ __forceinline__ mg_places7_t mg_places7(const mg_cuda_patch_t *l,
                                                          const int stride[3], int i, int j,
                                                          int k) {
  const mg_patch_t *p = &l->p;
  const int at[3] = {i, j, k};
  mg_places7_t s;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const int inward = stride[d] & l->inward[d];
    s.wall_low[d] = p->wall[d][0] && at[d] == 0;
    s.wall_high[d] = p->wall[d][1] && at[d] == p->n[d] - 1;
    s.low[d] = s.wall_low[d] ? inward : -stride[d];
    s.high[d] = s.wall_high[d] ? -inward : stride[d];
  }
  return s;
}

/** Offsets in the patch's vectors. */
static __device__ __forceinline__ mg_places7_t mg_places7(const mg_cuda_patch_t *l, int i, int j,
                                                          int k) {
  const int stride[3] = {1, (int)l->p.jstride, (int)l->p.kstride};
  return mg_places7(l, stride, i, j, k);
}

/** Values of a stencil. All walls have the Dirichlet formula: see walls.h.
 *  @param order  function of the direction; must not load, which would be a branch */
template <typename order_t>
static __device__ __forceinline__ mg_values7_t mg_values7_by(order_t order, const mg_places7_t &s,
                                                             const mg_real_t *x) {
  mg_values7_t v;
  v.c = x[0];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const mg_real_t low = x[s.low[d]], high = x[s.high[d]];
    v.low[d] = s.wall_low[d] ? mg_ghost(MG_WALL_DIRICHLET, order(d), v.c, low) : low;
    v.high[d] = s.wall_high[d] ? mg_ghost(MG_WALL_DIRICHLET, order(d), v.c, high) : high;
  }
  return v;
}

/** Values of a stencil. Thin levels branch, so that others need not choose a formula per direction.
 *  @tparam may_be_thin  false: the level is not thin, which saves registers */
template <bool may_be_thin = true>
static __device__ __forceinline__ mg_values7_t mg_values7(const mg_cuda_patch_t *l,
                                                          const mg_places7_t &s,
                                                          const mg_real_t *x) {
  const int order = l->order;
  mg_values7_t v = mg_values7_by([order](int) { return order; }, s, x);
  if (may_be_thin && __builtin_expect(l->thin, false)) {
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const mg_real_t ghost = mg_ghost(MG_WALL_DIRICHLET, 1, v.c, v.c);
      if (s.wall_low[d] && !l->inward[d]) v.low[d] = ghost;
      if (s.wall_high[d] && !l->inward[d]) v.high[d] = ghost;
    }
  }
  return v;
}

/** The same without a branch.
 *  @param order  in registers */
static __device__ __forceinline__ mg_values7_t mg_values7(const mg_wall_orders_t &order,
                                                          const mg_places7_t &s,
                                                          const mg_real_t *x) {
  return mg_values7_by([&order](int d) { return order.along[d]; }, s, x);
}

/** Face weights of a cell; see mg_face_weights. */
static __device__ __forceinline__ mg_face_weights_t mg_cuda_face_weights(const mg_cuda_patch_t *l,
                                                                         int i, int j, int k) {
  mg_real_t wall[3][2];
#pragma unroll
  for (int d = 0; d < 3; d++)
    wall[d][0] = wall[d][1] = mg_wall_weight(MG_WALL_DIRICHLET, l->inward[d] ? 2 : 1);
  return mg_face_weights(&l->p, wall, i, j, k);
}

/** A x of the level's operator at one cell. Stencils other than 7 points read ghosts outside walls
 *  from memory.
 *  @tparam may_be_thin  see mg_values7 */
template <int points, bool may_be_thin = true>
__device__ __forceinline__ mg_real_t mg_apply(const mg_cuda_patch_t *l, const mg_real_t *x, int i,
                                              int j, int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  const mg_real_t *bi = p->vec[MG_BETA_I] + at, *bj = p->vec[MG_BETA_J] + at,
                  *bk = p->vec[MG_BETA_K] + at;
  const mg_real_t a = mg_a_at(&l->v, p, at);
#define MG_APPLY(n)                                                                                \
  if (points == n) return mg_apply_##n(x + at, bi, bj, bk, js, ks, a, l->v.b_h2);
  MG_OTHER_STENCILS(MG_APPLY)
#undef MG_APPLY
  const mg_values7_t v = mg_values7<may_be_thin>(l, mg_places7(l, i, j, k), x + at);
  return mg_apply_values7(v, bi, bj, bk, js, ks, a, l->v.b_h2);
}

/** Coefficients of a cell, which no kernel of a cycle writes: betas of its faces and a alpha. Valid
 *  for any cell, also at walls. */
struct mg_row_t {
  mg_real_t beta[3][2], a;
};

/** Stencil values of a cell, its coefficients and right-hand side. */
struct mg_stencil_values_t {
  mg_values7_t x;
  mg_row_t row;
  mg_real_t f;
};

/** Whether a block of cells lies inside the patch with no cell at a wall. The result is uniform
 *  across the thread block.
 *  @param first  lowest cell of the block
 *  @param n      cells along each direction */
static __device__ __forceinline__ bool mg_clear_of_walls(const mg_patch_t &p, const int first[3],
                                                         const int n[3]) {
  bool clear = true;
  for (int d = 0; d < 3; d++)
    clear = clear && first[d] + n[d] <= p.n[d] && !(p.wall[d][0] && first[d] == 0) &&
            !(p.wall[d][1] && first[d] + n[d] == p.n[d]);
  return clear;
}

/** Load the stencil of the cell at offset `at`.
 *
 *  Blocks traverse a level plane by plane. Data that the next plane does not reuse is loaded with
 *  streaming loads (__ldcs), which leaves the L2 to the rest.
 *  @param f  right-hand side vector; < 0: zero */
static __device__ __forceinline__ mg_stencil_values_t mg_stencil_load(const mg_cuda_patch_t *l,
                                                                      const mg_real_t *x,
                                                                      mg_vector_t f, ptrdiff_t at) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride;
  const mg_real_t *bi = p->vec[MG_BETA_I] + at, *bj = p->vec[MG_BETA_J] + at,
                  *bk = p->vec[MG_BETA_K] + at;
  x += at;
  mg_stencil_values_t near;
  near.x.c = x[0];
  near.f = f < 0 ? MG_REAL(0.0) : __ldcs(p->vec[f] + at);
  near.x.low[0] = x[-1];
  near.x.high[0] = x[1];
  near.x.low[1] = x[-js];
  near.x.high[1] = x[js];
  near.x.low[2] = __ldcs(x - ks);
  near.x.high[2] = x[ks];
  near.row = {{{bi[0], bi[1]}, {bj[0], bj[js]}, {__ldcs(bk), bk[ks]}},
              l->v.alpha_varies ? __ldcs(p->vec[MG_ALPHA] + at) : MG_REAL(l->v.a)};
  return near;
}

/** @tparam varies  false: alpha does not vary, which saves registers */
template <bool varies = true>
static __device__ __forceinline__ mg_row_t mg_row(const mg_cuda_patch_t *l, int i, int j, int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  const mg_real_t *bi = p->vec[MG_BETA_I] + at, *bj = p->vec[MG_BETA_J] + at,
                  *bk = p->vec[MG_BETA_K] + at;
  const mg_real_t a = varies ? mg_a_at(&l->v, p, at) : MG_REAL(l->v.a);
  return {{{bi[0], bi[1]}, {bj[0], bj[js]}, {bk[0], bk[ks]}}, a};
}

/** 1 / diagonal: read from MG_DINV if `stored`, else computed. */
template <bool stored>
static __device__ __forceinline__ mg_real_t mg_row_dinv(const mg_cuda_patch_t *l,
                                                        const mg_row_t &row, int i, int j, int k) {
  if (stored) return *mg_cell(&l->p, MG_DINV, i, j, k);
  const mg_face_weights_t weights = mg_cuda_face_weights(l, i, j, k);
  return MG_REAL(1.0) /
         mg_diagonal_7(row.beta[0], row.beta[1], row.beta[2], 1, 1, weights, row.a, l->v.b_h2);
}

/** A x. */
static __device__ __forceinline__ mg_real_t mg_row_apply(const mg_cuda_patch_t *l,
                                                         const mg_row_t &row,
                                                         const mg_values7_t &x) {
  return mg_apply_values7(x, row.beta[0], row.beta[1], row.beta[2], 1, 1, row.a, l->v.b_h2);
}

/** 1 / diagonal. */
static __device__ __forceinline__ mg_real_t mg_stencil_dinv(const mg_cuda_patch_t *l,
                                                            const mg_row_t &row) {
  const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  return MG_REAL(1.0) /
         mg_diagonal_7(row.beta[0], row.beta[1], row.beta[2], 1, 1, one, row.a, l->v.b_h2);
}

#endif
