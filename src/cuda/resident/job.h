/* What a resident smooth does (resident/sweeps.cu), and where a thread's cells and their neighbors
 * are. */
#ifndef MG_CUDA_RESIDENT_JOB_H
#define MG_CUDA_RESIDENT_JOB_H

#include "cuda/cells/stencil_load.h"
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

namespace mg_resident {
/** Load a pair of cells: the lower one first, unless swapped. */
static __device__ __forceinline__ void load_pair(const mg_real_t *from, bool swapped,
                                                 mg_real_t to[2]) {
  const mg_real2_t pair = *(const mg_real2_t *)from;
  to[0] = swapped ? pair.y : pair.x;
  to[1] = swapped ? pair.x : pair.y;
}

/** With 1 or 2 rows per thread, whose coefficients are in registers. */
template <bool COLORED, int ROWS> struct shared_t {
  /* Rows are 40 pairs apart, so that rows of 8, 16 and 32 pairs have no bank conflicts. Above and
   * below is a margin that is read, but not used. */
  enum { PITCH = 40, SIZE = PITCH * (MG_RESIDENT_MAX_ROWS + 2), BUFFERS = COLORED ? 1 : 2 };
  mg_real_t x[BUFFERS][2][SIZE]; /**< [buffer][cell 0 or 1][pair] */
  mg_real_t sums[COLORED ? SIZE : 1];
  unsigned long long warp_max[MG_RESIDENT_MAX_THREADS / 32];

  /** From row to row in k. */
  static __device__ __forceinline__ int plane(int rows_j) { return PITCH * rows_j; }
  /** Values of pairs: for colored steps beside the iterate, otherwise instead of the buffer. */
  __device__ __forceinline__ mg_real_t *scratch(int buffer) {
    return COLORED ? sums : x[COLORED ? 0 : buffer][0];
  }
};

/** With wide tiles. Betas are in the order of x: those of the low faces of cells 0 and 1. They are
 *  also the high faces of the cells before; so a tile has one more pair, row and plane. */
template <> struct shared_t<true, MG_RESIDENT_WIDE_ROWS> {
  /* Successive threads of rows of 40 pairs have no bank conflicts. */
  enum {
    ROWS = MG_RESIDENT_WIDE_ROWS,
    SIDE = MG_RESIDENT_WIDE_SIDE,
    PITCH = MG_RESIDENT_WIDE_PAIRS + 2,
    PLANE = (PITCH * (SIDE + 1) + 15) / 16 * 16,
    SIZE = PITCH + PLANE * SIDE
  };
  mg_real_t x[1][2][SIZE], sums[SIZE];
  mg_real_t beta_i[2][SIZE], beta_j[2][SIZE], beta_k[2][SIZE + PLANE];
  unsigned long long warp_max[MG_RESIDENT_WIDE_THREADS / 32];

  static __device__ __forceinline__ int plane(int) { return PLANE; }
  __device__ __forceinline__ mg_real_t *scratch(int) { return sums; }

  /** Load the betas of a thread's cells, each face once.
   *  @param[in] place  of its first pair
   *  @param[in] phase  cell 0 of the first row is the upper one
   *  @param[in] last   whether it has the last pair of a row */
  __device__ __forceinline__ void load_betas(const mg_patch_t &p, const place_t &here, int place,
                                             int phase, bool last) {
    const int64_t first = here.i + here.j * p.jstride + here.k * p.kstride;
    const mg_real_t *const i = p.vec[MG_BETA_I] + first, *const j = p.vec[MG_BETA_J] + first,
                           *const k = p.vec[MG_BETA_K] + first;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const int at = place + r * PITCH, lower = phase ^ (r & 1); /* its cell; 1 if it is cell 1 */
      const int64_t from = r * p.jstride;
      load_faces(i + from, lower, beta_i, at);
      load_faces(j + from, lower, beta_j, at);
      load_faces(k + from, lower, beta_k, at);
      if (last) beta_i[lower][at + 1] = i[from + 2];
      if (here.row[1] == SIDE - 1) load_faces(k + from + p.kstride, 1 - lower, beta_k, at + PLANE);
    }
    if (here.row[0] == SIDE - ROWS)
      load_faces(j + ROWS * p.jstride, phase, beta_j, place + ROWS * PITCH);
  }
  /** @param[in] lower  which cell is the lower one of the pair */
  template <int N>
  __device__ __forceinline__ void load_faces(const mg_real_t *from, int lower,
                                             mg_real_t (&to)[2][N], int at) {
    mg_real_t pair[2];
    load_pair(from, lower, pair);
    to[0][at] = pair[0];
    to[1][at] = pair[1];
  }

  /** Coefficients of cell c, the upper or the lower one, of the pair at a place. */
  __device__ __forceinline__ mg_row_t row(int at, int c, int upper, mg_real_t a) const {
    const int o = 1 - c;
    return {{{beta_i[c][at], beta_i[o][at + upper]},
             {beta_j[c][at], beta_j[o][at + PITCH]},
             {beta_k[c][at], beta_k[o][at + PLANE]}},
            a};
  }
};
static_assert(sizeof(shared_t<true, MG_RESIDENT_WIDE_ROWS>) <= 227 * 1024,
              "wide tiles exceed shared memory");
} // namespace mg_resident

#endif
