/* Boxes of cells that the tensor copy engine brings from a level to shared memory (sm_90 on).
 *
 * One thread asks; bytes arrive by themselves and are counted by an arrival, on which the threads
 * of the block wait. What lies outside of an array arrives as zero. A box's first element has to
 * lie at a multiple of 16 bytes in memory, coordinates included; else the copy is an illegal
 * instruction.
 *
 * NVIDIA, CUDA C++ Programming Guide, "Tensor Memory Access"; PTX ISA, cp.async.bulk.tensor. */
#ifndef MG_TMA_H
#define MG_TMA_H

#include "cuda/cuda.h"

/** CUDA 12 has tensor maps, and the PTX of their copies; before it there are no boxes. */
#define MG_CUDA_HAS_BOXES (CUDART_VERSION >= 12000)
#define MG_CUDA_BOX_CODE  (MG_CUDA_HAS_BOXES && __CUDA_ARCH__ >= 900)
#if MG_CUDA_HAS_BOXES
#include <cuda.h> /* CUtensorMap; nothing of libcuda is linked */
#else
struct CUtensorMap {};
#endif

/** An array of cells as the engine is to see it: `from` has the indices (0, 0, 0). */
struct mg_box_array_t {
  const void *from; /**< at a multiple of 16 bytes */
  int bytes;        /**< of an element: 8 for double, 4 for float */
  int64_t extent[3];
  int64_t jstride, kstride; /**< elements; multiples of 16 bytes */
};

/** Whether the device and this build have them. The answer is kept.
 *  @return MG_OK, MG_ERR_DEVICE */
mg_status_t mg_cuda_has_tma(bool *has);

/** Describe boxes of width x rows x 1 elements; width is 256 at the most, and so are rows.
 *  @return MG_OK, MG_ERR_DEVICE where the driver refuses */
mg_status_t mg_cuda_box_map(const mg_box_array_t *array, int width, int rows, CUtensorMap *map);

/** Planes that each block goes through with its tile, before others go through the next ones: the
 *  more planes, the fewer are made twice; the more blocks, the fewer wait at the end.
 *  @param n          planes of the level
 *  @param tiles      of a plane
 *  @param at_a_time  blocks that run at the same time
 *  @param beside     blocks whose place others take for a while: so many fewer in the last wave
 *  @param steps      in a pass: a block begins and ends so many planes beyond its own
 *  @param[out] cost  to be compared with that of others; NULL: nobody asks */
inline int mg_planes_of_blocks(int n, int64_t tiles, int64_t at_a_time, int64_t beside, int steps,
                               double *cost_out) {
  int best = n;
  double least = 1e300;
  for (int slabs = 1; slabs <= 64 && slabs <= n; slabs++) {
    const int planes = (n + slabs - 1) / slabs;
    const int64_t blocks = tiles * ((n + planes - 1) / planes) + beside,
                  waves = (blocks + at_a_time - 1) / at_a_time;
    /* Half of the planes beyond are made by half of the steps; the first two bundles come late. */
    const double cost = (double)waves * (planes + steps + 1);
    if (cost < least) least = cost, best = planes;
  }
  if (cost_out) *cost_out = least;
  return best;
}

static __device__ __forceinline__ unsigned mg_shared_address(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

/** Begin to copy the box at (i, j, k) to shared memory, 128-byte aligned, and tell an arrival. */
static __device__ __forceinline__ void mg_box_copy(void *to, const CUtensorMap *map, int i, int j,
                                                   int k, uint64_t *arrived) {
#if MG_CUDA_BOX_CODE
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(mg_shared_address(to)),
               "l"(map), "r"(mg_shared_address(arrived)), "r"(i), "r"(j), "r"(k)
               : "memory");
#else
  (void)to, (void)map, (void)i, (void)j, (void)k, (void)arrived;
#endif
}

/** Make n arrivals, by one thread; a barrier of the block has to follow. */
static __device__ __forceinline__ void mg_arrivals_create(uint64_t *arrived, int n) {
#if MG_CUDA_BOX_CODE
  for (int b = 0; b < n; b++)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mg_shared_address(arrived + b))
                 : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  (void)arrived, (void)n;
#endif
}

/** So many bytes are going to arrive. */
static __device__ __forceinline__ void mg_arrivals_expect(uint64_t *arrived, unsigned bytes) {
#if MG_CUDA_BOX_CODE
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mg_shared_address(arrived)),
      "r"(bytes)
      : "memory");
#else
  (void)arrived, (void)bytes;
#endif
}

/** Wait until they have: parity is 0 for the first time that an arrival is used, then 1, then 0. */
static __device__ __forceinline__ void mg_arrivals_wait(uint64_t *arrived, unsigned parity) {
#if MG_CUDA_BOX_CODE
  unsigned done = 0;
  while (!done)
    asm volatile("{\n .reg .pred p;\n"
                 " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(mg_shared_address(arrived)), "r"(parity)
                 : "memory");
#else
  (void)arrived, (void)parity;
#endif
}

#endif
