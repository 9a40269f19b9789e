/* What files of --coefficients and --rhs state about the grid: attributes of VTK's image data, and
 * positions of faces. All statements count, so they must agree with each other and with options. */
#include "base/alloc.h"
#include "base/log.h"
#include "formulas/index.h"
#include "io/dump_parts.h"
#include "io/input_parts.h"
#include "params/params_wings.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Widths agree if they differ by less than this part: more than the rounding of floats (6e-8) and
 * of seven printed digits, and far less than any error of discretization. */
#define SAME_WIDTH 1e-6
/* Positions may also differ by the rounding of floats far from 0. */
#define SAME_POSITION 2.4e-7

bool mg_input_is_unit_cube(const mg_input_t *input) {
  const mg_input_grid_t *g = &input->grid;
  bool unit = mg_is_cube(input->n) && g->length[0] == 0.0;
  for (int d = 0; d < 3; d++)
    unit = unit && (g->h[d] == 0.0 || fabs(g->h[d] * input->n[d] - 1.0) <= SAME_WIDTH);
  return unit;
}

/* --- one file -------------------------------------------------------------------------- */

static bool has_stretched(const mg_axes_t *axes) {
  return axes->face[0] || axes->face[1] || axes->face[2];
}

/* Position of a face; the low corner is at 0 if none is stated. */
static double position(const mg_input_grid_t *g, const int32_t n[3], int d, int32_t face) {
  if (g->axes.face[d]) return g->axes.face[d][face];
  const double h = g->length[d] > 0.0 ? g->length[d] / n[d] : g->h[d];
  return g->origin[d] + face * h;
}

/* A disagreement of two grids. */
typedef struct {
  int d;
  int32_t cell; /* -1: of the low corner */
  double a, b;
} difference_t;

static bool differ(const mg_input_grid_t *a, const mg_input_grid_t *b, const int32_t n[3],
                   difference_t *out) {
  for (int d = 0; mg_input_states_widths(a) && mg_input_states_widths(b) && d < 3; d++)
    for (int32_t cell = 0; cell < n[d]; cell++) {
      const double low = position(a, n, d, cell), high = position(a, n, d, cell + 1);
      const double other = position(b, n, d, cell + 1) - position(b, n, d, cell);
      const double rounding = SAME_POSITION * fmax(fabs(low), fabs(high));
      *out = (difference_t){d, cell, high - low, other};
      if (fabs(out->a - out->b) > SAME_WIDTH * out->a + rounding) return true;
    }
  for (int d = 0; a->has_origin && b->has_origin && d < 3; d++) {
    const double width =
        mg_input_states_widths(a) ? position(a, n, d, 1) - position(a, n, d, 0) : 0;
    *out = (difference_t){d, -1, a->origin[d], b->origin[d]};
    if (fabs(out->a - out->b) > SAME_WIDTH * width + SAME_POSITION * fabs(out->a)) return true;
  }
  return false;
}

/* Keep what either of two statements has in the first. */
static void join(mg_input_grid_t *first, mg_input_grid_t *second) {
  if (!mg_input_states_widths(first)) {
    memcpy(first->h, second->h, sizeof first->h);
    memcpy(first->length, second->length, sizeof first->length);
    first->axes = second->axes;
    second->axes = (mg_axes_t){{NULL}};
  }
  if (!first->has_origin && second->has_origin) {
    memcpy(first->origin, second->origin, sizeof first->origin);
    first->has_origin = true;
  }
  mg_axes_free(&second->axes);
}

/* Add a statement of the file, named `name`, to those before it. */
static mg_status_t add(const mg_input_look_t *in, const int32_t n[3], mg_input_grid_t *grid,
                       const char *name, mg_input_grid_t *more) {
  difference_t at;
  if (differ(grid, more, n, &at)) {
    mg_axes_free(&more->axes);
    if (at.cell < 0)
      return mg_h5_wrong(in->file,
                         ": the domain begins at %c = %.9g by /grid or XCoordinates, "
                         "but at %.9g by %s; remove one of them",
                         "xyz"[at.d], at.a, at.b, name);
    return mg_h5_wrong(in->file,
                       ": cell %d in %c has width %.9g by /grid or XCoordinates, but %.9g by "
                       "%s; remove one of them",
                       (int)at.cell, "xyz"[at.d], at.a, at.b, name);
  }
  join(grid, more);
  return MG_OK;
}

