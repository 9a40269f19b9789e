/* Interpolated input of the fused sweeps in temporal.cu: x becomes x + P u, where u is a vector of
 * the coarser level, or P u alone.
 *
 * The formula is a tensor product, k first, then j, then i (interpolate.h). Stage q interpolates
 * along k for fine plane q + 1, one thread per coarse column, between three planes of a ring that
 * TMA fills. The results are in two planes that alternate. Each thread then interpolates along j
 * and i to its cells of plane q, and writes them to the ring of x before the steps read them.
 *
 * Coarse ghosts outside walls are not read. They are combinations of the cells inside, in i, then
 * j, then k, as mg_fold_walls computes them. */
#ifndef MG_CUDA_TEMPORAL_INTERPOLATE_H
#define MG_CUDA_TEMPORAL_INTERPOLATE_H

#include "cuda/interpolate.h"
#include "cuda/temporal_squares.h"

namespace mg_temporal {
/* The formula in one direction: P0, P1 or V2. */
template <mg_interpolation_t kind>
__device__ __forceinline__ mg_real_t interpolate_3(mg_real_t m1, mg_real_t c, mg_real_t p1,
                                                   int side) {
  if constexpr (kind == MG_INTERPOLATE_P0)
    return c;
  else
    return mg_combine3<kind>(m1, c, p1, side);
}

/* Step from a column outside a wall of direction d to the next one inward: 1 or -1; 0 inside. */
__device__ __forceinline__ int step_inward(const mg_patch_t &fine, int n_coarse, int d, int at) {
  if (fine.wall[d][0] && at == -1) return 1;
  return fine.wall[d][1] && at == n_coarse ? -1 : 0;
}

/* Kind of the wall from which a step leads inward. */
__device__ __forceinline__ mg_wall_t wall_of(const mg_patch_t &fine, int d, int inward) {
  return fine.wall[d][inward < 0];
}

/* Coarse value at column (i, j) of a plane, which may be outside walls of i and j. */
__device__ __forceinline__ mg_real_t source_value(const mg_real_t *x, const job_t &job, int i,
                                                  int j) {
  const mg_patch_t &fine = job.l.p;
  const int *const n = job.parents.n_coarse, in_i = step_inward(fine, n[0], 0, i),
                   in_j = step_inward(fine, n[1], 1, j);
  mg_real_t row[2];
  for (int r = 0; r < 2; r++) {
    const mg_real_t *y = x + (in_j ? (r + 1) * in_j * SOURCE_WIDTH : 0);
    row[r] = in_i ? mg_ghost(wall_of(fine, 0, in_i), job.source_order, y[in_i], y[2 * in_i]) : y[0];
  }
  return in_j ? mg_ghost(wall_of(fine, 1, in_j), job.source_order, row[0], row[1]) : row[0];
}

/* Whether the block's coarse columns may be outside walls of i or j. */
template <typename S>
__device__ __forceinline__ bool source_at_wall(const mg_patch_t &p, const tile_t &t) {
  return (p.wall[0][0] && t.i0 < 2) || (p.wall[0][1] && t.i0 + WIDTH + 2 > p.n[0]) ||
         (p.wall[1][0] && t.j0 < 2) || (p.wall[1][1] && t.j0 + S::ROWS + 2 > p.n[1]);
}

/* Interpolate along k for fine plane q, in the coarse column that is number c of the block. */
template <typename S>
__device__ __forceinline__ void interpolate_column(mg_real_t *shared, const job_t &job,
                                                   const tile_t &t, int q, int c) {
  const mg_patch_t &p = job.l.p;
  const int row = c / SOURCE_COLUMNS, column = c % SOURCE_COLUMNS;
  const mg_child_t child = child_of_plane<S>(job, q);
  const int k = child.parent, side = child.side;
  mg_real_t x[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const mg_real_t *const plane = shared + S::SOURCE +
                                   ((k - 1 + d) & (SOURCE_SLOTS - 1)) * S::SOURCE_PLANE +
                                   row * SOURCE_WIDTH + column + SOURCE_LEFT;
    x[d] = source_at_wall<S>(p, t)
               ? source_value(plane, job, t.i0 / 2 - 1 + column, (t.j0 >> 1) - 1 + row)
               : *plane;
  }
  if (p.wall[2][0] && k == 0) x[0] = mg_ghost(p.wall[2][0], job.source_order, x[1], x[2]);
  if (p.wall[2][1] && k == job.parents.n_coarse[2] - 1)
    x[2] = mg_ghost(p.wall[2][1], job.source_order, x[1], x[0]);
  shared[S::MIDDLE + (q & 1) * S::MIDDLE_PLANE + row * S::MIDDLE_STRIDE + column] =
      side == 0 ? x[1]
      : job.interpolation == MG_INTERPOLATE_V2
          ? interpolate_3<MG_INTERPOLATE_V2>(x[0], x[1], x[2], side)
      : job.interpolation == MG_INTERPOLATE_P1
          ? interpolate_3<MG_INTERPOLATE_P1>(x[0], x[1], x[2], side)
          : x[1];
}

/* Interpolate along k for fine plane q. */
template <typename S>
__device__ __forceinline__ void interpolate_k(mg_real_t *shared, const job_t &job, const tile_t &t,
                                              int q) {
#pragma unroll
  for (int first = 0; first < SOURCE_COLUMNS * S::SOURCE_ROWS; first += S::THREADS) {
    const int c = first + (int)threadIdx.x;
    if (c < SOURCE_COLUMNS * S::SOURCE_ROWS) interpolate_column<S>(shared, job, t, q, c);
  }
}

/* Whether a cell, or a row of cells, is the only child of its coarse one. */
struct alone_t {
  bool cell, row;
};

/* Interpolate along j and i to a pair of cells; `near`: the lowest of 3 x 3 values. */
template <mg_interpolation_t kind>
__device__ __forceinline__ void interpolate_ji(const mg_real_t *near, int stride, int side,
                                               const alone_t &alone, mg_real_t value[2]) {
  mg_real_t row[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    row[c] = interpolate_3<kind>(near[c], near[stride + c], near[2 * stride + c], side);
    if (alone.row) row[c] = near[stride + c];
  }
  value[0] = alone.cell ? row[1] : interpolate_3<kind>(row[0], row[1], row[2], -1);
  value[1] = interpolate_3<kind>(row[0], row[1], row[2], 1);
}

/* Interpolate along j and i to a thread's cells, a pair or a square whose first row is row j. */
template <typename S, mg_interpolation_t kind>
__device__ __forceinline__ void interpolate_rows(const mg_real_t *near, const job_t &job, int i,
                                                 int j, mg_real_t value[S::SQUARES ? 2 : 1][2]) {
  const int *const lo = job.l.p.lo, *const n = job.parents.n;
  const bool cell = !S::HAS_HALVES && lo[0] + i == n[0] - 1; /* i is even */
  if constexpr (S::SQUARES) {
    /* All squares begin at an even row, or all at an odd one. */
    constexpr int odd = S::MARGIN % 2;
    const bool row = !S::HAS_HALVES && lo[1] + j + odd == n[1] - 1;
    interpolate_ji<kind>(near, S::MIDDLE_STRIDE, odd ? 1 : -1, {cell, !odd && row}, value[0]);
    interpolate_ji<kind>(near + odd * S::MIDDLE_STRIDE, S::MIDDLE_STRIDE, odd ? -1 : 1,
                         {cell, odd && row}, value[1]);
  } else {
    const bool low = j % 2 == 0;
    const bool row = !S::HAS_HALVES && low && lo[1] + j == n[1] - 1;
    interpolate_ji<kind>(near, S::MIDDLE_STRIDE, low ? -1 : 1, {cell, row}, value[0]);
  }
}

/* Interpolate along j and i to a thread's cells of plane q; `x`: offset of that plane in the ring.
 */
template <typename S>
__device__ __forceinline__ void interpolate_cells(const mg_real_t *shared, const job_t &job,
                                                  const tile_t &t, columns_t<S> &at, int q, int x) {
  constexpr int rows = S::SQUARES ? 2 : 1;
  mg_real_t *first;
  if constexpr (S::SQUARES)
    first = at_byte(at.at, x);
  else
    first = at_byte(at.pair, x);
  const mg_real_t *const near = shared + S::MIDDLE + (q & 1) * S::MIDDLE_PLANE +
                                ((at.j >> 1) - (t.j0 >> 1)) * S::MIDDLE_STRIDE + (at.i - t.i0) / 2;
  mg_real_t value[rows][2];
  if (job.interpolation == MG_INTERPOLATE_V2)
    interpolate_rows<S, MG_INTERPOLATE_V2>(near, job, at.i, at.j, value);
  else if (job.interpolation == MG_INTERPOLATE_P1)
    interpolate_rows<S, MG_INTERPOLATE_P1>(near, job, at.i, at.j, value);
  else
    interpolate_rows<S, MG_INTERPOLATE_P0>(near, job, at.i, at.j, value);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    mg_real_t old[2], *const cells = first + S::X + r * WIDTH;
    if (job.has_x) {
      load_pair(cells, old);
      value[r][0] = old[0] + value[r][0];
      value[r][1] = old[1] + value[r][1];
    }
    store_pair(cells, value[r]);
  }
  at.set_x(value);
}
} // namespace mg_temporal

#endif
