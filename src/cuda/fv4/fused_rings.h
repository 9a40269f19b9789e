/* Rings of planes in shared memory (fv4/planes.h) for the fused half sweeps of fv4 (fv4/fused.cu):
 * TMA loads, and when ghosts are filled.
 *
 * All planes have rows of BOX_I columns. Row r and column c of a box belong to cell
 * (i0 - COL0 + c, j0 - ROW0 + r), where (i0, j0) is the first cell that the block writes. A cell
 * has the same offset in all planes, because planes without the first rows are addressed as if they
 * had them. */
#ifndef MG_CUDA_FV4_FUSED_RINGS_H
#define MG_CUDA_FV4_FUSED_RINGS_H

#include "cuda/fv4/planes.h"
#include "cuda/runtime/pieces.h"
#include <climits>

namespace mg_fv4_fused {
using namespace mg_fv4_planes;
enum {
  /* A thread has PAIRS pairs of cells of a row, at a distance of 2 LANES cells. Of each two rows,
   * PHASE threads in a sequence have the first one, the next PHASE threads the second one. */
  LANES = 16,
  PAIRS = sizeof(double) / sizeof(mg_real_t),
  PHASE = 8 * PAIRS,
  /* Cells that a block writes, per plane. The first half sweep covers one cell more on each side,
   * and reads two cells further. */
  OUT_I = 2 * LANES * PAIRS - 4,
  OUT_J = 28,
  COL0 = 4, /* one more than read: boxes begin at multiples of 32 bytes (float: 16) */
  ROW0 = 3,
  BOX_I = OUT_I + 2 * COL0,
  X_ROWS = OUT_J + 2 * ROW0,
  /* The threads of the first and the last row copy x. */
  ROWS = OUT_J + 4,
  THREADS = LANES * ROWS,
  FIRST_ROW = 1, /* first row of the planes of y and of the betas; they have ROWS rows */
  Y_RIM = 1,     /* of the box, without y */
  /* Values per plane: multiples of 128 bytes. */
  LINE = 128 / sizeof(mg_real_t),
  X_PLANE = (BOX_I * X_ROWS + LINE - 1) / LINE * LINE,
  PLANE = (BOX_I * ROWS + LINE - 1) / LINE * LINE,
  /* Planes in stage q: x q-2 .. q+3; y, the result of the first half sweep, q-3 .. q; betas normal
   * to i and j q-2 .. q+2, to k q-1 .. q+2. The last one of x and of the betas is in flight. */
  X_SLOTS = 6,
  Y_SLOTS = 4,
  IJ_SLOTS = 5,
  K_SLOTS = 4,
  Y_RING = 0,
  X_RING = Y_RING + Y_SLOTS * PLANE,
  I_RING = X_RING + X_SLOTS * X_PLANE,
  J_RING = I_RING + IJ_SLOTS * PLANE,
  K_RING = J_RING + IJ_SLOTS * PLANE,
  END = K_RING + K_SLOTS * PLANE,
  ARRIVALS = 2,      /* of loads; one more is that of the warps at a wall in j */
  ROW = BOX_I * COL, /* bytes from row to row */
  I_TO_J = (J_RING - I_RING) * COL
};
constexpr size_t BYTES = END * sizeof(mg_real_t) + (ARRIVALS + 1) * sizeof(uint64_t);
static_assert(BYTES + 128 <= 227 * 1024, "more than a block may have beside its tile");
static_assert(LANES == 16 && ROWS % 2 == 0, "a warp has two rows");
static_assert(OUT_I % 4 == 0 && OUT_J % 4 == 0,
              "the formulas of a wall need 4 cells in the last tile");

/* The planes of x: see planes_t. A tile has at most one wall in i and one in j. */
struct layout_t {
  static constexpr int OUT_I = mg_fv4_fused::OUT_I, OUT_J = mg_fv4_fused::OUT_J,
                       COL0 = mg_fv4_fused::COL0, ROW0 = mg_fv4_fused::ROW0, COLUMNS = BOX_I,
                       ROWS = X_ROWS, ROW = mg_fv4_fused::ROW, THREADS = mg_fv4_fused::THREADS;
  static __device__ __forceinline__ int column(int c) { return c * COL; }
};
typedef planes_t<layout_t> box_t;

/* Cell (row 0, column 0) of the planes. The planes of betas normal to j are I_TO_J further. */
struct slots_t {
  mg_ring_t<X_SLOTS, X_PLANE * COL> x;
  mg_ring_t<Y_SLOTS, PLANE * COL> y;
  mg_ring_t<IJ_SLOTS, PLANE * COL> ij;
  mg_ring_t<K_SLOTS, PLANE * COL> k;

