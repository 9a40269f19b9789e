/* Shared by the CUDA operations: the device's state, checks, and how threads meet cells.
 *
 * Every entry enqueues on mg_cuda.stream and returns; an entry that hands a number to the host
 * waits for the stream. Solves allocate nothing. Set-up does: alloc, prepare_copies,
 * coarse_cycle_create, set_problem (for as long as it runs), windows and mail lists, recordings,
 * and stamps. */
#ifndef MG_CUDA_H
#define MG_CUDA_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
extern "C" {
#include "backend/backend.h"
#include "base/log.h"
#include "formulas/index.h"
}

/** Does what is enqueued follow what was enqueued before it, and nothing else? Not between fork and
 *  join, nor does the first launch after that. */
enum mg_cuda_queues_t { MG_CUDA_ONE_QUEUE, MG_CUDA_FORKED, MG_CUDA_JOINED };

/** The process's device. */
struct mg_cuda_state_t {
  cudaStream_t stream;   /**< what entries enqueue on: one of `queue` */
  cudaStream_t queue[2]; /**< the first, and the one beside it between fork and join */
  cudaEvent_t forked, joined;
  mg_cuda_queues_t queues;
  bool dependent_launches;       /**< may a kernel come before the one in front of it has ended?
                                    (dependent_launch.h) */
  unsigned long long *reduction; /**< device: one exact sum or one maximum at a time */
  unsigned long long *reduction_host; /**< pinned: where it arrives */
  cudaEvent_t event;
  int processors;     /**< multiprocessors */
  volatile int *late; /**< pinned: 1 + a rank that a kernel waited for in vain */
  /** Asked while the host waits, with the seconds since it began to: what no kernel reports. NULL:
   *  there is nothing of the kind. */
  mg_status_t (*watch)(double waited);
};
extern mg_cuda_state_t mg_cuda;

/** Log a CUDA failure with the call's name, which ends at a parenthesis.
 *  @return MG_ERR_MEMORY when memory ran out, else MG_ERR_DEVICE */
mg_status_t mg_cuda_failed(cudaError_t error, const char *call, const char *file, int line);

#define MG_CUDA_TRY(call)                                                                          \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) return mg_cuda_failed(error_, #call, __FILE__, __LINE__);           \
  } while (0)

/** Of a kernel's argument that it reads in place, where the card can: before sm_70 it is copied. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define MG_GRID_CONSTANT
#else
#define MG_GRID_CONSTANT __grid_constant__
#endif

/** Threads that a multiprocessor of the card compiled for holds: launch bounds that ask for more
 * blocks than these are an error. */
#if !defined(__CUDA_ARCH__)
#define MG_CUDA_RESIDENT_THREADS 2048
#elif __CUDA_ARCH__ == 750
#define MG_CUDA_RESIDENT_THREADS 1024
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100
#define MG_CUDA_RESIDENT_THREADS 1536
#else
#define MG_CUDA_RESIDENT_THREADS 2048
#endif
#define MG_CUDA_MOST_BLOCKS(wanted, threads)                                                       \
  ((wanted) * (threads) <= MG_CUDA_RESIDENT_THREADS ? (wanted)                                     \
                                                    : MG_CUDA_RESIDENT_THREADS / (threads))

/** What card the kernels that run here were compiled for. Of what is in this build the driver takes
 *  what suits its card best, be it PTX of an older one. The answer is kept.
 *  @param[out] code  90 for sm_90
 *  @return MG_OK, MG_ERR_DEVICE where nothing suits it */
mg_status_t mg_cuda_code(int *code);

/** After a launch: did it start? A debug build also waits, so that a report names the kernel. */
mg_status_t mg_cuda_launched(const char *kernel, const char *file, int line);
#define MG_CUDA_LAUNCHED(kernel) MG_TRY(mg_cuda_launched(kernel, __FILE__, __LINE__))

/** Wait for the stream, and see whether a kernel had waited for another rank in vain.
 *  @return MG_OK, MG_ERR_DEVICE, MG_ERR_COMM */
mg_status_t mg_cuda_finish(void);

/** A level's numbers and one of its patches, as kernels take them: by value. */
struct mg_cuda_patch_t {
  mg_view_t v; /**< its array of patches is the host's and not to be touched */
  mg_patch_t p;
  int order; /**< of the operator's wall formula */
};

inline mg_cuda_patch_t mg_cuda_patch(const mg_view_t *v, int q) {
  mg_cuda_patch_t l = {*v, v->patch[q], mg_operator_order(v)};
  l.v.patch = nullptr;
  return l;
}

