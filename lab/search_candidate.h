/* Reductions to a sum or a maximum norm, as templates over their shape. nvcc instantiates the rungs
 * of the ladder `reduce`. The search compiles this file by NVRTC at run time, once per candidate:
 * it defines CANDIDATE as the candidate's type, and no header may be included here.
 *
 * docs/kernels.md explains the shapes. A block's threads each reduce their own input; the steps
 * then join the values of the block in thread 0; the grid joins the blocks. */
#ifndef SEARCH_CANDIDATE_H
#define SEARCH_CANDIDATE_H

namespace candidate {
/* A sum is a double. A norm is the bits of |x|, as an integer: NaN exceeds every number. */
typedef unsigned long long bits_t;
enum { ATOMICS, LAST_BLOCK, TWO_LAUNCHES }; /* as in plan_grid_t */
constexpr unsigned ALL = 0xffffffffu;

/* The input: the n numbers of an array, or the cells of a patch without its ghosts. With
 * 16-byte loads n[0] must be even and rows aligned. */
struct input_t {
  const double *from; /* the first number, or cell (0, 0, 0) */
  long long length;   /* of the array */
  int n[3];           /* of the patch */
  long long jstride, kstride;
};

__device__ __forceinline__ double joined(double a, double b) {
  return a + b;
}
__device__ __forceinline__ bits_t joined(bits_t a, bits_t b) {
  return a > b ? a : b;
}

/* N values by a balanced tree, to keep the dependency chain short. */
template <int N, typename T> __device__ __forceinline__ T all_of(const T *value) {
  if constexpr (N == 1)
    return value[0];
  else
    return joined(all_of<N / 2>(value), all_of<N - N / 2>(value + N / 2));
}

/* From sm_80 on an instruction returns the 32-bit maximum of a warp; 64 bits need two of them. */
__device__ __forceinline__ bits_t max_of_warp(bits_t bits) {
#if __CUDA_ARCH__ >= 800
  const unsigned high = (unsigned)(bits >> 32), top = __reduce_max_sync(ALL, high);
  const unsigned low = __reduce_max_sync(ALL, high == top ? (unsigned)bits : 0u);
  return (bits_t)top << 32 | low;
#else
  for (int far = 16; far > 0; far /= 2)
    bits = joined(bits, __shfl_xor_sync(ALL, bits, far));
  return bits;
#endif
}

/* ---- steps: the kinds of plan_kind_t ----
 *
 * active(n): threads that take part, of n before; places(n): elements of shared memory that n
 * active threads write. All warps with an active thread run a step. */

struct step_t {
  static __host__ __device__ constexpr int active(int n) { return n; }
  static __host__ __device__ constexpr int places(int) { return 0; }
};

template <int RADIX, int BY, bool XOR> struct any_shuffle : step_t {
  template <int ACTIVE, typename T> static __device__ __forceinline__ T run(T value, T *) {
    T other[RADIX - 1];
#pragma unroll
    for (int m = 1; m < RADIX; m++)
      other[m - 1] =
          XOR ? __shfl_xor_sync(ALL, value, m * BY) : __shfl_down_sync(ALL, value, m * BY);
    return joined(value, all_of<RADIX - 1>(other));
  }
};
template <int RADIX, int BY> struct shuffle_xor : any_shuffle<RADIX, BY, true> {};
template <int RADIX, int BY> struct shuffle_down : any_shuffle<RADIX, BY, false> {};

template <int BY> struct store : step_t {
  static __host__ __device__ constexpr int places(int n) { return (n + BY - 1) / BY; }
  template <int ACTIVE, typename T> static __device__ __forceinline__ T run(T value, T *part) {
    const int me = (int)threadIdx.x;
    if (me < ACTIVE && me % BY == 0) part[me / BY] = value;
    return value;
  }
};

struct warp_barrier : step_t {
  template <int ACTIVE, typename T> static __device__ __forceinline__ T run(T value, T *) {
    __syncwarp();
    return value;
  }
};

struct block_barrier : step_t {}; /* sequence_t has it: all warps take part */

/* PACKED: a thread's elements are adjacent; otherwise BY apart. */
template <int RADIX, int BY, bool PACKED> struct any_load : step_t {
  static __host__ __device__ constexpr int active(int) { return BY; }
  template <int ACTIVE, typename T> static __device__ __forceinline__ T run(T, T *part) {
    const int me = (int)threadIdx.x;
    if (BY % 32 != 0 && me >= BY) return T(0);
    T value[RADIX];
#pragma unroll
    for (int m = 0; m < RADIX; m++)
      value[m] = part[PACKED ? me * RADIX + m : me + m * BY];
    return all_of<RADIX>(value);
  }
};
template <int RADIX, int BY> struct load : any_load<RADIX, BY, false> {};
template <int RADIX, int BY> struct load_packed : any_load<RADIX, BY, true> {};

struct warp_max : step_t {
  template <int ACTIVE> static __device__ __forceinline__ bits_t run(bits_t value, bits_t *) {
    return max_of_warp(value);
  }
};

template <typename STEP> constexpr bool is_block_barrier = false;
template <> constexpr bool is_block_barrier<block_barrier> = true;

template <typename... STEPS> struct sequence_t {
  static __host__ __device__ constexpr int places(int) { return 1; }
  template <int THREADS, int ACTIVE, typename T>
  static __device__ __forceinline__ T run(T value, T *) {
    return value;
  }
};
template <typename STEP, typename... REST> struct sequence_t<STEP, REST...> {
  static __host__ __device__ constexpr int places(int n) {
    const int now = STEP::active(n), own = STEP::places(now),
              rest = sequence_t<REST...>::places(now);
    return own > rest ? own : rest;
  }
  template <int THREADS, int BEFORE, typename T>
  static __device__ __forceinline__ T run(T value, T *part) {
    constexpr int ACTIVE = STEP::active(BEFORE), LANES = (ACTIVE + 31) / 32 * 32;
    if constexpr (is_block_barrier<STEP>)
      __syncthreads();
    else if (LANES == THREADS || (int)threadIdx.x < LANES)
      value = STEP::template run<ACTIVE>(value, part);
    return sequence_t<REST...>::template run<THREADS, ACTIVE>(value, part);
  }
};

/* ---- candidates ---- */

/* T: double for sums, bits_t for norms. MIN_BLOCKS: resident blocks per SM; 0: as many as fit. The
 * others are as in plan_t. */
template <typename NUMBER, int N_THREADS, int MIN_BLOCKS, int N_LOADS, int WIDTH, int N_SUMS,
          int AT_THE_END, typename... STEPS>
struct shape_t {
  typedef NUMBER T;
  static constexpr int THREADS = N_THREADS, BLOCKS = MIN_BLOCKS, LOADS = N_LOADS, SUMS = N_SUMS,
                       GRID = AT_THE_END, NUMBERS = WIDTH / 8;
  static __device__ __forceinline__ T join(T value) {
    __shared__ T part[sequence_t<STEPS...>::places(THREADS)];
    return sequence_t<STEPS...>::template run<THREADS, THREADS>(value, part);
  }
};

/* One load of a thread. */
template <int NUMBERS> struct __align__(8 * NUMBERS) pack_t {
  double number[NUMBERS];
};

__device__ __forceinline__ void add(double *sum, double x) {
  *sum += x;
}
__device__ __forceinline__ void add(bits_t *largest, double x) {
  *largest = joined(*largest, (bits_t)__double_as_longlong(fabs(x)));
}

/* Add the numbers of load l to the thread's sums, alternating between the sums. */
template <typename C>
__device__ __forceinline__ void add_pack(typename C::T *sum, int l, const pack_t<C::NUMBERS> &v) {
#pragma unroll
  for (int q = 0; q < C::NUMBERS; q++)
    add(&sum[(l * C::NUMBERS + q) % C::SUMS], v.number[q]);
}

/* What a thread reads of an array. */
template <typename C> __device__ __forceinline__ double own(const input_t &in, double) {
  const pack_t<C::NUMBERS> *at = (const pack_t<C::NUMBERS> *)in.from;
  const long long me = (long long)blockIdx.x * C::THREADS + threadIdx.x,
                  all = (long long)gridDim.x * C::THREADS, loads = in.length / C::NUMBERS;
  double sum[C::SUMS] = {};
  long long i = me;
  for (; i + (C::LOADS - 1) * all < loads; i += C::LOADS * all) {
    pack_t<C::NUMBERS> v[C::LOADS];
#pragma unroll
    for (int l = 0; l < C::LOADS; l++)
      v[l] = at[i + l * all];
#pragma unroll
    for (int l = 0; l < C::LOADS; l++)
      add_pack<C>(sum, l, v[l]);
  }
  for (; i < loads; i += all)
    add_pack<C>(sum, 0, at[i]);
  if (C::NUMBERS > 1 && me == 0 && in.length % C::NUMBERS) sum[0] += in.from[in.length - 1];
  return all_of<C::SUMS>(sum);
}

/* What a thread reads of a patch: one load of a row, and then further rows. A block covers 32 loads
 * along i, and one row per warp. */
template <typename C> __device__ __forceinline__ bits_t own(const input_t &in, bits_t) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x % 32) * C::NUMBERS;
  const int row = (int)(blockIdx.y * (C::THREADS / 32) + threadIdx.x / 32);
  const int step = (int)gridDim.y * (C::THREADS / 32), step_j = step % in.n[1],
            step_k = step / in.n[1];
  int j = row % in.n[1], k = i < in.n[0] ? row / in.n[1] : in.n[2];
  bits_t largest[C::SUMS] = {};
  while (k < in.n[2]) {
    pack_t<C::NUMBERS> v[C::LOADS];
#pragma unroll
    for (int l = 0; l < C::LOADS; l++) {
      v[l] = {};
      if (k < in.n[2])
        v[l] = *(const pack_t<C::NUMBERS> *)(in.from + i + j * in.jstride + k * in.kstride);
      j += step_j;
      k += step_k;
      if (j >= in.n[1]) {
        j -= in.n[1];
        k++;
      }
    }
#pragma unroll
    for (int l = 0; l < C::LOADS; l++)
      add_pack<C>(largest, l, v[l]);
  }
  return all_of<C::SUMS>(largest);
}

