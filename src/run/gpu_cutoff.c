#include "run/gpu_cutoff.h"
#include "base/log.h"
#include "run/trial.h"
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

static mg_status_t measure(const mg_params_t *params, int32_t n, mg_gpu_cutoff_row_t *row) {
  static mg_params_t small;
  static mg_plan_t plan;
  MG_TRY(small_plan(params, n, row->cpu_below, &small, &plan));
  return mg_trial_measure(&small, &plan, NULL, cutoff_limit, &row->seconds);
}

static void log_cutoffs(const mg_gpu_cutoff_t *found) {
  for (int r = 0; r < found->n_rows; r++) {
    const mg_gpu_cutoff_row_t *row = &found->row[r];
    mg_verbose("gpu cutoff: %.3f ms for a solve of %d^3 cells with --cpu-below=%lld%s",
               1e3 * row->seconds, found->n, (long long)row->cpu_below,
               r == found->best ? " (chosen)" : "");
  }
}

/* Try all cutoffs, from no level on the CPU to all but the finest, coarsest first. The first
 * cutoff has a fixed cost that further levels do not add to: the waits, and the cycle that
 * is no longer a captured graph. From some grid size on, more cells make the CPU slower. Once
 * it is far behind, no further level is tried. */
static mg_status_t try_all(const mg_params_t *params, const mg_plan_t *small,
                           mg_gpu_cutoff_t *found) {
  const double start = mg_now();
  double seconds[MG_MAX_CUTOFFS];
  for (int first = small->n_levels; first > 0 && found->n_rows < MG_MAX_CUTOFFS; first--) {
    mg_gpu_cutoff_row_t *row = &found->row[found->n_rows];
    const int64_t side = first < small->n_levels ? small->level[first].layout.n[0] : 0;
    *row = (mg_gpu_cutoff_row_t){.n = (int32_t)side,
                                 .cpu_below = first < small->n_levels ? side * side * side + 1 : 0};
    MG_TRY(measure(params, found->n, row));
    const double fastest = found->row[found->best].seconds, before = found->seconds;
    seconds[found->n_rows++] = row->seconds;
    found->best = mg_trial_fastest(seconds, found->n_rows, gain);
    MG_TRY(mg_trial_elapsed(start, &found->seconds));
    const bool far_behind = side >= 8 && row->seconds > 2.0 * fastest,
               too_long = found->seconds + 2.0 * (found->seconds - before) > hard_limit;
    if (found->n_rows > 1 && (far_behind || found->seconds > soft_limit || too_long)) break;
  }
  return MG_OK;
}

mg_status_t mg_gpu_cutoff_measure(const mg_params_t *params, const mg_plan_t *plan,
                                  mg_gpu_cutoff_t *found) {
  static mg_params_t same;
  static mg_plan_t small;
  memset(found, 0, sizeof *found);
  const int32_t n = grid_for(plan);
  if (n >> LOG2_BOX_DIM == 0) return MG_OK;
  MG_TRY(small_plan(params, n, 0, &same, &small));
  if (small.n_levels < 2) return MG_OK;
  found->n = n;
  return try_all(params, &small, found);
}

mg_status_t mg_gpu_cutoff_choose(mg_params_t *params, const mg_plan_t *plan,
                                 mg_gpu_cutoff_t *found) {
  memset(found, 0, sizeof *found);
  if (params->cpu_below != MG_CPU_BELOW_AUTO) return MG_OK;
  params->cpu_below = 0;
  if (plan->level[0].place != MG_PLACE_CUDA) return MG_OK;
  MG_TRY(mg_gpu_cutoff_measure(params, plan, found));
  log_cutoffs(found);
  params->cpu_below = found->row[found->best].cpu_below;
  return MG_OK;
}