/** Blocks that cover nx x ny x nz threads. */
inline dim3 mg_cuda_grid(int64_t nx, int64_t ny, int64_t nz, dim3 block) {
  return dim3((unsigned)((nx + block.x - 1) / block.x), (unsigned)((ny + block.y - 1) / block.y),
              (unsigned)((nz + block.z - 1) / block.z));
}

/** Do threads with several cells still fill the device? With 128^3 a smoother gains 1 to 2 %. */
inline bool mg_is_large(const mg_patch_t &p) {
  return (int64_t)p.n[0] * p.n[1] * p.n[2] >= 1 << 21;
}

/** Index, guard: the cell of this thread, or return. */
#define MG_CUDA_CELL(i, j, k, n)                                                                   \
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);                                      \
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z);                                      \
  if (i >= (n)[0] || j >= (n)[1] || k >= (n)[2]) return

/** The value beyond a wall of a formula of order 1 or 2, from the cell at it and the next inward.
 */
MG_INLINE double mg_beyond(double x1, double x2, int order) {
  return order == 1 ? mg_wall1(x1) : mg_wall2(x1, x2);
}

/** Where a 7-point stencil finds its values. Ghosts outside walls are computed from cells, not
 * read: beside a wall a place is another cell of the formula. What is loaded differs, not whether:
 * six branches would wait for six loads, one after the other. */
struct mg_places7_t {
  int low[3], high[3]; /**< from the cell on */
  bool wall_low[3], wall_high[3];
};

static __device__ __forceinline__ mg_places7_t mg_places7(const mg_cuda_patch_t *l,
                                                          const int stride[3], int i, int j,
                                                          int k) {
  const mg_patch_t *p = &l->p;
  const int at[3] = {i, j, k};
  mg_places7_t s;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const int inward = l->order == 1 ? 0 : stride[d];
    s.wall_low[d] = p->wall[d][0] && at[d] == 0;
    s.wall_high[d] = p->wall[d][1] && at[d] == p->n[d] - 1;
    s.low[d] = s.wall_low[d] ? inward : -stride[d];
    s.high[d] = s.wall_high[d] ? -inward : stride[d];
  }
  return s;
}

/** In the patch's vectors. */
static __device__ __forceinline__ mg_places7_t mg_places7(const mg_cuda_patch_t *l, int i, int j,
                                                          int k) {
  const int stride[3] = {1, (int)l->p.jstride, (int)l->p.kstride};
  return mg_places7(l, stride, i, j, k);
}

static __device__ __forceinline__ mg_values7_t mg_values7(const mg_places7_t &s, const double *x,
                                                          int order) {
  mg_values7_t v;
  v.c = x[0];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const double low = x[s.low[d]], high = x[s.high[d]];
    v.low[d] = s.wall_low[d] ? mg_beyond(v.c, low, order) : low;
    v.high[d] = s.wall_high[d] ? mg_beyond(v.c, high, order) : high;
  }
  return v;
}

/** A x of the level's operator at one cell. fv4 reads ghosts: mg_cuda_prepare has filled them.
 *  varies: alpha does (kernels that are the same but for that load keep their registers). */
template <bool fv4, bool varies = false>
__device__ __forceinline__ double mg_apply(const mg_cuda_patch_t *l, const double *x, int i, int j,
                                           int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  const double *bi = p->vec[MG_BETA_I] + at, *bj = p->vec[MG_BETA_J] + at,
               *bk = p->vec[MG_BETA_K] + at;
  const double a = varies ? p->vec[MG_ALPHA][at] : l->v.a;
  if (fv4) return mg_apply_fv4(x + at, bi, bj, bk, js, ks, a, l->v.b_h2);
  const mg_values7_t v = mg_values7(mg_places7(l, i, j, k), x + at, l->order);
  return mg_apply_values7(v, bi, bj, bk, js, ks, a, l->v.b_h2);
}

/** Before the simple A x of fv4: the ghosts of x outside the walls. Nothing for the others. */
mg_status_t mg_cuda_prepare(const mg_view_t *v, int x);

/* What the table of the simple kernels has instead of the entries below. */
mg_status_t mg_cuda_simple_smooth(const mg_view_t *v, int x, int previous, int dst,
                                  const mg_step_t *step);
