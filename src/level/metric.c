#include "level/metric.h"
#include "base/alloc.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include <stdlib.h>

double mg_center_distance(const mg_hierarchy_t *h, int l, int d, int32_t face) {
  const int32_t n = h->level[l].plan->layout.n[d];
  const bool periodic = mg_is_periodic(&h->level[l].store.view, d);
  const int32_t high = face < n   ? face
                       : periodic ? 0
                                  : n - 1,
                low = face > 0   ? face - 1
                      : periodic ? n - 1
                                 : 0;
  return 0.5 * (mg_plan_width(h->level[0].plan, &h->params, l, d, low) +
                mg_plan_width(h->level[0].plan, &h->params, l, d, high));
}

/* Factor of a vector in direction d, at a face or a cell. */
static double factor_at(const mg_hierarchy_t *h, int l, mg_vector_t vec, int d, int32_t at) {
  const mg_level_plan_t *plan = h->level[l].plan;
  const double whole = plan->h[d];
  if (vec == MG_U) return 1.0;
  if (vec == MG_BETA_I + d)
    return plan->h[0] * plan->h[0] / (whole * mg_center_distance(h, l, d, at));
  if (at == plan->layout.n[d]) return 1.0; /* beyond the last cell */
  const double ratio = mg_plan_width(h->level[0].plan, &h->params, l, d, at) / whole;
  return vec == MG_DINV ? 1.0 / ratio : ratio;
}

mg_status_t mg_metric_create(const mg_hierarchy_t *h, int l, mg_vector_t vec, mg_metric_t *metric) {
  const int32_t *n = h->level[l].plan->layout.n;
  double *memory;
  *metric = (mg_metric_t){.is_one = true};
  MG_TRY(mg_new(&memory, (int64_t)n[0] + n[1] + n[2] + 3, "factors of widths"));
  for (int d = 0; d < 3; d++) {
    metric->factor[d] = memory;
    for (int32_t at = 0; at <= n[d]; at++) {
      memory[at] = factor_at(h, l, vec, d, at);
      metric->is_one = metric->is_one && memory[at] == 1.0;
    }
    memory += n[d] + 1;
  }
  return MG_OK;
}

void mg_metric_free(mg_metric_t *metric) {
  free(metric->factor[0]);
  *metric = (mg_metric_t){.is_one = true};
}

/* The factors of a vector, in the form of the level's backend; NULL: all are 1. */
static mg_status_t prepare(const mg_hierarchy_t *h, int l, mg_vector_t vec, mg_factors_t **out) {
  const mg_level_t *level = &h->level[l];
  mg_metric_t metric;
  *out = NULL;
  MG_TRY(mg_metric_create(h, l, vec, &metric));
  const double *const factor[3] = {metric.factor[0], metric.factor[1], metric.factor[2]};
  const mg_status_t status = metric.is_one || !level->comm
                                 ? MG_OK
                                 : level->backend->prepare_factors(&level->store.view, factor, out);
  mg_metric_free(&metric);
  return status;
}

static mg_status_t multiply(mg_level_t *level, mg_vector_t vec, const mg_factors_t *factors) {
  return factors ? level->backend->multiply_axes(&level->store.view, vec, factors) : MG_OK;
}

mg_status_t mg_metric_apply_as(mg_hierarchy_t *h, int l, mg_vector_t vec, mg_vector_t as) {
  mg_factors_t *factors;
  MG_TRY(prepare(h, l, as, &factors));
  const mg_status_t status = multiply(&h->level[l], vec, factors);
  h->level[l].backend->release_factors(factors);
  return status;
}

mg_status_t mg_metric_prepare_rhs(mg_hierarchy_t *h) {
  return h->rhs_factors ? MG_OK : prepare(h, 0, MG_F, &h->rhs_factors);
}

mg_status_t mg_metric_apply_rhs(mg_hierarchy_t *h) {
  return multiply(&h->level[0], MG_F, h->rhs_factors);
}

mg_status_t mg_metric_apply(mg_hierarchy_t *h, int l, mg_vector_t vec) {
  return mg_metric_apply_as(h, l, vec, vec);
}

mg_status_t mg_metric_volumes(mg_hierarchy_t *h, int l, mg_vector_t vec) {
  MG_TRY(mg_fill(&h->level[l], vec, 1.0));
  return mg_metric_apply_as(h, l, vec, MG_F);
}
