/* How the threads of a block join their sums, for the ladder of sums: the result is thread 0's. A
 * join leaves its shared memory to the next one only behind a barrier. */
#ifndef REDUCE_JOINS_H
#define REDUCE_JOINS_H

enum { THREADS = 256, WARP = 32, N_WARPS = THREADS / WARP };
const unsigned ALL = 0xffffffffu;

/** Halves by halves in shared memory, a barrier after each. */
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

/** The same; warps that have no part in what follows leave, and the last one needs no barriers. */
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

/** Fourths by fourths: half of the barriers, three additions in each. */
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

/** Each warp by five shuffles that wait for each other, then the warps' sums likewise. */
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

/** Shuffles side by side: three that do not wait for each other make fourths, seven eighths. */
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

/** Shuffles in the order that `hpgmg-bench search` found for sums: three that wait for each other,
 * so that every eighth lane leaves a sum, and four threads that read eight each, side by side, and
 *  shuffle three times at once. */
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

/** All threads leave their sum and one warp does the rest: eighths, then fourths and eighths by
 *  shuffles side by side. One barrier. */
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

/** All threads leave their sum and one warp does the rest in wide steps through shared memory: each
 *  output is the sum of so many, and a step is for itself but for the lanes of its warp. */
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
      part[o] = sum_of<R>(other); /* which no other output has read */
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
