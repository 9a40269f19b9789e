#include "level/smooth.h"
#include "base/alloc.h"
#include "formulas/smoother_steps.h"
#include "level/grow.h"
#include "level/ops.h"
#include <stdlib.h>

/* ---- set-up ---- */

/* Whether the planned path suits this rank's patches. */
static bool can_fuse(const mg_level_t *level) {
  const mg_level_plan_t *plan = level->plan;
  return plan->steps_per_pass > 1 && level->n_steps > 1 &&
         (!plan->path->suits || plan->path->suits(mg_level_view(level), plan->steps_per_pass));
}

/* Let each sweep compute the ghosts that later ones read, and the last one a layer for what
 * follows. */
static mg_status_t grow_sweeps(const mg_level_t *level, mg_schedule_t *s) {
  int needed = 1;
  for (int q = s->n - 1; q >= 0; q--) {
    MG_TRY(
        mg_view_grow(mg_level_view(level), needed, level->plan->value_bytes, &s->sweep[q].grown));
    needed += s->sweep[q].sweep.n;
    if (q > 0) s->sweep[q].n_halo = 0;
  }
  return MG_OK;
}

static mg_exchange_t *exchange_of(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  return s->sweep.n > 1 ? level->halo_deep : level->halo;
}

static const mg_view_t *view_of(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  return s->grown.patch ? &s->grown : mg_level_view(level);
}

static bool overlaps(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  const mg_backend_t *backend = level->backend;
  const mg_exchange_t *exchange = exchange_of(level, s);
  if (s->grown.patch && s->sweep.n == 1) return false; /* its regions do not know grown patches */
  return s->n_halo > 0 && !s->interior_first && backend->overlap.stream_fork &&
         mg_exchange_has_messages(exchange) &&
         backend->overlap.sweep_overlaps(view_of(level, s), s->sweep.n,
                                         mg_exchange_host_only(exchange));
}

static bool begins_with_interior(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  const mg_backend_t *backend = level->backend;
  return s->n_halo > 0 && mg_exchange_by_kernel(exchange_of(level, s)) &&
         backend->overlap.interior_first &&
         backend->overlap.interior_first(view_of(level, s), s->sweep.n);
}

/* Whether the last sweep can also compute the residual of its result (mg_smooth_has_residual). */
static bool can_compute_residual(const mg_level_t *level, const mg_schedule_t *s) {
  const mg_path_t *path = level->plan->path;
  const mg_sweep_t *last = &s->sweep[s->n - 1].sweep;
  return level->plan->fused_residual && last->n > 1 && s->result == MG_U &&
         (!path->suits || path->suits(mg_level_view(level), last->n + 1));
}

/* The coarsened patches of a level that is not the coarsest. */
static const mg_view_t *coarse_view(const mg_level_t *level) {
  return level->has_image ? &level->image.view : mg_level_view(level + 1);
}

/* Whether the first sweep can also interpolate its input. Except for resident sweeps, one sweep
 * does not do both: interpolate its input and compute the residual of its result. Nor does one that
 * computes ghosts for later sweeps: it would interpolate from more coarse ghosts. */
static bool can_interpolate(const mg_level_t *level, const mg_schedule_t *s) {
  const mg_backend_t *backend = level->backend;
  const mg_sweep_t *first = &s->sweep->sweep;
  if (!level->plan->fused_interpolation || level->one_exchange || first->n == 1 || first->x < 0 ||
      s->sweep->has_residual)
    return false;
  return backend->fused.can_interpolate_smooth &&
         backend->fused.can_interpolate_smooth(mg_level_view(level), coarse_view(level), first);
}

static mg_status_t create_resident(const mg_level_t *level, bool zero_guess, mg_schedule_t *s) {
  MG_TRY(mg_schedule_create_resident(level->steps, level->n_steps, zero_guess, level->one_exchange,
                                     s));
  s->sweep->interpolates = !zero_guess && level->plan->fused_interpolation;
  s->sweep->has_residual = level->plan->fused_residual;
  return MG_OK;
}

/* Collective over the level. */
static mg_status_t create_schedule(const mg_level_t *level, bool zero_guess, mg_schedule_t *s) {
  /* Colored steps of the 7-point operators update in place; all others need a second vector. */
  const bool in_place = level->steps[0].colored && mg_traits_of(mg_level_view(level)->op)->in_place;
  MG_TRY(mg_schedule_create(level->steps, level->n_steps, level->steps_per_pass, in_place,
                            zero_guess, s));
  if (level->one_exchange) MG_TRY(grow_sweeps(level, s));
  for (int q = 0; q < s->n; q++) {
    s->sweep[q].interior_first = begins_with_interior(level, &s->sweep[q]);
    s->sweep[q].overlaps = overlaps(level, &s->sweep[q]);
  }
  double any_cannot[2] = {!can_compute_residual(level, s), 1.0};
  MG_TRY(mg_comm_max(level->comm, &any_cannot[0], 1));
  s->sweep[s->n - 1].has_residual = any_cannot[0] == 0.0;
  any_cannot[1] = !can_interpolate(level, s);
  MG_TRY(mg_comm_max(level->comm, &any_cannot[1], 1));
  s->sweep->interpolates = any_cannot[1] == 0.0;
  return MG_OK;
}

