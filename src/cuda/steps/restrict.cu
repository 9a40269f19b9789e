/* Mean of 8 cells and mean of 4 faces. Fine and coarse patches correspond one to one.
 *
 * Bytes per fine cell: 9 (cells), 5 (faces; only every second plane is read). One thread per
 * coarse cell or face, in blocks of 32 x 8. Restriction reaches 105 % of copy bandwidth from
 * 512^3 cells on an H200, and 95 % from 256^3 (hpgmg-bench roofline, docs/kernels.md). */
#include "cuda/runtime/dependent_launch.h"
#include "formulas/transfer.h"

static const dim3 block_shape(32, 8, 1);

static __global__ void __launch_bounds__(256)
    cells(mg_patch_t fine, mg_vector_t src, mg_patch_t coarse, mg_vector_t dst) {
  mg_cuda_wait_dependency();
  MG_CUDA_CELL(i, j, k, coarse.n);
  const ptrdiff_t js = fine.jstride, ks = fine.kstride;
  const mg_real_t *x = mg_cell(&fine, src, 2 * i, 2 * j, 2 * k);
  *mg_cell(&coarse, dst, i, j, k) =
      mg_mean8(x[0] + x[1], x[js] + x[js + 1], x[ks] + x[ks + 1], x[js + ks] + x[js + ks + 1]);
}

/** The same between levels of any sizes. */
static __global__ void __launch_bounds__(256)
    children(mg_view_t level, mg_patch_t fine, mg_vector_t src, mg_patch_t coarse, mg_vector_t dst,
             mg_real_t weight) {
  mg_cuda_wait_dependency();
  MG_CUDA_CELL(i, j, k, coarse.n);
  const mg_children_t in_i = mg_children(&level, &fine, &coarse, 0, i),
                      in_j = mg_children(&level, &fine, &coarse, 1, j),
                      in_k = mg_children(&level, &fine, &coarse, 2, k);
  *mg_cell(&coarse, dst, i, j, k) =
      weight * mg_sum_children(mg_cell(&fine, src, in_i.first, in_j.first, in_k.first),
                               fine.jstride, fine.kstride, in_i.n, in_j.n, in_k.n);
}

mg_status_t mg_cuda_restrict_cells(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                                   mg_vector_t dst) {
  const bool halves = mg_doubles(fine->n, coarse->n);
  for (int q = 0; q < fine->n_patches; q++) {
    const mg_patch_t c = coarse->patch[q];
    const dim3 grid = mg_cuda_grid(c.n[0], c.n[1], c.n[2], block_shape);
    MG_TRY(halves ? mg_cuda_launch_dependent("restrict_cells", cells, grid, block_shape,
                                             fine->patch[q], src, c, dst)
                  : mg_cuda_launch_dependent("restrict_cells", children, grid, block_shape, *fine,
                                             fine->patch[q], src, c, dst,
                                             mg_child_weight(fine->n, coarse->n)));
  }
  return MG_OK;
}

/** factor: of faces of grids of any size (mg_restrict_face); null for cubes of boxes. */
static __global__ void __launch_bounds__(256)
    faces(mg_view_t level, mg_patch_t fine, int d, mg_patch_t coarse, mg_vector_t dst,
          const mg_face_factor_t *factor) {
  const int n[3] = {coarse.n[0] + (d == 0), coarse.n[1] + (d == 1), coarse.n[2] + (d == 2)};
  MG_CUDA_CELL(i, j, k, n);
  const int at[3] = {i, j, k};
  const ptrdiff_t stride[3] = {1, fine.jstride, fine.kstride};
  *mg_cell(&coarse, dst, i, j, k) =
      factor ? mg_restrict_face(&level, &fine, &coarse, d, at, factor)
             : mg_mean4(mg_cell(&fine, MG_BETA_I + d, 2 * i, 2 * j, 2 * k), stride[d == 0 ? 1 : 0],
                        stride[d == 2 ? 1 : 2]);
}

/* Used in set-up only. */
mg_status_t mg_cuda_restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                                   mg_vector_t dst, const mg_face_factor_t *factor) {
  void *on_device = nullptr;
  mg_status_t status = MG_OK;
  if (factor)
    MG_TRY(mg_cuda_to_device(factor, ((size_t)coarse->n[d] + 1) * sizeof *factor, &on_device));
  for (int q = 0; q < fine->n_patches && status == MG_OK; q++) {
    const mg_patch_t c = coarse->patch[q];
    const int n[3] = {c.n[0] + 1, c.n[1] + 1, c.n[2] + 1};
    status = mg_cuda_launch("restrict_faces", n, faces, *fine, fine->patch[q], d, c, dst,
                            (const mg_face_factor_t *)on_device);
  }
  if (!factor) return status;
  if (status == MG_OK) status = mg_cuda_finish();
  mg_cuda_release(on_device, 0, MG_SPACE_LEVEL);
  return status;
}
