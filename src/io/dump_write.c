#include "base/alloc.h"
#include "base/log.h"
#include "base/log_wings.h"
#include "io/boundary_faces_io.h"
#include "io/dump_parts.h"
#include "io/field_io.h"
#include "io/stored_sums.h"
#include "level/ops.h"
#include "params/params_files.h"
#include "wings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mg_vector_t vector_of[MG_N_FIELDS] = {
    [MG_FIELD_U] = MG_U,           [MG_FIELD_F] = MG_F,           [MG_FIELD_RESIDUAL] = MG_TMP,
    [MG_FIELD_BETA_I] = MG_BETA_I, [MG_FIELD_BETA_J] = MG_BETA_J, [MG_FIELD_BETA_K] = MG_BETA_K,
    [MG_FIELD_DINV] = MG_DINV,     [MG_FIELD_ALPHA] = MG_ALPHA,   [MG_FIELD_MASK] = MG_U};

/* --- fields ---------------------------------------------------------------------------- */

/* A field of a level with a value that its precision cannot hold. */
typedef struct {
  int level;
  mg_field_t field;
  double value; /* 0: none */
} beyond_t;

/* Write or compare a field of a level. */
static mg_status_t run_field(mg_hierarchy_t *h, int l, mg_field_t field, bool write,
                             mg_field_io_t *io, beyond_t *beyond) {
  char path[MG_DATA_PATH_MAX];
  mg_metric_t metric = {.is_one = true};
  mg_dump_data_path(&h->params, l, field, path);
  if (!write) return mg_field_read(io, path, MG_NO_VECTOR);
  MG_IF_DOMAINS(if (l == 0) MG_TRY(
      mg_comm_agree_or_end(mg_dump_remove_conditions(h, field, vector_of[field]))));
  if (field == MG_FIELD_RESIDUAL)
    MG_TRY(mg_comm_agree_or_end(mg_residual(&h->level[l], MG_TMP, MG_U, MG_F)));
  MG_IF_DOMAINS(MG_TRY(mg_comm_agree(mg_metric_create(h, l, vector_of[field], &metric))));
  io->metric = &metric;
  io->is_coefficient = field >= MG_FIELD_BETA_I;
  *beyond = (beyond_t){l, field, 0.0};
  MG_TRY(mg_field_write(io, path, vector_of[field], &beyond->value));
  MG_IF_DOMAINS(mg_metric_free(&metric));
  MG_IF_DOMAINS(
      if (l == 0) return mg_comm_agree_or_end(mg_dump_restore_conditions(h, vector_of[field])));
  return MG_OK;
}

/* Write or compare every field of a level, up to the first one with a value out of range. */
static mg_status_t run_level(mg_hierarchy_t *h, int l, mg_h5_t *file, bool write,
                             beyond_t *beyond) {
  mg_field_io_t io = {.file = file,
                      .n = h->plan.level[l].layout.n,
                      .precision = h->params.dump_precision,
                      .compress = h->params.dump_compress};
  MG_TRY(mg_slabs_create(&h->level[l], mg_h5_ranks(), &io.slabs));
  mg_status_t status = MG_OK;
  for (int field = 0; field < MG_N_FIELDS && status == MG_OK && beyond->value == 0.0; field++)
    if (mg_dump_wants_at(&h->params, l, (mg_field_t)field))
      status = run_field(h, l, (mg_field_t)field, write, &io, beyond);
  mg_slabs_free(io.slabs);
  return status;
}

static mg_status_t run_levels(mg_hierarchy_t *h, mg_h5_t *file, bool write, beyond_t *beyond) {
  *beyond = (beyond_t){0};
  for (int l = 0; l < h->n_levels && beyond->value == 0.0; l++)
    if (mg_dump_wants_level(&h->params, l)) MG_TRY(run_level(h, l, file, write, beyond));
  return MG_OK;
}

/* --- the file -------------------------------------------------------------------------- */