  __device__ __forceinline__ slots_t() {
    x.begin(X_RING * COL);
    y.begin(Y_RING * COL - FIRST_ROW * ROW);
    ij.begin(I_RING * COL - FIRST_ROW * ROW);
    k.begin(K_RING * COL - FIRST_ROW * ROW);
  }
  __device__ __forceinline__ void next(void) {
    x.next();
    y.next();
    ij.next();
    k.next();
  }
};

/* Kernel arguments. x of the job is null for a zero vector. */
struct job_t {
  mg_fv4_job_t sweep;
  mg_real_t a, b_h2;        /* those of the view, rounded to the type of cells */
  int low[3];               /* ghosts below cell 0 that the tensor maps include */
  const mg_piece_t *pieces; /* planes that each block writes */
};
struct maps_t {
  CUtensorMap x, beta[3];
};

/* The cells that a block writes, and the walls in its box. */
struct tile_t : walls_t {
  int i0, j0, k0, k1;
  int x_first, x_end; /* planes of x that are loaded */
  int read, read_end; /* planes that the first half sweep changes */
};

static __device__ __forceinline__ tile_t tile_at(const job_t &job) {
  const mg_patch_t &p = job.sweep.l.p;
  const mg_piece_t piece = job.pieces[blockIdx.x];
  tile_t t;
  t.i0 = piece.i * OUT_I;
  t.j0 = piece.j * OUT_J;
  t.k0 = piece.first;
  t.k1 = piece.end;
  box_t::find_walls(p, t.i0, t.j0, &t);
  t.x_first = p.wall[2][0] ? 0 : INT_MIN;
  t.x_end = p.wall[2][1] ? p.n[2] : INT_MAX / 2;
  t.read = max(t.k0 - 1, t.x_first);
  t.read_end = min(t.k1 + 1, t.x_end);
  return t;
}

/* ---- loads ---- */

/* Whether plane k of x is loaded: it is not outside a wall, and x is not zero. */
static __device__ __forceinline__ bool loads_x(const job_t &job, const tile_t &t, int k) {
  return job.sweep.x && k >= t.x_first && k < t.x_end;
}

static __device__ __forceinline__ void load(const CUtensorMap *map, int to, int row, int k,
                                            const job_t &job, const tile_t &t, uint64_t *arrived) {
  mg_tma_load((char *)rings + to + row * ROW, map, t.i0 - COL0 + job.low[0],
              t.j0 - ROW0 + row + job.low[1], k + job.low[2], arrived);
}

/* Request what stage q + ahead needs beyond the stage before it: x of plane q + 2, betas normal to
 * i and j of plane q + 1, and to k of face q + 1. With `all`, also what the stage before had. `s`
 * has the slots of stage q. Called by one thread. */
template <int ahead, bool all>
static __device__ __forceinline__ void request(const job_t &job, const maps_t &maps,
                                               const tile_t &t, const slots_t &s, int q,
                                               uint64_t *arrived) {
  constexpr int X0 = all ? 1 : 4, IJ0 = all ? 1 : 3, K0 = all ? 1 : 2;
  int rows = 2 * (4 - IJ0) * ROWS + (3 - K0) * ROWS;
#pragma unroll
  for (int d = X0 + ahead; d < 5 + ahead; d++)
    if (loads_x(job, t, q - 2 + d)) rows += X_ROWS;
  mg_mbarrier_expect(arrived, (unsigned)(rows * ROW));
#pragma unroll
  for (int d = X0 + ahead; d < 5 + ahead; d++)
    if (loads_x(job, t, q - 2 + d)) load(&maps.x, s.x[d], 0, q - 2 + d, job, t, arrived);
#pragma unroll
  for (int d = IJ0 + ahead; d < 4 + ahead; d++) {
    load(&maps.beta[0], s.ij[d], FIRST_ROW, q - 2 + d, job, t, arrived);
    load(&maps.beta[1], s.ij[d] + I_TO_J, FIRST_ROW, q - 2 + d, job, t, arrived);
  }
#pragma unroll
  for (int d = K0 + ahead; d < 3 + ahead; d++)
    load(&maps.beta[2], s.k[d], FIRST_ROW, q - 1 + d, job, t, arrived);
}

/* ---- ghosts outside walls ---- */

/* Barrier of the two warps that have the four rows next to a wall in j (fill_ghosts_of_y). A tile
 * has at most one wall in j. The four rows start at an even row, because n and OUT_J are multiples
 * of 4, so exactly two whole warps call it.
 *
 * It is an mbarrier on which every thread arrives, because racecheck follows those. With a named
 * barrier of two warps, or one arrival per warp after __syncwarp, it reported hazards between
 * accesses that a later barrier of the block separates. The cost: 1 % at 256^3 on an H100. */
enum { WALL_THREADS = 64 };
static __device__ __forceinline__ void sync_two_warps(unsigned parity) {
  uint64_t *const arrived = reinterpret_cast<uint64_t *>(rings + END) + ARRIVALS;
  mg_mbarrier_arrive(arrived);
  mg_mbarrier_wait(arrived, parity);
}

/* Fill ghosts of a plane of x outside the walls in i and j: lines first, first + step, .. */
static __device__ __forceinline__ void fill_ghosts_ij(int plane, const tile_t &t, int first,
                                                      int step) {
  const int g_col = max(t.low_col, t.high_col), in_i = t.low_col >= 0 ? COL : -COL,
            g_row = max(t.low_row, t.high_row), in_j = t.low_row >= 0 ? (int)ROW : -(int)ROW;
  const int at_i = plane + g_col * COL, at_j = plane + g_row * (int)ROW;
  const int rows = g_col >= 0 ? t.row_end - t.row : 0, cols = g_row >= 0 ? t.col_end - t.col : 0,
            corners = rows > 0 && cols > 0;
  for (int n = first; n < rows + cols + corners; n += step)
    if (n < rows)
      fill_line(line_t{at_i + (t.row + n) * (int)ROW, in_i});
    else if (n < rows + cols)
      fill_line(line_t{at_j + (t.col + n - rows) * COL, in_j});
    else
      fill_corner(line_t{at_i + g_row * (int)ROW, in_i}, in_j);
}

/* The planes of y outside the low wall in k, at depths 1 and 2, from the four planes inside,
 * nearest first. They replace planes 3 and 2. */
static __device__ void fill_low_ghosts(const tile_t &t, const int (&from)[4]) {
  box_t::for_cells<Y_RIM>(t, [&](int at, bool) {
    const mg_real_t x1 = value_at(from[0] + at), x2 = value_at(from[1] + at),
                    x3 = value_at(from[2] + at), x4 = value_at(from[3] + at);
    put(from[3] + at, mg_ghost_4(1, x1, x2, x3, x4));
    put(from[2] + at, mg_ghost_4(2, x1, x2, x3, x4));
  });
}

/* Fill the ghosts of x for the first stage q. The first two planes after a wall in k have arrived
 * too. */
static __device__ __forceinline__ void fill_first_ghosts(const slots_t &s, const tile_t &t,
                                                         bool low) {
  if (t.walls) {
#pragma unroll
    for (int d = 1; d < 6; d++)
      if (low ? d >= 2 : d <= 3) fill_ghosts_ij(s.x[d], t, (int)threadIdx.x, THREADS);
    mg_tma_fence(); /* before later loads */
    __syncthreads();
  }
  if (!low) return;
  box_t::fill_low(s.x, t);
  mg_tma_fence();
  __syncthreads();
}

/* In stage q: fill the ghosts in plane q + 2 of x, and compute planes outside the high wall in k.
 * The last warp has no other work. Its ghosts lie where later loads go. */
static __device__ __forceinline__ void fill_next_ghosts(const slots_t &s, const tile_t &t, int q) {
  const int lane = (int)threadIdx.x - (THREADS - 32);
  if (t.walls && lane >= 0 && q + 2 < t.x_end) {
    fill_ghosts_ij(s.x[4], t, lane, 32);
    mg_tma_fence();
  }
  box_t::fill_high(s.x, t, t.x_end - q);
}
} // namespace mg_fv4_fused

#endif
