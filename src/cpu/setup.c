/* Coefficients and right-hand side of the finest level. */
#include "cpu.h"
#include <math.h>

static const double two_pi = 6.283185307179586476925286766559;

/* fv2, fv4: 1 + S/4 with S = sin sin sin, turned from face points into face averages by h^2/24
 * times the two tangential second derivatives, each -(2 pi)^2 S/4. */
static void beta_fv(const mg_view_t *v, const mg_patch_t *p, const mg_tables_t *t, int d) {
  const double scale = 0.25 * (1.0 - two_pi * two_pi * v->h * v->h / 12.0);
  const double *sx = d == 0 ? t->beta_face : t->beta_center;
  const double *sy = d == 1 ? t->beta_face : t->beta_center;
  const double *sz = d == 2 ? t->beta_face : t->beta_center;
  const int n[3] = {p->n[0] + (d == 0), p->n[1] + (d == 1), p->n[2] + (d == 2)};
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++) {
      const double syz = scale * (sy[p->lo[1] + j] * sz[p->lo[2] + k]);
      double *beta = mg_cell(p, MG_BETA_I + d, 0, j, k);
#pragma omp simd
      for (int i = 0; i < n[0]; i++)
        beta[i] = 1.0 + syz * sx[p->lo[0] + i];
    }
}

/* f takes all three second derivatives. */
static void rhs_fv(const mg_view_t *v, const mg_patch_t *p, const mg_tables_t *t) {
  const double c = v->h * v->h / 24.0;
  const double *fx = t->f + p->lo[0], *fxx = t->f_xx + p->lo[0];
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  for (int k = 0; k < p->n[2]; k++)
    for (int j = 0; j < p->n[1]; j++) {
      const double y = t->f[p->lo[1] + j], yy = t->f_xx[p->lo[1] + j];
      const double z = t->f[p->lo[2] + k], zz = t->f_xx[p->lo[2] + k];
      double *f = mg_cell(p, MG_F, 0, j, k);
#pragma omp simd
      for (int i = 0; i < p->n[0]; i++)
        f[i] = fx[i] * y * z + c * (fxx[i] * y * z + fx[i] * (yy * z + y * zz));
    }
}

/* 7pt: point values of beta = 5.5 + 4.5 tanh(10 (r - 1/4)), r the distance from the centre. */
static double beta_point(double x, double y, double z, double gradient[3]) {
  const double q[3] = {x - 0.5, y - 0.5, z - 0.5};
  const double r = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  const double t = tanh(10.0 * (r - 0.25));
  if (gradient)
    for (int d = 0; d < 3; d++)
      gradient[d] = r > 0.0 ? 45.0 * (1.0 - t * t) * q[d] / r : 0.0;
  return 5.5 + 4.5 * t;
}

/* A factor of u = X(x) X(y) X(z) and its derivatives. */
typedef struct {
  double value, first, second;
} factor_t;

static factor_t factor(double t, bool periodic) {
  const double t2 = t * t, t3 = t2 * t, t4 = t2 * t2;
  return (factor_t){2.0 * t4 * t2 - 6.0 * t4 * t + 5.0 * t4 - t2 + (periodic ? 1.0 / 21.0 : 0.0),
                    12.0 * t4 * t - 30.0 * t4 + 20.0 * t3 - 2.0 * t,
                    60.0 * t4 - 120.0 * t3 + 60.0 * t2 - 2.0};
}

static double rhs_point(const mg_view_t *v, double x, double y, double z) {
  const factor_t X = factor(x, v->periodic), Y = factor(y, v->periodic), Z = factor(z, v->periodic);
  double g[3];
  const double beta = beta_point(x, y, z, g);
  const double laplacian =
      X.second * Y.value * Z.value + X.value * Y.second * Z.value + X.value * Y.value * Z.second;
  const double flux = g[0] * X.first * Y.value * Z.value + g[1] * X.value * Y.first * Z.value +
                      g[2] * X.value * Y.value * Z.first;
  return v->a * (X.value * Y.value * Z.value) - (flux + beta * laplacian); /* b = 1 */
}

static void set_7pt(const mg_view_t *v, const mg_patch_t *p) {
  const double h = v->h;
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  for (int k = 0; k <= p->n[2]; k++)
    for (int j = 0; j <= p->n[1]; j++)
      for (int i = 0; i <= p->n[0]; i++) {
        const double xf = (p->lo[0] + i) * h, yf = (p->lo[1] + j) * h, zf = (p->lo[2] + k) * h;
        const double x = xf + 0.5 * h, y = yf + 0.5 * h, z = zf + 0.5 * h;
        const bool in_i = i < p->n[0], in_j = j < p->n[1], in_k = k < p->n[2];
        if (in_j && in_k) *mg_cell(p, MG_BETA_I, i, j, k) = beta_point(xf, y, z, NULL);
        if (in_i && in_k) *mg_cell(p, MG_BETA_J, i, j, k) = beta_point(x, yf, z, NULL);
        if (in_i && in_j) *mg_cell(p, MG_BETA_K, i, j, k) = beta_point(x, y, zf, NULL);
        if (in_i && in_j && in_k) *mg_cell(p, MG_F, i, j, k) = rhs_point(v, x, y, z);
      }
}

mg_status_t mg_cpu_set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    if (v->op == MG_OPERATOR_7PT) {
      set_7pt(v, p);
      continue;
    }
    for (int d = 0; d < 3; d++)
      beta_fv(v, p, tables, d);
    rhs_fv(v, p, tables);
  }
  return MG_OK;
}
