/* Ladder 5 on a CUDA device: a sum. For a large array any kernel with enough bytes in flight
 * reaches the memory bandwidth. The cost of a small sum is its chain of dependent steps: launches,
 * barriers, shuffles. All numbers are small integers, whose sums are exact in any order. */
#include "lab/lab_cuda.h"
#include "lab/reduce_joins.h"
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace {

/* ---- inputs ---- */

/** Numbers generated from their index: no memory is read. */
template <typename T> struct generated_t {
  static constexpr double bytes = 0.0;
  __host__ __device__ T operator()(int64_t i) const { return (T)(i & 1023); }
  __device__ T one(int64_t i) const { return (*this)(i); }
  __device__ T two(int64_t i) const { return one(2 * i) + one(2 * i + 1); }
};

/** An array. */
template <typename T> struct array_t {
  static constexpr double bytes = sizeof(T);
  const T *at;
  __device__ T one(int64_t i) const { return at[i]; }
  __device__ T two(int64_t i) const; /* elements 2 i and 2 i + 1, by one 16-byte load */
};
template <> __device__ double array_t<double>::two(int64_t i) const {
  const double2 v = reinterpret_cast<const double2 *>(at)[i];
  return v.x + v.y;
}
template <> __device__ long long array_t<long long>::two(int64_t i) const {
  const longlong2 v = reinterpret_cast<const longlong2 *>(at)[i];
  return v.x + v.y;
}

/* ---- kernels ---- */

/** Destination of partial sums. */
template <typename T> struct target_t {
  T *partial;          /**< one per block */
  T *result;           /**< must be 0 before a run that adds to it */
  unsigned int *ended; /**< number of finished blocks */
};

/** The naive tree: to[i] = from[2 i] + from[2 i + 1], one launch per step. */
template <typename T> __global__ void halve(T *to, const T *from, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (n + 1) / 2) return;
  to[i] = 2 * i + 1 < n ? from[2 * i] + from[2 * i + 1] : from[2 * i];
}

/** Sum of a thread's elements: one at a time, or LOADS loads of two in flight. */
template <typename T, int LOADS, typename Source>
__device__ __forceinline__ T own_sum(const Source &source, int64_t n) {
  const int64_t me = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t threads = (int64_t)gridDim.x * blockDim.x;
  T sum = T(0);
  if (LOADS == 0) {
    for (int64_t i = me; i < n; i += threads)
      sum += source.one(i);
    return sum;
  }
  constexpr int AT_A_TIME = LOADS > 0 ? LOADS : 1;
  int64_t i = me;
  for (; i + (AT_A_TIME - 1) * threads < n / 2; i += AT_A_TIME * threads) {
    T part[AT_A_TIME];
#pragma unroll
    for (int l = 0; l < AT_A_TIME; l++)
      part[l] = source.two(i + l * threads);
#pragma unroll
    for (int l = 0; l < AT_A_TIME; l++)
      sum += part[l];
  }
  for (; i < n / 2; i += threads)
    sum += source.two(i);
  if (me == 0 && n % 2) sum += source.one(n - 1);
  return sum;
}

/** Two launches: one sum per block, then the sum of these. */
template <typename T, int LOADS, typename Join, typename Source>
__global__ void sums_of_blocks(target_t<T> to, Source source, int64_t n) {
  const T sum = Join::join(own_sum<T, LOADS>(source, n));
  if (threadIdx.x == 0) to.partial[blockIdx.x] = sum;
}
template <typename T, typename Join> __global__ void last_sum(target_t<T> to, int n) {
  T sum = T(0);
  for (int i = (int)threadIdx.x; i < n; i += THREADS)
    sum += to.partial[i];
  sum = Join::join(sum);
  if (threadIdx.x == 0) *to.result = sum;
}

__device__ __forceinline__ void add_to(double *to, double sum) {
  atomicAdd(to, sum);
}
__device__ __forceinline__ void add_to(long long *to, long long sum) {
  atomicAdd((unsigned long long *)to, (unsigned long long)sum);
}

