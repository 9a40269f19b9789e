/* How a level is divided among the blocks of a launch that keeps it on the SMs (resident.cu).
 *
 * A tile has whole rows in i, and an even number of rows in j and in k, so that the 8 children of a
 * coarse cell are in one tile. Its threads fill whole warps. Few large tiles are the fastest: they
 * exchange fewer values, and the SMs that they leave free start the next launch early. Of tiles
 * with as many rows, the squarest sends the fewest values.
 *
 *     cells     tiles             cells per tile   pairs per thread
 *     16^3      2 x 4             16 x 8 x 4       1
 *     32^3      4 x 8             32 x 8 x 4       1
 *     48^3      6 x 12            48 x 8 x 4       2
 *     64^3      8 x 16            64 x 8 x 4       2 */
#ifndef MG_CUDA_RESIDENT_TILES_H
#define MG_CUDA_RESIDENT_TILES_H

#include <cstdint>

enum {
  MG_RESIDENT_MAX_THREADS = 512,
  MG_RESIDENT_MAX_PAIRS = 32, /**< of cells in a row */
  MG_RESIDENT_MAX_ROWS = 32,  /**< of a tile */
  MG_RESIDENT_MAX_SIDES = 12, /**< rows of a tile in j plus rows in k */
};

/** Tiles of equal size; block b has tile (b % tiles[0], b / tiles[0]) in j and k. */
struct mg_resident_tiles_t {
  int rows[2];         /**< of a tile, in j and k */
  int tiles[2];        /**< in j and k */
  int pairs;           /**< of cells in a row */
  int rows_per_thread; /**< 1 or 2; a thread has a pair of cells of each */
};

inline int mg_resident_blocks(const mg_resident_tiles_t &t) {
  return t.tiles[0] * t.tiles[1];
}

inline int mg_resident_threads(const mg_resident_tiles_t &t) {
  return t.pairs * t.rows[0] * t.rows[1] / t.rows_per_thread;
}

/** Whether tiles of rj x rk rows are possible, with 1 or 2 rows per thread. */
inline bool mg_resident_fits(const int32_t n[3], int rj, int rk, int rows_per_thread,
                             int max_blocks) {
  const int threads = n[0] / 2 * rj * rk / rows_per_thread;
  return n[1] % rj == 0 && n[2] % rk == 0 && rj * rk <= MG_RESIDENT_MAX_ROWS &&
         rj + rk <= MG_RESIDENT_MAX_SIDES && threads <= MG_RESIDENT_MAX_THREADS &&
         threads % 32 == 0 && (rows_per_thread == 1 || rj >= 4) &&
         n[1] / rj * (n[2] / rk) <= max_blocks;
}

/** Choose the tiles of a level of n[0] x n[1] x n[2] cells.
 *  @param[in] max_blocks  blocks that can run at the same time, one per SM
 *  @return false if there are no such tiles */
inline bool mg_resident_choose_tiles(const int32_t n[3], int max_blocks,
                                     mg_resident_tiles_t *tiles) {
  int best = 0;
  if (n[0] % 2 != 0 || n[0] > 2 * MG_RESIDENT_MAX_PAIRS) return false;
  if (n[0] < 4 || n[1] < 4 || n[2] < 4) return false; /* a coarse cell has one wall per direction */
  for (int per_thread = 1; per_thread <= 2 && best == 0; per_thread++)
    for (int rj = 2; rj <= MG_RESIDENT_MAX_SIDES; rj += 2)
      for (int rk = 2; rk <= MG_RESIDENT_MAX_SIDES; rk += 2) {
        const int worth = 64 * rj * rk - 2 * (rj + rk) + (rj > rk);
        if (!mg_resident_fits(n, rj, rk, per_thread, max_blocks) || worth <= best) continue;
        best = worth;
        *tiles = {{rj, rk}, {n[1] / rj, n[2] / rk}, n[0] / 2, per_thread};
      }
  return best > 0;
}

#endif
