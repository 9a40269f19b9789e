/* Message tiles: the input of the kernels in exchange/p2p_kernels.cu, built by
 * exchange/p2p_lists.cu. */
#ifndef MG_CUDA_EXCHANGE_P2P_TILES_H
#define MG_CUDA_EXCHANGE_P2P_TILES_H

#include "cuda/runtime/copy_tiles.h"
extern "C" {
#include "cuda/exchange/p2p.h"
}

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

struct mg_cuda_p2p {
  mg_direction_t out, in;
  mg_copy_tiles_t local;
  unsigned src, dst; /**< vectors of the source and destination views */
  int max_blocks,
      max_blocks_concurrent; /**< block limits: normal launch, launch beside other kernels */
};

/* Entries of mg_cuda_p2p_table (exchange/p2p_lists.cu). */
mg_cuda_p2p_bytes_t mg_p2p_bytes(const mg_copy_t *items, int n_items, int64_t first,
                                 int64_t values);
mg_status_t mg_p2p_create(const mg_cuda_p2p_job_t *job, mg_cuda_p2p_t **out);
void mg_p2p_free(mg_cuda_p2p_t *p2p);

/** Maximum number of blocks of a normal launch and of a launch beside other kernels, such that
 *  the blocks of all ranks sharing the device are resident together. */
mg_status_t mg_p2p_max_blocks(int sharers, int *max_blocks, int *max_blocks_concurrent);

#endif
