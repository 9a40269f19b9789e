/* Read the fields of a user-defined problem, check them, and copy them to the finest level. */
#include "base/alloc.h"
#include "base/log.h"
#include "formulas/arrays.h"
#include "formulas/walls.h"
#include "io/boundary_faces_io.h"
#include "io/checksum.h"
#include "io/field_io.h"
#include "io/input_parts.h"
#include "level/ops.h"
#include "params/params_wings.h"
#include "solver/solids.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of reading one field from its file to the finest level. */
typedef struct {
  mg_hierarchy_t *h;
  mg_field_io_t io;
  const mg_input_source_t *source;
  const char *name;
  const mg_input_place_t *place;
  int field;
  mg_vector_t vec; /* MG_U: cell betas */
  int32_t n[3];    /* cells in i, j, k */
  bool is_signed;  /* f: any sign, or zero */
  bool may_be_0;   /* alpha, betas that close a face, masks */
  bool is_mask;
  int direction;  /* of a face field */
  bool closed[2]; /* sides of a face field's direction with Neumann's condition */
  bool has_mask;  /* the file has a mask: sides may be solid */
  double open[2]; /* 1: a beta on this side is not 0 */
  double *wall;   /* of face fields: the faces at the upper wall, as far as this rank knows them */
  uint64_t checksum;
  double smallest, largest; /* magnitudes */
  int32_t bad_plane;        /* n[2]: none; n[2] - 1 also covers the wall behind it */
  int64_t bad_cell;         /* within the plane or wall */
  int32_t bad_row;          /* cells in a row of the plane or wall */
  double bad_value;
  bool bad_wall;
} field_t;

static int64_t plane_cells(const field_t *f) {
  return (int64_t)f->n[0] * f->n[1];
}

static bool is_allowed(const field_t *f, double value) {
  if (mg_input_is_missing(&f->place->gaps, value)) return false;
  if (f->is_signed) return fabs(value) <= MG_MAX_VALUE;
  if (f->is_mask) return value == 0.0 || value == 1.0 || value == 2.0;
  return (value >= MG_MIN_VALUE && value <= MG_MAX_VALUE) || (f->may_be_0 && value == 0.0);
}

/* Whether value c of a plane, or of the upper wall, is a face with Neumann's condition. Nothing
 * reads its beta, which is 0 in dumps. */
static bool is_closed(const field_t *f, int64_t c, int32_t plane, bool wall) {
  if (wall) return f->closed[1];
  return f->closed[0] && (f->direction == 0   ? c % f->n[0] == 0
                          : f->direction == 1 ? c < f->n[0]
                                              : plane == 0);
}

/* Record the first invalid one of n values of the first plane that has one. */
static void blame(field_t *f, const double *cells, int64_t n, int32_t row, int32_t plane,
                  bool wall) {
  int64_t c = 0;
  if (f->bad_plane < f->n[2]) return;
  while (c < n && (is_allowed(f, cells[c]) || (cells[c] == 0.0 && is_closed(f, c, plane, wall))))
    c++;
  if (c == n) return;
  f->bad_plane = plane;
  f->bad_cell = c;
  f->bad_row = row;
  f->bad_value = cells[c];
  f->bad_wall = wall;
}

/* n values in rows; they are a plane of cells, or a wall behind it. */
static void check_values(field_t *f, const double *cells, int64_t n, int32_t row, int32_t plane,
                         bool wall) {
  const mg_input_gaps_t *gaps = &f->place->gaps;
  const double lowest = f->is_signed ? -MG_MAX_VALUE : MG_MIN_VALUE;
  const double other = f->may_be_0 ? 0.0 : lowest; /* one more allowed value */
  const bool skips_0 = f->closed[0] || f->closed[1] || f->may_be_0;
  const double least = skips_0 ? DBL_MIN : 0.0; /* closed faces */
  double smallest = f->smallest, largest = f->largest;
  int64_t bad = 0;
#pragma omp parallel for simd reduction(min : smallest) reduction(max : largest) reduction(+ : bad)
  for (int64_t c = 0; c < n; c++) {
    const double size = fabs(cells[c]);
    smallest = size < smallest && size >= least ? size : smallest;
    largest = size > largest ? size : largest;
    bad += !((cells[c] >= lowest && cells[c] <= MG_MAX_VALUE) || cells[c] == other); /* NaN too */
    bad += mg_input_is_missing(gaps, cells[c]);
  }
  f->smallest = smallest;
  f->largest = largest;
  if (bad > 0 || f->is_mask) blame(f, cells, n, row, plane, wall);
}

