/* Kernels in a row: each is brought to the multiprocessors while the one before it on the stream is
 * at work, does what does not depend on that one, and waits for its end ("programmatic dependent
 * launch" of the CUDA programming guide).
 *
 * A small level's half sweep takes two microseconds. Less than a fourth of them goes by between the
 * load of its neighbours and its end: the rest is the launch, the kernel's arguments, where its
 * cell lies, its betas and a division, none of which waits for the sweep before. What these
 * launches gain is in docs/performance.md.
 *
 * Kernels whose blocks fill a multiprocessor, one or two of them, and all multiprocessors at a time
 * are launched as usual (temporal.cu, fv4_march.cu). Early blocks of theirs would gather where
 * there is room first: F-cycles of 512^3 took 20.6 ms with them instead of 19.5. */
#ifndef MG_CUDA_DEPENDENT_LAUNCH_H
#define MG_CUDA_DEPENDENT_LAUNCH_H

#include "cuda/cuda.h"

/** In a kernel that mg_cuda_launch_dependent launches, all threads that do anything call it once:
 * after they have loaded what no kernel of a cycle writes (coefficients, diagonals, lists of
 * copies), before they read or write anything else. One thread of a launch calls it at the least,
 * whatever the level. When it returns the kernel in front has ended, and all those before it: this
 * one did not come until those threads of that one had returned from here. Nothing in kernels that
 * are launched otherwise, and on cards before sm_90. */
static __device__ __forceinline__ void mg_cuda_wait_dependency(void) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/** Before mg_cuda_wait_dependency: have these by then, where a compiler would take its time. */
static __device__ __forceinline__ void mg_cuda_have(double &x) {
  asm volatile("" : "+d"(x));
}
static __device__ __forceinline__ void mg_cuda_have(mg_places7_t &s) {
#pragma unroll
  for (int d = 0; d < 3; d++)
    asm volatile("" : "+r"(s.low[d]), "+r"(s.high[d]));
}

/** Does what is launched now follow the launch before it, and nothing else? */
inline bool mg_cuda_may_launch_dependent(void) {
  const bool may = mg_cuda.dependent_launches && mg_cuda.queues == MG_CUDA_ONE_QUEUE;
  if (mg_cuda.queues == MG_CUDA_JOINED) mg_cuda.queues = MG_CUDA_ONE_QUEUE;
  return may;
}

/** What comes next follows something that is no launch of ours. */
inline void mg_cuda_break_dependence(void) {
  if (mg_cuda.queues == MG_CUDA_ONE_QUEUE) mg_cuda.queues = MG_CUDA_JOINED;
}

/** Launch a kernel that calls mg_cuda_wait_dependency, on the current queue. As with <<<>>> a
 * failure is the last error, for MG_CUDA_LAUNCHED. */
template <typename... P, typename... A>
inline void mg_cuda_launch_dependent(void (*kernel)(P...), dim3 grid, dim3 block,
                                     const A &...args) {
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t config = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = mg_cuda.stream;
  config.attrs = &early;
  config.numAttrs = mg_cuda_may_launch_dependent() ? 1 : 0;
  (void)cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);
}

#endif