mg_status_t mg_cuda_simple_residual(const mg_view_t *v, int dst, int x, int f);
mg_status_t mg_cuda_simple_interpolate(const mg_view_t *coarse, int src, const mg_view_t *fine,
                                       int dst, mg_interpolation_t kind, bool add);

/* The entries of the table, one file each. */
mg_status_t mg_cuda_set_problem(const mg_view_t *v, const mg_tables_t *tables);
mg_status_t mg_cuda_restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse, int dst);
mg_status_t mg_cuda_extend_faces(const mg_view_t *v);
mg_status_t mg_cuda_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max);
mg_status_t mg_cuda_boundary(const mg_view_t *v, int vec, int order);
mg_status_t mg_cuda_smooth(const mg_view_t *v, int x, int previous, int dst, const mg_step_t *step);
bool mg_cuda_sweep_overlaps(const mg_view_t *v, bool host);
mg_status_t mg_cuda_smooth_region(const mg_view_t *v, int x, int previous, int dst,
                                  const mg_step_t *step, mg_region_t part);
bool mg_cuda_can_fuse(const mg_view_t *v, const mg_step_t *steps, int n, int most);
bool mg_cuda_fused_sweeps_overlap(const mg_view_t *v, int n, bool host);
mg_status_t mg_cuda_smooth_fused(const mg_view_t *v, int x, int previous, int dst, int before,
                                 const mg_step_t *steps, int n, mg_region_t part);
mg_status_t mg_cuda_residual(const mg_view_t *v, int dst, int x, int f);
mg_status_t mg_cuda_residual_norm(const mg_view_t *v, int x, int f, double *norm);
mg_status_t mg_cuda_residual_restrict(const mg_view_t *fine, int x, int f, const mg_view_t *coarse,
                                      int dst);
mg_status_t mg_cuda_restrict_cells(const mg_view_t *fine, int src, const mg_view_t *coarse,
                                   int dst);
mg_status_t mg_cuda_interpolate(const mg_view_t *coarse, int src, const mg_view_t *fine, int dst,
                                mg_interpolation_t kind, bool add);
bool mg_cuda_folds_walls(mg_interpolation_t kind);
mg_status_t mg_cuda_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out);
void mg_cuda_release_copies(mg_copies_t *copies);
mg_status_t mg_cuda_copy(const mg_copies_t *copies, int src, int dst);
mg_status_t mg_cuda_fill(const mg_view_t *v, int dst, double value);
mg_status_t mg_cuda_shift(const mg_view_t *v, int dst, int x, double value);
mg_status_t mg_cuda_axpby(const mg_view_t *v, int dst, double alpha, int x, double beta, int y);
mg_status_t mg_cuda_multiply(const mg_view_t *v, int dst, int x, int y);
mg_status_t mg_cuda_max_norm(const mg_view_t *v, int x, int y, double *norm);
mg_status_t mg_cuda_dot(const mg_view_t *v, int x, int y, mg_sum_t *sum);
mg_status_t mg_cuda_event_timers_create(int n);
void mg_cuda_event_timers_free(void);
mg_status_t mg_cuda_event_timer_record(int number);
mg_status_t mg_cuda_event_timers_elapsed(int first, int last, double *seconds);
void mg_cuda_range_begin(const char *name);
void mg_cuda_range_end(void);
bool mg_cuda_bottom_fits(const mg_view_t *v, mg_bottom_t method);
mg_status_t mg_cuda_bottom(const mg_view_t *v, mg_bottom_t method, bool zero_guess, int most,
                           double reduction);
mg_status_t mg_cuda_coarse_cycle_create(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out);
void mg_cuda_coarse_cycle_free(mg_coarse_cycle_t *coarse_cycle);
mg_status_t mg_cuda_coarse_cycle_run(const mg_coarse_cycle_t *coarse_cycle, int top,
                                     mg_cycle_t cycle, bool zero_guess);
mg_status_t mg_cuda_graph_begin(void);
mg_status_t mg_cuda_graph_end(mg_graph_t **out);
mg_status_t mg_cuda_graph_launch(const mg_graph_t *recording);
void mg_cuda_graph_free(mg_graph_t *recording);

/* Maxima of values that are not negative: their bits order as integers, NaN above everything. */

/** Clear the maximum; then kernels call mg_max_add; then fetch it: NaN if anything was not finite.
 */
mg_status_t mg_cuda_max_begin(void);
mg_status_t mg_cuda_max_end(double *value);

