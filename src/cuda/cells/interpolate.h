/* Interpolation onto the 8 children of a coarse cell: tensor products, k first, then j, then i. */
#ifndef MG_CUDA_CELLS_INTERPOLATE_H
#define MG_CUDA_CELLS_INTERPOLATE_H

#include "cuda/cuda.h"
#include "formulas/transfer.h"
#include <type_traits>

/** Stencil radius of a formula, in coarse cells. */
template <mg_interpolation_t kind> static __device__ constexpr int mg_interpolation_radius() {
  return kind == MG_INTERPOLATE_P0 ? 0 : kind == MG_INTERPOLATE_V4 ? 2 : 1;
}

/** A coarse cell and its 26 neighbors, stored as [k][j][i]. */
struct mg_neighborhood_t {
  mg_real_t x[3][3][3];
  __device__ mg_real_t operator()(int di, int dj, int dk) const {
    return x[dk + 1][dj + 1][di + 1];
  }
};

/** Interpolate to children of a coarse cell: pairs along i, as [k][j], from side `first` in k on.
 *  value(di, dj, dk) is the coarse cell at that offset. */
template <mg_interpolation_t kind, int sides, typename values_t>
static __device__ __forceinline__ void mg_interpolate_pairs(const values_t &value, int first,
                                                            mg_real2_t pair[sides][2]) {
  constexpr int radius = mg_interpolation_radius<kind>();
  mg_real_t plane[sides][5][5]; /* [k][j][i], combined over k */
#pragma unroll
  for (int dj = -radius; dj <= radius; dj++)
#pragma unroll
    for (int di = -radius; di <= radius; di++) {
      mg_real_t column[5];
#pragma unroll
      for (int dk = -radius; dk <= radius; dk++)
        column[dk + 2] = value(di, dj, dk);
#pragma unroll
      for (int s = 0; s < sides; s++)
        plane[s][dj + 2][di + 2] = mg_interpolate_5(kind, column, first + s == 0 ? -1 : 1);
    }
#pragma unroll
  for (int s = 0; s < sides; s++)
#pragma unroll
    for (int t = 0; t < 2; t++) {
      mg_real_t row[5];
#pragma unroll
      for (int di = -radius; di <= radius; di++) {
        const mg_real_t column[5] = {plane[s][0][di + 2], plane[s][1][di + 2], plane[s][2][di + 2],
                                     plane[s][3][di + 2], plane[s][4][di + 2]};
        row[di + 2] = mg_interpolate_5(kind, column, t == 0 ? -1 : 1);
      }
      pair[s][t] = mg_make_real2(mg_interpolate_5(kind, row, -1), mg_interpolate_5(kind, row, 1));
    }
}

/** Load pairs of children. */
template <int sides>
static __device__ __forceinline__ void mg_load_children(mg_real2_t *const (&out)[sides][2],
                                                        mg_real2_t (&old)[sides][2]) {
#pragma unroll
  for (int s = 0; s < sides; s++)
#pragma unroll
    for (int t = 0; t < 2; t++)
      old[s][t] = *out[s][t];
}

/** Interpolate to the children of coarse cell (i, j, k), or add to them. The compiler must assume
 *  that stores to the fine level alias all loads, so all loads come first; but a window of
 *  neighbors leaves no registers for the old values. With five values per direction (V4) loads take
 *  too many registers, so a thread handles one side in k after the other.
 *  @param value  as in mg_interpolate_pairs */
template <mg_interpolation_t kind, typename values_t>
static __device__ __forceinline__ void
mg_interpolate_children(const values_t &value, const mg_patch_t &fine, mg_vector_t dst, bool add,
                        int i, int j, int k) {
  constexpr int sides = mg_interpolation_radius<kind>() < 2 ? 2 : 1;
  constexpr bool in_registers = std::is_same<values_t, mg_neighborhood_t>::value;
#pragma unroll
  for (int first = 0; first < 2; first += sides) {
    /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
    mg_real2_t old[sides][2], pair[sides][2];
    mg_real2_t *out[sides][2];
#pragma unroll
    for (int s = 0; s < sides; s++)
#pragma unroll
      for (int t = 0; t < 2; t++)
        out[s][t] = (mg_real2_t *)mg_cell(&fine, dst, 2 * i, 2 * j + t, 2 * k + first + s);
    if (add && !in_registers) mg_load_children(out, old);
    mg_interpolate_pairs<kind, sides>(value, first, pair);
    if (add && in_registers) mg_load_children(out, old);
#pragma unroll
    for (int s = 0; s < sides; s++)
#pragma unroll
      for (int t = 0; t < 2; t++)
        *out[s][t] = add ? mg_make_real2(old[s][t].x + pair[s][t].x, old[s][t].y + pair[s][t].y)
                         : pair[s][t];
  }
}

