/* Planes of cells in shared memory, of which a block keeps those next to the current one
 * (mg_ring_t), and their ghosts outside walls.
 *
 * Ghosts outside walls are not read from memory: after a plane has arrived or was computed, those
 * within it are evaluated in place. Planes outside a wall in k are computed from the four planes
 * next to it. Edges use the usual order: k over j over i. */
#ifndef MG_CUDA_FV4_PLANES_H
#define MG_CUDA_FV4_PLANES_H

#include "cuda/fv4/job.h"
#include "cuda/runtime/ring.h"

namespace mg_fv4_planes {
extern __shared__ __align__(128) mg_real_t rings[];

constexpr int COL = (int)sizeof(mg_real_t); /* bytes from column to column */

/* A value at an offset in bytes from the start of the rings. */
static __device__ __forceinline__ mg_real_t value_at(int at) {
  return *(const mg_real_t *)((const char *)rings + at);
}
static __device__ __forceinline__ void put(int at, mg_real_t value) {
  *(mg_real_t *)((char *)rings + at) = value;
}

/* Walls of i and j in the box of a tile: the row or column of the first ghost outside, or -1
 * without a wall; and the rows and columns inside: row <= r < row_end. */
struct walls_t {
  int low_col, high_col, low_row, high_row;
  int row, row_end, col, col_end;
  bool walls; /* there is any */
};

/* A line of cells that ends at a wall: at(n) is the cell at a distance of n from the first ghost,
 * at(0); at(-1) is the second ghost. */
struct line_t {
  int ghost, in;
  __device__ __forceinline__ int at(int n) const { return ghost + n * in; }
};

template <typename line>
static __device__ __forceinline__ mg_real_t ghost(const line &x, int depth, int beside = 0) {
  const mg_real_t x1 = value_at(x.at(1) + beside), x2 = value_at(x.at(2) + beside),
                  x3 = value_at(x.at(3) + beside), x4 = value_at(x.at(4) + beside);
  return depth == 1 ? mg_ghost_4(1, x1, x2, x3, x4) : mg_ghost_4(2, x1, x2, x3, x4);
}
template <typename line> static __device__ __forceinline__ void fill_line(const line &x) {
  put(x.at(0), ghost(x, 1));
  put(x.at(-1), ghost(x, 2));
}

/* The first ghost outside a wall in i and one in j; x: the line in i through it. */
template <typename line>
static __device__ __forceinline__ void fill_corner(const line &x, int in_j) {
  mg_real_t y[4];
  for (int n = 0; n < 4; n++)
    y[n] = ghost(x, 1, (n + 1) * in_j);
  put(x.at(0), mg_ghost_4(1, y[0], y[1], y[2], y[3]));
}

/* Planes of a layout L:
 *
 *     OUT_I, OUT_J    cells that a block writes
 *     COL0, ROW0      column and row of the first one
 *     COLUMNS, ROWS   of the box
 *     ROW             bytes from row to row
 *     THREADS         of the block
 *     column(c)       offset of a column in a row */
template <typename L> struct planes_t {
  static __device__ __forceinline__ void find_walls(const mg_patch_t &p, int i0, int j0,
                                                    walls_t *t) {
    const int i_left = p.n[0] - i0, j_left = p.n[1] - j0;
    t->low_col = p.wall[0][0] && i0 == 0 ? L::COL0 - 1 : -1;
    t->low_row = p.wall[1][0] && j0 == 0 ? L::ROW0 - 1 : -1;
    t->high_col = p.wall[0][1] && i_left <= L::OUT_I ? L::COL0 + i_left : -1;
    t->high_row = p.wall[1][1] && j_left <= L::OUT_J ? L::ROW0 + j_left : -1;
    t->col = t->low_col + 1;
    t->row = t->low_row + 1;
    t->col_end = t->high_col >= 0 ? t->high_col : L::COLUMNS;
    t->row_end = t->high_row >= 0 ? t->high_row : L::ROWS;
    t->walls = t->low_col >= 0 || t->high_col >= 0 || t->low_row >= 0 || t->high_row >= 0;
  }

  /* Call use(at, face) for the cells of a plane, without those of a rim: rows, and twice as many
   * columns. face: the cell is not outside a wall in i or j. */
  template <int rim, typename use_t>
  static __device__ __forceinline__ void for_cells(const walls_t &t, const use_t &use) {
    constexpr int columns = L::COLUMNS - 4 * rim, rows = L::ROWS - 2 * rim;
#pragma unroll 1
    for (int n = (int)threadIdx.x; n < columns * rows; n += L::THREADS) {
      const int r = rim + n / columns, c = 2 * rim + n % columns;
      use(r * L::ROW + L::column(c), r >= t.row && r < t.row_end && c >= t.col && c < t.col_end);
    }
  }

  /* Compute the plane at `depth` outside a wall in k from the four planes before it, nearest first;
   * `to` may be the last of them. `faces` selects the ghosts outside no other wall, `edges` those
   * outside another one. */
  template <int rim = 0>
  static __device__ void fill_plane(int to, const int (&from)[4], const walls_t &t, int depth,
                                    bool faces, bool edges) {
    for_cells<rim>(t, [&](int at, bool face) {
      if (face ? !faces : !edges) return;
      const mg_real_t x1 = value_at(from[0] + at), x2 = value_at(from[1] + at),
                      x3 = value_at(from[2] + at), x4 = value_at(from[3] + at);
      put(to + at, depth == 1 ? mg_ghost_4(1, x1, x2, x3, x4) : mg_ghost_4(2, x1, x2, x3, x4));
    });
  }

  /* The two planes outside the low wall in k, from x[2] on. */
  template <typename ring>
  static __device__ __forceinline__ void fill_low(const ring &x, const walls_t &t) {
    fill_plane(x[1], {x[2], x[3], x[4], x[5]}, t, 1, true, true);
    fill_plane(x[0], {x[2], x[3], x[4], x[5]}, t, 2, true, false);
  }

  /* Those outside the high wall, which is `left` planes above the current one, x[2]: x[5]. */
  template <typename ring>
  static __device__ __forceinline__ void fill_high(const ring &x, const walls_t &t, int left) {
    if (left == 3) fill_plane(x[5], {x[4], x[3], x[2], x[1]}, t, 1, true, false);
    if (left != 2) return;
    fill_plane(x[5], {x[3], x[2], x[1], x[0]}, t, 2, true, false);
    if (t.walls) fill_plane(x[4], {x[3], x[2], x[1], x[0]}, t, 1, false, true);
  }
};
} // namespace mg_fv4_planes

#endif
