#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "dump.h"
#include "field_io.h"
#include "git_version.h"
#include "log.h"
#include "ops.h"
#include "walls_io.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const mg_vector_t vector_of[MG_N_FIELDS] = {
    [MG_FIELD_U] = MG_U,           [MG_FIELD_F] = MG_F,           [MG_FIELD_RESIDUAL] = MG_TMP,
    [MG_FIELD_BETA_I] = MG_BETA_I, [MG_FIELD_BETA_J] = MG_BETA_J, [MG_FIELD_BETA_K] = MG_BETA_K,
    [MG_FIELD_DINV] = MG_DINV,     [MG_FIELD_ALPHA] = MG_ALPHA};

static mg_status_t agree(mg_status_t status) {
  return mg_comm_agree(mg_comm_world(), status);
}

static bool speaks(void) {
  return mg_comm_rank(mg_comm_world()) == 0;
}

bool mg_dump_wants(const mg_params_t *params, mg_field_t field) {
  if (field == MG_FIELD_ALPHA && !params->alpha_varies) return false;
  return (params->dump_fields & 1u << field) != 0;
}

static bool wants_field(const mg_params_t *params, int field) {
  return mg_dump_wants(params, (mg_field_t)field);
}

static bool wants_level(const mg_params_t *params, int level) {
  return (params->dump_levels & 1u << level) != 0;
}

/* --- names ----------------------------------------------------------------------------- */

void mg_dump_data_path(const mg_params_t *params, int level, mg_field_t field,
                       char path[MG_DATA_PATH_MAX]) {
  const char *data = params->dump_centering == MG_CENTERING_CELL ? "CellData" : "PointData";
  if (level == 0)
    snprintf(path, MG_DATA_PATH_MAX, "/VTKHDF/%s/%s", data, mg_field_name(field));
  else
    snprintf(path, MG_DATA_PATH_MAX, "/HPGMG/levels/level_%d/%s", level, mg_field_name(field));
}

static void digest_path(int level, int field, char path[MG_DATA_PATH_MAX]) {
  snprintf(path, MG_DATA_PATH_MAX, "/HPGMG/checksums/level_%d/%s", level,
           mg_field_name((mg_field_t)field));
}

/* --- before a run ---------------------------------------------------------------------- */

static int64_t bytes_of(const mg_params_t *params, const mg_plan_t *plan) {
  const int64_t size =
      params->dump_precision == MG_PRECISION_FLOAT ? sizeof(float) : sizeof(double);
  int64_t bytes = 0;
  for (int l = 0; l < plan->n_levels; l++)
    for (int field = 0; field < MG_N_FIELDS; field++) {
      const int64_t n = plan->level[l].layout.n;
      if (wants_level(params, l) && wants_field(params, field)) bytes += n * n * n * size;
    }
  return bytes;
}

/* What is compressed takes less, and nobody knows how much. */
static int64_t room_for(const mg_params_t *params, const mg_plan_t *plan) {
  enum { METADATA_BYTES = 1 << 16 };
  return params->dump_compress > 0 ? METADATA_BYTES : bytes_of(params, plan) + METADATA_BYTES;
}

/* All levels are those that there are; a number beyond them is a mistake. */
static mg_status_t check_levels(const mg_params_t *params, const mg_plan_t *plan) {
  if (params->dump_levels == (1u << MG_MAX_LEVELS) - 1) return MG_OK;
  for (int l = plan->n_levels; l < MG_MAX_LEVELS; l++)
    if (wants_level(params, l))
      return mg_error(MG_ERR_USAGE, "--dump-levels names level %d; this run has levels 0 to %d", l,
                      plan->n_levels - 1);
  return MG_OK;
}

/* All fields are those that there are; an alpha that was asked for by name is missed. */
static mg_status_t check_alpha(const mg_params_t *params) {
  const unsigned all = (1u << MG_N_FIELDS) - 1;
  if (params->alpha_varies || params->dump_fields == all ||
      !(params->dump_fields & 1u << MG_FIELD_ALPHA))
    return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "--dump-fields names alpha, which is %s everywhere in this run; it "
                  "is a field where the file of --coefficients has one",
                  params->equation == MG_EQUATION_HELMHOLTZ ? "1" : "0");
}

