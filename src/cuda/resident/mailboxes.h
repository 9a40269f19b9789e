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

#include "cuda/runtime/words.h"
extern "C" {
#include "cuda/resident/resident_tiles.h"
}

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
