#include "cuda/resident/resident_tiles.h"

static int max_blocks(int sms) {
  return sms < MG_RESIDENT_MAX_BLOCKS ? sms : MG_RESIDENT_MAX_BLOCKS;
}

/* Whether tiles of rj x rk rows are possible, with 1 or 2 rows per thread. */
static bool rows_fit(const int32_t n[3], int rj, int rk, int rows_per_thread, int sms) {
  const int threads = n[0] / 2 * rj * rk / rows_per_thread;
  return n[1] % rj == 0 && n[2] % rk == 0 && rj * rk <= MG_RESIDENT_MAX_ROWS &&
         rj + rk <= MG_RESIDENT_MAX_SIDES && threads <= MG_RESIDENT_MAX_THREADS &&
         threads % 32 == 0 && (rows_per_thread == 1 || rj >= 4) &&
         n[1] / rj * (n[2] / rk) <= max_blocks(sms);
}

static bool choose_wide_tiles(const int32_t n[3], int sms, mg_resident_tiles_t *tiles) {
  const int side = MG_RESIDENT_WIDE_SIDE;
  *tiles = (mg_resident_tiles_t){
      {side, side}, {n[1] / side, n[2] / side}, n[0] / 2, MG_RESIDENT_WIDE_ROWS};
  return n[0] <= 2 * MG_RESIDENT_WIDE_PAIRS && n[1] % side == 0 && n[2] % side == 0 &&
         mg_resident_threads(tiles) % 32 == 0 && mg_resident_blocks(tiles) <= max_blocks(sms);
}

bool mg_resident_choose_tiles(const int32_t n[3], int sms, mg_resident_tiles_t *tiles) {
  int best = 0;
  const int most = n[0] <= 2 * MG_RESIDENT_MAX_PAIRS ? 2 : 0; /* rows per thread */
  if (n[0] % 2 != 0) return false;
  if (n[0] < 4 || n[1] < 4 || n[2] < 4) return false; /* a coarse cell has one wall per direction */
  for (int per_thread = 1; per_thread <= most && best == 0; per_thread++)
    for (int rj = 2; rj <= MG_RESIDENT_MAX_SIDES; rj += 2)
      for (int rk = 2; rk <= MG_RESIDENT_MAX_SIDES; rk += 2) {
        const int worth = 64 * rj * rk - 2 * (rj + rk) + (rj > rk);
        if (!rows_fit(n, rj, rk, per_thread, sms) || worth <= best) continue;
        best = worth;
        *tiles = (mg_resident_tiles_t){{rj, rk}, {n[1] / rj, n[2] / rk}, n[0] / 2, per_thread};
      }
  return best > 0 || choose_wide_tiles(n, sms, tiles);
}

/* Columns of the halo: outside faces, and outside edges. */
static int halo_columns(const int side[3]) {
  return 2 * (side[0] * side[1] + side[1] * side[2] + side[2] * side[0]) +
         4 * (side[0] + side[1] + side[2]);
}

/* Threads of a block with one cell per thread. */
static int fv4_threads(const int side[3]) {
  const int of_cells = 2 * mg_fv4_tile_color_threads(side),
            of_halo = (halo_columns(side) + 31) / 32 * 32;
  return of_cells > of_halo ? of_cells : of_halo;
}

/* Set the tiles of these sides.
 * @return false if the level or the GPU has no room for them */
static bool set_fv4_tiles(const int32_t n[3], const int side[3], int threads, int sms,
                          mg_fv4_tiles_t *tiles) {
  bool divides = true;
  for (int d = 0; d < 3; d++) {
    divides = divides && n[d] % side[d] == 0;
    tiles->side[d] = side[d];
    tiles->count[d] = n[d] / side[d];
  }
  tiles->threads = threads;
  return divides && threads <= MG_RESIDENT_MAX_THREADS &&
         mg_fv4_tile_blocks(tiles) <= max_blocks(sms);
}

bool mg_fv4_choose_tiles(const int32_t n[3], int sms, mg_fv4_tiles_t *tiles) {
  static const int wide[3] = {MG_FV4_WIDE_TILE_SIDE, MG_FV4_WIDE_TILE_SIDE,
                              MG_FV4_WIDE_TILE_PLANES};
  int best = 0, side[3];
  mg_fv4_tiles_t t;
  if (mg_fv4_tiles_are_wide(n)) return set_fv4_tiles(n, wide, MG_RESIDENT_MAX_THREADS, sms, tiles);
  for (side[0] = MG_FV4_TILE_MIN_SIDE; side[0] <= MG_FV4_TILE_MAX_SIDE; side[0] += 2)
    for (side[1] = MG_FV4_TILE_MIN_SIDE; side[1] <= MG_FV4_TILE_MAX_SIDE; side[1] += 2)
      for (side[2] = MG_FV4_TILE_MIN_SIDE; side[2] <= MG_FV4_TILE_MAX_SIDE; side[2] += 2) {
        const int cells = side[0] * side[1] * side[2],
                  distance = cells > MG_FV4_TILE_CELLS ? cells : MG_FV4_TILE_CELLS - cells,
                  worth = 16 * (1024 - distance) + side[0]; /* long rows have no bank conflicts */
        if (worth <= best || !set_fv4_tiles(n, side, fv4_threads(side), sms, &t)) continue;
        best = worth;
        *tiles = t;
      }
  return best > 0;
}
