/* Mixed precision: cycles of a hierarchy with float levels (mg_hierarchy_t.low).
 *
 * A V-cycle is one step of defect correction: the residual of the double u, rounded to float, is
 * the right-hand side of a float V-cycle from zero, whose result is added to u in double.
 *
 * In an F-cycle, u starts as an interpolation from the next coarser level. Where the backend can,
 * it is not stored: the residual and the correction interpolate it again. */
#include "level/mixed.h"
#include "backend/arrays.h"
#include "base/log.h"
#include "comm/comm.h"
#include "formulas/walls.h"
#include "level/metric.h"
#include "level/transfer.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "wings.h"
#include <math.h>

/* Values between these, and sums of several, are normal floats. Corrections may be as small as
 * `smallest`, with fewer digits. */
static const double least = 1e-37, most = 1e37, smallest = 1e-40;

static mg_status_t refuse(const char *what, double x, double low, double high) {
  return mg_error(MG_ERR_USAGE,
                  "%s is %g; --precision=mixed requires %.1e to %.1e here, the range of float; use "
                  "--precision=double",
                  what, x, low, high);
}

/* Check alpha, or beta / width^2 of this rank's faces. */
static mg_status_t check_field(const mg_level_t *level, mg_vector_t vec, const mg_range_t *range) {
  const mg_view_t *v = &level->store.view;
  const double scale = vec == MG_ALPHA ? 1.0 : v->b_h2;
  const mg_range_t limits = {range->least / scale, range->most / scale, true};
  for (int q = 0; level->comm && q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    const mg_strided_t array = {p->vec[vec], {1, p->jstride, p->kstride}};
    int64_t place;
    double x;
    MG_TRY(level->backend->arrays->find_outside(p->n, &array, &limits, &place, &x));
    if (place >= 0)
      return refuse(vec == MG_ALPHA ? "alpha" : "beta / width^2", x * scale, range->least,
                    range->most);
  }
  return MG_OK;
}

static double inverse_square_width(const mg_hierarchy_t *h) {
  const double width = h->level[0].plan->h[0];
  return 1.0 / (width * width);
}

/* Ratio of 1 / width^2 on the finest level and on the coarsest one. */
static double coarsening(const mg_hierarchy_t *h) {
  return exp2(2.0 * (h->low->n_levels - 1));
}

/* Of alpha, or of beta / width^2. A coarser level has twice the widths. */
static mg_range_t range_of(const mg_hierarchy_t *h, mg_vector_t vec) {
  const double b_h2 = inverse_square_width(h);
  if (vec == MG_ALPHA) return (mg_range_t){least, most, true};
  return (mg_range_t){least * fmax(coarsening(h), b_h2), most * fmin(1.0, b_h2), true};
}

mg_status_t mg_mixed_check_widths(const mg_hierarchy_t *h) {
  const double b_h2 = inverse_square_width(h), low = least * coarsening(h);
  if (b_h2 > low && b_h2 < most) return MG_OK;
  return mg_comm_is_root() ? refuse("1 / width^2", b_h2, low, most) : MG_ERR_USAGE;
}

mg_status_t mg_mixed_range(const mg_hierarchy_t *h, mg_vector_t vec, mg_range_t *range) {
  const double scale = vec == MG_ALPHA ? 1.0 : inverse_square_width(h);
  *range = range_of(h, vec);
  range->least /= scale;
  range->most /= scale;
  MG_IF_DOMAINS(MG_TRY(mg_metric_narrow(h, vec, &range->least, &range->most)));
  return MG_OK;
}

/* The last residual is --rtol times f; smooth corrections are residuals by the beta / width^2 of
 * the coarsest level. */
