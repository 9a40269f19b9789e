/* Programmatic dependent launch (CUDA programming guide): a kernel starts on the SMs while its
 * predecessor on the stream still runs. It does its independent work, then waits for the
 * predecessor to complete.
 *
 * A half sweep of a small level takes 2 us. Less than a quarter of that passes between the load of
 * the neighbors and the end. The rest is the launch, kernel arguments, index arithmetic, the betas
 * and a division, none of which depends on the previous sweep. docs/performance.md gives the gain.
 *
 * Kernels with one or two blocks per SM that fill all SMs at once use ordinary launches
 * (fused/sweeps.cu, fv4/march.cu). Their early blocks would pile up on the SMs that have room
 * first: F-cycles of 512^3 took 20.6 ms with dependent launches instead of 19.5. */
#ifndef MG_CUDA_RUNTIME_DEPENDENT_LAUNCH_H
#define MG_CUDA_RUNTIME_DEPENDENT_LAUNCH_H

#include "cuda/cuda.h"

/** Wait until the predecessor of a kernel launched by mg_cuda_launch_dependent has completed.
 *
 *  Every active thread calls this exactly once: after loading data that no kernel of a cycle writes
 *  (coefficients, diagonals, copy lists), before any other access. At least one thread of a launch
 *  must call it, on any level.
 *
 *  On return the predecessor and all kernels before it have completed, because a kernel starts only
 *  after the calling threads of its predecessor have returned from here. No-op with ordinary
 *  launches and before sm_90. */
static __device__ __forceinline__ void mg_cuda_wait_dependency(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/** Wait as mg_cuda_wait_dependency does, in a kernel that was launched to run beside its
 * predecessor, an exchange (mg_cuda_start_dependents). Only threads that read halo ghosts call it.
 * At least one does, so that the next kernel finds both completed. */
static __device__ __forceinline__ void mg_cuda_wait_exchange(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/** Let the next kernel start, if it may, once all blocks of this one have called this: none of them
 *  needs an SM that a waiting block of the next kernel occupies. */
static __device__ __forceinline__ void mg_cuda_start_dependents(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/** Force evaluation before mg_cuda_wait_dependency; the compiler could otherwise defer it. */
static __device__ __forceinline__ void mg_cuda_force(mg_real_t &x) {
#ifdef MG_FLOAT
  asm volatile("" : "+f"(x));
#else
  asm volatile("" : "+d"(x));
#endif
}
static __device__ __forceinline__ void mg_cuda_force(mg_places7_t &s) {
#pragma unroll
  for (int d = 0; d < 3; d++)
    asm volatile("" : "+r"(s.low[d]), "+r"(s.high[d]));
}

/** Whether the next launch depends only on the previous launch, so that it may start early. */
inline bool mg_cuda_may_launch_dependent(void) {
  const bool may = mg_cuda.dependent_launches && mg_cuda.stream_state == MG_CUDA_ONE_STREAM;
  if (mg_cuda.stream_state == MG_CUDA_JOINED) mg_cuda.stream_state = MG_CUDA_ONE_STREAM;
  return may;
}

/** Make the next launch an ordinary one: work other than our launches was enqueued before it. */
inline void mg_cuda_break_dependence(void) {
  if (mg_cuda.stream_state == MG_CUDA_ONE_STREAM) mg_cuda.stream_state = MG_CUDA_JOINED;
}

/** The same after an ordinary launch, on which the next one depends. */
inline bool mg_cuda_may_launch_next_dependent(void) {
  (void)mg_cuda_may_launch_dependent();
  return mg_cuda_may_launch_dependent();
}

/** Launch a kernel that calls mg_cuda_wait_dependency on the current queue, with dynamic shared
 *  memory. As with <<<>>>, a failure is left as the last error, for MG_CUDA_LAUNCHED. */
template <typename... P, typename... A>
inline void mg_cuda_launch_dependent_shared(void (*kernel)(P...), dim3 grid, dim3 block,
                                            size_t shared_bytes, const A &...args) {
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t config = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = mg_cuda.stream;
  config.attrs = &early;
  config.numAttrs = mg_cuda_may_launch_dependent() ? 1 : 0;
  (void)cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);
}

/** The same without dynamic shared memory; also checks for errors. */
template <typename... P, typename... A>
inline mg_status_t mg_cuda_launch_dependent(const char *name, void (*kernel)(P...), dim3 grid,
                                            dim3 block, const A &...args) {
  mg_cuda_launch_dependent_shared(kernel, grid, block, 0, args...);
  MG_CUDA_LAUNCHED(name);
  return MG_OK;
}

#endif
