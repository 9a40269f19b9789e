#include "io/restart.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/paths.h"
#include "formulas/index.h"
#include "formulas/walls.h"
#include "io/boundary_faces_io.h"
#include "io/dump_parts.h"
#include "io/field_io.h"
#include "io/input.h"
#include "io/stored_sums.h"
#include "level/ops.h"
#include "params/params_files.h"
#include "params/params_table.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The attributes of /HPGMG that a restart needs. */
typedef struct {
  mg_restart_t state;
  char setting[MG_N_OPTIONS]
              [MG_BOUNDARY_TEXT_MAX]; /* value of each option that dumps store; "" if not stored */
  char coefficients[MG_PATH_MAX], rhs[MG_PATH_MAX]; /* user-defined problem, or "" */
} head_t;

static const char ours[] = MG_DUMP_OURS;

static const char *path_of_u(mg_centering_t centering) {
  return centering == MG_CENTERING_CELL ? "/VTKHDF/CellData/u" : "/VTKHDF/PointData/u";
}

/* --- the head -------------------------------------------------------------------------- */

static mg_status_t bad(const mg_h5_t *file, const char *name, double value, const char *limits) {
  return mg_h5_wrong(file, ": %s is %.17g; it must be %s", name, value, limits);
}

/* Check numbers before they are used or determine an allocation. */
static mg_status_t take_grid(const mg_h5_t *file, const int64_t cells[3], int64_t box,
                             head_t *head) {
  for (int d = 0; d < 3; d++) {
    if (cells[d] < 1 || cells[d] > MG_MAX_DIM)
      return bad(file, "cells", (double)cells[d], "from 1 to 1048576");
    head->state.n[d] = (int32_t)cells[d];
  }
  const bool general = head->setting[MG_OPT_CELLS][0] != '\0';
  if (general && (box < 1 || box > MG_MAX_DIM))
    return bad(file, "box_cells", (double)box, "from 1 to 1048576");
  if (!general && (box < MG_MIN_BOX_DIM || box > MG_MAX_BOX_DIM || (box & (box - 1)) != 0 ||
                   cells[0] % box != 0 || cells[1] % box != 0 || cells[2] % box != 0))
    return bad(file, "box_cells", (double)box, "a power of two that divides cells");
  head->state.box_cells = (int32_t)box;
  return MG_OK;
}

static mg_status_t read_history(mg_h5_t *file, mg_restart_t *state) {
  double *const norm = state->history.norm;
  int64_t cycles;
  MG_TRY(mg_h5_get(file, ours, "cycles", MG_H5_INT64, &cycles, 1, NULL));
  MG_TRY(mg_h5_get(file, ours, "f_norm", MG_H5_NUMBER, &state->f_norm, 1, NULL));
  if (cycles < 1 || cycles > MG_MAX_CYCLES)
    return bad(file, "cycles", (double)cycles, "from 1 to 1000");
  if (!(state->f_norm >= 0.0) || !isfinite(state->f_norm))
    return bad(file, "f_norm", state->f_norm, "finite and at least 0");
  state->history.n_cycles = (int)cycles;
  state->history.diverged_level = -1;
  MG_TRY(mg_h5_get(file, ours, "residual_norms", MG_H5_NUMBER, norm, (int)cycles, NULL));
  for (int64_t c = 0; c < cycles; c++)
    if (!isfinite(norm[c]) || norm[c] < 0.0)
      return bad(file, "a residual norm", norm[c], "finite and at least 0");
  return MG_OK;
}

static mg_status_t check_version(mg_h5_t *file) {
  int64_t version = 0, complete = 0;
  MG_TRY(mg_h5_get(file, ours, "format_version", MG_H5_INT64, &version, 1, NULL));
  if (version != MG_FORMAT_VERSION)
    return bad(file, "format_version", (double)version, "3, the version that this program reads");
  MG_TRY(mg_h5_get(file, ours, "complete", MG_H5_INT64, &complete, 1, NULL));
  if (complete != 1) return bad(file, "complete", (double)complete, "1 (the dump is incomplete)");
  return mg_sums_check_attributes(file);
}

