/* Metadata of a dump: the grid, the problem, and the run that wrote it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "formulas/index.h"
#include "git_version.h"
#include "io/dump_parts.h"
#include "io/input.h"
#include "io/stored_sums.h"
#include "params/params_table.h"
#include "params/params_value.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

/* A sequence of calls on one file; after the first failure, the rest do nothing. */
typedef struct {
  mg_h5_t *file;
  mg_status_t status;
} writer_t;

/* Name of the attribute that stores an option. */
static void name_attribute(const mg_option_t *option, char *text, int text_size) {
  snprintf(text, (size_t)text_size, "%s", option->attribute ? option->attribute : option->name);
  for (char *c = text; *c; c++)
    if (*c == '-') *c = '_';
}

static void group(writer_t *w, const char *path) {
  if (w->status == MG_OK) w->status = mg_h5_group(w->file, path);
}
static void put(writer_t *w, const char *where, const char *name, mg_h5_type_t type,
                const void *values, int n) {
  if (w->status == MG_OK) w->status = mg_h5_put(w->file, where, name, type, values, n);
}
static void text(writer_t *w, const char *where, const char *name, const char *value) {
  put(w, where, name, MG_H5_TEXT, value, 1);
}
static void integer(writer_t *w, const char *where, const char *name, int64_t value) {
  put(w, where, name, MG_H5_INT64, &value, 1);
}
static void number(writer_t *w, const char *name, double value) {
  put(w, MG_DUMP_OURS, name, MG_H5_DOUBLE, &value, 1);
}

static const char vtk[] = "/VTKHDF", ours[] = MG_DUMP_OURS;

/* A grid of cells of different widths, whose coordinates dump_write.c writes. */
static void put_rectilinear(writer_t *w, const mg_level_plan_t *level, bool cells) {
  const int64_t version[2] = {2, 8};
  int64_t points[3];
  for (int d = 0; d < 3; d++)
    points[d] = level->layout.n[d] + (cells ? 1 : 0);
  put(w, vtk, "Version", MG_H5_INT64, version, 2);
  text(w, vtk, "Type", "RectilinearGrid");
  put(w, vtk, "Dimensions", MG_H5_INT64, points, 3);
  group(w, "/grid");
}

/* The domain as VTK expects it. With point centring, the points are the cell centers. */
static void put_image(writer_t *w, const mg_params_t *params, const mg_level_plan_t *level,
                      bool cells) {
  const int32_t *n = level->layout.n;
  const int64_t version[2] = {1, 0};
  int64_t extent[6] = {0};
  double origin[3], spacing[3];
  for (int d = 0; d < 3; d++) {
    spacing[d] = level->h[d];
    origin[d] = params->origin[d] + (cells ? 0.0 : 0.5 * spacing[d]);
    extent[2 * d + 1] = cells ? n[d] : n[d] - 1;
  }
  const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  put(w, vtk, "Version", MG_H5_INT64, version, 2);
  text(w, vtk, "Type", "ImageData");
  put(w, vtk, "WholeExtent", MG_H5_INT64, extent, 6);
  put(w, vtk, "Origin", MG_H5_DOUBLE, origin, 3);
  put(w, vtk, "Spacing", MG_H5_DOUBLE, spacing, 3);
  put(w, vtk, "Direction", MG_H5_DOUBLE, direction, 9);
}

static void put_grid(writer_t *w, const mg_params_t *params, const mg_level_plan_t *level) {
  const bool cells = params->dump_centering == MG_CENTERING_CELL;
  group(w, vtk);
  if (mg_plan_is_even(level, params, 0))
    put_image(w, params, level, cells);
  else
    put_rectilinear(w, level, cells);
  group(w, cells ? "/VTKHDF/CellData" : "/VTKHDF/PointData");
}

