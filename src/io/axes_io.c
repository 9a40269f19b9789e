#include "io/axes_io.h"
#include "base/alloc.h"
#include "base/log.h"
#include "io/dump_parts.h"
#include "io/field_io.h"
#include "io/stored_sums.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mg_plan_is_even(const mg_level_plan_t *level, const mg_params_t *params, int l) {
  for (int d = 0; d < 3; d++)
    if (params->face[d] ||
        mg_plan_width(level, params, l, d, level[l].layout.n[d] - 1) != level[l].h[d])
      return false;
  return true;
}

void mg_axis_path(int level, int d, char path[MG_DATA_PATH_MAX]) {
  if (level == 0)
    snprintf(path, MG_DATA_PATH_MAX, "/grid/%c", "xyz"[d]);
  else
    snprintf(path, MG_DATA_PATH_MAX, "/HPGMG/levels/level_%d/%c", level, "xyz"[d]);
}

void mg_axis_vtk_path(int d, char path[MG_DATA_PATH_MAX]) {
  snprintf(path, MG_DATA_PATH_MAX, "/VTKHDF/%cCoordinates", "XYZ"[d]);
}

/* Name of a path in the list of checksums: grid/x, XCoordinates. */
static const char *word_of(const char *path) {
  return strncmp(path, "/VTKHDF/", 8) == 0 ? path + 8 : path + 1;
}

/* --- dumps ----------------------------------------------------------------------------- */

/* Coarser levels have no checksums: nothing reads their positions. */
static mg_status_t move_faces(const mg_hierarchy_t *h, mg_h5_t *file, int l, int d, bool write,
                              const mg_rows_t *axis) {
  char path[MG_DATA_PATH_MAX];
  const int32_t n = h->plan.level[l].layout.n[d] + 1;
  mg_axis_path(l, d, path);
  for (int32_t i = 0; i < n; i++)
    axis->values[i] = mg_plan_position(h->level[0].plan, &h->params, l, d, i);
  return mg_rows_move(file, path, l == 0 ? path + 1 : NULL, 1, &n, write, axis);
}

/* The coordinates that VTK expects: of faces, or with point centering of cell centers. */
static mg_status_t move_coordinates(const mg_hierarchy_t *h, mg_h5_t *file, int d, bool write,
                                    const mg_rows_t *axis) {
  char path[MG_DATA_PATH_MAX];
  const bool points = h->params.dump_centering == MG_CENTERING_POINT;
  const int32_t n = h->plan.level[0].layout.n[d] + (points ? 0 : 1);
  const mg_level_plan_t *level = h->level[0].plan;
  mg_axis_vtk_path(d, path);
  for (int32_t i = 0; i < n; i++) {
    const double low = mg_plan_position(level, &h->params, 0, d, i);
    axis->values[i] = points ? 0.5 * (low + mg_plan_position(level, &h->params, 0, d, i + 1)) : low;
  }
  return mg_rows_move(file, path, word_of(path), 1, &n, write, axis);
}

mg_status_t mg_axes_dump(const mg_hierarchy_t *h, mg_h5_t *file, bool write) {
  const int32_t *n = h->plan.level[0].layout.n;
  const int64_t most = (int64_t)n[0] + n[1] + n[2] + 1;
  mg_rows_t axis;
  mg_status_t status = mg_rows_create(most, &axis);
  for (int l = 0; l < h->n_levels; l++)
    for (int d = 0; d < 3; d++) {
      if (mg_plan_is_even(h->level[0].plan, &h->params, l)) continue;
      if (status == MG_OK && (l == 0 || mg_dump_wants_level(&h->params, l)))
        status = move_faces(h, file, l, d, write, &axis);
      if (status == MG_OK && l == 0) status = move_coordinates(h, file, d, write, &axis);
    }
  mg_rows_free(&axis);
  return status;
}

/* --- users' files ---------------------------------------------------------------------- */

static mg_status_t check(const mg_h5_t *file, const char *name, const double *face, int32_t n) {
  const int64_t at = mg_axis_fault(face, n);
  if (at < 0) return MG_OK;
  if (at == 0)
    return mg_h5_wrong(file, ": %s[0] is %g; positions of faces must be finite", name, face[0]);
  return mg_h5_wrong(file,
                     ": %s[%lld] is %g after %g; positions of faces must be finite and ascend",
                     name, (long long)at, face[at], face[at - 1]);
}

/* Find the checksums of an axis, and whether it is there. */
static mg_status_t find_axis(mg_h5_t *file, const mg_sums_list_t *list, const char *name,
                             bool *there) {
  char sums[MG_H5_NAME_MAX];
  bool has_sums;
  mg_sums_path(word_of(name), sums);
  MG_TRY(mg_h5_exists(file, name, there));
  return mg_sums_find(file, list, word_of(name), sums, *there, &has_sums);
}

static mg_status_t read_values(mg_h5_t *file, const char *name, int32_t size, double *values) {
  mg_h5_data_t data;
  MG_TRY(mg_h5_data_open_numbers(file, name, 1, &size, &data));
  mg_status_t status = mg_h5_read_planes(file, &data, 0, size, values);
  status = mg_status_worst(status, mg_h5_data_close(file, &data));
  return status == MG_OK ? mg_sums_compare(file, word_of(name), 1, &size, values) : status;
}

/* Read one axis; free it if its cells have equal widths. */
static mg_status_t read_axis(mg_h5_t *file, const char *name, int32_t n, double **face, double *low,
                             double *length) {
  mg_h5_look_t look;
  MG_TRY(mg_h5_inspect(file, name, &look));
  if (look.rank != 1 || look.size[0] != (int64_t)n + 1)
    return mg_h5_wrong(file,
                       ": %s must have 1 dimension of %lld positions, one more than the fields "
                       "have cells; it has %d of %lld",
                       name, (long long)n + 1, look.rank, (long long)look.size[0]);
  MG_TRY(mg_new(face, (int64_t)n + 1, "positions of faces"));
  MG_TRY(read_values(file, name, n + 1, *face));
  MG_TRY(check(file, name, *face, n));
  *low = (*face)[0];
  *length = (*face)[n] - (*face)[0];
  if (!mg_axis_is_even(*face, n)) return MG_OK;
  free(*face);
  *face = NULL;
  return MG_OK;
}

mg_status_t mg_axes_read(mg_h5_t *file, const mg_sums_list_t *list, bool vtk, const int32_t n[3],
                         mg_axes_t *axes, double low[3], double length[3]) {
  char name[3][MG_DATA_PATH_MAX];
  bool there[3];
  for (int d = 0; d < 3; d++) {
    low[d] = length[d] = 0.0;
    if (vtk)
      mg_axis_vtk_path(d, name[d]);
    else
      mg_axis_path(0, d, name[d]);
    MG_TRY(find_axis(file, list, name[d], &there[d]));
  }
  if (!there[0] && !there[1] && !there[2]) return MG_OK;
  for (int d = 0; d < 3; d++) {
    if (!there[d])
      return mg_h5_wrong(file, " has no %s; %s, %s and %s are required", name[d], name[0], name[1],
                         name[2]);
    MG_TRY(read_axis(file, name[d], n[d], &axes->face[d], &low[d], &length[d]));
  }
  return MG_OK;
}

mg_status_t mg_axes_read_centers(mg_h5_t *file, const mg_sums_list_t *list, int d, int32_t n,
                                 double *center, bool *there) {
  char name[MG_DATA_PATH_MAX];
  mg_axis_vtk_path(d, name);
  MG_TRY(find_axis(file, list, name, there));
  return *there ? read_values(file, name, n, center) : MG_OK;
}
