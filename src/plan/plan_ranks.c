/* Numbers of ranks that leave no rank idle. */
#include "plan/coarsen.h"
#include "plan/plan_stats.h"

/* True if a run on `ranks` ranks has m boxes per side, and boxes on every rank. */
static bool uses_all_ranks(const mg_params_t *params, int32_t m, int64_t ranks) {
  if (mg_plan_boxes_a_side(params->log2_box_dim, params->boxes_per_rank, ranks) != m) return false;
  return mg_plan_finest(params, (int32_t[3]){m, m, m}, ranks).n_ranks == ranks;
}

void mg_plan_useful_ranks(const mg_params_t *params, const mg_plan_t *plan, int64_t *below,
                          int64_t *above) {
  const mg_layout_t *fine = &plan->level[0].layout;
  const int64_t max_boxes = MG_MAX_DIM >> params->log2_box_dim;
  *below = fine->n_ranks;
  *above = 0;
  if (mg_params_solves_once(params) || params->boxes[0] > 0) return; /* the grid is fixed */
  for (int64_t m = fine->boxes[0] + 1; m <= max_boxes && *above == 0; m++) {
    const int64_t ranks = (m * m * m + params->boxes_per_rank - 1) / params->boxes_per_rank;
    if (mg_odd_part(m) <= MG_MAX_ODD_PART && uses_all_ranks(params, (int32_t)m, ranks))
      *above = ranks;
  }
}
