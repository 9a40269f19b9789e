#include "level/smooth.h"
#include "base/alloc.h"
#include "formulas/smoother_steps.h"
#include "level/grow.h"
#include "level/ops.h"
#include <stdlib.h>

/* ---- set-up ---- */

static bool can_fuse(const mg_level_t *level, int max_fused) {
  const mg_backend_t *backend = level->backend;
  return max_fused > 1 && !level->plan->resident && level->n_steps > 1 &&
         mg_steps_fuse(level->steps, level->n_steps) && backend->fused.can_fuse &&
         backend->fused.can_fuse(mg_level_view(level), max_fused);
}

/* Whether a smooth is one resident sweep. */
static bool can_reside(const mg_level_t *level, int max_fused) {
  const mg_backend_t *backend = level->backend;
  return level->plan->resident && max_fused > 1 && backend->fused.can_reside &&
         mg_steps_fuse(level->steps, level->n_steps) &&
         backend->fused.can_reside(mg_level_view(level), level->n_steps);
}

/* Whether the level has enough ghost layers for one exchange per smooth. */
static bool may_exchange_once(const mg_level_t *level) {
  if (!level->plan->one_exchange || level->steps_per_pass == 1) return false;
  const int layers = mg_steps_ghost_layers(level->n_steps, level->steps_per_pass,
                                           mg_steps_look_back(level->steps, level->n_steps),
                                           level->plan->value_bytes);
  return layers > 0 && layers <= level->plan->ghost_layers;
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
  const mg_backend_t *backend = level->backend;
  const mg_sweep_t *last = &s->sweep[s->n - 1].sweep;
  return level->plan->fused_residual && last->n > 1 && s->result == MG_U &&
         backend->fused.can_smooth_residual &&
         backend->fused.can_smooth_residual(mg_level_view(level), last->n);
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
         backend->fused.can_interpolate_smooth(mg_level_view(level), coarse_view(level), first->n);
}

static mg_status_t set_resident_schedules(mg_level_t *level) {
  level->steps_per_pass = level->n_steps;
  level->one_exchange = level->plan->one_exchange;
  for (int zero = 0; zero < 2; zero++) {
    MG_TRY(mg_schedule_create_resident(level->steps, level->n_steps, zero, level->one_exchange,
                                       &level->schedule[zero]));
    level->schedule[zero].sweep->interpolates = zero == 0 && level->plan->fused_interpolation;
    level->schedule[zero].sweep->has_residual = level->plan->fused_residual;
  }
  return MG_OK;
}

static mg_status_t set_schedules(mg_level_t *level, int max_fused) {
  /* Colored steps of the 7-point operators update in place; all others need a second vector. */
  const bool in_place = level->steps[0].colored && mg_level_view(level)->op != MG_OPERATOR_FV4;
  double any_cannot = !can_fuse(level, max_fused);
  MG_TRY(mg_comm_max(level->comm, &any_cannot, 1));
  level->steps_per_pass = any_cannot > 0.0 ? 1 : max_fused;
  level->one_exchange = may_exchange_once(level);
  for (int zero = 0; zero < 2; zero++) {
    mg_schedule_t *s = &level->schedule[zero];
    MG_TRY(
        mg_schedule_create(level->steps, level->n_steps, level->steps_per_pass, in_place, zero, s));
    if (level->one_exchange) MG_TRY(grow_sweeps(level, s));
    for (int q = 0; q < s->n; q++) {
      s->sweep[q].interior_first = begins_with_interior(level, &s->sweep[q]);
      s->sweep[q].overlaps = overlaps(level, &s->sweep[q]);
    }
    any_cannot = !can_compute_residual(level, s);
    MG_TRY(mg_comm_max(level->comm, &any_cannot, 1));
    s->sweep[s->n - 1].has_residual = any_cannot == 0.0;
    any_cannot = !can_interpolate(level, s);
    MG_TRY(mg_comm_max(level->comm, &any_cannot, 1));
    s->sweep->interpolates = any_cannot == 0.0;
  }
  return MG_OK;
}

mg_status_t mg_smoother_set(mg_level_t *level, const mg_params_t *params, double lambda_max,
                            int max_fused) {
  if (!level->comm) return MG_OK;
  mg_smoother_free(level);
  MG_TRY(mg_smoother_steps(params, lambda_max, &level->steps, &level->n_steps));
  double any_cannot = !can_reside(level, max_fused);
  if (level->plan->resident) MG_TRY(mg_comm_max(level->comm, &any_cannot, 1));
  return any_cannot == 0.0 ? set_resident_schedules(level) : set_schedules(level, max_fused);
}

void mg_smoother_free(mg_level_t *level) {
  for (int zero = 0; zero < 2; zero++)
    mg_schedule_free(&level->schedule[zero]);
  free(level->steps);
  level->steps = NULL;
  level->iterate = MG_U;
  level->pending.coarse = NULL;
}

