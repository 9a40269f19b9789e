/* Interpolation from the halves of the fine patches: tensor products, k first, then j, then i.
 *
 * Bytes per fine cell: 17 with correction (u read and written, an eighth of a coarse cell), 9
 * without. One thread a coarse cell, that is 8 fine ones, which it writes as four pairs. P1 and V2
 * make the ghosts outside walls themselves; V4's formula reaches further in than its own cells. */
#include "interpolate.h"

static const dim3 block_shape(32, 4, 1);

/** `order` of the wall formula matters where the walls are folded in. */
template <mg_interpolation_t kind, bool add>
static __global__ void __launch_bounds__(128)
    interpolate(mg_patch_t coarse, int src, mg_patch_t fine, int dst, int order) {
  MG_CUDA_CELL(i, j, k, coarse.n);
  if constexpr (mg_folds_walls(kind))
    mg_interpolate_folded<kind, add>(coarse, src, fine, dst, order, i, j, k);
  else
    mg_interpolate_cell<kind, add>(coarse, src, fine, dst, i, j, k);
}

template <mg_interpolation_t kind>
static void launch(const mg_patch_t &c, int src, const mg_patch_t &f, int dst, bool add,
                   int order) {
  const dim3 grid = mg_cuda_grid(c.n[0], c.n[1], c.n[2], block_shape);
  if (add)
    interpolate<kind, true><<<grid, block_shape, 0, mg_cuda.stream>>>(c, src, f, dst, order);
  else
    interpolate<kind, false><<<grid, block_shape, 0, mg_cuda.stream>>>(c, src, f, dst, order);
}

bool mg_cuda_folds_walls(mg_interpolation_t kind) {
  return mg_folds_walls(kind);
}

mg_status_t mg_cuda_interpolate(const mg_view_t *coarse, int src, const mg_view_t *fine, int dst,
                                mg_interpolation_t kind, bool add) {
  for (int q = 0; q < coarse->n_patches; q++) {
    const mg_patch_t &c = coarse->patch[q], &f = fine->patch[q];
    if (kind == MG_INTERPOLATE_P0)
      launch<MG_INTERPOLATE_P0>(c, src, f, dst, add, 0);
    else if (kind == MG_INTERPOLATE_P1)
      launch<MG_INTERPOLATE_P1>(c, src, f, dst, add, mg_wall_order(coarse, 1));
    else if (kind == MG_INTERPOLATE_V2)
      launch<MG_INTERPOLATE_V2>(c, src, f, dst, add, mg_wall_order(coarse, 2));
    else
      launch<MG_INTERPOLATE_V4>(c, src, f, dst, add, 0);
    MG_CUDA_LAUNCHED("interpolate");
  }
  return MG_OK;
}
