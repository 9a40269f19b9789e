#include "run/agglomeration.h"
#include "device/memory_check.h"
#include "wings.h"
#include <string.h>

/* Limits in cells per rank that are tried. A level has an eighth of the cells of the next finer
 * one, so each further limit gathers about one more level. */
enum { FIGURES = 3, FIGURE_RATIO = 8 };

/* Time limits in seconds: after soft_limit no third or further row is measured; after row_limit no
 * further solve of a row is run. */
static const double soft_limit = 0.6, row_limit = 0.02;

/* Fraction of the solve time that another row must save before it replaces the first one. */
static const double gain = 0.01;

/* A measurement in progress. */
typedef struct {
  const mg_params_t *run; /* of the run to come */
  mg_params_t params;     /* of the last row */
  mg_plan_t plan[MG_MAX_TRIALS];
  int top; /* finest level that is solved */
  mg_transports_t *transports;
  mg_trial_rules_t rules;
  mg_trials_t *found;
} measurement_t;

static mg_status_t plan_with(mg_params_t *params, int64_t below, int64_t finest_ranks,
                             mg_plan_t *plan) {
  params->agglomerate_below = below;
  params->finest_ranks = finest_ranks;
  return mg_plan_build(params, mg_comm_size(mg_comm_world()), plan, NULL, 0);
}

/* The first level that has fewer ranks in plan b than in plan a; n_levels if none has. */
static int first_gathered(const mg_plan_t *a, const mg_plan_t *b) {
  int l = 0;
  while (l < a->n_levels && b->level[l].layout.n_ranks == a->level[l].layout.n_ranks)
    l++;
  return l;
}

static bool is_known(const measurement_t *m, const mg_plan_t *plan) {
  for (int r = 0; r < m->found->n_rows; r++)
    if (first_gathered(&m->plan[r], plan) == plan->n_levels) return true;
  return false;
}

void mg_plan_coarse_part(const mg_plan_t *plan, const mg_params_t *params, int first,
                         mg_plan_t *part) {
  memset(part, 0, sizeof *part);
  part->radius = plan->radius;
  part->n_levels = plan->n_levels - first;
  for (int l = 0; l < part->n_levels; l++) {
    const mg_level_plan_t *from = &plan->level[first + l];
    mg_level_plan_t *to = &part->level[l];
    to->layout = from->layout;
    to->place = from->place;
    memcpy(to->h, from->h, sizeof to->h);
  }
  part->boxes_asked = mg_layout_n_boxes(&part->level[0].layout);
  mg_plan_set_levels(part, params);
}

/* Whether the run would fit with the ranks of the last row. */
static mg_status_t fits_into_memory(const measurement_t *m, bool *fits) {
  mg_memory_check_t check = {.fits = true}; /* without the wing */
  (void)m;
  MG_IF_PREFLIGHT(
      mg_params_t params = *m->run; params.agglomerate_below = m->params.agglomerate_below;
      params.finest_ranks = m->params.finest_ranks; MG_TRY(mg_memory_need_now(&params, &check)));
  *fits = check.fits;
  return MG_OK;
}

/* Measure one row, unless an earlier one has the same ranks on every level, or memory or time are
 * too short. */
static mg_status_t try_row(measurement_t *m, int64_t below, int64_t finest_ranks) {
  mg_trials_t *found = m->found;
  mg_plan_t *plan = &m->plan[found->n_rows], part;
  bool fits;
  if (found->n_rows == MG_MAX_TRIALS) return MG_OK;
  if (found->n_rows > 1 && found->seconds > soft_limit) return MG_OK;
  MG_TRY(plan_with(&m->params, below, finest_ranks, plan));
  if (is_known(m, plan)) return MG_OK;
  MG_TRY(fits_into_memory(m, &fits));
  if (!fits) return MG_OK;
  mg_plan_coarse_part(plan, &m->params, m->top, &part);
  mg_params_t even = m->params; /* positions of the run's faces do not fit the part */
  memset(even.face, 0, sizeof even.face);
  return mg_trial_add(&even, &part, m->transports, &m->rules,
                      (mg_trial_row_t){below, finest_ranks, plan->level[0].layout.n_ranks, 0.0},
                      found);
}

