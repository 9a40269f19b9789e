/* Mixed precision: cycles of a hierarchy with float levels (mg_hierarchy_t.low).
 *
 * A V-cycle is one step of defect correction: the residual of the double u, rounded to float, is
 * the right-hand side of a float V-cycle from zero, whose result is added to u in double.
 *
 * In an F-cycle, u starts as an interpolation from the next coarser level. Where the backend can,
 * it is not stored: the residual and the correction interpolate it again. */
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/cycle.h"

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
  return mg_divergence_check(h, l, diverged);
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
  MG_TRY(mg_interpolate(low, l, mg_interpolation_of(h->params.op, MG_CYCLE_F), false));
  return raise_correction(h, l, false);
}

/* The guess of level l, interpolated from the next coarser double level. */
static mg_guess_t guess_of(const mg_hierarchy_t *h, int l) {
  return (mg_guess_t){mg_level_coarse_view(h, l), MG_U,
                      mg_interpolation_of(h->params.op, MG_CYCLE_F)};
}

/* Whether the guess of level l is interpolated where it is read. */
static bool defers_guess(const mg_hierarchy_t *h, int l) {
  return l + 1 < h->n_levels && mg_can_defer_guess(&h->level[l], guess_of(h, l).kind);
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
  MG_TRY(mg_fill_coarse_ghosts(h, l, guess.kind));
  MG_TRY(mg_lower_guess_residual(level, low, &guess, h->low_scale));
  MG_TRY(mg_cycle_by_operations(h->low, l, MG_KIND_PRECONDITION, diverged));
  if (with_norm)
    return mg_correct_guess_norm(level, low, &guess, scale, h->keeps_residual ? h->low_scale : 0.0);
  MG_TRY(mg_correct_guess(level, low, &guess, scale));
  return mg_divergence_check(h, l, diverged);
}

static mg_status_t correct_stored(mg_hierarchy_t *h, int l, int *diverged) {
  if (l + 1 < h->n_levels)
    MG_TRY(mg_interpolate(h, l, mg_interpolation_of(h->params.op, MG_CYCLE_F), false));
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
