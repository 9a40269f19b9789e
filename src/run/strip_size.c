#include "run/strip_size.h"
#include "backend/sweeps.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/machine_cache.h"
#include "base/timers.h"
#include "comm/comm.h"
#include "level/ops.h"
#include "level/smooth.h"
#include <math.h>
#include <string.h>

/* Rounds over all sizes: more than ROUNDS if the least and the second least times of the sizes lead
 * to different choices. After LEAST_ROUNDS none begins if `enough_seconds` have passed. */
enum { LEAST_ROUNDS = 2, ROUNDS = 3, MOST_ROUNDS = 6 };
static const double enough_seconds = 0.05;

/* Of each size, in seconds. */
typedef struct {
  double least[MG_MAX_STRIP_SIZES], second[MG_MAX_STRIP_SIZES], elapsed;
} times_t;

/* The size measured by this process. */
static _Atomic int64_t measured_bytes;

int mg_strip_sizes(int64_t second_level, int64_t most, int64_t size[MG_MAX_STRIP_SIZES]) {
  const int64_t unknown = 1 << 20, l2 = second_level > 0 ? second_level : unknown;
  const double low = 0.75 * (double)l2, octaves = log2((double)most / low);
  int steps = octaves > 0.5 ? (int)(octaves + 0.5) : 0;
  if (steps > MG_MAX_STRIP_SIZES - 1) steps = MG_MAX_STRIP_SIZES - 1;
  for (int s = 0; s < steps; s++)
    size[s] = (int64_t)(low * exp2(octaves * s / steps));
  size[steps] = most;
  return steps + 1;
}

int mg_strip_fastest(const double *seconds, int n) {
  const double tolerance = 1.02;
  double least = INFINITY;
  int chosen = n - 1;
  for (int s = 0; s < n; s++)
    least = fmin(least, seconds[s]);
  while (chosen > 0 && seconds[chosen] > tolerance * least)
    chosen--;
  return chosen;
}

/* The finest level of the run that has strips on this rank, or NULL. */
static mg_level_t *find_level(mg_hierarchy_t *h) {
  mg_hierarchy_t *cycles = h->low ? h->low : h;
  for (int l = 0; l < cycles->n_levels; l++) {
    mg_level_t *level = &cycles->level[l];
    if (level->comm && level->plan->place == MG_PLACE_CPU && mg_smooth_is_resident(level) &&
        level->backend->fused && level->backend->fused->strip_rows)
      return level;
  }
  return NULL;
}

static int rows_of(const mg_level_t *level, int64_t bytes) {
  mg_machine_set_strip_bytes(bytes);
  return level->backend->fused->strip_rows(mg_level_view(level), level->steps, level->n_steps);
}

/* Whether the level is large enough, and some of the sizes differ in their strips. */
static bool is_worth_measuring(const mg_level_t *level, const mg_strip_size_t *found) {
  const int64_t least_cells = 1 << 17;
  const mg_view_t *v = mg_level_view(level);
  const int32_t *n = v->patch[0].n;
  if ((int64_t)n[0] * n[1] * n[2] < least_cells) return false;
  return rows_of(level, found->size[0]) != rows_of(level, found->size[found->n - 1]);
}

/* A part of the level's patch. */
typedef struct {
  mg_view_t view;
  mg_patch_t patch;
} window_t;

/* Keep n cells of direction d from cell `first` on. Both are even, so that colors stay. */
static void cut(window_t *w, int d, int first, int n, int value_bytes) {
  mg_patch_t *p = &w->patch;
  const ptrdiff_t offset = first * (ptrdiff_t)(d == 1 ? p->jstride : p->kstride) * value_bytes;
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (p->vec[vec]) p->vec[vec] = (mg_real_t *)((char *)p->vec[vec] + offset);
  p->lo[d] += first;
  p->n[d] = n;
}

/* One smooth of a window with the residual's norm: rows for two of the largest strips of each
 * thread, and planes for all stages to work half of the time. With fewer, strips that do not fit
 * look almost as fast as others. Windows alternate, so that their cells come from memory. */
static mg_status_t run_pass(const mg_level_t *level, int number, int rows) {
  const mg_view_t *v = mg_level_view(level);
  const int steps = level->n_steps, lag = mg_traits_of(v->op)->pass_planes,
            planes = 2 * lag * (steps + 2) + 8;
  window_t w = {*v, v->patch[0]};
  w.view.patch = &w.patch;
  const int n_rows = w.patch.n[1], n_planes = w.patch.n[2];
  if (rows < n_rows) cut(&w, 1, 0, rows, level->plan->value_bytes);
  if (2 * planes <= n_planes)
    cut(&w, 2, number % (n_planes / planes) * planes, planes, level->plan->value_bytes);
  const mg_sweep_t sweep = {level->steps, steps, MG_U, MG_NO_VECTOR, MG_U, MG_NO_VECTOR};
  return level->backend->fused->smooth_resident(&w.view, &sweep,
                                                &(mg_resident_use_t){.has_residual = true});
}

