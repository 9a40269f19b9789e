/* Cycles of fv4 over levels of at most 8^3 cells in one block, in registers and shared memory.
 *
 * Every level has its own threads, one for each cell, which keep its coefficients, f and u from the
 * start of the launch to its end. Coefficients are loaded before the preceding kernel ends. Values
 * of a level are in shared memory, with two layers of ghosts and in two halves, because the steps
 * are out of place:
 *
 *     step             cells read one half and write the other one
 *     residual         cells write it to the half that does not hold u
 *     restriction      threads of the coarser level read the residual
 *     interpolation    threads of the finer level read u
 *
 * All threads fill the ghosts of the current level. A thread fills both ghosts of a column outside
 * a face of the domain, or one ghost outside an edge. The operator reads no other ghosts.
 *
 * The coarsest level, of at most 3^3 cells, has one warp. Results are bit-identical to those of
 * separate launches. */
#ifndef MG_CUDA_COARSE_BLOCK_FV4_H
#define MG_CUDA_COARSE_BLOCK_FV4_H

#include "cuda/cells/fv4_cell.h"
#include "cuda/coarse/block_level.h"
#include "cuda/coarse/krylov.h"

enum {
  MG_FV4_BLOCK_THREADS = 512 + 64 + 32,
  MG_FV4_BLOCK_VALUES = (2 * 12 * 12 + 2 * 8 * 8 + 6 * 6) * MG_FV4_JS
};
static_assert((int)MG_FV4_JS == (int)MG_FV4_BLOCK_SIDE + 4, "rows have two ghosts at each end");

/** Where a level is in the block. */
struct mg_fv4_place_t {
  int n;             /**< cells per side */
  int thread;        /**< first of its threads */
  int color_threads; /**< for the cells of one color; the coarsest level has no colors */
  int values;        /**< of the first half in shared memory */
  int size;          /**< values of one half */
  int ks;            /**< stride of planes */
  int result;        /**< the half with u after a smooth */
};

/** Shared memory of the block. */
struct mg_fv4_shared_t {
  mg_real_t value[MG_FV4_BLOCK_VALUES];
  double2 pair[MG_FV4_BLOCK_BOTTOM_SIDE * MG_FV4_BLOCK_BOTTOM_SIDE * MG_FV4_BLOCK_BOTTOM_SIDE];
};

/** Threads that fill ghosts of a level: columns at 6 faces, and 12 edges. */
static __host__ __device__ __forceinline__ int mg_fv4_columns(int n) {
  return 6 * n * n;
}
static __host__ __device__ __forceinline__ int mg_fv4_fillers(int n) {
  return mg_fv4_columns(n) + 12 * n;
}

/** Place the levels of a coarse cycle in the block.
 *  @param[in] n  cells per side, finest level first; even on all levels but the coarsest one
 *  @return threads of the block */
static inline int mg_fv4_place_levels(int n_levels, const int *n, const int *n_steps,
                                      mg_fv4_place_t *place) {
  int thread = 0, values = 0, fillers = 0;
  for (int l = 0; l < n_levels; l++) {
    const bool coarsest = l + 1 == n_levels;
    const int w = n[l] + 4, ks = w * MG_FV4_JS,
              half = coarsest ? 32 : (n[l] * n[l] * n[l] / 2 + 31) / 32 * 32;
    /* The coarsest level's warp fills no other ghosts: it keeps its own list of them. */
    if (coarsest && thread < fillers) thread = (fillers + 31) / 32 * 32;
    place[l] = {n[l], thread, half, values, w * ks, ks, coarsest ? 0 : n_steps[l] % 2};
    thread += coarsest ? 32 : 2 * half;
    values += (coarsest ? 1 : 2) * w * ks;
    fillers = fillers > mg_fv4_fillers(n[l]) ? fillers : mg_fv4_fillers(n[l]);
  }
  return thread;
}

/** Filler number q of a level. */
static __device__ __forceinline__ mg_fv4_ghosts_t mg_fv4_ghosts(const mg_fv4_place_t &place,
                                                                int q) {
  const mg_divisor_t by_n(place.n);
  const int n = place.n, stride[3] = {1, MG_FV4_JS, place.ks}, columns = mg_fv4_columns(n);
  const bool edge = q >= columns;
  const int rest = edge ? q - columns : q, row = by_n.quotient(rest), a = rest - row * n;
  const int side = edge ? row : by_n.quotient(row), b = edge ? 0 : row - side * n;
  /* Of a face: its normal d. Of an edge: its direction d. */
  const int d = side % 3, high = side / 3 % 2, high2 = side / 6;
  const int s_d = d == 0 ? stride[0] : d == 1 ? stride[1] : stride[2];
  const int s_1 = d == 0 ? stride[1] : stride[0], s_2 = d == 2 ? stride[1] : stride[2];
  const int wall = high ? n - 1 : 0, wall2 = high2 ? n - 1 : 0;
  const int in = edge ? s_1 : s_d;
  const int cell = edge ? a * s_d + wall * s_1 + wall2 * s_2 : wall * s_d + a * s_1 + b * s_2;
  return {(high ? -in : in) * 65536 + 2 * (1 + MG_FV4_JS + place.ks) + cell, !edge   ? 0
                                                                             : high2 ? -s_2
                                                                                     : s_2};
}

