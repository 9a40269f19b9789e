/* Operations of the roofline ladder, through the interfaces that a cycle uses. */
#include "lab/roofline.h"
#include "level/mixed.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"

/* A smooth and the norm of its residual, as at the end of a cycle. */
static mg_status_t smooth_norm(mg_hierarchy_t *h, double *norm) {
  mg_level_t *fine = &h->level[0];
  if (mg_smooth_has_residual(fine, MG_FROM_GUESS)) {
    MG_TRY(mg_residual_norm_begin(fine));
    MG_TRY(mg_leg_run(h, 0, &(mg_leg_t){.start = MG_FROM_GUESS, .end = MG_TO_NORM}));
    return mg_residual_norm_end(fine, norm);
  }
  MG_TRY(mg_smooth(fine, false));
  return mg_residual_norm(fine, MG_U, MG_F, norm);
}

/* As in solver/mixed.c: the guess is stored unless the plan interpolates it where it is read. */
static mg_status_t lower_guess(mg_hierarchy_t *h, mg_interpolation_t kind) {
  mg_level_t *fine = &h->level[0], *low = &h->low->level[0];
  const mg_guess_t guess = {mg_level_coarse_view(h, 0), MG_U, kind};
  if (!fine->plan->guess) {
    MG_TRY(mg_interpolate(h, 0, kind, MG_U, false, false));
    return mg_lower_residual(fine, low, 1.0, NULL);
  }
  MG_TRY(mg_fill_coarse_ghosts(h, 0, kind, false));
  return mg_lower_guess_residual(fine, low, &guess, 1.0);
}

/* norm: max |f - A u|; NULL: not needed. */
static mg_status_t raise_guess(mg_hierarchy_t *h, mg_interpolation_t kind, double *norm) {
  mg_level_t *fine = &h->level[0], *low = &h->low->level[0];
  const mg_guess_t guess = {mg_level_coarse_view(h, 0), MG_U, kind};
  if (!fine->plan->guess) {
    MG_TRY(mg_interpolate(h, 0, kind, MG_U, false, false));
    MG_TRY(mg_raise(fine, low, 1.0, true));
    return norm ? mg_residual_norm(fine, MG_U, MG_F, norm) : MG_OK;
  }
  MG_TRY(mg_fill_coarse_ghosts(h, 0, kind, false));
  if (!norm) return mg_correct_guess(fine, low, &guess, 1.0);
  MG_TRY(mg_correct_guess_norm(fine, low, &guess, 1.0, 0.0));
  return mg_residual_norm_end(fine, norm);
}

mg_status_t roofline_run(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  mg_level_t *fine = &h->level[0];
  const mg_interpolation_t v = mg_interpolation_of(h->params.op, MG_CYCLE_V),
                           f = mg_interpolation_of(h->params.op, MG_CYCLE_F);
  switch (kind) {
  case ROOFLINE_SMOOTHS:
    return mg_smooth(fine, false);
  case ROOFLINE_FIRST: /* as on the first visit to a level: the guess is in no vector */
    return fine->backend->smooth(
        &fine->store.view, &(mg_sweep_t){&fine->steps[0], 1, MG_NO_VECTOR, -1, MG_U, MG_NO_VECTOR},
        MG_REGION_ALL);
  case ROOFLINE_RESIDUAL:
    return mg_residual(fine, MG_TMP, MG_U, MG_F);
  case ROOFLINE_RESIDUAL_NORM:
    return mg_residual_norm(fine, MG_U, MG_F, number);
  case ROOFLINE_RESTRICTS_RESIDUAL:
    return mg_residual_restrict(h, 0, MG_U, false);
  case ROOFLINE_RESTRICTS:
    return mg_restrict(h, 0, MG_U, MG_F);
  case ROOFLINE_CORRECTS:
    return mg_interpolate(h, 0, v, MG_U, true, false);
  case ROOFLINE_INTERPOLATES:
    return mg_interpolate(h, 0, f, MG_U, false, false);
  case ROOFLINE_AXPBY:
    return mg_axpby(fine, MG_TMP, ROOFLINE_ALPHA, MG_U, ROOFLINE_BETA, MG_F);
  case ROOFLINE_MULTIPLIES:
    return mg_multiply(fine, MG_TMP, MG_U, MG_F);
  case ROOFLINE_SHIFTS:
    return mg_shift(fine, MG_TMP, MG_U, ROOFLINE_ALPHA);
  case ROOFLINE_SCALES:
    return mg_axpby(fine, MG_TMP, ROOFLINE_ALPHA, MG_U, 0.0, MG_NO_VECTOR);
  case ROOFLINE_FILLS:
    return mg_fill(fine, MG_TMP, ROOFLINE_ALPHA);
  case ROOFLINE_MAX_NORM:
    return mg_max_norm(fine, MG_U, MG_NO_VECTOR, number);
  case ROOFLINE_DIFFERENCE:
    return mg_max_norm(fine, MG_U, MG_F, number);
  case ROOFLINE_HALO:
    return mg_halo(fine, MG_U, false);
  case ROOFLINE_DOT:
    return mg_dot(fine, MG_U, MG_F, number);
  case ROOFLINE_SMOOTHS_RESTRICTS:
    return mg_leg_run(h, 0, &(mg_leg_t){.start = MG_FROM_GUESS, .end = MG_TO_COARSE});
  case ROOFLINE_SMOOTHS_NORM:
    return smooth_norm(h, number);
  case ROOFLINE_CORRECTS_SMOOTHS:
    return mg_leg_run(h, 0, &(mg_leg_t){.start = MG_FROM_CORRECTION, .kind = v});
  case ROOFLINE_LOWERS:
    return mg_lower(fine, &h->low->level[0], MG_F, MG_F, 1.0);
  case ROOFLINE_RAISES:
    return mg_raise(fine, &h->low->level[0], 1.0, true);
  case ROOFLINE_LOWERS_RESIDUAL:
    return mg_lower_residual(fine, &h->low->level[0], 1.0, NULL);
  case ROOFLINE_LOWERS_RESIDUAL_NORM:
    return mg_lower_residual(fine, &h->low->level[0], 1.0, number);
  case ROOFLINE_LOWERS_GUESS:
    return lower_guess(h, f);
  case ROOFLINE_RAISES_GUESS:
    return raise_guess(h, f, NULL);
  case ROOFLINE_RAISES_GUESS_NORM:
    return raise_guess(h, f, number);
  case N_ROOFLINE:
    break;
  }
  return MG_ERR_INTERNAL;
}