/* A cube is described by its cells per side; any other grid also by its cells in i, j, k. */
static void put_cells(writer_t *w, const char *where, const int32_t n[3]) {
  const int64_t cells[3] = {n[0], n[1], n[2]};
  integer(w, where, "cells", n[0]);
  if (!mg_is_cube(n)) put(w, where, MG_DUMP_CELLS_IJK, MG_H5_INT64, cells, 3);
}

/* An option in a dump, and its name there. */
static mg_h5_type_t type_of(const mg_option_t *option, char name[64]) {
  name_attribute(option, name, 64);
  return option->kind == MG_KIND_DOUBLE ? MG_H5_DOUBLE
         : option->kind == MG_KIND_INT  ? MG_H5_INT64
                                        : MG_H5_TEXT;
}

static void put_setting(writer_t *w, const mg_option_t *option, const mg_params_t *p) {
  const void *field = (const char *)p + option->offset;
  char name[64], value[MG_BOUNDARY_TEXT_MAX];
  const mg_h5_type_t type = type_of(option, name);
  if (type == MG_H5_DOUBLE)
    put(w, ours, name, type, field, 1);
  else if (type == MG_H5_INT64)
    integer(w, ours, name, *(const int *)field);
  else if (mg_option_format(option, p, value, (int)sizeof value))
    text(w, ours, name, value);
}

static bool is_setting(const mg_option_t *option) {
  return option->in_dump || option->in_later_dumps;
}

mg_status_t mg_dump_get_setting(mg_h5_t *file, const mg_option_t *option, char *text, int size) {
  char name[64];
  union {
    int64_t integer;
    double number;
  } value;
  bool there = true, *optional = option->in_later_dumps ? &there : NULL;
  if (!is_setting(option)) return MG_OK;
  const mg_h5_type_t type = type_of(option, name);
  if (type == MG_H5_TEXT) {
    const int most = option->kind == MG_KIND_WORD ? MG_DUMP_WORD : size;
    return mg_h5_get(file, ours, name, type, text, most, optional);
  }
  MG_TRY(
      mg_h5_get(file, ours, name, type == MG_H5_DOUBLE ? MG_H5_NUMBER : type, &value, 1, optional));
  if (there && type == MG_H5_DOUBLE)
    snprintf(text, (size_t)size, "%.17g", value.number);
  else if (there)
    snprintf(text, (size_t)size, "%lld", (long long)value.integer);
  return MG_OK;
}

