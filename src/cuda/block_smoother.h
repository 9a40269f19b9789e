/* Smooths of a small 7-point level by one block whose threads keep their cells in registers.
 *
 * A step of a smoother of block_level.h looks for its cell and its neighbours, and loads betas, f
 * and 1 / diagonal: some 1,400 cycles of an H200, as many for 2^3 cells as for 8^3. Here all steps
 * of a smooth, and the residual after it, do so once, and the values that they exchange are in
 * shared memory. Digit for digit what smooth.cu and residual.cu compute. */
#ifndef MG_CUDA_BLOCK_SMOOTHER_H
#define MG_CUDA_BLOCK_SMOOTHER_H

#include "cuda/block_level.h"

/** A cell of a thread. */
struct mg_block_cell_t {
  bool there;
  int place;    /**< in shared memory */
  ptrdiff_t at; /**< in the level's vectors */
  mg_row_t row;
  mg_places7_t near; /**< in shared memory */
  double f, dinv, u, before;
};

/** A level of at most MG_BLOCK_PAIRED_CELLS cells as one thread sees it, which has a pair of cells
 *  along i. Functions are called by all threads of the block; a barrier follows them.
 *
 *  @tparam odd  the level may be odd and periodic: then neighbours across its end have one colour,
 *               and what they were before a half sweep counts. Only the coarsest one can be. */
template <bool varies, bool odd> struct mg_block_smoother_t {
  const mg_block_level_t &level;
  const mg_step_t *steps;
  int n_steps;
  mg_block_cell_t first, second; /**< of the colours of the first and the second half sweep */
  int now, other;                /**< halves of shared memory: u, and what comes after it */

  /** @param zero  u is zero, and not loaded */
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
    c->before = 0.0;
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
      c->u = zero ? mg_polynomial(0.0, 0.0, 0.0, c->f, c->dinv, 0.0, 1.0)
                  : mg_relax(c->u, apply(*c), c->f, c->dinv);
    if (odd) __syncthreads();
    put(*c, now);
  }

  __device__ __forceinline__ void step(mg_block_cell_t *c, double c1, double c2, bool looks_back,
                                       bool zero) {
    if (!c->there) return;
    const double ax = zero ? 0.0 : apply(*c), before = looks_back ? c->before : c->u;
    c->before = c->u;
    c->u = mg_polynomial(c->u, before, ax, c->f, c->dinv, c1, c2);
  }

  /** All steps; u is stored. */
  __device__ __forceinline__ void smooth(bool zero) {
    const int color = steps[0].color;
    for (int n = 0; n < n_steps; n++, zero = false) {
      const mg_step_t s = steps[n];
      if (s.kind == MG_STEP_GSRB) {
        if (s.color == color)
          relax(&first, zero);
        else
          relax(&second, zero);
      } else {
        const bool looks_back = s.kind == MG_STEP_CHEBYSHEV && s.c1 != 0.0;
        const double c1 = looks_back ? s.c1 : 0.0;
        step(&first, c1, s.c2, looks_back, zero);
        step(&second, c1, s.c2, looks_back, zero);
        put(first, other);
        put(second, other);
        now = other;
        other = 1 - now;
      }
      __syncthreads();
    }
    if (first.there) level.vec(MG_U)[first.at] = first.u;
    if (second.there) level.vec(MG_U)[second.at] = second.u;
  }

  /** coarse MG_F = the mean of 8 of f - A u. */
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