static mg_status_t read_words(mg_h5_t *file, mg_restart_t *state) {
  char precision[MG_DUMP_WORD], centering[MG_DUMP_WORD];
  MG_TRY(mg_h5_get(file, ours, "precision", MG_H5_TEXT, precision, MG_DUMP_WORD, NULL));
  MG_TRY(mg_h5_get(file, ours, "centering", MG_H5_TEXT, centering, MG_DUMP_WORD, NULL));
  const bool is_float = strcmp(precision, "float") == 0, points = strcmp(centering, "point") == 0;
  state->precision = is_float ? MG_PRECISION_FLOAT : MG_PRECISION_DOUBLE;
  state->centering = points ? MG_CENTERING_POINT : MG_CENTERING_CELL;
  return MG_OK;
}

/* Dumps of the built-in problem have none of these. */
static mg_status_t read_files(mg_h5_t *file, head_t *head) {
  bool coefficients, rhs;
  MG_TRY(mg_h5_get(file, ours, "coefficients", MG_H5_TEXT, head->coefficients, MG_PATH_MAX,
                   &coefficients));
  MG_TRY(mg_h5_get(file, ours, "rhs", MG_H5_TEXT, head->rhs, MG_PATH_MAX, &rhs));
  if (!head->coefficients[0] && !head->rhs[0]) return MG_OK;
  return mg_h5_get(file, ours, "problem_checksum", MG_H5_INT64, &head->state.problem_checksum, 1,
                   NULL);
}

static mg_status_t read_grid(mg_h5_t *file, head_t *head) {
  int64_t cells[3], box;
  bool there;
  MG_TRY(mg_h5_get(file, ours, MG_DUMP_CELLS_IJK, MG_H5_INT64, cells, 3, &there));
  if (!there) MG_TRY(mg_h5_get(file, ours, "cells", MG_H5_INT64, cells, 1, NULL));
  if (!there) cells[1] = cells[2] = cells[0];
  MG_TRY(mg_h5_get(file, ours, "box_cells", MG_H5_INT64, &box, 1, NULL));
  return take_grid(file, cells, box, head);
}

/* Check that u exists with the type and size that the head states. */
static mg_status_t look_for_u(mg_h5_t *file, const mg_restart_t *state) {
  const char *path = path_of_u(state->centering);
  char sums[MG_H5_NAME_MAX];
  mg_h5_data_t data;
  MG_TRY(mg_h5_data_open(file, path,
                         state->precision == MG_PRECISION_FLOAT ? MG_H5_FLOAT : MG_H5_DOUBLE, 3,
                         state->n, &data));
  MG_TRY(mg_h5_data_close(file, &data));
  mg_sums_path(path, sums);
  MG_TRY(mg_h5_data_open(file, sums, MG_H5_UINT64, 1, &state->n[2], &data));
  return mg_h5_data_close(file, &data);
}

static mg_status_t read_open(mg_h5_t *file, head_t *head) {
  MG_TRY(check_version(file));
  for (int id = 0; id < MG_N_OPTIONS; id++)
    MG_TRY(mg_dump_get_setting(file, &mg_options[id], head->setting[id], MG_BOUNDARY_TEXT_MAX));
  MG_TRY(read_words(file, &head->state));
  MG_TRY(read_files(file, head));
  MG_TRY(read_grid(file, head));
  MG_TRY(read_history(file, &head->state));
  return look_for_u(file, &head->state);
}

/* Dumps have a superblock of version 2 or 3, whose metadata has checksums. Older versions are
 * not opened: the library would trust their contents unchecked. */
static mg_status_t check_superblock(const char *path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char start[9];
  const char *why = mg_path_why_unreadable(path);
  if (why) return mg_error(MG_ERR_IO, "--restart=%s cannot be opened: %s", path, why);
  FILE *file = fopen(path, "rb");
  if (!file) return mg_error(MG_ERR_IO, "--restart=%s cannot be opened: %s", path, strerror(errno));
  errno = 0;
  const size_t n = fread(start, 1, sizeof start, file);
  const int error = ferror(file) ? errno : 0;
  (void)fclose(file);
  if (error != 0)
    return mg_error(MG_ERR_IO, "--restart=%s cannot be read: %s", path, strerror(error));
  if (n == sizeof start && memcmp(start, signature, sizeof signature) == 0 && start[8] >= 2)
    return MG_OK;
  return mg_error(
      MG_ERR_IO,
      "--restart=%s is not a dump of hpgmg-fv: wrong HDF5 signature or superblock version", path);
}

