/* Use of the residual that a further stage of the fused sweeps in fused/sweeps.cu computes. */
#ifndef MG_CUDA_FUSED_RESIDUAL_H
#define MG_CUDA_FUSED_RESIDUAL_H

#include "cuda/fused/walls.h"
#include "formulas/transfer.h"

namespace mg_fused {
constexpr unsigned FULL_WARP = 0xffffffffu;

template <typename S> struct position_t;        /* fused/columns.h */
template <typename S> struct square_position_t; /* fused/squares.h */

/* Reduction of a thread's residuals: means over coarse cells, or the maximum. A thread has ROWS
 * rows of two cells. */
template <typename S, int ROWS> struct reduction_t {
  mg_real_t below[ROWS][2];   /* sums of residuals in the plane below, one per coarse column */
  unsigned long long largest; /* bits of the maximum */

  /* Called after the last plane. */
  __device__ __forceinline__ void end(const job_t &job, unsigned long long known) {
    if constexpr (S::USE == RESIDUAL_NORM)
      mg_max_raise(mg_max_of_warp(largest), (int)threadIdx.x % 32, known, job.maximum);
  }

  /* Write the means over coarse cells that end in plane p, and keep the sums of others.
   * sum[r][c]: of the residuals in plane p. writes[r][c]: whether a coarse column begins there. */
  __device__ __forceinline__ void add_sums(const job_t &job, int i, int j, int p,
                                           const mg_real_t sum[ROWS][2],
                                           const bool writes[ROWS][2]) {
    const parents_t &c = job.parents;
    const mg_patch_t &fine = job.l.p;
    const bool single = mg_is_single(&c.single[2], fine.lo[2] + p);
    if (single || p % 2 != 0 || p == fine.n[2] - 1) {
      mg_real_t *const to =
          job.coarse + (mg_parent(&c.single[0], fine.lo[0] + i) - c.lo[0]) +
          (mg_parent(&c.single[1], fine.lo[1] + j) - c.lo[1]) * job.coarse_jstride +
          (mg_parent(&c.single[2], fine.lo[2] + p) - c.lo[2]) * job.coarse_kstride;
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int d = 0; d < 2; d++)
          if (writes[r][d])
            to[r * job.coarse_jstride + d] =
                c.weight * (single || p % 2 == 0 ? sum[r][d] : below[r][d] + sum[r][d]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      below[r][0] = sum[r][0], below[r][1] = sum[r][1];
  }
};

/* The residuals of pairs. */
template <typename S> struct residual_t : reduction_t<S, 1> {
  using reduction_t<S, 1>::below, reduction_t<S, 1>::largest;
  /* Lanes between rows j and j + 1 of an even j, which are in one warp. */
  static constexpr int ROW_LANES = S::COLORED ? 8 : LANES;

  /* r: residuals of both columns in plane p. */
  __device__ __forceinline__ void add(const job_t &job, const position_t<S> &at, int p,
                                      const mg_real_t r[2]) {
    if constexpr (S::USE == RESIDUAL_NORM) {
      const bool two = at.i + 1 < job.l.p.n[0];
      if (at.writes && (two || !at.swapped)) largest = max(largest, mg_max_bits(r[0]));
      if (at.writes && (two || at.swapped)) largest = max(largest, mg_max_bits(r[1]));
    } else if constexpr (S::USE == RESIDUAL_RESTRICTED) {
      const mg_real_t row = r[0] + r[1], sum = row + __shfl_xor_sync(FULL_WARP, row, ROW_LANES);
      if (p % 2 != 0 && at.writes && at.j % 2 == 0)
        job.coarse[at.i / 2 + at.j / 2 * job.coarse_jstride + p / 2 * job.coarse_kstride] =
            mg_mean_of_planes(below[0][0], sum);
      below[0][0] = sum;
    } else {
      add_to_parents(job, at, p, r);
    }
  }

  __device__ __forceinline__ void add_to_parents(const job_t &job, const position_t<S> &at, int p,
                                                 const mg_real_t r[2]) {
    const parents_t &c = job.parents;
    const mg_patch_t &fine = job.l.p;
    const bool two = at.i + 1 < fine.n[0], single = mg_is_single(&c.single[0], fine.lo[0] + at.i),
               single_row = mg_is_single(&c.single[1], fine.lo[1] + at.j),
               writes = at.writes && (single_row || at.j % 2 == 0),
               with_next = !single_row && at.j + 1 < fine.n[1];
    const mg_real_t left = at.swapped ? r[1] : r[0], right = at.swapped ? r[0] : r[1];
    mg_real_t sum[1][2] = {{two && !single ? left + right : left, right}};
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const mg_real_t next = __shfl_xor_sync(FULL_WARP, sum[0][d], ROW_LANES);
      sum[0][d] = with_next ? sum[0][d] + next : sum[0][d];
    }
    const bool begins[1][2] = {{writes, writes && two && single}};
    this->add_sums(job, at.i, at.j, p, sum, begins);
  }
};

/* The residuals of squares. */
template <typename S> struct square_residual_t : reduction_t<S, 2> {
  using reduction_t<S, 2>::below, reduction_t<S, 2>::largest;

  /* r: residuals in plane p. */
  __device__ __forceinline__ void add(const job_t &job, const square_position_t<S> &at, int p,
                                      const mg_real_t r[2][2]) {
    if constexpr (S::USE == RESIDUAL_NORM) {
      const bool two = at.i + 1 < job.l.p.n[0];
      for (int row = 0; row < 2; row++) {
        if (at.writes[row]) largest = max(largest, mg_max_bits(r[row][0]));
        if (at.writes[row] && two) largest = max(largest, mg_max_bits(r[row][1]));
      }
    } else if constexpr (S::USE == RESIDUAL_RESTRICTED) {
      const mg_real_t sum = r[0][0] + r[0][1] + (r[1][0] + r[1][1]);
      if (p % 2 != 0 && at.writes[0])
        job.coarse[at.i / 2 + at.j / 2 * job.coarse_jstride + p / 2 * job.coarse_kstride] =
            mg_mean_of_planes(below[0][0], sum);
      below[0][0] = sum;
    } else {
      add_to_parents(job, at, p, r);
    }
  }

  __device__ __forceinline__ void add_to_parents(const job_t &job, const square_position_t<S> &at,
                                                 int p, const mg_real_t r[2][2]) {
    const parents_t &c = job.parents;
    const mg_patch_t &fine = job.l.p;
    const bool two = at.i + 1 < fine.n[0], single = mg_is_single(&c.single[0], fine.lo[0] + at.i),
               single_row = mg_is_single(&c.single[1], fine.lo[1] + at.j),
               with_next = !single_row && at.j + 1 < fine.n[1];
    mg_real_t sum[2][2];
    bool begins[2][2];
#pragma unroll
    for (int row = 0; row < 2; row++) {
      sum[row][0] = two && !single ? r[row][0] + r[row][1] : r[row][0];
      sum[row][1] = r[row][1];
      begins[row][0] = at.writes[row] && (row == 0 || single_row);
      begins[row][1] = begins[row][0] && two && single;
    }
#pragma unroll
    for (int d = 0; d < 2; d++)
      sum[0][d] = with_next ? sum[0][d] + sum[1][d] : sum[0][d];
    this->add_sums(job, at.i, at.j, p, sum, begins);
  }

  /* Add the residuals in plane p. f[r][c], row(r, c), x(r, c): those of column [r][c]. */
  template <care_t care, typename R, typename X>
  __device__ __forceinline__ void add_all(const job_t &job, const square_position_t<S> &at, int p,
                                          const mg_real_t f[2][2], R row, X x) {
    mg_real_t residual[2][2];
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
      for (int c = 0; c < 2; c++)
        residual[r][c] = f[r][c] - apply<care>(job, at.template walls<care>(job.l.p, r, c, p),
                                               row(r, c), x(r, c));
    add(job, at, p, residual);
  }
};
} // namespace mg_fused

#endif
