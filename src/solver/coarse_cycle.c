#include "backend/cycles.h"
#include "level/profile.h"
#include "level/transfer.h"
#include "solver/bottom.h"
#include "solver/cycle_wings.h"

static mg_status_t prepare_from(mg_hierarchy_t *h, int first) {
  mg_coarse_cycle_job_t job = {.n_levels = h->n_levels - first,
                               .path = h->level[first].plan->cycle,
                               .v = mg_interpolation_of(h->params.op, MG_CYCLE_V),
                               .f = mg_interpolation_of(h->params.op, MG_CYCLE_F),
                               .bottom = h->params.bottom,
                               .max_iterations = MG_BOTTOM_MAX_ITERATIONS,
                               .reduction = mg_bottom_reduction(h)};
  for (int l = 0; l < job.n_levels; l++) {
    const mg_level_t *level = &h->level[first + l];
    job.level[l].view = &level->store.view;
    job.level[l].step = level->steps;
    job.level[l].n_steps = level->n_steps;
  }
  h->coarse_cycle_first = first;
  return h->level[first].backend->coarse->create(&job, &h->coarse_cycle);
}

void mg_cycles_free(mg_hierarchy_t *h) {
  mg_graphs_free(h);
  if (h->coarse_cycle) h->level[h->coarse_cycle_first].backend->coarse->free(h->coarse_cycle);
  h->coarse_cycle = NULL;
}

mg_status_t mg_coarse_cycle_prepare(mg_hierarchy_t *h) {
  mg_cycles_free(h);
  for (int first = 0; first < h->n_levels && !h->coarse_cycle; first++)
    if (h->level[first].plan->cycle && h->level[first].comm) MG_TRY(prepare_from(h, first));
  return MG_OK;
}

mg_status_t mg_coarse_cycle_run(mg_hierarchy_t *h, int l, mg_cycle_t cycle, bool zero_guess) {
  mg_level_t *level = &h->level[l];
  MG_TIMED(
      level, MG_TIME_COARSE_CYCLE,
      level->backend->coarse->run(h->coarse_cycle, l - h->coarse_cycle_first, cycle, zero_guess));
  return MG_OK;
}
