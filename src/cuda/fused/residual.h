/* Use of the residual that a further stage of the fused sweeps in fused/sweeps.cu computes. */
#ifndef MG_CUDA_FUSED_RESIDUAL_H
#define MG_CUDA_FUSED_RESIDUAL_H

#include "cuda/fused/cells.h"
#include "cuda/reduction.h"
#include "formulas/transfer.h"

namespace mg_fused {
/* Reduction of a thread's residuals: means over coarse cells, or the maximum. */
template <typename S> struct residual_t {
  static constexpr int PAIRS = S::PAIRS;
  /* Lanes between rows j and j + 1 of an even j, which are in one warp. */
  static constexpr int ROW_LANES = S::COLORED ? 8 : S::LANES;
  mg_real_t below[PAIRS][2];  /* sums of residuals in the plane below, one per coarse column */
  unsigned long long largest; /* bits of the maximum */

  /* Value d of the next row, which this thread or another one has. */
  static __device__ __forceinline__ mg_real_t next_row(const mg_real_t sum[PAIRS][2], int d) {
    return S::SQUARES ? sum[PAIRS - 1][d] : __shfl_xor_sync(FULL_WARP, sum[0][d], ROW_LANES);
  }

  /* r: residuals in plane p. */
  __device__ __forceinline__ void add(const job_t &job, const cells_t<S> &at, int p,
                                      const mg_real_t r[PAIRS][2]) {
    if constexpr (S::USE == RESIDUAL_NORM) {
      const bool two = at.i + 1 < job.l.p.n[0];
#pragma unroll
      for (int n = 0; n < PAIRS; n++) {
        if (at.writes[n] && (two || !at.swapped)) largest = max(largest, mg_max_bits(r[n][0]));
        if (at.writes[n] && (two || at.swapped)) largest = max(largest, mg_max_bits(r[n][1]));
      }
    } else if constexpr (S::USE == RESIDUAL_RESTRICTED) {
      mg_real_t row[PAIRS][2];
#pragma unroll
      for (int n = 0; n < PAIRS; n++)
        row[n][0] = r[n][0] + r[n][1];
      const mg_real_t sum = row[0][0] + next_row(row, 0);
      if (p % 2 != 0 && at.writes[0] && (S::SQUARES || at.j % 2 == 0))
        job.coarse[at.i / 2 + at.j / 2 * job.coarse_jstride + p / 2 * job.coarse_kstride] =
            mg_mean_of_planes(below[0][0], sum);
      below[0][0] = sum;
    } else {
      add_to_parents(job, at, p, r);
    }
  }

  /* Write the means over coarse cells that end in plane p, and keep the sums of others. */
  __device__ __forceinline__ void add_to_parents(const job_t &job, const cells_t<S> &at, int p,
                                                 const mg_real_t r[PAIRS][2]) {
    const parents_t &c = job.parents;
    const mg_patch_t &fine = job.l.p;
    const bool two = at.i + 1 < fine.n[0], single = mg_is_single(&c.single[0], fine.lo[0] + at.i),
               single_row = mg_is_single(&c.single[1], fine.lo[1] + at.j),
               single_plane = mg_is_single(&c.single[2], fine.lo[2] + p),
               with_next = !single_row && at.j + 1 < fine.n[1];
    mg_real_t sum[PAIRS][2];
    bool writes[PAIRS][2];
#pragma unroll
    for (int n = 0; n < PAIRS; n++) {
      const mg_real_t left = at.swapped ? r[n][1] : r[n][0], right = at.swapped ? r[n][0] : r[n][1];
      sum[n][0] = two && !single ? left + right : left;
      sum[n][1] = right;
      const bool begins = n == 0 && (S::SQUARES || at.j % 2 == 0);
      writes[n][0] = at.writes[n] && (single_row || begins);
      writes[n][1] = writes[n][0] && two && single;
    }
#pragma unroll
    for (int d = 0; d < 2; d++) {
      const mg_real_t next = next_row(sum, d);
      sum[0][d] = with_next ? sum[0][d] + next : sum[0][d];
    }
    if (single_plane || p % 2 != 0 || p == fine.n[2] - 1) {
      mg_real_t *const to =
          job.coarse + (mg_parent(&c.single[0], fine.lo[0] + at.i) - c.lo[0]) +
          (mg_parent(&c.single[1], fine.lo[1] + at.j) - c.lo[1]) * job.coarse_jstride +
          (mg_parent(&c.single[2], fine.lo[2] + p) - c.lo[2]) * job.coarse_kstride;
#pragma unroll
      for (int n = 0; n < PAIRS; n++)
#pragma unroll
        for (int d = 0; d < 2; d++)
          if (writes[n][d])
            to[n * job.coarse_jstride + d] =
                c.weight * (single_plane || p % 2 == 0 ? sum[n][d] : below[n][d] + sum[n][d]);
    }
#pragma unroll
    for (int n = 0; n < PAIRS; n++)
      below[n][0] = sum[n][0], below[n][1] = sum[n][1];
  }

  /* Called after the last plane. */
  __device__ __forceinline__ void end(const job_t &job, unsigned long long known) {
    if constexpr (S::USE == RESIDUAL_NORM)
      mg_max_raise(mg_max_of_warp(largest), (int)threadIdx.x % 32, known, job.maximum);
  }
};
} // namespace mg_fused

#endif
