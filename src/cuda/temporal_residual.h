/* Use of the residual that a further stage of the fused sweeps in temporal.cu computes. */
#ifndef MG_CUDA_TEMPORAL_RESIDUAL_H
#define MG_CUDA_TEMPORAL_RESIDUAL_H

#include "cuda/temporal_walls.h"

namespace mg_temporal {
constexpr unsigned FULL_WARP = 0xffffffffu;

template <typename S> struct position_t;        /* temporal_columns.h */
template <typename S> struct square_position_t; /* temporal_squares.h */

/* Reduction of a thread's residuals: means over coarse cells, or the maximum. */
template <typename S> struct reduction_t {
  mg_real_t below;            /* sum of four residuals in the plane below */
  unsigned long long largest; /* bits of the maximum */

  /* Called after the last plane. */
  __device__ __forceinline__ void end(const job_t &job, unsigned long long known) {
    if constexpr (S::USE == RESIDUAL_NORM)
      mg_max_raise(mg_max_of_warp(largest), (int)threadIdx.x % 32, known, job.maximum);
  }
};

/* The residuals of pairs. */
template <typename S> struct residual_t : reduction_t<S> {
  using reduction_t<S>::below, reduction_t<S>::largest;

  /* r: residuals of both cells in plane p. Rows j and j + 1 of an even j are in one warp. */
  __device__ __forceinline__ void add(const job_t &job, const position_t<S> &at, int p,
                                      const mg_real_t r[2]) {
    if constexpr (S::USE == RESIDUAL_NORM) {
      if (at.writes) largest = max(largest, max(mg_max_bits(r[0]), mg_max_bits(r[1])));
    } else {
      const mg_real_t row = r[0] + r[1],
                      sum = row + __shfl_xor_sync(FULL_WARP, row, S::COLORED ? 8 : LANES);
      if (p % 2 != 0 && at.writes && at.j % 2 == 0)
        job.coarse[at.i / 2 + at.j / 2 * job.coarse_jstride + p / 2 * job.coarse_kstride] =
            mg_mean_of_planes(below, sum);
      below = sum;
    }
  }
};

/* The residuals of squares. */
template <typename S> struct square_residual_t : reduction_t<S> {
  using reduction_t<S>::below, reduction_t<S>::largest;

  /* r: residuals in plane p. */
  __device__ __forceinline__ void add(const job_t &job, const square_position_t<S> &at, int p,
                                      const mg_real_t r[2][2]) {
    if constexpr (S::USE == RESIDUAL_NORM) {
      for (int row = 0; row < 2; row++)
        if (at.writes[row])
          largest = max(largest, max(mg_max_bits(r[row][0]), mg_max_bits(r[row][1])));
    } else {
      const mg_real_t sum = r[0][0] + r[0][1] + (r[1][0] + r[1][1]);
      if (p % 2 != 0 && at.writes[0])
        job.coarse[at.i / 2 + at.j / 2 * job.coarse_jstride + p / 2 * job.coarse_kstride] =
            mg_mean_of_planes(below, sum);
      below = sum;
    }
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
} // namespace mg_temporal

#endif