static mg_status_t check_coefficients(mg_hierarchy_t *h) {
  mg_level_t *const level = &h->level[0];
  const double b_h2 = inverse_square_width(h), coarser = coarsening(h),
               rtol = h->params.rtol > 0.0 ? h->params.rtol : 1e-7;
  const bool checks = !h->params.has_arrays;
  double largest = 0.0;
  if (checks && h->params.alpha_varies) {
    const mg_range_t range = range_of(h, MG_ALPHA);
    MG_TRY(mg_comm_agree(check_field(level, MG_ALPHA, &range)));
  }
  for (int d = 0; d < 3; d++) {
    const mg_vector_t vec = MG_BETA_I + (mg_vector_t)d;
    const mg_range_t range = range_of(h, vec);
    double beta = 0.0;
    if (checks) MG_TRY(mg_comm_agree(check_field(level, vec, &range)));
    MG_TRY(mg_max_norm(level, vec, MG_NO_VECTOR, &beta));
    largest = fmax(largest, beta * b_h2);
  }
  MG_TRY(mg_comm_max(mg_comm_world(), &largest, 1));
  h->low_rhs[0] = smallest / rtol * fmax(1.0, largest / coarser);
  h->low_rhs[1] = most * fmin(1.0, largest / coarser);
  return MG_OK;
}

mg_status_t mg_mixed_lower_coefficients(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0], *low = &h->low->level[0];
  MG_TRY(check_coefficients(h));
  for (int d = 0; d < 3; d++) /* closing faces included */
    MG_TRY(mg_lower(level, low, MG_BETA_I + d, MG_BETA_I + d, 1.0));
  return h->params.alpha_varies ? mg_lower(level, low, MG_ALPHA, MG_ALPHA, 1.0) : MG_OK;
}

mg_status_t mg_mixed_check_rhs(const mg_hierarchy_t *h, double f_norm) {
  const mg_range_t range = {h->low_rhs[0], h->low_rhs[1], true};
  if (!isfinite(f_norm) || mg_is_in_range(&range, f_norm)) return MG_OK;
  if (!mg_comm_is_root()) return MG_ERR_USAGE;
  return refuse("max|f|", f_norm, range.least, range.most);
}

static mg_status_t lower_residual(mg_hierarchy_t *h, int l, double *norm) {
  return mg_lower_residual(&h->level[l], &h->low->level[l], h->low_scale, norm);
}

mg_status_t mg_mixed_residual(mg_hierarchy_t *h, int top, double *norm) {
  h->residual_level = top;
  return lower_residual(h, top, norm);
}

static mg_status_t raise_correction(mg_hierarchy_t *h, int l, bool add) {
  return mg_raise(&h->level[l], &h->low->level[l], 1.0 / h->low_scale, add);
}

/* A float V-cycle whose right-hand side is set; its result becomes u, or is added to it. */
static mg_status_t correct(mg_hierarchy_t *h, int l, bool add, int *diverged) {
  MG_TRY(mg_cycle_by_operations(h->low, l, MG_KIND_PRECONDITION, diverged));
  MG_TRY(raise_correction(h, l, add));
  return mg_divergence_check(h, l, MG_U, diverged);
}

/* A V-cycle from zero, where the residual is f. */
static mg_status_t v_cycle_from_zero(mg_hierarchy_t *h, int l, int *diverged) {
  MG_TRY(mg_lower(&h->level[l], &h->low->level[l], MG_F, MG_F, h->low_scale));
  return correct(h, l, false, diverged);
}

/* The first guess on the last double level: a float F-cycle on the coarser ones, interpolated. */
static mg_status_t float_guess(mg_hierarchy_t *h, int l, int *diverged) {
  mg_hierarchy_t *low = h->low;
  MG_TRY(mg_lower(&h->level[l], &low->level[l], MG_F, MG_F, h->low_scale));
  MG_TRY(mg_restrict(low, l, MG_F, MG_F));
  MG_TRY(mg_cycle_by_operations(low, l + 1, MG_KIND_FIRST, diverged));
  MG_TRY(mg_interpolate(low, l, mg_interpolation_of(h->params.op, MG_CYCLE_F), MG_U, false, false));
  return raise_correction(h, l, false);
}

