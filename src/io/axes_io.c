#include "io/axes_io.h"
#include "base/alloc.h"
#include "base/log.h"
#include "io/dump_parts.h"
#include "io/field_io.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mg_axis_path(int level, int d, char path[MG_DATA_PATH_MAX]) {
  if (level == 0)
    snprintf(path, MG_DATA_PATH_MAX, "/grid/%c", "xyz"[d]);
  else
    snprintf(path, MG_DATA_PATH_MAX, "/HPGMG/levels/level_%d/%c", level, "xyz"[d]);
}

/* --- dumps ----------------------------------------------------------------------------- */

/* Write a dataset of n values, or compare it with the file. `stored` is scratch. */
static mg_status_t move(mg_h5_t *file, const char *path, int32_t n, bool write, double *values,
                        double *stored) {
  MG_TRY(mg_dataset_move(file, path, MG_H5_DOUBLE, 1, &n, write, write ? values : stored));
  if (write) return MG_OK;
  return MG_ON_ROOT(
      memcmp(values, stored, (size_t)n * sizeof *values) == 0
          ? MG_OK
          : mg_error(MG_ERR_IO, "%s reads back different values; check the disk", path));
}

static mg_status_t move_faces(const mg_hierarchy_t *h, mg_h5_t *file, int l, int d, bool write,
                              double *values, double *stored) {
  char path[MG_DATA_PATH_MAX];
  const int32_t n = h->plan.level[l].layout.n[d] + 1;
  mg_axis_path(l, d, path);
  for (int32_t i = 0; i < n; i++)
    values[i] = mg_plan_position(h->level[0].plan, &h->params, l, d, i);
  return move(file, path, n, write, values, stored);
}

/* The coordinates that VTK expects: of faces, or with point centering of cell centers. */
static mg_status_t move_coordinates(const mg_hierarchy_t *h, mg_h5_t *file, int d, bool write,
                                    double *values, double *stored) {
  char path[MG_DATA_PATH_MAX];
  const bool points = h->params.dump_centering == MG_CENTERING_POINT;
  const int32_t n = h->plan.level[0].layout.n[d] + (points ? 0 : 1);
  const mg_level_plan_t *level = h->level[0].plan;
  snprintf(path, sizeof path, "/VTKHDF/%cCoordinates", "XYZ"[d]);
  for (int32_t i = 0; i < n; i++) {
    const double low = mg_plan_position(level, &h->params, 0, d, i);
    values[i] = points ? 0.5 * (low + mg_plan_position(level, &h->params, 0, d, i + 1)) : low;
  }
  return move(file, path, n, write, values, stored);
}

mg_status_t mg_axes_dump(const mg_hierarchy_t *h, mg_h5_t *file, bool write) {
  const int32_t *n = h->plan.level[0].layout.n;
  const int64_t most = (int64_t)n[0] + n[1] + n[2];
  double *values;
  MG_TRY(mg_comm_agree(mg_new(&values, 2 * most, "positions of faces")));
  double *stored = values + most;
  mg_status_t status = MG_OK;
  for (int l = 0; l < h->n_levels; l++)
    for (int d = 0; d < 3; d++) {
      if (mg_plan_is_even(h->level[0].plan, &h->params, l)) continue;
      if (status == MG_OK && (l == 0 || mg_dump_wants_level(&h->params, l)))
        status = move_faces(h, file, l, d, write, values, stored);
      if (status == MG_OK && l == 0) status = move_coordinates(h, file, d, write, values, stored);
    }
  free(values);
  return status;
}

/* --- users' files ---------------------------------------------------------------------- */

/* What an error is about. */
typedef struct {
  mg_h5_t *file;
  const char *option, *path;
} source_t;

static mg_status_t check(const source_t *in, const char *name, const double *face, int32_t n) {
  const int64_t at = mg_axis_fault(face, n);
  if (at < 0) return MG_OK;
  if (at == 0)
    return mg_error(MG_ERR_IO, "--%s=%s: %s[0] is %g; positions of faces must be finite",
                    in->option, in->path, name, face[0]);
  return mg_error(MG_ERR_IO,
                  "--%s=%s: %s[%lld] is %g after %g; positions of faces must be finite and ascend",
                  in->option, in->path, name, (long long)at, face[at], face[at - 1]);
}

static mg_status_t read_values(const source_t *in, const char *name, int32_t n, double *face) {
  const int32_t size = n + 1;
  mg_h5_data_t data;
  MG_TRY(mg_h5_data_open_numbers(in->file, name, 1, &size, &data));
  const mg_status_t status = mg_h5_read_planes(in->file, &data, 0, size, face);
  return mg_status_worst(status, mg_h5_data_close(in->file, &data));
}

/* Read one axis; free it if its cells have equal widths. */
static mg_status_t read_axis(const source_t *in, const char *name, int32_t n, double **face,
                             double *length) {
  mg_h5_look_t look;
  MG_TRY(mg_h5_inspect(in->file, name, &look));
  if (look.rank != 1 || look.size[0] != (int64_t)n + 1)
    return mg_error(MG_ERR_IO,
                    "--%s=%s: %s must have 1 dimension of %lld positions, one more than the fields "
                    "have cells; it has %d of %lld",
                    in->option, in->path, name, (long long)n + 1, look.rank,
                    (long long)look.size[0]);
  MG_TRY(mg_new(face, (int64_t)n + 1, "positions of faces"));
  MG_TRY(read_values(in, name, n, *face));
  MG_TRY(check(in, name, *face, n));
  *length = (*face)[n] - (*face)[0];
  if (!mg_axis_is_even(*face, n)) return MG_OK;
  free(*face);
  *face = NULL;
  return MG_OK;
}

mg_status_t mg_axes_read(mg_h5_t *file, const char *option, const char *path, const int32_t n[3],
                         mg_axes_t *axes, double length[3]) {
  const source_t in = {file, option, path};
  bool there[3] = {false};
  memset(length, 0, 3 * sizeof *length);
  MG_TRY(mg_h5_exists(file, "/grid", &there[0]));
  if (!there[0]) return MG_OK;
  for (int d = 0; d < 3; d++) {
    char name[MG_DATA_PATH_MAX];
    mg_axis_path(0, d, name);
    MG_TRY(mg_h5_exists(file, name, &there[d]));
  }
  if (!there[0] && !there[1] && !there[2]) return MG_OK; /* a group of another program */
  for (int d = 0; d < 3; d++) {
    char name[MG_DATA_PATH_MAX];
    mg_axis_path(0, d, name);
    if (!there[d])
      return mg_error(MG_ERR_IO, "--%s=%s has no %s; /grid/x, /grid/y and /grid/z are required",
                      option, path, name);
    MG_TRY(read_axis(&in, name, n[d], &axes->face[d], &length[d]));
  }
  return MG_OK;
}
