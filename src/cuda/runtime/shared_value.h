/* Values in shared memory by their 32-bit address. Through pointers the compiler computes the
 * address of each access from that of the shared memory, which takes a special register: about 30
 * clock cycles on the path from one step of a smoother to the next. */
#ifndef MG_CUDA_RUNTIME_SHARED_VALUE_H
#define MG_CUDA_RUNTIME_SHARED_VALUE_H

#include "cuda/cuda.h"

template <typename value_t>
static __device__ __forceinline__ uint32_t mg_shared_address(const value_t *value) {
  return (uint32_t)__cvta_generic_to_shared(value);
}

static __device__ __forceinline__ mg_real_t mg_shared_load(uint32_t address) {
  mg_real_t x;
#ifdef MG_FLOAT
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address) : "memory");
#else
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(address) : "memory");
#endif
  return x;
}

static __device__ __forceinline__ void mg_shared_store(uint32_t address, mg_real_t x) {
#ifdef MG_FLOAT
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
#else
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(address), "d"(x) : "memory");
#endif
}

/** Copy a value from global memory, asynchronously from sm_80 on. */
static __device__ __forceinline__ void mg_shared_fetch(uint32_t address, const mg_real_t *from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from),
               "n"((int)sizeof(mg_real_t))
               : "memory");
#else
  mg_shared_store(address, *from);
#endif
}

/** Wait for the thread's copies. */
static __device__ __forceinline__ void mg_shared_fetch_wait(void) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* A pair of doubles, also in code for float. */
static __device__ __forceinline__ double2 mg_shared_load_double2(uint32_t address) {
  double2 x;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x.x), "=d"(x.y) : "r"(address) : "memory");
  return x;
}

static __device__ __forceinline__ void mg_shared_store_double2(uint32_t address, double x,
                                                               double y) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(address), "d"(x), "d"(y) : "memory");
}

/** The first threads of a block: all of them, or one warp. */
struct mg_team_t {
  bool one_warp;
  int threads;

  /** As __syncthreads, for the team; predicated instead of a branch. The warp has no barrier of its
   *  own: racecheck does not follow a barrier of fewer threads while the others wait at another. */
  __device__ __forceinline__ void barrier(void) const {
    asm volatile("{\n\t.reg .pred warp;\n\tsetp.ne.s32 warp, %0, 0;\n\t"
                 "@warp bar.warp.sync 0xffffffff;\n\t@!warp bar.sync 0;\n\t}" ::"r"((int)one_warp)
                 : "memory");
  }
};

#endif