static mg_status_t check_positions(const mg_h5_t *file, const char *name, const double *face,
                                   int32_t n) {
  const int64_t at = mg_axis_fault(face, n);
  if (at < 0) return MG_OK;
  if (at == 0)
    return mg_h5_wrong(file, ": %s[0] is %g; positions of faces must be finite", name, face[0]);
  return mg_h5_wrong(file,
                     ": %s[%lld] is %g after %g; positions of faces must be finite and ascend",
                     name, (long long)at, face[at], face[at - 1]);
}

/* Read the faces of one axis; free them if its cells have equal widths. */
static mg_status_t read_axis(const mg_input_look_t *in, const char *name, const mg_h5_look_t *look,
                             int32_t n, double **face, double *low, double *length) {
  const int32_t size = n + 1;
  if (look->rank != 1 || look->size[0] != size)
    return mg_h5_wrong(in->file,
                       ": %s must have 1 dimension of %d positions, one more than the fields "
                       "have cells; it has %d of %lld",
                       name, size, look->rank, (long long)look->size[0]);
  MG_TRY(mg_new(face, size, "positions of faces"));
  MG_TRY(mg_sums_read(in->file, name, 1, &size, *face));
  MG_TRY(check_positions(in->file, name, *face, n));
  *low = (*face)[0];
  *length = (*face)[n] - (*face)[0];
  if (!mg_axis_is_even(*face, n)) return MG_OK;
  free(*face);
  *face = NULL;
  return MG_OK;
}

/* Read all axes; `length` is 0 without positions. */
static mg_status_t read_axes(const mg_input_look_t *in, const int32_t n[3], bool vtk,
                             mg_input_grid_t *grid, double length[3]) {
  char name[3][MG_DATA_PATH_MAX];
  mg_h5_look_t look[3];
  mg_input_gaps_t gaps;
  bool has_sums;
  for (int d = 0; d < 3; d++) {
    length[d] = 0.0;
    mg_axis_path(vtk ? MG_AXIS_VTK : 0, d, name[d]);
    MG_TRY(mg_sums_inspect(in->file, &in->sums, name[d], &look[d], &has_sums));
    if (look[d].there) MG_TRY(mg_input_find_gaps(in->file, name[d], &gaps));
  }
  for (int d = 0; d < 3 && (look[0].there || look[1].there || look[2].there); d++) {
    if (!look[d].there)
      return mg_h5_wrong(in->file, " has no %s; %s, %s and %s are required", name[d], name[0],
                         name[1], name[2]);
    MG_TRY(
        read_axis(in, name[d], &look[d], n[d], &grid->axes.face[d], &grid->origin[d], &length[d]));
  }
  return MG_OK;
}

/* Positions of faces, if the file has them in /grid or, as VTK does, in /VTKHDF. */
static mg_status_t add_positions(const mg_input_look_t *in, const int32_t n[3], bool vtk,
                                 mg_input_grid_t *grid) {
  mg_input_grid_t more = {.has_origin = true};
  double length[3];
  const mg_status_t status = read_axes(in, n, vtk, &more, length);
  if (status != MG_OK || length[0] == 0.0) {
    mg_axes_free(&more.axes);
    return status;
  }
  for (int d = 0; d < 3; d++)
    if (has_stretched(&more.axes))
      more.length[d] = length[d];
    else
      more.h[d] = length[d] / n[d];
  return add(in, n, grid, vtk ? "XCoordinates, YCoordinates, ZCoordinates" : "/grid", &more);
}

/* Compare the centers of cells, which VTK's positions are with point data. They alone do not
 * determine the faces. */