/** One launch: each block adds its sum by an atomic, in varying order. */
template <typename T, int LOADS, typename Join, typename Source>
__global__ void atomics(target_t<T> to, Source source, int64_t n) {
  const T sum = Join::join(own_sum<T, LOADS>(source, n));
  if (threadIdx.x == 0) add_to(to.result, sum);
}

/** One launch: the last block to finish adds all sums, in block order. */
template <typename T, int LOADS, typename Join, typename Source>
__global__ void last_block(target_t<T> to, Source source, int64_t n) {
  __shared__ bool last;
  const T mine = Join::join(own_sum<T, LOADS>(source, n));
  if (threadIdx.x == 0) {
    to.partial[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(to.ended, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  T sum = T(0);
  for (unsigned int i = threadIdx.x; i < gridDim.x; i += THREADS)
    sum += ((volatile T *)to.partial)[i];
  __syncthreads();
  sum = shuffles_t::join(sum);
  if (threadIdx.x == 0) *to.result = sum;
}

/** One cooperative launch, all blocks resident: block 0 adds the sums after a grid barrier. */
template <typename T, int LOADS, typename Join, typename Source>
__global__ void one_grid(target_t<T> to, Source source, int64_t n) {
  const T mine = Join::join(own_sum<T, LOADS>(source, n));
  if (threadIdx.x == 0) to.partial[blockIdx.x] = mine;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x > 0) return;
  T sum = T(0);
  for (unsigned int i = threadIdx.x; i < gridDim.x; i += THREADS)
    sum += ((volatile T *)to.partial)[i];
  sum = shuffles_t::join(sum);
  if (threadIdx.x == 0) *to.result = sum;
}

/* ---- the ladder ---- */

template <typename T> struct work_t {
  target_t<T> to;
  bool made; /* numbers are generated; there is no array */
  T *array, *tree[2];
  int64_t n;
  T expected;
  int64_t most_blocks;
  void *temporary; /* workspace of CUB */
  size_t temporary_bytes;
};

/** How a row is run. */
template <typename T> struct run_t {
  work_t<T> *w;
  lab_launch_t first, second; /* second.kernel is null if there is no second launch */
  const void *source;
  bool adds;     /* to a result that must be 0 beforehand */
  bool together; /* cooperative launch: blocks wait for each other */
};

template <typename T> mg_status_t enqueue(void *arg, cudaStream_t stream) {
  run_t<T> *r = (run_t<T> *)arg;
  if (r->adds) MG_CUDA_TRY(cudaMemsetAsync(r->w->to.result, 0, sizeof(T), stream));
  void *args[] = {&r->w->to, const_cast<void *>(r->source), &r->w->n};
  const dim3 grid((unsigned)r->first.blocks), block(THREADS);
  MG_CUDA_TRY(r->together
                  ? cudaLaunchCooperativeKernel(r->first.kernel, grid, block, args, 0, stream)
                  : cudaLaunchKernel(r->first.kernel, grid, block, args, 0, stream));
  if (!r->second.kernel) return MG_OK;
  int n = (int)r->first.blocks;
  void *more[] = {&r->w->to, &n};
  MG_CUDA_TRY(cudaLaunchKernel(r->second.kernel, dim3(1), dim3(THREADS), more, 0, stream));
  return MG_OK;
}

template <typename T> mg_status_t enqueue_tree(void *arg, cudaStream_t stream) {
  work_t<T> *w = (work_t<T> *)arg;
  const T *from = w->array;
  int turn = 0;
  for (int64_t n = w->n; n > 1; n = (n + 1) / 2) {
    T *to = n == 2 ? w->to.result : w->tree[turn];
    halve<<<(unsigned)(((n + 1) / 2 + THREADS - 1) / THREADS), THREADS, 0, stream>>>(to, from, n);
    MG_CUDA_LAUNCHED("halve");
    from = to;
    turn = 1 - turn;
  }
  return MG_OK;
}

template <typename T> mg_status_t enqueue_cub(void *arg, cudaStream_t stream) {
  work_t<T> *w = (work_t<T> *)arg;
  if (!w->made) {
    MG_CUDA_TRY(cub::DeviceReduce::Sum(w->temporary, w->temporary_bytes, w->array, w->to.result,
                                       w->n, stream));
    return MG_OK;
  }
  const auto made =
      thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), generated_t<T>());
  MG_CUDA_TRY(
      cub::DeviceReduce::Sum(w->temporary, w->temporary_bytes, made, w->to.result, w->n, stream));
  return MG_OK;
}