/* `known`: the result before the block's loads. A maximum only grows. */
__device__ __forceinline__ void join_to(double *result, double mine, double) {
  atomicAdd(result, mine);
}
__device__ __forceinline__ void join_to(bits_t *result, bits_t mine, bits_t known) {
  if (mine > known && mine > *(volatile bits_t *)result) atomicMax(result, mine);
}

/* Join the results of n blocks in one block. */
template <typename C>
__device__ __forceinline__ void last(typename C::T *partial, typename C::T *result, int n) {
  typedef typename C::T T;
  T all = T(0);
  for (int i = (int)threadIdx.x; i < n; i += C::THREADS)
    all = joined(all, T(((const volatile T *)partial)[i]));
  all = C::join(all);
  if (threadIdx.x == 0) *result = all;
}

/* The first or only launch. partial holds one result per block. *result must be 0 before atomics;
 * *ended must be 0 before the first launch, and each launch resets it. */
template <typename C>
__device__ __forceinline__ void first(typename C::T *partial, typename C::T *result,
                                      unsigned *ended, const input_t &in) {
  typedef typename C::T T;
  const unsigned blocks = gridDim.x * gridDim.y, block = blockIdx.x + gridDim.x * blockIdx.y;
  const T known = C::GRID == ATOMICS && threadIdx.x == 0 ? *(const volatile T *)result : T(0);
  const T mine = C::join(own<C>(in, T()));
  if constexpr (C::GRID == ATOMICS) {
    if (threadIdx.x == 0) join_to(result, mine, known);
  } else if constexpr (C::GRID == TWO_LAUNCHES) {
    if (threadIdx.x == 0) partial[block] = mine;
  } else {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
      partial[block] = mine;
      __threadfence();
      is_last = atomicInc(ended, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    if (is_last) last<C>(partial, result, (int)blocks);
  }
}

/* `times` successive joins of 0, 1, 2, ..., each depending on the one before; a wrong one stays. */
template <typename C>
__device__ __forceinline__ void joins(typename C::T *result, typename C::T expected, int times) {
  typedef typename C::T T;
  T mine = T(threadIdx.x), all = T(0);
  for (int t = 0; t < times; t++) {
    all = C::join(mine);
    if (threadIdx.x == 0) mine = joined(mine, T(all - expected));
    __syncthreads();
  }
  if (threadIdx.x == 0) result[blockIdx.x] = all;
}
} // namespace candidate

/* The kernels of the search. */
#ifdef CANDIDATE
namespace candidate {
typedef CANDIDATE chosen_t;
typedef chosen_t::T number_t;

extern "C" __global__ void __launch_bounds__(chosen_t::THREADS, chosen_t::BLOCKS)
    first_launch(number_t *partial, number_t *result, unsigned *ended, input_t in) {
  first<chosen_t>(partial, result, ended, in);
}
extern "C" __global__ void __launch_bounds__(chosen_t::THREADS, chosen_t::BLOCKS)
    last_launch(number_t *partial, number_t *result, int n) {
  last<chosen_t>(partial, result, n);
}
extern "C" __global__ void __launch_bounds__(chosen_t::THREADS, chosen_t::BLOCKS)
    all_joins(number_t *result, number_t expected, int times) {
  joins<chosen_t>(result, expected, times);
}
} // namespace candidate
#endif

#endif