/* Describe machine and time. All ranks must write the same text, so rank 0 broadcasts its own. */
static mg_status_t put_run(writer_t *w, const mg_dump_about_t *about) {
  struct {
    char date[32], host[256], command_line[4096];
    int threads;
  } said = {{0}, {0}, {0}, about->threads};
  const time_t now = time(NULL);
  struct tm utc;
  if (!gmtime_r(&now, &utc) ||
      strftime(said.date, sizeof said.date, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
    snprintf(said.date, sizeof said.date, "unknown");
  snprintf(said.host, sizeof said.host, "%s", mg_comm_host());
  snprintf(said.command_line, sizeof said.command_line, "%s", about->command_line);
  MG_TRY(mg_comm_broadcast(mg_comm_world(), &said, sizeof said));
  text(w, ours, "program", PACKAGE_STRING);
  text(w, ours, "commit", MG_BUILD_GIT);
  text(w, ours, "date", said.date);
  text(w, ours, "host", said.host);
  text(w, ours, "command_line", said.command_line);
  integer(w, ours, "ranks", mg_comm_size(mg_comm_world()));
  integer(w, ours, "threads", said.threads);
  return MG_OK;
}

static void put_result(writer_t *w, const mg_dump_about_t *about) {
  const mg_result_t *r = about->result;
  integer(w, ours, "cycles", about->history->n_cycles);
  put(w, ours, "residual_norms", MG_H5_DOUBLE, about->history->norm, about->history->n_cycles);
  number(w, "f_norm", about->f_norm);
  if (about->reference_norm > 0.0) number(w, "reference_norm", about->reference_norm);
  text(w, ours, "verification", !r ? "not yet" : r->passed ? "passed" : "failed");
  number(w, "error", r ? r->error : NAN);
  number(w, "order", r ? r->order : NAN);
}

/* A user-defined problem is not stored in the dump: record its files and checksum. */
static void put_files(writer_t *w, const mg_params_t *p, const mg_dump_about_t *about) {
  if (!mg_params_has_files(p)) return;
  if (p->coefficients[0]) text(w, ours, "coefficients", p->coefficients);
  if (p->rhs[0]) text(w, ours, "rhs", p->rhs);
  integer(w, ours, "problem_checksum", about->problem_checksum);
}

static void put_checksums(writer_t *w, const mg_params_t *p, bool is_even) {
  char list[MG_SUMS_LIST_MAX] = "";
  for (int walls = 0; walls < 2; walls++)
    for (int f = 0; f < MG_N_FIELDS; f++)
      if (mg_dump_wants(p, (mg_field_t)f) && (!walls || mg_dump_wants_wall(p, (mg_field_t)f)))
        mg_append(list, sizeof list, "%s%s%s", list[0] ? " " : "", walls ? "walls/" : "",
                  mg_field_name((mg_field_t)f));
  for (int d = 0; d < 3 && !is_even; d++)
    mg_append(list, sizeof list, " grid/%c %cCoordinates", "xyz"[d], "XYZ"[d]);
  for (int side = 0; side < 6 && mg_dump_wants_sides(p); side++)
    if (p->side[side / 2][side % 2].varies)
      mg_append(list, sizeof list, " %s", mg_sums_word(mg_input_wall_path(side / 2, side % 2)));
  text(w, ours, MG_SUMS_LIST, list);
}

mg_status_t mg_dump_put_head(mg_h5_t *file, const mg_hierarchy_t *h, const mg_dump_about_t *about) {
  const mg_params_t *p = &h->params;
  const bool is_even = mg_plan_is_even(&h->plan.level[0], p, 0);
  writer_t w = {file, MG_OK};
  put_grid(&w, p, &h->plan.level[0]);
  group(&w, ours);
  integer(&w, ours, "format_version", MG_FORMAT_VERSION);
  MG_TRY(put_run(&w, about));
  put_cells(&w, ours, h->plan.level[0].layout.n);
  integer(&w, ours, "box_cells", h->plan.level[0].layout.box_dim);
  for (int id = 0; id < MG_N_OPTIONS; id++)
    if (is_setting(&mg_options[id])) put_setting(&w, &mg_options[id], p);
  put_result(&w, about);
  text(&w, ours, "precision", p->dump_precision == MG_PRECISION_FLOAT ? "float" : "double");
  text(&w, ours, "centering", p->dump_centering == MG_CENTERING_POINT ? "point" : "cell");
  put_files(&w, p, about);
  put_checksums(&w, p, is_even);
  if (w.status == MG_OK) w.status = mg_sums_put_attributes(file);
  group(&w, "/HPGMG/checksums");
  if (!is_even) group(&w, "/HPGMG/checksums/grid");
  if (mg_dump_wants_sides(p)) {
    group(&w, "/boundary");
    group(&w, "/HPGMG/checksums/boundary");
  }
  if (mg_dump_wants_wall(p, MG_N_FIELDS)) {
    group(&w, "/HPGMG/walls");
    group(&w, "/HPGMG/checksums/walls");
  }
  group(&w, "/HPGMG/levels");
  for (int l = 0; l < h->n_levels; l++) {
    char path[MG_DATA_PATH_MAX];
    if (!mg_dump_wants_level(p, l)) continue;
    snprintf(path, sizeof path, "/HPGMG/checksums/level_%d", l);
    group(&w, path);
    if (l == 0) continue;
    snprintf(path, sizeof path, "/HPGMG/levels/level_%d", l);
    group(&w, path);
    put_cells(&w, path, h->plan.level[l].layout.n);
  }
  return w.status;
}
