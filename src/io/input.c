#include "io/input.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/paths.h"
#include "formulas/index.h"
#include "io/axes_io.h"
#include "io/dump.h"
#include "io/hdf5/h5.h"
#include "io/stored_sums.h"
#include "params/params_value.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const mg_input_names[MG_N_INPUTS] = {"alpha",  "beta",   "beta_i",
                                                 "beta_j", "beta_k", "f"};

mg_input_source_t mg_input_coefficients(const mg_params_t *p) {
  return (mg_input_source_t){"coefficients", p->coefficients, MG_INPUT_ALPHA, MG_INPUT_F};
}

mg_input_source_t mg_input_rhs(const mg_params_t *p) {
  return (mg_input_source_t){"rhs", p->rhs, MG_INPUT_F, MG_N_INPUTS};
}

/* --- contents of the files ------------------------------------------------------------- */

/* A file being inspected. */
typedef struct {
  const mg_input_source_t *source;
  mg_h5_t *file;
  mg_sums_list_t sums;
} look_t;

/* The version of a dump determines how its checksums are computed; files of users have none. */
static mg_status_t check_version(const look_t *in) {
  bool there;
  int64_t version;
  MG_TRY(mg_h5_exists(in->file, MG_DUMP_OURS, &there));
  if (there) MG_TRY(mg_h5_has_attribute(in->file, MG_DUMP_OURS, "format_version", &there));
  if (!there) return MG_OK;
  MG_TRY(mg_h5_get_integers(in->file, MG_DUMP_OURS, "format_version", &version, 1));
  if (version == MG_FORMAT_VERSION) return MG_OK;
  return mg_error(MG_ERR_IO, "--%s=%s: format_version is %lld; this program reads version %d",
                  in->source->option, in->source->path, (long long)version, MG_FORMAT_VERSION);
}

static mg_status_t find_walls(const look_t *in, const char *name, mg_input_place_t *place) {
  mg_h5_look_t walls;
  char path[MG_INPUT_PATH_MAX], sums[MG_H5_NAME_MAX];
  snprintf(path, sizeof path, "/HPGMG/walls/%s", name);
  MG_TRY(mg_h5_inspect(in->file, path, &walls));
  place->has_walls = walls.there;
  mg_sums_path(path + strlen("/HPGMG/"), sums);
  return mg_sums_find(in->file, &in->sums, path + strlen("/HPGMG/"), sums, walls.there,
                      &place->has_wall_checksums);
}

/* Find a field of cells, which may be stored as point data, as in a dump. */
static mg_status_t find_field(const look_t *in, int field, mg_input_place_t *place,
                              mg_h5_look_t *look) {
  const char *name = mg_input_names[field];
  char sums[MG_H5_NAME_MAX];
  snprintf(sums, sizeof sums, "/HPGMG/checksums/level_0/%s", name);
  snprintf(place->path, sizeof place->path, "/VTKHDF/CellData/%s", name);
  MG_TRY(mg_h5_inspect(in->file, place->path, look));
  if (!look->there) {
    snprintf(place->path, sizeof place->path, "/VTKHDF/PointData/%s", name);
    MG_TRY(mg_h5_inspect(in->file, place->path, look));
  }
  MG_TRY(mg_sums_find(in->file, &in->sums, name, sums, look->there, &place->has_checksums));
  if (!look->there) {
    place->path[0] = '\0';
    return MG_OK;
  }
  place->is_float = look->type == MG_H5_FLOAT;
  if (field < MG_INPUT_BETA_I || field > MG_INPUT_BETA_K) return MG_OK;
  return find_walls(in, name, place);
}

/* Check that all fields have the same size. from_before: it was set by an earlier file. A mismatch
 * between two files is a usage error; within one, the file is wrong. */