/* The guess of level l, interpolated from the next coarser double level. */
static mg_guess_t guess_of(const mg_hierarchy_t *h, int l) {
  return (mg_guess_t){mg_level_coarse_view(h, l), MG_U,
                      mg_interpolation_of(h->params.op, MG_CYCLE_F)};
}

/* Whether the guess of level l is interpolated where it is read. */
static bool defers_guess(const mg_hierarchy_t *h, int l) {
  return l + 1 < h->n_levels && h->level[l].plan->guess && h->level[l].comm;
}

bool mg_mixed_ends_with_norm(const mg_hierarchy_t *h, int top, mg_cycle_kind_t kind) {
  return kind == MG_KIND_FIRST && h->params.cycle == MG_CYCLE_F && defers_guess(h, top) &&
         !mg_is_singular(&h->level[top].store.view);
}

mg_status_t mg_mixed_residual_norm(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, double *norm) {
  if (!mg_mixed_ends_with_norm(h, top, kind)) return mg_mixed_residual(h, top, norm);
  if (h->keeps_residual) h->residual_level = top;
  return mg_residual_norm_end(&h->level[top], norm);
}

/* A float V-cycle corrects the guess of level l, which is not stored. The float vectors that share
 * the memory of MG_U (plan.h) are in use until the correction. */
static mg_status_t correct_deferred(mg_hierarchy_t *h, int l, bool with_norm, int *diverged) {
  mg_level_t *level = &h->level[l], *low = &h->low->level[l];
  const mg_guess_t guess = guess_of(h, l);
  const double scale = 1.0 / h->low_scale;
  MG_TRY(mg_fill_coarse_ghosts(h, l, guess.kind, false));
  MG_TRY(mg_lower_guess_residual(level, low, &guess, h->low_scale));
  MG_TRY(mg_cycle_by_operations(h->low, l, MG_KIND_PRECONDITION, diverged));
  if (with_norm)
    return mg_correct_guess_norm(level, low, &guess, scale, h->keeps_residual ? h->low_scale : 0.0);
  MG_TRY(mg_correct_guess(level, low, &guess, scale));
  return mg_divergence_check(h, l, MG_U, diverged);
}

static mg_status_t correct_stored(mg_hierarchy_t *h, int l, int *diverged) {
  if (l + 1 < h->n_levels)
    MG_TRY(mg_interpolate(h, l, mg_interpolation_of(h->params.op, MG_CYCLE_F), MG_U, false, false));
  MG_TRY(lower_residual(h, l, NULL));
  return correct(h, l, true, diverged);
}

/* Each V-cycle on a double level is a correction in double: the float rounding of the levels below
 * is an error that the V-cycles reduce like any other. */
static mg_status_t f_cycle(mg_hierarchy_t *h, int top, int *diverged) {
  const int last = h->n_levels - 1;
  const bool is_bottom = last == h->low->n_levels - 1;
  for (int l = top; l < last; l++)
    MG_TRY(mg_restrict(h, l, MG_F, MG_F));
  MG_TRY(is_bottom ? v_cycle_from_zero(h, last, diverged) : float_guess(h, last, diverged));
  for (int l = is_bottom ? last - 1 : last; l >= top; l--) {
    const bool with_norm = !diverged && l == top && mg_mixed_ends_with_norm(h, top, MG_KIND_FIRST);
    MG_TRY(defers_guess(h, l) ? correct_deferred(h, l, with_norm, diverged)
                              : correct_stored(h, l, diverged));
  }
  return MG_OK;
}

mg_status_t mg_mixed_cycle(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, int *diverged) {
  if (kind == MG_KIND_FIRST && h->params.cycle == MG_CYCLE_F) return f_cycle(h, top, diverged);
  return kind == MG_KIND_NEXT ? correct(h, top, true, diverged)
                              : v_cycle_from_zero(h, top, diverged);
}
