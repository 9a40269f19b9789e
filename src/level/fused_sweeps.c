/* Schedules of fused and resident sweeps, of sweeps beside messages, and how they run. */
#include "backend/sweeps.h"
#include "base/alloc.h"
#include "formulas/smoother_steps.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/sweep_wings.h"
#include <string.h>

/* ---- set-up ---- */

/* Schedule for steps that read two iterates. A fused sweep is out of place. Reading two iterates
 * and writing two takes four vectors, and there are three. So the first sweep writes two iterates,
 * the last one reads two, and single steps run in between. */
mg_status_t mg_schedule_two_iterates(const mg_step_t *steps, int n_steps, int max_fused,
                                     bool zero_guess, mg_schedule_t *s) {
  const int n_fused = n_steps < 2 * max_fused ? n_steps : 2 * max_fused,
            first_of_last = n_steps - n_fused / 2;
  int first = n_fused - n_fused / 2, from = MG_TMP, to = MG_PREVIOUS;
  mg_schedule_append(s, steps, 0,
                     (mg_sweep_t){NULL, first, zero_guess ? MG_NO_VECTOR : MG_U, MG_NO_VECTOR, from,
                                  steps[first].c1 != 0.0 ? to : MG_NO_VECTOR});
  for (; first < first_of_last || n_steps - first == 1; first++) {
    mg_schedule_append(s, steps, first, (mg_sweep_t){NULL, 1, from, to, to, MG_NO_VECTOR});
    const int swap = from;
    from = to;
    to = swap;
    s->result = from;
    if (first + 1 == n_steps) return MG_OK;
  }
  s->result = MG_U;
  mg_schedule_append(s, steps, first,
                     (mg_sweep_t){NULL, n_steps - first, from,
                                  steps[first].c1 != 0.0 ? to : MG_NO_VECTOR, MG_U, MG_NO_VECTOR});
  return MG_OK;
}

mg_status_t mg_schedule_create_resident(const mg_level_t *level, bool zero_guess,
                                        mg_schedule_t *out) {
  const int n_steps = level->n_steps,
            most = level->one_exchange ? level->plan->n_steps : n_steps; /* by the ghost layers */
  *out = (mg_schedule_t){.result = MG_U};
  MG_TRY(mg_new(&out->sweep, (n_steps + most - 1) / most, "the sweeps of a smooth"));
  for (int first = 0; first < n_steps; first += most) {
    const int n = n_steps - first < most ? n_steps - first : most,
              x = first == 0 && zero_guess ? MG_NO_VECTOR : MG_U,
              previous = first == 0 ? MG_NO_VECTOR : MG_TMP;
    mg_schedule_append(out, level->steps, first,
                       (mg_sweep_t){NULL, n, x, previous, MG_U, MG_NO_VECTOR});
    mg_scheduled_sweep_t *s = &out->sweep[out->n - 1];
    s->resident = true;
    if (!level->one_exchange) s->n_halo = 0;
    s->interpolates = first == 0 && !zero_guess && level->plan->fused_interpolation;
    s->has_residual = first + n == n_steps && level->plan->fused_residual;
  }
  return MG_OK;
}

static const mg_view_t *view_of(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  return s->grown.patch ? &s->grown : mg_level_view(level);
}

/* A view of the same memory in which ghost layers are cells, on every side that is not a wall.
 * Along rows more layers may become cells (mg_row_layers_of_growth), whose values are not
 * meaningful. */
static mg_status_t grow(const mg_view_t *v, int layers, int value_bytes, mg_view_t *out) {
  const int along_rows = mg_row_layers_of_growth(layers, value_bytes);
  const int grown[3] = {along_rows, layers, layers};
  *out = *v;
  out->ghost_layers -= along_rows;
  out->cells = 0;
  MG_TRY(mg_new(&out->patch, v->n_patches, "patch lists"));
  memcpy(out->grown, grown, sizeof grown);
  for (int q = 0; q < v->n_patches; q++) {
    out->patch[q] = mg_patch_grown(&v->patch[q], grown, value_bytes);
    out->cells += mg_volume(out->patch[q].n);
  }
  return MG_OK;
}

