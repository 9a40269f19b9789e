/* Exact sums and maxima over the cells of a launch. */
#ifndef MG_CUDA_REDUCTION_H
#define MG_CUDA_REDUCTION_H

#include "cuda/cuda.h"

/** Replace the sum on the device by what must be added to n cells, so that their mean is `mean`. */
void mg_cuda_find_shift(double mean, double n);

/** Current value of the maximum, for mg_max_add.
 *
 *  A kernel loads it before its cells, so that all these loads are in flight together. The maximum
 *  only grows, so a stale value is still a lower bound. Only one thread per block reads it: reads
 *  by all threads would queue at one L2 address. */
static __device__ __forceinline__ unsigned long long
mg_max_known(const unsigned long long *maximum) {
  return (threadIdx.x | threadIdx.y | threadIdx.z) == 0
             ? *(const volatile unsigned long long *)maximum
             : 0;
}

/* sm_80 and later have warp-wide reduction instructions. With two of them, ptxas of CUDA 11.8,
 * 12.0, 12.3 and 12.4 drops the first result. ptxas of 12.5, 12.6, 12.9 and 13.0 does not (same
 * PTX; the generated instructions were inspected). */
#define MG_CUDA_REDUCES_WARPS (CUDART_VERSION >= 12050 && __CUDA_ARCH__ >= 800)

/** Maximum over a full warp, returned to all lanes. */
static __device__ __forceinline__ unsigned mg_max_of_warp(unsigned value) {
#if MG_CUDA_REDUCES_WARPS
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int step = 16; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
#endif
}

static __device__ __forceinline__ unsigned long long mg_max_of_warp(unsigned long long bits) {
#if MG_CUDA_REDUCES_WARPS
  /* Maximum of the upper halves, then of the lower halves among the lanes that have it. */
  const unsigned high = (unsigned)(bits >> 32);
  const unsigned top = __reduce_max_sync(0xffffffffu, high);
  const unsigned low = __reduce_max_sync(0xffffffffu, high == top ? (unsigned)bits : 0u);
  return (unsigned long long)top << 32 | low;
#else
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffffu, bits, step);
    bits = other > bits ? other : bits;
  }
  return bits;
#endif
}

/** Maximum over a block, returned to all threads. Each warp reduces its own values; after one
 *  barrier every warp reduces the results of all warps.
 *  @param[in]  t         index of this thread in the block; the block consists of full warps
 *  @param      warp_max  shared memory, one value per warp */
static __device__ __forceinline__ unsigned long long
mg_max_of_block(unsigned long long bits, int t, int warps, unsigned long long *warp_max) {
  bits = mg_max_of_warp(bits);
  if (t % 32 == 0) warp_max[t / 32] = bits;
  __syncthreads();
  return mg_max_of_warp(t % 32 < warps ? warp_max[t % 32] : 0);
}

/** Maximum of n shared values that are `stride` apart, by recursive halving. */
template <int n>
static __device__ __forceinline__ unsigned long long mg_max_of(const unsigned long long *value,
                                                               int stride) {
  if constexpr (n == 1)
    return *value;
  else
    return max(mg_max_of<n / 2>(value, stride),
               mg_max_of<n - n / 2>(value + n / 2 * stride, stride));
}

/** Threads per block of the kernels that call mg_max_add. */
enum { MG_MAX_THREADS = 256 };

/** Raise the global maximum to `bits` if that is larger; only t = 0 of a warp or block acts.
 *  @param[in] known  mg_max_known(maximum), or 0 */
static __device__ __forceinline__ void mg_max_raise(unsigned long long bits, int t,
                                                    unsigned long long known,
                                                    unsigned long long *maximum) {
  /* The many blocks of the first wave have a stale `known`: read again before the atomic. */
  if (t == 0 && bits > known && bits > *(volatile unsigned long long *)maximum)
    atomicMax(maximum, bits);
}

/** Add the values of a block to the maximum.
 *
 *  All MG_MAX_THREADS threads of the block call this once; any block shape works. After its last
 *  load a block still occupies its slot on the SM, so it accesses global memory only if it may
 * raise the maximum.
 *
 *  The reduction is the best one found by `hpgmg-bench search`, "max 256@4 4x16/1 w1Br8.32m
 *  atomics" (docs/kernels.md): every thread stores; after one barrier a single warp reduces all.
 *  @param[in] bits   largest mg_max_bits of this thread
 *  @param[in] known  mg_max_known(maximum) */
static __device__ __forceinline__ void mg_max_add(unsigned long long bits, unsigned long long known,
                                                  unsigned long long *maximum) {
  __shared__ unsigned long long value[MG_MAX_THREADS];
  const int t = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  value[t] = bits;
  __syncthreads();
  if (t >= 32) return;
  mg_max_raise(mg_max_of_warp(mg_max_of<MG_MAX_THREADS / 32>(value + t, 32)), t, known, maximum);
}

/** sum += n terms of every lane of a full warp, exactly; mg_sum_add_all with the same parts. All
 *  lanes call it. Safe for concurrent warps.
 *  @param[in,out] term  overwritten */
template <int n>
static __device__ __forceinline__ void mg_sum_add_warp(unsigned long long *digit,
                                                       double (&term)[n]) {
  static_assert(32 * n <= MG_SUM_CHUNK, "sums of the parts must be exact");
  const unsigned all = 0xffffffffu;
  const bool low_lane = threadIdx.x % 32 < 16;
  unsigned long long left;
  do {
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < n; i++)
      largest = max(largest, (unsigned)__double2hiint(term[i]) & 0x7fffffffu);
    const int exponent = mg_sum_exponent(mg_max_of_warp(largest));
    if (exponent > MG_SUM_MAX_EXPONENT) {
#pragma unroll 1
      for (int i = 0; i < n; i++) {
        mg_sum_add_atomic(digit, term[0]);
        /* An index known only at run time would move the terms from registers to memory. */
#pragma unroll
        for (int next = 1; next < n; next++)
          term[next - 1] = term[next];
      }
      return;
    }
    const double first = mg_sum_splitter(exponent),
                 second = mg_sum_splitter(exponent - MG_SUM_PART_BITS);
    double high = 0.0, low = 0.0;
    left = 0;
#pragma unroll
    for (int i = 0; i < n; i++) {
      high += mg_sum_split(&term[i], first);
      low += mg_sum_split(&term[i], second);
      left |= (unsigned long long)__double_as_longlong(term[i]);
    }
    /* Lanes 0 to 15 join the high parts, lanes 16 to 31 the low ones. */
    double sum = low_lane ? high : low;
    sum += __shfl_xor_sync(all, low_lane ? low : high, 16);
#pragma unroll
    for (int step = 8; step > 0; step /= 2)
      sum += __shfl_xor_sync(all, sum, step);
    if (threadIdx.x % 16 == 0) mg_sum_add_atomic(digit, sum);
  } while (__any_sync(all, left << 1 != 0)); /* without the signs of zeros */
}

#endif