/* Betas on the upper wall in direction d. */
static mg_status_t run_wall(mg_hierarchy_t *h, mg_h5_t *file, int d, bool write,
                            const mg_rows_t *wall) {
  const mg_vector_t beta = MG_BETA_I + (mg_vector_t)d;
  const mg_field_t field = MG_FIELD_BETA_I + (mg_field_t)d;
  char path[MG_DATA_PATH_MAX];
  int32_t n[2];
  mg_boundary_faces_size(h->plan.level[0].layout.n, d, n);
  MG_IF_DOMAINS(MG_TRY(mg_comm_agree_or_end(mg_dump_remove_conditions(h, field, beta))));
  MG_TRY(mg_boundary_move(&h->level[0], beta, d, 1, false, wall->values));
  MG_IF_DOMAINS(MG_TRY(mg_comm_agree_or_end(mg_dump_restore_conditions(h, beta))));
  MG_IF_DOMAINS(MG_TRY(mg_dump_unscale_wall(h, d, n, wall->values)));
  snprintf(path, sizeof path, "/HPGMG/walls/%s", mg_field_name(field));
  return mg_rows_move(file, path, true, 2, n, write, wall);
}

static mg_status_t run_walls(mg_hierarchy_t *h, mg_h5_t *file, bool write) {
  const mg_params_t *p = &h->params;
  const int64_t most = mg_boundary_faces_max(&h->level[0]);
  if (!mg_dump_wants_wall(p, MG_N_FIELDS) && !mg_dump_wants_sides(p)) return MG_OK;
  mg_rows_t wall;
  mg_status_t status = mg_rows_create(most, &wall);
  for (int d = 0; d < 3 && status == MG_OK; d++) {
    if (mg_dump_wants_wall(p, (mg_field_t)(MG_FIELD_BETA_I + d)))
      status = run_wall(h, file, d, write, &wall);
    MG_IF_DOMAINS(if (status == MG_OK) status = mg_dump_run_sides(h, file, d, write, &wall));
  }
  mg_rows_free(&wall);
  return status;
}

/* The attribute `complete` is written last; without it, a file is not a valid dump. */
static mg_status_t write_all(mg_hierarchy_t *h, const char *path, const mg_dump_about_t *about,
                             beyond_t *beyond) {
  mg_h5_t *file;
  mg_status_t status = mg_comm_agree(mg_h5_create(path, h->params.dump_hints, &file));
  if (status == MG_OK) status = mg_comm_agree(mg_dump_put_head(file, h, about));
  if (status == MG_OK) status = run_levels(h, file, true, beyond);
  if (status == MG_OK) status = run_walls(h, file, true);
  MG_IF_DOMAINS(if (status == MG_OK) status = mg_dump_run_axes(h, file, true));
  const int64_t complete = 1;
  if (status == MG_OK)
    status = mg_comm_agree(mg_h5_put(file, MG_DUMP_OURS, "complete", MG_H5_INT64, &complete, 1));
  return mg_status_worst(status, mg_comm_agree(mg_h5_close(file)));
}

static mg_status_t check_complete(mg_h5_t *file) {
  int64_t complete = file ? 0 : 1;
  MG_TRY(mg_h5_get(file, MG_DUMP_OURS, "complete", MG_H5_INT64, &complete, 1, NULL));
  return complete == 1
             ? MG_OK
             : mg_error(MG_ERR_IO, "the dump is incomplete when read back; check the disk");
}

/* Read the file back: some file systems and MPI libraries silently lose data that does not fit. */
static mg_status_t check_all(mg_hierarchy_t *h, const char *path) {
  beyond_t beyond;
  mg_h5_t *file;
  mg_status_t status = mg_comm_agree(mg_h5_open("", path, false, &file));
  if (status == MG_OK) status = mg_comm_agree(check_complete(file));
  if (status == MG_OK) status = run_levels(h, file, false, &beyond);
  if (status == MG_OK) status = run_walls(h, file, false);
  MG_IF_DOMAINS(if (status == MG_OK) status = mg_dump_run_axes(h, file, false));
  return mg_status_worst(status, mg_comm_agree(mg_h5_close(file)));
}

/* Write as floats if all values fit, otherwise as doubles from here on: the solution must not be
 * lost after a long run. */
static mg_status_t write_as_fits(mg_hierarchy_t *h, const char *path,
                                 const mg_dump_about_t *about) {
  beyond_t beyond;
  MG_TRY(write_all(h, path, about, &beyond));
  if (beyond.value == 0.0) return MG_OK;
  if (mg_comm_is_root())
    mg_warning("--dump-precision=float: a value of %s on level %d, %g, is out of the range of "
               "floats (1.2e-38 to 3.4e38); %s has doubles",
               mg_field_name(beyond.field), beyond.level, beyond.value, h->params.dump);
  h->params.dump_precision = MG_PRECISION_DOUBLE;
  return write_all(h, path, about, &beyond);
}

