/* Stores of a test pattern into the memory of another GPU. */
#include "cuda/runtime/peer_link.h"

static_assert((int)MG_CUDA_HANDLE_BYTES == MG_PEER_HANDLE_BYTES, "the same handles");

const char *mg_cuda_peer_open(const unsigned char uuid[16],
                              const unsigned char handle[MG_PEER_HANDLE_BYTES], void **memory) {
  if (!mg_cuda_has_peer_access(uuid)) return "no peer access, or the GPU is hidden";
  return mg_cuda_window_open(handle, memory) ? nullptr : "CUDA IPC cannot open its memory";
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

mg_status_t mg_cuda_peer_store(void *memory, size_t bytes, uint64_t pattern) {
  store_pattern<<<PATTERN_BLOCKS_PER_SM * mg_cuda.sms, PATTERN_THREADS, 0, mg_cuda.stream>>>(
      (ulonglong2 *)memory, (int64_t)(bytes / sizeof(ulonglong2)), pattern);
  MG_CUDA_LAUNCHED("store_pattern");
  return MG_OK;
}

mg_status_t mg_cuda_peer_check(const void *memory, size_t bytes, uint64_t pattern,
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