/* One pass per size; keep the two least times of each. */
static mg_status_t time_sizes(const mg_level_t *level, int round, int rows,
                              const mg_strip_size_t *found, times_t *times) {
  for (int s = 0; s < found->n; s++) {
    mg_machine_set_strip_bytes(found->size[s]);
    const double start = mg_now();
    MG_TRY(run_pass(level, round * found->n + s, rows));
    const double seconds = mg_now() - start;
    times->second[s] = fmin(times->second[s], fmax(times->least[s], seconds));
    times->least[s] = fmin(times->least[s], seconds);
  }
  return MG_OK;
}

/* The choice by all ranks' times after some rounds: other work only adds time, so the least counts.
 * @return whether the times suffice */
static bool choose(const times_t *slowest, int rounds, const mg_strip_size_t *found, int *chosen) {
  const int first = mg_strip_fastest(slowest->least, found->n),
            second = mg_strip_fastest(slowest->second, found->n);
  *chosen = first;
  return rounds == MOST_ROUNDS || (rounds >= LEAST_ROUNDS && slowest->elapsed > enough_seconds) ||
         (rounds >= ROUNDS && first == second);
}

mg_status_t mg_strip_size_measure(mg_hierarchy_t *h, mg_strip_size_t *found) {
  const double start = mg_now();
  mg_level_t *level = find_level(h);
  const int largest = level ? rows_of(level, found->size[found->n - 1]) : 0,
            rows = 2 * mg_machine_threads() * (largest + largest % 2);
  times_t mine = {.elapsed = 0.0}, slowest;
  bool done = false;
  int chosen;
  for (int s = 0; s < found->n; s++)
    mine.least[s] = mine.second[s] = level ? INFINITY : 0.0;
  for (int round = 0; !done; round++) {
    MG_TRY(mg_comm_barrier(mg_comm_world()));
    MG_TRY(mg_comm_agree_or_end(level ? time_sizes(level, round, rows, found, &mine) : MG_OK));
    mine.elapsed = mg_now() - start;
    slowest = mine;
    MG_TRY(mg_comm_max(mg_comm_world(), (double *)&slowest, sizeof slowest / sizeof(double)));
    done = choose(&slowest, round + 1, found, &chosen);
  }
  memcpy(found->time, slowest.least, sizeof found->time);
  measured_bytes = found->size[chosen];
  mg_machine_set_strip_bytes(measured_bytes);
  for (int s = 0; s < found->n; s++)
    mg_verbose("strips of %s: %.3f ms", mg_bytes((double)found->size[s]).text,
               1e3 * found->time[s]);
  for (int vec = 0; level && vec < MG_N_VECTORS; vec++)
    if ((vec == MG_U || vec == MG_TMP) && level->plan->vectors & 1u << vec)
      MG_TRY(mg_fill(level, vec, 0.0));
  found->seconds = mg_now() - start;
  return MG_OK;
}

/* On one machine or several alike: the sizes of rank 0. */
static mg_status_t find_sizes(mg_strip_size_t *found) {
  found->n = mg_strip_sizes(mg_machine_second_level_per_cpu(), mg_machine_default_strip_bytes(),
                            found->size);
  return mg_comm_broadcast(mg_comm_world(), found, sizeof *found);
}

mg_status_t mg_strip_size_choose(const mg_params_t *params, mg_hierarchy_t *h,
                                 mg_strip_size_t *found) {
  mg_level_t *level = find_level(h);
  double any[3] = {level != NULL, 0.0, (double)measured_bytes};
  *found = (mg_strip_size_t){.source = MG_STRIPS_NONE};
  MG_TRY(find_sizes(found));
  any[1] = level && is_worth_measuring(level, found);
  MG_TRY(mg_comm_max(mg_comm_world(), any, 3));
  const bool given = params->strip_bytes != MG_STRIP_BYTES_AUTO, known = any[2] > 0.0;
  const bool measures = !given && !known && any[1] > 0.0;
  measured_bytes = (int64_t)any[2]; /* of ranks that have measured with others */
  if (!measures) found->n = 0;
  if (measures) MG_TRY(mg_strip_size_measure(h, found));
  found->bytes = given                ? params->strip_bytes
                 : measured_bytes > 0 ? measured_bytes
                                      : mg_machine_default_strip_bytes();
  mg_machine_set_strip_bytes(found->bytes);
  if (any[0] > 0.0)
    found->source = given                ? MG_STRIPS_GIVEN
                    : measured_bytes > 0 ? MG_STRIPS_MEASURED
                                         : MG_STRIPS_CACHE;
  return MG_OK;
}