/* Can a file be written at `path`, and the text that goes with it? */
static mg_status_t check_name(const mg_params_t *params, const mg_plan_t *plan, const char *path) {
  mg_whole_file_t file;
  char xdmf[MG_REAL_PATH_MAX + sizeof MG_XDMF_ENDING];
  MG_TRY(mg_whole_file_prepare("dump", path, room_for(params, plan), &file));
  snprintf(xdmf, sizeof xdmf, "%s" MG_XDMF_ENDING, file.final);
  return mg_whole_file_prepare("dump", xdmf, 0, &file);
}

mg_status_t mg_dump_check(const mg_params_t *params, const mg_plan_t *plan) {
  char numbered[MG_PATH_MAX];
  if (!params->dump[0]) return MG_OK;
  if (!mg_h5_available())
    return mg_error(MG_ERR_USAGE, "--dump needs HDF5, which this build was configured without; "
                                  "install libhdf5-openmpi-dev (or libhdf5-dev) and configure "
                                  "again, or drop --dump");
  MG_TRY(check_levels(params, plan));
  MG_TRY(check_alpha(params));
  MG_TRY(check_name(params, plan, params->dump));
  if (params->dump_every == 0) return MG_OK;
  mg_dump_numbered(params->dump, params->max_cycles, numbered);
  return check_name(params, plan, numbered);
}

/* --- what the file says of itself ------------------------------------------------------ */

/* Calls in a row on one file: after the first that fails nothing more is done. */
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

static const char vtk[] = "/VTKHDF", ours[] = "/HPGMG";

/* The unit cube as VTK wants it. As points, the cells' centres. */
static void put_image(writer_t *w, const mg_params_t *params, int32_t n) {
  const bool cells = params->dump_centering == MG_CENTERING_CELL;
  const int64_t version[2] = {1, 0}, last = cells ? n : n - 1;
  const int64_t extent[6] = {0, last, 0, last, 0, last};
  const double h = 1.0 / n, at = cells ? 0.0 : 0.5 * h;
  const double origin[3] = {at, at, at}, spacing[3] = {h, h, h};
  const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  group(w, vtk);
  integers(w, vtk, "Version", version, 2);
  text(w, vtk, "Type", "ImageData");
  integers(w, vtk, "WholeExtent", extent, 6);
  doubles(w, vtk, "Origin", origin, 3);
  doubles(w, vtk, "Spacing", spacing, 3);
  doubles(w, vtk, "Direction", direction, 9);
  group(w, cells ? "/VTKHDF/CellData" : "/VTKHDF/PointData");
}

static void put_problem(writer_t *w, const mg_params_t *p) {
  text(w, ours, "operator", mg_operator_name(p->op));
  text(w, ours, "equation", mg_equation_name(p->equation));
  text(w, ours, "boundary", mg_boundary_name(p->boundary));
  text(w, ours, "smoother", mg_smoother_name(p->smoother));
  integer(w, ours, "smooths", p->smooths);
  integer(w, ours, "degree", p->degree);
  text(w, ours, "bottom", mg_bottom_name(p->bottom));
  text(w, ours, "cycle", mg_cycle_name(p->cycle));
  integer(w, ours, "coarsest", p->coarsest);
  number(w, ours, "rtol", p->rtol);
  integer(w, ours, "max_cycles", p->max_cycles);
  text(w, ours, "krylov", mg_krylov_name(p->krylov));
}

/* Of the machine and the moment: rank 0's words on every rank, since all must write the same. */
static mg_status_t put_run(writer_t *w, const mg_dump_about_t *about) {
  struct {
    char date[32], host[256], command_line[4096];
  } said = {{0}, {0}, {0}};
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
  integer(w, ours, "threads", about->threads);
  return MG_OK;
}

static void put_result(writer_t *w, const mg_dump_about_t *about) {
  const mg_result_t *r = about->result;
  integer(w, ours, "cycles", about->history->n_cycles);
  doubles(w, ours, "residual_norms", about->history->norm, about->history->n_cycles);
  number(w, ours, "f_norm", about->f_norm);
  text(w, ours, "verification", !r ? "not yet" : r->passed ? "passed" : "failed");
  number(w, ours, "error", r ? r->error : NAN);
  number(w, ours, "order", r ? r->order : NAN);
}

