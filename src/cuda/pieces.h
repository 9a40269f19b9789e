/* Pieces of tile columns in device memory: one per block of a sweep (plan/pieces.h). */
#ifndef MG_CUDA_PIECES_H
#define MG_CUDA_PIECES_H

#include "cuda/overlap.h"
#include <cstring>
extern "C" {
#include "plan/pieces.h"
}

/** A list of pieces; block b processes piece[b]. */
struct mg_pieces_t {
  const mg_piece_t *piece; /**< device memory, valid until mg_cuda_pieces_close */
  int n;
};

/** What the blocks of a kernel cost. */
struct mg_block_costs_t {
  double plane[2][2]; /**< a plane of a tile: [at a wall in i][in j]; 1 without walls */
  double last_j;      /**< factor of it for the last tiles along j */
  int overhead;       /**< a block beside its planes, in planes; no block has fewer */
  int first;          /**< additional planes for a block that starts at plane 0 */
  int step;           /**< blocks start at multiples of `step` planes */
  int slots;          /**< blocks that run at the same time */
  int most;           /**< planes of a block at most: see mg_columns_t */
  double share;       /**< see mg_columns_t */
};

/** What a list depends on, without padding; zeros where unused. */
struct mg_pieces_key_t {
  mg_columns_t columns;    /**< cut into pieces, if there are any */
  mg_region_tiles_t tiles; /**< otherwise the tiles of a region */
  int planes, missing;     /**< of a tile; that the first of several tiles along k has fewer */
  int end;                 /**< the last plane, plus 1 */
};

/** The list of a key. Lists are kept, so that a further call with an equal key is cheap. It may be
 *  called while a graph is captured.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuda_pieces(const mg_pieces_key_t &key, mg_pieces_t *out);

/** The key of a region of a patch. All of it: pieces that keep all SMs busy until the end
 *  (plan/pieces.h). Otherwise the tiles, which overlap with messages.
 *  @param[in] missing  the first of several tiles along k has this many planes fewer */
inline mg_pieces_key_t mg_pieces_key(const mg_patch_t &p, const mg_tiling_t &tiling,
                                     const mg_block_costs_t &costs, mg_region_t region,
                                     int missing) {
  mg_pieces_key_t key;
  memset(&key, 0, sizeof key);
  if (region != MG_REGION_ALL) {
    (void)mg_region_tiles(p, tiling, region, &key.tiles);
    key.planes = tiling.cells[2];
    key.missing = missing;
    key.end = p.n[2];
    return key;
  }
  mg_columns_t &c = key.columns;
  for (int d = 0; d < 2; d++) {
    c.n[d] = tiling.n[d];
    for (int side = 0; side < 2; side++)
      c.wall[d][side] = p.wall[d][side] != MG_WALL_NONE;
  }
  memcpy(c.cost, costs.plane, sizeof c.cost);
  c.last_j = costs.last_j;
  c.planes = p.n[2];
  c.overhead = costs.overhead;
  c.first = costs.first;
  c.step = costs.step;
  c.slots = costs.slots;
  c.most = costs.most;
  c.share = costs.share;
  return key;
}

/** Free all lists. */
void mg_cuda_pieces_close(void);

#endif
