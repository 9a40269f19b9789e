/* What the kernels of p2p_exchange.cu are told of messages: tiles, in lists that
 * p2p_exchange_lists.cu makes. */
#ifndef MG_CUDA_P2P_EXCHANGE_TILES_H
#define MG_CUDA_P2P_EXCHANGE_TILES_H

#include "cuda/copy_tiles.h"
extern "C" {
#include "cuda/p2p_exchange.h"
}

typedef unsigned long long mg_counter_t;

static const int64_t MG_WORD_BYTES = 16;

/** A tile of a message with all that a block must know, in one line of memory: a list may have left
 * the caches since the last exchange, and each look from one place of memory to the next would take
 * longer than the message itself: 64 KiB took 10.9 us with three places where 10.5 came of one. */
struct alignas(128) mg_p2p_tile_t {
  mg_tile_t tile;
  int rank;
  unsigned ni, nj; /**< of its cuboid */
  mg_place_in_t cells;
  char *slot;                /**< where the tile begins in the first slot */
  int64_t apart;             /**< bytes from there to the second */
  mg_counter_t *raise;       /**< NULL where nobody watches */
  const mg_counter_t *watch; /**< NULL where there is nothing to wait for, or words are */
  mg_counter_t done;         /**< messages before this one */
  bool words;
};
static_assert(sizeof(mg_p2p_tile_t) == 128, "a line");

/** Tiles of one direction, on the device. */
struct mg_direction_t {
  mg_p2p_tile_t *stretch;
  int n;
};

struct mg_cuda_p2p {
  mg_direction_t out, in;
  mg_copy_tiles_t local;
  unsigned src, dst;            /**< vectors of either side */
  int most_blocks, most_beside; /**< of a launch, and of one beside other kernels */
};

/** Blocks of a launch, and of one beside other kernels, so that those of all ranks that share the
 * device find a place. */
mg_status_t mg_p2p_max_blocks(int sharers, int *most, int *beside);

#endif
