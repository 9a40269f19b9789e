/* Times of the levels' operations in solves at h. */
#include "comm/comm.h"
#include "level/profile.h"
#include "run/benchmark.h"
#include <string.h>

/* Timers of the levels of double and of float cells. */
static struct { mg_timers_t timers[2][MG_MAX_LEVELS]; } saved;

void mg_timers_clear(mg_hierarchy_t *h) {
  for (; h; h = h->low)
    for (int l = 0; l < h->n_levels; l++)
      memset(&h->level[l].timers, 0, sizeof h->level[l].timers);
}

void mg_timers_save(const mg_hierarchy_t *h) {
  for (int low = 0; h; h = h->low, low++)
    for (int l = 0; l < h->n_levels; l++)
      saved.timers[low][l] = h->level[l].timers;
}

void mg_timers_restore(mg_hierarchy_t *h) {
  for (int low = 0; h; h = h->low, low++)
    for (int l = 0; l < h->n_levels; l++)
      h->level[l].timers = saved.timers[low][l];
}

mg_status_t mg_benchmark_profile(mg_hierarchy_t *h, mg_result_t *result) {
  enum { N_SOLVES = 3 };
  result->n_profiled = result->interrupted ? 0 : result->size[0].n_solves;
  result->seconds_profiled = result->size[0].seconds_mean;
  if (!h->params.levels_breakdown || !mg_profile_needed(h) || result->interrupted) return MG_OK;
  MG_TRY(mg_comm_agree(mg_profile_begin(h)));
  mg_status_t status = MG_OK;
  result->seconds_profiled = 0.0;
  for (int s = 0; s < N_SOLVES && status == MG_OK && !result->interrupted; s++) {
    double seconds;
    status = mg_benchmark_solve(h, 0, NULL, result, &seconds);
    if (status == MG_OK) mg_benchmark_log("profile", &result->size[0], seconds);
    if (status == MG_OK) result->seconds_profiled += seconds / N_SOLVES;
  }
  const mg_status_t ended = mg_profile_end(h);
  result->n_profiled = result->interrupted ? 0 : N_SOLVES;
  result->extra = true;
  return status != MG_OK ? status : ended;
}
