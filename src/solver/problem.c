#include "solver/problem.h"
#include "base/alloc.h"
#include "formulas/coefficients.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "solver/domain.h"
#include "solver/reference.h"
#include "solver/solids.h"
#include "wings.h"
#include <math.h>
#include <stdlib.h>

void mg_axis_table_rhs(const mg_axis_table_t *t, int32_t i, double s, double c, double ratio2) {
  const double w2 = MG_TWO_PI * MG_TWO_PI, s5 = s * s * s * s * s;
  t->f[i] = s5 * s * s;
  t->f_xx[i] = ratio2 * (w2 * (42.0 * s5 * c * c - 7.0 * s5 * s * s));
}

/* n cells of width h. */
static void fill_equal(const mg_axis_table_t *t, int32_t n, double h, double ratio2) {
  for (int32_t i = 0; i <= n; i++) {
    t->face[i] = i * h;
    t->beta_face[i] = sin(MG_TWO_PI * (i * h));
  }
  for (int32_t i = 0; i < n; i++) {
    t->center[i] = t->face[i] + 0.5 * h;
    t->beta_center[i] = sin(MG_TWO_PI * ((i + 0.5) * h));
    mg_axis_table_rhs(t, i, t->beta_center[i], cos(MG_TWO_PI * ((i + 0.5) * h)), ratio2);
  }
}

/* Point the tables at consecutive parts of memory. */
static double *place_axis(double *memory, int32_t n, mg_axis_table_t *t) {
  t->face = memory;
  t->beta_face = t->face + n + 1;
  t->center = t->beta_face + n + 1;
  t->beta_center = t->center + n;
  t->f = t->beta_center + n;
  t->f_xx = t->f + n;
  return t->f_xx + n;
}

mg_status_t mg_problem_set_built_in(mg_hierarchy_t *h) {
  const mg_level_t *level = &h->level[0];
  if (!level->comm) return MG_OK;
  const mg_view_t *v = &level->store.view;
  const mg_widths_t unit = mg_unit_widths(v);
  double *memory;
  MG_TRY(mg_new(&memory, 6 * ((int64_t)v->n[0] + v->n[1] + v->n[2] + 1), "coefficient tables"));
  mg_tables_t tables;
  double *next = memory;
  tables.constant = h->params.beta == MG_BETA_ONE || mg_traits_of(v->op)->constant;
  for (int d = 0; d < 3; d++) {
    const int32_t n = v->n[d];
    mg_axis_table_t t;
    next = place_axis(next, n, &t);
    fill_equal(&t, n, unit.d[d], mg_width_ratio2(unit.d, d));
    tables.face[d] = t.face;
    tables.center[d] = t.center;
    tables.beta_scale[d] = mg_beta_scale(unit.d, d);
    MG_IF_DOMAINS(mg_domain_stretch(&h->params, d, n, unit.d[0], &t, &tables.beta_scale[d]));
    if (tables.constant) tables.beta_scale[d] = 0.0;
    tables.beta_face[d] = t.beta_face;
    tables.beta_center[d] = t.beta_center;
    tables.f[d] = t.f;
    tables.f_xx[d] = t.f_xx;
  }
  const mg_status_t status = level->backend->set_problem(v, &tables);
  free(memory);
  return status;
}

mg_status_t mg_copy_wall_betas(const mg_level_t *level, int patch, int d, int side,
                               mg_vector_t src) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[patch];
  mg_copy_t faces = {.src_patch = patch, .dst_patch = patch, .n = {p->n[0], p->n[1], p->n[2]}};
  faces.n[d] = 1;
  faces.src_lo[d] = faces.dst_lo[d] = side == 0 ? 0 : p->n[d];
  return mg_copy_once(level->backend, &(mg_copy_job_t){v, v, NULL, &faces, 1}, src, MG_BETA_I + d);
}

mg_status_t mg_close_neumann_walls(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  if (!mg_has_wall(v->side, MG_WALL_NEUMANN)) return MG_OK;
  MG_TRY(mg_fill(level, MG_U, 0.0));
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      for (int side = 0; side < 2; side++)
        if (v->patch[q].wall[d][side] == MG_WALL_NEUMANN)
          MG_TRY(mg_copy_wall_betas(level, q, d, side, MG_U));
  return MG_OK;
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

static mg_status_t set_coefficients(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    MG_IF_DOMAINS(MG_TRY(mg_domain_close_single_cells(&h->level[l])));
    MG_TRY(mg_halo_betas(h, l));
    MG_IF_FUSED(MG_TRY(mg_find_constants(h, l)));
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

/* f and beta of the finest level, as they are stored. If A is singular, a solution exists only if
 * the right-hand side has mean zero. Periodic Helmholtz problems also get mean zero, as in the
 * reference. */
static mg_status_t set_fields(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  MG_TRY(mg_problem_set_built_in(h));
  MG_TRY(mg_close_neumann_walls(level));
  if (!mg_is_singular(&level->store.view) && !level->store.view.periodic) return MG_OK;
  return mg_remove_rhs_mean(level);
}

static mg_status_t set_levels(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  MG_IF_MIXED(if (h->low) MG_TRY(mg_mixed_check_widths(h)));
  bool is_domain = false;
  MG_IF_DOMAINS(MG_TRY(mg_domain_set_fields(h, source, &is_domain)));
  if (!is_domain) MG_TRY(set_fields(h));
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
  MG_IF_DOMAINS(MG_TRY(mg_reference_choose(h)));
  MG_IF_DOMAINS(if (!source || !source->sets_coefficients) MG_TRY(mg_reference_set(h)));
  return MG_OK;
}

mg_status_t mg_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  return mg_comm_agree_or_end(set_all(h, source));
}

mg_status_t mg_problem_set(mg_hierarchy_t *h) {
  return mg_problem_set_from(h, NULL);
}

mg_status_t mg_problem_restrict_rhs(mg_hierarchy_t *h, int l, double *f_norm) {
  for (int fine = 0; fine < l; fine++)
    MG_TRY(mg_restrict(h, fine, MG_F, MG_F));
  MG_TRY(mg_world_norm(&h->level[l], MG_F, MG_NO_VECTOR, f_norm));
  MG_IF_MIXED(if (h->low) return mg_mixed_check_rhs(h, *f_norm));
  return MG_OK;
}
