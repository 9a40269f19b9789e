#include "solver/problem.h"
#include "base/alloc.h"
#include "base/log.h"
#include "formulas/coefficients.h"
#include "formulas/walls.h"
#include "level/metric.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "level/wall_faces.h"
#include "solver/conditions.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "solver/method.h"
#include "solver/reference.h"
#include "solver/solids.h"
#include "wings.h"
#include <math.h>
#include <stdlib.h>

/* Tables of the built-in problem in one direction. */
typedef struct {
  double *face, *center, *beta_face, *beta_center, *f, *f_xx;
} axis_t;

/* A direction of one cell: the problem does not depend on it. */
static void fill_constant(const axis_t *t) {
  t->beta_face[0] = t->beta_face[1] = t->beta_center[0] = t->f[0] = 1.0;
  t->f_xx[0] = 0.0;
}

/* sin^7(2 pi x), whose second derivative is times ratio2, from sin and cos. */
static void fill_rhs(const axis_t *t, int32_t i, double s, double c, double ratio2) {
  const double w2 = MG_TWO_PI * MG_TWO_PI, s5 = s * s * s * s * s;
  t->f[i] = s5 * s * s;
  t->f_xx[i] = ratio2 * (w2 * (42.0 * s5 * c * c - 7.0 * s5 * s * s));
}

/* n cells of width h. */
static void fill_equal(const axis_t *t, int32_t n, double h, double ratio2) {
  for (int32_t i = 0; i <= n; i++) {
    t->face[i] = i * h;
    t->beta_face[i] = sin(MG_TWO_PI * (i * h));
  }
  for (int32_t i = 0; i < n; i++) {
    t->center[i] = t->face[i] + 0.5 * h;
    t->beta_center[i] = sin(MG_TWO_PI * ((i + 0.5) * h));
    fill_rhs(t, i, t->beta_center[i], cos(MG_TWO_PI * ((i + 0.5) * h)), ratio2);
  }
}

/* Cells of different widths. The factors that convert point values of beta to averages differ too,
 * so the values at centers hold them.
 * @param[in] position  of the faces */
static void fill_stretched(const axis_t *t, int32_t n, const double *position, double h0) {
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
    fill_rhs(t, i, sin(MG_TWO_PI * x), cos(MG_TWO_PI * x), width / h0 * (width / h0));
  }
}

/* Point the tables at consecutive parts of memory. */
static double *place_axis(double *memory, int32_t n, axis_t *t) {
  t->face = memory;
  t->beta_face = t->face + n + 1;
  t->center = t->beta_face + n + 1;
  t->beta_center = t->center + n;
  t->f = t->beta_center + n;
  t->f_xx = t->f + n;
  return t->f_xx + n;
}

static mg_status_t set_finest(const mg_params_t *params, mg_level_t *level) {
  if (!level->comm) return MG_OK;
  const mg_view_t *v = &level->store.view;
  const mg_widths_t unit = mg_unit_widths(v);
  const bool stretched = mg_params_is_stretched(params);
  double *memory;
  MG_TRY(mg_new(&memory, 6 * ((int64_t)v->n[0] + v->n[1] + v->n[2] + 1), "coefficient tables"));
  mg_tables_t tables;
  double *next = memory;
  for (int d = 0; d < 3; d++) {
    const int32_t n = v->n[d];
    axis_t t;
    next = place_axis(next, n, &t);
    fill_equal(&t, n, unit.d[d], mg_width_ratio2(unit.d, d));
    if (stretched) fill_stretched(&t, n, params->face[d] ? params->face[d] : t.face, unit.d[0]);
    if (n == 1) fill_constant(&t);
    tables.face[d] = t.face;
    tables.center[d] = t.center;
    tables.beta_scale[d] = stretched ? 0.25 : mg_beta_scale(unit.d, d);
    tables.beta_face[d] = t.beta_face;
    tables.beta_center[d] = t.beta_center;
    tables.f[d] = t.f;
    tables.f_xx[d] = t.f_xx;
  }
  const mg_status_t status = level->backend->set_problem(v, &tables);
  free(memory);
  return status;
}

/* Set the betas of a patch's faces at its low or high wall normal to d to 0. MG_U must be 0. */
static mg_status_t close_wall(const mg_level_t *level, int patch, int d, int side) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[patch];
  mg_copy_t faces = {.src_patch = patch, .dst_patch = patch, .n = {p->n[0], p->n[1], p->n[2]}};
  faces.n[d] = 1;
  faces.src_lo[d] = faces.dst_lo[d] = side == 0 ? 0 : p->n[d];
  return mg_copy_once(level->backend, &(mg_copy_job_t){v, v, NULL, &faces, 1}, MG_U, MG_BETA_I + d);
}