/* The user's problem is not in the file: where it is, and what belongs to it. */
static void put_files(writer_t *w, const mg_params_t *p, const mg_dump_about_t *about) {
  if (!mg_params_has_files(p)) return;
  if (p->coefficients[0]) text(w, ours, "coefficients", p->coefficients);
  if (p->rhs[0]) text(w, ours, "rhs", p->rhs);
  integer(w, ours, "problem_checksum", about->problem_checksum);
}

/* Are there faces that no field of cells has room for? */
static bool wants_walls(const mg_params_t *p) {
  const unsigned betas = 1u << MG_FIELD_BETA_I | 1u << MG_FIELD_BETA_J | 1u << MG_FIELD_BETA_K;
  return p->boundary == MG_BOUNDARY_DIRICHLET && wants_level(p, 0) && (p->dump_fields & betas);
}

static mg_status_t put_head(mg_h5_t *file, const mg_hierarchy_t *h, const mg_dump_about_t *about) {
  const mg_params_t *p = &h->params;
  writer_t w = {file, MG_OK};
  put_image(&w, p, h->plan.level[0].layout.n);
  group(&w, ours);
  integer(&w, ours, "format_version", MG_FORMAT_VERSION);
  MG_TRY(put_run(&w, about));
  integer(&w, ours, "cells", h->plan.level[0].layout.n);
  integer(&w, ours, "box_cells", h->plan.level[0].layout.box_dim);
  put_problem(&w, p);
  put_result(&w, about);
  text(&w, ours, "precision", p->dump_precision == MG_PRECISION_FLOAT ? "float" : "double");
  text(&w, ours, "centering", p->dump_centering == MG_CENTERING_POINT ? "point" : "cell");
  put_files(&w, p, about);
  group(&w, "/HPGMG/checksums");
  if (wants_walls(p)) group(&w, "/HPGMG/walls");
  group(&w, "/HPGMG/levels");
  for (int l = 0; l < h->n_levels; l++) {
    char path[MG_DATA_PATH_MAX];
    if (!wants_level(p, l)) continue;
    snprintf(path, sizeof path, "/HPGMG/checksums/level_%d", l);
    group(&w, path);
    if (l == 0) continue;
    snprintf(path, sizeof path, "/HPGMG/levels/level_%d", l);
    group(&w, path);
    integer(&w, path, "cells", h->plan.level[l].layout.n);
  }
  return w.status;
}

/* --- fields ---------------------------------------------------------------------------- */

/* Every field of a level, written or compared. */
static mg_status_t run_level(mg_hierarchy_t *h, int l, mg_h5_t *file, bool write) {
  mg_level_t *level = &h->level[l];
  mg_field_io_t io = {file, NULL, h->plan.level[l].layout.n, h->params.dump_precision,
                      h->params.dump_compress};
  const bool several = mg_h5_parallel() && mg_comm_size(mg_comm_world()) > 1;
  MG_TRY(mg_slabs_create(level, several ? mg_comm_size(mg_comm_world()) : 1, &io.slabs));
  mg_status_t status = MG_OK;
  for (int field = 0; field < MG_N_FIELDS && status == MG_OK; field++) {
    char path[MG_DATA_PATH_MAX], digests[MG_DATA_PATH_MAX];
    if (!wants_field(&h->params, field)) continue;
    mg_dump_data_path(&h->params, l, (mg_field_t)field, path);
    digest_path(l, field, digests);
    if (write && field == MG_FIELD_RESIDUAL)
      status = mg_comm_agree_or_end(mg_comm_world(), mg_residual(level, MG_TMP, MG_U, MG_F));
    if (status == MG_OK)
      status = write ? mg_field_write(&io, path, digests, (int)vector_of[field])
                     : mg_field_read(&io, path, digests, -1);
  }
  mg_slabs_free(io.slabs);
  return status;
}

static mg_status_t run_levels(mg_hierarchy_t *h, mg_h5_t *file, bool write) {
  for (int l = 0; l < h->n_levels; l++)
    if (wants_level(&h->params, l)) MG_TRY(run_level(h, l, file, write));
  return MG_OK;
}

/* --- the file -------------------------------------------------------------------------- */

