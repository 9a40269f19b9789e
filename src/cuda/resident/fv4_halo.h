/* The halo of a tile of a resident smooth of fv4 (resident/fv4.cu): two layers outside faces and
 * one cell outside edges, which is all that A reads. Each thread fills one column of it, with the
 * values of other tiles or, outside walls, with ghosts. */
#ifndef MG_CUDA_RESIDENT_FV4_HALO_H
#define MG_CUDA_RESIDENT_FV4_HALO_H

#include "cuda/cells/fv4_cell.h"
#include "cuda/resident/smooth.h"

namespace mg_resident_fv4 {
enum {
  TILE_JS = MG_FV4_JS, /* strides in shared memory */
  TILE_KS = TILE_JS * (MG_FV4_TILE_MAX_SIDE + 4),
  TILE_SIZE = TILE_KS * (MG_FV4_TILE_MAX_SIDE + 4)
};

using namespace mg_resident;

/** Kernel argument. */
struct job_t : smooth_t {
  mg_fv4_tiles_t tiles;
};

/** The tile of a block: its first cell, and whether it is at a wall. */
struct tile_t {
  int first[3];
  bool wall[3][2];
  __device__ __forceinline__ bool any_wall(void) const {
    return wall[0][0] || wall[0][1] || wall[1][0] || wall[1][1] || wall[2][0] || wall[2][1];
  }
};

static __device__ __forceinline__ tile_t tile_of(const job_t &job, int block) {
  tile_t tile;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const int rest = block / job.tiles.count[d], t = block - rest * job.tiles.count[d];
    tile.first[d] = t * job.tiles.side[d];
    tile.wall[d][0] = t == 0 && job.l.p.wall[d][0];
    tile.wall[d][1] = t == job.tiles.count[d] - 1 && job.l.p.wall[d][1];
    block = rest;
  }
  return tile;
}

/** Whether a cell is in the color of the first step: then 0. */
static __device__ __forceinline__ int phase_of(const job_t &job, int i, int j, int k) {
  return (mg_parity(&job.l.p, i, j, k) ^ job.color) & 1;
}

/** The word that a cell's value has in the mailboxes: all blocks that need the value read the same
 *  one. In colored steps, two adjacent cells share a word: they send at odd and at even numbers. */
template <bool COLORED>
static __device__ __forceinline__ int word_of(const job_t &job, int i, int j, int k) {
  const int cell = i + job.l.p.n[0] * (j + job.l.p.n[1] * k);
  return COLORED ? cell / 2 : cell;
}

/** Mailboxes: the words of all cells for even, then for odd numbers. */
enum { MAX_WORDS = (int)(sizeof(mg_mailboxes_t::half) / 2 / sizeof(mg_real_t) / 2) };
static_assert((int)MG_FV4_TILE_MAX_CELLS_OF_LEVEL <= MAX_WORDS, "cells exceed the mailboxes");
static __device__ __forceinline__ uint64_t *word_at(const job_t &job, int word, int parity) {
  return job.mail->half[0][0] + (ptrdiff_t)(word + parity * MAX_WORDS) * MG_WORD_HALVES;
}

/** One column of the halo, that one thread fills: at a face two cells, at an edge one. */
struct column_t {
  mg_fv4_ghosts_t place;  /**< the cell that it adjoins, and strides inward */
  bool there, wall, deep; /**< fill it; it is outside a wall; two cells */
  int phase;              /**< of the first cell */
  int from[2];            /**< words, if not outside a wall */

  /** Places of the cells in shared memory. */
  __device__ __forceinline__ int at(int depth) const {
    return place.cell() - depth * place.in() - place.across;
  }
};

/** A position next to a tile: a cell at its surface, and the direction of the halo from there. */
struct surface_t {
  bool there;
  int cell[3], out[3];
};

/** Surface number q of a tile: faces, then edges. */
static __device__ __forceinline__ surface_t surface_of(const int side[3], int q) {
  int d = 0, number = 0;
  bool found = false, edge = false;
#pragma unroll
  for (int e = 0; e < 6; e++) { /* directions of faces, and of edges */
    const int a = e % 3, n = e < 3 ? 2 * side[a == 0 ? 1 : 0] * side[a == 2 ? 1 : 2] : 4 * side[a];
    if (!found && q < n) {
      found = true;
      d = a;
      edge = e >= 3;
      number = q;
    }
    q -= n;
  }
  const int t1 = d == 0 ? 1 : 0,
            side_d = d == 0   ? side[0]
                     : d == 1 ? side[1]
                              : side[2],
            side_1 = d == 0 ? side[1] : side[0], side_2 = d == 2 ? side[1] : side[2];
  const int row = number / (edge ? side_d : side_1), a = number - row * (edge ? side_d : side_1),
            high = edge ? 0 : row / side_2, b = row - high * side_2;
  surface_t s;
  s.there = found;
#pragma unroll
  for (int e = 0; e < 3; e++) {
    const bool is_normal = edge != (e == d), up = edge ? (e == t1 ? row & 1 : row >> 1) : high;
    s.out[e] = is_normal ? (up ? 1 : -1) : 0;
    s.cell[e] = is_normal ? (up ? side[e] - 1 : 0) : edge || e == t1 ? a : b;
  }
  return s;
}

/** Index of a cell of the patch; across a period if it is outside. */
static __device__ __forceinline__ int wrapped(int at, int n) {
  return at < 0 ? at + n : at >= n ? at - n : at;
}

/** Column number q of a tile.
 *  @tparam JS, KS  strides in shared memory
 *  @param[out] offset  of its cells in the level's vectors, if not outside a wall */
template <bool COLORED, int JS, int KS>
static __device__ __forceinline__ column_t column_of(const job_t &job, const tile_t &tile, int q,
                                                     ptrdiff_t offset[2]) {
  const mg_patch_t &p = job.l.p;
  const surface_t s = surface_of(job.tiles.side, q);
  const int stride[3] = {1, JS, KS};
  bool outside[3];
  column_t c = {};
#pragma unroll
  for (int e = 0; e < 3; e++) {
    outside[e] = s.out[e] != 0 && (s.out[e] > 0 ? tile.wall[e][1] : tile.wall[e][0]);
    c.wall = c.wall || outside[e];
  }
  int cell = 2 * (1 + JS + KS), in = 0, directions = 0;
#pragma unroll
  for (int e = 0; e < 3; e++) {
    /* An edge outside one wall only adjoins a cell of the halo. */
    const bool beside = c.wall && !outside[e];
    const int inward = beside ? 0 : -s.out[e] * stride[e];
    cell += (s.cell[e] + (beside ? s.out[e] : 0)) * stride[e];
    if (inward != 0 && in != 0) c.place.across = inward;
    if (inward != 0 && in == 0) in = inward;
    directions += s.out[e] != 0;
  }
  c.place.packed = in * 65536 + cell;
  c.there = s.there;
  c.deep = directions == 1;
#pragma unroll
  for (int depth = 1; depth <= 2; depth++) {
    int at[3];
#pragma unroll
    for (int e = 0; e < 3; e++)
      at[e] = wrapped(tile.first[e] + s.cell[e] + depth * s.out[e], p.n[e]);
    offset[depth - 1] = at[0] + at[1] * p.jstride + at[2] * p.kstride;
    c.from[depth - 1] = word_of<COLORED>(job, at[0], at[1], at[2]);
    if (depth == 1) c.phase = phase_of(job, at[0], at[1], at[2]);
  }
  return c;
}
} // namespace mg_resident_fv4

#endif
