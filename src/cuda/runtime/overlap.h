/* Tiling of a patch, one tile per block, and its split into interior and boundary tiles. Interior
 * tiles read no halo ghosts, so they can be computed while messages fill the ghosts.
 *
 * SMs that carry messages start their tiles late. If the last wave of blocks leaves as many SMs
 * idle as carry messages, this costs nothing. Otherwise the whole operation is longer by the time
 * of the messages, and messages take longer on few SMs than on all.
 *
 * F-cycles on two H200s, ms, with messages concurrent with the interior and before it:
 * 640^3 19.28 and 19.51, periodic 20.52 and 20.98;
 * periodic 320^3, whose last wave is full, 4.44 and 4.37.
 *
 * So the tiling leaves SMs free for messages. If another tiling is cheaper, messages go first.
 * This was never slower, within the run-to-run variation of 0.2 %: docs/transports.md. */
#ifndef MG_CUDA_RUNTIME_OVERLAP_H
#define MG_CUDA_RUNTIME_OVERLAP_H

#include "cuda/cuda.h"

/** SMs left free for messages between devices during other work. With 8, 16 and 32, two H200s
 *  reached 13.50, 13.57 and 13.56 GDOF/s at 640^3. */
enum { MG_SMS_FOR_MESSAGES = 24 };

/** A cuboid of tiles. */
struct mg_tiles_t {
  int first[3], n[3];
};

MG_INLINE int mg_count_tiles(const mg_tiles_t &t) {
  return t.n[0] * t.n[1] * t.n[2];
}

/** The tiles of a launch, as a list of cuboids. */
struct mg_region_tiles_t {
  mg_tiles_t list[6];
};

/** Tiling of a patch along each direction. */
struct mg_tiling_t {
  int cells[3]; /**< cells that a tile writes; the last tile may have fewer */
  int halo[3];  /**< cells that a tile reads below the first one it writes */
  int box[3];   /**< cells that a tile reads */
  int n[3];     /**< number of tiles */
};

/** The tile of this block. */
static __device__ __forceinline__ void mg_tile_of_block(const mg_region_tiles_t &region,
                                                        int at[3]) {
  int number = (int)blockIdx.x, c = 0;
  while (number >= mg_count_tiles(region.list[c]))
    number -= mg_count_tiles(region.list[c++]);
  const mg_tiles_t &t = region.list[c];
  at[0] = t.first[0] + number % t.n[0];
  at[1] = t.first[1] + number / t.n[0] % t.n[1];
  at[2] = t.first[2] + number / t.n[0] / t.n[1];
}

/** Whether tile `at` along d reads halo ghosts: ghosts that are not outside a wall.
 *  @param[in] grown  ghosts that became cells on each such side (mg_view_t) */
inline bool mg_tile_in_ghosts(const mg_patch_t &p, const mg_tiling_t &c, int d, int grown, int at) {
  const int first = at * c.cells[d] - c.halo[d], end = first + c.box[d];
  return (first < grown && !p.wall[d][0]) || (end > p.n[d] - grown && !p.wall[d][1]);
}

/** The tiles along d that read no halo ghosts: inner[0] <= at < inner[1]. */
inline void mg_inner_tiles(const mg_patch_t &p, const mg_tiling_t &c, int d, int grown,
                           int inner[2]) {
  inner[0] = 0;
  inner[1] = c.n[d];
  while (inner[0] < inner[1] && mg_tile_in_ghosts(p, c, d, grown, inner[0]))
    inner[0]++;
  while (inner[0] < inner[1] && mg_tile_in_ghosts(p, c, d, grown, inner[1] - 1))
    inner[1]--;
}

/** List the tiles of a region of a patch.
 *  @return number of tiles: blocks to launch */
inline int mg_region_tiles(const mg_patch_t &p, const mg_tiling_t &c, mg_region_t region,
                           mg_region_tiles_t *out) {
  int n = 0, blocks = 0;
  mg_tiles_t rest = {{0, 0, 0}, {c.n[0], c.n[1], c.n[2]}};
  for (int d = 2; d >= 0 && region != MG_REGION_ALL; d--) {
    int inner[2];
    mg_inner_tiles(p, c, d, 0, inner);
    for (int side = 0; side < 2 && region == MG_REGION_BOUNDARY; side++) {
      mg_tiles_t side_tiles = rest;
      side_tiles.first[d] = side == 0 ? 0 : inner[1];
      side_tiles.n[d] = side == 0 ? inner[0] : c.n[d] - inner[1];
      if (mg_count_tiles(side_tiles) > 0) out->list[n++] = side_tiles;
    }
    rest.first[d] = inner[0];
    rest.n[d] = inner[1] - inner[0];
  }
  if (region != MG_REGION_BOUNDARY) out->list[n++] = rest;
  for (int t = 0; t < n; t++)
    blocks += mg_count_tiles(out->list[t]);
  return blocks;
}

/** Choose the tiling for overlap, which leaves SMs free for messages if that costs nothing.
 *  @param[in] tiling_of  double (int, mg_tiling_t *): computes the tiling that leaves the given
 *      number of SMs idle in the last wave, 0 for all busy; returns its relative cost
 *  @return whether the tiling leaves SMs free */
template <typename F> inline bool mg_tiling_for_overlap(F tiling_of, mg_tiling_t *c) {
  mg_tiling_t whole;
  const double cost = tiling_of(0, &whole);
  if (tiling_of((int)MG_SMS_FOR_MESSAGES, c) <= cost) return true;
  *c = whole;
  return false;
}

/** The tiling of a launch for a region: the same for INTERIOR and BOUNDARY. */
template <typename F> inline mg_tiling_t mg_tiling_for(mg_region_t region, F tiling_of) {
  mg_tiling_t c;
  if (region == MG_REGION_ALL)
    (void)tiling_of(0, &c);
  else
    (void)mg_tiling_for_overlap(tiling_of, &c);
  return c;
}

/** Whether the interior tiles occupy at least half of the blocks that run at the same time. */
inline bool mg_overlap_pays(const mg_patch_t &p, const mg_tiling_t &c, int resident) {
  mg_region_tiles_t tiles;
  return 2 * mg_region_tiles(p, c, MG_REGION_INTERIOR, &tiles) >= resident;
}

#endif
