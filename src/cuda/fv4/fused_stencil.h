/* The stencil of fv4 in the fused half sweeps (fv4/fused.cu): loads from the rings of planes. */
#ifndef MG_CUDA_FV4_FUSED_STENCIL_H
#define MG_CUDA_FV4_FUSED_STENCIL_H

#include "cuda/fv4/fused_rings.h"
#include "cuda/fv4/loads.h"

namespace mg_fv4_fused {
/* Betas of the two faces at `step` from each other, one plane below faces that are known; t:
 * offsets in the tangential direction of the plane. */
static __device__ __forceinline__ mg_faces10_t load_faces_below(const mg_faces10_t &up, int below,
                                                                int at, int step,
                                                                const offsets_t &t) {
  return {{up.low.t2.low, load_neighbors2(at, t), {value_at(below), up.low.c}},
          {up.high.t2.low, load_neighbors2(at + step, t), {value_at(below + step), up.high.c}}};
}

/* What a half sweep reads of a cell's neighborhood. */
struct stencil_t {
  mg_values25_t x;
  mg_betas30_t beta;
};

/* Of the cell at offset `cell` of the third one of the planes of x, or y; ij: the lowest one of the
 * betas' planes. */
template <typename ring>
static __device__ __forceinline__ stencil_t load(const slots_t &s, const ring &x, int ij,
                                                 int cell) {
  const offsets_t i = offsets(COL), j = offsets(ROW);
  return {load_values25(i, j, planes5(x, 0, cell)),
          load_betas30(i, j, planes3(s.ij, ij, cell), planes3(s.ij, ij, cell + I_TO_J),
                       s.k[ij] + cell, s.k[ij + 1] + cell)};
}

/* For the first half sweep in plane q. */
static __device__ __forceinline__ stencil_t load_first(const slots_t &s, int cell) {
  return load(s, s.x, 1, cell);
}

/* For the second half sweep in plane q - 1; high2: y two planes above the cell. */
static __device__ __forceinline__ stencil_t load_second(const slots_t &s, int cell,
                                                        mg_real_t high2) {
  const int y[5] = {s.y[0], s.y[1], s.y[2], s.y[3], s.y[3]};
  stencil_t v = load(s, y, 0, cell);
  v.x.k.high2 = high2;
  return v;
}

/* The same, in the column for which the first half sweep has loaded `up` and computed `above`: 20
 * of the 55 values are known. */
static __device__ __forceinline__ stencil_t load_second_below(const slots_t &s, int cell,
                                                              const stencil_t &up,
                                                              mg_real_t above) {
  const int at = s.y[2] + cell, low = s.y[1] + cell, below = s.ij[0] + cell, level = s.ij[1] + cell;
  const offsets_t i = offsets(COL), j = offsets(ROW);
  stencil_t v;
  v.x.c = up.x.k.low;
  v.x.i = load_axis4(at, i);
  v.x.j = load_axis4(at, j);
  v.x.k.low2 = value_at(s.y[0] + cell);
  v.x.k.low = value_at(low);
  v.x.k.high = above;
  v.x.k.high2 = up.x.k.high;
  v.x.ij = load_edges4(at, i, j);
  v.x.ik = {value_at(low - COL), up.x.i.low, value_at(low + COL), up.x.i.high};
  v.x.jk = {value_at(low - ROW), up.x.j.low, value_at(low + ROW), up.x.j.high};
  v.beta.i = load_faces_below(up.beta.i, below, level, COL, j);
  v.beta.j = load_faces_below(up.beta.j, below + I_TO_J, level + I_TO_J, ROW, i);
  v.beta.k.low = load_face5(s.k[0] + cell, i, j);
  v.beta.k.high = up.beta.k.low;
  return v;
}

/* What a half sweep reads once of a cell. */
struct input_t {
  mg_real_t f, dinv, a; /* a: only if alpha varies */
};

/* New value of a cell. */
template <bool varies>
static __device__ __forceinline__ mg_real_t relax(const job_t &job, const stencil_t &v,
                                                  const input_t &in) {
  const mg_real_t a = varies ? in.a : job.a;
  const mg_real_t ax = mg_apply_values25(&v.x, &v.beta, a, job.b_h2);
  return mg_relax(v.x.c, ax, in.f, in.dinv, job.sweep.c2);
}
} // namespace mg_fv4_fused

