/* What a resident smooth does (resident/sweeps.cu), and where a thread's cells and their neighbors
 * are. */
#ifndef MG_CUDA_RESIDENT_JOB_H
#define MG_CUDA_RESIDENT_JOB_H

#include "cuda/resident/smooth.h"

namespace mg_resident {
/** Kernel argument. */
struct job_t : smooth_t {
  mg_resident_tiles_t tiles;
  /* The first iterate is x + P u, if u is not NULL. */
  const mg_real_t *u; /**< values of the coarser level */
  int64_t u_jstride, u_kstride;
  int u_order; /**< of the wall formula of u */
  mg_interpolation_t kind;
};

/** Position of a thread. */
struct place_t {
  int i, j, k;      /**< first cell of its first pair */
  int pair, row[2]; /**< the pair, and the row in the tile in j and k */
  int tile[2];      /**< the tile in j and k */
  int block;
};

static __device__ __forceinline__ place_t place_of(const mg_resident_tiles_t &t, int rows) {
  const int thread = (int)threadIdx.x, block = (int)blockIdx.x, row = thread / t.pairs,
            groups = t.rows[0] / rows;
  place_t p;
  p.block = block;
  p.tile[1] = block / t.tiles[0];
  p.tile[0] = block - p.tile[1] * t.tiles[0];
  p.pair = thread - row * t.pairs;
  p.row[1] = row / groups;
  p.row[0] = rows * (row - p.row[1] * groups);
  p.i = 2 * p.pair;
  p.j = p.tile[0] * t.rows[0] + p.row[0];
  p.k = p.tile[1] * t.rows[1] + p.row[1];
  return p;
}

/** Some of the rows of a thread. */
template <int FIRST, int STEP, int N_> struct rows_t {
  static constexpr int N = N_;
  static __device__ __forceinline__ constexpr int row(int n) { return FIRST + STEP * n; }
};

/** Flags of the sides of a thread's cells: another tile, or a wall. In i: the side of cell 0 or 1
 *  of the first row that is not next to the pair's other cell. */
enum : unsigned {
  J_LOW_TILE = 1,
  J_HIGH_TILE = 2,
  K_LOW_TILE = 4,
  K_HIGH_TILE = 8,
  J_LOW_WALL = 16,
  J_HIGH_WALL = 32,
  K_LOW_WALL = 64,
  K_HIGH_WALL = 128,
  WALL_OF_0 = 256,
  WALL_OF_1 = 512
};

/** Neighbor at a side: a cell of the same tile or of another one, or a wall. */
enum beyond_t { TILE, OTHER_TILE, WALL };

/** One side of a thread's rows in j or k: where the values of the tile beyond it arrive, and where
 *  that tile receives ours. */
struct side_t {
  beyond_t beyond;
  int other;   /**< block of that tile */
  int in, out; /**< line of words of the first row, in the mailboxes of this and that block */
};

/** @param d     0: j, 1: k
 *  @param last  row in the tile of the thread's last cell in direction d */
static __device__ __forceinline__ side_t side_of(const job_t &job, const place_t &p, int d,
                                                 bool high, int last) {
  const mg_resident_tiles_t &t = job.tiles;
  if (high ? last < t.rows[d] - 1 : p.row[d] > 0) return {TILE, 0, 0, 0};
  int tile[2] = {p.tile[0], p.tile[1]};
  const bool end = high ? tile[d] == t.tiles[d] - 1 : tile[d] == 0;
  if (end && job.l.p.wall[d + 1][high]) return {WALL, 0, 0, 0};
  tile[d] = end ? (high ? 0 : t.tiles[d] - 1) : tile[d] + (high ? 1 : -1);
  /* Faces in the order low j, high j, low k, high k; a line per row. */
  const int low = (d == 0 ? 0 : 2 * t.rows[1]) + p.row[1 - d], up = low + t.rows[1 - d];
  return {OTHER_TILE, tile[0] + tile[1] * t.tiles[0], high ? up : low, high ? low : up};
}
} // namespace mg_resident

#endif
