#include "lab/lab_cuda.h"

namespace {
struct {
  cudaStream_t stream;
  cudaEvent_t start, end;
  lab_card_t card;
} state;

enum { MAX_RUNS = 1000 };

template <typename T> __global__ void fill_values(T *at, int64_t n, int64_t first) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) at[i] = (T)lab_value(first + i);
}

/* The baseline of every ladder: a copy with 16 bytes per thread and as many blocks as needed. */
__global__ void copy_pairs(double2 *__restrict__ to, const double2 *__restrict__ from, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

int64_t blocks_for(int64_t n, int threads) {
  return (n + threads - 1) / threads;
}

mg_status_t read_card(lab_t *lab) {
  int device, reserved, runtime = 0;
  cudaDeviceProp p;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaGetDeviceProperties(&p, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device));
  MG_CUDA_TRY(cudaRuntimeGetVersion(&runtime));
  state.card = {p.multiProcessorCount, p.maxThreadsPerMultiProcessor, p.sharedMemPerBlockOptin,
                (size_t)reserved};
  snprintf(lab->machine, sizeof lab->machine, "%.80s, %d SMs, %.0f MB of L2, CUDA %d.%d", p.name,
           p.multiProcessorCount, 1e-6 * p.l2CacheSize, runtime / 1000, runtime % 1000 / 10);
  lab->threads = 1;
  lab->cache_bytes = p.l2CacheSize;
  return MG_OK;
}

mg_status_t measure_copy(lab_t *lab) {
  const int64_t n = lab->bytes / 8;
  lab_array_t from, to;
  MG_TRY(from.make(n));
  MG_TRY(to.make(n));
  MG_TRY(lab_cuda_fill(from.at, n));
  int64_t pairs = n / 2;
  void *args[] = {&to.at, &from.at, &pairs};
  lab_row_t row = {};
  const lab_launch_t launch = {(const void *)copy_pairs, blocks_for(pairs, 512), 512, 0};
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(lab_cuda_wrong(to.at, 2 * pairs, lab_values_t{0, 1}, &row.error));
  if (row.error > 0.0) return mg_error(MG_ERR_DEVICE, "a copy within the device is wrong");
  lab->copy_gb_per_s = 32e-9 * (double)pairs / row.seconds;
  return MG_OK;
}
} // namespace

lab_card_t lab_card() {
  return state.card;
}

extern "C" int lab_cuda_devices(void) {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

extern "C" mg_status_t lab_open_cuda(lab_t *lab) {
  int code;
  MG_CUDA_TRY(cudaSetDevice(0));
  MG_TRY(mg_cuda_compiled_arch(&code)); /* check for code that runs on this GPU */
  MG_CUDA_TRY(cudaStreamCreateWithFlags(&state.stream, cudaStreamNonBlocking));
  MG_CUDA_TRY(cudaEventCreate(&state.start));
  MG_CUDA_TRY(cudaEventCreate(&state.end));
  MG_TRY(read_card(lab));
  return measure_copy(lab);
}

mg_status_t lab_array_t::make(int64_t n) {
  const cudaError_t error = cudaMalloc((void **)&at, (size_t)n * sizeof(double));
  if (error != cudaErrorMemoryAllocation) {
    MG_CUDA_TRY(error);
    return MG_OK;
  }
  (void)cudaGetLastError();
  return mg_error(MG_ERR_MEMORY, "the GPU has no %.3g GB for arrays; reduce --mib",
                  1e-9 * (double)n * sizeof(double));
}

/* Peak device memory of the ladders. The grid of the smooth ladder has a power of two as side
 * length, so it may be much larger than an array. The solver's levels have nine vectors of up to
 * twice the array size, with ghosts and coarser levels. The rest is code and small arrays. */
static double all_needed(int64_t bytes) {
  const double solver = 26.0, rest = 256e6;
  return rest + fmax(solver * (double)bytes, lab_smooth_needs(bytes));
}

extern "C" mg_status_t lab_cuda_default(int64_t max_bytes, int64_t *bytes) {
  const int64_t mib = 1 << 20;
  size_t free, all;
  MG_CUDA_TRY(cudaSetDevice(0));
  MG_CUDA_TRY(cudaMemGetInfo(&free, &all));
  for (*bytes = max_bytes; *bytes >= mib; *bytes -= mib)
    if (all_needed(*bytes) <= (double)free) return MG_OK;
  return mg_error(MG_ERR_MEMORY, "the GPU has only %.3g GB free; use --device=cpu",
                  1e-9 * (double)free);
}

namespace {
template <typename T> mg_status_t fill_any(T *at, int64_t n, int64_t first) {
  fill_values<<<(unsigned)blocks_for(n, 256), 256, 0, state.stream>>>(at, n, first);
  MG_CUDA_LAUNCHED("fill_values");
  return MG_OK;
}
} // namespace

mg_status_t lab_cuda_fill(double *at, int64_t n, int64_t first) {
  return fill_any(at, n, first);
}

mg_status_t lab_cuda_fill(float *at, int64_t n, int64_t first) {
  return fill_any(at, n, first);
}

mg_status_t lab_cuda_resident(const lab_launch_t &l, int *blocks) {
  if (l.shared > 0)
    MG_CUDA_TRY(
        cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)l.shared));
  MG_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, l.kernel, l.threads, l.shared));
  return MG_OK;
}

