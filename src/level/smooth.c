#include "level/smooth.h"
#include "formulas/smoother_steps.h"
#include "level/ops.h"
#include "level/sweep_wings.h"
#include "wings.h"
#include <stdlib.h>

/* ---- set-up ---- */

/* Whether the planned path suits this rank's patches. */
static bool can_fuse(const mg_level_t *level) {
  const mg_level_plan_t *plan = level->plan;
  return plan->steps_per_pass > 1 && level->n_steps > 1 &&
         (!plan->path->suits || plan->path->suits(mg_level_view(level), plan->steps_per_pass));
}

mg_exchange_t *mg_sweep_exchange(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  return s->sweep.n > 1 ? level->halo_deep : level->halo;
}

/* Collective over the level. */
static mg_status_t create_schedule(const mg_level_t *level, bool zero_guess, mg_schedule_t *s) {
  MG_IF_SWEEPS(
      if (level->plan->resident &&
          level->steps_per_pass > 1) return mg_schedule_create_resident(level, zero_guess, s));
  /* Colored steps of the 7-point operators update in place; all others need a second vector. */
  const bool in_place = level->steps[0].colored && mg_traits_of(mg_level_view(level)->op)->in_place;
  MG_TRY(mg_schedule_create(level->steps, level->n_steps, level->steps_per_pass, in_place,
                            zero_guess, s));
  MG_IF_SWEEPS(return mg_schedule_fuse(level, s));
  return MG_OK;
}

/* The schedules from all starts. */
static mg_status_t create_schedules(mg_level_t *level) {
  mg_schedule_t *zero = &level->schedule[MG_FROM_ZERO], *guess = &level->schedule[MG_FROM_GUESS],
                *coarse = &level->schedule[MG_FROM_COARSE],
                *correction = &level->schedule[MG_FROM_CORRECTION];
  MG_TRY(create_schedule(level, false, guess));
  MG_TRY(create_schedule(level, true, zero));
  level->descended = guess->result == MG_TMP ? MG_TMP : MG_U;
  if (zero->result == mg_other_vector(level->descended)) mg_schedule_exchange_vectors(zero);
  MG_TRY(mg_schedule_copy(guess, coarse));
  if (coarse->sweep->interpolates) mg_schedule_drop_iterate(coarse);
  MG_TRY(mg_schedule_copy(guess, correction));
  if (level->descended == MG_TMP) mg_schedule_exchange_vectors(correction);
  mg_schedule_drop_halo(correction->sweep, MG_F);
  return MG_OK;
}

mg_status_t mg_smoother_set(mg_level_t *level, const mg_params_t *params, double lambda_max,
                            bool fused) {
  if (!level->comm) return MG_OK;
  mg_smoother_free(level);
  MG_TRY(mg_smoother_steps(params, lambda_max, &level->steps, &level->n_steps));
  double any_cannot = !fused || !can_fuse(level);
  MG_TRY(mg_comm_max(level->comm, &any_cannot, 1));
  fused = any_cannot == 0.0;
  level->steps_per_pass = fused ? level->plan->steps_per_pass : 1;
  /* With more steps than planned, one exchange has too few layers of ghosts; resident sweeps are
   * cut (mg_schedule_create_resident). */
  level->one_exchange = fused && level->plan->one_exchange &&
                        (level->n_steps <= level->plan->n_steps || level->plan->resident);
  return create_schedules(level);
}

void mg_smoother_free(mg_level_t *level) {
  for (int start = 0; start < MG_N_STARTS; start++)
    mg_schedule_free(&level->schedule[start]);
  free(level->steps);
  level->steps = NULL;
}

/* ---- smoothing ---- */

mg_status_t mg_sweep_halo(mg_level_t *level, mg_exchange_t *exchange, const mg_vector_t *vec, int n,
                          bool beside) {
  if (n > 0) MG_TIMED(level, MG_TIME_HALO, mg_exchange_halo(exchange, vec, n, beside));
  return MG_OK;
}

mg_status_t mg_sweep_region(mg_level_t *level, const mg_scheduled_sweep_t *s, mg_region_t region,
                            const mg_resident_use_t *use) {
  const mg_view_t *view = s->grown.patch ? &s->grown : mg_level_view(level);
  MG_IF_SWEEPS(if (s->resident || use->source ||
                   use->has_residual) return mg_sweep_fused(level, s, region, use));
  (void)use;
  MG_TIMED(level, MG_TIME_SMOOTH, level->backend->smooth(view, &s->sweep, region));
  return MG_OK;
}

/* While profiling, messages and computation run one after the other; otherwise the same time would
 * be counted twice. */
static mg_status_t run_sweep(mg_level_t *level, const mg_scheduled_sweep_t *s,
                             const mg_resident_use_t *use) {
  mg_exchange_t *exchange = mg_sweep_exchange(level, s);
  const bool apart = level->profile || s->n_halo == 0;
  MG_IF_SWEEPS(if (s->overlaps && !apart) return mg_sweep_overlapped(level, s, use));
  const bool beside = s->interior_first && !apart;
  if (exchange) MG_TRY(mg_sweep_halo(level, exchange, s->halo, s->n_halo, beside));
  return mg_sweep_region(level, s, beside ? MG_REGION_INTERIOR_FIRST : MG_REGION_ALL, use);
}

mg_status_t mg_smooth_from(mg_level_t *level, mg_start_t start, const mg_resident_use_t *use,
                           mg_vector_t to) {
  if (!level->comm) return MG_OK;
  const mg_schedule_t *s = &level->schedule[start];
  for (int q = 0; q < s->n; q++) {
    mg_resident_use_t part = *use;
    if (q > 0) part.source = NULL;
    if (q < s->n - 1) part.has_residual = false;
    MG_TRY(run_sweep(level, &s->sweep[q], &part));
  }
  if (s->result == to) return MG_OK;
  MG_TRY(mg_axpby(level, to, 1.0, s->result, 0.0, MG_NO_VECTOR));
  return level->one_exchange ? mg_halo(level, to, true) : MG_OK; /* a copy of cells only */
}

mg_status_t mg_smooth(mg_level_t *level, bool zero_guess) {
  return mg_smooth_from(level, zero_guess ? MG_FROM_ZERO : MG_FROM_GUESS,
                        &(mg_resident_use_t){.source = NULL}, MG_U);
}

bool mg_smooth_fills_ghosts(const mg_level_t *level) {
  return level->comm && level->one_exchange;
}

bool mg_smooth_has_residual(const mg_level_t *level, mg_start_t start) {
  const mg_schedule_t *s = &level->schedule[start];
  return level->comm && s->sweep[s->n - 1].has_residual;
}

bool mg_smooth_interpolates(const mg_level_t *level) {
  return level->comm && level->schedule[MG_FROM_COARSE].sweep->interpolates;
}

bool mg_smooth_is_resident(const mg_level_t *level) {
  return level->comm && level->schedule[MG_FROM_GUESS].sweep->resident;
}
