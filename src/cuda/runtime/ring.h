/* Rings of planes in shared memory, for blocks that walk along k and keep a few planes: offsets in
 * bytes from the start of dynamic shared memory. */
#ifndef MG_CUDA_RUNTIME_RING_H
#define MG_CUDA_RUNTIME_RING_H

#include "cuda/runtime/tma.h"

/** A ring of N planes of BYTES bytes, of which the offsets of the last LIVE ones are kept, oldest
 *  first. If that is not all, the first plane has offset 0. */
template <int N, int BYTES, int LIVE = N> struct mg_ring_t {
  int plane[LIVE];

  /** @param first  offset of the first plane */
  __device__ __forceinline__ void begin(int first) {
#pragma unroll
    for (int d = 0; d < LIVE; d++)
      plane[d] = first + d * BYTES;
  }
  __device__ __forceinline__ int operator[](int d) const {
    return plane[d];
  }
  /** The plane that is `ahead` after the last one. */
  __device__ __forceinline__ int after(int ahead) const {
    const unsigned at = (unsigned)(plane[LIVE - 1] + ahead * BYTES);
    return (int)min(at, at - N * BYTES); /* the difference is huge if `at` is in the ring */
  }
  /** Advance by one plane. */
  __device__ __forceinline__ void next(void) {
    const int last = plane[LIVE - 1], newest = LIVE == N                 ? plane[0]
                                               : last == (N - 1) * BYTES ? 0
                                                                         : last + BYTES;
#pragma unroll
    for (int d = 0; d + 1 < LIVE; d++)
      plane[d] = plane[d + 1];
    plane[LIVE - 1] = newest;
  }
};

/** The mbarriers of the stages of a pipeline: N, a power of two, which stages use in turn. */
template <int N> struct mg_arrivals_t {
  uint64_t *first;
  unsigned stage; /**< this one */

  /** That of a later stage. */
  __device__ __forceinline__ uint64_t *at(unsigned ahead = 0) const {
    return first + (stage + ahead) % N;
  }
  __device__ __forceinline__ void wait(unsigned ahead = 0) const {
    mg_mbarrier_wait(at(ahead), (stage + ahead) / N % 2);
  }
};

#endif
