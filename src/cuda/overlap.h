/* A patch as tiles of which a block each takes one, and the parts of it: tiles that reach into no
 * ghosts can go on while messages fill these.
 *
 * A processor that carries messages comes late to its tiles. Where the last wave of blocks leaves
 * as many processors idle as carry some, nobody waits for them; elsewhere the whole operation takes
 * as much longer as the messages, which on few processors take longer than on all. F-cycles on two
 * H200s with messages beside and before, ms: 640^3 19.28 and 19.51, periodic 20.52 and 20.98;
 * periodic 320^3, of which the last wave is full, 4.44 and 4.37. So tiles are cut such that
 * processors are left, and where that takes longer than another cut, messages come first. That was
 * never slower, within the 0.2 % by which runs differ: docs/transports.md. */
#ifndef MG_CUDA_OVERLAP_H
#define MG_CUDA_OVERLAP_H

#include "cuda/cuda.h"

/** Processors that messages between devices keep busy beside other work. With 8, 16 and 32 two
 *  H200s made 13.50, 13.57 and 13.56 GDOF/s of 640^3 cells. */
enum { MG_PROCESSORS_BESIDE = 24 };

/** A cuboid of tiles. */
struct mg_tiles_t {
  int first[3], n[3];
};

MG_INLINE int mg_count_tiles(const mg_tiles_t &t) {
  return t.n[0] * t.n[1] * t.n[2];
}

/** The tiles of a launch, in cuboids. */
struct mg_region_tiles_t {
  mg_tiles_t list[6];
};

/** How a patch is cut along each direction. */
struct mg_cut_t {
  int cells[3]; /**< of a tile that it writes; the last tile's may be fewer */
  int reach[3]; /**< what it reads begins so many cells before these */
  int box[3];   /**< cells of what it reads */
  int n[3];     /**< tiles */
};

/** Which tile a block has of a launch. */
static __device__ __forceinline__ void mg_tile_of_block(const mg_region_tiles_t &part, int at[3]) {
  int number = (int)blockIdx.x, c = 0;
  while (number >= mg_count_tiles(part.list[c]))
    number -= mg_count_tiles(part.list[c++]);
  const mg_tiles_t &t = part.list[c];
  at[0] = t.first[0] + number % t.n[0];
  at[1] = t.first[1] + number / t.n[0] % t.n[1];
  at[2] = t.first[2] + number / t.n[0] / t.n[1];
}

/** Does tile `at` along d reach into ghosts that are not beyond walls? */
inline bool mg_tile_in_ghosts(const mg_patch_t &p, const mg_cut_t &c, int d, int at) {
  const int first = at * c.cells[d] - c.reach[d], end = first + c.box[d];
  return (first < 0 && !p.wall[d][0]) || (end > p.n[d] && !p.wall[d][1]);
}

/** The tiles of a part of a patch.
 *  @return how many: blocks to launch */
inline int mg_region_tiles(const mg_patch_t &p, const mg_cut_t &c, mg_region_t part,
                           mg_region_tiles_t *out) {
  int n = 0, blocks = 0;
  mg_tiles_t rest = {{0, 0, 0}, {c.n[0], c.n[1], c.n[2]}};
  for (int d = 2; d >= 0 && part != MG_REGION_ALL; d--) {
    int inner[2] = {0, c.n[d]};
    while (inner[0] < inner[1] && mg_tile_in_ghosts(p, c, d, inner[0]))
      inner[0]++;
    while (inner[0] < inner[1] && mg_tile_in_ghosts(p, c, d, inner[1] - 1))
      inner[1]--;
    for (int side = 0; side < 2 && part == MG_REGION_BOUNDARY; side++) {
      mg_tiles_t rim = rest;
      rim.first[d] = side == 0 ? 0 : inner[1];
      rim.n[d] = side == 0 ? inner[0] : c.n[d] - inner[1];
      if (mg_count_tiles(rim) > 0) out->list[n++] = rim;
    }
    rest.first[d] = inner[0];
    rest.n[d] = inner[1] - inner[0];
  }
  if (part != MG_REGION_BOUNDARY) out->list[n++] = rest;
  for (int t = 0; t < n; t++)
    blocks += mg_count_tiles(out->list[t]);
  return blocks;
}

/** The cut for parts, which leaves room for messages where that costs nothing.
 *  @param[in] cut_of  cuts so that so many processors are left in the last wave, 0 for all of them
 *                     at work; returns what that costs, to be compared: double (int, mg_cut_t *)
 *  @return whether it leaves room */
template <typename F> inline bool mg_cut_for_overlap(F cut_of, mg_cut_t *c) {
  mg_cut_t whole;
  const double least = cut_of(0, &whole);
  if (cut_of((int)MG_PROCESSORS_BESIDE, c) <= least) return true;
  *c = whole;
  return false;
}

/** The cut of a launch for a part: both parts have the same. */
template <typename F> inline mg_cut_t mg_cut_for(mg_region_t part, F cut_of) {
  mg_cut_t c;
  if (part == MG_REGION_ALL)
    (void)cut_of(0, &c);
  else
    (void)mg_cut_for_overlap(cut_of, &c);
  return c;
}

/** Is the inner part of a cut patch work for half of the processors and more? */
inline bool mg_overlap_pays(const mg_patch_t &p, const mg_cut_t &c, int at_a_time) {
  mg_region_tiles_t tiles;
  return 2 * mg_region_tiles(p, c, MG_REGION_INTERIOR, &tiles) >= at_a_time;
}

#endif