/* One wall, written or compared. */
static mg_status_t run_wall(const mg_hierarchy_t *h, mg_h5_t *file, int d, bool write,
                            double *wall) {
  const int32_t n = h->plan.level[0].layout.n, rows = speaks() ? n : 0;
  const size_t size = (size_t)n * (size_t)n;
  double *stored = wall + size;
  char path[MG_DATA_PATH_MAX];
  mg_h5_data_t data;
  snprintf(path, sizeof path, "/HPGMG/walls/%s", mg_field_name((mg_field_t)(MG_FIELD_BETA_I + d)));
  MG_TRY(mg_walls_get(&h->level[0], d, wall));
  MG_TRY(agree(write ? mg_h5_data_create(file, path, MG_H5_DOUBLE, 2, n, 0, &data)
                     : mg_h5_data_open(file, path, MG_H5_DOUBLE, 2, n, &data)));
  mg_status_t status = agree(write ? mg_h5_write_planes(file, &data, 0, rows, wall)
                                   : mg_h5_read_planes(file, &data, 0, rows, stored));
  const mg_status_t closed = agree(mg_h5_data_close(file, &data));
  if (status == MG_OK && !write && rows > 0 && memcmp(wall, stored, size * sizeof *wall) != 0)
    status = mg_error(MG_ERR_IO, "%s has other values than were written", path);
  status = agree(status);
  return status != MG_OK ? status : closed;
}

