#include "base/alloc.h"
#include "formulas/smoother_steps.h"
#include "level/smooth.h"
#include "level/sweep_wings.h"
#include "wings.h"
#include <stdlib.h>
#include <string.h>

/* Append steps first .. first + n - 1 and list the vectors whose ghosts they read. Fused sweeps
 * also read ghosts of the right-hand side. Only the first one exchanges them. */
void mg_schedule_append(mg_schedule_t *s, const mg_step_t *steps, int first, mg_sweep_t sweep) {
  mg_scheduled_sweep_t *e = &s->sweep[s->n++];
  *e = (mg_scheduled_sweep_t){.sweep = sweep};
  e->sweep.step = &steps[first];
  if (sweep.n > 1 && first == 0) e->halo[e->n_halo++] = MG_F;
  if (sweep.x >= 0) e->halo[e->n_halo++] = sweep.x;
  if (sweep.n > 1 && sweep.previous >= 0) e->halo[e->n_halo++] = sweep.previous;
}

/* As few sweeps as possible, with nearly equal numbers of steps. If the number of vector swaps is
 * odd, the result is in the other vector: a copy is cheaper than another sweep. From zero, MG_U has
 * the result if the first sweep writes the other vector. */
static void schedule_evenly(mg_schedule_t *s, const mg_step_t *steps, int n_steps, int max_fused,
                            bool in_place, bool zero_guess) {
  const int sweeps = (n_steps + max_fused - 1) / max_fused,
            singles = n_steps / sweeps == 1 ? sweeps - n_steps % sweeps : 0,
            swaps = sweeps - (in_place ? singles : 0);
  const bool from_other = zero_guess && swaps % 2 != 0;
  int from = from_other ? MG_TMP : MG_U, to = from_other ? MG_U : MG_TMP, first = 0;
  for (int q = 0; q < sweeps; q++) {
    const int n = n_steps / sweeps + (q < n_steps % sweeps),
              x = zero_guess && q == 0 ? MG_NO_VECTOR : from;
    const bool stays = n == 1 && in_place;
    /* x_0 = 0 is x of the first step and the previous iterate of the second. */
    const int previous = n > 1 || (zero_guess && q <= 1) ? -1 : stays ? from : to;
    mg_schedule_append(s, steps, first,
                       (mg_sweep_t){NULL, n, x, previous, stays ? from : to, MG_NO_VECTOR});
    first += n;
    if (stays) continue;
    to = from;
    from = from == MG_U ? MG_TMP : MG_U;
  }
  s->result = from;
}

mg_status_t mg_schedule_create(const mg_step_t *steps, int n_steps, int max_fused, bool in_place,
                               bool zero_guess, mg_schedule_t *out) {
  *out = (mg_schedule_t){.sweep = NULL};
  MG_TRY(mg_new(&out->sweep, n_steps, "the sweeps of a smooth"));
  MG_IF_SWEEPS(if (max_fused > 1 && n_steps > max_fused &&
                   mg_steps_look_back(
                       steps, n_steps)) return mg_schedule_two_iterates(steps, n_steps, max_fused,
                                                                        zero_guess, out));
  schedule_evenly(out, steps, n_steps, max_fused, in_place, zero_guess);
  return MG_OK;
}

mg_status_t mg_schedule_copy(const mg_schedule_t *schedule, mg_schedule_t *copy) {
  *copy = (mg_schedule_t){.sweep = NULL};
  MG_TRY(mg_new(&copy->sweep, schedule->n, "the sweeps of a smooth"));
  memcpy(copy->sweep, schedule->sweep, (size_t)schedule->n * sizeof *copy->sweep);
  copy->n = schedule->n;
  copy->result = schedule->result;
  copy->is_copy = true;
  return MG_OK;
}

mg_vector_t mg_other_vector(mg_vector_t vec) {
  return vec == MG_U ? MG_TMP : vec == MG_TMP ? MG_U : vec;
}

void mg_schedule_exchange_vectors(mg_schedule_t *schedule) {
  for (int q = 0; q < schedule->n; q++) {
    mg_scheduled_sweep_t *s = &schedule->sweep[q];
    mg_vector_t *const vec[] = {&s->sweep.x, &s->sweep.previous, &s->sweep.dst,
                                &s->sweep.previous_out};
    for (int v = 0; v < 4; v++)
      *vec[v] = mg_other_vector(*vec[v]);
    for (int v = 0; v < s->n_halo; v++)
      s->halo[v] = mg_other_vector(s->halo[v]);
  }
  schedule->result = mg_other_vector(schedule->result);
}

void mg_schedule_drop_halo(mg_scheduled_sweep_t *sweep, mg_vector_t vec) {
  int n = 0;
  for (int v = 0; v < sweep->n_halo; v++)
    if (sweep->halo[v] != vec) sweep->halo[n++] = sweep->halo[v];
  sweep->n_halo = n;
}

void mg_schedule_drop_iterate(mg_schedule_t *schedule) {
  mg_schedule_drop_halo(schedule->sweep, schedule->sweep->sweep.x);
  schedule->sweep->sweep.x = MG_NO_VECTOR;
}

void mg_schedule_free(mg_schedule_t *schedule) {
  for (int q = 0; q < schedule->n && !schedule->is_copy; q++)
    free(schedule->sweep[q].grown.patch);
  free(schedule->sweep);
  *schedule = (mg_schedule_t){.sweep = NULL};
}