/** Copy ghosts across the period of n cells. */
static __device__ __forceinline__ void mg_fv4_fill_period(mg_real_t *x, const mg_fv4_ghosts_t &g,
                                                          int n) {
  x += g.cell();
  const int in = g.in(), both = in + g.across;
  x[-both] = x[(n - 1) * both];
  if (g.across == 0) x[-2 * in] = x[(n - 2) * in];
}

/** Fill the ghosts of one filler.
 *  @tparam max_order  4 or 2: highest order of the wall formula */
template <int max_order>
static __device__ __forceinline__ void mg_fv4_fill(const mg_cuda_patch_t *l, mg_real_t *x,
                                                   const mg_fv4_ghosts_t &g, int n) {
  if (l->v.periodic)
    mg_fv4_fill_period(x, g, n);
  else if (max_order == 4 && l->order == 4)
    mg_fv4_fill_walls<4>(x, g);
  else
    mg_fv4_fill_walls<2>(x, g);
}

/** The coarsest level as seen by one lane of its warp, which has one cell or none: a level type of
 *  mg_krylov_t. */
struct mg_fv4_bottom_t : mg_cell_vectors_t {
  static constexpr bool has_many_cells = false;
  enum { FILLERS = 3 /* per lane */, SIDE = MG_FV4_BLOCK_BOTTOM_SIDE };
  const mg_cuda_patch_t *l;
  mg_fv4_shared_t *shared;
  mg_fv4_cell_t cell;
  mg_fv4_ghosts_t ghosts[FILLERS];
  mg_real_t *value; /**< of the level */
  int n, cells, lane;

  __device__ __forceinline__ mg_fv4_bottom_t(const mg_cuda_patch_t *level,
                                             const mg_fv4_place_t &place, mg_fv4_shared_t *s,
                                             const mg_fv4_cell_t &c,
                                             const mg_fv4_ghosts_t g[FILLERS], mg_real_t f,
                                             mg_real_t u)
      : l(level), shared(s), cell(c), ghosts{g[0], g[1], g[2]}, value(s->value + place.values),
        n(place.n), cells(n * n * n), lane((int)threadIdx.x % 32) {
    x[MG_F] = f;
    x[MG_U] = u;
    x[MG_DINV] = cell.dinv;
  }

  __device__ __forceinline__ void store(mg_vector_t a) const {
    if (cell.there) value[cell.at] = x[a];
  }

  template <bool fv4>
  __device__ __forceinline__ void residual(mg_vector_t dst, mg_vector_t a, mg_vector_t f) {
    __syncwarp();
    store(a);
    __syncwarp();
#pragma unroll
    for (int q = 0; q < FILLERS; q++)
      if (lane + 32 * q < mg_fv4_fillers(n)) mg_fv4_fill<2>(l, value, ghosts[q], n);
    __syncwarp();
    const mg_real_t ax = cell.apply(value);
    x[dst] = f < 0 ? ax : x[f] - ax;
  }

  __device__ __forceinline__ double max_norm(mg_vector_t a) const {
    const double norm = __longlong_as_double(
        (long long)mg_max_of_warp(cell.there ? mg_max_bits((double)x[a]) : 0ULL));
    return isfinite(norm) ? norm : NAN;
  }

  /** As in block_level.h for a single brick: rows of j and k, then i. */
  __device__ __forceinline__ double dot(mg_vector_t a, mg_vector_t b) const {
    __syncwarp();
    /* 1 x: fma(x, 1, sum) is sum + x. */
    if (cell.there) shared->pair[lane] = {(double)x[a], b < 0 ? 1.0 : (double)x[b]};
    __syncwarp();
    const double sum = n == 2 ? sum_of<2>() : sum_of<SIDE>();
    return isfinite(sum) ? sum + 0.0 : NAN;
  }

private:
  template <int side> __device__ __forceinline__ double sum_of(void) const {
    double sum[side];
#pragma unroll
    for (int i = 0; i < side; i++) {
      sum[i] = 0.0;
#pragma unroll
      for (int jk = 0; jk < side * side; jk++) {
        const double2 p = shared->pair[i + side * jk];
        sum[i] = fma(p.x, p.y, sum[i]);
      }
    }
    double total = sum[0];
#pragma unroll
    for (int i = 1; i < side; i++)
      total += sum[i];
    return total;
  }
};

#endif
