/* Smoothing of a level in shared memory (paired_level.h). A thread keeps the coefficients, f and u
 * of its two cells in registers, also all addresses; a step loads only the five other neighbors. */
#ifndef MG_CUDA_COARSE_PAIRED_SMOOTHER_H
#define MG_CUDA_COARSE_PAIRED_SMOOTHER_H

#include "cuda/coarse/paired_level.h"
#include "cuda/runtime/dependent_launch.h"
#include "cuda/runtime/shared_value.h"

/** One of the two cells of a thread. Addresses are those of mg_shared_address. At a wall, `outer`
 *  is unused, and `near` is the cell across from the neighbor, as in mg_places7_t. */
template <bool stores_a> struct mg_paired_cell_t {
  mg_paired_row_t<stores_a> c;
  mg_real_t f, u;
  uint32_t at, outer, near[2][2]; /**< the cell; the neighbor along i outside the pair; the low and
                                     high neighbors along j and k */
  bool high;                      /**< the cell is the one with the larger i */
  bool outer_low, outer_high;     /**< whether `outer` is the low or the high neighbor; neither if
                                     that is outside a wall */
};

/** The smoother as seen by one thread. Every thread of the level's warps calls every function.
 *  @tparam colored  all steps are colored; otherwise none is
 *  @tparam linear   the wall formula has order 1; otherwise it may also have order 2 */
