/* Norms and dot products.
 *
 * A maximum of values that are not negative is one of their bit patterns, on which NaN comes last,
 * so atomicMax finds it in any order. A dot product adds bricks in the order of sum.h, eight
 * threads a brick of 8^3, and the bricks' sums exactly, as integers, in any order. */
#include "cuda.h"

mg_status_t mg_cuda_max_begin(void) {
  MG_CUDA_TRY(cudaMemsetAsync(mg_cuda.reduction, 0, sizeof(double), mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_max_end(double *value) {
  MG_CUDA_TRY(cudaMemcpyAsync(mg_cuda.reduction_host, mg_cuda.reduction, sizeof(double),
                              cudaMemcpyDeviceToHost, mg_cuda.stream));
  MG_TRY(mg_cuda_finish());
  memcpy(value, mg_cuda.reduction_host, sizeof *value);
  if (!std::isfinite(*value)) *value = NAN;
  return MG_OK;
}

static __global__ void __launch_bounds__(256)
    max_norm(mg_patch_t p, int x, int y, unsigned long long *maximum) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z;
  double r = 0.0;
  if (i < p.n[0] && j < p.n[1]) {
    const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
    r = fabs(y < 0 ? p.vec[x][at] : p.vec[x][at] - p.vec[y][at]);
  }
  mg_max_add(r, maximum);
}

mg_status_t mg_cuda_max_norm(const mg_view_t *v, int x, int y, double *norm) {
  const dim3 block(32, 8, 1);
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const dim3 grid = mg_cuda_grid(p.n[0], p.n[1], p.n[2], block);
    max_norm<<<grid, block, 0, mg_cuda.stream>>>(p, x, y, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("max_norm");
  }
  return mg_cuda_max_end(norm);
}

/** A brick of u^3 cells by u threads, lane i of each row its own; then the lanes in order. */
static __global__ void __launch_bounds__(256)
    dot(mg_patch_t p, int x, int y, int u, unsigned long long *sum) {
  __shared__ unsigned long long digit[MG_SUM_LIMBS];
  __shared__ double lane_sum[256];
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += 256)
    digit[d] = 0;
  const int per_block = 256 / u, lane = (int)threadIdx.x % u, local = (int)threadIdx.x / u;
  const int64_t brick = (int64_t)blockIdx.x * per_block + local;
  const int64_t ni = p.n[0] / u, nj = p.n[1] / u, nk = p.n[2] / u;
  const bool mine = local < per_block && brick < ni * nj * nk;
  double s = 0.0;
  if (mine) {
    const int64_t bi = brick % ni * u, bj = brick / ni % nj * u, bk = brick / ni / nj * u;
    const double *a = mg_cell(&p, x, bi + lane, bj, bk);
    const double *b = y < 0 ? nullptr : mg_cell(&p, y, bi + lane, bj, bk);
    for (int k = 0; k < u; k++)
      for (int j = 0; j < u; j++) {
        const ptrdiff_t at = j * p.jstride + k * p.kstride;
        s = b ? fma(a[at], b[at], s) : s + a[at];
      }
  }
  lane_sum[threadIdx.x] = s;
  __syncthreads();
  if (mine && lane == 0) {
    for (int i = 1; i < u; i++)
      s += lane_sum[threadIdx.x + i];
    mg_sum_add_atomic(digit, s);
  }
  __syncthreads();
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += 256)
    if (digit[d]) atomicAdd(&sum[d], digit[d]);
}

mg_status_t mg_cuda_dot(const mg_view_t *v, int x, int y, mg_sum_t *sum) {
  const int u = v->box_dim % 8 == 0 ? 8 : v->box_dim < 8 ? v->box_dim : 1;
  MG_CUDA_TRY(cudaMemsetAsync(mg_cuda.reduction, 0, sizeof(mg_sum_t), mg_cuda.stream));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int64_t bricks = (int64_t)(p.n[0] / u) * (p.n[1] / u) * (p.n[2] / u);
    const int64_t per_block = 256 / u;
    dot<<<(unsigned)((bricks + per_block - 1) / per_block), 256, 0, mg_cuda.stream>>>(
        p, x, y, u, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("dot");
  }
  MG_CUDA_TRY(cudaMemcpyAsync(mg_cuda.reduction_host, mg_cuda.reduction, sizeof(mg_sum_t),
                              cudaMemcpyDeviceToHost, mg_cuda.stream));
  MG_TRY(mg_cuda_finish());
  /* The digits are signed numbers in two's complement. */
  for (int d = 0; d < MG_SUM_LIMBS; d++)
    sum->digit[d] += (int64_t)mg_cuda.reduction_host[d];
  return MG_OK;
}
