/* One step of a smoother.
 *
 * Bytes per cell for one step of the 7-point operators: GSRB 48 (x read and written in place, f and
 * three betas read), Jacobi 48, Chebyshev 56 (reads the previous iterate and overwrites it with the
 * next).
 *
 * The diagonal can be summed from the betas, which are loaded anyway. Reading it from memory
 * instead makes a single step a fifth slower; reading it from cache saves a division, which makes a
 * step a fifth to a half faster. So large levels store it only for passes (plan/plan_level.c), and
 * it is read where it is stored. For fv4 the diagonal costs more to compute than to load, so it is
 * read: 8 bytes more. Wall ghosts are filled strip by strip, just before they are read. */
#include "cpu/smooth_rows.h"
#include "wings.h"

/* A x and 1 / diagonal of cell i; `a` is a alpha. Everything below must be inlined, or the loops
 * are not vectorized. */
#define APPLY(name, formula, a)                                                                    \
  MG_INLINE mg_real_t apply_##name(const row_t *r, ptrdiff_t i) {                                  \
    return formula(r->src + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, a, r->b_h2);         \
  }
APPLY(7, mg_apply_7, r->a)
APPLY(7_varying, mg_apply_7, r->alpha[i])

MG_INLINE mg_real_t dinv_7(const row_t *r, ptrdiff_t i) {
  mg_face_weights_t w = r->weights;
  w.low[0] = i == 0 ? r->first : MG_REAL(1.0);
  w.high[0] = i == r->n - 1 ? r->last : MG_REAL(1.0);
  return MG_REAL(1.0) /
         mg_diagonal_7(r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, w, r->a, r->b_h2);
}

UPDATES(7, apply_7, dinv_7, row_at)
UPDATES(7_stored, apply_7, dinv_stored, row_at)
UPDATES(7_varying, apply_7_varying, dinv_stored, row_at)
ROWS(first_7, FROM_ZERO(dinv_7), row_at)
ROWS(first_stored, FROM_ZERO(dinv_stored), row_at)
ROWS_IN_PLACE(colored_7, apply_7, dinv_7, row_at)
ROWS_IN_PLACE(colored_7_stored, apply_7, dinv_stored, row_at)
ROWS_IN_PLACE(colored_7_varying, apply_7_varying, dinv_stored, row_at)

static const strips_t strips_7 = STRIPS_OF(7, first_7),
                      strips_7_stored = STRIPS_OF(7_stored, first_stored),
                      strips_7_varying = STRIPS_OF(7_varying, first_stored);

/* Other stencils, with constant and with varying alpha. Their colored steps are not in place. */
#define VARIANT(name, formula, a)                                                                  \
  APPLY(name, formula, a)                                                                          \
  UPDATES(name, apply_##name, dinv_stored, row_at)                                                 \
  ROWS(colored_##name, chosen(changes, RELAX(apply_##name, dinv_stored), r->src[at]), row_at)      \
  static const strips_t strips_##name = STRIPS_OF(name, first_stored);
#define VARIANTS(points)                                                                           \
  VARIANT(points, mg_apply_##points, r->a)                                                         \
  VARIANT(points##_varying, mg_apply_##points, r->alpha[i])
MG_OTHER_STENCILS(VARIANTS)

/* If alpha varies, 1 / diagonal is always stored. */
static const strips_t *choose_strips(const mg_view_t *v) {
  const int points = mg_traits_of(v->op)->points;
#define CHOOSE(n)                                                                                  \
  if (points == n) return v->alpha_varies ? &strips_##n##_varying : &strips_##n;
  MG_OTHER_STENCILS(CHOOSE)
  if (v->alpha_varies) return &strips_7_varying;
  MG_IF_FUSED(if (v->constant.rows) return &mg_cpu_constant_strips);
  const bool stored = v->n_patches > 0 && v->patch[0].vec[MG_DINV];
  return stored ? &strips_7_stored : &strips_7;
}

static mg_cpu_rows_fn *choose_rows(const mg_view_t *v, const mg_update_t *u) {
  const strips_t *strips = choose_strips(v);
  switch (u->form) {
  case MG_UPDATE_FIRST:
    return strips->first;
  case MG_UPDATE_COLORED:
    return strips->colored;
  case MG_UPDATE_ALL:
  default:
    return u->previous == u->x ? strips->jacobi : u->previous < 0 ? strips->second : strips->all;
  }
}

void mg_cpu_step_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_step_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  /* In place, the wall ghosts must come from values before the step, so fill them first. */
  if (job->u.x >= 0) mg_cpu_residual_walls(v, p, p->vec[job->u.x], k, j0, j1);
  job->rows(v, p, job, k, j0, j1);
}

mg_cpu_step_t mg_cpu_step_of(const mg_view_t *v, const mg_sweep_t *sweep) {
  mg_cpu_step_t step = {.u = mg_update_of(sweep)};
  const mg_wall_orders_t order = mg_operator_orders(v);
  for (int s = 0; s < 6; s++)
    step.wall[s / 2][s % 2] = mg_wall_weight(v->side[s / 2][s % 2], order.along[s / 2]);
  step.rows = choose_rows(v, &step.u);
  return step;
}

mg_status_t mg_cpu_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  (void)region; /* never a part: sweep_overlaps is NULL */
  mg_cpu_step_t step = mg_cpu_step_of(v, sweep);
  if (step.u.x >= 0) mg_cpu_residual_prepare(v, step.u.x);
  mg_cpu_strips(v, mg_cpu_step_strip, &step);
  return MG_OK;
}
