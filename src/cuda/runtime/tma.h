/* TMA copies of boxes of cells from a level to shared memory (sm_90 and later).
 *
 * One thread requests a box. The copy is asynchronous; an mbarrier ("arrival") counts its bytes,
 * and the threads of the block wait on it. Elements outside the array arrive as zero. The first
 * element of a box, coordinates included, must be 16-byte aligned in memory. Otherwise the copy
 * fails with an illegal instruction.
 *
 * NVIDIA, CUDA C++ Programming Guide, "Tensor Memory Access"; PTX ISA, cp.async.bulk.tensor. */
#ifndef MG_CUDA_RUNTIME_TMA_H
#define MG_CUDA_RUNTIME_TMA_H

#include "cuda/runtime/shared_value.h"

/** Tensor maps and the PTX of their copies require CUDA 12. */
#define MG_CUDA_HAS_TMA (CUDART_VERSION >= 12000)
#if MG_CUDA_HAS_TMA && __CUDA_ARCH__ >= 900
#define MG_CUDA_BOX_CODE 1
#else
#define MG_CUDA_BOX_CODE 0
#endif
#define MG_BOX_ASM                                                                                 \
  if constexpr (MG_CUDA_BOX_CODE) asm volatile
#if MG_CUDA_HAS_TMA
#include <cuda.h> /* CUtensorMap; libcuda is not linked */
#else
struct CUtensorMap {};
#endif

/** Array of cells for a tensor map. */
struct mg_box_array_t {
  const void *from; /**< element (0, 0, 0); 16-byte aligned */
  int bytes;        /**< bytes per element: 8 for double, 4 for float */
  int64_t extent[3];
  int64_t jstride, kstride; /**< in elements; multiples of 16 bytes */
};

/** Whether the device and this build support TMA boxes. The result is cached.
 *  @return MG_OK, MG_ERR_DEVICE */
mg_status_t mg_cuda_has_tma(bool *has);

/** Encode the tensor map for boxes of width x rows x 1 elements; width and rows are at most 256.
 *  @return MG_OK, MG_ERR_DEVICE if the driver rejects it */
mg_status_t mg_cuda_tma_map(const mg_box_array_t *array, int width, int rows, CUtensorMap *map);

/** Start the copy of the box at (i, j, k) to 128-byte aligned shared memory. Its bytes are counted
 *  on `arrived`. */
static __device__ __forceinline__ void mg_tma_load(void *to, const CUtensorMap *map, int i, int j,
                                                   int k, uint64_t *arrived) {
  MG_BOX_ASM("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
             "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(mg_shared_address(to)),
             "l"(map), "r"(mg_shared_address(arrived)), "r"(i), "r"(j), "r"(k)
             : "memory");
}

/** Order earlier writes to shared memory before later copies to the same place. */
static __device__ __forceinline__ void mg_tma_fence(void) {
  MG_BOX_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/** Initialize n arrivals, each of `threads` threads. Called by one thread; a block barrier must
 *  follow. */
static __device__ __forceinline__ void mg_mbarrier_create(uint64_t *arrived, int n,
                                                          unsigned threads) {
  for (int b = 0; b < n; b++)
    MG_BOX_ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mg_shared_address(arrived + b)),
               "r"(threads)
               : "memory");
  MG_BOX_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
  MG_BOX_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/** Arrive. Earlier accesses of this thread precede later ones of threads that wait. */
static __device__ __forceinline__ void mg_mbarrier_arrive(uint64_t *arrived) {
  MG_BOX_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mg_shared_address(arrived))
             : "memory");
}

/** Add `bytes` to the bytes that the current phase of the arrival waits for. */
static __device__ __forceinline__ void mg_mbarrier_expect(uint64_t *arrived, unsigned bytes) {
  MG_BOX_ASM(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mg_shared_address(arrived)),
      "r"(bytes)
      : "memory");
}

/** Wait until all threads and all expected bytes have arrived. The parity is 0 for the first use of
 * an arrival, 1 for the second, then 0 again. */
static __device__ __forceinline__ void mg_mbarrier_wait(uint64_t *arrived, unsigned parity) {
  unsigned done = !MG_CUDA_BOX_CODE;
  while (!done)
    MG_BOX_ASM("{\n .reg .pred p;\n"
               " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               " selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(mg_shared_address(arrived)), "r"(parity)
               : "memory");
}

#endif
