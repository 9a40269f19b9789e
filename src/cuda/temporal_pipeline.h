/* Input of the fused sweeps of temporal.cu, stage by stage: rings of planes in shared memory, and
 * the TMA boxes that fill them (tma.h). */
#ifndef MG_CUDA_TEMPORAL_PIPELINE_H
#define MG_CUDA_TEMPORAL_PIPELINE_H

#include "cuda/overlap.h"
#include "cuda/tma.h"

namespace mg_temporal {
/* Three steps in the smooth ladder of hpgmg-bench on an H200, 10^9 cell-steps per second: tiles of
 * 32 x 32 169.3; 32 x 24 143.8; 32 x 16 with two blocks per SM 143.1; a cluster of two 116.7.
 * Prefetching two planes ahead raised the first from 169.3 to 175.7. docs/kernels.md has a later
 * run. */
enum { WIDTH = 32, MAX_ROWS = 32, LANES = WIDTH / 2 };
/* Columns along i that a tile writes, and the starts of tile and box: multiples of 64 bytes. This
 * alignment raised 158.4 to 166.9 (two planes ahead, a slower GPU). */
enum { OUT_I = 24, OUT_START = 4, BOX_START = 8, FIRST_LANE = (BOX_START - OUT_START) / 2 };

/* Kernel arguments of a launch. */
struct job_t {
  mg_cuda_patch_t l;
  int dst, previous_out;    /* last and previous iterate; previous_out < 0: none */
  bool has_x, has_previous; /* the iterate, and the previous one, are read; otherwise zero */
  int color;                /* color of the first step */
  double c1[MG_MAX_FUSED_SWEEPS], c2[MG_MAX_FUSED_SWEEPS];
  int low[3]; /* cells of the tensor maps below cell 0 */
  int planes; /* planes that a block writes */
  mg_region_tiles_t tiles;
  double *coarse; /* RESIDUAL_RESTRICTED: coarse cell (0, 0, 0), and its strides */
  ptrdiff_t coarse_jstride, coarse_kstride;
  unsigned long long *maximum; /* RESIDUAL_NORM */
};

struct maps_t {
  CUtensorMap x, previous, f, alpha, beta[3];
};

/* Use of the residual of the last step's result, which is a further stage of the pipeline. */
enum residual_use_t { RESIDUAL_UNUSED, RESIDUAL_RESTRICTED, RESIDUAL_NORM };

/* Rows by which tiles overlap: one per step and for the residual; even with a residual, so that a
 * tile starts at a coarse cell. */
constexpr int margin_of(int steps, residual_use_t use) {
  return use == RESIDUAL_UNUSED ? steps : (steps + 2) / 2 * 2;
}

/* A pipeline. IS_COLORED: half sweeps; otherwise steps on all cells, which may read two iterates.
 * N_ROWS: rows of a tile; N_AHEAD: stages requested ahead. The solver uses the defaults; the
 * laboratory also measures others. IS_WEIGHTED: half sweeps with c2 != 1; the multiplication makes
 * F-cycles of 128^3 and 256^3 2 % slower on an H100. */
template <bool IS_COLORED, int N_STEPS, bool ALPHA_VARIES, int N_ROWS = MAX_ROWS,
          int N_AHEAD = IS_COLORED && !ALPHA_VARIES ? 2 : 1, bool IS_WEIGHTED = false,
          residual_use_t RESIDUAL_USE = RESIDUAL_UNUSED>
struct shape_t {
  static constexpr bool COLORED = IS_COLORED, VARIES = ALPHA_VARIES, WEIGHTED = IS_WEIGHTED;
  static constexpr residual_use_t USE = RESIDUAL_USE;
  static constexpr int STEPS = N_STEPS, ROWS = N_ROWS, AHEAD = N_AHEAD;
  /* Planes from the one that arrives to the last one computed; cells that tiles overlap in j. */
  static constexpr int DEPTH = STEPS + (USE != RESIDUAL_UNUSED), MARGIN = margin_of(STEPS, USE);
  static constexpr int THREADS = LANES * ROWS, PLANE = WIDTH * ROWS;
  static constexpr int BLOCKS = MAX_ROWS / ROWS; /* per SM */
  static constexpr int OUT_J = ROWS - 2 * MARGIN;
  /* Number of planes in each ring, and start of each ring in doubles. */
  static constexpr int X_SLOTS = (COLORED ? DEPTH + 1 : 2) + AHEAD, OWN_SLOTS = 1 + AHEAD,
                       ALL_SLOTS = DEPTH + AHEAD, STEP_SLOTS = COLORED ? 0 : 2 * (DEPTH - 1);
  static constexpr int ARRIVALS = AHEAD + 1;
  static constexpr int X = 0, STEP = X + X_SLOTS * PLANE, BI = STEP + STEP_SLOTS * PLANE,
                       BJ = BI + ALL_SLOTS * PLANE, F = BJ + ALL_SLOTS * PLANE,
                       ALPHA = F + ALL_SLOTS * PLANE, BK = ALPHA + (VARIES ? ALL_SLOTS * PLANE : 0),
                       PREVIOUS = BK + OWN_SLOTS * PLANE,
                       END = PREVIOUS + (COLORED ? 0 : OWN_SLOTS * PLANE);
  static constexpr size_t BYTES = END * sizeof(double) + ARRIVALS * sizeof(uint64_t);
  static_assert(BYTES <= 227 * 1024, "more than a block may have");
};
template <int N_STEPS, bool ALPHA_VARIES>
using weighted_shape_t = shape_t<true, N_STEPS, ALPHA_VARIES, MAX_ROWS, ALPHA_VARIES ? 1 : 2, true>;
template <typename S, residual_use_t USE>
using with_residual_t = shape_t<S::COLORED, S::STEPS, S::VARIES, S::ROWS,
                                S::COLORED && !S::VARIES ? 2 : 1, S::WEIGHTED, USE>;

/* Advance to the next of the n planes of a ring. */
template <typename S> __device__ __forceinline__ void next(int *plane, int n) {
  *plane = *plane == (n - 1) * S::PLANE ? 0 : *plane + S::PLANE;
}

/* Stage q consists of x and beta_k of plane q, and all other arrays of plane q - 1. This is its
 * position in the rings, in doubles, and the index of its arrival barrier. */
struct slots_t {
  int x, own, all, arrival;
};
template <typename S> __device__ __forceinline__ void next(slots_t *at) {
  next<S>(&at->x, S::X_SLOTS);
  next<S>(&at->own, S::OWN_SLOTS);
  next<S>(&at->all, S::ALL_SLOTS);
  at->arrival = at->arrival + 1 == S::ARRIVALS ? 0 : at->arrival + 1;
}

/* Lowest column of a block's box, and the planes that it writes: first <= k < last. */
struct tile_t {
  int i0, j0, first, last;
};

/* Request stage q; called by one thread. Steps change no cell of the first and the last row, so
 * only x and the previous iterate are needed there; the rest of these rows is leftovers, and no
 * result depends on it. */
template <typename S>
__device__ __forceinline__ void request(double *shared, const job_t &job, const maps_t &maps,
                                        const tile_t &t, int q, const slots_t &to,
                                        uint64_t *arrived) {
  const bool previous = !S::COLORED && job.has_previous;
  const int rows = (job.has_x + previous) * S::ROWS + (3 + S::VARIES) * (S::ROWS - 2) + S::ROWS - 1;
  const int i = t.i0 + job.low[0], j = t.j0 + job.low[1], k = q + job.low[2];
  double *const own = shared + to.own, *const all = shared + to.all + WIDTH;
  arrived += to.arrival;
  mg_mbarrier_expect(arrived, (unsigned)(rows * WIDTH * (int)sizeof(double)));
  if (job.has_x) mg_tma_load(shared + S::X + to.x, &maps.x, i, j, k, arrived);
  mg_tma_load(own + S::BK + WIDTH, &maps.beta[2], i, j + 1, k, arrived);
  mg_tma_load(all + S::BI, &maps.beta[0], i, j + 1, k - 1, arrived);
  mg_tma_load(all + S::BJ, &maps.beta[1], i, j + 1, k - 1, arrived);
  mg_tma_load(all + S::F, &maps.f, i, j + 1, k - 1, arrived);
  if (previous) mg_tma_load(own + S::PREVIOUS, &maps.previous, i, j, k - 1, arrived);
  if (S::VARIES) mg_tma_load(all + S::ALPHA, &maps.alpha, i, j + 1, k - 1, arrived);
}
} // namespace mg_temporal

#endif
