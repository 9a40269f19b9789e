/* Bytes that counted kernels (lab/access.h) load and store on a CUDA device. */
#ifndef COUNT_CUDA_H
#define COUNT_CUDA_H

#include "lab/lab_cuda.h"

namespace {
__device__ unsigned long long bytes_requested;

__device__ const void *lab_count_load(const void *at, size_t bytes) {
  atomicAdd(&bytes_requested, (unsigned long long)bytes);
  return at;
}
__device__ void *lab_count_store(void *at, size_t bytes) {
  atomicAdd(&bytes_requested, (unsigned long long)bytes);
  return at;
}

/** Bytes per element that counted kernels load and store; `enqueue` launches them.
 *  @return MG_OK, MG_ERR_DEVICE (logged) */
mg_status_t lab_cuda_requested(lab_enqueue_t enqueue, void *arg, int64_t elements,
                               double *per_element) {
  unsigned long long bytes = 0;
  MG_CUDA_TRY(cudaMemcpyToSymbol(bytes_requested, &bytes, sizeof bytes));
  MG_TRY(enqueue(arg, nullptr));
  MG_CUDA_TRY(cudaMemcpyFromSymbol(&bytes, bytes_requested, sizeof bytes));
  *per_element = (double)bytes / (double)elements;
  return MG_OK;
}
} // namespace

#endif