static mg_status_t run_walls(const mg_hierarchy_t *h, mg_h5_t *file, bool write) {
  const size_t n = (size_t)h->plan.level[0].layout.n;
  if (!wants_walls(&h->params)) return MG_OK;
  double *wall = malloc(2 * n * n * sizeof *wall);
  mg_status_t status =
      agree(wall ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for the faces of a wall"));
  for (int d = 0; d < 3 && status == MG_OK; d++)
    if (wants_field(&h->params, MG_FIELD_BETA_I + d)) status = run_wall(h, file, d, write, wall);
  free(wall);
  return status;
}

/* Without `complete`, which comes last, a file is none. */
static mg_status_t write_all(mg_hierarchy_t *h, const char *path, const mg_dump_about_t *about) {
  mg_h5_t *file;
  mg_status_t status = agree(mg_h5_create(path, h->params.dump_hints, &file));
  if (status == MG_OK) status = agree(put_head(file, h, about));
  if (status == MG_OK) status = run_levels(h, file, true);
  if (status == MG_OK) status = run_walls(h, file, true);
  const int64_t complete = 1;
  if (status == MG_OK) status = agree(mg_h5_put_integers(file, ours, "complete", &complete, 1));
  const mg_status_t closed = agree(mg_h5_close(file));
  return status != MG_OK ? status : closed;
}

static mg_status_t check_complete(mg_h5_t *file) {
  int64_t complete = file ? 0 : 1;
  MG_TRY(mg_h5_get_integers(file, ours, "complete", &complete, 1));
  return complete == 1 ? MG_OK : mg_error(MG_ERR_IO, "the file that was written is not complete");
}

/* Some file systems and MPI libraries lose what does not fit without a word: read it back. */
static mg_status_t check_all(mg_hierarchy_t *h, const char *path) {
  mg_h5_t *file;
  mg_status_t status = agree(mg_h5_open(path, &file));
  if (status == MG_OK) status = agree(check_complete(file));
  if (status == MG_OK) status = run_levels(h, file, false);
  if (status == MG_OK) status = run_walls(h, file, false);
  const mg_status_t closed = agree(mg_h5_close(file));
  return status != MG_OK ? status : closed;
}

/* Rank 0's names on all ranks. */
static mg_status_t prepare(mg_hierarchy_t *h, const char *path, mg_whole_file_t *file) {
  memset(file, 0, sizeof *file);
  const mg_status_t status =
      speaks() ? mg_whole_file_prepare("dump", path, room_for(&h->params, &h->plan), file) : MG_OK;
  MG_TRY(agree(status));
  MG_TRY(mg_comm_broadcast(mg_comm_world(), file->temporary, sizeof file->temporary));
  return MG_OK;
}

mg_status_t mg_dump_write(mg_hierarchy_t *h, const char *path, const mg_dump_about_t *about,
                          mg_dump_stats_t *stats) {
  mg_whole_file_t file;
  MG_TRY(prepare(h, path, &file));
  mg_h5_drop_at_abort(file.temporary);
  const double start = mg_now();
  mg_status_t status = write_all(h, file.temporary, about);
  const double written = mg_now();
  if (status == MG_OK) status = check_all(h, file.temporary);
  const double checked = mg_now();
  mg_h5_drop_at_abort(NULL);
  if (speaks() && status == MG_OK) status = mg_whole_file_finish(&file);
  if (speaks() && status == MG_OK) status = mg_dump_write_xdmf(&h->params, &h->plan, file.final);
  if (speaks() && status != MG_OK) mg_whole_file_drop(&file);
  MG_TRY(agree(status));
  double seconds[2] = {written - start, checked - written};
  MG_TRY(mg_comm_max(mg_comm_world(), seconds, 2));
  stats->n_files++;
  stats->bytes += bytes_of(&h->params, &h->plan);
  stats->seconds_write += seconds[0];
  stats->seconds_check += seconds[1];
  return MG_OK;
}

/* --- a run's files --------------------------------------------------------------------- */

typedef struct {
  mg_hierarchy_t *h;
  mg_dump_about_t about;
  mg_dump_stats_t *stats;
} series_t;

static mg_status_t dump_cycle(void *data, const mg_history_t *history) {
  series_t *series = data;
  char path[MG_PATH_MAX];
  if (history->n_cycles % series->h->params.dump_every != 0) return MG_OK;
  series->about.history = history;
  mg_dump_numbered(series->h->params.dump, history->n_cycles, path);
  return mg_dump_write(series->h, path, &series->about, series->stats);
}

/* Digits are the same in every solve, so these are the states that the solve before went through.
 */
static mg_status_t dump_series(mg_hierarchy_t *h, const mg_dump_about_t *about,
                               mg_dump_stats_t *stats) {
  series_t series = {h, *about, stats};
  const mg_watch_t watch = {dump_cycle, mg_benchmark_ask, &series};
  mg_history_t *history = calloc(1, sizeof *history);
  MG_TRY(agree(history ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for a solve's history")));
  series.about.result = NULL;
  mg_status_t status = mg_solve_watched(h, 0, about->f_norm, &watch, history);
  if (status == MG_OK && history->stopped && !history->reached) {
    status = MG_ERR_INTERRUPTED;
    if (speaks())
      (void)mg_error(status, "--dump-every=%d: a signal ended the series after cycle %d",
                     h->params.dump_every, history->n_cycles);
  }
  free(history);
  return status;
}

/* Of a run that a signal ended: the solution as far as it is, from which --restart goes on. */
static mg_status_t dump_interrupted(mg_hierarchy_t *h, const mg_dump_about_t *about, int n_cycles,
                                    mg_dump_stats_t *stats) {
  mg_dump_about_t part = *about;
  mg_history_t history = *about->history;
  history.n_cycles = n_cycles;
  part.history = &history;
  part.result = NULL;
  if (h->params.dump_every > 0)
    mg_warning("--dump-every=%d writes nothing: the run was interrupted", h->params.dump_every);
  return mg_dump_write(h, h->params.dump, &part, stats);
}

mg_status_t mg_dump_run(mg_hierarchy_t *h, const mg_result_t *result, const char *command_line,
                        int threads, int64_t problem_checksum, mg_dump_stats_t *stats) {
  const mg_size_result_t *size = &result->size[0];
  const mg_dump_about_t about = {command_line, threads, &size->history,
                                 size->f_norm, result,  problem_checksum};
  *stats = (mg_dump_stats_t){0};
  if (!h->params.dump[0]) return MG_OK;
  if (result->diverged) {
    mg_warning("--dump=%s is not written: the solves diverged", h->params.dump);
    return MG_OK;
  }
  mg_progress("dump");
  mg_status_t status = result->interrupted
                           ? dump_interrupted(h, &about, result->n_cycles_at_h, stats)
                           : mg_dump_write(h, h->params.dump, &about, stats);
  if (status == MG_OK && h->params.dump_every > 0 && !result->interrupted)
    status = dump_series(h, &about, stats);
  mg_progress_clear();
  return status;
}
