/* Interpolation onto the 8 children of a coarse cell: tensor products, k first, then j, then i. */
#ifndef MG_CUDA_CELLS_INTERPOLATE_H
#define MG_CUDA_CELLS_INTERPOLATE_H

#include "cuda/cuda.h"

/** Stencil radius of a formula, in coarse cells. */
template <mg_interpolation_t kind> static __device__ constexpr int mg_interpolation_radius() {
  return kind == MG_INTERPOLATE_P0 ? 0 : kind == MG_INTERPOLATE_V4 ? 2 : 1;
}

/** Interpolate to the children of coarse cell (i, j, k). value(di, dj, dk) is the coarse cell at
 *  that offset. The compiler must assume that stores to the fine level alias all loads, so all
 *  loads come first. With five values per direction (V4) that takes too many registers, so a
 *  thread handles one side in k after the other. */
template <mg_interpolation_t kind, bool add, typename values_t>
static __device__ __forceinline__ void
mg_interpolate_children(const values_t &value, const mg_patch_t &fine, mg_vector_t dst, int i,
                        int j, int k) {
  constexpr int radius = mg_interpolation_radius<kind>(), sides = radius < 2 ? 2 : 1;
#pragma unroll
  for (int first = 0; first < 2; first += sides) {
    /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
    mg_real2_t pair[sides][2];
    mg_real2_t *out[sides][2];
    mg_real_t plane[sides][5][5]; /* [k][j][i], combined over k */
#pragma unroll
    for (int s = 0; s < sides; s++)
#pragma unroll
      for (int t = 0; t < 2; t++) {
        out[s][t] = (mg_real2_t *)mg_cell(&fine, dst, 2 * i, 2 * j + t, 2 * k + first + s);
        if (add) pair[s][t] = *out[s][t];
      }
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
          const mg_real_t column[5] = {plane[s][0][di + 2], plane[s][1][di + 2],
                                       plane[s][2][di + 2], plane[s][3][di + 2],
                                       plane[s][4][di + 2]};
          row[di + 2] = mg_interpolate_5(kind, column, t == 0 ? -1 : 1);
        }
        const mg_real_t low = mg_interpolate_5(kind, row, -1),
                        high = mg_interpolate_5(kind, row, 1);
        pair[s][t].x = add ? pair[s][t].x + low : low;
        pair[s][t].y = add ? pair[s][t].y + high : high;
      }
#pragma unroll
    for (int s = 0; s < sides; s++)
#pragma unroll
      for (int t = 0; t < 2; t++)
        *out[s][t] = pair[s][t];
  }
}

/** mg_interpolate_children with values from memory. The ghosts of src that the formula reads must
 *  be valid. */
template <mg_interpolation_t kind, bool add>
static __device__ __forceinline__ void mg_interpolate_cell(const mg_patch_t &coarse,
                                                           mg_vector_t src, const mg_patch_t &fine,
                                                           mg_vector_t dst, int i, int j, int k) {
  const mg_real_t *x = mg_cell(&coarse, src, i, j, k);
  const ptrdiff_t js = coarse.jstride, ks = coarse.kstride;
  const auto value = [=](int di, int dj, int dk) { return x[di + dj * js + dk * ks]; };
  mg_interpolate_children<kind, add>(value, fine, dst, i, j, k);
}

/** A coarse cell and its 26 neighbors, stored as [k][j][i]. */
struct mg_neighborhood_t {
  mg_real_t x[3][3][3];
  __device__ mg_real_t operator()(int di, int dj, int dk) const {
    return x[dk + 1][dj + 1][di + 1];
  }
};

/** Evaluate ghosts outside Dirichlet walls from the cells of the window, in i, then j, then k. A
 *  choice between kinds of walls would add a fifth to the instructions and spill registers. */
static __device__ __forceinline__ void mg_fold_walls(mg_neighborhood_t *w, const bool low[3],
                                                     const bool high[3], int order) {
#pragma unroll
  for (int a = 0; a < 3; a++)
#pragma unroll
    for (int b = 0; b < 3; b++) {
      mg_real_t *row = w->x[a][b];
      const mg_real_t under = mg_ghost(MG_WALL_DIRICHLET, order, row[1], row[2]),
                      over = mg_ghost(MG_WALL_DIRICHLET, order, row[1], row[0]);
      if (low[0]) row[0] = under;
      if (high[0]) row[2] = over;
    }
#pragma unroll
  for (int a = 0; a < 3; a++)
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const mg_real_t under = mg_ghost(MG_WALL_DIRICHLET, order, w->x[a][1][i], w->x[a][2][i]),
                      over = mg_ghost(MG_WALL_DIRICHLET, order, w->x[a][1][i], w->x[a][0][i]);
      if (low[1]) w->x[a][0][i] = under;
      if (high[1]) w->x[a][2][i] = over;
    }
#pragma unroll
  for (int j = 0; j < 3; j++)
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const mg_real_t under = mg_ghost(MG_WALL_DIRICHLET, order, w->x[1][j][i], w->x[2][j][i]),
                      over = mg_ghost(MG_WALL_DIRICHLET, order, w->x[1][j][i], w->x[0][j][i]);
      if (low[2]) w->x[0][j][i] = under;
      if (high[2]) w->x[2][j][i] = over;
    }
}

/** mg_interpolate_cell for P1 and V2 with Dirichlet walls folded in: reads no ghosts outside the
 *  domain. */
template <mg_interpolation_t kind, bool add>
static __device__ __forceinline__ void
mg_interpolate_folded(const mg_patch_t &coarse, mg_vector_t src, const mg_patch_t &fine,
                      mg_vector_t dst, int order, int i, int j, int k) {
  const int at[3] = {i, j, k};
  bool low[3], high[3], any = false;
  for (int d = 0; d < 3; d++) {
    low[d] = coarse.wall[d][0] && at[d] == 0;
    high[d] = coarse.wall[d][1] && at[d] == coarse.n[d] - 1;
    any = any || low[d] || high[d];
  }
  /* Branch per warp, not per thread, so that a warp does not diverge. */
  if (!__any_sync(__activemask(), any)) {
    mg_interpolate_cell<kind, add>(coarse, src, fine, dst, i, j, k);
    return;
  }
  mg_neighborhood_t w;
#pragma unroll
  for (int dk = -1; dk <= 1; dk++)
#pragma unroll
    for (int dj = -1; dj <= 1; dj++)
#pragma unroll
      for (int di = -1; di <= 1; di++) {
        const int step[3] = {di, dj, dk};
        bool outside = false;
        for (int d = 0; d < 3; d++)
          outside = outside || (step[d] < 0 && low[d]) || (step[d] > 0 && high[d]);
        w.x[dk + 1][dj + 1][di + 1] =
            outside ? MG_REAL(0.0) : *mg_cell(&coarse, src, i + di, j + dj, k + dk);
      }
  mg_fold_walls(&w, low, high, order);
  mg_interpolate_children<kind, add>(w, fine, dst, i, j, k);
}

/** Whether mg_interpolate_folded supports a formula. */
static inline __host__ __device__ constexpr bool mg_can_fold_walls(mg_interpolation_t kind) {
  return kind == MG_INTERPOLATE_P1 || kind == MG_INTERPOLATE_V2;
}

#endif
