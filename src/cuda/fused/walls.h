/* The 7-point stencil of one cell in the fused sweeps of fused/sweeps.cu, also at walls. */
#ifndef MG_CUDA_FUSED_WALLS_H
#define MG_CUDA_FUSED_WALLS_H

#include "cuda/cells/stencil_load.h"
#include "cuda/fused/pipeline.h"

namespace mg_fused {
/* Number of directions, from i, in which cells may be at walls. In careful stages planes may be
 * unused as well. */
enum care_t { PLAIN = 0, WALLS_IN_IJ = 2, CAREFUL = 3 };

/* Wall next to a cell in each direction: -1 low, 1 high, 0 none. */
struct walls_t {
  int side[3];
};
__device__ __forceinline__ int wall_side(const mg_patch_t &p, int d, int at) {
  return p.wall[d][0] && at == 0 ? -1 : p.wall[d][1] && at == p.n[d] - 1 ? 1 : 0;
}

/* Replace neighbors outside walls by the Dirichlet formula, also at other walls: see walls.h. A
 * level of fused sweeps has several cells along each axis, so all orders are equal. */
template <care_t care>
__device__ __forceinline__ void fold_walls(const mg_cuda_patch_t &l, const walls_t &walls,
                                           mg_values7_t *x) {
#pragma unroll
  for (int d = 0; d < care; d++) {
    const mg_real_t low = x->low[d], high = x->high[d];
    if (walls.side[d] < 0) x->low[d] = mg_ghost(MG_WALL_DIRICHLET, l.order, x->c, high);
    if (walls.side[d] > 0) x->high[d] = mg_ghost(MG_WALL_DIRICHLET, l.order, x->c, low);
  }
}

/* Constant betas of walls. */
template <care_t care>
MG_INLINE void set_side_betas(const job_t &job, const walls_t &walls, mg_row_t *row) {
  for (int d = 0; d < care; d++) {
    if (walls.side[d] < 0) row->beta[d][0] = job.side_beta[d][0];
    if (walls.side[d] > 0) row->beta[d][1] = job.side_beta[d][1];
  }
}

/* Place of a cell in job_t::inverse. */
MG_INLINE int place_of(const int side[3]) {
  return (side[2] + 1) * 9 + (side[1] + 1) * 3 + side[0] + 1;
}

/* A x of a cell. */
template <typename S, care_t care>
__device__ __forceinline__ mg_real_t apply(const job_t &job, const walls_t &walls, mg_row_t row,
                                           mg_values7_t x) {
  if (S::CONSTANT) set_side_betas<care>(job, walls, &row);
  fold_walls<care>(job.l, walls, &x);
  return mg_apply_values7(x, row.beta[0], row.beta[1], row.beta[2], 1, 1, row.a, job.b_h2);
}

/* Diagonal of a cell's row. */
template <care_t care>
MG_INLINE mg_real_t diagonal(const job_t &job, const walls_t &walls, const mg_row_t &row) {
  mg_face_weights_t weight = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  for (int d = 0; d < care; d++) {
    if (walls.side[d] < 0) weight.low[d] = mg_wall_weight(MG_WALL_DIRICHLET, job.l.order);
    if (walls.side[d] > 0) weight.high[d] = mg_wall_weight(MG_WALL_DIRICHLET, job.l.order);
  }
  return mg_diagonal_7(row.beta[0], row.beta[1], row.beta[2], 1, 1, weight, row.a, job.b_h2);
}

/* Whether results in n cells from `at` on may be used: cells in the patch, or in ghost layers. */
template <typename S>
__device__ __forceinline__ bool may_use(const mg_patch_t &p, int d, int at, int n) {
  return at + n > (p.wall[d][0] ? 0 : -S::DEPTH) && at < p.n[d] + (p.wall[d][1] ? 0 : S::DEPTH);
}
} // namespace mg_fused

#endif
