/* Words of memory that other blocks of a launch, or other GPUs, store and load while it runs; and
 * other instructions of PTX that messages need. */
#ifndef MG_CUDA_RUNTIME_WORDS_H
#define MG_CUDA_RUNTIME_WORDS_H

#include "cuda/cuda.h"

/** Memory-order qualifiers exist from sm_70 on. Levels reside only on GPUs with fused sweeps. */
#define MG_CUDA_HAS_WORDS (__CUDA_ARCH__ >= 700)

/** A value on its way. A float has one half. */
struct mg_word_t {
  unsigned value[2], number[2];
};

/** Halves of a word. */
enum { MG_WORD_HALVES = (int)(sizeof(mg_real_t) / 4) };

static __device__ __forceinline__ mg_real_t mg_word_value(const mg_word_t &w) {
#ifdef MG_FLOAT
  return __uint_as_float(w.value[0]);
#else
  return __hiloint2double((int)w.value[1], (int)w.value[0]);
#endif
}

/** 0 if a word has a number. */
static __device__ __forceinline__ unsigned mg_word_differs(const mg_word_t &w, unsigned number) {
  return (w.number[0] ^ number) | (MG_WORD_HALVES == 1 ? 0 : w.number[1] ^ number);
}

/** Send a value, if `needed`. */
static __device__ __forceinline__ void mg_word_store(uint64_t *to, bool needed, mg_real_t x,
                                                     unsigned number) {
#if MG_CUDA_HAS_WORDS && defined(MG_FLOAT)
  asm volatile("{\n .reg .b64 h;\n .reg .pred p;\n"
               " setp.ne.u32 p, %3, 0;\n mov.b64 h, {%1, %2};\n"
               " @p st.relaxed.gpu.global.b64 [%0], h;\n}" ::"l"(to),
               "r"(__float_as_uint(x)), "r"(number), "r"((unsigned)needed)
               : "memory");
#elif MG_CUDA_HAS_WORDS
  asm volatile("{\n .reg .b64 h<2>;\n .reg .pred p;\n"
               " setp.ne.u32 p, %4, 0;\n mov.b64 h0, {%1, %3};\n mov.b64 h1, {%2, %3};\n"
               " @p st.relaxed.gpu.global.v2.b64 [%0], {h0, h1};\n}" ::"l"(to),
               "r"(__double2loint(x)), "r"(__double2hiint(x)), "r"(number), "r"((unsigned)needed)
               : "memory");
#else
  (void)to, (void)needed, (void)x, (void)number;
#endif
}

/** Load a word, if `needed`; otherwise 0 with the given number. Several loads may be in flight. */
static __device__ __forceinline__ void mg_word_load(const uint64_t *from, bool needed,
                                                    unsigned number, mg_word_t *w) {
#if MG_CUDA_HAS_WORDS && defined(MG_FLOAT)
  asm volatile("{\n .reg .b64 h;\n .reg .pred p;\n"
               " setp.ne.u32 p, %3, 0;\n mov.b64 h, {0, %4};\n"
               " @p ld.relaxed.gpu.global.b64 h, [%2];\n"
               " mov.b64 {%0, %1}, h;\n}"
               : "=r"(w->value[0]), "=r"(w->number[0])
               : "l"(from), "r"((unsigned)needed), "r"(number)
               : "memory");
#elif MG_CUDA_HAS_WORDS
  asm volatile("{\n .reg .b64 h<2>;\n .reg .pred p;\n"
               " setp.ne.u32 p, %5, 0;\n mov.b64 h0, {0, %6};\n mov.b64 h1, {0, %6};\n"
               " @p ld.relaxed.gpu.global.v2.b64 {h0, h1}, [%4];\n"
               " mov.b64 {%0, %1}, h0;\n mov.b64 {%2, %3}, h1;\n}"
               : "=r"(w->value[0]), "=r"(w->number[0]), "=r"(w->value[1]), "=r"(w->number[1])
               : "l"(from), "r"((unsigned)needed), "r"(number)
               : "memory");
#else
  (void)from, (void)needed, (void)number, (void)w;
#endif
}

/* Before sm_70, a volatile access also goes to memory, and a fence orders what follows. */
#if MG_CUDA_HAS_WORDS
#define MG_SYSTEM_RELAXED ".relaxed.sys"
#define MG_SYSTEM_ACQUIRE "ld.acquire.sys.global.u64 "
enum { MG_SYSTEM_MUST_FENCE = 0 };
#else
#define MG_SYSTEM_RELAXED ".volatile"
#define MG_SYSTEM_ACQUIRE "ld.volatile.global.u64 "
enum { MG_SYSTEM_MUST_FENCE = 1 };
#endif

/** Load a number that another GPU may store; later accesses see what that GPU stored before. */
static __device__ __forceinline__ unsigned long long
mg_system_acquire(const unsigned long long *from) {
  unsigned long long value;
  asm volatile(MG_SYSTEM_ACQUIRE "%0, [%1];" : "=l"(value) : "l"(from) : "memory");
  if (MG_SYSTEM_MUST_FENCE) __threadfence_system();
  return value;
}

/** Store and load two halves of 8 bytes each, in the memory of any GPU. Each half is atomic. */
static __device__ __forceinline__ void mg_system_store(char *to, unsigned long long low,
                                                       unsigned long long high) {
  asm volatile("st" MG_SYSTEM_RELAXED ".global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low),
               "l"(high)
               : "memory");
}
static __device__ __forceinline__ void mg_system_load(const char *from, unsigned long long *low,
                                                      unsigned long long *high) {
  asm volatile("ld" MG_SYSTEM_RELAXED ".global.v2.u64 {%0, %1}, [%2];"
               : "=l"(*low), "=l"(*high)
               : "l"(from)
               : "memory");
}

static __device__ __forceinline__ unsigned long long mg_nanoseconds(void) {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/** Barrier number `number` of a block, for `threads` of its threads. */
template <int threads> static __device__ __forceinline__ void mg_barrier(int number) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(threads) : "memory");
}

/** Load a line into the L2. */
static __device__ __forceinline__ void mg_prefetch(const void *at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

#endif
