/* Interpolation onto the 8 children of one coarse cell: tensor products, k first, then j, then i.
 */
#ifndef MG_CUDA_INTERPOLATE_H
#define MG_CUDA_INTERPOLATE_H

#include "cuda.h"

/** One direction of a formula: x[0..4] are the values at -2..2. */
template <mg_interpolation_t kind>
static __device__ __forceinline__ double mg_combine(const double x[5], int side) {
  if (kind == MG_INTERPOLATE_P0) return x[2];
  if (kind == MG_INTERPOLATE_P1) return mg_interpolate_p1(x[1], x[2], x[3], side);
  if (kind == MG_INTERPOLATE_V2) return mg_interpolate_v2(x[1], x[2], x[3], side);
  return mg_interpolate_v4(x[0], x[1], x[2], x[3], x[4], side);
}

/** Coarse cell (i, j, k); the ghosts of src that the formula reaches are valid. */
template <mg_interpolation_t kind, bool add>
static __device__ __forceinline__ void mg_interpolate_cell(const mg_patch_t &coarse, int src,
                                                           const mg_patch_t &fine, int dst, int i,
                                                           int j, int k) {
  const int reach = kind == MG_INTERPOLATE_P0 ? 0 : kind == MG_INTERPOLATE_V4 ? 2 : 1;
  const double *x = mg_cell(&coarse, src, i, j, k);
  const ptrdiff_t js = coarse.jstride, ks = coarse.kstride;
#pragma unroll
  for (int side_k = -1; side_k <= 1; side_k += 2) {
    double plane[5][5]; /* [j][i], combined over k */
#pragma unroll
    for (int dj = -reach; dj <= reach; dj++)
#pragma unroll
      for (int di = -reach; di <= reach; di++) {
        double column[5];
#pragma unroll
        for (int dk = -reach; dk <= reach; dk++)
          column[dk + 2] = x[di + dj * js + dk * ks];
        plane[dj + 2][di + 2] = mg_combine<kind>(column, side_k);
      }
#pragma unroll
    for (int side_j = -1; side_j <= 1; side_j += 2) {
      double row[5];
#pragma unroll
      for (int di = -reach; di <= reach; di++) {
        const double column[5] = {plane[0][di + 2], plane[1][di + 2], plane[2][di + 2],
                                  plane[3][di + 2], plane[4][di + 2]};
        row[di + 2] = mg_combine<kind>(column, side_j);
      }
      /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
      double2 *out =
          (double2 *)mg_cell(&fine, dst, 2 * i, 2 * j + (side_j > 0), 2 * k + (side_k > 0));
      double2 pair = make_double2(mg_combine<kind>(row, -1), mg_combine<kind>(row, 1));
      if (add) {
        const double2 old = *out;
        pair.x = old.x + pair.x;
        pair.y = old.y + pair.y;
      }
      *out = pair;
    }
  }
}

#endif