namespace mg_fv4_fused {
/* A pair of cells of a thread. */
struct pair_t {
  int cell;         /* offset of the left cell in a plane */
  int parity;       /* of the left cell in plane 0, with the color of the first half sweep */
  ptrdiff_t column; /* of the left cell, in the patch's vectors */
  bool inside;      /* not outside walls, nor beyond the ghosts */
  bool computes;    /* the first half sweep changes the pair; otherwise it copies x */
  bool writes;
  unsigned ghosts; /* of y outside walls, GHOST_*: what this thread does for them */
};

/* Outside a wall in i, the pair next to it fills its row. The four cells next to it belong to one
 * warp, which has a thread's pairs in ascending order. Outside a wall in j, the two rows next to
 * it, which belong to one warp, fill the left and the right columns of their pairs. */
enum : unsigned {
  GHOST_I = 1,      /* fill those next to the pair in i */
  GHOST_J = 2,      /* fill those in j of one column, and the corner with GHOST_I */
  GHOST_J_NEXT = 4, /* the same, but from the second row and without the corner */
  GHOST_WAIT = 8    /* the pair's warp has some of the four rows next to a wall in j */
};

static __device__ __forceinline__ unsigned ghosts_of_pair(const mg_patch_t &p, const tile_t &t,
                                                          int i, int j, bool inside) {
  const int depth = t.low_row >= 0 ? j : p.n[1] - 1 - j; /* of the row, from the wall in j */
  const bool wait = (t.low_row >= 0 || t.high_row >= 0) && depth >= 0 && depth < 4;
  unsigned ghosts = wait ? GHOST_WAIT : 0;
  if (inside && ((t.low_col >= 0 && i == 0) || (t.high_col >= 0 && i + 2 == p.n[0])))
    ghosts |= GHOST_I;
  if (inside && wait && depth == 0) ghosts |= GHOST_J;
  if (inside && wait && depth == 1) ghosts |= GHOST_J_NEXT;
  return ghosts;
}

/* Pair n of the thread. All pairs of a thread have the same row and parity. */
static __device__ __forceinline__ pair_t pair_of_thread(const job_t &job, const tile_t &t, int n) {
  const mg_patch_t &p = job.sweep.l.p;
  const int thread = (int)threadIdx.x, half = thread / PHASE;
  const int lane = half / 2 * PHASE % LANES + thread % PHASE + n * LANES;
  int row = thread / 32 * 2 + half % 2;
  /* The first warp has the first and the last computing row; the last warp has the two copying
   * rows. */
  if (row < 2)
    row = row == 0 ? 1 : ROWS - 2;
  else if (row >= ROWS - 2)
    row = row == ROWS - 2 ? 0 : ROWS - 1;
  const int i = t.i0 + 2 * (lane - 1), j = t.j0 + row - 2;
  pair_t c;
  c.cell = (row + FIRST_ROW) * ROW + (COL0 - 2 + 2 * lane) * COL;
  c.parity = mg_parity(&p, 0, j, 0) ^ job.sweep.color;
  c.column = i + j * p.jstride;
  c.inside = (i >= 0 || !p.wall[0][0]) && i < p.n[0] + (p.wall[0][1] ? 0 : 2) &&
             (j >= 0 || !p.wall[1][0]) && j < p.n[1] + (p.wall[1][1] ? 0 : 2);
  c.computes = c.inside && row > 0 && row < ROWS - 1;
  c.writes =
      lane > 0 && lane < PAIRS * LANES - 1 && i < p.n[0] && row > 1 && row < ROWS - 2 && j < p.n[1];
  c.ghosts = ghosts_of_pair(p, t, i, j, c.inside);
  return c;
}

/* Fill the ghosts of a plane of y outside the walls in i and j. Only the warps that have the four
 * cells next to a wall wait for each other: rows for a wall in i, two warps for a wall in j.
 * Parity: of the mbarrier's phase, alternately 0 and 1. */
static __device__ __forceinline__ void fill_ghosts_of_y(const tile_t &t, const pair_t &c, int plane,
                                                        unsigned parity) {
  const int at = plane + c.cell, in_i = t.low_col >= 0 ? COL : -COL,
            in_j = t.low_row >= 0 ? (int)ROW : -(int)ROW,
            ghost_i = at + (t.low_col >= 0 ? -COL : 2 * COL);
  __syncwarp();
  if (c.ghosts & GHOST_I) fill_line(line_t{ghost_i, in_i});
  if (c.ghosts & GHOST_WAIT) {
    sync_two_warps(parity);
    if (c.ghosts & GHOST_J) {
      fill_line(line_t{at - in_j, in_j});
      if (c.ghosts & GHOST_I) put(ghost_i - in_j, ghost(line_t{ghost_i - in_j, in_j}, 1));
    }
    if (c.ghosts & GHOST_J_NEXT) fill_line(line_t{at + COL - 2 * in_j, in_j});
  }
  __syncwarp();
}

/* Replace the neighbors of a cell that are ghosts by those of y. */
static __device__ __forceinline__ void load_ghosts_of_y(const tile_t &t, const pair_t &c, int at,
                                                        mg_values25_t *v) {
  if (c.ghosts & GHOST_I) { /* a cell that is no ghost keeps its value */
    v->i.low = value_at(at - COL);
    v->i.high = value_at(at + COL);
  }
  if (!(c.ghosts & GHOST_J)) return;
  if (t.low_row >= 0)
    v->j.low = value_at(at - (int)ROW);
  else
    v->j.high = value_at(at + (int)ROW);
}
} // namespace mg_fv4_fused

#endif