/* On the calling rank only. */
static mg_status_t read_head(const char *path, head_t *head) {
  mg_h5_t *file;
  memset(head, 0, sizeof *head);
  MG_TRY(check_superblock(path));
  MG_TRY(mg_h5_open("restart", path, true, &file));
  const mg_status_t status = read_open(file, head);
  return mg_status_worst(status, mg_h5_close(file));
}

/* --- settings -------------------------------------------------------------------------- */

static mg_status_t add_size(mg_settings_t *list, const head_t *head, const mg_params_t *params) {
  const bool has_size = params->log2_box_dim != 0 || params->boxes_per_rank != 0,
             general = head->setting[MG_OPT_CELLS][0] != '\0';
  if (has_size && general)
    return mg_error(
        MG_ERR_USAGE,
        "--restart=%.150s has the grid --cells=%s; drop LOG2_BOX_DIM and BOXES_PER_RANK",
        params->restart, head->setting[MG_OPT_CELLS]);
  if (has_size || general) return MG_OK; /* --cells is a setting like the others */
  const int32_t *n = head->state.n;
  if (!mg_is_cube(n))
    return mg_error(MG_ERR_USAGE, "--restart=%.150s has %s cells, which is not a cube",
                    params->restart, mg_grid(n).text);
  return mg_settings_add_boxes(list, "restart", params->restart, params, n[0],
                               head->state.box_cells);
}

/* The problem's settings are binding: the stored cells are valid for no other. The precision class
 * is, because the history continues. */
static void add_settings(mg_settings_t *list, const head_t *head) {
  const bool has_rtol = strtod(head->setting[MG_OPT_RTOL], NULL) > 0.0;
  for (int id = 0; id < MG_N_OPTIONS; id++) {
    const mg_option_t *option = &mg_options[id];
    const bool binds = option->group == MG_GROUP_PROBLEM || id == MG_OPT_PRECISION;
    const bool needs_rtol = id == MG_OPT_RTOL || option->decided_by == MG_OPT_RTOL;
    if (head->setting[id][0] && (has_rtol || !needs_rtol))
      mg_settings_add(list, option->name, head->setting[id], binds);
  }
}

/* Find LOG2_BOX_DIM and BOXES_PER_RANK for a grid of `cells` cells per side. Boxes have `width`
 * cells per side, a power of two that divides `cells`, or fewer if that many ranks would otherwise
 * make a larger grid.
 * @return false if no boxes make this grid */
static bool find_boxes(int64_t cells, int64_t width, int64_t ranks, int *log2_box_dim,
                       int64_t *boxes_per_rank) {
  for (; width >= MG_MIN_BOX_DIM; width /= 2) {
    const int64_t side = cells / width;
    *log2_box_dim = (int)log2((double)width);
    *boxes_per_rank = (side * side * side + ranks - 1) / ranks;
    if (mg_plan_boxes_a_side(*log2_box_dim, *boxes_per_rank, ranks) == side) return true;
  }
  return false;
}

mg_status_t mg_settings_add_boxes(mg_settings_t *list, const char *option, const char *path,
                                  const mg_params_t *params, int64_t cells, int64_t box) {
  const int64_t ranks = params->ranks > 0 ? params->ranks : mg_comm_size(mg_comm_world());
  int64_t boxes;
  int log2_box_dim;
  char text[32];
  if (!find_boxes(cells, box, ranks, &log2_box_dim, &boxes))
    return mg_error(MG_ERR_USAGE,
                    "--%s=%.150s has %lld^3 cells, too few for %lld ranks; use fewer ranks", option,
                    path, (long long)cells, (long long)ranks);
  snprintf(text, sizeof text, "%d", log2_box_dim);
  mg_settings_add(list, "log2-box-dim", text, false);
  snprintf(text, sizeof text, "%lld", (long long)boxes);
  mg_settings_add(list, "boxes-per-rank", text, false);
  return MG_OK;
}