/* Prepare the file on rank 0 and broadcast its names to all ranks. */
static mg_status_t prepare(mg_hierarchy_t *h, const char *path, mg_atomic_file_t *file) {
  memset(file, 0, sizeof *file);
  MG_TRY(
      MG_ON_ROOT(mg_atomic_file_prepare("dump", path, mg_dump_room(&h->params, &h->plan), file)));
  MG_TRY(mg_comm_broadcast(mg_comm_world(), file->temporary, sizeof file->temporary));
  return MG_OK;
}

mg_status_t mg_dump_write(mg_hierarchy_t *h, const char *path, const mg_dump_about_t *about,
                          mg_dump_stats_t *stats) {
  mg_atomic_file_t file;
  MG_TRY(prepare(h, path, &file));
  mg_h5_drop_at_abort(file.temporary);
  const double start = mg_now();
  mg_status_t status = write_as_fits(h, file.temporary, about);
  const double written = mg_now();
  if (status == MG_OK) status = check_all(h, file.temporary);
  const double checked = mg_now();
  mg_h5_drop_at_abort(NULL);
  if (mg_comm_is_root() && status == MG_OK) status = mg_atomic_file_finish(&file);
  if (mg_comm_is_root() && status == MG_OK)
    status = mg_dump_write_xdmf(&h->params, &h->plan, file.final);
  if (mg_comm_is_root() && status != MG_OK) mg_atomic_file_drop(&file);
  MG_TRY(mg_comm_agree(status));
  double seconds[2] = {written - start, checked - written};
  MG_TRY(mg_comm_max(mg_comm_world(), seconds, 2));
  stats->n_files++;
  stats->bytes += mg_dump_bytes(&h->params, &h->plan);
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

/* Every solve is bit-identical, so these are the intermediate states of the previous solve. */
static mg_status_t dump_series(mg_hierarchy_t *h, const mg_dump_about_t *about,
                               mg_dump_stats_t *stats) {
  series_t series = {h, *about, stats};
  const mg_watch_t watch = {dump_cycle, mg_benchmark_poll_stop, &series};
  mg_history_t *history;
  MG_TRY(mg_comm_agree(mg_new(&history, 1, "the residual history")));
  series.about.result = NULL;
  mg_status_t status = mg_solve_watched(h, 0, about->f_norm, &watch, history);
  if (status == MG_OK && history->stopped && !history->converged)
    status =
        mg_root_error(MG_ERR_INTERRUPTED, "--dump-every=%d: stopped by a signal after cycle %d",
                      h->params.dump_every, history->n_cycles);
  free(history);
  return status;
}

/* After a signal ended the run: write the current solution, from which --restart can continue. */
static mg_status_t dump_interrupted(mg_hierarchy_t *h, const mg_dump_about_t *about, int n_cycles,
                                    mg_dump_stats_t *stats) {
  mg_dump_about_t part = *about;
  mg_history_t history = *about->history;
  history.n_cycles = n_cycles;
  part.history = &history;
  part.result = NULL;
  if (h->params.dump_every > 0)
    mg_warning("--dump-every=%d has no effect: the run was interrupted", h->params.dump_every);
  return mg_dump_write(h, h->params.dump, &part, stats);
}

mg_status_t mg_dump_run(mg_hierarchy_t *h, const mg_result_t *result, const char *command_line,
                        int threads, int64_t problem_checksum, mg_dump_stats_t *stats) {
  const mg_size_result_t *size = &result->size[0];
  const mg_dump_about_t about = {command_line,      threads, &size->history,  size->f_norm,
                                 h->reference.norm, result,  problem_checksum};
  *stats = (mg_dump_stats_t){0};
  if (!h->params.dump[0]) return MG_OK;
  if (result->diverged) {
    mg_warning("--dump=%s is not written: the solve diverged", h->params.dump);
    return MG_OK;
  }
  MG_IF_CONSOLE(mg_progress("dump"));
  mg_status_t status = result->interrupted
                           ? dump_interrupted(h, &about, result->n_cycles_at_h, stats)
                           : mg_dump_write(h, h->params.dump, &about, stats);
  if (status == MG_OK && h->params.dump_every > 0 && !result->interrupted)
    status = dump_series(h, &about, stats);
  MG_IF_CONSOLE(mg_progress_clear());
  return status;
}
