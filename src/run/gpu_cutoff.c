#include "run/gpu_cutoff.h"
#include <string.h>

/* Solves use the same operations as those of the run, on levels like its coarse levels: boxes
 * of 8^3 cells, merged into patches, or a general layout. Above 64^3 cells a GPU is much faster. */
enum { LOG2_BOX_DIM = 3, MAX_CELLS_PER_SIDE = 64 };

/* Time limits in seconds. No further cutoff is tried after soft_limit, or if twice the time of the
 * last one would exceed hard_limit. No further solve of one cutoff is run after cutoff_limit. */
static const double soft_limit = 0.12, hard_limit = 0.2, cutoff_limit = 0.02;

/* Fraction of the solve time that the CPU must save before it gets a level. */
static const double gain = 0.05;

static int32_t grid_for(const mg_plan_t *plan) {
  const mg_layout_t *finest = &plan->level[0].layout;
  int32_t n = MAX_CELLS_PER_SIDE;
  while ((int64_t)n * n * n > mg_layout_n_cells(finest))
    n /= 2;
  return n;
}

/* Plan of a small solve: on one rank, in a world of all ranks. */
static mg_status_t small_plan(const mg_params_t *params, int32_t n, int64_t cpu_below,
                              mg_params_t *small, mg_plan_t *plan) {
  const int32_t boxes = n >> LOG2_BOX_DIM;
  *small = mg_trial_params(params);
  memset(small->boxes, 0, sizeof small->boxes); /* a cube */
  for (int d = 0; d < 3; d++) {
    small->cells[d] = mg_params_has_cells(params) ? n : 0;
    small->length[d] = 1.0;
    small->face[d] = NULL;
  }
  small->log2_box_dim = LOG2_BOX_DIM;
  small->boxes_per_rank = (int64_t)boxes * boxes * boxes;
  small->cpu_below = cpu_below;
  small->transport = MG_TRANSPORT_HOST; /* no messages, so no other transport is opened */
  MG_TRY(mg_plan_build(small, 1, plan, NULL, 0));
  for (int l = 0; l < plan->n_levels; l++)
    plan->level[l].layout.world_ranks = mg_comm_size(mg_comm_world());
  return MG_OK;
}

/* Try all cutoffs, from no level on the CPU to all but the finest, coarsest first. The first
 * cutoff has a fixed cost that further levels do not add to: the waits, and the cycle that
 * is no longer a captured graph. From some grid size on, more cells make the CPU slower. Once
 * it is far behind, no further level is tried. */
static mg_status_t try_all(const mg_params_t *params, int32_t n, const mg_plan_t *all,
                           mg_trials_t *found) {
  static mg_params_t small;
  static mg_plan_t plan;
  const mg_trial_rules_t rules = {mg_now(), cutoff_limit, gain};
  for (int first = all->n_levels; first > 0 && found->n_rows < MG_MAX_TRIALS; first--) {
    const int64_t side = first < all->n_levels ? all->level[first].layout.n[0] : 0;
    const mg_trial_row_t row = {.below = side > 0 ? side * side * side + 1 : 0};
    const double fastest = found->row[found->best].seconds, before = found->seconds;
    MG_TRY(small_plan(params, n, row.below, &small, &plan));
    MG_TRY(mg_trial_add(&small, &plan, NULL, &rules, row, found));
    const bool far_behind = side >= 8 && found->row[found->n_rows - 1].seconds > 2.0 * fastest,
               too_long = found->seconds + 2.0 * (found->seconds - before) > hard_limit;
    if (found->n_rows > 1 && (far_behind || found->seconds > soft_limit || too_long)) break;
  }
  return MG_OK;
}

mg_status_t mg_gpu_cutoff_measure(const mg_params_t *params, const mg_plan_t *plan,
                                  mg_trials_t *found) {
  static mg_params_t same;
  static mg_plan_t all;
  memset(found, 0, sizeof *found);
  const int32_t n = grid_for(plan);
  if (n >> LOG2_BOX_DIM == 0) return MG_OK;
  MG_TRY(small_plan(params, n, 0, &same, &all));
  return all.n_levels < 2 ? MG_OK : try_all(params, n, &all, found);
}

mg_status_t mg_gpu_cutoff_choose(mg_params_t *params, const mg_plan_t *plan, mg_trials_t *found) {
  memset(found, 0, sizeof *found);
  if (params->cpu_below != MG_CPU_BELOW_AUTO) return MG_OK;
  params->cpu_below = 0;
  if (plan->level[0].place != MG_PLACE_CUDA) return MG_OK;
  MG_TRY(mg_gpu_cutoff_measure(params, plan, found));
  mg_trial_log(found, "gpu cutoff", "cpu-below");
  params->cpu_below = found->row[found->best].below;
  return MG_OK;
}