/* ---- smoothing ---- */

/* Output of the residual of the last sweep: restricted to vector dst of `coarse`; if coarse is
 * NULL, its norm. */
typedef struct {
  const mg_view_t *coarse;
  mg_vector_t dst;
} residual_output_t;

static mg_status_t exchange_all(mg_level_t *level, mg_exchange_t *exchange, const mg_vector_t *vec,
                                int n, bool beside) {
  if (n > 0) MG_TIMED(level, MG_TIME_HALO, mg_exchange_halo(exchange, vec, n, beside));
  return MG_OK;
}

/* What else a sweep does; NULL: nothing. Both only if it is resident. */
typedef struct {
  const mg_pending_interpolation_t *input;
  const residual_output_t *output;
} fused_t;

static mg_status_t run_resident(const mg_level_t *level, const mg_sweep_t *sweep, fused_t fused) {
  mg_resident_use_t use = {.source = NULL};
  if (fused.input) {
    use.source = fused.input->coarse;
    use.src = fused.input->src;
    use.kind = fused.input->kind;
  }
  if (fused.output) {
    use.has_residual = true;
    use.coarse = fused.output->coarse;
    use.dst = fused.output->dst;
  }
  return level->backend->fused.smooth_resident(mg_level_view(level), sweep, &use);
}

static mg_status_t run_region(mg_level_t *level, const mg_scheduled_sweep_t *s, mg_region_t region,
                              fused_t fused) {
  const mg_backend_t *backend = level->backend;
  const mg_pending_interpolation_t *input = fused.input;
  const residual_output_t *output = fused.output;
  const mg_sweep_t *sweep = &s->sweep;
  const mg_view_t *view = !input && !output ? view_of(level, s) : mg_level_view(level);
  if (s->resident)
    MG_TIMED(level, MG_TIME_SMOOTH, run_resident(level, sweep, fused));
  else if (input)
    MG_TIMED(level, MG_TIME_SMOOTH,
             backend->fused.interpolate_smooth(view, sweep, region, input->coarse, input->src,
                                               input->kind));
  else if (output)
    MG_TIMED(level, MG_TIME_SMOOTH,
             backend->fused.smooth_residual(view, sweep, region, output->coarse, output->dst));
  else
    MG_TIMED(level, MG_TIME_SMOOTH, backend->smooth(view, sweep, region));
  return MG_OK;
}

/* Exchange the ghosts of n vectors, and process the interior on a second stream while the messages
 * are in flight.
 *
 * This is safe out of place: no cell is written that is sent or that another cell reads. It is safe
 * for colored steps in place too: no interior cell is sent. No boundary cell reads one before it is
 * updated, since cells of one color read only the other color. */
static mg_status_t run_overlapped(mg_level_t *level, const mg_scheduled_sweep_t *s,
                                  const mg_vector_t *vec, int n, fused_t fused) {
  const mg_backend_t *backend = level->backend;
  mg_exchange_t *exchange = exchange_of(level, s);
  const bool host = mg_exchange_needs_host(exchange);
  MG_TRY(backend->overlap.stream_fork());
  if (host)
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_begin(exchange, vec[0], vec[0]));
  else
    MG_TRY(exchange_all(level, exchange, vec, n, false));
  backend->overlap.stream_switch();
  MG_TRY(run_region(level, s, MG_REGION_INTERIOR, fused));
  backend->overlap.stream_switch();
  if (host) {
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_finish(exchange, vec[0], vec[0]));
    MG_TRY(exchange_all(level, exchange, vec + 1, n - 1, false));
  }
  MG_TRY(run_region(level, s, MG_REGION_BOUNDARY, fused));
  return backend->overlap.stream_join();
}

/* While profiling, messages and computation run one after the other; otherwise the same time would
 * be counted twice. */
static mg_status_t run_sweep(mg_level_t *level, const mg_scheduled_sweep_t *s, bool same_f,
                             fused_t fused) {
  const int skip = same_f && s->n_halo > 0 && s->halo[0] == MG_F, n = s->n_halo - skip;
  mg_exchange_t *exchange = exchange_of(level, s);
  if (s->overlaps && !level->profile && n > 0)
    return run_overlapped(level, s, s->halo + skip, n, fused);
  const bool beside = s->interior_first && !level->profile && n > 0;
  if (exchange) MG_TRY(exchange_all(level, exchange, s->halo + skip, n, beside));
  return run_region(level, s, beside ? MG_REGION_INTERIOR_FIRST : MG_REGION_ALL, fused);
}

/* The vector that replaces `vec` if MG_U and MG_TMP exchange their roles. */
static mg_vector_t other_vector(mg_vector_t vec) {
  return vec == MG_U ? MG_TMP : vec == MG_TMP ? MG_U : vec;
}