/* Report one line, from the rank with the first bad plane. */
static mg_status_t judge(const field_t *f) {
  double first = f->bad_plane;
  MG_TRY(mg_comm_min(mg_comm_world(), &first, 1));
  if (first >= f->n[2]) return MG_OK;
  if (first != f->bad_plane) return MG_ERR_IO;
  const long long j = f->bad_cell / f->bad_row, i = f->bad_cell % f->bad_row;
  char value[32] = "nan", place[128];
  if (!isnan(f->bad_value)) snprintf(value, sizeof value, "%g", f->bad_value);
  if (f->bad_wall)
    snprintf(place, sizeof place, "%sat [%lld][%lld]",
             f->is_signed ? "" : "on the upper boundary, ", j, i);
  else
    snprintf(place, sizeof place, "in plane %d, at [%d][%lld][%lld]", f->bad_plane, f->bad_plane, j,
             i);
  return mg_error(MG_ERR_IO, "--%s=%s: %s has %s %s; it must be %s", f->source->option,
                  f->source->path, f->name, value, place,
                  mg_input_is_missing(&f->place->gaps, f->bad_value)
                      ? "a number; this one marks a missing value (netCDF, NumPy)"
                  : f->is_mask   ? "0 (solid), 1 (solved) or 2 (u is given)"
                  : f->is_signed ? "finite and at most 1e60 in magnitude"
                  : f->may_be_0  ? "0 or from 1e-60 to 1e60"
                  : f->bad_value == 0 && strncmp(f->name, "beta_", 5) == 0
                      ? "from 1e-60 to 1e60; 0 is allowed on sides with --boundary=neumann"
                      : "from 1e-60 to 1e60");
}

/* Copy the last faces of a slab to their place in the upper wall. */
static void keep_last(const field_t *f, const mg_slab_t *slab) {
  const int d = f->direction;
  const int64_t n0 = f->n[0], n1 = f->n[1], plane = plane_cells(f), row = d == 0 ? n1 : n0;
  for (int32_t k = 0; k < slab->n; k++) {
    const double *from = slab->cells + k * plane;
    const int64_t global = slab->first + k;
    if (d == 2 && global == f->n[2] - 1) memcpy(f->wall, from, (size_t)plane * sizeof *f->wall);
    for (int64_t c = 0; d < 2 && c < row; c++)
      f->wall[global * row + c] = d == 0 ? from[c * n0 + n0 - 1] : from[(n1 - 1) * n0 + c];
  }
}

/* Fill the upper faces of patches: from the next patch, or at the upper wall from the ranks'
 * known values. */
static mg_status_t close_faces(const field_t *f, int d) {
  mg_level_t *level = &f->h->level[0];
  if (level->comm) MG_TRY(mg_halo(level, MG_BETA_I + d, false));
  if (mg_is_periodic(&level->store.view, d)) return MG_OK;
  return mg_boundary_move(level, MG_BETA_I + (mg_vector_t)d, d, 1, true, f->wall);
}

/* Read faces of a side on rank 0.
 * @param[out] gaps  NULL: not wanted */
static mg_status_t read_alone(const mg_input_source_t *source, const char *name, const int32_t n[2],
                              mg_input_gaps_t *gaps, double *faces) {
  mg_h5_t *file;
  MG_TRY(mg_h5_open(source->option, source->path, true, &file));
  mg_status_t status = gaps ? mg_input_find_gaps(file, name, gaps) : MG_OK;
  if (status == MG_OK) status = mg_sums_read(file, name, 2, n, faces);
  return mg_status_worst(status, mg_h5_close(file));
}

/* The checksums of a wall's rows count towards the problem's checksum, stored or not. */
static mg_status_t read_walls(field_t *f, int d) {
  char path[MG_INPUT_PATH_MAX];
  int32_t n[2];
  const int64_t faces = mg_boundary_faces_size(f->n, d, n);
  snprintf(path, sizeof path, "/HPGMG/walls/%s", f->name);
  memset(f->wall, 0, (size_t)faces * sizeof *f->wall);
  MG_TRY(MG_ON_ROOT(read_alone(f->source, path, n, NULL, f->wall)));
  for (int64_t at = 0; at < faces && mg_comm_is_root(); at += n[0])
    f->checksum += mg_checksum_doubles(f->wall + at, n[0], (uint64_t)at);
  if (mg_comm_is_root()) check_values(f, f->wall, faces, n[0], f->n[2] - 1, true);
  return judge(f);
}