static mg_status_t take_size(const mg_input_source_t *source, const mg_input_place_t *place,
                             const mg_h5_look_t *look, bool from_before, mg_input_t *input) {
  int32_t n[3] = {0, 0, 0};
  if (look->rank != 3)
    return mg_error(MG_ERR_IO, "--%s=%s: %s has %d dimensions; it must have 3", source->option,
                    source->path, place->path, look->rank);
  for (int d = 0; d < 3; d++) {
    const int64_t size = look->size[2 - d]; /* k is the first */
    if (size < 1 || size > MG_MAX_DIM)
      return mg_error(MG_ERR_IO, "--%s=%s: %s has %lld cells in %c; it must have 1 to %d",
                      source->option, source->path, place->path, (long long)size, "xyz"[d],
                      MG_MAX_DIM);
    n[d] = (int32_t)size;
  }
  if (input->n[0] == 0) memcpy(input->n, n, sizeof n);
  if (memcmp(input->n, n, sizeof n) == 0) return MG_OK;
  return mg_error(from_before ? MG_ERR_USAGE : MG_ERR_IO,
                  "--%s=%s: %s has %s cells, but other fields have %s; use one size",
                  source->option, source->path, place->path, mg_grid(n).text,
                  mg_grid(input->n).text);
}

static bool states_widths(const mg_input_t *input) {
  return input->h[0] > 0.0 || input->length[0] > 0.0;
}

/* Widths of the cells, if the file states them. */
static mg_status_t take_widths(const look_t *in, mg_input_t *input) {
  bool there;
  double h[3];
  MG_TRY(mg_h5_exists(in->file, "/VTKHDF", &there));
  if (there) MG_TRY(mg_h5_has_attribute(in->file, "/VTKHDF", "Spacing", &there));
  if (!there) return MG_OK;
  MG_TRY(mg_h5_get_doubles(in->file, "/VTKHDF", "Spacing", h, 3));
  for (int d = 0; d < 3; d++)
    if (!(h[d] > 0.0) || !isfinite(h[d])) return MG_OK; /* of a program that ignores it */
  memcpy(input->h, h, sizeof h);
  return MG_OK;
}

/* Whether some axis is stretched. */
static bool has_stretched(const mg_axes_t *axes) {
  return axes->face[0] || axes->face[1] || axes->face[2];
}

/* Positions of faces, if the file states them. */
static mg_status_t take_axes(const look_t *in, mg_input_t *input) {
  const mg_input_source_t *source = in->source;
  double length[3];
  MG_TRY(mg_axes_read(in->file, source->option, source->path, &in->sums, input->n, &input->axes,
                      length));
  for (int d = 0; d < 3 && length[0] > 0.0; d++)
    if (has_stretched(&input->axes))
      input->length[d] = length[d];
    else
      input->h[d] = length[d] / input->n[d];
  return MG_OK;
}

static mg_status_t find_fields(mg_h5_t *file, const mg_input_source_t *source,
                               const mg_params_t *params, mg_input_t *input) {
  const bool from_before = input->n[0] > 0;
  look_t in = {.source = source, .file = file};
  MG_TRY(check_version(&in));
  MG_TRY(mg_sums_list_read(file, &in.sums));
  input->has_checksums[source->from == MG_INPUT_F] = in.sums.words[0] != '\0';
  for (int field = source->from; field < source->end; field++) {
    mg_input_place_t *place = &input->place[field];
    mg_h5_look_t look;
    MG_TRY(find_field(&in, field, place, &look));
    if (look.there) MG_TRY(take_size(source, place, &look, from_before, input));
  }
  if (input->n[0] > 0) MG_TRY(take_axes(&in, input));
  if (!states_widths(input)) MG_TRY(take_widths(&in, input));
  if (input->n[0] == 0 || source->from != MG_INPUT_F) return MG_OK;
  return mg_input_find_walls(file, &in.sums, params, input);
}

/* Check that a problem has one kind of beta, and all of its components. */
static mg_status_t check_fields(mg_h5_t *file, const mg_input_source_t *source,
                                const mg_input_t *input) {
  int n = 0, faces = 0;
  char held[300];
  for (int field = source->from; field < source->end; field++) {
    const bool there = input->place[field].path[0] != '\0';
    n += there;
    faces += there && field >= MG_INPUT_BETA_I && field <= MG_INPUT_BETA_K;
  }
  if (n == 0) {
    mg_h5_name_datasets(file, held, (int)sizeof held);
    return mg_error(
        MG_ERR_IO, "--%s=%s has no %s in /VTKHDF/CellData; %s", source->option, source->path,
        source->from == MG_INPUT_F ? "f" : "alpha, beta, beta_i, beta_j or beta_k", held);
  }
  if (faces != 0 && faces != 3)
    return mg_error(MG_ERR_IO,
                    "--%s=%s has %d of beta_i, beta_j and beta_k; all three are required",
                    source->option, source->path, faces);
  if (source->from <= MG_INPUT_BETA && faces == 3 && input->place[MG_INPUT_BETA].path[0] != '\0')
    return mg_error(
        MG_ERR_IO,
        "--%s=%s has both cell beta and face beta_i, beta_j, beta_k; remove one of the two",
        source->option, source->path);
  return MG_OK;
}

