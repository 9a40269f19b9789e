/* Coefficients and right-hand side of the finest level. Runs once, so simplicity comes first: one
 * thread per cell. Only double cells: float levels get theirs from them. */
#include "cuda/cuda.h"
extern "C" {
#include "formulas/coefficients.h"
}
#include <cstdlib>

/** Tables of the problem; rows start at the patch's first cell. */
struct tables_t {
  const double *x_face[3], *x_center[3], *face[3], *center[3], *f[3], *f_xx[3];
  double beta_scale[3];
};

static __global__ void __launch_bounds__(256) set_fv(mg_patch_t p, double h2, tables_t t) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  if (in_j && in_k)
    p.vec[MG_BETA_I][at] =
        mg_beta_fv(t.beta_scale[0], t.face[0][i], t.center[1][j], t.center[2][k]);
  if (in_i && in_k)
    p.vec[MG_BETA_J][at] =
        mg_beta_fv(t.beta_scale[1], t.center[0][i], t.face[1][j], t.center[2][k]);
  if (in_i && in_j)
    p.vec[MG_BETA_K][at] =
        mg_beta_fv(t.beta_scale[2], t.center[0][i], t.center[1][j], t.face[2][k]);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] =
        mg_rhs_fv(h2, t.f[0][i], t.f[1][j], t.f[2][k], t.f_xx[0][i], t.f_xx[1][j], t.f_xx[2][k]);
}

static __global__ void __launch_bounds__(256)
    set_points(mg_patch_t p, bool constant, mg_widths_t inverse_lengths2, tables_t t, double a,
               bool periodic) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  const double xf = t.x_face[0][i], yf = t.x_face[1][j], zf = t.x_face[2][k];
  const double x = in_i ? t.x_center[0][i] : xf, y = in_j ? t.x_center[1][j] : yf,
               z = in_k ? t.x_center[2][k] : zf;
  double g[3]; /* unused */
  if (in_j && in_k) p.vec[MG_BETA_I][at] = mg_beta_point(constant, xf, y, z, g);
  if (in_i && in_k) p.vec[MG_BETA_J][at] = mg_beta_point(constant, x, yf, z, g);
  if (in_i && in_j) p.vec[MG_BETA_K][at] = mg_beta_point(constant, x, y, zf, g);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] = mg_rhs_point(constant, a, periodic, inverse_lengths2, x, y, z);
}

size_t mg_cuda_table_row(const int32_t n[3]) {
  const int32_t longer = n[0] > n[1] ? n[0] : n[1];
  return (size_t)(longer > n[2] ? longer : n[2]) + 1;
}

mg_status_t mg_cuda_copy_tables(const double *const *from, int n_tables, const int32_t n[3],
                                unsigned closed, double **out) {
  const size_t row = mg_cuda_table_row(n);
  const size_t bytes = (size_t)n_tables * row * sizeof(double);
  mg_status_t status = mg_cuda_alloc(bytes, MG_SPACE_LEVEL, (void **)out);
  for (int t = 0; t < n_tables && status == MG_OK; t++) {
    const size_t values = (size_t)n[t % 3] + (closed >> t & 1);
    status = mg_cuda_upload(*out + (size_t)t * row, from[t], values * sizeof(double));
  }
  if (status != MG_OK) mg_cuda_release(*out, bytes, MG_SPACE_LEVEL);
  return status;
}

/** Free tables once the device has read them. The caller owns the host's tables, so they must have
 *  been read too before this returns. */
static mg_status_t free_tables(mg_status_t status, double *device) {
  const mg_status_t finished = mg_cuda_finish();
  mg_cuda_release(device, 0, MG_SPACE_LEVEL);
  return status == MG_OK ? finished : status;
}

static tables_t tables_at(const double *device, const mg_tables_t *host, const int32_t n[3],
                          const mg_patch_t &p) {
  const size_t row = mg_cuda_table_row(n);
  tables_t t;
  for (int d = 0; d < 3; d++) {
    const double *first = device + d * row + p.lo[d];
    t.x_face[d] = first;
    t.x_center[d] = first + 3 * row;
    t.face[d] = first + 6 * row;
    t.center[d] = first + 9 * row;
    t.f[d] = first + 12 * row;
    t.f_xx[d] = first + 15 * row;
    t.beta_scale[d] = host->beta_scale[d];
  }
  return t;
}

mg_status_t mg_cuda_set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  const double *const *const kinds[6] = {tables->face,        tables->center, tables->beta_face,
                                         tables->beta_center, tables->f,      tables->f_xx};
  const double *from[18], h = mg_unit_widths(v).d[0];
  double *device = nullptr;
  for (int t = 0; t < 18; t++)
    from[t] = kinds[t / 3][t % 3];
  MG_TRY(mg_cuda_copy_tables(from, 18, v->n, 7u | 7u << 6, &device));
  mg_status_t status = MG_OK;
  for (int q = 0; q < v->n_patches && status == MG_OK; q++) {
    const mg_patch_t &p = v->patch[q];
    const tables_t t = tables_at(device, tables, v->n, p);
    const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
    const mg_operator_traits_t *traits = mg_traits_of(v->op);
    status = traits->point_data ? mg_cuda_launch("set_problem", n, set_points, p, tables->constant,
                                                 mg_inverse_lengths2(v), t, v->a, v->periodic)
                                : mg_cuda_launch("set_problem", n, set_fv, p, h * h, t);
  }
  return free_tables(status, device);
}