/* No flux passes a Neumann wall: its betas are 0. Restriction keeps them 0. */
static mg_status_t close_neumann_walls(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  if (!mg_has_wall(v->side, MG_WALL_NEUMANN)) return MG_OK;
  MG_TRY(mg_fill(level, MG_U, 0.0));
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      for (int side = 0; side < 2; side++)
        if (v->patch[q].wall[d][side] == MG_WALL_NEUMANN) MG_TRY(close_wall(level, q, d, side));
  return MG_OK;
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

/* Dinv and lambda_max, and for fv4 the betas outside the walls. */
static mg_status_t set_diagonal(const mg_params_t *params, mg_level_t *level) {
  if (!level->comm) return MG_OK;
  const mg_view_t *v = &level->store.view;
  const mg_operator_traits_t *t = mg_traits_of(v->op);
  if (t->extends_betas) MG_TRY(level->backend->extend_faces(v));
  MG_TRY(level->backend->set_diagonal(v, params->smoother == MG_SMOOTHER_L1JACOBI,
                                      &level->lambda_max));
  MG_TRY(mg_comm_max(level->comm, &level->lambda_max, 1));
  /* Fused sweeps of fv4 and passes on a CPU read 1 / diagonal also in ghosts. */
  const bool read =
      (!t->sums_diagonal || level->plan->resident) && level->plan->vectors & 1u << MG_DINV;
  return read ? mg_halo_deep(level, MG_DINV) : MG_OK;
}

/* Levels without a smoother store a diagonal only for dumps; fv4 extends their betas. */
static bool needs_diagonal(const mg_hierarchy_t *h, int l) {
  return !h->low || mg_traits_of(h->params.op)->extends_betas ||
         h->level[l].plan->vectors & 1u << MG_DINV;
}

/* The only cell of a periodic direction is its own neighbor: no flux passes. With a beta of 0 the
 * diagonal, which is computed from the betas, is that of A. */
static mg_status_t close_single_cells(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  for (int d = 0; d < 3; d++)
    if (v->n[d] == 1 && mg_is_periodic(v, d)) MG_TRY(mg_fill(level, MG_BETA_I + d, 0.0));
  return MG_OK;
}

static mg_status_t set_coefficients(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    MG_TRY(close_single_cells(&h->level[l]));
    MG_TRY(mg_halo_betas(h, l));
    if (h->params.alpha_varies) MG_TRY(mg_halo_deep(&h->level[l], MG_ALPHA));
    if (l + 1 == h->n_levels) break;
    MG_TRY(mg_restrict_betas(h, l));
    if (h->params.alpha_varies) MG_TRY(mg_restrict(h, l, MG_ALPHA, MG_ALPHA));
  }
  return MG_OK;
}

/* New coefficients change only Chebyshev's polynomials; all other smoothers stay. */
static mg_status_t set_smoothers(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  mg_hierarchy_t *cycles = h->low ? h->low : h;
  const bool again = source && source->sets_coefficients && cycles->has_smoothers;
  return again && !mg_is_polynomial(cycles->params.smoother) ? MG_OK
                                                             : mg_cycles_set_smoothers(h, false);
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
  if (!(source && source->sets_coefficients)) MG_TRY(set_finest(&h->params, level));
  if (h->params.alpha_varies)
    MG_TRY(mg_fill(level, MG_ALPHA, has_term ? level->store.view.a : 1.0));
  MG_IF_SOLIDS(mg_solids_free(h->solids); h->solids = NULL); /* the mask may be another one */
  return source ? source->load(source->data, h) : MG_OK;
}

/* f, alpha and beta of the finest level, as they are stored. */
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
  MG_TRY(close_neumann_walls(level));
  MG_IF_SOLIDS(if (h->params.closes_cells) return mg_solids_set(h, !rhs_follows));
  return rhs_follows ? MG_OK : remove_rhs_mean(h, source && source->sets_f, false);
}

static mg_status_t set_levels(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  MG_IF_MIXED(if (h->low) MG_TRY(mg_mixed_check_widths(h)));
  MG_TRY(set_fields(h, source));
  MG_TRY(set_coefficients(h));
  MG_IF_MIXED(if (h->low) MG_TRY(mg_mixed_lower_coefficients(h)));
  if (h->low) MG_TRY(set_coefficients(h->low));
  MG_IF_SOLIDS(if (h->params.closes_cells) MG_TRY(mg_solids_set_rows(h)));
  for (int l = 0; l < h->n_levels; l++)
    if (needs_diagonal(h, l)) MG_TRY(set_diagonal(&h->params, &h->level[l]));
  for (int l = 0; h->low && l < h->low->n_levels; l++)
    MG_TRY(set_diagonal(&h->params, &h->low->level[l]));
  MG_IF_CHOICES(MG_TRY(mg_direct_set(h->low ? h->low : h)));
  return set_smoothers(h, source);
}

static mg_status_t set_all(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  MG_TRY(set_levels(h, source));
  MG_TRY(mg_reference_choose(h));
  return source && source->sets_coefficients ? MG_OK : mg_reference_set(h);
}

mg_status_t mg_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  return mg_comm_agree_or_end(set_all(h, source));
}

mg_status_t mg_problem_set(mg_hierarchy_t *h) {
  return mg_problem_set_from(h, NULL);
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

mg_status_t mg_problem_restrict_rhs(mg_hierarchy_t *h, int l, double *f_norm) {
  for (int fine = 0; fine < l; fine++)
    MG_TRY(mg_restrict(h, fine, MG_F, MG_F));
  MG_TRY(mg_max_norm(&h->level[l], MG_F, MG_NO_VECTOR, f_norm));
  MG_TRY(mg_comm_max(mg_comm_world(), f_norm, 1));
  MG_IF_MIXED(if (h->low) return mg_mixed_check_rhs(h, *f_norm));
  return MG_OK;
}