/* Look for a beta above 0 on the low side. */
static void look_at_low_side(field_t *f, const double *cells, int32_t plane) {
  const int d = f->direction;
  const int64_t step = d == 0 ? f->n[0] : 1, end = d == 1 ? f->n[0] : plane_cells(f);
  for (int64_t c = 0; c < end && !(d == 2 && plane > 0); c += step)
    if (cells[c] > 0.0) f->open[0] = 1.0;
}

/* A side that no flux can pass has another condition than that of --boundary. */
static mg_status_t check_sides(field_t *f) {
  const int d = f->direction;
  int32_t n[2];
  const int64_t faces = mg_boundary_faces_size(f->n, d, n);
  for (int64_t c = 0; c < faces; c++)
    if (f->wall[c] > 0.0) f->open[1] = 1.0;
  MG_TRY(mg_comm_max(mg_comm_world(), f->open, 2));
  for (int side = 0; side < 2; side++)
    if (f->open[side] == 0.0 && !f->closed[side])
      return mg_root_error(MG_ERR_IO,
                           "--%s=%s: %s is 0 on the whole %s side in %c, which lets nothing pass; "
                           "use --boundary=neumann there, or give a beta above 0",
                           f->source->option, f->source->path, f->name, side ? "high" : "low",
                           "xyz"[d]);
  return MG_OK;
}

/* Check a round's planes and store them. */
static mg_status_t take_round(void *data, const mg_slab_t *slab, int round) {
  field_t *f = data;
  const int64_t n = plane_cells(f);
  for (int32_t k = 0; k < slab->n; k++) {
    const int32_t plane = slab->first + k;
    f->checksum += mg_checksum_doubles(slab->cells + k * n, n, (uint64_t)(plane * n));
    check_values(f, slab->cells + k * n, n, f->n[0], plane, false);
    if (f->wall) look_at_low_side(f, slab->cells + k * n, plane);
  }
  MG_TRY(judge(f));
  if (f->wall) keep_last(f, slab);
  return mg_comm_agree_or_end(mg_slabs_store(f->io.slabs, f->vec, round));
}

static mg_status_t take_given(const field_t *f) {
  MG_IF_SOLIDS(MG_TRY(mg_solids_take_values(f->h, false)));
  return mg_fill(&f->h->level[0], MG_U, 0.0);
}

static mg_status_t read_field(field_t *f) {
  const int d = f->direction;
  for (int side = 0; f->wall && side < 2; side++)
    f->closed[side] = mg_gives_flux(&f->h->params.side[d][side]);
  MG_TRY(mg_field_read(&f->io, f->place->path, MG_NO_VECTOR));
  if (f->field == MG_INPUT_BETA) return mg_metric_average_betas(f->h);
  MG_IF_SOLIDS(if (f->is_mask) return mg_solids_take_mask(f->h));
  if (f->field == MG_INPUT_GIVEN) return take_given(f);
  if (!f->wall) return MG_OK;
  const bool periodic = mg_params_is_periodic(&f->h->params, d);
  if (f->place->has_walls && !periodic) MG_TRY(read_walls(f, d));
  if (!periodic && !f->has_mask) MG_TRY(check_sides(f));
  return close_faces(f, d);
}

/* Sum over all ranks. Fields have different weights, so that swapping two changes the checksum,
 * which dumps store: a weight stays. */
static mg_status_t add_checksum(const field_t *f, mg_input_t *input) {
  static const int weight[MG_N_INPUTS] = {
      [MG_INPUT_ALPHA] = 1,  [MG_INPUT_BETA] = 3,  [MG_INPUT_BETA_I] = 5, [MG_INPUT_BETA_J] = 7,
      [MG_INPUT_BETA_K] = 9, [MG_INPUT_MASK] = 13, [MG_INPUT_F] = 11,     [MG_INPUT_GIVEN] = 15};
  uint64_t sum = f->checksum;
  MG_TRY(mg_checksum_sum(&sum, 1));
  input->checksum = (int64_t)((uint64_t)input->checksum + sum * (uint64_t)weight[f->field]);
  return MG_OK;
}

/* Check and keep the range of magnitudes over all ranks. If alpha is 0 everywhere and no wall fixes
 * u, u is unique only up to a constant. The squares of a tiny f underflow to 0, and conjugate
 * gradients divide by their sum. */
