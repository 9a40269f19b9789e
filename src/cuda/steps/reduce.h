/* Kernels for norms and dot products, shared by the solver and hpgmg-bench. */
#ifndef MG_CUDA_STEPS_REDUCE_H
#define MG_CUDA_STEPS_REDUCE_H

#include "cuda/reduction.h"

/* Maxima: blocks of 32 threads along i, 8 along the rows. Threads load pairs of cells if these
 * are aligned. A thread strides through the patch and loads its cells of `rows` rows before it
 * uses the first. Times at 512^3 on an H200 (hpgmg-bench reduce), in us:
 *   single cells: one block per 256 cells 489; only resident blocks 465, with four rows 261
 *   pairs: one, two, four, eight rows 296, 252, 241, 241 */
enum { MG_NORM_ROWS = 4, MG_NORM_BLOCKS = 4 /* per SM */ };

/* Dot products: small blocks if there are few bricks, so that more SMs load. Enough registers for
 * the cells of a plane, so that a lane has them in flight together. Times at 64^3 and 512^3 on an
 * H200, in us:
 *   256 threads, 32 registers: 15.2, 474
 *   256 threads, 64 registers: 10.8, 465
 *   128, 64, 32 threads, 64 registers: 9.5, 8.9, 8.5 and 464, 473, 517
 *   128 registers: 10.8 (256 threads) and 8.4 (32 threads), 465 */
enum { MG_DOT_PLANES = 1, MG_DOT_MIN_THREADS = 32 };

/* Sums of single cells: a warp loads MG_SUM_ROWS adjacent rows of 32 cells, then adds them. All
 * blocks are resident. */
enum { MG_SUM_ROWS = MG_SUM_CHUNK / 32, MG_SUM_BLOCKS = 4 /* per SM */ };

/** |x - y| of a cell, or the larger of two cells, as bits; NaN is the largest. */
template <bool pairs>
static __device__ __forceinline__ unsigned long long mg_largest_of(const mg_real2_t &x,
                                                                   const mg_real2_t &y) {
  const unsigned long long a = mg_max_bits(x.x - y.x), b = mg_max_bits(x.y - y.y);
  return pairs && b > a ? b : a;
}

template <bool pairs>
static __device__ __forceinline__ mg_real2_t mg_load_cells(const mg_real_t *at) {
  return pairs ? *(const mg_real2_t *)at : mg_make_real2(*at, 0.0);
}

/** Largest |x - y|, as bits, among the cells of one thread of a 32 x 8 block; y < 0: zero. */
template <int rows, bool pairs>
static __device__ __forceinline__ unsigned long long
mg_largest_of_thread(const mg_patch_t &p, mg_vector_t x, mg_vector_t y) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x) * (pairs ? 2 : 1);
  const int row = (int)(blockIdx.y * 8 + threadIdx.y), step = (int)gridDim.y * 8;
  const int step_j = step % p.n[1], step_k = step / p.n[1];
  int j = row % p.n[1], k = i < p.n[0] ? row / p.n[1] : p.n[2];
  unsigned long long largest = 0;
  while (k < p.n[2]) {
    mg_real2_t a[rows], b[rows];
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
      const bool inside = k < p.n[2];
      a[r] = inside ? mg_load_cells<pairs>(p.vec[x] + at) : mg_make_real2(0.0, 0.0);
      b[r] = y >= 0 && inside ? mg_load_cells<pairs>(p.vec[y] + at) : mg_make_real2(0.0, 0.0);
      j += step_j;
      k += step_k;
      if (j >= p.n[1]) {
        j -= p.n[1];
        k++;
      }
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
      largest = max(largest, mg_largest_of<pairs>(a[r], b[r]));
  }
  return largest;
}

template <int rows, bool pairs>
static __global__ void __launch_bounds__(256, MG_NORM_BLOCKS)
    mg_max_norm_kernel(mg_patch_t p, mg_vector_t x, mg_vector_t y, unsigned long long *maximum) {
  const unsigned long long known = mg_max_known(maximum);
  mg_max_add(mg_largest_of_thread<rows, pairs>(p, x, y), known, maximum);
}

/** Grid for mg_max_norm_kernel with 32 x 8 threads per block: all blocks are resident. */
inline dim3 mg_max_norm_grid(const mg_patch_t &p, bool pairs, int processors) {
  const int64_t columns = (p.n[0] / (pairs ? 2 : 1) + 31) / 32,
                rows = ((int64_t)p.n[1] * p.n[2] + 7) / 8,
                full = MG_NORM_BLOCKS * (int64_t)processors / columns;
  return dim3((unsigned)columns, (unsigned)(rows < full ? rows : full > 0 ? full : 1));
}

/** Threads per block of mg_dot_kernel: 256, or fewer so that each SM has blocks. */
inline int mg_dot_threads(int64_t lanes, int processors) {
  int threads = 256;
  while (threads > MG_DOT_MIN_THREADS && lanes / threads < 4 * (int64_t)processors)
    threads /= 2;
  return threads;
}

