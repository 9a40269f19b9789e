/* Records kernel launches of the solver and of libraries. The program is linked so that every
 * launch passes through this file (-Wl,--wrap in lab/local.am). */
#include "lab/lab_cuda.h"

namespace {
/* The launch with the most threads since the last lab_launches_forget: the main kernel of an
 * operation, rather than its walls or the last step of a sum. */
lab_launch_t largest;

void note(const void *kernel, dim3 grid, dim3 block, size_t shared) {
  const int64_t blocks = (int64_t)grid.x * grid.y * grid.z;
  const int threads = (int)(block.x * block.y * block.z);
  if (blocks * threads > largest.blocks * largest.threads)
    largest = {kernel, blocks, threads, shared};
}
} // namespace

void lab_launches_forget() {
  largest = {};
}

mg_status_t lab_cuda_launched(lab_row_t *row) {
  return largest.kernel ? lab_cuda_describe(largest, row) : MG_OK;
}

/* Up to CUDA 12, a <<< >>> launch calls the first function, then the second. Older libraries lack
 * the second. */
extern "C" {
cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream) {
  note(kernel, grid, block, shared);
  return __real_cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

#if CUDART_VERSION >= 12010
cudaError_t __attribute__((weak))
__real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t stream) {
  note((const void *)kernel, grid, block, shared);
  return __real___cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}
#endif

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **args) {
  note(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes);
  return __real_cudaLaunchKernelExC(config, kernel, args);
}
}
