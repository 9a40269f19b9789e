#include "base/log.h"
#include "comm/comm.h"
#include "formulas/coefficients.h"
#include "formulas/walls.h"
#include "level/metric.h"
#include "level/ops.h"
#include "level/wall_faces.h"
#include "params/params_wings.h"
#include "solver/conditions.h"
#include "solver/domain.h"
#include "solver/method.h"
#include "solver/problem.h"
#include "solver/solids.h"
#include "wings.h"
#include <math.h>

/* A direction of one cell: the problem does not depend on it. */
static void fill_constant(const mg_axis_table_t *t) {
  t->beta_face[0] = t->beta_face[1] = t->beta_center[0] = t->f[0] = 1.0;
  t->f_xx[0] = 0.0;
}

/* Cells of different widths. The factors that convert point values of beta to averages differ too,
 * so the values at centers hold them.
 * @param[in] position  of the faces */
static void fill_stretched(const mg_axis_table_t *t, int32_t n, const double *position, double h0) {
  const double length = position[n] - position[0];
  for (int32_t i = 0; i <= n; i++) {
    t->face[i] = (position[i] - position[0]) / length;
    t->beta_face[i] = sin(MG_TWO_PI * t->face[i]);
  }
  for (int32_t i = 0; i < n; i++) {
    const double width = t->face[i + 1] - t->face[i], w = MG_TWO_PI * width,
                 x = 0.5 * (t->face[i] + t->face[i + 1]);
    t->center[i] = x;
    t->beta_center[i] = sin(MG_TWO_PI * x) * (1.0 - w * w / 24.0);
    mg_axis_table_rhs(t, i, sin(MG_TWO_PI * x), cos(MG_TWO_PI * x), width / h0 * (width / h0));
  }
}

void mg_domain_stretch(const mg_params_t *params, int d, int32_t n, double h0, mg_axis_table_t *t,
                       double *beta_scale) {
  const double *position = params->face[d] ? params->face[d] : t->face;
  if (mg_params_is_stretched(params)) {
    fill_stretched(t, n, position, h0);
    *beta_scale = 0.25;
  }
  if (n == 1) fill_constant(t);
}

/* Warn if the mean of a user's f exceeds rounding: removing it changes the problem. */
static void warn_of_mean(const mg_params_t *params, double mean, double largest) {
  if (fabs(mean) > 1e-6 * largest)
    mg_warning("%s%s: subtracting the mean %g of f, because a Poisson problem without "
               "Dirichlet walls requires mean 0",
               params->rhs[0]                      ? "--rhs="
               : mg_params_has_wall_values(params) ? "--boundary"
                                                   : "singular problem",
               params->rhs, mean);
}

/* Subtract a constant from f, which is stored times the volume of the cells. */
static mg_status_t subtract_from_rhs(mg_hierarchy_t *h, double value) {
  mg_level_t *level = &h->level[0];
  if (!mg_params_is_stretched(&h->params)) return mg_shift(level, MG_F, MG_F, -value);
  MG_TRY(mg_metric_volumes(h, 0, MG_U));
  MG_TRY(mg_axpby(level, MG_F, 1.0, MG_F, -value, MG_U));
  return mg_fill(level, MG_U, 0.0);
}

/* If the mean of a user's f is much larger than its variation, subtracting it once leaves a mean
 * from rounding of the sum. No A u has such a mean, so the residual would stagnate at it. Each
 * further subtraction leaves only the rounding of the remainder, so two suffice nearly always. An
 * enqueued right-hand side gets two; otherwise the host repeats them while a mean is left. */
static mg_status_t remove_users_rhs_mean(mg_hierarchy_t *h, bool enqueued) {
  enum { ENQUEUED = 2, MOST = 8 };
  mg_level_t *level = &h->level[0];
  double mean, largest;
  for (int times = 0; times < (enqueued ? ENQUEUED : MOST); times++) {
    const bool looks = !enqueued && (times == 0 || times >= ENQUEUED);
    if (looks) MG_TRY(mg_mean(level, MG_F, &mean));
    if (looks) MG_TRY(mg_max_norm(level, MG_F, MG_NO_VECTOR, &largest));
    if (looks && times == 0) warn_of_mean(&h->params, mean, largest);
    if (looks && times > 0 && !(fabs(mean) > 1e-13 * largest)) break;
    MG_TRY(mg_remove_rhs_mean(level));
  }
  return MG_OK;
}

/* If A is singular, a solution exists only if the right-hand side has mean zero. The built-in
 * periodic Helmholtz problems also get mean zero, as in the reference. A user's Helmholtz
 * right-hand side is unchanged. */