/** Sum of a b, or of a if b is null, over a lane of a brick of 8^3: one cell per row, row by row,
 *  plane by plane. Products with 1 are exact. Loads `planes` planes before adding the first cell.
 */
template <int planes>
static __device__ __forceinline__ double mg_lane_sum(const mg_patch_t &p, const mg_real_t *a,
                                                     const mg_real_t *b) {
  double s = 0.0;
  for (int k = 0; k < 8; k += planes) {
    mg_real_t x[planes][8], y[planes][8];
#pragma unroll
    for (int q = 0; q < planes; q++)
#pragma unroll
      for (int j = 0; j < 8; j++) {
        const ptrdiff_t at = j * p.jstride + (k + q) * p.kstride;
        x[q][j] = a[at];
        y[q][j] = b ? b[at] : MG_REAL(1.0);
      }
#pragma unroll
    for (int q = 0; q < planes; q++)
#pragma unroll
      for (int j = 0; j < 8; j++)
        s = fma((double)x[q][j], (double)y[q][j], s);
  }
  return s;
}

/** Sum bricks of 8^3 cells with 8 threads each: lane i sums cell i of every row, then the lanes are
 *  added in order. Blocks have at most 256 threads, a multiple of 32.
 *  @tparam planes  that are loaded first
 *  @param y  < 0: ones */
template <int planes>
static __global__ void __launch_bounds__(256, MG_CUDA_MIN_BLOCKS(8 >> planes, 256))
    mg_dot_kernel(mg_patch_t p, mg_vector_t x, mg_vector_t y, unsigned long long *sum) {
  __shared__ unsigned long long digit[MG_SUM_LIMBS];
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += (int)blockDim.x)
    digit[d] = 0;
  __syncthreads();
  const int lane = (int)threadIdx.x % 8;
  const int64_t brick = (int64_t)blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;
  const int64_t ni = p.n[0] / 8, nj = p.n[1] / 8, nk = p.n[2] / 8;
  const bool mine = brick < ni * nj * nk;
  double s = 0.0;
  if (mine) {
    const int64_t bi = brick % ni * 8, bj = brick / ni % nj * 8, bk = brick / ni / nj * 8;
    s = mg_lane_sum<planes>(p, mg_cell(&p, x, bi + lane, bj, bk),
                            y < 0 ? nullptr : mg_cell(&p, y, bi + lane, bj, bk));
  }
  double all = s;
#pragma unroll
  for (int i = 1; i < 8; i++)
    all += __shfl_down_sync(0xffffffffu, s, i);
  if (mine && lane == 0) mg_sum_add_atomic(digit, all);
  __syncthreads();
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += (int)blockDim.x)
    if (digit[d]) atomicAdd(&sum[d], digit[d]);
}

/** Grid for mg_sum_cells_kernel with 32 x 8 threads per block. */
inline dim3 mg_sum_cells_grid(const mg_patch_t &p, int rows, int processors) {
  const int64_t columns = (p.n[0] + 31) / 32, warps = (p.n[1] + rows - 1) / rows * (int64_t)p.n[2],
                blocks = (warps + 7) / 8, full = MG_SUM_BLOCKS * (int64_t)processors / columns;
  return dim3((unsigned)columns, (unsigned)(blocks < full ? blocks : full > 0 ? full : 1));
}

/** Sum x y of cells one by one, without bricks.
 *  @tparam rows  rows that a warp loads and adds at a time
 *  @param y  < 0: ones */
template <int rows>
static __global__ void __launch_bounds__(256, MG_CUDA_MIN_BLOCKS(MG_SUM_BLOCKS, 256))
    mg_sum_cells_kernel(mg_patch_t p, mg_vector_t x, mg_vector_t y, unsigned long long *sum) {
  __shared__ unsigned long long digit[MG_SUM_LIMBS];
  const int thread = (int)(threadIdx.y * 32 + threadIdx.x);
  if (thread < MG_SUM_LIMBS) digit[thread] = 0;
  __syncthreads();
  const int i = (int)(blockIdx.x * 32 + threadIdx.x), per_plane = (p.n[1] + rows - 1) / rows,
            groups = per_plane * p.n[2], step = (int)gridDim.y * 8;
  /* Whole warps: all lanes take part in mg_sum_add_warp. */
  for (int group = (int)(blockIdx.y * 8 + threadIdx.y); group < groups; group += step) {
    const int j = group % per_plane * rows, k = group / per_plane;
    const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
    mg_real_t a[rows], b[rows];
    double term[rows];
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const bool inside = i < p.n[0] && j + r < p.n[1];
      a[r] = inside ? p.vec[x][at + r * p.jstride] : MG_REAL(0.0);
      b[r] = y >= 0 && inside ? p.vec[y][at + r * p.jstride] : MG_REAL(1.0);
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
      term[r] = (double)a[r] * (double)b[r];
    mg_sum_add_warp(digit, term);
  }
  __syncthreads();
  if (thread < MG_SUM_LIMBS && digit[thread]) atomicAdd(&sum[thread], digit[thread]);
}

#endif