/** Time a row, check its result, and overwrite the result for the next row. */
template <typename T>
mg_status_t finish_row(lab_t *lab, work_t<T> *w, lab_enqueue_t enqueue, void *arg, double bytes,
                       const char *name, lab_row_t *row) {
  T got;
  snprintf(row->variant, sizeof row->variant, "%s", name);
  row->elements = w->n;
  row->useful = bytes;
  row->flops = 1.0;
  MG_TRY(lab_cuda_time(lab, enqueue, arg, &row->seconds));
  if (row->blocks == 0) MG_TRY(lab_cuda_launched(row));
  MG_CUDA_TRY(cudaMemcpy(&got, w->to.result, sizeof got, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaMemset(w->to.result, 0xff, sizeof got));
  row->error = got == w->expected ? 0.0 : fabs((double)got - (double)w->expected);
  return lab_add(lab, row);
}

template <typename T>
mg_status_t add(lab_t *lab, work_t<T> *w, run_t<T> run, double bytes, const char *name) {
  lab_row_t row = {};
  int resident;
  run.w = w;
  run.first.threads = THREADS;
  MG_TRY(lab_cuda_resident(run.first, &resident));
  const int64_t wanted = (w->n / 2 + THREADS - 1) / THREADS,
                full = (int64_t)resident * lab_card().processors;
  run.first.blocks = wanted < full ? (wanted > 0 ? wanted : 1) : full;
  if (run.first.blocks > w->most_blocks) run.first.blocks = w->most_blocks;
  MG_TRY(lab_cuda_describe(run.first, &row));
  return finish_row(lab, w, enqueue<T>, &run, bytes, name, &row);
}

template <typename T, int LOADS, typename Join, typename Source>
mg_status_t two_launches(lab_t *lab, work_t<T> *w, const Source &source, const char *name) {
  const run_t<T> run = {w,
                        {(const void *)sums_of_blocks<T, LOADS, Join, Source>, 0, 0, 0},
                        {(const void *)last_sum<T, Join>, 0, 0, 0},
                        &source,
                        false,
                        false};
  return add(lab, w, run, Source::bytes, name);
}

/* Does the device support cooperative launches? */
bool grids_can_wait() {
  int device, can = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device) == cudaSuccess && can;
}

template <typename T, typename Source>
mg_status_t joins(lab_t *lab, work_t<T> *w, const Source &source) {
  MG_TRY((two_launches<T, 0, tree_t>(lab, w, source, "tree in shared memory")));
  MG_TRY((two_launches<T, 0, early_exit_t>(lab, w, source, "early exit")));
  MG_TRY((two_launches<T, 1, early_exit_t>(lab, w, source, "16-byte loads")));
  MG_TRY((two_launches<T, 2, early_exit_t>(lab, w, source, "two of them")));
  MG_TRY((two_launches<T, 4, early_exit_t>(lab, w, source, "four of them")));
  MG_TRY((two_launches<T, 4, shuffles_t>(lab, w, source, "shuffles")));
  MG_TRY((two_launches<T, 4, fourths_t>(lab, w, source, "fourths")));
  MG_TRY((two_launches<T, 4, side_by_side_t>(lab, w, source, "shuffles side by side")));
  MG_TRY((two_launches<T, 4, searched_t>(lab, w, source, "in the search's order")));
  MG_TRY((two_launches<T, 4, one_warp_t>(lab, w, source, "one warp does the rest")));
  MG_TRY((two_launches<T, 4, wide_t<32, 8>>(lab, w, source, "one warp, steps of 32, 8")));
  MG_TRY((two_launches<T, 4, wide_t<8, 8, 4>>(lab, w, source, "one warp, steps of 8, 8, 4")));
  MG_TRY((two_launches<T, 4, wide_t<4, 4, 4, 4>>(lab, w, source, "one warp, steps of 4")));
  const lab_launch_t none = {};
  const run_t<T> by_atomics = {
      w, {(const void *)atomics<T, 4, one_warp_t, Source>, 0, 0, 0}, none, &source, true, false};
  MG_TRY(add(lab, w, by_atomics, Source::bytes, "one launch, atomics"));
  const run_t<T> by_last = {w,     {(const void *)last_block<T, 4, one_warp_t, Source>, 0, 0, 0},
                            none,  &source,
                            false, false};
  MG_TRY(add(lab, w, by_last, Source::bytes, "one launch, last block"));
  const run_t<T> by_grid = {
      w, {(const void *)one_grid<T, 4, one_warp_t, Source>, 0, 0, 0}, none, &source, false, true};
  return grids_can_wait() ? add(lab, w, by_grid, Source::bytes, "one launch, a grid that waits")
                          : MG_OK;
}

