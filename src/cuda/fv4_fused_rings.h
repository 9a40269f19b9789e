/* Rings of planes in shared memory for the fused half sweeps of fv4 (fv4_fused.cu): TMA loads, and
 * the ghosts outside walls.
 *
 * All planes have rows of BOX_I columns. Row r and column c of a box belong to cell
 * (i0 - COL0 + c, j0 - ROW0 + r), where (i0, j0) is the first cell that the block writes. A cell has
 * the same offset in all planes, because planes without the first rows are addressed as if they had
 * them.
 *
 * Ghosts outside walls are not read from memory: after a plane has arrived or was computed, those
 * within it are evaluated in place. Planes outside a wall in k are computed from the four planes
 * next to it. Edges use the usual order: k over j over i. */
#ifndef MG_CUDA_FV4_FUSED_RINGS_H
#define MG_CUDA_FV4_FUSED_RINGS_H

#include "cuda/fv4.h"
#include "cuda/overlap.h"
#include "cuda/tma.h"

namespace mg_fv4_fused {
enum {
  /* Cells that a block writes, per plane. The second half sweep reads two cells beyond them, of
   * which it needs new values in the first; these read two cells further. */
  OUT_I = 28,
  OUT_J = 24,
  COL0 = 4, /* one more than read, so that boxes begin at multiples of 32 bytes */
  ROW0 = 3,
  BOX_I = OUT_I + 2 * COL0,
  X_ROWS = OUT_J + 2 * ROW0,
  /* A thread has two cells of a row. Those of the first and the last row copy x. */
  LANES = (OUT_I + 4) / 2,
  ROWS = OUT_J + 4,
  THREADS = LANES * ROWS,
  /* First row of the planes of the half sweep's result, of betas normal to i and k, and to j; number
   * of rows. */
  Y_ROW = 1,
  J_ROW = 2,
  J_ROWS = ROWS - 1,
  /* Doubles per plane: multiples of 128 bytes. */
  X_PLANE = (BOX_I * X_ROWS + 15) / 16 * 16,
  PLANE = (BOX_I * ROWS + 15) / 16 * 16,
  /* Planes of x q-2 .. q+3, of y q-4 .. q, of the betas normal to i and j q-3 .. q+2 and to k
   * q-2 .. q+2 in stage q. The last one of x and of the betas is in flight. */
  X_SLOTS = 6,
  Y_SLOTS = 5,
  IJ_SLOTS = 6,
  K_SLOTS = 5,
  Y_RING = 0,
  X_RING = Y_RING + Y_SLOTS * PLANE,
  I_RING = X_RING + X_SLOTS * X_PLANE,
  J_RING = I_RING + IJ_SLOTS * PLANE,
  K_RING = J_RING + IJ_SLOTS * PLANE,
  END = K_RING + K_SLOTS * PLANE,
  ARRIVALS = 2,
  COL = sizeof(double), /* offsets in bytes of the next column and row */
  ROW = BOX_I * COL,
  I_TO_J = (J_RING - I_RING) * COL
};
constexpr size_t BYTES = END * sizeof(double) + ARRIVALS * sizeof(uint64_t);
static_assert(BYTES <= 227 * 1024, "more than a block may have");
static_assert(LANES == 16 && ROWS % 2 == 0, "a warp has two rows");
static_assert(OUT_I % 4 == 0 && OUT_J % 4 == 0, "the formulas of a wall need 4 cells in the last tile");

extern __shared__ __align__(128) double rings[];

/* A value at an offset in bytes from the start of the rings. */
static __device__ __forceinline__ double value_at(int at) {
  return *(const double *)((const char *)rings + at);
}
static __device__ __forceinline__ void put(int at, double value) {
  *(double *)((char *)rings + at) = value;
}

/* Offset in bytes of cell (row 0, column 0) of the planes, oldest first. That of betas normal to j
 * is I_TO_J further. */
struct slots_t {
  int x[X_SLOTS], y[Y_SLOTS], ij[IJ_SLOTS], k[K_SLOTS];
};

static __device__ __forceinline__ slots_t first_slots(void) {
  slots_t s;
#pragma unroll
  for (int d = 0; d < X_SLOTS; d++)
    s.x[d] = (X_RING + d * X_PLANE) * COL;
#pragma unroll
  for (int d = 0; d < Y_SLOTS; d++)
    s.y[d] = (Y_RING + d * PLANE) * COL - Y_ROW * ROW;
#pragma unroll
  for (int d = 0; d < IJ_SLOTS; d++)
    s.ij[d] = (I_RING + d * PLANE) * COL - Y_ROW * ROW;
#pragma unroll
  for (int d = 0; d < K_SLOTS; d++)
    s.k[d] = (K_RING + d * PLANE) * COL - Y_ROW * ROW;
  return s;
}

template <int n> static __device__ __forceinline__ void rotate(int (&slot)[n]) {
  const int oldest = slot[0];
#pragma unroll
  for (int d = 0; d + 1 < n; d++)
    slot[d] = slot[d + 1];
  slot[n - 1] = oldest;
}

static __device__ __forceinline__ void next_plane(slots_t *s) {
  rotate(s->x);
  rotate(s->y);
  rotate(s->ij);
  rotate(s->k);
}

/* Kernel arguments. x of the job is null for a zero vector. */
struct job_t {
  mg_fv4_job_t sweep;
  int low[3];   /* ghosts below cell 0 that the tensor maps include */
  int planes;   /* that a block writes */
  mg_region_tiles_t tiles;
};
struct maps_t {
  CUtensorMap x, beta[3];
};

/* The cells that a block writes, and the positions of walls in its box. low_* and high_* are the
 * row or column of the first ghost outside a wall, or -1 without a wall; row, col and *_end bound
 * the cells inside. */
struct tile_t {
  int i0, j0, k0, k1;
  int low_col, high_col, low_row, high_row;
  int row, row_end, col, col_end;
  int x_first, x_end; /* planes of x that are loaded */
  bool walls;         /* in i or j */
};

static __device__ __forceinline__ tile_t tile_at(const job_t &job) {
  const mg_patch_t &p = job.sweep.l.p;
  int at[3];
  mg_tile_of_block(job.tiles, at);
  tile_t t;
  t.i0 = at[0] * OUT_I;
  t.j0 = at[1] * OUT_J;
  t.k0 = at[2] * job.planes;
  t.k1 = min(t.k0 + job.planes, p.n[2]);
  const int i_left = p.n[0] - t.i0, j_left = p.n[1] - t.j0;
  t.low_col = p.wall[0][0] && t.i0 == 0 ? COL0 - 1 : -1;
  t.low_row = p.wall[1][0] && t.j0 == 0 ? ROW0 - 1 : -1;
  t.high_col = p.wall[0][1] && i_left <= OUT_I ? COL0 + i_left : -1;
  t.high_row = p.wall[1][1] && j_left <= OUT_J ? ROW0 + j_left : -1;
  t.col = t.low_col >= 0 ? t.low_col + 1 : 0;
  t.row = t.low_row >= 0 ? t.low_row + 1 : 0;
  t.col_end = t.high_col >= 0 ? t.high_col : BOX_I;
  t.row_end = t.high_row >= 0 ? t.high_row : X_ROWS;
  t.x_first = p.wall[2][0] ? 0 : INT_MIN;
  t.x_end = p.wall[2][1] ? p.n[2] : INT_MAX;
  t.walls = t.low_col >= 0 || t.high_col >= 0 || t.low_row >= 0 || t.high_row >= 0;
  return t;
}

/* ---- loads ---- */

/* The loads of one arrival; done by one thread. */
struct loader_t {
  const job_t *job;
  const maps_t *maps;
  const tile_t *tile;
  uint64_t *arrived;
};

static __device__ __forceinline__ void load_x(const loader_t &l, int to, int k) {
  if (!l.job->sweep.x || k < l.tile->x_first || k >= l.tile->x_end) return;
  mg_mbarrier_add(l.arrived, X_ROWS * ROW);
  mg_tma_load((char *)rings + to, &l.maps->x, l.tile->i0 - COL0 + l.job->low[0],
              l.tile->j0 - ROW0 + l.job->low[1], k + l.job->low[2], l.arrived);
}

static __device__ __forceinline__ void load_beta(const loader_t &l, int d, int to, int k) {
  const int row = d == 1 ? (int)J_ROW : (int)Y_ROW;
  mg_mbarrier_add(l.arrived, (d == 1 ? (int)J_ROWS : (int)ROWS) * ROW);
  mg_tma_load((char *)rings + to + row * ROW, &l.maps->beta[d], l.tile->i0 - COL0 + l.job->low[0],
              l.tile->j0 - ROW0 + row + l.job->low[1], k + l.job->low[2], l.arrived);
}

static __device__ __forceinline__ void load_ij(const loader_t &l, int to, int k) {
  load_beta(l, 0, to, k);
  load_beta(l, 1, to + I_TO_J + (J_ROW - Y_ROW) * 0, k);
}
