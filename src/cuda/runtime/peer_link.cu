/* Memory that kernels of other processes store into, by CUDA IPC, and stores of a test pattern. */
#include "cuda/cuda.h"
#include <cstring>

static_assert(sizeof(cudaIpcMemHandle_t) == MG_PEER_HANDLE_BYTES, "handles are sent as bytes");

static mg_status_t zero(void *memory, size_t bytes) {
  MG_CUDA_TRY(cudaMemset(memory, 0, bytes));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

static mg_status_t alloc(size_t bytes, void **memory, unsigned char handle[MG_PEER_HANDLE_BYTES]) {
  cudaIpcMemHandle_t ipc;
  MG_CUDA_TRY(cudaMalloc(memory, bytes));
  const mg_status_t status = zero(*memory, bytes);
  if (status != MG_OK) {
    (void)cudaFree(*memory);
    return status;
  }
  memset(&ipc, 0, sizeof ipc);
  if (cudaIpcGetMemHandle(&ipc, *memory) != cudaSuccess) {
    (void)cudaGetLastError();
    memset(&ipc, 0, sizeof ipc);
  }
  memcpy(handle, &ipc, sizeof ipc);
  return MG_OK;
}

static void release(void *memory) {
  (void)cudaFree(memory);
}

static bool query_peer_access(const unsigned char uuid[16]) {
  int own = 0, n = 0, has_access = 0;
  if (cudaGetDevice(&own) != cudaSuccess || cudaGetDeviceCount(&n) != cudaSuccess) return false;
  for (int device = 0; device < n; device++) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    if (memcmp(&properties.uuid, uuid, 16) != 0) continue;
    if (device == own) return true;
    return cudaDeviceCanAccessPeer(&has_access, own, device) == cudaSuccess && has_access;
  }
  return false;
}

static bool has_peer_access(const unsigned char uuid[16]) {
  const bool has_access = query_peer_access(uuid);
  (void)cudaGetLastError(); /* a failed query is a valid answer; clear it so that the next launch
                               does not report it */
  return has_access;
}

static const char *open(const unsigned char uuid[16],
                        const unsigned char handle[MG_PEER_HANDLE_BYTES], void **memory) {
  cudaIpcMemHandle_t ipc;
  memcpy(&ipc, handle, sizeof ipc);
  *memory = nullptr;
  if (!has_peer_access(uuid)) return "no peer access, or the GPU is hidden";
  if (cudaIpcOpenMemHandle(memory, ipc, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess)
    return nullptr;
  (void)cudaGetLastError();
  *memory = nullptr;
  return "CUDA IPC cannot open its memory";
}

static void close(void *memory) {
  (void)cudaIpcCloseMemHandle(memory);
}

/* splitmix64: every bit of a word depends on its number and on that of the pattern. */
static __host__ __device__ uint64_t pattern_word(uint64_t pattern, int64_t at) {
  uint64_t z = ((pattern << 32) + (uint64_t)at + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/* Two blocks of 1024 threads per SM; a thread stores two words at a time. */
enum { PATTERN_THREADS = 1024, PATTERN_BLOCKS_PER_SM = 2 };

static __global__ void __launch_bounds__(PATTERN_THREADS)
    store_pattern(ulonglong2 *memory, int64_t n_pairs, uint64_t pattern) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < n_pairs; p += step)
    memory[p] = make_ulonglong2(pattern_word(pattern, 2 * p), pattern_word(pattern, 2 * p + 1));
}

/* Count the words that differ in result[0]; their lowest number in result[1]. */
static __global__ void __launch_bounds__(PATTERN_THREADS)
    check_pattern(const uint64_t *memory, int64_t n, uint64_t pattern, unsigned long long *result) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    if (memory[i] != pattern_word(pattern, i)) {
      atomicAdd(&result[0], 1ULL);
      atomicMin(&result[1], (unsigned long long)i);
    }
}

static mg_status_t store(void *memory, size_t bytes, uint64_t pattern) {
  store_pattern<<<PATTERN_BLOCKS_PER_SM * mg_cuda.sms, PATTERN_THREADS, 0, mg_cuda.stream>>>(
      (ulonglong2 *)memory, (int64_t)(bytes / sizeof(ulonglong2)), pattern);
  MG_CUDA_LAUNCHED("store_pattern");
  return MG_OK;
}

static mg_status_t check(const void *memory, size_t bytes, uint64_t pattern,
                         mg_word_errors_t *errors) {
  unsigned long long *const result = mg_cuda.reduction;
  const uint64_t *const words = (const uint64_t *)memory;
  *errors = mg_word_errors_t();
  MG_CUDA_TRY(cudaMemsetAsync(&result[0], 0, sizeof *result, mg_cuda.stream));
  MG_CUDA_TRY(cudaMemsetAsync(&result[1], 0xff, sizeof *result, mg_cuda.stream));
  check_pattern<<<PATTERN_BLOCKS_PER_SM * mg_cuda.sms, PATTERN_THREADS, 0, mg_cuda.stream>>>(
      words, (int64_t)(bytes / sizeof *words), pattern, result);
  MG_CUDA_LAUNCHED("check_pattern");
  MG_CUDA_TRY(cudaMemcpyAsync(mg_cuda.reduction_host, result, 2 * sizeof *result,
                              cudaMemcpyDeviceToHost, mg_cuda.stream));
  MG_TRY(mg_cuda_finish());
  if (mg_cuda.reduction_host[0] == 0) return MG_OK;
  errors->n = (int64_t)mg_cuda.reduction_host[0];
  errors->first = (int64_t)mg_cuda.reduction_host[1];
  errors->expected = pattern_word(pattern, errors->first);
  MG_CUDA_TRY(cudaMemcpy(&errors->found, words + errors->first, sizeof errors->found,
                         cudaMemcpyDeviceToHost));
  return MG_OK;
}

const mg_backend_peer_t mg_cuda_peer = {alloc, release, open, close, store, check};
