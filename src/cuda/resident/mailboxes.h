/* Exchange of values between the blocks of one launch that all run at the same time.
 *
 * A block writes each value, together with a sequence number, into a mailbox in device memory that
 * only one thread reads. That thread polls until the number is the one it expects. There is no
 * barrier of the grid and no fence, because a value and its number arrive at the same time: they
 * share 8 bytes, which are written and read by one access. A double is sent in two such halves.
 * The halves of one word need not arrive together.
 *
 * Two sets of slots suffice, for odd and even numbers, if all neighbors exchange at least one value
 * in both directions in every step and a block barrier separates receiving from sending. A block
 * that sends number q + 2 has received q + 1 from its neighbor. The neighbor sent it after it
 * had received all of q, whose slots are now overwritten.
 *
 * Numbers continue from launch to launch, so a slot never holds a later number of an earlier
 * launch, also if a captured graph is replayed. Each block owns a copy of the last number.
 *
 * Waiting for the values of adjacent blocks takes 640 (16^3) to 1,800 (64^3) clock cycles on an
 * H100 (docs/results/gpu-resident-smooths.csv). A barrier of 128 blocks takes 2,070, flags of two
 * neighbors with fences, 32 blocks, 2,250 (docs/results/gpu-barriers.csv).
 *
 * NVIDIA, PTX ISA, "Memory Consistency Model": a vector access is several scalar accesses of 8
 * bytes; each is single-copy atomic. NCCL's LL protocol sends values with flags in 8 bytes. */
#ifndef MG_CUDA_RESIDENT_MAILBOXES_H
#define MG_CUDA_RESIDENT_MAILBOXES_H

#include "cuda/cuda.h"
extern "C" {
#include "cuda/resident/resident_tiles.h"
}

/** Memory-order qualifiers exist from sm_70 on. Levels reside only on GPUs with fused sweeps. */
#define MG_CUDA_HAS_WORDS (__CUDA_ARCH__ >= 700)

enum {
  /** Words that a block receives in one step: two per pair of cells at its sides. */
  MG_RESIDENT_MAX_WORDS = 4 * MG_RESIDENT_MAX_SIDES * MG_RESIDENT_MAX_PAIRS,
  /** Polls before a kernel gives up: several seconds. A lost value ends the program instead of
   *  blocking the GPU. */
  MG_RESIDENT_MAX_POLLS = 1 << 24
};

/** Mailboxes of all blocks and their last sequence numbers: device memory, zero at first. */
struct mg_mailboxes_t {
  /** The words of each block, for even and odd numbers. */
  uint64_t half[MG_RESIDENT_MAX_BLOCKS][2][2 * MG_RESIDENT_MAX_WORDS];
  unsigned number[MG_RESIDENT_MAX_BLOCKS]; /**< equal and even between launches */
};

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

/** Receive words: request all of them until each has the number.
 *  @param[in] load  load(w, &word[w]) requests word w, or sets it to one that is not needed */
template <int N, typename F>
static __device__ __forceinline__ void mg_words_receive(mg_word_t (&word)[N], unsigned number,
                                                        const F &load) {
  unsigned differs;
  int polls = 0;
  do {
    differs = 0;
#pragma unroll
    for (int w = 0; w < N; w++)
      load(w, &word[w]);
#pragma unroll
    for (int w = 0; w < N; w++)
      differs |= mg_word_differs(word[w], number);
    if (++polls == MG_RESIDENT_MAX_POLLS) __trap();
  } while (differs != 0);
}

#endif
