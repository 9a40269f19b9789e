/* Levels with constant coefficients: how they are found, and their instances of the fused sweeps in
 * fused/sweeps.cu. Each beta, and 1 / diagonal at each kind of wall, is an argument. Bytes per cell
 * and pass: 24, where those that read betas move 48. */
#include "cuda/fused/launch.h"

/** Raise `differs` if the beta of a face normal to d is not that of the first face at its place. */
static __global__ void __launch_bounds__(256)
    compare_betas(mg_patch_t p, int d, unsigned long long *differs) {
  const int n[3] = {p.n[0] + (d == 0), p.n[1] + (d == 1), p.n[2] + (d == 2)};
  MG_CUDA_CELL(i, j, k, n);
  if (mg_max_known(differs)) return;
  const int at[3] = {i, j, k}, first = mg_first_face_at(&p, d, mg_place_of_face(&p, d, at[d]));
  const mg_real_t beta =
      *mg_cell(&p, MG_BETA_I + d, d == 0 ? first : 0, d == 1 ? first : 0, d == 2 ? first : 0);
  if (*mg_cell(&p, MG_BETA_I + d, i, j, k) != beta) *differs = 1;
}

/* Bound the first betas of a patch. */
static mg_status_t bound_first(const mg_patch_t &p, mg_beta_bounds_t *bounds) {
  for (int d = 0; d < 3; d++)
    for (int place = 0; place < 3; place++) {
      int at[3] = {0, 0, 0};
      at[d] = mg_first_face_at(&p, d, place);
      if (at[d] < 0) continue;
      mg_real_t beta;
      MG_TRY(mg_cuda_fetch(mg_cell(&p, MG_BETA_I + d, at[0], at[1], at[2]), sizeof beta));
      memcpy(&beta, mg_cuda.reduction_host, sizeof beta);
      mg_bound_beta(bounds, d, place, beta);
    }
  return MG_OK;
}

mg_status_t mg_cuda_bound_betas(const mg_view_t *v, mg_beta_bounds_t *bounds) {
  double differs;
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++) {
      const int32_t *n = v->patch[q].n, faces[3] = {n[0] + 1, n[1] + 1, n[2] + 1};
      MG_TRY(
          mg_cuda_launch("bound_betas", faces, compare_betas, v->patch[q], d, mg_cuda.reduction));
    }
  MG_TRY(mg_cuda_max_end(&differs));
  if (differs > 0.0) mg_bound_beta(bounds, 0, 0, INFINITY);
  for (int q = 0; q < v->n_patches && differs == 0.0; q++)
    MG_TRY(bound_first(v->patch[q], bounds));
  return MG_OK;
}

namespace mg_fused {
launch_t *launch_constant(bool colored, int n, residual_use_t use) {
  return launch_of_use<VARY_NONE>(colored, n, use);
}
launch_t *launch_constant_interpolated(int n, input_t input) {
  return launch_of_input<VARY_NONE>(n, input);
}
} // namespace mg_fused
