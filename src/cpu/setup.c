/* Coefficients and right-hand side of the finest level. */
#include "cpu/cpu.h"
#include "formulas/coefficients.h"
#include "formulas/walls.h"

static void beta_fv(const mg_view_t *v, int q, const mg_tables_t *t, int d) {
  const mg_patch_t *p = &v->patch[q];
  const double scale = t->beta_scale[d];
  const double *sx = (d == 0 ? t->beta_face : t->beta_center)[0] + p->lo[0];
  const double *sy = (d == 1 ? t->beta_face : t->beta_center)[1] + p->lo[1];
  const double *sz = (d == 2 ? t->beta_face : t->beta_center)[2] + p->lo[2];
  const int n[3] = {p->n[0] + (d == 0), p->n[1] + (d == 1), p->n[2] + (d == 2)};
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++) {
      mg_real_t *beta = mg_cell(p, MG_BETA_I + d, 0, j, k);
#pragma omp simd
      for (int i = 0; i < n[0]; i++)
        beta[i] = MG_REAL(mg_beta_fv(scale, sx[i], sy[j], sz[k]));
    }
}

static void rhs_fv(const mg_view_t *v, const mg_patch_t *p, const mg_tables_t *t) {
  const mg_widths_t unit = mg_unit_widths(v);
  const double h2 = unit.d[0] * unit.d[0];
  const double *x = t->f[0] + p->lo[0], *xx = t->f_xx[0] + p->lo[0];
  const double *y = t->f[1] + p->lo[1], *yy = t->f_xx[1] + p->lo[1];
  const double *z = t->f[2] + p->lo[2], *zz = t->f_xx[2] + p->lo[2];
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  for (int k = 0; k < p->n[2]; k++)
    for (int j = 0; j < p->n[1]; j++) {
      mg_real_t *f = mg_cell(p, MG_F, 0, j, k);
#pragma omp simd
      for (int i = 0; i < p->n[0]; i++)
        f[i] = MG_REAL(mg_rhs_fv(h2, x[i], y[j], z[k], xx[i], yy[j], zz[k]));
    }
}

static void set_points(const mg_view_t *v, const mg_patch_t *p, const mg_tables_t *t) {
  const mg_widths_t scales = mg_inverse_lengths2(v);
  const bool constant = t->constant;
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  for (int k = 0; k <= p->n[2]; k++)
    for (int j = 0; j <= p->n[1]; j++)
      for (int i = 0; i <= p->n[0]; i++) {
        const bool in_i = i < p->n[0], in_j = j < p->n[1], in_k = k < p->n[2];
        const double xf = t->face[0][p->lo[0] + i], yf = t->face[1][p->lo[1] + j],
                     zf = t->face[2][p->lo[2] + k];
        const double x = in_i ? t->center[0][p->lo[0] + i] : xf,
                     y = in_j ? t->center[1][p->lo[1] + j] : yf,
                     z = in_k ? t->center[2][p->lo[2] + k] : zf;
        double g[3]; /* not used */
        if (in_j && in_k)
          *mg_cell(p, MG_BETA_I, i, j, k) = MG_REAL(mg_beta_point(constant, xf, y, z, g));
        if (in_i && in_k)
          *mg_cell(p, MG_BETA_J, i, j, k) = MG_REAL(mg_beta_point(constant, x, yf, z, g));
        if (in_i && in_j)
          *mg_cell(p, MG_BETA_K, i, j, k) = MG_REAL(mg_beta_point(constant, x, y, zf, g));
        if (in_i && in_j && in_k)
          *mg_cell(p, MG_F, i, j, k) =
              MG_REAL(mg_rhs_point(constant, v->a, v->periodic, scales, x, y, z));
      }
}

mg_status_t mg_cpu_set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    if (mg_traits_of(v->op)->point_data) {
      set_points(v, p, tables);
      continue;
    }
    for (int d = 0; d < 3; d++)
      beta_fv(v, q, tables, d);
    rhs_fv(v, p, tables);
  }
  return MG_OK;
}
