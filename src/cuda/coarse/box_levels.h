/* Cycles of the 7-point operators in one block on levels of any shape, as seen by one thread. The
 * levels stay in global memory. A thread keeps a pair of cells in registers during a smooth
 * (block_smoother.h). Results are bit-identical to those of separate kernels: same formulas, same
 * order. */
#ifndef MG_CUDA_COARSE_BOX_LEVELS_H
#define MG_CUDA_COARSE_BOX_LEVELS_H

#include "cuda/coarse/block_fv4_levels.h"
#include "formulas/transfer.h"

/** Pairs of cells of a level: threads of the block. */
inline int64_t mg_box_pairs(const mg_view_t *v) {
  return (int64_t)((v->n[0] + 1) / 2) * v->n[1] * v->n[2];
}

struct mg_box_level_t : mg_block_level_t {
  __device__ mg_box_level_t(const mg_cuda_patch_t *level, mg_block_shared_t *shared)
      : mg_block_level_t(level, shared) {}

  /** MG_F of the coarser level = restriction of src. */
  __device__ void restrict_to(const mg_box_level_t &coarse, mg_vector_t src) const {
    const mg_patch_t *p = &l->p;
    const ptrdiff_t js = p->jstride, ks = p->kstride;
    const bool halves = mg_doubles(p->n, coarse.l->p.n);
    const mg_real_t weight = mg_child_weight(p->n, coarse.l->p.n);
    coarse.for_cells([&](int3 i, ptrdiff_t at) {
      const mg_children_t in_i = mg_children(&l->v, p, &coarse.l->p, 0, i.x),
                          in_j = mg_children(&l->v, p, &coarse.l->p, 1, i.y),
                          in_k = mg_children(&l->v, p, &coarse.l->p, 2, i.z);
      const mg_real_t *x = mg_cell(p, src, in_i.first, in_j.first, in_k.first);
      coarse.vec(MG_F)[at] = halves ? mg_mean8(x[0] + x[1], x[js] + x[js + 1], x[ks] + x[ks + 1],
                                               x[js + ks] + x[js + ks + 1])
                                    : weight * mg_sum_children(x, js, ks, in_i.n, in_j.n, in_k.n);
    });
  }
};

/** V-cycle and F-cycle; level 0 is the finest level of the coarse cycle. */
template <bool colored> struct mg_box_levels_t {
  const mg_block_args_t *args;
  mg_block_shared_t *shared;

  __device__ mg_box_level_t level(int l) const { return mg_box_level_t(&args->level[l].l, shared); }

  /** The pair of this thread of level l: (add ? MG_U : 0) + P (MG_U of level l + 1). */
  __device__ __forceinline__ mg_real2_t interpolated(int l, bool add) const {
    const mg_box_level_t cells = level(l), coarse = level(l + 1);
    const mg_interpolation_t kind = add ? args->v : args->f;
    if (kind != MG_INTERPOLATE_P0) coarse.fill_ghosts<1>(MG_U);
    const mg_block_pair_t pair = cells.pair();
    const mg_real2_t zero = {0.0, 0.0}, old = add ? cells.load(MG_U, pair) : zero;
    mg_real_t u[2] = {old.x, old.y};
#pragma unroll
    for (int c = 0; c < 2; c++)
      if (pair.there && pair.i + c < cells.row.n) {
        const int at[3] = {pair.i + c, pair.j, pair.k};
        const mg_real_t p = mg_interpolate_any(coarse.l->p, MG_U, cells.l->v, cells.l->p, kind, at);
        u[c] = add ? u[c] + p : p;
      }
    return mg_make_real2(u[0], u[1]);
  }

  __device__ __forceinline__ void visit(int l, bool down, mg_coarse_guess_t guess, bool) const {
    const mg_box_level_t cells = level(l);
    const mg_real2_t zero = {0.0, 0.0}, u = guess == MG_COARSE_ZERO ? zero
                                            : guess == MG_COARSE_STORED
                                                ? cells.load(MG_U, cells.pair())
                                                : interpolated(l, guess == MG_COARSE_PLUS_P);
    mg_block_smoother_t<colored> smoother(cells, args->level[l].steps, u);
    smoother.smooth();
    if (down) smoother.residual(MG_TMP);
    __syncthreads();
    if (down) cells.restrict_to(level(l + 1), MG_TMP);
  }

  __device__ __forceinline__ void solve(bool zero_guess) const {
    mg_block_solve<false, colored>(&args->level[args->n_levels - 1].l, shared, args->bottom,
                                   zero_guess);
  }

  __device__ __forceinline__ void run(int top, bool f_cycle, bool zero_guess) const {
    const int bottom = args->n_levels - 1;
    for (int l = top; f_cycle && l < bottom; l++)
      level(l).restrict_to(level(l + 1), MG_F);
    mg_coarse_run(*this, top, bottom, f_cycle, zero_guess);
  }
};

#endif