template <typename T> mg_status_t arrays(lab_t *lab, work_t<T> *w, const char *type) {
  lab_table(lab, "reduce", "sum of %lld numbers of type %s", (long long)w->n, type);
  lab_row_t row = {}, cub_row = {};
  MG_TRY(lab_cuda_describe({(const void *)halve<T>, (w->n / 2 + THREADS - 1) / THREADS, THREADS, 0},
                           &row));
  /* Reads n and writes n / 2, then half as many, and so on. */
  row.moved = 3.0 * sizeof(T);
  MG_TRY(finish_row(lab, w, enqueue_tree<T>, w, sizeof(T), "tree in global memory", &row));
  const array_t<T> source = {w->array};
  MG_TRY(joins(lab, w, source));
  return finish_row(lab, w, enqueue_cub<T>, w, sizeof(T), "CUB", &cub_row);
}

template <typename T> __global__ void fill(T *at, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) at[i] = (T)lab_value(i);
}

/** One size and type: memory, expected sum, table. */
template <typename T> mg_status_t size(lab_t *lab, int64_t n, const char *type, bool made) {
  work_t<T> w = {};
  lab_array_t memory, small;
  const int64_t blocks = 64ll * lab_card().processors;
  w.n = n;
  w.most_blocks = blocks;
  w.made = made;
  MG_TRY(enqueue_cub<T>(&w, nullptr)); /* a call without workspace returns the required size */
  MG_TRY(memory.make(made ? 1 : 2 * n + 16));
  MG_TRY(small.make(blocks + 16 + (int64_t)w.temporary_bytes / 8 + 1));
  w.to = {(T *)small.at + 16, (T *)small.at, (unsigned int *)(small.at + 1)};
  w.temporary = small.at + 16 + blocks;
  MG_CUDA_TRY(cudaMemset(small.at, 0, 16 * sizeof(double)));
  for (int64_t i = 0; i < n; i++)
    w.expected += made ? generated_t<T>()(i) : (T)lab_value(i);
  if (made) {
    lab_row_t cub_row = {};
    lab_table(lab, "reduce", "sum of %lld numbers that are made, not read, of type %s",
              (long long)n, type);
    MG_TRY(joins(lab, &w, generated_t<T>()));
    return finish_row(lab, &w, enqueue_cub<T>, &w, 0.0, "CUB", &cub_row);
  }
  w.array = (T *)memory.at;
  w.tree[0] = w.array + n;
  w.tree[1] = w.tree[0] + (n + 1) / 2;
  fill<<<(unsigned)((n + 255) / 256), 256>>>(w.array, n);
  MG_CUDA_LAUNCHED("fill");
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return arrays(lab, &w, type);
}
} // namespace

extern "C" mg_status_t lab_reduce_cuda(lab_t *lab) {
  const int64_t large = lab->bytes / 8, small = (1 << 17) + 1;
  MG_TRY(size<double>(lab, large, "double", false));
  MG_TRY(size<long long>(lab, large, "64-bit integer", false));
  MG_TRY(size<double>(lab, small, "double", false));
  MG_TRY(size<long long>(lab, small, "64-bit integer", false));
  MG_TRY(size<double>(lab, large, "double", true));
  MG_TRY(size<long long>(lab, large, "64-bit integer", true));
  MG_TRY(lab_reduce_joins(lab));
  return lab_reduce_solver(lab);
}
