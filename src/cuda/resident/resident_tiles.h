/* How a level is divided among the blocks of a launch that keeps it on the SMs of a GPU
 * (cuda/resident/sweeps.cu, cuda/resident/fv4.cu). The plan and the launches call the same
 * functions.
 *
 * All blocks run at the same time, one per SM. A coarse cell's 8 children are in one tile.
 *
 * 7-point operators. A tile has whole rows in i, and an even number of rows in j and in k. Its
 * threads fill whole warps. Few large tiles are the fastest: they exchange fewer values, and the
 * SMs that they leave free start the next launch early. Of tiles with as many rows, the squarest
 * sends the fewest values.
 *
 *     cells     tiles             cells per tile   pairs per thread
 *     16^3      2 x 4             16 x 8 x 4       1
 *     32^3      4 x 8             32 x 8 x 4       1
 *     48^3      6 x 12            48 x 8 x 4       2
 *     64^3      8 x 16            64 x 8 x 4       2
 *     72^3      9 x 9             72 x 8 x 8       4: wide
 *     80^3      10 x 10           80 x 8 x 8       4: wide
 *
 * Wide tiles have more cells than the registers of an SM have room for coefficients. These are in
 * shared memory, which has no room for a second iterate: only colored steps reside.
 *
 * fv4. A tile has 4 to 8 cells per side, an even number, so that the cells of a wall formula are in
 * one tile. Each thread has at most one cell, and at most one column of the halo: two cells outside
 * a face of the tile or one outside an edge. Levels with more cells than the threads of all blocks
 * have wide tiles, whose threads have four cells each, for colored steps only.
 *
 *     cells     tiles      cells per tile   threads
 *     16^3      2 x 2 x 4  8 x 8 x 4        352
 *     24^3      3 x 3 x 6  8 x 8 x 4        352
 *     32^3      4 x 4 x 8  8 x 8 x 4        352
 *     40^3      5 x 5 x 5  8 x 8 x 8        512; 480 of them also have a column of the halo
 *     64^3      4 x 4 x 8  16 x 16 x 8      512: wide */
#ifndef MG_RESIDENT_TILES_H
#define MG_RESIDENT_TILES_H

#include "base/inline.h"
#include <stdbool.h>
#include <stdint.h>

enum {
  MG_RESIDENT_MAX_STEPS = 64, /**< of a smooth */
  MG_RESIDENT_MAX_BLOCKS = 160,
  MG_RESIDENT_MAX_THREADS = 512,
  MG_RESIDENT_MAX_PAIRS = 32, /**< of cells in a row */
  MG_RESIDENT_MAX_ROWS = 32,  /**< of a tile */
  MG_RESIDENT_MAX_SIDES = 12, /**< rows of a tile in j plus rows in k */
  MG_RESIDENT_WIDE_SIDE = 8,  /**< rows of a wide tile in j and in k */
  MG_RESIDENT_WIDE_ROWS = 4,  /**< of each of its threads */
  MG_RESIDENT_WIDE_PAIRS = 40,
  MG_RESIDENT_WIDE_THREADS = 640,
  MG_FV4_TILE_MIN_SIDE = 4,
  MG_FV4_TILE_MAX_SIDE = 8,
  MG_FV4_TILE_MAX_CELLS_OF_LEVEL = 40 * 40 * 40, /**< larger ones have wide tiles */
  MG_FV4_TILE_CELLS = 256,    /**< preferred: a step is shorter if a block has few cells */
  MG_FV4_WIDE_TILE_SIDE = 16, /**< of wide tiles in i and j */
  MG_FV4_WIDE_TILE_PLANES = 8
};

/** Tiles of equal size; block b has tile (b % tiles[0], b / tiles[0]) in j and k. */
typedef struct {
  int rows[2];         /**< of a tile, in j and k */
  int tiles[2];        /**< in j and k */
  int pairs;           /**< of cells in a row */
  int rows_per_thread; /**< 1, 2 or 4; a thread has a pair of cells of each */
} mg_resident_tiles_t;

static inline int mg_resident_blocks(const mg_resident_tiles_t *t) {
  return t->tiles[0] * t->tiles[1];
}

static inline int mg_resident_threads(const mg_resident_tiles_t *t) {
  return t->pairs * t->rows[0] * t->rows[1] / t->rows_per_thread;
}

/** Whether coefficients are in shared memory; then only colored steps reside. */
static inline bool mg_resident_tiles_are_wide(const mg_resident_tiles_t *t) {
  return t->rows_per_thread == MG_RESIDENT_WIDE_ROWS;
}

/** Tiles of equal size, i fastest. */
typedef struct {
  int side[3];  /**< cells per side */
  int count[3]; /**< tiles in each direction */
  int threads;  /**< per block */
} mg_fv4_tiles_t;

static inline int mg_fv4_tile_blocks(const mg_fv4_tiles_t *t) {
  return t->count[0] * t->count[1] * t->count[2];
}

/** Threads for the cells of one color. */
MG_INLINE int mg_fv4_tile_color_threads(const int side[3]) {
  return (side[0] * side[1] * side[2] / 2 + 31) / 32 * 32;
}

/** Whether a level of n[0] x n[1] x n[2] cells has wide tiles, if it has any. */
static inline bool mg_fv4_tiles_are_wide(const int32_t n[3]) {
  return (int64_t)n[0] * n[1] * n[2] > MG_FV4_TILE_MAX_CELLS_OF_LEVEL;
}

/** Choose the tiles of a level of n[0] x n[1] x n[2] cells, for a 7-point operator or for fv4.
 *  @param[in]  sms    SMs of the GPU
 *  @param[out] tiles  unspecified if there are none
 *  @return false if there are no tiles that fit */
bool mg_resident_choose_tiles(const int32_t n[3], int sms, mg_resident_tiles_t *tiles);
bool mg_fv4_choose_tiles(const int32_t n[3], int sms, mg_fv4_tiles_t *tiles);

#endif