static void exchange_roles(mg_scheduled_sweep_t *s) {
  mg_vector_t *const vec[] = {&s->sweep.x, &s->sweep.previous, &s->sweep.dst,
                              &s->sweep.previous_out};
  for (int v = 0; v < 4; v++)
    *vec[v] = other_vector(*vec[v]);
  for (int v = 0; v < s->n_halo; v++)
    s->halo[v] = other_vector(s->halo[v]);
}

/* Let a sweep read no iterate, because the interpolation replaces it: no ghosts to exchange. */
static void drop_iterate(mg_scheduled_sweep_t *s) {
  int n = 0;
  for (int v = 0; v < s->n_halo; v++)
    if (s->halo[v] != s->sweep.x) s->halo[n++] = s->halo[v];
  s->n_halo = n;
  s->sweep.x = MG_NO_VECTOR;
}

/* Run a schedule; the result shall be in `to`. If `other`, MG_U and MG_TMP exchange their roles. */
static mg_status_t run_schedule(mg_level_t *level, const mg_schedule_t *s, bool other,
                                mg_vector_t to, bool same_f, const residual_output_t *output) {
  const mg_pending_interpolation_t input = level->pending;
  level->pending.coarse = NULL;
  for (int q = 0; q < s->n; q++) {
    mg_scheduled_sweep_t sweep = s->sweep[q];
    if (other) exchange_roles(&sweep);
    const bool interpolates = q == 0 && input.coarse;
    if (interpolates && !input.add) drop_iterate(&sweep);
    MG_TRY(run_sweep(level, &sweep, same_f,
                     (fused_t){interpolates ? &input : NULL, q == s->n - 1 ? output : NULL}));
  }
  const mg_vector_t result = other ? other_vector(s->result) : s->result;
  level->iterate = to;
  if (result == to) return MG_OK;
  MG_TRY(mg_axpby(level, to, 1.0, result, 0.0, MG_NO_VECTOR));
  return level->one_exchange ? mg_halo(level, to, true) : MG_OK; /* a copy of cells only */
}

/* Smooth the iterate, in MG_U or MG_TMP; MG_U gets the result. */
static mg_status_t smooth(mg_level_t *level, bool zero_guess, bool same_f,
                          const residual_output_t *output) {
  if (!level->comm) return MG_OK;
  return run_schedule(level, &level->schedule[zero_guess], level->iterate == MG_TMP, MG_U, same_f,
                      output);
}

/* Leave the result where the post-smooth must begin in order to end in MG_U. */
static mg_status_t pre_smooth(mg_level_t *level, bool zero_guess, const residual_output_t *output) {
  if (!level->comm) return MG_OK;
  const mg_schedule_t *s = &level->schedule[zero_guess];
  const mg_vector_t to = level->schedule[0].result == MG_TMP ? MG_TMP : MG_U;
  return run_schedule(level, s, zero_guess && s->result == other_vector(to), to, false, output);
}

mg_status_t mg_smooth(mg_level_t *level, bool zero_guess) {
  return smooth(level, zero_guess, false, NULL);
}

mg_status_t mg_pre_smooth(mg_level_t *level, bool zero_guess) {
  return pre_smooth(level, zero_guess, NULL);
}

mg_smoothing_t mg_smoothing_of(const mg_level_t *level) {
  if (!level->comm) return (mg_smoothing_t){.steps = 0};
  const mg_schedule_t *s = &level->schedule[0];
  const mg_backend_t *backend = level->backend;
  return (mg_smoothing_t){.steps = level->n_steps,
                          .sweeps = s->n,
                          .strip_rows =
                              s->sweep->resident && backend->fused.strip_rows
                                  ? backend->fused.strip_rows(mg_level_view(level), level->n_steps)
                                  : 0};
}

bool mg_smooth_fills_ghosts(const mg_level_t *level) {
  return level->comm && level->one_exchange;
}

bool mg_smooth_has_residual(const mg_level_t *level, bool zero_guess) {
  const mg_schedule_t *s = &level->schedule[zero_guess];
  return level->comm && s->sweep[s->n - 1].has_residual;
}

bool mg_smooth_interpolates(const mg_level_t *level) {
  return level->comm && level->schedule[0].sweep->interpolates;
}

bool mg_smooth_is_resident(const mg_level_t *level) {
  return level->comm && level->schedule[0].sweep->resident;
}

mg_status_t mg_smooth_residual_to(mg_level_t *level, bool zero_guess, const mg_view_t *coarse,
                                  mg_vector_t dst) {
  return pre_smooth(level, zero_guess, &(residual_output_t){coarse, dst});
}

mg_status_t mg_smooth_norm_begin(mg_level_t *level) {
  /* The right-hand side is that of the pre-smooth. */
  MG_TRY(level->backend->fused.norm_begin());
  return smooth(level, false, true, &(residual_output_t){NULL, MG_NO_VECTOR});
}

mg_status_t mg_smooth_same_rhs(mg_level_t *level) {
  return smooth(level, false, true, NULL);
}