static mg_status_t take_range(const field_t *f, mg_input_t *input) {
  const int field = f->field;
  double smallest = f->smallest, largest = f->largest;
  MG_TRY(mg_comm_min(mg_comm_world(), &smallest, 1));
  MG_TRY(mg_comm_max(mg_comm_world(), &largest, 1));
  if (field == MG_INPUT_F && largest > 0.0 && largest < MG_MIN_VALUE)
    return mg_root_error(MG_ERR_IO, "--%s=%s: max|f| is %g; it must be 0 or at least 1e-60",
                         f->source->option, f->source->path, largest);
  if (field == MG_INPUT_ALPHA && largest == 0.0 && !f->has_mask &&
      !mg_params_has_fixing_side(&f->h->params))
    return mg_root_error(MG_ERR_IO,
                         "--%s=%s: alpha is 0 in all cells; without Dirichlet and Robin walls, "
                         "remove alpha to solve "
                         "--equation=poisson",
                         f->source->option, f->source->path);
  if (field == MG_INPUT_BETA && largest == 0.0)
    return mg_root_error(MG_ERR_IO, "--%s=%s: beta is 0 in all cells; give a beta above 0",
                         f->source->option, f->source->path);
  if (field < MG_INPUT_BETA || field > MG_INPUT_BETA_K) return MG_OK;
  if (input->beta[0] == 0.0 || smallest < input->beta[0]) input->beta[0] = smallest;
  if (largest > input->beta[1]) input->beta[1] = largest;
  return MG_OK;
}

static const mg_vector_t vector_of[MG_N_INPUTS] = {
    [MG_INPUT_ALPHA] = MG_ALPHA,   [MG_INPUT_BETA] = MG_U,        [MG_INPUT_BETA_I] = MG_BETA_I,
    [MG_INPUT_BETA_J] = MG_BETA_J, [MG_INPUT_BETA_K] = MG_BETA_K, [MG_INPUT_MASK] = MG_U,
    [MG_INPUT_F] = MG_F,           [MG_INPUT_GIVEN] = MG_U};

static mg_status_t load_field(mg_h5_t *file, const mg_input_source_t *source, int field,
                              mg_hierarchy_t *h, mg_input_t *input) {
  const mg_input_place_t *place = &input->place[field];
  field_t f = {.h = h,
               .io = {.file = file,
                      .n = input->n,
                      .precision = place->is_float ? MG_PRECISION_FLOAT : MG_PRECISION_DOUBLE,
                      .any_number = true,
                      .has_no_sums = !place->has_checksums,
                      .take = take_round,
                      .data = &f},
               .source = source,
               .name = mg_input_names[field],
               .place = place,
               .field = field,
               .vec = vector_of[field],
               .direction = field - MG_INPUT_BETA_I,
               .n = {input->n[0], input->n[1], input->n[2]},
               .smallest = INFINITY,
               .bad_plane = input->n[2],
               .is_signed = field >= MG_INPUT_F,
               .is_mask = field == MG_INPUT_MASK,
               .has_mask = input->place[MG_INPUT_MASK].path[0],
               .may_be_0 = field == MG_INPUT_ALPHA || field == MG_INPUT_MASK ||
                           (field < MG_INPUT_F && mg_may_close_faces(&h->params))};
  MG_TRY(mg_slabs_create(&h->level[0], mg_h5_ranks(), &f.io.slabs));
  const bool faces = field >= MG_INPUT_BETA_I && field <= MG_INPUT_BETA_K;
  const int64_t most = mg_boundary_faces_max(&h->level[0]);
  mg_status_t status = mg_comm_agree(faces ? mg_new(&f.wall, most, "input planes") : MG_OK);
  if (status == MG_OK) status = mg_comm_agree_or_end(read_field(&f));
  if (status == MG_OK) status = mg_comm_agree(take_range(&f, input));
  if (status == MG_OK) status = add_checksum(&f, input);
  mg_slabs_free(f.io.slabs);
  free(f.wall);
  return status;
}

/* Whether the mask has given cells; their u must be in the file of --rhs. */
static mg_status_t find_given(const mg_hierarchy_t *h, const mg_input_t *input, bool *has_given) {
  *has_given = false;
  MG_IF_SOLIDS(MG_TRY(mg_solids_find_given(h, has_given)));
  if (!*has_given || input->place[MG_INPUT_GIVEN].path[0]) return MG_OK;
  return mg_root_error(MG_ERR_IO,
                       "--coefficients=%s: mask has cells whose u is given (2), but %s%s "
                       "has no u; add it",
                       h->params.coefficients, h->params.rhs[0] ? "--rhs=" : "no file of --rhs",
                       h->params.rhs);
}

