/* f - A x. Bytes per cell: 48 (x, f, three betas read, r written). */
#include "cpu/cpu.h"
#include "formulas/stencil.h"
#include "wings.h"

/* Row loops. `f` is NULL for A x alone; `a_of_i` is a alpha of cell i. */
#define RESIDUAL_ROW(name, apply, a_of_i)                                                          \
  static void name(const mg_view_t *v, const mg_real_t *alpha, const mg_real_t *x,                 \
                   const mg_real_t *bi, const mg_real_t *bj, const mg_real_t *bk,                  \
                   const mg_real_t *f, ptrdiff_t js, ptrdiff_t ks, int n, mg_real_t *out) {        \
    const mg_real_t a = MG_REAL(v->a), b_h2 = MG_REAL(v->b_h2);                                    \
    (void)alpha;                                                                                   \
    (void)a;                                                                                       \
    if (f) {                                                                                       \
      _Pragma("omp simd") for (int i = 0; i < n; i++) out[i] =                                     \
          f[i] - apply(x + i, bi + i, bj + i, bk + i, js, ks, a_of_i, b_h2);                       \
    } else {                                                                                       \
      _Pragma("omp simd") for (int i = 0; i < n; i++) out[i] =                                     \
          apply(x + i, bi + i, bj + i, bk + i, js, ks, a_of_i, b_h2);                              \
    }                                                                                              \
  }
#define RESIDUAL_ROWS(points)                                                                      \
  RESIDUAL_ROW(row_##points, mg_apply_##points, a)                                                 \
  RESIDUAL_ROW(row_##points##_varying, mg_apply_##points, alpha[i])
RESIDUAL_ROWS(7)
MG_OTHER_STENCILS(RESIDUAL_ROWS)

void mg_cpu_residual_row(const mg_view_t *v, const mg_patch_t *p, const mg_real_t *x,
                         const mg_real_t *f, int j, int k, mg_real_t *out) {
  const ptrdiff_t at = j * p->jstride + k * p->kstride;
  MG_IF_FUSED(if (v->constant.rows) {
    mg_cpu_constant_residual_row(v, p, x + at, f ? f + at : NULL, j, k, out);
    return;
  });
  const mg_real_t *bi = p->vec[MG_BETA_I] + at, *bj = p->vec[MG_BETA_J] + at,
                  *bk = p->vec[MG_BETA_K] + at;
  const mg_real_t *alpha = v->alpha_varies ? p->vec[MG_ALPHA] + at : NULL;
  const int points = mg_traits_of(v->op)->points;
#define CHOOSE(n) points == n ? alpha ? row_##n##_varying : row_##n:
  (MG_OTHER_STENCILS(CHOOSE) alpha ? row_7_varying : row_7)(
      v, alpha, x + at, bi, bj, bk, f ? f + at : NULL, p->jstride, p->kstride, p->n[0], out);
}

void mg_cpu_residual_prepare(const mg_view_t *v, mg_vector_t x) {
  if (mg_traits_of(v->op)->edges)
    (void)mg_cpu_fill_wall_ghosts(v, x, mg_operator_order(v)); /* cannot fail */
  else
    mg_cpu_wall_planes(v, x);
}

void mg_cpu_residual_walls(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k, int j0,
                           int j1) {
  if (mg_traits_of(v->op)->edges) return;
  mg_cpu_wall_rows(v, p, x, k, j0, j1);
  mg_cpu_wall_ends(v, p, x, k, j0, j1);
}

typedef struct {
  mg_vector_t dst, x, f;
} job_t;

static void residual_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  const mg_real_t *f = job->f < 0 ? NULL : p->vec[job->f];
  mg_cpu_residual_walls(v, p, p->vec[job->x], k, j0, j1);
  for (int j = j0; j < j1; j++)
    mg_cpu_residual_row(v, p, p->vec[job->x], f, j, k, mg_cell(p, job->dst, 0, j, k));
}

mg_status_t mg_cpu_residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
  job_t job = {.dst = dst, .x = x, .f = f};
  mg_cpu_residual_prepare(v, x);
  mg_cpu_strips(v, residual_strip, &job);
  return MG_OK;
}