/* Larger limits while they are faster, then half of the ranks for the finest level while that is.
 * The limits come first: with the fixed figure, two GPUs can be slower than one although they are
 * faster with a larger limit. */
static mg_status_t try_all(measurement_t *m, int64_t figure, int64_t ranks, int64_t fewest) {
  const mg_trials_t *found = m->found;
  for (int f = 0; f < FIGURES && found->best >= found->n_rows - 1; f++, figure *= FIGURE_RATIO)
    MG_TRY(try_row(m, figure, 0));
  const int64_t below = found->row[found->best].below;
  const int limits = found->n_rows;
  for (int64_t fewer = ranks / 2; fewer >= fewest; fewer /= 2) {
    if (found->n_rows > limits && found->best < found->n_rows - 1) break;
    MG_TRY(try_row(m, below, fewer));
  }
  return MG_OK;
}

/* The fewest ranks that may hold the finest level. */
static int64_t fewest_ranks(const mg_layout_t *finest) {
  return (mg_layout_n_cells(finest) + MG_GATHERED_FINEST_MAX_CELLS - 1) /
         MG_GATHERED_FINEST_MAX_CELLS;
}

/* The finest level to solve on: the coarsest one that no figure gathers. */
static mg_status_t choose_top(measurement_t *m, const mg_plan_t *plan, int64_t figure) {
  mg_plan_t gathered;
  for (int f = 1; f < FIGURES; f++)
    figure *= FIGURE_RATIO;
  MG_TRY(plan_with(&m->params, figure, 0, &gathered));
  m->top = first_gathered(plan, &gathered) - 1;
  return MG_OK;
}

mg_status_t mg_agglomeration_measure(const mg_params_t *params, const mg_plan_t *plan,
                                     mg_trials_t *found) {
  static measurement_t m; /* too large for some stacks */
  const mg_level_plan_t *finest = &plan->level[0];
  const int64_t ranks = finest->layout.n_ranks, fewest = fewest_ranks(&finest->layout),
                figure = mg_plan_min_cells_per_rank(finest->place);
  memset(found, 0, sizeof *found);
  if (!mg_agglomeration_is_measured(plan)) return MG_OK;
  m = (measurement_t){.run = params,
                      .params = mg_trial_params(params),
                      .rules = {mg_now(), row_limit, gain},
                      .found = found};
  if (fewest > ranks / 2) MG_TRY(choose_top(&m, plan, figure));
  if (m.top == plan->n_levels - 1) return MG_OK;
  MG_TRY(mg_hierarchy_transports(&m.params, plan, &m.transports));
  const mg_status_t status = try_all(&m, figure, ranks, fewest);
  if (status < MG_ERR_DEVICE) mg_transports_free(m.transports); /* freeing is collective */
  return status;
}

bool mg_agglomeration_is_measured(const mg_plan_t *plan) {
  const mg_level_plan_t *finest = &plan->level[0];
  return finest->layout.n_ranks > 1 &&
         (finest->place == MG_PLACE_CUDA || finest->place == MG_PLACE_GUARD);
}

mg_status_t mg_agglomeration_choose(mg_params_t *params, const mg_plan_t *plan,
                                    mg_trials_t *found) {
  memset(found, 0, sizeof *found);
  if (params->agglomerate_below != MG_AGGLOMERATE_AUTO || !mg_agglomeration_is_measured(plan))
    return MG_OK;
  MG_TRY(mg_agglomeration_measure(params, plan, found));
  mg_trial_log(found, "agglomeration", "agglomerate-below");
  if (found->n_rows < 2) return MG_OK;
  params->agglomerate_below = found->row[found->best].below;
  params->finest_ranks = found->row[found->best].finest_ranks;
  return MG_OK;
}
