#include "solver/coarse_cycle.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "solver/bottom.h"

/* True if all levels from `first` on are entirely on this rank, each uses the coarsened patches of
 * the previous one in place, and the backend can run them. */
static bool can_start_at(const mg_hierarchy_t *h, int first) {
  for (int l = first; l < h->n_levels; l++) {
    const mg_level_t *level = &h->level[l];
    if (!level->backend->coarse.cycle_run || level->backend != h->level[first].backend)
      return false;
    if (level->has_image || level->plan->layout.n_ranks != 1 || !level->comm) return false;
  }
  return true;
}

static mg_status_t prepare_from(mg_hierarchy_t *h, int first) {
  mg_coarse_cycle_job_t job = {.n_levels = h->n_levels - first,
                               .v = mg_interpolation_of(h->params.op, MG_CYCLE_V),
                               .f = mg_interpolation_of(h->params.op, MG_CYCLE_F),
                               .bottom = h->params.bottom,
                               .max_iterations = MG_BOTTOM_MAX_ITERATIONS,
                               .reduction = MG_BOTTOM_REDUCTION};
  for (int l = 0; l < job.n_levels; l++) {
    const mg_level_t *level = &h->level[first + l];
    job.level[l].view = &level->store.view;
    job.level[l].step = level->steps;
    job.level[l].n_steps = level->n_steps;
    job.level[l].resident = mg_smooth_is_resident(level);
  }
  h->coarse_cycle_first = first;
  return h->level[first].backend->coarse.cycle_create(&job, &h->coarse_cycle);
}

mg_status_t mg_coarse_cycle_prepare(mg_hierarchy_t *h) {
  mg_hierarchy_free_graphs(h);
  if (h->coarse_cycle) h->level[h->coarse_cycle_first].backend->coarse.cycle_free(h->coarse_cycle);
  h->coarse_cycle = NULL;
  for (int first = 0; first < h->n_levels && !h->coarse_cycle; first++)
    if (can_start_at(h, first)) MG_TRY(prepare_from(h, first));
  return MG_OK;
}