static mg_status_t remove_rhs_mean(mg_hierarchy_t *h, bool sets_f, bool enqueued) {
  mg_level_t *level = &h->level[0];
  const bool singular = mg_is_singular(&level->store.view);
  if (sets_f || mg_params_has_wall_values(&h->params))
    return singular ? remove_users_rhs_mean(h, enqueued) : MG_OK;
  if (!singular && !level->store.view.periodic) return MG_OK;
  double mean;
  MG_TRY(mg_mean(level, MG_F, &mean));
  return subtract_from_rhs(h, mean);
}

mg_status_t mg_domain_close_single_cells(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  for (int d = 0; d < 3; d++)
    if (v->n[d] == 1 && mg_is_periodic(v, d)) MG_TRY(mg_fill(level, MG_BETA_I + d, 0.0));
  return MG_OK;
}

/* Betas have no factors yet, and those of Neumann walls are not closed. */
static mg_status_t set_walls_first(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  const bool has_values = mg_params_has_wall_values(&h->params),
             is_dumped = has_values && h->params.dump[0];
  if (is_dumped || (source && source->sets_coefficients)) MG_TRY(mg_wall_betas_save(h));
  if (!has_values) return MG_OK;
  MG_TRY(
      mg_conditions_add(h, source ? source->load_wall : NULL, source ? source->data : NULL, true));
  return mg_fill(&h->level[0], MG_U, 0.0);
}

static mg_status_t set_walls_again(mg_hierarchy_t *h) {
  if (!mg_params_has_wall_values(&h->params)) return MG_OK;
  MG_TRY(mg_wall_betas_put(h));
  MG_TRY(mg_conditions_add(h, NULL, NULL, false));
  return mg_wall_betas_restore(h);
}

/* f, alpha and beta of the finest level, without factors. */
static mg_status_t load_fields(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  mg_level_t *level = &h->level[0];
  const bool has_term = mg_params_has_cells(&h->params) || h->params.closes_cells;
  if (!(source && source->sets_coefficients)) MG_TRY(mg_problem_set_built_in(h));
  if (h->params.alpha_varies)
    MG_TRY(mg_fill(level, MG_ALPHA, has_term ? level->store.view.a : 1.0));
  MG_IF_SOLIDS(mg_solids_free(h->solids); h->solids = NULL); /* the mask may be another one */
  return source ? source->load(source->data, h) : MG_OK;
}

static mg_status_t set_fields(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  mg_level_t *level = &h->level[0];
  const bool rhs_follows = source && source->sets_coefficients;
  bool replaced = false;
  MG_TRY(load_fields(h, source));
  MG_IF_CHOICES(if (source) MG_TRY(mg_method_choose(h, &replaced)));
  if (replaced) MG_TRY(load_fields(h, source));
  MG_TRY(set_walls_first(h, source));
  for (int d = 0; d < 3; d++)
    MG_TRY(mg_metric_apply(h, 0, MG_BETA_I + d));
  if (rhs_follows)
    MG_TRY(mg_metric_prepare_rhs(h));
  else
    MG_TRY(mg_metric_apply(h, 0, MG_F));
  if (h->params.alpha_varies)
    MG_TRY(mg_metric_apply(h, 0, MG_ALPHA));
  else if (level->plan->vectors & 1u << MG_ALPHA)
    MG_TRY(mg_metric_volumes(h, 0, MG_ALPHA)); /* for mg_set_mean */
  MG_TRY(mg_close_neumann_walls(level));
  MG_IF_SOLIDS(if (h->params.closes_cells) return mg_solids_set(h, !rhs_follows));
  return rhs_follows ? MG_OK : remove_rhs_mean(h, source && source->sets_f, false);
}

mg_status_t mg_domain_set_fields(mg_hierarchy_t *h, const mg_problem_source_t *source, bool *done) {
  const mg_layout_t *layout = &h->level[0].plan->layout;
  *done = source || layout->general || !mg_is_cube(layout->n) || h->params.alpha_varies;
  return *done ? set_fields(h, source) : MG_OK;
}

static mg_status_t set_rhs(mg_hierarchy_t *h, mg_status_t (*load)(void *, mg_hierarchy_t *),
                           void *data, bool enqueued) {
  MG_TRY(load(data, h));
  MG_TRY(set_walls_again(h));
  MG_TRY(mg_metric_apply_rhs(h));
  MG_IF_SOLIDS(if (h->params.closes_cells) return mg_solids_set_rhs(h));
  return remove_rhs_mean(h, true, enqueued);
}

mg_status_t mg_problem_set_rhs(mg_hierarchy_t *h, mg_status_t (*load)(void *, mg_hierarchy_t *),
                               void *data, bool enqueued) {
  return mg_comm_agree_or_end(set_rhs(h, load, data, enqueued));
}
