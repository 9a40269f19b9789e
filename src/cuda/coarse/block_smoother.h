/* Smoothing of a small 7-point level by one block whose threads keep the coefficients of their
 * cells in registers.
 *
 * A smoother step in block_level.h computes the indices of its cell and neighbors, and loads
 * betas, f and 1 / diagonal. This takes about 1,400 cycles on an H200, for 2^3 cells as for 8^3.
 * Here it is done once for all steps. Values are in shared memory, in two halves: the current
 * iterate and the previous one. Results are bit-identical to those of smooth.cu. It is for coarsest
 * levels: paired_smoother.h smooths the others. */
#ifndef MG_CUDA_COARSE_BLOCK_SMOOTHER_H
#define MG_CUDA_COARSE_BLOCK_SMOOTHER_H

#include "cuda/coarse/block_level.h"

/** The steps of one smooth, as a kernel argument. Loads from memory would be on the path from step
 *  to step. */
struct mg_block_steps_t {
  const mg_step_t *step; /**< device: the n steps */
  int n;
  bool colored; /**< all steps are colored; otherwise none is */
  /* Colored steps, at most MG_BLOCK_MAX_STEPS: */
  int color;     /**< of the first step */
  double c2;     /**< of all steps */
  uint64_t same; /**< bit q: step q has the color of the first one */
};

/** @param step  the n steps, n > 0
 *  @param on_device  their copy on the device */
inline mg_block_steps_t mg_cuda_block_steps(const mg_step_t *step, int n,
                                            const mg_step_t *on_device) {
  mg_block_steps_t s = {on_device, n, step[0].colored, step[0].color, step[0].c2, 0};
  for (int q = 0; q < n && q < MG_BLOCK_MAX_STEPS; q++)
    if (step[q].color == step[0].color) s.same |= (uint64_t)1 << q;
  return s;
}

/** One of the two cells of a thread. */
struct mg_block_cell_t {
  bool there;
  int at;         /**< offset in the level's vectors */
  uint32_t place; /**< address of the value in the first half of shared memory */
  mg_row_t row;
  mg_places7_t near; /**< addresses of the neighbors' values */
  mg_real_t f, u;
  mg_real_t dinv; /**< 1 / diagonal; c2 / diagonal in colored steps */
};

/** Per-thread view of a level of at most MG_BLOCK_PAIRED_CELLS cells. Each thread has a pair of
 *  cells along i (mg_block_pair_t). All threads of the block call every function; a barrier must
 *  follow each call.
 *
 *  @tparam colored  all steps are colored; otherwise none is */
template <bool colored> struct mg_block_smoother_t {
  const mg_block_level_t &level;
  const mg_block_steps_t &steps;
  mg_block_cell_t first, second; /**< cells of the colors of the first and second half sweep */
  uint32_t now, other; /**< bytes from the first half to that of the current and of the previous
                          iterate */
  bool odd_period; /**< neighbors across a period have the same color: a half sweep must read their
                      old values */
  mg_wall_orders_t order;

  /** @param u  values of the pair */
  __device__ __forceinline__ mg_block_smoother_t(const mg_block_level_t &l,
                                                 const mg_block_steps_t &s, mg_real2_t u)
      : level(l), steps(s), now(0), other(sizeof(level.s->value[0])), odd_period(false),
        order(l.orders()) {
    const mg_block_pair_t pair = level.pair();
    const mg_patch_t *p = &level.l->p;
    for (int d = 0; d < 3; d++)
      odd_period = odd_period || (!p->wall[d][0] && p->n[d] % 2 != 0);
    const int phase = colored ? (mg_parity(p, 0, pair.j, pair.k) ^ steps.color) & 1 : 0;
    load(&first, pair, phase, phase ? u.y : u.x);
    load(&second, pair, 1 - phase, phase ? u.x : u.y);
    __syncthreads();
  }

  /* Without a cell, load another one: values that are set on some paths only stay in registers
   * through the whole cycle, and others spill. */
  __device__ __forceinline__ void load(mg_block_cell_t *c, const mg_block_pair_t &pair, int which,
                                       mg_real_t u) {
    const int side = level.row.n, bytes = (int)sizeof(mg_real_t),
              stride[3] = {bytes, bytes * side, bytes * side * level.column.n};
    const int3 i = make_int3(min(pair.i + which, side - 1), pair.j, pair.k);
    c->there = pair.there && pair.i + which < side;
    c->place = mg_shared_address(level.s->value[0]) +
               (uint32_t)(i.x * stride[0] + i.y * stride[1] + i.z * stride[2]);
    c->near = level.places(stride, i, (int)c->place);
    c->at = (int)level.offset(i);
    c->row = mg_row(level.l, i.x, i.y, i.z);
    c->f = level.vec(MG_F)[c->at];
    c->dinv = level.vec(MG_DINV)[c->at];
    if (colored) c->dinv *= MG_REAL(steps.c2); /* here, off the path from step to step */
    c->u = u;
    if (c->there) mg_shared_store(c->place, u);
  }

  __device__ __forceinline__ mg_values7_t values(const mg_block_cell_t &c) const {
    return mg_shared_values7(order, c.near, now, c.u);
  }

  /* With u = 0, A u is 0 exactly, so a zero guess is no special case. */
  __device__ __forceinline__ void relax(mg_block_cell_t *c) {
    if (c->there)
      c->u = mg_relax(c->u, mg_row_apply(level.l, c->row, values(*c)), c->f, c->dinv, MG_REAL(1.0));
    if (odd_period) __syncthreads();
    if (c->there) mg_shared_store(c->place + now, c->u);
  }

  /* The next iterate replaces the previous one. */
  __device__ __forceinline__ void update(mg_block_cell_t *c, mg_real_t c1, mg_real_t c2) {
    if (!c->there) return;
    const mg_real_t ax = mg_row_apply(level.l, c->row, values(*c)),
                    previous = c1 == MG_REAL(0.0) ? c->u : mg_shared_load(c->place + other);
    c->u = mg_update(c->u, previous, ax, c->f, c->dinv, c1, c2);
    mg_shared_store(c->place + other, c->u);
  }

  /** Perform all steps and store u; call once. */
  __device__ __forceinline__ void smooth(void) {
    uint64_t same = steps.same;
    for (int n = 0; n < steps.n; n++, same >>= 1) {
      if constexpr (colored) {
        if (same & 1)
          relax(&first);
        else
          relax(&second);
      } else {
        const mg_step_t s = steps.step[n];
        update(&first, MG_REAL(s.c1), MG_REAL(s.c2));
        update(&second, MG_REAL(s.c1), MG_REAL(s.c2));
        const uint32_t swap = now;
        now = other;
        other = swap;
      }
      __syncthreads();
    }
    if (first.there) level.vec(MG_U)[first.at] = first.u;
    if (second.there) level.vec(MG_U)[second.at] = second.u;
  }
};

#endif