mg_status_t mg_restart_settings(const mg_params_t *params, mg_settings_t *settings) {
  static head_t head;
  MG_TRY(mg_h5_check_build("restart"));
  MG_TRY(read_head(params->restart, &head));
  MG_TRY(add_size(settings, &head, params));
  /* These files may have been moved; their contents are compared when they are read. */
  if (head.coefficients[0]) mg_settings_add(settings, "coefficients", head.coefficients, false);
  if (head.rhs[0]) mg_settings_add(settings, "rhs", head.rhs, false);
  if (!head.setting[MG_OPT_PRECISION][0]) /* a dump of an older version */
    snprintf(head.setting[MG_OPT_PRECISION], MG_DUMP_WORD, "%s",
             mg_precision_name(MG_CLASS_DOUBLE));
  add_settings(settings, &head);
  return MG_OK;
}

/* --- cells ----------------------------------------------------------------------------- */

static mg_status_t take_head(const head_t *head, const mg_params_t *params, const mg_plan_t *plan,
                             mg_restart_t *restart) {
  const int32_t *const n = plan->level[0].layout.n;
  *restart = head->state;
  if (memcmp(restart->n, n, sizeof restart->n) == 0) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "LOG2_BOX_DIM and BOXES_PER_RANK give %s cells, but --restart=%s has %s; "
                  "drop or change them",
                  mg_grid(n).text, params->restart, mg_grid(restart->n).text);
}

mg_status_t mg_restart_open(const mg_params_t *params, const mg_plan_t *plan,
                            mg_restart_t *restart) {
  static head_t head;
  mg_status_t status = MG_OK;
  memset(restart, 0, sizeof *restart);
  if (params->restart[0] == '\0') return MG_OK;
  if (mg_comm_is_root()) {
    status = read_head(params->restart, &head);
    if (status == MG_OK) status = take_head(&head, params, plan, restart);
  }
  MG_TRY(mg_comm_agree(status));
  return mg_comm_broadcast(mg_comm_world(), restart, sizeof *restart);
}

static mg_status_t read_u(mg_hierarchy_t *h, const mg_restart_t *restart, mg_h5_t *file) {
  mg_field_io_t io = {.file = file, .n = restart->n, .precision = restart->precision};
  MG_TRY(mg_slabs_create(&h->level[0], mg_h5_ranks(), &io.slabs));
  const mg_status_t status = mg_field_read(&io, path_of_u(restart->centering), MG_U);
  mg_slabs_free(io.slabs);
  return status;
}

/* Another C library may round the built-in f differently in the last digits. */
static mg_status_t check_f_norm(const mg_hierarchy_t *h, double f_norm, double stored) {
  if (fabs(stored - f_norm) <= 1e-9 * f_norm) return MG_OK;
  return mg_root_error(
      MG_ERR_IO,
      "--restart=%s: f_norm is %.17g, but max|f| of this problem is %.17g; the file is "
      "damaged or belongs to another problem",
      h->params.restart, stored, f_norm);
}

/* Largest sum of magnitudes in a row of A, without alpha. A face contributes its beta / h^2 times
 * the magnitudes of the weights in its gradient. Their sum is 2 inside and 4 at a wall (walls.h:
 * 1 + 2.5 + 0.5). For fv4 it is 32 / 12 and less than 1 for the differences of beta inside, and
 * 15 / 12 (1 + 140 / 12) + 1 / 12 (1 + 1012 / 12) = 23 at a wall. */
static mg_status_t largest_row(mg_level_t *level, mg_operator_t op, double *sum) {
  const double weights = mg_traits_of(op)->weights, h = level->plan->h[0];
  double *wall;
  mg_status_t status = mg_new(&wall, mg_boundary_faces_max(level), "boundary faces");
  status = mg_comm_agree(status);
  *sum = 0.0;
  for (int d = 0; d < 3 && status == MG_OK; d++) {
    const mg_vector_t vec = MG_BETA_I + (mg_vector_t)d;
    const bool has_wall = !mg_is_periodic(&level->store.view, d);
    double beta = 0.0;
    int32_t n[2];
    status = mg_world_norm(level, vec, MG_NO_VECTOR, &beta);
    if (status == MG_OK && has_wall) status = mg_boundary_move(level, vec, d, 1, false, wall);
    const int64_t faces = mg_boundary_faces_size(level->plan->layout.n, d, n);
    for (int64_t face = 0; face < faces && has_wall; face++)
      beta = fmax(beta, wall[face]);
    *sum += 2.0 * weights * beta / (h * h);
  }
  free(wall);
  return status;
}

