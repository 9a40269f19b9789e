/* Interpolated input of the fused sweeps in fused/sweeps.cu: x becomes x + P u, where u is a vector
 * of the coarser level, or P u alone.
 *
 * The formula is a tensor product, k first, then j, then i (interpolate.h). Stage q interpolates
 * along k for fine plane q + 1, one thread per coarse column, between three planes of a ring that
 * TMA fills. From halves, the first of two planes with the same coarse ones also does the second.
 * The results are in a ring of planes. Each thread then interpolates along j and i to its cells of
 * plane q, and writes them to the ring of x before the steps read them.
 * Single cells have the value of their coarse cell in that direction.
 *
 * Coarse ghosts outside walls are not read. They are combinations of the cells inside, in i, then
 * j, then k, as mg_fold_walls computes them. */
#ifndef MG_CUDA_FUSED_INPUT_H
#define MG_CUDA_FUSED_INPUT_H

#include "cuda/cells/interpolate.h"
#include "cuda/fused/columns.h"

namespace mg_fused {
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
__device__ __forceinline__ mg_real_t source_value(const mg_real_t *x, const job_t &job, int width,
                                                  int i, int j) {
  const mg_patch_t &fine = job.l.p;
  const int *const n = job.parents.n_coarse, in_i = step_inward(fine, n[0], 0, i),
                   in_j = step_inward(fine, n[1], 1, j);
  mg_real_t row[2];
  for (int r = 0; r < 2; r++) {
    const mg_real_t *y = x + (in_j ? (r + 1) * in_j * width : 0);
    row[r] = in_i ? mg_ghost(wall_of(fine, 0, in_i), job.source_order, y[in_i], y[2 * in_i]) : y[0];
  }
  return in_j ? mg_ghost(wall_of(fine, 1, in_j), job.source_order, row[0], row[1]) : row[0];
}

/* Whether the block's coarse columns may be outside walls of i or j. */
__device__ __forceinline__ bool source_at_wall(const job_t &job, const tile_t &t,
                                               const source_shape_t &s) {
  const mg_patch_t &p = job.l.p;
  const int *const n = job.parents.n_coarse;
  return (p.wall[0][0] && t.source[0] < 0) || (p.wall[0][1] && t.source[0] + s.columns > n[0]) ||
         (p.wall[1][0] && t.source[1] < 0) || (p.wall[1][1] && t.source[1] + s.rows > n[1]);
}

/* Start of the values that are interpolated along k for fine plane q. */
template <typename S> __device__ __forceinline__ int middle_of(int q) {
  return S::MIDDLE + (q & (S::MIDDLE_SLOTS - 1)) * S::MIDDLE_PLANE;
}

/* Interpolate along k between the values of a column. */
__device__ __forceinline__ mg_real_t between(const job_t &job, const mg_real_t x[3], int side) {
  return side == 0 ? x[1]
         : job.interpolation == MG_INTERPOLATE_V2
             ? mg_interpolate_3(MG_INTERPOLATE_V2, x[0], x[1], x[2], side)
         : job.interpolation == MG_INTERPOLATE_P1
             ? mg_interpolate_3(MG_INTERPOLATE_P1, x[0], x[1], x[2], side)
             : x[1];
}

/* Interpolate along k for fine plane q, in the coarse column that is number c of the block. */
template <typename S>
__device__ __forceinline__ void interpolate_column(mg_real_t *shared, const job_t &job,
                                                   const tile_t &t, int q, int c) {
  const mg_patch_t &p = job.l.p;
  const source_shape_t s = source_shape<S>(job);
  /* A compiler divides by a constant faster. */
  const int row = s.columns == S::HALVES.columns ? c / S::HALVES.columns : c / S::LARGEST.columns,
            column = c - row * s.columns;
  const mg_child_t child = child_of<S>(job, 2, q);
  const int k = child.parent;
  mg_real_t x[3];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const mg_real_t *const plane = shared + S::SOURCE +
                                   ((k - 1 + d) & (SOURCE_SLOTS - 1)) * S::SOURCE_PLANE +
                                   row * s.width + column + s.left;
    x[d] = source_at_wall(job, t, s)
               ? source_value(plane, job, s.width, t.source[0] + column, t.source[1] + row)
               : *plane;
  }
  if (p.wall[2][0] && k == 0) x[0] = mg_ghost(p.wall[2][0], job.source_order, x[1], x[2]);
  if (p.wall[2][1] && k == job.parents.n_coarse[2] - 1)
    x[2] = mg_ghost(p.wall[2][1], job.source_order, x[1], x[0]);
  mg_real_t *const to = shared + row * s.middle_stride + column;
  if constexpr (S::HAS_HALVES) {
    to[middle_of<S>(2 * k)] = between(job, x, -1);
    to[middle_of<S>(2 * k + 1)] = between(job, x, 1);
  } else {
    to[middle_of<S>(q)] = between(job, x, child.side);
  }
}

