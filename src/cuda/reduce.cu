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

/* Maxima: 32 threads along i, with pairs of cells where these are aligned, and 8 along the rows. A
 * thread goes through the patch and loads its cells of ROWS rows before it looks at the first. */
enum { ROWS = 4, BLOCKS = 4 /* of a multiprocessor */ };

/** |x| or |x - y| of a cell, or the larger one of two, as bits: NaN stays above everything. */
template <bool pairs, bool differs>
static __device__ __forceinline__ unsigned long long largest_of(const double2 &x,
                                                                const double2 &y) {
  const double first = fabs(differs ? x.x - y.x : x.x), second = fabs(differs ? x.y - y.y : x.y);
  const unsigned long long a = (unsigned long long)__double_as_longlong(first),
                           b = (unsigned long long)__double_as_longlong(second);
  return pairs && b > a ? b : a;
}

template <bool pairs> static __device__ __forceinline__ double2 load_cells(const double *at) {
  return pairs ? *(const double2 *)at : make_double2(*at, 0.0);
}

template <bool pairs, bool differs>
static __global__ void __launch_bounds__(256, BLOCKS)
    max_norm(mg_patch_t p, int x, int y, unsigned long long *maximum) {
  const unsigned long long known = mg_max_known(maximum);
  const int i = (int)(blockIdx.x * 32 + threadIdx.x) * (pairs ? 2 : 1);
  const int row = (int)(blockIdx.y * 8 + threadIdx.y), step = (int)gridDim.y * 8;
  const int step_j = step % p.n[1], step_k = step / p.n[1];
  int j = row % p.n[1], k = i < p.n[0] ? row / p.n[1] : p.n[2];
  unsigned long long largest = 0;
  while (k < p.n[2]) {
    double2 a[ROWS], b[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
      const bool inside = k < p.n[2];
      a[r] = inside ? load_cells<pairs>(p.vec[x] + at) : make_double2(0.0, 0.0);
      b[r] = differs && inside ? load_cells<pairs>(p.vec[y] + at) : make_double2(0.0, 0.0);
      j += step_j;
      k += step_k;
      if (j >= p.n[1]) {
        j -= p.n[1];
        k++;
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      largest = max(largest, largest_of<pairs, differs>(a[r], b[r]));
  }
  mg_max_add(__longlong_as_double((long long)largest), known, maximum);
}

/** Can cells be loaded by twos? In the level's own arrays they can where rows are even. */
static bool in_pairs(const mg_patch_t &p, int x, int y) {
  const uintptr_t at = (uintptr_t)p.vec[x] | (y < 0 ? 0 : (uintptr_t)p.vec[y]);
  return p.n[0] % 2 == 0 && p.jstride % 2 == 0 && p.kstride % 2 == 0 && at % 16 == 0;
}

mg_status_t mg_cuda_max_norm(const mg_view_t *v, int x, int y, double *norm) {
  int device, processors;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const bool pairs = in_pairs(p, x, y);
    const int64_t columns = (p.n[0] / (pairs ? 2 : 1) + 31) / 32,
                  rows = ((int64_t)p.n[1] * p.n[2] + 7) / 8,
                  full = BLOCKS * (int64_t)processors / columns; /* all at a time */
    const dim3 grid((unsigned)columns, (unsigned)(rows < full ? rows : full > 0 ? full : 1));
    const auto kernel = pairs ? (y < 0 ? max_norm<true, false> : max_norm<true, true>)
                              : (y < 0 ? max_norm<false, false> : max_norm<false, true>);
    kernel<<<grid, dim3(32, 8), 0, mg_cuda.stream>>>(p, x, y, mg_cuda.reduction);
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
