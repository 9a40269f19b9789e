/* The kernels of norms and dot products, for the solver and for those who measure them. */
#ifndef MG_CUDA_REDUCE_H
#define MG_CUDA_REDUCE_H

#include "cuda.h"

/* Maxima: 32 threads along i, with pairs of cells where these are aligned, and 8 along the rows. A
 * thread goes through the patch and loads its cells of `rows` rows before it looks at the first.
 * Microseconds at 512^3 on an H200 (hpgmg-bench reduce): a block for every 256 cells 489, blocks
 * that fit 465, with four rows first 261; pairs with one, two, four, eight rows 296, 252, 241, 241.
 */
enum { MG_NORM_ROWS = 4, MG_NORM_BLOCKS = 4 /* of a multiprocessor */ };

/** |x| or |x - y| of a cell, or the larger one of two, as bits: NaN stays above everything. */
template <bool pairs, bool differs>
static __device__ __forceinline__ unsigned long long mg_largest_of(const double2 &x,
                                                                   const double2 &y) {
  const unsigned long long a = mg_max_bits(differs ? x.x - y.x : x.x),
                           b = mg_max_bits(differs ? x.y - y.y : x.y);
  return pairs && b > a ? b : a;
}

template <bool pairs> static __device__ __forceinline__ double2 mg_load_cells(const double *at) {
  return pairs ? *(const double2 *)at : make_double2(*at, 0.0);
}

/** The largest cell, as bits, of a thread of a block of 32 x 8. */
template <int rows, bool pairs, bool differs>
static __device__ __forceinline__ unsigned long long mg_largest_of_thread(const mg_patch_t &p,
                                                                          int x, int y) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x) * (pairs ? 2 : 1);
  const int row = (int)(blockIdx.y * 8 + threadIdx.y), step = (int)gridDim.y * 8;
  const int step_j = step % p.n[1], step_k = step / p.n[1];
  int j = row % p.n[1], k = i < p.n[0] ? row / p.n[1] : p.n[2];
  unsigned long long largest = 0;
  while (k < p.n[2]) {
    double2 a[rows], b[rows];
#pragma unroll
    for (int r = 0; r < rows; r++) {
      const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
      const bool inside = k < p.n[2];
      a[r] = inside ? mg_load_cells<pairs>(p.vec[x] + at) : make_double2(0.0, 0.0);
      b[r] = differs && inside ? mg_load_cells<pairs>(p.vec[y] + at) : make_double2(0.0, 0.0);
      j += step_j;
      k += step_k;
      if (j >= p.n[1]) {
        j -= p.n[1];
        k++;
      }
    }
#pragma unroll
    for (int r = 0; r < rows; r++)
      largest = max(largest, mg_largest_of<pairs, differs>(a[r], b[r]));
  }
  return largest;
}

template <int rows, bool pairs, bool differs>
static __global__ void __launch_bounds__(256, MG_NORM_BLOCKS)
    mg_max_norm_kernel(mg_patch_t p, int x, int y, unsigned long long *maximum) {
  const unsigned long long known = mg_max_known(maximum);
  mg_max_add(mg_largest_of_thread<rows, pairs, differs>(p, x, y), known, maximum);
}

/** Blocks of the above, of 32 x 8 threads: all of them at a time. */
inline dim3 mg_max_norm_grid(const mg_patch_t &p, bool pairs, int processors) {
  const int64_t columns = (p.n[0] / (pairs ? 2 : 1) + 31) / 32,
                rows = ((int64_t)p.n[1] * p.n[2] + 7) / 8,
                full = MG_NORM_BLOCKS * (int64_t)processors / columns;
  return dim3((unsigned)columns, (unsigned)(rows < full ? rows : full > 0 ? full : 1));
}

/** A brick of u^3 cells by u threads, lane i of each row its own; then the lanes in order.
 *  @param width  u where it is known to divide a warp: then the lanes are joined by shuffles; or 0
 *  @param any    u where width is 0 */
template <int width>
static __global__ void __launch_bounds__(256)
    mg_dot_kernel(mg_patch_t p, int x, int y, int any, unsigned long long *sum) {
  const int u = width > 0 ? width : any;
  __shared__ unsigned long long digit[MG_SUM_LIMBS];
  __shared__ double lane_sum[256];
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += 256)
    digit[d] = 0;
  __syncthreads();
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
  double all = s;
  if (width > 0) {
#pragma unroll
    for (int i = 1; i < width; i++)
      all += __shfl_down_sync(0xffffffffu, s, i);
  } else {
    lane_sum[threadIdx.x] = s;
    __syncthreads();
    if (mine && lane == 0)
      for (int i = 1; i < u; i++)
        all += lane_sum[threadIdx.x + i];
  }
  if (mine && lane == 0) mg_sum_add_atomic(digit, all);
  __syncthreads();
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += 256)
    if (digit[d]) atomicAdd(&sum[d], digit[d]);
}

#endif
