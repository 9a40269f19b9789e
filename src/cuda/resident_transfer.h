/* Transfers between a level and the next coarser one in a resident smooth (resident.cu): the
 * interpolation of the first iterate, and the restriction or the norm of the residual of the last
 * one.
 *
 * Interpolation is a tensor product, k first, then j, then i (interpolate.h). A thread combines the
 * 3 x 3 coarse values of its column along k and j, and then three columns along i, which it
 * exchanges with its neighbors through shared memory. Coarse ghosts are not read: outside walls
 * they are combinations of the cells inside, in i, then j, then k, as mg_fold_walls computes them,
 * and a periodic patch is its own neighbor. */
#ifndef MG_CUDA_RESIDENT_TRANSFER_H
#define MG_CUDA_RESIDENT_TRANSFER_H

#include "cuda/resident_cells.h"

namespace mg_resident {
/** The formula of P1 or V2 in one direction, by the same instructions. */
static __device__ __forceinline__ mg_real_t combine(bool p1, mg_real_t low, mg_real_t c,
                                                    mg_real_t high, int side) {
  return p1 ? mg_interpolate_p1(low, c, high, side) : mg_interpolate_v2(low, c, high, side);
}

/** Coarse values next to a column in one direction: offsets of the cells beside it, and the kinds
 *  of walls there. At a wall the offset is 0. */
struct coarse_axis_t {
  int low, high;
  mg_wall_t wall_low, wall_high;
};

static __device__ __forceinline__ coarse_axis_t coarse_axis(const mg_patch_t &fine, int d, int at,
                                                            int stride) {
  const int n = fine.n[d] / 2;
  coarse_axis_t a = {-stride, stride, MG_WALL_NONE, MG_WALL_NONE};
  if (at == 0) {
    a.wall_low = fine.wall[d][0];
    a.low = a.wall_low ? 0 : (n - 1) * stride;
  }
  if (at == n - 1) {
    a.wall_high = fine.wall[d][1];
    a.high = a.wall_high ? 0 : (1 - n) * stride;
  }
  return a;
}

/** 3 x 3 coarse values, [k][j]. */
struct column_t {
  mg_real_t x[3][3];

  __device__ __forceinline__ void load(const mg_real_t *u, const coarse_axis_t &j,
                                       const coarse_axis_t &k) {
    const int of_j[3] = {j.low, 0, j.high}, of_k[3] = {k.low, 0, k.high};
#pragma unroll
    for (int b = 0; b < 3; b++)
#pragma unroll
      for (int a = 0; a < 3; a++)
        x[b][a] = u[of_j[a] + of_k[b]];
  }

  /** Ghosts outside walls of j, then of k. */
  __device__ __forceinline__ void fold(const coarse_axis_t &j, const coarse_axis_t &k, int order) {
#pragma unroll
    for (int b = 0; b < 3; b++) {
      if (j.wall_low) x[b][0] = mg_ghost(j.wall_low, order, x[b][1], x[b][2]);
      if (j.wall_high) x[b][2] = mg_ghost(j.wall_high, order, x[b][1], x[b][0]);
    }
#pragma unroll
    for (int a = 0; a < 3; a++) {
      if (k.wall_low) x[0][a] = mg_ghost(k.wall_low, order, x[1][a], x[2][a]);
      if (k.wall_high) x[2][a] = mg_ghost(k.wall_high, order, x[1][a], x[0][a]);
    }
  }

