/* Windows: CUDA IPC. */
#include "cuda.h"
#include <cstring>
extern "C" {
#include "cuda/peer.h"
}

static_assert(sizeof(cudaIpcMemHandle_t) == MG_CUDA_HANDLE_BYTES, "handles travel as bytes");

mg_status_t mg_cuda_window_alloc(size_t bytes, void **memory,
                                 unsigned char handle[MG_CUDA_HANDLE_BYTES]) {
  cudaIpcMemHandle_t ipc;
  MG_CUDA_TRY(cudaMalloc(memory, bytes));
  MG_CUDA_TRY(cudaMemset(*memory, 0, bytes));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_CUDA_TRY(cudaIpcGetMemHandle(&ipc, *memory));
  memcpy(handle, &ipc, sizeof ipc);
  return MG_OK;
}

void mg_cuda_window_release(void *memory) {
  (void)cudaFree(memory);
}

bool mg_cuda_reaches(const unsigned char uuid[16]) {
  int own = 0, n = 0, reaches = 0;
  if (cudaGetDevice(&own) != cudaSuccess || cudaGetDeviceCount(&n) != cudaSuccess) return false;
  for (int device = 0; device < n; device++) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    if (memcmp(&properties.uuid, uuid, 16) != 0) continue;
    if (device == own) return true;
    return cudaDeviceCanAccessPeer(&reaches, own, device) == cudaSuccess && reaches;
  }
  return false;
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
