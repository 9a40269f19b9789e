/* Smoothing of a small 7-point level by one block whose threads keep their cells in registers.
 *
 * A smoother step in block_level.h computes the indices of its cell and neighbors, and loads
 * betas, f and 1 / diagonal. This takes about 1,400 cycles on an H200, for 2^3 cells as for 8^3.
 * Here it is done once for all steps and the following residual. Steps exchange values through
 * shared memory. Results are bit-identical to those of smooth.cu and residual.cu. */
#ifndef MG_CUDA_BLOCK_SMOOTHER_H
#define MG_CUDA_BLOCK_SMOOTHER_H

#include "cuda/block_level.h"

/** One of the two cells of a thread. */
struct mg_block_cell_t {
  bool there;
  int place;    /**< index in shared memory */
  ptrdiff_t at; /**< offset in the level's vectors */
  mg_row_t row;
  mg_places7_t near; /**< offsets in shared memory */
  double f, u, previous;
  double dinv; /**< 1 / diagonal; c2 / diagonal in colored steps */
};

/** Per-thread view of a level of at most MG_BLOCK_PAIRED_CELLS cells. Each thread has a pair of
 *  cells along i. All threads of the block call every function; a barrier must follow each call.
 *
 *  @tparam odd  n may be odd on a periodic level: then neighbors across the period have the same
 *               color, and a half sweep must read their old values. Only the coarsest level can
 *               be odd. */
template <bool varies, bool odd> struct mg_block_smoother_t {
  const mg_block_level_t &level;
  const mg_step_t *steps;
  int n_steps;
  mg_block_cell_t first, second; /**< cells of the colors of the first and second half sweep */
  int now, other;                /**< halves of shared memory: current u, next u */

  /** @param zero  u is zero and is not loaded */
  __device__ __forceinline__ mg_block_smoother_t(const mg_block_level_t &l, const mg_step_t *s,
                                                 int n, bool zero)
      : level(l), steps(s), n_steps(n), now(0), other(1) {
    const int side = level.row.n;
    const mg_patch_t *p = &level.l->p;
    const mg_divisor_t half((side + 1) / 2);
    const int t = (int)threadIdx.x, q = half.quotient(t), k = level.row.quotient(q),
              j = q - k * side;
    const int phase = (p->lo[0] ^ (p->lo[1] + j) ^ (p->lo[2] + k) ^ steps[0].color) & 1;
    const int i = 2 * (t - q * half.n) + phase;
    load(&first, k < side, make_int3(i, j, k), zero);
    load(&second, k < side, make_int3(i ^ 1, j, k), zero);
    __syncthreads();
  }

  __device__ __forceinline__ void load(mg_block_cell_t *c, bool there, int3 i, bool zero) {
    const int side = level.row.n, stride[3] = {1, side, side * side};
    c->there = there && i.x < side;
    c->place = i.x + side * (i.y + side * i.z);
    c->near = level.places(stride, i);
    if (!c->there) return;
    c->at = level.offset(i);
    c->row = mg_row<varies>(level.l, i.x, i.y, i.z);
    c->f = level.vec(MG_F)[c->at];
    c->dinv = level.vec(MG_DINV)[c->at];
    c->u = zero ? 0.0 : level.vec(MG_U)[c->at];
    c->previous = 0.0;
    put(*c, now);
  }

  __device__ __forceinline__ double apply(const mg_block_cell_t &c) const {
    const double *u = &level.s->value[now][c.place];
    return mg_row_apply(level.l, c.row, mg_values7(c.near, u, level.l->order));
  }

  __device__ __forceinline__ void put(const mg_block_cell_t &c, int half) {
    if (c.there) level.s->value[half][c.place] = c.u;
  }

  __device__ __forceinline__ void relax(mg_block_cell_t *c, bool zero) {
    if (c->there)
      c->u = zero ? mg_relax(0.0, 0.0, c->f, c->dinv, 1.0)
                  : mg_relax(c->u, apply(*c), c->f, c->dinv, 1.0);
    if (odd) __syncthreads();
    put(*c, now);
  }

  __device__ __forceinline__ void update(mg_block_cell_t *c, double c1, double c2, bool zero) {
    if (!c->there) return;
    const double ax = zero ? 0.0 : apply(*c), previous = c1 == 0.0 ? c->u : c->previous;
    c->previous = c->u;
    c->u = mg_update(c->u, previous, ax, c->f, c->dinv, c1, c2);
  }

  /* Multiplying by c2 here keeps it off the path from step to step. With both loops in one, and
   * 64^3 cells, F-cycles on an H100 were 2 % slower. */
  __device__ __forceinline__ void smooth_colored(int color, double c2, bool zero) {
    first.dinv *= c2;
    second.dinv *= c2;
    for (int n = 0; n < n_steps; n++, zero = false) {
      if (steps[n].color == color)
        relax(&first, zero);
      else
        relax(&second, zero);
      __syncthreads();
    }
  }

  __device__ __forceinline__ void smooth_all(bool zero) {
    for (int n = 0; n < n_steps; n++, zero = false) {
      const mg_step_t s = steps[n];
      update(&first, s.c1, s.c2, zero);
      update(&second, s.c1, s.c2, zero);
      put(first, other);
      put(second, other);
      now = other;
      other = 1 - now;
      __syncthreads();
    }
  }

  /** Perform all steps and store u; call once. Either all steps are colored, with equal c2, or
   *  none is. */
  __device__ __forceinline__ void smooth(bool zero) {
    const mg_step_t step = steps[0];
    if (step.colored)
      smooth_colored(step.color, step.c2, zero);
    else
      smooth_all(zero);
    if (first.there) level.vec(MG_U)[first.at] = first.u;
    if (second.there) level.vec(MG_U)[second.at] = second.u;
  }

  /** coarse MG_F = mean of f - A u over the 8 child cells. */
  __device__ __forceinline__ void restrict_residual(const mg_block_level_t &coarse) const {
    double *const r = level.s->value[other];
    if (first.there) r[first.place] = first.f - apply(first);
    if (second.there) r[second.place] = second.f - apply(second);
    __syncthreads();
    const int js = level.row.n, ks = js * js;
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < coarse.cells; c += (int)blockDim.x) {
      const int3 i = coarse.cell(c);
      const double *x = r + 2 * (i.x + i.y * js + i.z * ks);
      coarse.vec(MG_F)[coarse.offset(i)] =
          mg_mean8(x[0] + x[1], x[js] + x[js + 1], x[ks] + x[ks + 1], x[js + ks] + x[js + ks + 1]);
    }
  }
};

#endif