/** |value| as maxima have it. */
static __device__ __forceinline__ unsigned long long mg_max_bits(double value) {
  return (unsigned long long)__double_as_longlong(fabs(value));
}

/** What the maximum is already, for mg_max_add. A kernel asks before it loads its cells, so that
 *  the answer is under way with theirs; a maximum only grows, and an old one is a bound too. One
 *  thread of a block asks: all of them would queue at one place of the L2 cache. */
static __device__ __forceinline__ unsigned long long
mg_max_known(const unsigned long long *maximum) {
  return (threadIdx.x | threadIdx.y | threadIdx.z) == 0
             ? *(const volatile unsigned long long *)maximum
             : 0;
}

/* Warps have an instruction for it from sm_80 on. The assemblers of CUDA 11.8, 12.0, 12.3 and 12.4
 * lose the first of two such results, those of 12.5, 12.6, 12.9 and 13.0 do not (the same PTX, the
 * instructions read). */
#define MG_CUDA_REDUCES_WARPS (CUDART_VERSION >= 12050 && __CUDA_ARCH__ >= 800)

/** The largest of a whole warp's values, in all of its lanes. */
static __device__ __forceinline__ unsigned long long mg_max_of_warp(unsigned long long bits) {
#if MG_CUDA_REDUCES_WARPS
  /* The upper halves decide; among the lanes with the largest one, the lower halves. */
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

/** The largest of a block's values, to all of its threads: by warps, one barrier, and again by
 *  each of them.
 *  @param[in]  t         number of this thread in the block, which has whole warps
 *  @param      warp_max  shared, one for each warp */
static __device__ __forceinline__ unsigned long long
mg_max_of_block(unsigned long long bits, int t, int warps, unsigned long long *warp_max) {
  bits = mg_max_of_warp(bits);
  if (t % 32 == 0) warp_max[t / 32] = bits;
  __syncthreads();
  return mg_max_of_warp(t % 32 < warps ? warp_max[t % 32] : 0);
}

/** The largest of n shared values, each stride apart, by halves. */
template <int n>
static __device__ __forceinline__ unsigned long long mg_max_of(const unsigned long long *value,
                                                               int stride) {
  if constexpr (n == 1)
    return *value;
  else
    return max(mg_max_of<n / 2>(value, stride),
               mg_max_of<n - n / 2>(value + n / 2 * stride, stride));
}

/** Threads of a block that adds to a maximum. */
enum { MG_MAX_THREADS = 256 };

/** Raise the maximum to a block's, where that is above it: thread 0 does.
 *  @param[in] known  mg_max_known(maximum) */
static __device__ __forceinline__ void mg_max_raise(unsigned long long bits, int t,
                                                    unsigned long long known,
                                                    unsigned long long *maximum) {
  /* The first blocks know nothing, and are many. */
  if (t == 0 && bits > known && bits > *(volatile unsigned long long *)maximum)
    atomicMax(maximum, bits);
}

/** Add a block's values to the maximum; all threads of the block, MG_MAX_THREADS of any shape, call
 *  it once. What follows a block's last load is time in which nobody else can have its place: there
 *  is no memory to wait for unless there is something new to say.
 *
 *  How the block joins is what `hpgmg-bench search` finds best, "max 256@4 4x16/1 w1Br8.32m
 *  atomics" (docs/kernels.md): every thread stores, and after the one barrier a warp takes all.
 *  @param[in] bits   the largest mg_max_bits of this thread
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

/** sum += term, exactly, by many threads at a time: mg_sum_add with atomic additions. */
static __device__ __forceinline__ void mg_sum_add_atomic(unsigned long long *digit, double term) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(term);
  int exponent = (int)(bits >> 52 & 0x7ff);
  unsigned long long mantissa = bits & 0xfffffffffffffULL;
  if (exponent == 0x7ff) {
    atomicAdd(&digit[MG_SUM_NONFINITE], 1ULL);
    return;
  }
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= 0x10000000000000ULL;
  const int low = (exponent - 1) / 32, shift = (exponent - 1) % 32;
  const unsigned long long bottom = mantissa << shift, top = shift ? mantissa >> (64 - shift) : 0;
  /* Two's complement: adding the negation modulo 2^64 subtracts. */
  const bool negative = bits >> 63;
  const unsigned long long part[3] = {bottom & 0xffffffffULL, bottom >> 32, top};
  for (int d = 0; d < 3; d++)
    if (part[d]) atomicAdd(&digit[low + d], negative ? 0ULL - part[d] : part[d]);
}

#endif
