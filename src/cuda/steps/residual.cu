/* Residual f - A x: stored, as a norm, or restricted to the coarser grid.
 *
 * Bytes per cell: 48 stored, 40 as a norm, 41 restricted. 21 flops per cell, counting an fma as
 * two. Blocks have 32 x 8 threads. On large levels each thread computes two cells along k. With
 * restriction, a thread computes the four children of a coarse cell that share an i; the
 * neighbor's four arrive by shuffles. The kernels of fv4 are in fv4/. */
#include "cuda/cells/stencil_load.h"
#include "cuda/reduction.h"
#include "cuda/runtime/dependent_launch.h"

static const dim3 block_shape(32, 8, 1);

/* Cells per thread along k on large levels. Times at 512^3 on an H200 (hpgmg-bench roofline),
 * stored / norm, in us: one 1624 / 1603, two 1548 / 1369, three 1570 / 1373, four 1595 / 1421. */
enum { PLANES = 2 };

/* Blocks of 256 threads per SM. */
#define BLOCKS(one, planes) MG_CUDA_MIN_BLOCKS((planes) == 1 ? (one) : 5, 256)

/** Whether this block is clear of walls, given the cells per thread along j and k. */
static __device__ __forceinline__ bool clear(const mg_patch_t &p, int rows, int planes) {
  const int n[3] = {(int)blockDim.x, (int)blockDim.y * rows, planes};
  const int first[3] = {(int)blockIdx.x * n[0], (int)blockIdx.y * n[1], (int)blockIdx.z * planes};
  return mg_clear_of_walls(p, first, n);
}

/** Residual away from walls. */
static __device__ __forceinline__ mg_real_t residual_near(const mg_cuda_patch_t *l, mg_vector_t x,
                                                          mg_vector_t f, ptrdiff_t at) {
  const mg_stencil_values_t near = mg_stencil_load(l, l->p.vec[x], f, at);
  const mg_real_t ax = mg_row_apply(l, near.row, near.x);
  return f < 0 ? ax : near.f - ax;
}

/** Residual at any cell. */
template <bool may_be_thin>
static __device__ __forceinline__ mg_real_t residual_at(const mg_cuda_patch_t *l, mg_vector_t x,
                                                        mg_vector_t f, int i, int j, int k) {
  const mg_real_t ax = mg_apply<7, may_be_thin>(l, l->p.vec[x], i, j, k);
  return f < 0 ? ax : l->p.vec[f][i + j * l->p.jstride + k * l->p.kstride] - ax;
}

/** Store residuals, or raise a maximum to the largest one. With one cell per thread, the reduction
 * at the end of a block limits speed. Several cells per thread mean fewer reductions. */
template <int planes, bool norm>
static __global__ void __launch_bounds__(256, BLOCKS(8, planes))
    residual(mg_cuda_patch_t l, mg_vector_t dst, mg_vector_t x, mg_vector_t f,
             unsigned long long *maximum) {
  if (!norm) mg_cuda_wait_dependency();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z * planes;
  const ptrdiff_t ks = l.p.kstride, at = i + j * l.p.jstride + k * ks;
  const unsigned long long known = norm ? mg_max_known(maximum) : 0;
  unsigned long long largest = 0;
  if (clear(l.p, 1, planes)) {
    mg_real_t value[planes];
#pragma unroll
    for (int q = 0; q < planes; q++)
      value[q] = residual_near(&l, x, f, at + q * ks);
#pragma unroll
    for (int q = 0; q < planes; q++)
      if (norm)
        largest = max(largest, mg_max_bits(value[q]));
      else
        l.p.vec[dst][at + q * ks] = value[q];
  } else {
    for (int q = 0; q < planes; q++) {
      if (i >= l.p.n[0] || j >= l.p.n[1] || k + q >= l.p.n[2]) continue;
      const mg_real_t value = residual_at<planes == 1>(&l, x, f, i, j, k + q);
      if (norm)
        largest = max(largest, mg_max_bits(value));
      else
        l.p.vec[dst][at + q * ks] = value;
    }
  }
  if (norm) mg_max_add(largest, known, maximum);
}

/** Blocks for a patch, with `planes` cells per thread along k. */
static dim3 grid_of(const mg_patch_t &p, int planes) {
  return mg_cuda_grid(p.n[0], p.n[1], (p.n[2] + planes - 1) / planes, block_shape);
}

mg_status_t mg_cuda_residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
  if (mg_traits_of(v->op)->points == 25) return mg_cuda_fv4_residual(v, dst, x, f);
  for (int q = 0; q < v->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    const bool large = mg_is_large(l);
    MG_TRY(mg_cuda_launch_dependent(
        "residual", large ? residual<PLANES, false> : residual<1, false>,
        grid_of(l.p, large ? PLANES : 1), block_shape, l, dst, x, f, nullptr));
  }
  return MG_OK;
}

