/* Dumps of grids with metrics and boundary values: fields of the finest level without what the
 * conditions on sides add, these values, and axes. */
#include "comm/comm.h"
#include "io/boundary_faces_io.h"
#include "io/dump_parts.h"
#include "io/input.h"
#include "level/metric.h"
#include "level/ops.h"
#include "level/wall_faces.h"
#include "params/params_wings.h"
#include "plan/domain_plan.h"
#include "solver/conditions.h"
#include "solver/problem.h"
#include "solver/solids.h"
#include "wings.h"
#include <stdio.h>

/* Only to MG_ALPHA: with the value 0, nothing is added to f. */
static mg_status_t add_to_alpha(mg_hierarchy_t *h) {
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2 && !mg_params_is_periodic(&h->params, d); side++) {
      mg_side_t condition = h->params.side[d][side];
      condition.value = 0.0;
      MG_TRY(mg_conditions_add_side(h, d, side, &condition, true, MG_NO_VECTOR));
    }
  return MG_OK;
}

/* Subtract the shares of conditions from f or alpha. */
static mg_status_t remove_shares(mg_hierarchy_t *h, mg_vector_t vec) {
  mg_level_t *level = &h->level[0];
  MG_TRY(mg_axpby(level, MG_TMP, 1.0, vec, 0.0, vec));
  MG_TRY(mg_fill(level, vec, 0.0));
  MG_TRY(mg_wall_betas_put(h));
  MG_TRY(vec == MG_F ? mg_conditions_add(h, NULL, NULL, false) : add_to_alpha(h));
  MG_TRY(mg_wall_betas_restore(h));
  MG_TRY(mg_metric_apply(h, 0, vec));
  return mg_axpby(level, vec, 1.0, MG_TMP, -1.0, vec);
}

/* The matrix has no face on Robin's sides, as on Neumann's. Their betas count all the same. */
static mg_status_t open_faces(mg_hierarchy_t *h, int d) {
  mg_level_t *level = &h->level[0];
  const mg_vector_t beta = MG_BETA_I + (mg_vector_t)d;
  MG_TRY(mg_wall_betas_lay_aside(h));
  for (int side = 0; side < 2; side++) {
    if (!mg_is_robin(&h->params.side[d][side])) continue;
    MG_TRY(mg_fill(level, MG_TMP, 0.0));
    MG_TRY(mg_wall_betas_put_into(h, d, side, MG_TMP));
    MG_TRY(mg_metric_apply_as(h, 0, MG_TMP, beta));
    for (int q = 0; q < level->store.view.n_patches; q++)
      if (level->store.view.patch[q].wall[d][side] != MG_WALL_NONE)
        MG_TRY(mg_copy_wall_betas(level, q, d, side, MG_TMP));
  }
  return MG_OK;
}

static bool is_beta(mg_vector_t vec) {
  return vec == MG_BETA_I || vec == MG_BETA_J || vec == MG_BETA_K;
}

static mg_status_t remove_conditions(mg_hierarchy_t *h, mg_vector_t vec) {
  if (!mg_params_has_wall_values(&h->params)) return MG_OK;
  if (is_beta(vec)) return open_faces(h, (int)(vec - MG_BETA_I));
  return vec == MG_F || vec == MG_ALPHA ? remove_shares(h, vec) : MG_OK;
}

mg_status_t mg_dump_remove_conditions(mg_hierarchy_t *h, mg_field_t field, mg_vector_t vec) {
  MG_IF_SOLIDS(MG_TRY(mg_solids_show(h, vec, field == MG_FIELD_MASK)));
  MG_TRY(remove_conditions(h, vec));
  MG_IF_SOLIDS(if (vec == MG_F || vec == MG_ALPHA) MG_TRY(mg_solids_clear(h, vec)));
  (void)field;
  return MG_OK;
}

static mg_status_t restore(mg_hierarchy_t *h, mg_vector_t vec) {
  if (!mg_params_has_wall_values(&h->params)) return MG_OK;
  if (is_beta(vec)) return mg_wall_betas_restore(h);
  if (vec != MG_F && vec != MG_ALPHA) return MG_OK;
  return mg_axpby(&h->level[0], vec, 1.0, MG_TMP, 0.0, MG_TMP);
}

