#include "level/metric.h"
#include "backend/arrays.h"
#include "backend/domains.h"
#include "base/alloc.h"
#include "formulas/transfer.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "plan/domain_plan.h"
#include <math.h>
#include <stdlib.h>

/* Distance between the centers of the two cells at a face in direction d of level l. At a wall, the
 * width of its cell. */
static double center_distance(const mg_hierarchy_t *h, int l, int d, int32_t face) {
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
  if (vec == MG_BETA_I + d) return plan->h[0] * plan->h[0] / (whole * center_distance(h, l, d, at));
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

mg_status_t mg_metric_narrow(const mg_hierarchy_t *h, mg_vector_t vec, double *least,
                             double *most) {
  mg_metric_t metric;
  MG_TRY(mg_metric_create(h, 0, vec, &metric));
  for (int axis = 0; axis < 3; axis++) {
    const int32_t n = h->level[0].plan->layout.n[axis] + (vec == MG_BETA_I + axis);
    double low = INFINITY, high = 0.0;
    for (int32_t at = 0; at < n; at++) {
      low = fmin(low, metric.factor[axis][at]);
      high = fmax(high, metric.factor[axis][at]);
    }
    *least /= low;
    *most /= high;
  }
  mg_metric_free(&metric);
  return MG_OK;
}

/* The factors of a vector, in the form of the level's backend; NULL: all are 1. */
static mg_status_t prepare(const mg_hierarchy_t *h, int l, mg_vector_t vec, mg_factors_t **out) {
  const mg_level_t *level = &h->level[l];
  mg_metric_t metric;
  *out = NULL;
  MG_TRY(mg_metric_create(h, l, vec, &metric));
  const double *const factor[3] = {metric.factor[0], metric.factor[1], metric.factor[2]};
  const mg_status_t status =
      metric.is_one || !level->comm
          ? MG_OK
          : level->backend->domains->prepare_factors(&level->store.view, factor, out);
  mg_metric_free(&metric);
  return status;
}

static mg_status_t multiply(mg_level_t *level, mg_vector_t vec, const mg_factors_t *factors) {
  return factors ? level->backend->domains->multiply_axes(&level->store.view, vec, factors) : MG_OK;
}

mg_status_t mg_metric_apply_as(mg_hierarchy_t *h, int l, mg_vector_t vec, mg_vector_t as) {
  mg_factors_t *factors;
  MG_TRY(prepare(h, l, as, &factors));
  const mg_status_t status = multiply(&h->level[l], vec, factors);
  h->level[l].backend->domains->release_factors(factors);
  return status;
}

mg_status_t mg_metric_prepare_rhs(mg_hierarchy_t *h) {
  return h->rhs_factors ? MG_OK : prepare(h, 0, MG_F, &h->rhs_factors);
}

void mg_metric_release(mg_hierarchy_t *h) {
  if (h->rhs_factors) h->level[0].backend->domains->release_factors(h->rhs_factors);
}

mg_status_t mg_metric_apply_rhs(mg_hierarchy_t *h) {
  return multiply(&h->level[0], MG_F, h->rhs_factors);
}

mg_status_t mg_metric_apply(mg_hierarchy_t *h, int l, mg_vector_t vec) {
  return mg_metric_apply_as(h, l, vec, vec);
}

mg_status_t mg_metric_average_betas(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  if (!level->comm) return MG_OK;
  MG_TRY(mg_halo(level, MG_U, false));
  for (int d = 0; d < 3; d++)
    MG_TRY(level->backend->arrays->average(&level->store.view, d, MG_U, h->params.face[d]));
  return mg_fill(level, MG_U, 0.0);
}

mg_status_t mg_metric_volumes(mg_hierarchy_t *h, int l, mg_vector_t vec) {
  MG_TRY(mg_fill(&h->level[l], vec, 1.0));
  return mg_metric_apply_as(h, l, vec, MG_F);
}

/* Distance of the centers of the two children of a cell of level l + 1; 0 if it has one child.
 * Beyond a period, cells repeat; beyond a wall there are none. */
static double child_distance(const mg_hierarchy_t *h, int l, int d, int32_t coarse) {
  const mg_layout_t *fine = &h->level[l].plan->layout;
  const int32_t n = mg_layout_coarse_n(fine, d);
  if (coarse < 0 || coarse >= n) {
    if (!mg_is_periodic(&h->level[l].store.view, d)) return 0.0;
    coarse = coarse < 0 ? n - 1 : 0;
  }
  const int32_t first = mg_first_child(&fine->single[d], coarse);
  return mg_child_face(&fine->single[d], fine->n[d], coarse + 1) - first < 2
             ? 0.0
             : center_distance(h, l, d, first + 1);
}

/* Whether a face of level l + 1 is on a wall. */
static bool is_wall(const mg_hierarchy_t *h, int l, int d, int32_t face) {
  const bool inside = face > 0 && face < mg_layout_coarse_n(&h->level[l].plan->layout, d);
  return !inside && !mg_is_periodic(&h->level[l].store.view, d);
}

/* Factor of a wall's beta beside a cell narrower than the next one, such as a last cell alone.
 * Without it, errors vanish there last. */
static double wall_factor(const mg_hierarchy_t *h, int l, int d, int32_t face) {
  const int32_t n = h->level[l].plan->layout.n[d];
  const double width = center_distance(h, l, d, face),
               beside = 2.0 * center_distance(h, l, d, face == 0 ? 1 : n - 1) - width;
  return n < 2 ? 1.0 : fmax(1.0, fmin(4.0 / 3.0, sqrt(beside / width)));
}

/* From the center of a coarse cell to its face, half of the way is between the centers of its
 * children; from a wall on all of it, since stored betas of walls are those of a whole cell. */
mg_status_t mg_metric_of_faces(const mg_hierarchy_t *h, int l, int d, mg_face_factor_t **factor) {
  const mg_layout_t *fine = &h->level[l].plan->layout, *coarse = &h->level[l + 1].plan->layout;
  double scale = fine->n[0] == coarse->n[0] ? 1.0 : 4.0;
  for (int e = 0; e < 3; e++)
    if (fine->n[e] != coarse->n[e]) scale *= 0.5;
  MG_TRY(mg_new(factor, coarse->n[d] + 1, "face factors"));
  for (int32_t face = 0; face <= coarse->n[d]; face++) {
    const int32_t fine_face = mg_child_face(&fine->single[d], fine->n[d], face);
    const bool wall = is_wall(h, l, d, face);
    const double stronger =
                     wall ? wall_factor(h, l + 1, d, face) / wall_factor(h, l, d, fine_face) : 1.0,
                 part = wall ? 1.0 : 0.5, at = center_distance(h, l, d, fine_face),
                 low = part * child_distance(h, l, d, face - 1),
                 high = part * child_distance(h, l, d, face);
    (*factor)[face] =
        (mg_face_factor_t){.scale = stronger * scale * at / center_distance(h, l + 1, d, face),
                           .in_line = (low + at + high) / at,
                           .low = low > 0.0 ? part : 0.0,
                           .high = high > 0.0 ? part : 0.0};
  }
  return MG_OK;
}
