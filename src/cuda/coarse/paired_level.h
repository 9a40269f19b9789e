/* Levels of 7-point operators in the shared memory of one block: the coefficients, f and u of all
 * levels of a coarse cycle (paired_cycle.cu).
 *
 * A thread has a pair of cells along i. Only the first level of a launch may have more than 32
 * pairs: one warp runs the levels below it, and the other warps wait. Results are bit-identical to
 * those of smooth.cu, residual.cu, restrict.cu and interpolate.cu. */
#ifndef MG_CUDA_COARSE_PAIRED_LEVEL_H
#define MG_CUDA_COARSE_PAIRED_LEVEL_H

#include "cuda/cells/interpolate.h"
#include "cuda/cells/stencil_load.h"
#include "cuda/runtime/dependent_launch.h"

/** Most cells per side of a level. */
enum { MG_PAIRED_MAX_THREADS = 512 };

/** A level, as part of a kernel argument. Places are indices in shared memory. */
struct mg_paired_level_t {
  mg_real_t *u, *f; /**< cells in global memory, like the following */
  const mg_real_t *beta[3], *dinv, *alpha;
  int jstride, kstride;
  int n, pairs;                      /**< cells per side; pairs of cells */
  unsigned by_half, by_n, by_padded; /**< mg_magic_of n / 2, n and n + 2 */
  int record_at;                     /**< place of the coefficients: [value][pair] */
  int f_at, u_at;                    /**< places of cells: [k][j][i] */
  int order, ghost_order;            /**< of the operator's wall formula; of interpolation's */
  bool periodic;                     /**< in all directions; otherwise all sides are walls */
  int phase;                         /**< colored: phase of pair 0 (mg_pair_t) */
  int n_steps, first_step;           /**< steps of one smooth */
  uint64_t same;                     /**< colored: bit q: step q has the color of the first one */
  mg_real_t a, b_h2;
  mg_real_t c2; /**< colored: of all steps */
};

/** For division of c >= 0 by `divisor` without a division: exact for c < 2^18 / divisor. */
inline unsigned mg_magic_of(int divisor) {
  return ((1U << 18) + (unsigned)divisor - 1) / (unsigned)divisor;
}
static __device__ __forceinline__ int mg_quotient(int c, unsigned magic) {
  return (int)(((unsigned)c * magic) >> 18);
}

/** Cells (i, j, k) and (i + 1, j, k) of a level with an even number of cells per side. The first
 *  cell of a pair is the one that the first half sweep updates: i + phase. Lanes without a pair
 *  duplicate the last one and store the same values as its lane, which saves branches. */
struct mg_pair_t {
  int number, i, j, k;
  int phase;
};

/** Pair number t of a level. */
static __device__ __forceinline__ mg_pair_t mg_pair(const mg_paired_level_t &l, int t) {
  const int number = min(t, l.pairs - 1), half = l.n / 2;
  const int q = mg_quotient(number, l.by_half), k = mg_quotient(q, l.by_n), j = q - k * l.n;
  return {number, 2 * (number - q * half), j, k, (j ^ k ^ l.phase) & 1};
}

/** Index of a pair's cell (i, j, k) in shared memory, and its offset in global memory. */
static __device__ __forceinline__ int mg_pair_place(const mg_paired_level_t &l,
                                                    const mg_pair_t &p) {
  return p.i + l.n * (p.j + l.n * p.k);
}
static __device__ __forceinline__ int mg_pair_offset(const mg_paired_level_t &l,
                                                     const mg_pair_t &p) {
  return p.i + p.j * l.jstride + p.k * l.kstride;
}

/** Coefficients of a cell: betas of its faces, 1 / diagonal (in shared memory times c2, if
 * colored), and a alpha.
 *  @tparam stores_a  a alpha may vary; otherwise it is that of the level. A parameter because
 *      a launch of microseconds takes longer for each instruction that it fetches */
template <bool stores_a> struct mg_paired_row_t {
  mg_row_t row;
  mg_real_t dinv;

  /** Store to, or load from, shared memory; values are `stride` apart. */
  __device__ __forceinline__ void store(mg_real_t *to, int stride) const {
#pragma unroll
    for (int face = 0; face < 6; face++)
      to[face * stride] = row.beta[face / 2][face % 2];
    to[6 * stride] = dinv;
    if (stores_a) to[7 * stride] = row.a;
  }
  __device__ __forceinline__ void load(const mg_real_t *from, int stride, mg_real_t constant_a) {
#pragma unroll
    for (int face = 0; face < 6; face++)
      row.beta[face / 2][face % 2] = from[face * stride];
    dinv = from[6 * stride];
    row.a = stores_a ? from[7 * stride] : constant_a;
  }
};