  /** Values at the rows of a thread, whose first one is row j of plane k. */
  template <int ROWS>
  __device__ __forceinline__ void combine_kj(bool p1, int j, int k, mg_real_t value[ROWS]) const {
    mg_real_t y[3];
#pragma unroll
    for (int a = 0; a < 3; a++)
      y[a] = combine(p1, x[0][a], x[1][a], x[2][a], k % 2 == 0 ? -1 : 1);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      value[r] = combine(p1, y[0], y[1], y[2], (j + r) % 2 == 0 ? -1 : 1);
  }
};

/** Values at the thread's rows in the column outside a wall of i, from the column x inside it and
 *  the next one, `inward`. */
template <int ROWS>
static __device__ __forceinline__ void
combine_outside(const job_t &job, mg_wall_t wall, const column_t &x, const mg_real_t *inward,
                const coarse_axis_t axis[3], const place_t &here, mg_real_t value[ROWS]) {
  column_t next;
  next.load(inward, axis[1], axis[2]);
#pragma unroll
  for (int b = 0; b < 3; b++)
#pragma unroll
    for (int a = 0; a < 3; a++)
      next.x[b][a] = mg_ghost(wall, job.u_order, x.x[b][a], next.x[b][a]);
  next.fold(axis[1], axis[2], job.u_order);
  next.combine_kj<ROWS>(job.kind == MG_INTERPOLATE_P1, here.j, here.k, value);
}

/** Add P u to x of the thread's pairs by P1 or V2. All threads of the block call it. */
template <typename C> static __device__ __forceinline__ void interpolate_3(C &cells) {
  const job_t &job = cells.job;
  const place_t &here = cells.here;
  const mg_patch_t &p = job.l.p;
  const bool p1 = job.kind == MG_INTERPOLATE_P1;
  const int stride[3] = {1, (int)job.u_jstride, (int)job.u_kstride},
            at[3] = {here.pair, here.j / 2, here.k / 2};
  coarse_axis_t axis[3];
#pragma unroll
  for (int d = 0; d < 3; d++)
    axis[d] = coarse_axis(p, d, at[d], stride[d]);
  const mg_real_t *const u = job.u + at[0] + at[1] * stride[1] + at[2] * stride[2];
  column_t x;
  x.load(u, axis[1], axis[2]);
  mg_real_t value[C::ROWS], outside[C::ROWS];
  if (axis[0].wall_low || axis[0].wall_high)
    combine_outside<C::ROWS>(job, axis[0].wall_low ? axis[0].wall_low : axis[0].wall_high, x,
                             u + (axis[0].wall_low ? 1 : -1), axis, here, outside);
  x.fold(axis[1], axis[2], job.u_order);
  x.combine_kj<C::ROWS>(p1, here.j, here.k, value);
  mg_real_t *const columns = cells.shared.scratch(1) + cells.place;
#pragma unroll
  for (int r = 0; r < C::ROWS; r++)
    columns[r * C::PITCH] = value[r];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < C::ROWS; r++) {
    const mg_real_t *const c = columns + r * C::PITCH,
                           low = axis[0].wall_low ? outside[r] : c[axis[0].low],
                           high = axis[0].wall_high ? outside[r] : c[axis[0].high],
                           y[2] = {combine(p1, low, value[r], high, -1),
                                   combine(p1, low, value[r], high, 1)};
    cells.add_to_x(r, y[0], y[1]);
  }
}

/** The first iterate becomes x + P u. All threads of the block call it. */
template <typename C> static __device__ __forceinline__ void interpolate(C &cells) {
  const job_t &job = cells.job;
  if (job.kind != MG_INTERPOLATE_P0) {
    interpolate_3(cells);
    return;
  }
  const place_t &here = cells.here;
  const mg_real_t u = job.u[here.pair + here.j / 2 * job.u_jstride + here.k / 2 * job.u_kstride];
#pragma unroll
  for (int r = 0; r < C::ROWS; r++)
    cells.add_to_x(r, u, u);
}

/** Restrict the residual of the thread's cells. All threads of the block call it.
 *  @param[in] sum  of the pairs */
template <typename C>
static __device__ __forceinline__ void restrict_sums(C &cells, const mg_real_t sum[C::ROWS],
                                                     mg_real_t *scratch) {
  const job_t &job = cells.job;
  const place_t &here = cells.here;
  mg_real_t *const sums = scratch + cells.place;
#pragma unroll
  for (int r = 0; r < C::ROWS; r++)
    sums[r * C::PITCH] = sum[r];
  __syncthreads();
  if (here.j % 2 || here.k % 2) return;
  const int plane = C::PITCH * job.tiles.rows[0];
  job.coarse[here.pair + here.j / 2 * job.coarse_jstride + here.k / 2 * job.coarse_kstride] =
      mg_mean8(sum[0], sums[C::PITCH], sums[plane], sums[plane + C::PITCH]);
}

/** Use the residual of the last iterate. */
template <typename C>
static __device__ __forceinline__ void use_residual(C &cells, unsigned number) {
  const job_t &job = cells.job;
  const int parity = job.n & 1, buffer = C::COLORED ? 0 : parity;
  mg_real_t residual[2][C::ROWS];
  /* After a colored step, its cells still need what it received; the others what it sent. */
  if (C::COLORED) cells.residual(1, buffer, residual[1]);
  cells.receive(number, parity);
  cells.residual(0, buffer, residual[0]);
  if (!C::COLORED) cells.residual(1, buffer, residual[1]);
  if (job.use == RESIDUAL_RESTRICTED) {
    mg_real_t sum[C::ROWS];
#pragma unroll
    for (int r = 0; r < C::ROWS; r++)
      sum[r] = residual[0][r] + residual[1][r];
    restrict_sums(cells, sum, cells.shared.scratch(1 - buffer));
    return;
  }
  unsigned long long bits = 0;
#pragma unroll
  for (int r = 0; r < C::ROWS; r++)
    bits = max(bits, max(mg_max_bits(residual[0][r]), mg_max_bits(residual[1][r])));
  bits = mg_max_of_block(bits, (int)threadIdx.x, (int)blockDim.x / 32, cells.shared.warp_max);
  mg_max_raise(bits, (int)threadIdx.x, 0, job.maximum);
}
} // namespace mg_resident

#endif