/* Interpolate along k for fine plane q, unless it was done with the plane below; `first`: it was
 * not. */
template <typename S>
__device__ __forceinline__ void interpolate_k(mg_real_t *shared, const job_t &job, const tile_t &t,
                                              int q, bool first = false) {
  if (S::HAS_HALVES && !first && q % 2 != 0) return;
  const source_shape_t s = source_shape<S>(job);
  const int n = s.columns * s.rows;
  for (int c = (int)threadIdx.x; c < n; c += S::THREADS)
    interpolate_column<S>(shared, job, t, q, c);
}

/* A thread's cells, a pair or a square, as children along i and j: `row`, the offset of the lowest
 * of 3 x 3 values of MIDDLE for each row. */
template <typename S> struct children_t {
  int row[S::PAIRS], side[S::PAIRS];
  bool alone[2]; /* whether a cell of a row is the only child of its coarse one */

  /* i, j: the first cell. */
  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t, int i, int j) {
    const int stride = source_shape<S>(job).middle_stride;
    const mg_child_t low = child_in_row<S>(job, 0, i);
    alone[0] = low.side == 0;
    alone[1] = child_in_row<S>(job, 0, i + 1).side == 0;
#pragma unroll
    for (int r = 0; r < S::PAIRS; r++) {
      const mg_child_t child = child_in_row<S>(job, 1, j + r);
      row[r] = (child.parent - 1 - t.source[1]) * stride + low.parent - 1 - t.source[0];
      side[r] = child.side;
    }
  }
};

/* Interpolate along j and i to a pair of cells; `near`: the lowest of 3 x 3 values. If the first
 * cell is single, the second one is too, and its coarse cell is the next one. */
template <typename S, mg_interpolation_t kind>
__device__ __forceinline__ void interpolate_ji(const mg_real_t *near, int stride, int side,
                                               const bool alone[2], mg_real_t value[2]) {
  mg_real_t row[3];
#pragma unroll
  for (int c = 0; c < 3; c++) {
    row[c] = mg_interpolate_3(kind, near[c], near[stride + c], near[2 * stride + c], side);
    if (!S::HAS_HALVES && side == 0) row[c] = near[stride + c];
  }
  value[0] = mg_interpolate_3(kind, row[0], row[1], row[2], -1);
  value[1] = mg_interpolate_3(kind, row[0], row[1], row[2], 1);
  if constexpr (!S::HAS_HALVES) {
    value[0] = alone[0] ? row[1] : value[0];
    value[1] = alone[1] ? row[2] : value[1];
  }
}

/* Interpolate along j and i to a thread's cells; `middle`: the plane's values. */
template <typename S, mg_interpolation_t kind>
__device__ __forceinline__ void interpolate_rows(const mg_real_t *middle, int stride,
                                                 const children_t<S> &c,
                                                 mg_real_t value[S::PAIRS][2]) {
#pragma unroll
  for (int r = 0; r < S::PAIRS; r++) {
    /* The rows of a square have the same parent, or consecutive ones. */
    const int row = S::HAS_HALVES ? c.row[0] + r * (S::MARGIN % 2) * stride : c.row[r],
              side = S::HAS_HALVES && S::SQUARES ? ((r + S::MARGIN) % 2 == 0 ? -1 : 1) : c.side[r];
    interpolate_ji<S, kind>(middle + row, stride, side, c.alone, value[r]);
  }
}

/* Interpolate along j and i to a thread's cells of plane q; `x`: offset of that plane in the ring.
 */
template <typename S>
__device__ __forceinline__ void interpolate_cells(const mg_real_t *shared, const job_t &job,
                                                  const children_t<S> &children, columns_t<S> &at,
                                                  int q, int x) {
  const mg_real_t *const middle = shared + middle_of<S>(q);
  const int stride = source_shape<S>(job).middle_stride;
  mg_real_t value[S::PAIRS][2];
  if (job.interpolation == MG_INTERPOLATE_V2)
    interpolate_rows<S, MG_INTERPOLATE_V2>(middle, stride, children, value);
  else if (job.interpolation == MG_INTERPOLATE_P1)
    interpolate_rows<S, MG_INTERPOLATE_P1>(middle, stride, children, value);
  else
    interpolate_rows<S, MG_INTERPOLATE_P0>(middle, stride, children, value);
#pragma unroll
  for (int r = 0; r < S::PAIRS; r++) {
    mg_real_t old[2], *const cells = at_byte(at.at, x) + S::X + r * S::WIDTH;
    if (job.has_x) {
      load_pair(cells, old);
      value[r][0] = old[0] + value[r][0];
      value[r][1] = old[1] + value[r][1];
    }
    store_pair(cells, value[r]);
  }
  at.set_x(value);
}
} // namespace mg_fused

#endif
