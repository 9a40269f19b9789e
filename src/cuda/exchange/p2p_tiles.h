/* Message tiles: the input of the kernels in exchange/p2p_kernels.cu, built by
 * exchange/p2p_lists.cu.
 *
 * Each pair of ranks has four slots for the messages in one direction, in the receiver's window,
 * used cyclically. A small message travels as 16-byte words. Each half of a word holds half of a
 * double and the message number, so the receiver polls the words themselves. No fence and no flag
 * separates the store from the reader, at the cost of twice the bytes. A large message travels
 * unencoded, in tiles. After each tile the sender raises a counter beside the slots.
 *
 * A sender may overwrite a slot only after the receiver has read it. If two ranks send to each
 * other in every exchange, the peer's messages prove this. A launch sends at most two messages to a
 * rank, q and perhaps q + 1, after launches that received all up to q - 1. The peer sent q - 1 in a
 * launch whose first message was q - 2 or later, after launches that received all up to q - 3. So
 * slots of q - 4 and q - 3 are free. If messages go one way only, the receiver raises one counter
 * per tile in the sender's window.
 *
 * The kernels keep the message numbers themselves. Their arguments never change, so a captured
 * graph can replay them.
 *
 * Hu et al., Demystifying NCCL (arXiv:2507.04786, 2025), on NCCL's protocols LL and Simple. */
#ifndef MG_CUDA_EXCHANGE_P2P_TILES_H
#define MG_CUDA_EXCHANGE_P2P_TILES_H

#include "cuda/runtime/copy_tiles.h"
extern "C" {
#include "backend/p2p.h"
}

enum { MG_P2P_SLOTS = 2 * MG_P2P_MAX_VECTORS };

typedef unsigned long long mg_counter_t;

static const int64_t MG_WORD_BYTES = 16;

/** A tile of a message with everything a block needs, in one cache line. The list may have left
 *  the caches since the last exchange, and each dependent memory access costs more than the
 *  message itself. 64 KiB took 10.9 us with three dependent accesses, 10.5 us with one. */
struct alignas(128) mg_p2p_tile_t {
  mg_tile_t tile;
  int rank;
  unsigned ni, nj; /**< extents of its cuboid */
  mg_cuboid_address_t cells;
  char *slot;           /**< start of the tile in the first slot */
  int64_t slot_stride;  /**< distance between slots in bytes */
  mg_counter_t *signal; /**< counter to raise when done; NULL if nobody watches it */
  const mg_counter_t
      *wait_for;     /**< counter to wait for; NULL if no wait is needed or words are used */
  mg_counter_t done; /**< number of earlier messages */
  bool words;
};
static_assert(sizeof(mg_p2p_tile_t) == 128, "one cache line");

/** Tiles of one direction, on the device. */
struct mg_direction_t {
  mg_p2p_tile_t *tiles;
  int n;
};

struct mg_p2p {
  mg_direction_t out, in;
  mg_copy_tiles_t local;
  unsigned src, dst; /**< vectors of the source and destination views */
  int max_blocks,
      max_blocks_concurrent; /**< block limits: normal launch, launch beside other kernels */
};

/* Entries of mg_cuda_p2p (exchange/p2p_lists.cu). */
mg_p2p_bytes_t mg_p2p_bytes(const mg_copy_t *items, int n_items, int64_t first, int64_t values);
mg_status_t mg_p2p_create(const mg_p2p_job_t *job, mg_p2p_t **out);
void mg_p2p_free(mg_p2p_t *p2p);

/** Maximum number of blocks of a normal launch and of a launch beside other kernels, such that
 *  the blocks of all ranks sharing the device are resident together. */
mg_status_t mg_p2p_max_blocks(int sharers, int *max_blocks, int *max_blocks_concurrent);

#endif