/* Rounding of max|f - A u| for a u from a file, in units of |f| + |A| |u|. The dump's norm was
 * computed from the same u by the same formulas, whose results are bit-identical, except for
 * - the built-in coefficients and f: sines of another C library differ by a few units in the last
 *   place, which powers and sums raise to at most 64;
 * - the norm of a CG step, which is updated and not computed from u: it differs by the rounding of
 *   u, of A p and of two scalars in each cycle (Greenbaum, Iterative Methods for Solving Linear
 *   Systems (1997), section 7.3): 16 units;
 * - u stored as float, which rounds each value by half a unit of 24 bits. */
static double rounding_of(const mg_restart_t *restart) {
  const double units = 64.0 + 16.0 * restart->history.n_cycles;
  return units * 0x1p-53 + (restart->precision == MG_PRECISION_FLOAT ? 0x1p-24 : 0.0);
}

/* Check the recomputed residual norm against the last one in the file. By the equation, alpha u is
 * not larger than f, the residual and the other terms of A u together: hence the factor 2. */
static mg_status_t check_residual(mg_hierarchy_t *h, const mg_restart_t *restart, double norm,
                                  double f_norm) {
  mg_level_t *level = &h->level[0];
  const double stored = restart->history.norm[restart->history.n_cycles - 1];
  double u_norm, row;
  MG_TRY(mg_world_norm(level, MG_U, MG_NO_VECTOR, &u_norm));
  MG_TRY(largest_row(level, h->params.op, &row));
  const double limit = 2.0 * rounding_of(restart) * (f_norm + norm + row * u_norm);
  const bool is_float = restart->precision == MG_PRECISION_FLOAT;
  const char *note = is_float ? " (stored as float)" : "";
  if (!(fabs(norm - stored) <= limit))
    return mg_root_error(
        MG_ERR_IO,
        "--restart=%s: the residual norm is %.6e, but the file has %.6e%s; rounding "
        "explains a difference of %.1e only: the file is damaged or belongs to another "
        "problem",
        h->params.restart, norm, stored, note, limit);
  if (is_float && fabs(norm - stored) > 1e-3 * stored)
    mg_warning("--restart=%s: the residual norm is %.6e, but the file has %.6e%s",
               h->params.restart, norm, stored, note);
  return MG_OK;
}

/* The run continues from the recomputed residual of u, not from the value stored in the file. */
static mg_status_t assess(mg_hierarchy_t *h, mg_restart_t *restart) {
  double norm[2];
  mg_history_t *history = &restart->history;
  const int last = history->n_cycles - 1;
  MG_TRY(mg_residual_norm(&h->level[0], MG_U, MG_F, &norm[0]));
  MG_TRY(mg_max_norm(&h->level[0], MG_F, MG_NO_VECTOR, &norm[1]));
  MG_TRY(mg_comm_max(mg_comm_world(), norm, 2));
  MG_TRY(check_f_norm(h, norm[1], restart->f_norm));
  MG_TRY(check_residual(h, restart, norm[0], norm[1]));
  history->norm[last] = norm[0];
  for (int c = 0; c <= last; c++)
    history->rel[c] = mg_relative_norm(h, 0, history->norm[c], norm[1]);
  return MG_OK;
}

mg_status_t mg_restart_check_problem(const mg_params_t *p, const mg_restart_t *restart,
                                     int64_t problem_checksum, int64_t first) {
  if (p->restart[0] == '\0' || problem_checksum == restart->problem_checksum) return MG_OK;
  if (first != 0 && first == restart->problem_checksum) return MG_OK;
  return mg_root_error(
      MG_ERR_IO, "--restart=%s belongs to a different problem than %s%s%s: the checksums differ",
      p->restart, p->coefficients, p->coefficients[0] && p->rhs[0] ? " and " : "",
      mg_params_has_files(p) ? p->rhs : "the built-in one");
}

mg_status_t mg_restart_load(mg_hierarchy_t *h, mg_restart_t *restart) {
  mg_h5_t *file;
  if (h->params.restart[0] == '\0') return MG_OK;
  mg_status_t status = mg_comm_agree(mg_h5_open("restart", h->params.restart, false, &file));
  if (status == MG_OK) status = read_u(h, restart, file);
  status = mg_status_worst(status, mg_comm_agree(mg_h5_close(file)));
  return status == MG_OK ? mg_comm_agree_or_end(assess(h, restart)) : status;
}