/* On the calling rank only. */
static mg_status_t look_into(const mg_input_source_t *source, const mg_params_t *params,
                             mg_input_t *input) {
  mg_h5_t *file;
  const char *why = mg_path_why_unreadable(source->path);
  if (why)
    return mg_error(MG_ERR_IO, "--%s=%s cannot be opened: %s", source->option, source->path, why);
  MG_TRY(mg_h5_open_alone(source->option, source->path, &file));
  mg_status_t status = find_fields(file, source, params, input);
  if (status == MG_OK) status = check_fields(file, source, input);
  return mg_status_worst(status, mg_h5_close(file));
}

static bool has_walls(const mg_input_t *input) {
  bool any = false;
  for (int d = 0; d < 3; d++)
    any = any || input->wall[d][0] || input->wall[d][1];
  return any;
}

/* Whether a grid is a cube of cubic cells, as far as the file states their widths. */
static bool is_cube_of_cubes(const mg_input_t *input) {
  const double *h = input->h, tolerance = 1e-6 * h[0];
  return mg_is_cube(input->n) && fabs(h[1] - h[0]) <= tolerance && fabs(h[2] - h[0]) <= tolerance;
}

/* Whether the files are solved in boxes, as the unit cube. The width of their cells is ignored
 * then. */
static bool is_unit_cube(const mg_params_t *params, const mg_input_t *input) {
  int64_t below, above;
  mg_plan_nearest_sizes(input->n[0], &below, &above);
  return !mg_params_has_cells(params) && input->length[0] == 0.0 && !has_walls(input) &&
         is_cube_of_cubes(input) && below == input->n[0];
}

static double width(const mg_input_t *input, int d, int32_t cell) {
  const double *face = input->axes.face[d];
  if (face) return face[cell + 1] - face[cell];
  return input->length[d] > 0.0 ? input->length[d] / input->n[d] : input->h[d];
}

/* Check that both files state the same widths, unless options or the unit cube replace them. */
static mg_status_t compare_widths(const mg_params_t *params, const mg_input_t *first,
                                  const mg_input_t *second) {
  const bool is_stretched = first->length[0] > 0.0 || second->length[0] > 0.0;
  const bool has_options = params->log2_box_dim != 0 || params->boxes_per_rank != 0 ||
                           params->spacing[0] > 0.0 || params->length[0] > 0.0;
  if (!states_widths(first) || !states_widths(second)) return MG_OK;
  if (!is_stretched && has_options) return MG_OK;
  if (is_unit_cube(params, first) && is_unit_cube(params, second)) return MG_OK;
  for (int d = 0; d < 3; d++)
    for (int32_t cell = 0; cell < first->n[d]; cell++) {
      const double a = width(first, d, cell), b = width(second, d, cell);
      const char axis = "xyz"[d];
      if (fabs(a - b) > 1e-6 * a)
        return mg_error(MG_ERR_IO,
                        "cell %d in %c has width %.9g in --coefficients=%s, but %.9g in --rhs=%s; "
                        "make Spacing or /grid of both files equal, or remove that of one",
                        (int)cell, axis, a, params->coefficients, b, params->rhs);
    }
  return MG_OK;
}

/* Widths are those of the first file that states them. */
static mg_status_t look_into_all(const mg_params_t *params, mg_input_t *input) {
  const mg_input_source_t coefficients = mg_input_coefficients(params), rhs = mg_input_rhs(params);
  *input = (mg_input_t){0};
  if (coefficients.path[0] != '\0') MG_TRY(look_into(&coefficients, params, input));
  if (rhs.path[0] == '\0') return MG_OK;
  const mg_input_t first = *input;
  input->axes = (mg_axes_t){{NULL}};
  memset(input->h, 0, sizeof input->h);
  memset(input->length, 0, sizeof input->length);
  mg_status_t status = look_into(&rhs, params, input);
  if (status == MG_OK) status = compare_widths(params, &first, input);
  if (!states_widths(&first)) return status;
  mg_axes_free(&input->axes);
  input->axes = first.axes;
  memcpy(input->h, first.h, sizeof input->h);
  memcpy(input->length, first.length, sizeof input->length);
  return status;
}