/** Load the coefficients of a pair from global memory: [phase] is the first cell's. */
template <bool stores_a>
static __device__ __forceinline__ void
mg_paired_load(const mg_paired_level_t &l, const mg_pair_t &p, mg_paired_row_t<stores_a> cell[2]) {
  const int at = mg_pair_offset(l, p), js = l.jstride, ks = l.kstride;
  const mg_real_t *bi = l.beta[0] + at, *bj = l.beta[1] + at, *bk = l.beta[2] + at;
#pragma unroll
  for (int c = 0; c < 2; c++) {
    const mg_row_t row = {{{bi[c], bi[c + 1]}, {bj[c], bj[c + js]}, {bk[c], bk[c + ks]}},
                          stores_a && l.alpha ? l.alpha[at + c] : l.a};
    cell[c].row = row;
    cell[c].dinv = l.dinv[at + c];
  }
}

/** Store the coefficients of a pair to shared memory, the first cell's first. */
template <bool colored, bool stores_a>
static __device__ __forceinline__ void
mg_paired_store(const mg_paired_level_t &l, const mg_pair_t &p, mg_paired_row_t<stores_a> cell[2],
                mg_real_t *shared) {
  for (int c = 0; colored && c < 2; c++)
    cell[c].dinv *= l.c2;
  mg_real_t *to = shared + l.record_at + p.number;
  const int second = MG_PAIRED_VALUES * l.pairs;
  cell[0].store(to + (p.phase ? second : 0), l.pairs);
  cell[1].store(to + (p.phase ? 0 : second), l.pairs);
}

/** x1, or the ghost outside a wall next to x1. Computed in any case: branches take longer. */
static __device__ __forceinline__ mg_real_t mg_ghost_if(bool outside, int order, mg_real_t x1,
                                                        mg_real_t x2) {
  mg_real_t ghost = mg_ghost(MG_WALL_DIRICHLET, order, x1, x2);
  mg_cuda_force(ghost);
  return outside ? ghost : x1;
}

/** Value number c of the n + 2 cells per side of u with a layer of ghosts, from the cells x in
 *  shared memory. All threads issue the same loads, also at walls. */
static __device__ __forceinline__ mg_real_t mg_padded_value(const mg_paired_level_t &l,
                                                            const mg_real_t *x, int c) {
  const int w = l.n + 2, q = mg_quotient(c, l.by_padded), z = mg_quotient(q, l.by_padded);
  const int at[3] = {c - q * w - 1, q - z * w - 1, z - 1};
  int in[3], stride = 1;
  bool out[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const bool low = at[d] < 0, high = at[d] >= l.n;
    const int across = l.periodic ? l.n - 1 : 0;
    out[d] = !l.periodic && (low || high);
    in[d] = !out[d] || l.n == 1 ? 0 : low ? stride : -stride;
    x += stride * (low ? across : high ? l.n - 1 - across : at[d]);
    stride *= l.n;
  }
  mg_real_t plane[2];
#pragma unroll
  for (int k = 0; k < 2; k++) {
    mg_real_t row[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
      const mg_real_t *from = x + j * in[1] + k * in[2];
      const mg_real_t x1 = from[0], x2 = from[in[0]];
      row[j] = mg_ghost_if(out[0], l.ghost_order, x1, x2);
    }
    plane[k] = mg_ghost_if(out[1], l.ghost_order, row[0], row[1]);
  }
  return mg_ghost_if(out[2], l.ghost_order, plane[0], plane[1]);
}

/** P (coarse u) at a pair, by P1 or V2: as mg_interpolate_children, for one of the four pairs of
 *  children of a coarse cell.
 *  @param padded  coarse u with ghosts, w cells per side */
template <mg_interpolation_t kind>
static __device__ __forceinline__ mg_real2_t mg_paired_interpolate(const mg_real_t *padded, int w,
                                                                   const mg_pair_t &p) {
  const int side_j = p.j % 2 ? 1 : -1, side_k = p.k % 2 ? 1 : -1;
  const mg_real_t *x = padded + p.i / 2 + w * (p.j / 2 + w * (p.k / 2));
  mg_real_t row[3];
#pragma unroll
  for (int di = 0; di < 3; di++) {
    mg_real_t column[3];
#pragma unroll
    for (int dj = 0; dj < 3; dj++)
      column[dj] = mg_interpolate_3(kind, x[di + w * dj], x[di + w * (dj + w)],
                                    x[di + w * (dj + 2 * w)], side_k);
    row[di] = mg_interpolate_3(kind, column[0], column[1], column[2], side_j);
  }
  return mg_make_real2(mg_interpolate_3(kind, row[0], row[1], row[2], -1),
                       mg_interpolate_3(kind, row[0], row[1], row[2], 1));
}

/** Mean of the children of coarse cell (i, j, k).
 *  @param sums  sums of the fine level's pairs
 *  @param n     coarse cells per side */
static __device__ __forceinline__ mg_real_t mg_mean_of_pairs(const mg_real_t *sums, int n, int i,
                                                             int j, int k) {
  const int js = n, ks = 2 * n * n;
  const mg_real_t *x = sums + i + 2 * (j * js + k * ks);
  return mg_mean8(x[0], x[js], x[ks], x[js + ks]);
}

#endif