/* The schedules from all starts. */
static mg_status_t create_schedules(mg_level_t *level, bool resident) {
  mg_schedule_t *zero = &level->schedule[MG_FROM_ZERO], *guess = &level->schedule[MG_FROM_GUESS],
                *coarse = &level->schedule[MG_FROM_COARSE],
                *correction = &level->schedule[MG_FROM_CORRECTION];
  MG_TRY(resident ? create_resident(level, false, guess) : create_schedule(level, false, guess));
  MG_TRY(resident ? create_resident(level, true, zero) : create_schedule(level, true, zero));
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
  level->one_exchange = fused && level->plan->one_exchange;
  return create_schedules(level, fused && level->plan->resident);
}

void mg_smoother_free(mg_level_t *level) {
  for (int start = 0; start < MG_N_STARTS; start++)
    mg_schedule_free(&level->schedule[start]);
  free(level->steps);
  level->steps = NULL;
}

/* ---- smoothing ---- */

static mg_status_t exchange_all(mg_level_t *level, mg_exchange_t *exchange, const mg_vector_t *vec,
                                int n, bool beside) {
  if (n > 0) MG_TIMED(level, MG_TIME_HALO, mg_exchange_halo(exchange, vec, n, beside));
  return MG_OK;
}

static mg_status_t run_region(mg_level_t *level, const mg_scheduled_sweep_t *s, mg_region_t region,
                              const mg_resident_use_t *use) {
  const mg_backend_t *backend = level->backend;
  const mg_sweep_t *sweep = &s->sweep;
  const mg_view_t *view = mg_level_view(level);
  if (s->resident)
    MG_TIMED(level, MG_TIME_SMOOTH, backend->fused.smooth_resident(view, sweep, use));
  else if (use->source)
    MG_TIMED(
        level, MG_TIME_SMOOTH,
        backend->fused.interpolate_smooth(view, sweep, region, use->source, use->src, use->kind));
  else if (use->has_residual)
    MG_TIMED(level, MG_TIME_SMOOTH,
             backend->fused.smooth_residual(view, sweep, region, use->coarse, use->dst));
  else
    MG_TIMED(level, MG_TIME_SMOOTH, backend->smooth(view_of(level, s), sweep, region));
  return MG_OK;
}

/* Exchange the ghosts of n vectors, and process the interior on a second stream while the messages
 * are in flight.
 *
 * This is safe out of place: no cell is written that is sent or that another cell reads. It is safe
 * for colored steps in place too: no interior cell is sent. No boundary cell reads one before it is
 * updated, since cells of one color read only the other color. */
static mg_status_t run_overlapped(mg_level_t *level, const mg_scheduled_sweep_t *s,
                                  const mg_resident_use_t *use) {
  const mg_backend_t *backend = level->backend;
  mg_exchange_t *exchange = exchange_of(level, s);
  const mg_vector_t *vec = s->halo;
  const bool host = mg_exchange_needs_host(exchange);
  MG_TRY(backend->overlap.stream_fork());
  if (host)
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_begin(exchange, vec[0], vec[0]));
  else
    MG_TRY(exchange_all(level, exchange, vec, s->n_halo, false));
  backend->overlap.stream_switch();
  MG_TRY(run_region(level, s, MG_REGION_INTERIOR, use));
  backend->overlap.stream_switch();
  if (host) {
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_finish(exchange, vec[0], vec[0]));
    MG_TRY(exchange_all(level, exchange, vec + 1, s->n_halo - 1, false));
  }
  MG_TRY(run_region(level, s, MG_REGION_BOUNDARY, use));
  return backend->overlap.stream_join();
}

/* While profiling, messages and computation run one after the other; otherwise the same time would
 * be counted twice. */
static mg_status_t run_sweep(mg_level_t *level, const mg_scheduled_sweep_t *s,
                             const mg_resident_use_t *use) {
  mg_exchange_t *exchange = exchange_of(level, s);
  const bool apart = level->profile || s->n_halo == 0;
  if (s->overlaps && !apart) return run_overlapped(level, s, use);
  const bool beside = s->interior_first && !apart;
  if (exchange) MG_TRY(exchange_all(level, exchange, s->halo, s->n_halo, beside));
  return run_region(level, s, beside ? MG_REGION_INTERIOR_FIRST : MG_REGION_ALL, use);
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

static const char *way_of(bool with_smooth, bool in_one_pass) {
  return with_smooth ? "smooth" : in_one_pass ? "one pass" : "two passes";
}

mg_smoothing_t mg_smoothing_of(const mg_level_t *level) {
  if (!level->comm) return (mg_smoothing_t){.steps = 0};
  const mg_schedule_t *s = &level->schedule[MG_FROM_GUESS];
  const mg_backend_fused_t *fused = &level->backend->fused;
  const bool has_strips = s->sweep->resident && fused->strip_rows,
             smooths = mg_level_path(level->plan) == level->plan->path;
  return (mg_smoothing_t){
      .steps = level->n_steps,
      .sweeps = s->n,
      .strip_rows = has_strips ? fused->strip_rows(mg_level_view(level), level->n_steps) : 0,
      .path = smooths && level->steps_per_pass == 1 ? &mg_path_steps : mg_level_path(level->plan),
      .interpolation = way_of(mg_smooth_interpolates(level), true),
      .restriction =
          way_of(mg_smooth_has_residual(level, MG_FROM_GUESS), mg_level_restricts_residual(level)),
      .norm = way_of(mg_smooth_has_residual(level, MG_FROM_CORRECTION), fused->residual_norm)};
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