mg_status_t lab_cuda_describe(const lab_launch_t &l, lab_row_t *row) {
  cudaFuncAttributes attributes;
  int resident;
  MG_TRY(lab_cuda_resident(l, &resident));
  MG_CUDA_TRY(cudaFuncGetAttributes(&attributes, l.kernel));
  row->blocks = l.blocks;
  row->threads = l.threads;
  row->registers = attributes.numRegs;
  row->shared = (int)(attributes.sharedSizeBytes + l.shared);
  row->occupancy = (double)resident * l.threads / state.card.threads_per_processor;
  return MG_OK;
}

mg_status_t lab_cuda_time(const lab_t *lab, lab_enqueue_t enqueue, void *arg, double *seconds,
                          cudaStream_t stream) {
  if (!stream) stream = state.stream;
  double took[MAX_RUNS], all = 0.0;
  lab_launches_forget();
  MG_TRY(enqueue(arg, stream)); /* warm-up */
  int n = 0;
  while (n < MAX_RUNS && (n < lab->min_runs || all < lab->min_seconds)) {
    float ms;
    MG_CUDA_TRY(cudaEventRecord(state.start, stream));
    MG_TRY(enqueue(arg, stream));
    MG_CUDA_TRY(cudaEventRecord(state.end, stream));
    MG_CUDA_TRY(cudaEventSynchronize(state.end));
    MG_CUDA_TRY(cudaEventElapsedTime(&ms, state.start, state.end));
    took[n] = 1e-3 * ms;
    all += took[n++];
  }
  *seconds = lab_median(took, n);
  return MG_OK;
}

mg_status_t lab_cuda_launch(const lab_launch_t &l, void **args, cudaStream_t stream) {
  const dim3 grid((unsigned)(l.blocks / l.rows / l.planes), (unsigned)l.rows, (unsigned)l.planes);
  MG_CUDA_TRY(cudaLaunchKernel(l.kernel, grid, dim3((unsigned)l.threads), args, l.shared, stream));
  return MG_OK;
}

namespace {
struct one_launch_t {
  const lab_launch_t *launch;
  void **args;
};

mg_status_t enqueue_one(void *arg, cudaStream_t stream) {
  const one_launch_t *one = (const one_launch_t *)arg;
  return lab_cuda_launch(*one->launch, one->args, stream);
}
} // namespace

mg_status_t lab_cuda_measure(const lab_t *lab, const lab_launch_t &launch, void **args,
                             lab_row_t *row) {
  MG_TRY(lab_cuda_describe(launch, row));
  one_launch_t one = {&launch, args};
  return lab_cuda_time(lab, enqueue_one, &one, &row->seconds);
}