static mg_status_t load_source(const mg_input_source_t *source, mg_hierarchy_t *h,
                               mg_input_t *input, bool has_given) {
  mg_h5_t *file;
  mg_status_t status = mg_comm_agree(mg_h5_open(source->option, source->path, false, &file));
  for (int field = source->from; field < source->end && status == MG_OK; field++)
    if (input->place[field].path[0] && (field != MG_INPUT_GIVEN || has_given))
      status = load_field(file, source, field, h, input);
  return mg_status_worst(status, mg_comm_agree(mg_h5_close(file)));
}

/* With a file, nothing is built in: fields that no file has are constants. alpha is 1 already. */
static mg_status_t fill_others(mg_hierarchy_t *h, const mg_input_t *input) {
  const mg_input_place_t *place = input->place;
  if (!place[MG_INPUT_BETA].path[0] && !place[MG_INPUT_BETA_I].path[0]) {
    MG_TRY(mg_fill(&h->level[0], MG_U, 1.0));
    MG_TRY(mg_metric_average_betas(h));
  }
  return place[MG_INPUT_F].path[0] ? MG_OK : mg_fill(&h->level[0], MG_F, 0.0);
}

/* Checksum of all that defines the problem beside the files' fields and boundary values: its
 * conditions, and the widths that the files state, even if an option replaces them. */
static uint64_t checksum_of_problem(const mg_params_t *p, const mg_input_t *input) {
  double value[64] = {p->op, p->equation, p->mean};
  int n = 3;
  for (int d = 0; d < 3; d++) {
    value[n++] = p->length[d];
    value[n++] = input->grid.h[d];
    value[n++] = input->grid.length[d];
    for (int side = 0; side < 2; side++) {
      const mg_side_t *c = &p->side[d][side];
      value[n++] = c->wall;
      value[n++] = c->u;
      value[n++] = c->flux;
      value[n++] = c->value;
    }
  }
  uint64_t sum = mg_checksum_doubles(value, n, UINT64_C(1) << 31);
  for (int d = 0; d < 3; d++)
    if (input->grid.axes.face[d])
      sum +=
          (uint64_t)(2 * d + 3) * mg_checksum_doubles(input->grid.axes.face[d], input->n[d] + 1, 0);
  return sum;
}

mg_status_t mg_input_load(void *data, mg_hierarchy_t *h) {
  mg_input_t *input = data;
  const mg_input_source_t source[] = {mg_input_source(&h->params, false),
                                      mg_input_source(&h->params, true)};
  input->first = input->checksum;
  input->checksum = (int64_t)checksum_of_problem(&h->params, input);
  input->beta[0] = input->beta[1] = 0.0;
  MG_TRY(fill_others(h, input));
  bool has_given;
  if (source[0].path[0]) MG_TRY(load_source(&source[0], h, input, false));
  MG_TRY(find_given(h, input, &has_given));
  if (source[1].path[0]) MG_TRY(load_source(&source[1], h, input, has_given));
  if (!mg_params_is_singular(&h->params) || input->beta[1] <= MG_MAX_RATIO * input->beta[0])
    return MG_OK;
  return mg_root_error(
      MG_ERR_IO,
      "--%s=%s: beta is from %g to %g; if no side and no alpha fix u, the greatest may "
      "be at most 1e20 times the least, because of round-off; %s "
      "closes a face",
      source[0].option, source[0].path, input->beta[0], input->beta[1],
      mg_may_close_faces(&h->params) ? "0" : "1e-12 of the greatest");
}

mg_status_t mg_input_load_wall(void *data, mg_hierarchy_t *h, int d, int side) {
  mg_input_t *input = data;
  const mg_input_source_t source = mg_input_source(&h->params, true);
  mg_input_place_t place = {.path = ""};
  field_t f = {.source = &source,
               .name = mg_input_wall_path(d, side),
               .place = &place,
               .n = {0, 0, 1},
               .is_signed = true,
               .smallest = INFINITY,
               .bad_plane = 1};
  int32_t n[2];
  double *values;
  const int64_t faces = mg_boundary_faces_size(input->n, d, n);
  MG_TRY(mg_comm_agree(mg_new(&values, faces, "boundary values")));
  mg_status_t status = MG_ON_ROOT(read_alone(&source, f.name, n, &place.gaps, values));
  if (status == MG_OK && mg_comm_is_root()) check_values(&f, values, faces, n[0], 0, true);
  if (status == MG_OK) status = judge(&f);
  if (status == MG_OK) status = mg_boundary_move(&h->level[0], MG_U, d, side, true, values);
  if (status == MG_OK)
    input->checksum =
        (int64_t)((uint64_t)input->checksum +
                  mg_checksum_doubles(values, faces, (uint64_t)(2 * d + side + 1) * 0x10001));
  free(values);
  return status;
}