/* Send rank 0's axes to all ranks. */
static mg_status_t share_axes(mg_input_t *input) {
  for (int d = 0; d < 3; d++) {
    double *face = mg_comm_is_root() ? input->axes.face[d] : NULL;
    const bool there = input->axes.face[d] != NULL;
    input->axes.face[d] = face;
    if (!there) continue;
    MG_TRY(mg_comm_agree(
        face ? MG_OK
             : mg_new(&input->axes.face[d], (int64_t)input->n[d] + 1, "positions of faces")));
    MG_TRY(mg_comm_broadcast(mg_comm_world(), input->axes.face[d],
                             ((size_t)input->n[d] + 1) * sizeof(double)));
  }
  return MG_OK;
}

/* Options cannot change the axes of a file, and values on sides require --cells. */
static mg_status_t check_options(const mg_params_t *params, const mg_input_t *input) {
  const double *stretch = params->stretch;
  const bool has_axes = input->length[0] > 0.0, has_cells = mg_params_has_cells(params);
  const char *option = (has_axes || has_walls(input)) && !has_cells               ? "LOG2_BOX_DIM"
                       : !has_axes                                                ? NULL
                       : stretch[0] > 0.0 || stretch[1] > 0.0 || stretch[2] > 0.0 ? "--stretch"
                       : params->spacing[0] > 0.0                                 ? "--spacing"
                                                                                  : NULL;
  if (!option) return MG_OK;
  if (!mg_comm_is_root()) return MG_ERR_USAGE;
  return mg_error(MG_ERR_USAGE, "%s cannot be combined with a file that has %s; drop it", option,
                  has_axes ? "/grid with cells of different widths" : "/boundary");
}

mg_status_t mg_input_open(mg_params_t *params, mg_input_t *input) {
  *input = (mg_input_t){0};
  if (!mg_params_has_files(params)) return MG_OK;
  MG_TRY(MG_ON_ROOT(look_into_all(params, input)));
  MG_TRY(mg_comm_broadcast(mg_comm_world(), input, sizeof *input));
  MG_TRY(share_axes(input));
  memcpy(params->side_varies, input->wall, sizeof params->side_varies);
  MG_TRY(check_options(params, input));
  if (input->place[MG_INPUT_ALPHA].path[0]) params->alpha_varies = true;
  return MG_OK;
}

bool mg_input_has_checksums(const mg_input_t *input, const mg_input_source_t *source) {
  return input->has_checksums[source->from == MG_INPUT_F];
}

mg_status_t mg_input_check_size(const mg_params_t *params, const mg_plan_t *plan,
                                const mg_input_t *input) {
  const int32_t *n = plan->level[0].layout.n;
  const mg_input_source_t source =
      params->coefficients[0] ? mg_input_coefficients(params) : mg_input_rhs(params);
  if (input->n[0] == 0 || memcmp(input->n, n, sizeof input->n) == 0) return MG_OK;
  if (!mg_comm_is_root()) return MG_ERR_USAGE;
  if (params->restart[0] != '\0')
    return mg_error(
        MG_ERR_USAGE,
        "--restart=%s, or LOG2_BOX_DIM and BOXES_PER_RANK, give %s cells, but --%s=%s has "
        "%s; use files of one grid size",
        params->restart, mg_grid(n).text, source.option, source.path, mg_grid(input->n).text);
  return mg_error(MG_ERR_USAGE, "%s %s cells, but --%s=%s has %s; drop or change %s",
                  mg_params_has_cells(params) ? "--cells gives"
                                              : "LOG2_BOX_DIM and BOXES_PER_RANK give",
                  mg_grid(n).text, source.option, source.path, mg_grid(input->n).text,
                  mg_params_has_cells(params) ? "it" : "them");
}

/* --- settings -------------------------------------------------------------------------- */

