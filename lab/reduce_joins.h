/* Block reductions for the reduction ladder; the result is in thread 0. Shared memory may be reused
 * by the next reduction only after a barrier. */
#ifndef REDUCE_JOINS_H
#define REDUCE_JOINS_H

enum { THREADS = 256, WARP = 32, N_WARPS = THREADS / WARP };
const unsigned ALL = 0xffffffffu;

/** Binary tree in shared memory, one barrier per step. */
struct tree_t {
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[THREADS];
    const int me = (int)threadIdx.x;
    part[me] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
      if (me < half) part[me] += part[me + half];
      __syncthreads();
    }
    return part[0];
  }
};

/** Binary tree; warps without further work exit, and the last warp needs no block barriers. */
struct early_exit_t {
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[THREADS];
    const int me = (int)threadIdx.x;
    part[me] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half >= WARP; half /= 2) {
      if (me >= half) return T(0);
      part[me] += part[me + half];
      __syncthreads();
    }
    for (int half = WARP / 2; half > 0; half /= 2) {
      const T other = part[me + half];
      __syncwarp();
      part[me] += other;
      __syncwarp();
    }
    return part[0];
  }
};

/** Radix-4 tree: half the barriers, three additions per step. */
struct fourths_t {
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[THREADS];
    const int me = (int)threadIdx.x;
    part[me] = sum;
    __syncthreads();
    for (int quarter = THREADS / 4; quarter > 0; quarter /= 4) {
      if (me < quarter)
        part[me] =
            (part[me] + part[me + quarter]) + (part[me + 2 * quarter] + part[me + 3 * quarter]);
      __syncthreads();
    }
    return part[0];
  }
};

/** Five dependent shuffles per warp, then the same for the warp sums. */
struct shuffles_t {
  template <typename T> static __device__ T warp(T sum, int lanes) {
    for (int half = lanes / 2; half > 0; half /= 2)
      sum += __shfl_down_sync(ALL, sum, half);
    return sum;
  }
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[N_WARPS];
    const int me = (int)threadIdx.x;
    sum = warp(sum, WARP);
    if (me % WARP == 0) part[me / WARP] = sum;
    __syncthreads();
    if (me >= WARP) return T(0);
    return warp(me < N_WARPS ? part[me] : T(0), N_WARPS);
  }
};

/** Independent shuffles: three form a radix-4 step, seven a radix-8 step. */
struct side_by_side_t {
  template <typename T> static __device__ T warp(T sum) {
    const T a = __shfl_xor_sync(ALL, sum, 1), b = __shfl_xor_sync(ALL, sum, 2),
            c = __shfl_xor_sync(ALL, sum, 3);
    sum = (sum + a) + (b + c);
    T other[7];
#pragma unroll
    for (int k = 1; k < 8; k++)
      other[k - 1] = __shfl_xor_sync(ALL, sum, 4 * k);
    return ((sum + other[0]) + (other[1] + other[2])) +
           ((other[3] + other[4]) + (other[5] + other[6]));
  }
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[N_WARPS];
    const int me = (int)threadIdx.x;
    sum = warp(sum);
    if (me % WARP == 0) part[me / WARP] = sum;
    __syncthreads();
    if (me > 0) return T(0);
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
  }
};

/** The order that `hpgmg-bench search` found for sums.
 *
 *  Three dependent shuffles leave a sum in every eighth lane. Four threads then read eight sums
 *  each, independently, and combine with three independent shuffles. */
struct searched_t {
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[THREADS / 8];
    const int me = (int)threadIdx.x;
    for (int lane = 1; lane < 8; lane *= 2)
      sum += __shfl_xor_sync(ALL, sum, lane);
    if (me % 8 == 0) part[me / 8] = sum;
    __syncthreads();
    if (me >= WARP) return T(0);
    const T *mine = part + me * 8;
    sum = me >= 4 ? T(0)
                  : ((mine[0] + mine[1]) + (mine[2] + mine[3])) +
                        ((mine[4] + mine[5]) + (mine[6] + mine[7]));
    const T a = __shfl_xor_sync(ALL, sum, 1), b = __shfl_xor_sync(ALL, sum, 2),
            c = __shfl_xor_sync(ALL, sum, 3);
    return (sum + a) + (b + c);
  }
};

/** All threads store their values; one warp reduces them: radix 8 in shared memory, then radix 4
 * and radix 8 by independent shuffles. One barrier. */
struct one_warp_t {
  template <typename T> static __device__ T join(T sum) {
    __shared__ T part[THREADS];
    const int me = (int)threadIdx.x;
    part[me] = sum;
    __syncthreads();
    if (me >= WARP) return T(0);
    T mine[N_WARPS];
#pragma unroll
    for (int w = 0; w < N_WARPS; w++)
      mine[w] = part[w * WARP + me];
    return side_by_side_t::warp(((mine[0] + mine[1]) + (mine[2] + mine[3])) +
                                ((mine[4] + mine[5]) + (mine[6] + mine[7])));
  }
};

/** All threads store their values; one warp reduces them in wide steps through shared memory.
 *  RADIX lists the inputs per output of each step; only the lanes of the warp synchronize. */
template <int... RADIX> struct wide_t {
  template <int R, typename T> static __device__ __forceinline__ T sum_of(const T *value) {
    if constexpr (R == 1)
      return value[0];
    else
      return sum_of<R / 2>(value) + sum_of<R / 2>(value + R / 2);
  }
  template <int R, typename T> static __device__ int step(T *part, int n) {
    const int outputs = n / R;
    for (int o = (int)threadIdx.x; o < outputs; o += WARP) {
      T other[R];
#pragma unroll
      for (int k = 0; k < R; k++)
        other[k] = part[o + k * outputs];
      part[o] = sum_of<R>(other); /* read by no other output */
    }
    __syncwarp();
    return outputs;
  }
  template <typename T> static __device__ T join(T sum) {
    static_assert((RADIX * ... * 1) == THREADS, "steps that end at one");
    __shared__ T part[THREADS];
    const int me = (int)threadIdx.x;
    part[me] = sum;
    __syncthreads();
    if (me >= WARP) return T(0);
    int n = THREADS;
    ((n = step<RADIX>(part, n)), ...);
    return part[0];
  }
};

#endif
