/* How a level of fv4 is divided among the blocks of a launch that keeps it on the SMs
 * (resident_fv4.cu).
 *
 * A tile has 4 to 8 cells per side, an even number, so that the 8 children of a coarse cell are in
 * one tile, and so are the cells of a wall formula. Each thread has at most one cell, and at most
 * one column of the halo: two cells outside a face of the tile or one outside an edge.
 *
 *     cells     tiles      cells per tile   threads
 *     16^3      2 x 2 x 4  8 x 8 x 4        352
 *     24^3      3 x 3 x 6  8 x 8 x 4        352
 *     32^3      4 x 4 x 8  8 x 8 x 4        352
 *     40^3      5 x 5 x 5  8 x 8 x 8        512; 480 of them also have a column of the halo */
#ifndef MG_CUDA_RESIDENT_FV4_TILES_H
#define MG_CUDA_RESIDENT_FV4_TILES_H

#include <cstdint>

enum {
  MG_FV4_TILE_MIN_SIDE = 4,
  MG_FV4_TILE_MAX_SIDE = 8,
  MG_FV4_TILE_MAX_THREADS = 512,
  MG_FV4_TILE_MAX_CELLS_OF_LEVEL = 40 * 40 * 40, /**< larger ones: resident_fv4_wide.h */
  MG_FV4_TILE_CELLS = 256 /**< preferred: a step is shorter if a block has few cells */
};

/** Tiles of equal size, i fastest. */
struct mg_fv4_tiles_t {
  int side[3];  /**< cells per side */
  int count[3]; /**< tiles in each direction */
  int threads;  /**< per block */
};

inline int mg_fv4_tile_blocks(const mg_fv4_tiles_t &t) {
  return t.count[0] * t.count[1] * t.count[2];
}

/** Threads for the cells of one color. */
static __host__ __device__ __forceinline__ int mg_fv4_tile_color_threads(const int side[3]) {
  return (side[0] * side[1] * side[2] / 2 + 31) / 32 * 32;
}

/** Columns of the halo: outside faces, and outside edges. */
inline int mg_fv4_tile_columns(const int side[3]) {
  return 2 * (side[0] * side[1] + side[1] * side[2] + side[2] * side[0]) +
         4 * (side[0] + side[1] + side[2]);
}

/** Choose the tiles of a level of n[0] x n[1] x n[2] cells.
 *  @param[in] max_blocks  blocks that can run at the same time, one per SM
 *  @return false if there are no such tiles */
inline bool mg_fv4_choose_tiles(const int32_t n[3], int max_blocks, mg_fv4_tiles_t *tiles) {
  int best = 0, side[3];
  for (side[0] = MG_FV4_TILE_MIN_SIDE; side[0] <= MG_FV4_TILE_MAX_SIDE; side[0] += 2)
    for (side[1] = MG_FV4_TILE_MIN_SIDE; side[1] <= MG_FV4_TILE_MAX_SIDE; side[1] += 2)
      for (side[2] = MG_FV4_TILE_MIN_SIDE; side[2] <= MG_FV4_TILE_MAX_SIDE; side[2] += 2) {
        if (n[0] % side[0] || n[1] % side[1] || n[2] % side[2]) continue;
        const int of_cells = 2 * mg_fv4_tile_color_threads(side),
                  of_halo = (mg_fv4_tile_columns(side) + 31) / 32 * 32,
                  cells = side[0] * side[1] * side[2],
                  distance = cells > MG_FV4_TILE_CELLS ? cells : MG_FV4_TILE_CELLS - cells,
                  worth = 16 * (1024 - distance) + side[0]; /* long rows have no bank conflicts */
        const mg_fv4_tiles_t t = {{side[0], side[1], side[2]},
                                  {n[0] / side[0], n[1] / side[1], n[2] / side[2]},
                                  of_cells > of_halo ? of_cells : of_halo};
        if (mg_fv4_tile_blocks(t) > max_blocks || t.threads > MG_FV4_TILE_MAX_THREADS ||
            worth <= best)
          continue;
        best = worth;
        *tiles = t;
      }
  return best > 0;
}

#endif