mg_status_t mg_dump_restore_conditions(mg_hierarchy_t *h, mg_vector_t vec) {
  MG_TRY(restore(h, vec));
  MG_IF_SOLIDS(return mg_solids_restore(h, vec));
  return MG_OK;
}

mg_status_t mg_dump_unscale_wall(const mg_hierarchy_t *h, int d, const int32_t n[2],
                                 double *faces) {
  mg_metric_t m;
  MG_TRY(mg_comm_agree(mg_metric_create(h, 0, MG_BETA_I + (mg_vector_t)d, &m)));
  const double *fast = m.factor[d == 0 ? 1 : 0], *slow = m.factor[d == 2 ? 1 : 2],
               normal = m.factor[d][h->plan.level[0].layout.n[d]];
  for (int32_t row = 0; row < n[1] && !m.is_one; row++)
    for (int32_t i = 0; i < n[0]; i++)
      faces[(int64_t)row * n[0] + i] /= normal * fast[i] * slow[row];
  mg_metric_free(&m);
  return MG_OK;
}

/* Values of a condition that differ from face to face. */
static mg_status_t run_side(mg_hierarchy_t *h, mg_h5_t *file, int d, int side, bool write,
                            const mg_rows_t *wall) {
  const char *path = mg_input_wall_path(d, side);
  int32_t n[2];
  mg_boundary_faces_size(h->plan.level[0].layout.n, d, n);
  MG_TRY(mg_comm_agree_or_end(mg_wall_values_put(h, d, side)));
  MG_TRY(mg_boundary_move(&h->level[0], MG_U, d, side, false, wall->values));
  MG_TRY(mg_comm_agree_or_end(mg_wall_values_restore(h, d, side)));
  return mg_rows_move(file, path, true, 2, n, write, wall);
}

mg_status_t mg_dump_run_sides(mg_hierarchy_t *h, mg_h5_t *file, int d, bool write,
                              const mg_rows_t *wall) {
  for (int side = 0; side < 2 && mg_dump_wants_sides(&h->params); side++)
    if (h->params.side[d][side].varies) MG_TRY(run_side(h, file, d, side, write, wall));
  return MG_OK;
}

/* Faces of a level, or the coordinates that VTK expects: of faces, or with point centering of cell
 * centers. Coarser levels have no checksums: nothing reads their positions. */
static mg_status_t move_axis(const mg_hierarchy_t *h, mg_h5_t *file, int level, int d, bool write,
                             const mg_rows_t *axis) {
  char path[MG_DATA_PATH_MAX];
  const bool points = level == MG_AXIS_VTK && h->params.dump_centering == MG_CENTERING_POINT;
  const int l = level == MG_AXIS_VTK ? 0 : level;
  const int32_t n = h->plan.level[l].layout.n[d] + (points ? 0 : 1);
  mg_axis_path(level, d, path);
  for (int32_t i = 0; i < n; i++) {
    const double low = mg_plan_position(h->level[0].plan, &h->params, l, d, i);
    axis->values[i] =
        points ? 0.5 * (low + mg_plan_position(h->level[0].plan, &h->params, l, d, i + 1)) : low;
  }
  return mg_rows_move(file, path, l == 0, 1, &n, write, axis);
}

mg_status_t mg_dump_run_axes(const mg_hierarchy_t *h, mg_h5_t *file, bool write) {
  const int32_t *n = h->plan.level[0].layout.n;
  const int64_t most = (int64_t)n[0] + n[1] + n[2] + 1;
  mg_rows_t axis;
  mg_status_t status = mg_rows_create(most, &axis);
  for (int l = MG_AXIS_VTK; l < h->n_levels; l++)
    for (int d = 0; d < 3; d++) {
      if (mg_plan_is_even(h->level[0].plan, &h->params, l < 0 ? 0 : l)) continue;
      if (status == MG_OK && (l <= 0 || mg_dump_wants_level(&h->params, l)))
        status = move_axis(h, file, l, d, write, &axis);
    }
  mg_rows_free(&axis);
  return status;
}