/* A grid that is no cube of boxes. */
static void add_cells(mg_settings_t *list, const mg_input_t *input, const mg_params_t *params) {
  char text[128];
  snprintf(text, sizeof text, "%dx%dx%d", (int)input->n[0], (int)input->n[1], (int)input->n[2]);
  mg_settings_add(list, "cells", text, true);
  if (input->length[0] > 0.0) {
    const mg_params_t of_file = {.length = {input->length[0], input->length[1], input->length[2]}};
    mg_option_format(mg_option_find("lengths"), &of_file, text, (int)sizeof text);
    mg_settings_add(list, "lengths", text, true);
    return;
  }
  snprintf(text, sizeof text, "%.17g,%.17g,%.17g", input->h[0], input->h[1], input->h[2]);
  if (input->h[0] > 0.0 && params->length[0] == 0.0) mg_settings_add(list, "spacing", text, false);
}

/* Use the largest possible boxes. Box size affects results only where fv4's wall formulas fall
 * back. */
static mg_status_t add_size(mg_settings_t *list, const mg_input_source_t *source,
                            const mg_input_t *input, const mg_params_t *params, char *message,
                            int message_size) {
  const int64_t cells = input->n[0];
  const int64_t ranks = params->ranks > 0 ? params->ranks : mg_comm_size(mg_comm_world());
  int64_t box = cells & -cells, boxes;
  int log2_box_dim;
  if (params->log2_box_dim != 0 || params->boxes_per_rank != 0) return MG_OK;
  if (!is_unit_cube(params, input)) {
    add_cells(list, input, params);
    return MG_OK;
  }
  if (box > MG_MAX_BOX_DIM) box = MG_MAX_BOX_DIM;
  if (!mg_plan_find_boxes(cells, box, ranks, &log2_box_dim, &boxes)) {
    snprintf(message, (size_t)message_size,
             "--%s=%.150s has %lld^3 cells, too few for %lld ranks; use fewer ranks",
             source->option, source->path, (long long)cells, (long long)ranks);
    return MG_ERR_USAGE;
  }
  mg_settings_add_integer(list, "log2-box-dim", log2_box_dim);
  mg_settings_add_integer(list, "boxes-per-rank", boxes);
  return MG_OK;
}

static mg_status_t settings_of(const mg_input_source_t *source, const mg_params_t *params,
                               mg_settings_t *list, mg_input_t *input, char *message,
                               int message_size) {
  message[0] = '\0'; /* errors in the file have been logged */
  if (!mg_h5_available()) {
    snprintf(message, (size_t)message_size,
             "--%s requires a build with HDF5; install libhdf5-openmpi-dev (or libhdf5-dev) and "
             "reconfigure",
             source->option);
    return MG_ERR_USAGE;
  }
  const bool is_rhs = source->from == MG_INPUT_F;
  mg_status_t status = is_rhs ? look_into_all(params, input) : look_into(source, params, input);
  /* The size may depend on both files: the second one adds it, unless the first is binding. */
  if (status == MG_OK && (is_rhs || params->rhs[0] == '\0' || input->length[0] > 0.0))
    status = add_size(list, source, input, params, message, message_size);
  mg_axes_free(&input->axes);
  return status;
}

mg_status_t mg_input_coefficients_settings(const mg_params_t *params,
                                           mg_setting_t settings[MG_MAX_SETTINGS], int *n,
                                           char *message, int message_size) {
  const mg_input_source_t source = mg_input_coefficients(params);
  mg_settings_t list = {settings, 0};
  mg_input_t input = {0};
  MG_TRY(settings_of(&source, params, &list, &input, message, message_size));
  if (input.place[MG_INPUT_ALPHA].path[0]) mg_settings_add(&list, "equation", "helmholtz", true);
  /* Defaults that converge for jumping coefficients: symmetric, with P0 and without the
   * quadratic wall formula. */
  mg_settings_add(&list, "operator", "7pt", false);
  mg_settings_add(&list, "smoother", "chebyshev", false);
  mg_settings_add(&list, "krylov", "cg", false);
  mg_settings_add(&list, "cycle", "v", false);
  *n = list.n;
  return MG_OK;
}

mg_status_t mg_input_rhs_settings(const mg_params_t *params, mg_setting_t settings[MG_MAX_SETTINGS],
                                  int *n, char *message, int message_size) {
  const mg_input_source_t source = mg_input_rhs(params);
  mg_settings_t list = {settings, 0};
  mg_input_t input = {0};
  const mg_status_t status = settings_of(&source, params, &list, &input, message, message_size);
  *n = list.n;
  return status;
}
