/* Pieces of tile columns in device memory: one per block of a sweep (plan/pieces.h). */
#ifndef MG_CUDA_RUNTIME_PIECES_H
#define MG_CUDA_RUNTIME_PIECES_H

#include "cuda/runtime/overlap.h"
#include <algorithm>
#include <cstring>
extern "C" {
#include "plan/pieces.h"
}

/** A list of pieces; block b processes piece[b]. Blocks from number `early` on read halo ghosts. */
struct mg_pieces_t {
  const mg_piece_t *piece; /**< device memory, valid until mg_cuda_pieces_close */
  int n, early;
};

/** The list of a region of these columns, which are all early for MG_REGION_ALL (mg_columns_of).
 *  Lists are kept, so that a further call is cheap. It may be called while a graph is captured.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuda_pieces(const mg_columns_t &columns, mg_region_t region, mg_pieces_t *out);

/** Times of an exchange beside a sweep, for the balance of its pieces: its start, cells that arrive
 *  and are copied in a microsecond, and a plane of a tile. */
#define MG_EXCHANGE_US       8.0
#define MG_EXCHANGE_BYTES_US 150e3
#define MG_PIECE_PLANE_US    1.3

/** Estimated time until the halo ghosts of a vector have arrived, in planes of a tile. */
inline int mg_planes_of_exchange(const mg_view_t *v, const mg_patch_t &p) {
  double cells = 0.0;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      if (p.wall[d][side] == MG_WALL_NONE)
        cells += (double)(v->grown[2] + v->ghost_layers) * p.n[(d + 1) % 3] * p.n[(d + 2) % 3];
  const double us = MG_EXCHANGE_US + cells * sizeof(mg_real_t) / MG_EXCHANGE_BYTES_US;
  return (int)(us / MG_PIECE_PLANE_US);
}

/** Columns without costs, every byte 0. */
inline mg_columns_t mg_no_costs(void) {
  mg_columns_t c;
  memset(&c, 0, sizeof c);
  return c;
}

/** The columns of a patch, to be cut into pieces that keep all SMs busy until the end
 *  (plan/pieces.h).
 *  @param[in] tiling    along i and j; along k, only `halo` is read
 *  @param[in] costs     of blocks; 0 elsewhere (mg_no_costs)
 *  @param[in] overlaps  some depend on messages; otherwise none */
inline mg_columns_t mg_columns_of(const mg_view_t *v, const mg_patch_t &p,
                                  const mg_tiling_t &tiling, const mg_columns_t &costs,
                                  bool overlaps) {
  mg_columns_t c;
  memcpy(&c, &costs, sizeof c); /* compared as bytes */
  for (int d = 0; d < 2; d++) {
    c.n[d] = tiling.n[d];
    c.inner[d][1] = tiling.n[d];
    if (overlaps) mg_inner_tiles(p, tiling, d, v->grown[d], c.inner[d]);
    for (int side = 0; side < 2; side++)
      c.wall[d][side] = p.wall[d][side] != MG_WALL_NONE;
  }
  c.planes = p.n[2];
  const int depth = v->grown[2] + tiling.halo[2];
  c.inner[2][0] = overlaps && !p.wall[2][0] ? std::min(depth, p.n[2]) : 0;
  c.inner[2][1] = p.n[2] - (overlaps && !p.wall[2][1] ? std::min(depth, p.n[2]) : 0);
  c.busy = overlaps
               ? std::min((int)MG_SMS_FOR_MESSAGES * costs.slots / mg_cuda.sms, costs.slots - 1)
               : 0;
  c.delay = overlaps ? mg_planes_of_exchange(v, p) : 0;
  return c;
}

/** Whether at least half of the columns' planes do not depend on messages. */
inline bool mg_overlap_pays(const mg_columns_t &c) {
  int64_t inner = 2;
  for (int d = 0; d < 3; d++)
    inner *= std::max(c.inner[d][1] - c.inner[d][0], 0);
  return inner >= (int64_t)c.n[0] * c.n[1] * c.planes;
}

/** Free all lists. */
void mg_cuda_pieces_close(void);

#endif
