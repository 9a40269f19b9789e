/* Metadata of a dump: the grid, the problem, and the run that wrote it. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "formulas/index.h"
#include "git_version.h"
#include "io/axes_io.h"
#include "io/dump_parts.h"
#include "io/input.h"
#include "io/stored_sums.h"
#include "params/params_table.h"
#include "params/params_value.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A sequence of calls on one file; after the first failure, the rest do nothing. */
typedef struct {
  mg_h5_t *file;
  mg_status_t status;
} writer_t;

static void group(writer_t *w, const char *path) {
  if (w->status == MG_OK) w->status = mg_h5_group(w->file, path);
}
static void text(writer_t *w, const char *where, const char *name, const char *value) {
  if (w->status == MG_OK) w->status = mg_h5_put_text(w->file, where, name, value);
}
static void integers(writer_t *w, const char *where, const char *name, const int64_t *values,
                     int n) {
  if (w->status == MG_OK) w->status = mg_h5_put_integers(w->file, where, name, values, n);
}
static void integer(writer_t *w, const char *where, const char *name, int64_t value) {
  integers(w, where, name, &value, 1);
}
static void doubles(writer_t *w, const char *where, const char *name, const double *values, int n) {
  if (w->status == MG_OK) w->status = mg_h5_put_doubles(w->file, where, name, values, n);
}
static void number(writer_t *w, const char *where, const char *name, double value) {
  doubles(w, where, name, &value, 1);
}

static const char vtk[] = "/VTKHDF", ours[] = MG_DUMP_OURS;

/* A grid of cells of different widths, whose coordinates axes_io.c writes. */
static void put_rectilinear(writer_t *w, const mg_level_plan_t *level, bool cells) {
  const int64_t version[2] = {2, 8};
  int64_t points[3];
  for (int d = 0; d < 3; d++)
    points[d] = level->layout.n[d] + (cells ? 1 : 0);
  integers(w, vtk, "Version", version, 2);
  text(w, vtk, "Type", "RectilinearGrid");
  integers(w, vtk, "Dimensions", points, 3);
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
  integers(w, vtk, "Version", version, 2);
  text(w, vtk, "Type", "ImageData");
  integers(w, vtk, "WholeExtent", extent, 6);
  doubles(w, vtk, "Origin", origin, 3);
  doubles(w, vtk, "Spacing", spacing, 3);
  doubles(w, vtk, "Direction", direction, 9);
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
  if (!mg_is_cube(n)) integers(w, where, MG_DUMP_CELLS_IJK, cells, 3);
}

static void put_setting(writer_t *w, const mg_option_t *option, const mg_params_t *p) {
  const char *field = (const char *)p + option->offset;
  char name[64], value[MG_BOUNDARY_TEXT_MAX];
  int integral;
  double real;
  mg_option_attribute(option, name, (int)sizeof name);
  switch (option->kind) {
  case MG_KIND_CELLS:
  case MG_KIND_REALS:
  case MG_KIND_STRETCH:
    if (!mg_params_has_cells(p)) return;
    /* fall through */
  case MG_KIND_SIDES:
  case MG_KIND_WORD:
    if (mg_option_format(option, p, value, (int)sizeof value)) text(w, ours, name, value);
    return;
  case MG_KIND_DOUBLE:
    memcpy(&real, field, sizeof real);
    number(w, ours, name, real);
    return;
  default:
    memcpy(&integral, field, sizeof integral);
    integer(w, ours, name, integral);
  }
}

static void put_settings(writer_t *w, const mg_params_t *p) {
  for (int id = 0; id < MG_N_OPTIONS; id++)
    if (mg_options[id].in_dump || mg_options[id].in_later_dumps) put_setting(w, &mg_options[id], p);
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
  doubles(w, ours, "residual_norms", about->history->norm, about->history->n_cycles);
  number(w, ours, "f_norm", about->f_norm);
  if (about->reference_norm > 0.0) number(w, ours, "reference_norm", about->reference_norm);
  text(w, ours, "verification", !r ? "not yet" : r->passed ? "passed" : "failed");
  number(w, ours, "error", r ? r->error : NAN);
  number(w, ours, "order", r ? r->order : NAN);
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
  const char *const before[2] = {"", "walls/"};
  for (int walls = 0; walls < 2; walls++)
    for (int field = 0; field < MG_N_FIELDS; field++) {
      if (!mg_dump_wants(p, (mg_field_t)field)) continue;
      if (walls && !mg_dump_wants_wall(p, (mg_field_t)field)) continue;
      mg_append(list, sizeof list, "%s%s%s", list[0] ? " " : "", before[walls],
                mg_field_name((mg_field_t)field));
    }
  for (int d = 0; d < 3 && !is_even; d++)
    mg_append(list, sizeof list, " grid/%c %cCoordinates", "xyz"[d], "XYZ"[d]);
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2 && mg_dump_wants_sides(p); side++)
      if (p->side[d][side].varies)
        mg_append(list, sizeof list, " %s", mg_input_wall_path(d, side) + 1);
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
  put_settings(&w, p);
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
