/* Windows by CUDA IPC. */
#include "cuda/cuda.h"
#include <cstring>
extern "C" {
#include "cuda/runtime/window.h"
}

static_assert(sizeof(cudaIpcMemHandle_t) == MG_CUDA_HANDLE_BYTES, "handles are sent as bytes");

static mg_status_t zero(void *memory, size_t bytes) {
  MG_CUDA_TRY(cudaMemset(memory, 0, bytes));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t mg_cuda_window_alloc(size_t bytes, void **memory,
                                 unsigned char handle[MG_CUDA_HANDLE_BYTES]) {
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

void mg_cuda_window_release(void *memory) {
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

bool mg_cuda_has_peer_access(const unsigned char uuid[16]) {
  const bool has_access = query_peer_access(uuid);
  (void)cudaGetLastError(); /* a failed query is a valid answer; clear it so that the next launch
                               does not report it */
  return has_access;
}

bool mg_cuda_window_open(const unsigned char handle[MG_CUDA_HANDLE_BYTES], void **memory) {
  cudaIpcMemHandle_t ipc;
  memcpy(&ipc, handle, sizeof ipc);
  if (cudaIpcOpenMemHandle(memory, ipc, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) return true;
  (void)cudaGetLastError();
  *memory = nullptr;
  return false;
}

void mg_cuda_window_close(void *memory) {
  (void)cudaIpcCloseMemHandle(memory);
}

enum { PROBE_DOUBLES = MG_CUDA_PROBE_BYTES / sizeof(double) };

/* All doubles of all test patterns differ, and none is zero. */
static __host__ __device__ double probe_value(int number, int at) {
  return 1.0 + (double)number * PROBE_DOUBLES + at;
}

static __global__ void store_probe(double *probe, int number) {
  probe[threadIdx.x] = probe_value(number, (int)threadIdx.x);
}

mg_status_t mg_cuda_window_store_probe(void *probe, int number) {
  store_probe<<<1, PROBE_DOUBLES, 0, mg_cuda.stream>>>((double *)probe, number);
  MG_CUDA_LAUNCHED("window_probe");
  MG_CUDA_TRY(cudaStreamSynchronize(mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_window_check_probe(void *probe, int number, bool *arrived) {
  double found[PROBE_DOUBLES];
  MG_CUDA_TRY(cudaMemcpy(found, probe, sizeof found, cudaMemcpyDeviceToHost));
  *arrived = true;
  for (int at = 0; at < (int)PROBE_DOUBLES; at++)
    *arrived = *arrived && found[at] == probe_value(number, at);
  return zero(probe, sizeof found);
}