static mg_status_t check_centers(const mg_input_look_t *in, const int32_t n[3],
                                 const mg_input_grid_t *grid) {
  for (int d = 0; d < 3; d++) {
    char path[MG_DATA_PATH_MAX];
    double *center;
    mg_h5_look_t look;
    bool has_sums;
    mg_axis_path(MG_AXIS_VTK, d, path);
    MG_TRY(mg_sums_inspect(in->file, &in->sums, path, &look, &has_sums));
    if (!look.there) continue;
    if (!mg_input_states_widths(grid))
      return mg_h5_wrong(in->file,
                         ": %s has positions of points, which do not determine the faces of "
                         "cells; store cell data, or the faces in /grid",
                         path);
    MG_TRY(mg_new(&center, n[d], "positions of cells"));
    mg_status_t status = mg_sums_read(in->file, path, 1, &n[d], center);
    for (int32_t i = 0; status == MG_OK && i < n[d]; i++) {
      const double low = position(grid, n, d, i), high = position(grid, n, d, i + 1),
                   want = 0.5 * (low + high);
      if (!(fabs(center[i] - want) <= SAME_WIDTH * (high - low) + SAME_POSITION * fabs(want)))
        status = mg_h5_wrong(in->file,
                             ": %s[%d] is %.9g, but the center of this cell of /grid is %.9g; "
                             "remove one of them",
                             path, (int)i, center[i], want);
    }
    free(center);
    if (status != MG_OK) return status;
  }
  return MG_OK;
}

/* Compare the points by WholeExtent and Dimensions with the fields. `first` is the first index. */
static mg_status_t check_extents(const mg_input_look_t *in, const int32_t n[3], bool points,
                                 double first[3]) {
  int64_t extent[6];
  bool there;
  for (int whole = 1; whole >= 0; whole--) {
    const char *name = whole ? "WholeExtent" : "Dimensions";
    MG_TRY(mg_h5_get(in->file, "/VTKHDF", name, MG_H5_INT64, extent, whole ? 6 : 3, &there));
    for (int d = 0; there && d < 3; d++) {
      const int64_t states = whole ? extent[2 * d + 1] - extent[2 * d] + 1 : extent[d],
                    has = n[d] + (points ? 0 : 1);
      if (whole) first[d] = (double)extent[2 * d];
      if (states != has)
        return mg_h5_wrong(in->file,
                           ": %s of /VTKHDF states %lld points in %c, but the fields have %lld; "
                           "correct it or remove it",
                           name, (long long)states, "xyz"[d], (long long)has);
    }
  }
  return MG_OK;
}

static mg_status_t check_direction(const mg_input_look_t *in) {
  double direction[9];
  bool there;
  MG_TRY(mg_h5_get(in->file, "/VTKHDF", "Direction", MG_H5_NUMBER, direction, 9, &there));
  for (int i = 0; there && i < 9; i++)
    if (!(fabs(direction[i] - (i % 4 == 0 ? 1.0 : 0.0)) <= SAME_WIDTH))
      return mg_h5_wrong(in->file,
                         ": Direction of /VTKHDF turns or mirrors the axes ([%d] is %g); only "
                         "1 0 0 0 1 0 0 0 1 can be solved",
                         i, direction[i]);
  return MG_OK;
}

/* Three finite numbers, if the file has them; positive ones with `widths`. */
static mg_status_t read_three(const mg_input_look_t *in, const char *name, bool widths,
                              double values[3], bool *there) {
  MG_TRY(mg_h5_get(in->file, "/VTKHDF", name, MG_H5_NUMBER, values, 3, there));
  for (int d = 0; d < 3 && *there; d++)
    if (!isfinite(values[d]) || (widths && values[d] <= 0.0))
      return mg_h5_wrong(in->file, ": %s of /VTKHDF is %g in %c; it must be finite%s", name,
                         values[d], "xyz"[d], widths ? " and above 0" : "");
  return MG_OK;
}

/* VTK's image data: Spacing, and Origin, the position of the point with index 0. */
static mg_status_t add_image(const mg_input_look_t *in, const int32_t n[3], bool points,
                             mg_input_grid_t *grid) {
  mg_input_grid_t more = {.has_origin = false};
  double first[3] = {0.0};
  bool there;
  MG_TRY(check_extents(in, n, points, first));
  MG_TRY(check_direction(in));
  MG_TRY(read_three(in, "Spacing", true, more.h, &there));
  MG_TRY(read_three(in, "Origin", false, more.origin, &more.has_origin));
  for (int d = 0; d < 3; d++)
    more.origin[d] += (first[d] - (points ? 0.5 : 0.0)) * more.h[d];
  return add(in, n, grid, "Spacing, Origin and WholeExtent", &more);
}

