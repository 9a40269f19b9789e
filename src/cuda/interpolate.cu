/* Interpolation from the halves of the fine patches: tensor products, k first, then j, then i.
 *
 * Bytes per fine cell: 17 with correction (u read and written, an eighth of a coarse cell), 9
 * without. One thread a coarse cell, that is 8 fine ones, which it writes as four pairs. */
#include "cuda.h"

static const dim3 block_shape(32, 4, 1);

/** One direction of a formula: x[0..4] are the values at -2..2. */
template <mg_interpolation_t kind>
static __device__ __forceinline__ double combine(const double x[5], int side) {
  if (kind == MG_INTERPOLATE_P0) return x[2];
  if (kind == MG_INTERPOLATE_P1) return mg_interpolate_p1(x[1], x[2], x[3], side);
  if (kind == MG_INTERPOLATE_V2) return mg_interpolate_v2(x[1], x[2], x[3], side);
  return mg_interpolate_v4(x[0], x[1], x[2], x[3], x[4], side);
}

template <mg_interpolation_t kind, bool add>
static __global__ void __launch_bounds__(128)
    interpolate(mg_patch_t coarse, int src, mg_patch_t fine, int dst) {
  MG_CUDA_CELL(i, j, k, coarse.n);
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
        plane[dj + 2][di + 2] = combine<kind>(column, side_k);
      }
#pragma unroll
    for (int side_j = -1; side_j <= 1; side_j += 2) {
      double row[5];
#pragma unroll
      for (int di = -reach; di <= reach; di++) {
        const double column[5] = {plane[0][di + 2], plane[1][di + 2], plane[2][di + 2],
                                  plane[3][di + 2], plane[4][di + 2]};
        row[di + 2] = combine<kind>(column, side_j);
      }
      /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
      double2 *out =
          (double2 *)mg_cell(&fine, dst, 2 * i, 2 * j + (side_j > 0), 2 * k + (side_k > 0));
      double2 pair = make_double2(combine<kind>(row, -1), combine<kind>(row, 1));
      if (add) {
        const double2 old = *out;
        pair.x = old.x + pair.x;
        pair.y = old.y + pair.y;
      }
      *out = pair;
    }
  }
}

template <mg_interpolation_t kind>
static void launch(const mg_patch_t &c, int src, const mg_patch_t &f, int dst, bool add) {
  const dim3 grid = mg_cuda_grid(c.n[0], c.n[1], c.n[2], block_shape);
  if (add)
    interpolate<kind, true><<<grid, block_shape, 0, mg_cuda.stream>>>(c, src, f, dst);
  else
    interpolate<kind, false><<<grid, block_shape, 0, mg_cuda.stream>>>(c, src, f, dst);
}

mg_status_t mg_cuda_interpolate(const mg_view_t *coarse, int src, const mg_view_t *fine, int dst,
                                mg_interpolation_t kind, bool add) {
  for (int q = 0; q < coarse->n_patches; q++) {
    const mg_patch_t &c = coarse->patch[q], &f = fine->patch[q];
    if (kind == MG_INTERPOLATE_P0)
      launch<MG_INTERPOLATE_P0>(c, src, f, dst, add);
    else if (kind == MG_INTERPOLATE_P1)
      launch<MG_INTERPOLATE_P1>(c, src, f, dst, add);
    else if (kind == MG_INTERPOLATE_V2)
      launch<MG_INTERPOLATE_V2>(c, src, f, dst, add);
    else
      launch<MG_INTERPOLATE_V4>(c, src, f, dst, add);
    MG_CUDA_LAUNCHED("interpolate");
  }
  return MG_OK;
}
