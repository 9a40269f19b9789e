/* One step of a smoother.
 *
 * Bytes per cell, one pass: GSRB of the 7-point operators 56 (x read and written in place, f, Dinv
 * and three betas read), Chebyshev 64 (the previous iterate is read where the next is written),
 * Jacobi 56. The walls' ghosts are filled strip by strip just before they are read. */
#include "cpu.h"
#include "stencil.h"

typedef struct {
  int src, dst;
  const mg_step_t *step;
} job_t;

/* A row's pointers, all at its first cell. */
typedef struct {
  const double *f, *dinv, *bi, *bj, *bk;
  double *src, *dst;
  ptrdiff_t js, ks;
  int n;
} row_t;

static row_t row_at(const mg_patch_t *p, const job_t *job, int j, int k) {
  const ptrdiff_t at = j * p->jstride + k * p->kstride;
  return (row_t){.f = p->vec[MG_F] + at,
                 .dinv = p->vec[MG_DINV] + at,
                 .bi = p->vec[MG_BETA_I] + at,
                 .bj = p->vec[MG_BETA_J] + at,
                 .bk = p->vec[MG_BETA_K] + at,
                 .src = p->vec[job->src] + at,
                 .dst = p->vec[job->dst] + at,
                 .js = p->jstride,
                 .ks = p->kstride,
                 .n = p->n[0]};
}

/* In place: a cell of one colour reads only the other colour, so no iteration depends on another,
 * and the store is masked so that the other colour is not even rewritten. */
static void gsrb_7(const mg_view_t *v, row_t r, int phase) {
  const double a = v->a, b_h2 = v->b_h2, *f = r.f, *dinv = r.dinv;
  double *x = r.src;
#pragma omp simd
  for (int i = 0; i < r.n; i++) {
    const double ax = mg_apply_7(x + i, r.bi + i, r.bj + i, r.bk + i, r.js, r.ks, a, b_h2);
    const double relaxed = mg_relax(x[i], ax, f[i], dinv[i]);
    if (((i ^ phase) & 1) == 0) x[i] = relaxed;
  }
}

static void gsrb_fv4(const mg_view_t *v, row_t r, int phase) {
  const double a = v->a, b_h2 = v->b_h2;
#pragma omp simd
  for (int i = 0; i < r.n; i++) {
    const double ax = mg_apply_fv4(r.src + i, r.bi + i, r.bj + i, r.bk + i, r.js, r.ks, a, b_h2);
    const double relaxed = mg_relax(r.src[i], ax, r.f[i], r.dinv[i]);
    r.dst[i] = ((i ^ phase) & 1) == 0 ? relaxed : r.src[i];
  }
}

/* The previous iterate is read only when c1 asks for it: the first step finds anything there. */
#define POLYNOMIAL_ROW(name, apply, previous)                                                      \
  static void name(const mg_view_t *v, row_t r, double c1, double c2) {                            \
    const double a = v->a, b_h2 = v->b_h2;                                                         \
    _Pragma("omp simd") for (int i = 0; i < r.n; i++) {                                            \
      const double ax = apply(r.src + i, r.bi + i, r.bj + i, r.bk + i, r.js, r.ks, a, b_h2);       \
      r.dst[i] = mg_polynomial(r.src[i], previous, ax, r.f[i], r.dinv[i], c1, c2);                 \
    }                                                                                              \
  }
POLYNOMIAL_ROW(chebyshev_7, mg_apply_7, r.dst[i])
POLYNOMIAL_ROW(chebyshev_fv4, mg_apply_fv4, r.dst[i])
POLYNOMIAL_ROW(jacobi_7, mg_apply_7, r.src[i])
POLYNOMIAL_ROW(jacobi_fv4, mg_apply_fv4, r.src[i])
#undef POLYNOMIAL_ROW

static void smooth_row(const mg_view_t *v, const mg_patch_t *p, const job_t *job, int j, int k) {
  const mg_step_t *step = job->step;
  const row_t row = row_at(p, job, j, k);
  const bool fv4 = v->op == MG_OPERATOR_FV4;
  if (step->kind == MG_STEP_GSRB) {
    const int phase = (p->lo[0] ^ (p->lo[1] + j) ^ (p->lo[2] + k) ^ step->color) & 1;
    fv4 ? gsrb_fv4(v, row, phase) : gsrb_7(v, row, phase);
  } else if (step->kind == MG_STEP_JACOBI || step->c1 == 0.0) {
    fv4 ? jacobi_fv4(v, row, 0.0, step->c2) : jacobi_7(v, row, 0.0, step->c2);
  } else {
    fv4 ? chebyshev_fv4(v, row, step->c1, step->c2) : chebyshev_7(v, row, step->c1, step->c2);
  }
}

static void smooth_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  const int order = mg_cpu_operator_order(v);
  double *x = p->vec[job->src];
  /* In place, the walls' ghosts come from values before the step: all of a row's before it. */
  if (v->op != MG_OPERATOR_FV4) mg_cpu_wall_rows(v, p, x, k, j0, j1);
  for (int j = j0; j < j1; j++) {
    if (v->op != MG_OPERATOR_FV4) mg_cpu_wall_ends(p, x + j * p->jstride + k * p->kstride, order);
    smooth_row(v, p, job, j, k);
  }
}

mg_status_t mg_cpu_smooth(const mg_view_t *v, int src, int dst, const mg_step_t *step) {
  job_t job = {.src = src, .dst = dst, .step = step};
  mg_cpu_residual_prepare(v, src);
  mg_cpu_strips(v, smooth_strip, &job);
  return MG_OK;
}