template <bool colored, bool linear, bool stores_a> struct mg_paired_smoother_t {
  typedef mg_paired_cell_t<stores_a> cell_t;
  const mg_paired_level_t &l;
  const mg_pair_t &pair;
  const mg_team_t &team;
  mg_real_t b_h2;
  int order;
  cell_t first, second;
  bool wall[2][2]; /**< the low or high neighbor along j or k is outside a wall */

  /** @param u  address of the level's first cell */
  __device__ __forceinline__ mg_paired_smoother_t(const mg_paired_level_t &level,
                                                  const mg_pair_t &p, const mg_team_t &threads,
                                                  uint32_t u)
      : l(level), pair(p), team(threads), b_h2(level.b_h2), order(level.order) {
    /* In registers: a constant at a computed address takes as long to load as a shared value. */
    mg_cuda_force(b_h2);
    place(&first, p.phase, u);
    place(&second, 1 - p.phase, u);
    const int at[2] = {p.j, p.k};
#pragma unroll
    for (int d = 0; d < 2; d++) {
      wall[d][0] = at[d] == 0 && !l.periodic;
      wall[d][1] = at[d] == l.n - 1 && !l.periodic;
    }
  }

  __device__ __forceinline__ void place(cell_t *x, int which, uint32_t u) const {
    const int bytes = (int)sizeof(mg_real_t), at[2] = {pair.j, pair.k};
    const bool low = pair.i == 0, high = pair.i + 2 == l.n;
    const int across = l.periodic ? l.n - 1 : 1;
    x->high = which;
    x->outer_low = !which && (l.periodic || !low);
    x->outer_high = which && (l.periodic || !high);
    x->at = u + (uint32_t)(bytes * (mg_pair_place(l, pair) + which));
    x->outer = x->at + (uint32_t)(bytes * (which ? (high ? -across : 1) : (low ? across : -1)));
    int stride = bytes * l.n;
#pragma unroll
    for (int d = 0; d < 2; d++, stride *= l.n) {
      const int far = l.periodic ? (l.n - 1) * stride : stride;
      x->near[d][0] = x->at + (uint32_t)(at[d] == 0 ? far : -stride);
      x->near[d][1] = x->at + (uint32_t)(at[d] == l.n - 1 ? -far : stride);
    }
  }

  /** Load the coefficients. */
  __device__ __forceinline__ void load(const mg_real_t *shared) {
    const mg_real_t *from = shared + l.record_at + pair.number;
    first.c.load(from, l.pairs, l.a);
    second.c.load(from + MG_PAIRED_VALUES * l.pairs, l.pairs, l.a);
  }

  /** Set f and the first iterate. */
  __device__ __forceinline__ void start(mg_real2_t f, mg_real2_t u) {
    first.f = pair.phase ? f.y : f.x;
    second.f = pair.phase ? f.x : f.y;
    first.u = pair.phase ? u.y : u.x;
    second.u = pair.phase ? u.x : u.y;
  }

  /** The ghost next to a cell c. Computed in any case, where it may be needed: branches of a few
   *  instructions take longer, one after the other. */
  __device__ __forceinline__ mg_real_t ghost(mg_real_t c, mg_real_t x) const {
    mg_real_t value = mg_ghost(MG_WALL_DIRICHLET, linear ? 1 : order, c, x);
    if (!linear) mg_cuda_force(value);
    return value;
  }

  /** A u at a cell.
   *  @param other  u of the other cell of the pair
   *  @param shift  bytes from u to the iterate */
  __device__ __forceinline__ mg_real_t apply(const cell_t &x, mg_real_t other,
                                             uint32_t shift) const {
    const mg_real_t outer = mg_shared_load(x.outer + shift);
    mg_real_t near[2][2];
#pragma unroll
    for (int d = 0; d < 2; d++) {
      near[d][1] = mg_shared_load(x.near[d][1] + shift);
      near[d][0] = mg_shared_load(x.near[d][0] + shift);
    }
    const mg_real_t beyond = ghost(x.u, other), low = x.high ? other : beyond,
                    high = x.high ? beyond : other;
    mg_values7_t v = {
        x.u, {x.outer_low ? outer : low, 0.0, 0.0}, {x.outer_high ? outer : high, 0.0, 0.0}};
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const mg_real_t outside[2] = {ghost(x.u, near[d][0]), ghost(x.u, near[d][1])};
      v.low[1 + d] = wall[d][0] ? outside[0] : near[d][0];
      v.high[1 + d] = wall[d][1] ? outside[1] : near[d][1];
    }
    const mg_row_t &row = x.c.row;
    return mg_apply_values7(v, row.beta[0], row.beta[1], row.beta[2], 1, 1, row.a, b_h2);
  }

  /** Store u of the pair. */
  __device__ __forceinline__ void store(uint32_t shift) const {
    mg_shared_store(first.at + shift, first.u);
    mg_shared_store(second.at + shift, second.u);
  }

  /* With u = 0, A u is 0 exactly, so a zero guess is no special case. */
  __device__ __forceinline__ void relax(cell_t *x, mg_real_t other) const {
    team.barrier();
    x->u = mg_relax(x->u, apply(*x, other, 0), x->f, x->c.dinv, MG_REAL(1.0));
    mg_shared_store(x->at, x->u);
  }

  /** All colored steps. Two consecutive ones have different colors. */
  __device__ __forceinline__ void smooth_colored(void) {
    uint64_t same = l.same;
    store(0);
#pragma unroll 1
    for (int n = l.n_steps; n > 0; n -= 2, same >>= 2) {
      if (same & 1) {
        relax(&first, second.u);
        relax(&second, first.u);
      } else {
        relax(&second, first.u);
        relax(&first, second.u);
      }
    }
  }

  /** All steps on all cells; an odd number of them begins in the spare iterate, so that the result
   *  is in u.
   *  @param spare  bytes from u to the spare iterate
   *  @param step   c1, c2 of each step */
  __device__ __forceinline__ void smooth_all(uint32_t spare, const mg_real_t *step) {
    uint32_t from = l.n_steps % 2 ? spare : 0;
    mg_real2_t previous = {first.u, second.u};
    store(from);
#pragma unroll 1
    for (int n = l.n_steps; n > 0; n--, step += 2) {
      const mg_real_t c1 = step[0], c2 = step[1];
      team.barrier();
      const mg_real2_t ax = {apply(first, second.u, from), apply(second, first.u, from)},
                       now = {first.u, second.u};
      /* Without weight, as in mg_update_of. */
      if (c1 == MG_REAL(0.0)) previous = now;
      first.u = mg_update(now.x, previous.x, ax.x, first.f, first.c.dinv, c1, c2);
      second.u = mg_update(now.y, previous.y, ax.y, second.f, second.c.dinv, c1, c2);
      previous = now;
      from = spare - from;
      store(from);
    }
  }

  /** All steps, and the barrier after them. */
  __device__ __forceinline__ void smooth(uint32_t spare, const mg_real_t *step) {
    if constexpr (colored)
      smooth_colored();
    else
      smooth_all(spare, step);
    team.barrier();
  }

  /** Sum of f - A u over the pair. */
  __device__ __forceinline__ mg_real_t residual_sum(void) const {
    return (first.f - apply(first, second.u, 0)) + (second.f - apply(second, first.u, 0));
  }
};

#endif