mg_status_t mg_cuda_residual_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t f, double *norm) {
  if (mg_traits_of(v->op)->points == 25) return mg_cuda_fv4_residual_norm(v, x, f, norm);
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    const bool large = mg_is_large(l);
    const auto kernel = large ? residual<PLANES, true> : residual<1, true>;
    kernel<<<grid_of(l.p, large ? PLANES : 1), block_shape, 0, mg_cuda.stream>>>(
        l, MG_NO_VECTOR, x, f, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("residual_norm");
  }
  return mg_cuda_max_end(norm);
}

/* Final step of a restriction: fine cells (2I, 2J, 2K) to (2I+1, 2J+1, 2K+1) average to coarse
 * cell (I, J, K). A thread holds the four cells of one i, as [k][j]; its neighbor holds those of
 * the next i. Patch sizes are even, so pairs never straddle the end of a patch. */
static __device__ __forceinline__ void restrict_pairs(const mg_cuda_patch_t &l,
                                                      mg_real_t pair[2][2], int i, int J, int K,
                                                      const mg_patch_t &coarse, mg_vector_t dst) {
#pragma unroll
  for (int dk = 0; dk < 2; dk++)
#pragma unroll
    for (int dj = 0; dj < 2; dj++)
      pair[dk][dj] += __shfl_xor_sync(0xffffffffu, pair[dk][dj], 1);
  if (i % 2 == 0 && i < l.p.n[0] && 2 * J < l.p.n[1])
    *mg_cell(&coarse, dst, i / 2, J, K) = mg_mean8(pair[0][0], pair[0][1], pair[1][0], pair[1][1]);
}

static __global__ void __launch_bounds__(256, MG_CUDA_MIN_BLOCKS(2, 256))
    residual_restrict(mg_cuda_patch_t l, mg_vector_t x, mg_vector_t f, mg_patch_t coarse,
                      mg_vector_t dst) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  const int J = (int)(blockIdx.y * 8 + threadIdx.y), K = (int)blockIdx.z;
  const bool inside = i < l.p.n[0] && 2 * J < l.p.n[1];
  mg_real_t pair[2][2] = {}; /* [k][j] */
  mg_row_t row[2][2] = {};
#pragma unroll
  for (int c = 0; c < 4; c++)
    if (inside) row[c / 2][c % 2] = mg_row(&l, i, 2 * J + c % 2, 2 * K + c / 2);
  mg_cuda_wait_dependency();
#pragma unroll
  for (int c = 0; c < 4; c++) {
    const int j = 2 * J + c % 2, k = 2 * K + c / 2;
    if (inside)
      pair[c / 2][c % 2] =
          *mg_cell(&l.p, f, i, j, k) -
          mg_row_apply(&l, row[c / 2][c % 2],
                       mg_values7<false>(&l, mg_places7(&l, i, j, k), mg_cell(&l.p, x, i, j, k)));
  }
  restrict_pairs(l, pair, i, J, K, coarse, dst);
}

/* residual_restrict for large levels. */
static __global__ void __launch_bounds__(256, MG_CUDA_MIN_BLOCKS(4, 256))
    residual_restrict_large(mg_cuda_patch_t l, mg_vector_t x, mg_vector_t f, mg_patch_t coarse,
                            mg_vector_t dst) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x);
  const int J = (int)(blockIdx.y * 8 + threadIdx.y), K = (int)blockIdx.z;
  const int j = 2 * J, k = 2 * K;
  mg_real_t pair[2][2]; /* [k][j] */
  if (clear(l.p, 2, 2)) {
    const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
#pragma unroll
    for (int dk = 0; dk < 2; dk++)
#pragma unroll
      for (int dj = 0; dj < 2; dj++)
        pair[dk][dj] = residual_near(&l, x, f, at + dj * l.p.jstride + dk * l.p.kstride);
  } else {
    const bool inside = i < l.p.n[0] && j < l.p.n[1];
    for (int dk = 0; dk < 2; dk++)
      for (int dj = 0; dj < 2; dj++)
        pair[dk][dj] = inside ? residual_at<false>(&l, x, f, i, j + dj, k + dk) : MG_REAL(0.0);
  }
  restrict_pairs(l, pair, i, J, K, coarse, dst);
}

mg_status_t mg_cuda_residual_restrict(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                      const mg_view_t *coarse, mg_vector_t dst) {
  if (mg_traits_of(fine->op)->points == 25)
    return mg_cuda_fv4_residual_restrict(fine, x, f, coarse, dst);
  for (int q = 0; q < fine->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(fine, q);
    const mg_patch_t c = coarse->patch[q];
    const dim3 grid = mg_cuda_grid(l.p.n[0], c.n[1], c.n[2], block_shape);
    if (mg_is_large(l))
      residual_restrict_large<<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, f, c, dst);
    else
      mg_cuda_launch_dependent_shared(residual_restrict, grid, block_shape, 0, l, x, f, c, dst);
    MG_CUDA_LAUNCHED("residual_restrict");
  }
  return MG_OK;
}