/** Replace the neighbors of x1 that are outside a wall. */
static __device__ __forceinline__ void mg_fold_line(mg_real_t &x0, mg_real_t x1, mg_real_t &x2,
                                                    bool low, bool high, int order) {
  const mg_real_t under = mg_ghost(MG_WALL_DIRICHLET, order, x1, x2),
                  over = mg_ghost(MG_WALL_DIRICHLET, order, x1, x0);
  if (low) x0 = under;
  if (high) x2 = over;
}

/** Evaluate ghosts outside Dirichlet walls from the cells of the window, in i, then j, then k. A
 *  choice between kinds of walls would add a fifth to the instructions and spill registers. */
static __device__ __forceinline__ void mg_fold_walls(mg_neighborhood_t *w, const bool low[3],
                                                     const bool high[3], int order) {
#pragma unroll
  for (int d = 0; d < 3; d++)
#pragma unroll
    for (int a = 0; a < 3; a++)
#pragma unroll
      for (int b = 0; b < 3; b++) {
        mg_real_t *const x = d == 0 ? &w->x[a][b][0] : d == 1 ? &w->x[a][0][b] : &w->x[0][a][b];
        const int in = d == 0 ? 1 : d == 1 ? 3 : 9;
        mg_fold_line(x[0], x[in], x[2 * in], low[d], high[d], order);
      }
}

/** Call use(value), where value(di, dj, dk) is the value at that offset from coarse cell (i, j, k).
 *  Values are read from memory; next to walls they are those of a window with folded walls.
 *  @param order  of the formula of Dirichlet walls; 0: the ghosts outside them are valid */
template <typename use_t>
static __device__ __forceinline__ void mg_with_neighbors(const mg_patch_t &coarse, mg_vector_t src,
                                                         int order, int i, int j, int k,
                                                         const use_t &use) {
  const mg_real_t *x = mg_cell(&coarse, src, i, j, k);
  const ptrdiff_t js = coarse.jstride, ks = coarse.kstride;
  const auto value = [=](int di, int dj, int dk) { return x[di + dj * js + dk * ks]; };
  const int at[3] = {i, j, k};
  bool low[3], high[3], any = false;
  for (int d = 0; d < 3; d++) {
    low[d] = order > 0 && coarse.wall[d][0] && at[d] == 0;
    high[d] = order > 0 && coarse.wall[d][1] && at[d] == coarse.n[d] - 1;
    any = any || low[d] || high[d];
  }
  /* Branch per warp, not per thread, so that a warp does not diverge. */
  if (!__any_sync(__activemask(), any)) {
    use(value);
    return;
  }
  mg_neighborhood_t w;
#pragma unroll
  for (int dk = -1; dk <= 1; dk++)
#pragma unroll
    for (int dj = -1; dj <= 1; dj++)
#pragma unroll
      for (int di = -1; di <= 1; di++)
        w.x[dk + 1][dj + 1][di + 1] = value(di, dj, dk);
  mg_fold_walls(&w, low, high, order);
  use(w);
}

/** Interpolate to the children of coarse cell (i, j, k), or add to them, by P1 or V2.
 *  @param order  as in mg_with_neighbors */
template <mg_interpolation_t kind>
static __device__ __forceinline__ void
mg_interpolate_folded(const mg_patch_t &coarse, mg_vector_t src, const mg_patch_t &fine,
                      mg_vector_t dst, bool add, int order, int i, int j, int k) {
  mg_with_neighbors(coarse, src, order, i, j, k, [&](const auto &value) {
    mg_interpolate_children<kind>(value, fine, dst, add, i, j, k);
  });
}

#endif