static mg_status_t check_type(const mg_input_look_t *in, char type[64]) {
  bool there;
  MG_TRY(mg_h5_get(in->file, "/VTKHDF", "Type", MG_H5_TEXT, type, 64, &there));
  if (type[0] == '\0' || strcmp(type, "ImageData") == 0 || strcmp(type, "RectilinearGrid") == 0)
    return MG_OK;
  return mg_h5_wrong(
      in->file, ": /VTKHDF has the Type %s; only ImageData and RectilinearGrid can be read", type);
}

mg_status_t mg_input_find_grid(const mg_input_look_t *in, bool points, mg_input_t *input) {
  const int32_t *n = input->n;
  mg_input_grid_t *grid = &input->grid;
  char type[64] = "";
  bool there;
  MG_TRY(mg_h5_exists(in->file, "/VTKHDF", &there));
  if (there) MG_TRY(check_type(in, type));
  MG_TRY(add_positions(in, n, false, grid));
  if (!there) return MG_OK;
  MG_TRY(points ? check_centers(in, n, grid) : add_positions(in, n, true, grid));
  if (strcmp(type, "RectilinearGrid") == 0 && !mg_input_states_widths(grid))
    return mg_h5_wrong(in->file, ": /VTKHDF has the Type RectilinearGrid, but no XCoordinates, "
                                 "YCoordinates and ZCoordinates");
  return add_image(in, n, points, grid);
}

/* --- both files, and options ----------------------------------------------------------- */

mg_status_t mg_input_join_grids(const mg_params_t *params, const int32_t n[3],
                                mg_input_grid_t *first, mg_input_grid_t *second) {
  difference_t at;
  if (!differ(first, second, n, &at)) {
    join(first, second);
    return MG_OK;
  }
  mg_axes_free(&second->axes);
  if (at.cell < 0)
    return mg_error(MG_ERR_IO,
                    "the domain begins at %c = %.9g in --coefficients=%s, but at %.9g in --rhs=%s; "
                    "make Origin or /grid of both files equal, or remove that of one",
                    "xyz"[at.d], at.a, params->coefficients, at.b, params->rhs);
  return mg_error(MG_ERR_IO,
                  "cell %d in %c has width %.9g in --coefficients=%s, but %.9g in --rhs=%s; make "
                  "Spacing or /grid of both files equal, or remove that of one",
                  (int)at.cell, "xyz"[at.d], at.a, params->coefficients, at.b, params->rhs);
}

mg_status_t mg_input_check_domain(const mg_params_t *params, const mg_input_t *input) {
  const mg_input_grid_t *g = &input->grid;
  const bool has_cells = mg_params_has_cells(params), stretches = mg_params_has_stretch(params);
  const char *path = params->coefficients[0] ? params->coefficients : params->rhs;
  double given[3], states[3];
  bool same = true;
  if (!mg_input_states_widths(g)) return MG_OK;
  for (int d = 0; d < 3; d++) {
    given[d] = has_cells ? params->length[d] : 1.0;
    states[d] = g->length[d] > 0.0 ? g->length[d] : g->h[d] * input->n[d];
    same = same && fabs(given[d] - states[d]) <= SAME_WIDTH * states[d];
  }
  if (same && !stretches) return MG_OK;
  if (same)
    return mg_root_error(
        MG_ERR_USAGE,
        "--stretch cannot be combined with %s, which states the widths of cells; drop "
        "one of them",
        path);
  return mg_root_error(
      MG_ERR_USAGE,
      "the domain is %.9g x %.9g x %.9g by %s, but %.9g x %.9g x %.9g by the widths of "
      "cells in %s; drop one of them",
      given[0], given[1], given[2],
      !has_cells                 ? "LOG2_BOX_DIM and BOXES_PER_RANK (the unit cube)"
      : params->restart[0]       ? "--restart"
      : params->spacing[0] > 0.0 ? "--spacing"
                                 : "--lengths",
      states[0], states[1], states[2], path);
}