/* Let each sweep compute the ghosts that later ones read, and the last one a layer for what
 * follows. */
static mg_status_t grow_sweeps(const mg_level_t *level, mg_schedule_t *s) {
  int needed = 1;
  for (int q = s->n - 1; q >= 0; q--) {
    MG_TRY(grow(mg_level_view(level), needed, level->plan->value_bytes, &s->sweep[q].grown));
    needed += s->sweep[q].sweep.n;
    if (q > 0) s->sweep[q].n_halo = 0;
  }
  return MG_OK;
}

static bool overlaps(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  const mg_backend_t *backend = level->backend;
  const unsigned by = mg_exchange_by(mg_sweep_exchange(level, s)) & (MG_BY_HOST | MG_BY_DEVICE);
  if (s->grown.patch && s->sweep.n == 1) return false; /* its regions do not know grown patches */
  return s->n_halo > 0 && !s->interior_first && backend->overlap && by != 0 &&
         backend->overlap->sweep_overlaps(view_of(level, s), s->sweep.n, by == MG_BY_HOST);
}

static bool begins_with_interior(const mg_level_t *level, const mg_scheduled_sweep_t *s) {
  const mg_backend_t *backend = level->backend;
  return s->n_halo > 0 && (mg_exchange_by(mg_sweep_exchange(level, s)) & MG_BY_ONE_KERNEL) &&
         backend->overlap && backend->overlap->interior_first &&
         backend->overlap->interior_first(view_of(level, s), s->sweep.n);
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
  return backend->fused && backend->fused->can_interpolate_smooth &&
         backend->fused->can_interpolate_smooth(mg_level_view(level), coarse_view(level), first);
}

mg_status_t mg_schedule_fuse(const mg_level_t *level, mg_schedule_t *s) {
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

/* ---- smoothing ---- */

mg_status_t mg_sweep_fused(mg_level_t *level, const mg_scheduled_sweep_t *s, mg_region_t region,
                           const mg_resident_use_t *use) {
  const mg_backend_fused_t *fused = level->backend->fused;
  const mg_view_t *view = mg_level_view(level);
  if (s->resident)
    MG_TIMED(level, MG_TIME_SMOOTH, fused->smooth_resident(view, &s->sweep, use));
  else if (use->source)
    MG_TIMED(level, MG_TIME_SMOOTH,
             fused->interpolate_smooth(view, &s->sweep, region, use->source, use->src, use->kind));
  else
    MG_TIMED(level, MG_TIME_SMOOTH,
             fused->smooth_residual(view, &s->sweep, region, use->coarse, use->dst));
  return MG_OK;
}

/* Exchange the ghosts of n vectors, and process the interior on a second stream while the messages
 * are in flight.
 *
 * This is safe out of place: no cell is written that is sent or that another cell reads. It is safe
 * for colored steps in place too: no interior cell is sent. No boundary cell reads one before it is
 * updated, since cells of one color read only the other color. */
mg_status_t mg_sweep_overlapped(mg_level_t *level, const mg_scheduled_sweep_t *s,
                                const mg_resident_use_t *use) {
  const mg_backend_t *backend = level->backend;
  mg_exchange_t *exchange = mg_sweep_exchange(level, s);
  const mg_vector_t *vec = s->halo;
  const bool host = mg_exchange_by(exchange) & (MG_BY_HOST | MG_BY_STAGING);
  MG_TRY(backend->overlap->stream_fork());
  if (host)
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_begin(exchange, vec[0], vec[0]));
  else
    MG_TRY(mg_sweep_halo(level, exchange, vec, s->n_halo, false));
  backend->overlap->stream_switch();
  MG_TRY(mg_sweep_region(level, s, MG_REGION_INTERIOR, use));
  backend->overlap->stream_switch();
  if (host) {
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_finish(exchange, vec[0], vec[0]));
    MG_TRY(mg_sweep_halo(level, exchange, vec + 1, s->n_halo - 1, false));
  }
  MG_TRY(mg_sweep_region(level, s, MG_REGION_BOUNDARY, use));
  return backend->overlap->stream_join();
}
