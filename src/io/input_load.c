/* Read the fields of a user-defined problem, check them, and copy them to the finest level. */
#include "base/alloc.h"
#include "base/log.h"
#include "formulas/arrays.h"
#include "formulas/walls.h"
#include "io/boundary_faces_io.h"
#include "io/checksum.h"
#include "io/field_io.h"
#include "io/hdf5/h5.h"
#include "io/input.h"
#include "io/slabs.h"
#include "level/ops.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of reading one field from its file to the finest level. */
typedef struct {
  mg_hierarchy_t *h;
  mg_h5_t *file;
  const char *option, *name, *file_path;
  const mg_input_place_t *place;
  mg_slabs_t *slabs;
  mg_h5_data_t data, sums;
  int32_t n[3];   /* cells in i, j, k */
  bool is_signed; /* f: any sign, or zero */
  bool may_be_0;  /* alpha */
  int direction;  /* of a face field */
  bool closed[2]; /* sides of a face field's direction with Neumann's condition */
  uint64_t *want; /* expected checksums of a round's planes */
  float *floats;  /* one plane */
  double *cells;  /* a round's planes and the plane below them, for cell-centered betas */
  double *wall;   /* the faces at an upper wall, as far as this rank knows them */
  int64_t faces;  /* of the largest wall */
  uint64_t checksum;
  double smallest, largest; /* magnitudes */
  int32_t bad_plane;        /* n[2]: none; n[2] - 1 also covers the wall behind it */
  int64_t bad_cell;         /* within the plane or wall */
  int32_t bad_row;          /* cells in a row of the plane or wall */
  double bad_value;
  bool bad_wall, damaged;
} field_t;

static int64_t plane_cells(const field_t *f) {
  return (int64_t)f->n[0] * f->n[1];
}

static bool is_allowed(const field_t *f, double value) {
  if (mg_input_is_missing(&f->place->gaps, value)) return false;
  if (f->is_signed) return fabs(value) <= MG_MAX_VALUE;
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
  const double other = f->may_be_0 ? 0.0 : lowest;                   /* one more allowed value */
  const double least = f->closed[0] || f->closed[1] ? DBL_MIN : 0.0; /* skips closed faces */
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
  if (bad > 0) blame(f, cells, n, row, plane, wall);
}

/* Compare with the checksum in the file, computed from the values as stored there. */
static void compare_checksum(field_t *f, const double *cells, int32_t plane, uint64_t of_doubles,
                             uint64_t want) {
  uint64_t got = of_doubles;
  const int64_t n = plane_cells(f);
  if (!f->place->has_checksums) return;
  if (f->place->is_float) {
    for (int64_t c = 0; c < n; c++)
      f->floats[c] = (float)cells[c];
    got = mg_checksum_floats(f->floats, n, (uint64_t)(plane * n));
  }
  if (got == want || f->bad_plane < f->n[2]) return;
  f->bad_plane = plane;
  f->damaged = true;
}

/* Report one line, from the rank with the first bad plane. */
static mg_status_t judge(const field_t *f) {
  double first = f->bad_plane;
  MG_TRY(mg_comm_min(mg_comm_world(), &first, 1));
  if (first >= f->n[2]) return MG_OK;
  if (first != f->bad_plane) return MG_ERR_IO;
  if (f->damaged)
    return mg_error(MG_ERR_IO, "--%s=%s: plane %d of %s is damaged: its checksum does not match",
                    f->option, f->file_path, f->bad_plane, f->name);
  const long long j = f->bad_cell / f->bad_row, i = f->bad_cell % f->bad_row;
  char value[32] = "nan", place[128];
  if (!isnan(f->bad_value)) snprintf(value, sizeof value, "%g", f->bad_value);
  if (f->bad_wall)
    snprintf(place, sizeof place, "on the upper boundary, at [%lld][%lld]", j, i);
  else
    snprintf(place, sizeof place, "in plane %d, at [%d][%lld][%lld]", f->bad_plane, f->bad_plane, j,
             i);
  return mg_error(MG_ERR_IO, "--%s=%s: %s has %s %s; it must be %s", f->option, f->file_path,
                  f->name, value, place,
                  mg_input_is_missing(&f->place->gaps, f->bad_value)
                      ? "a number; this one marks a missing value (netCDF, NumPy)"
                  : f->is_signed ? "finite and at most 1e60 in magnitude"
                  : f->may_be_0  ? "0 or from 1e-60 to 1e60"
                  : f->bad_value == 0 && strncmp(f->name, "beta_", 5) == 0
                      ? "from 1e-60 to 1e60; 0 is allowed on sides with --boundary=neumann"
                      : "from 1e-60 to 1e60");
}

static void check_planes(field_t *f, const mg_slab_t *slab) {
  const int64_t n = plane_cells(f);
  for (int32_t k = 0; f->file && k < slab->n; k++) {
    const int32_t plane = slab->first + k;
    const double *cells = slab->cells + k * n;
    const uint64_t checksum = mg_checksum_doubles(cells, n, (uint64_t)(plane * n));
    compare_checksum(f, cells, plane, checksum, f->want[k]);
    check_values(f, cells, n, f->n[0], plane, false);
    f->checksum += checksum;
  }
}

/* Read a round's planes into its slab. */
static mg_status_t read_round(field_t *f, int round, mg_slab_t *slab) {
  *slab = mg_slabs_planes(f->slabs, round);
  MG_TRY(mg_comm_agree(mg_h5_read_planes(f->file, &f->data, slab->first, slab->n, slab->cells)));
  if (f->place->has_checksums)
    MG_TRY(mg_comm_agree(mg_h5_read_planes(f->file, &f->sums, slab->first, slab->n, f->want)));
  check_planes(f, slab);
  return judge(f);
}

static mg_status_t read_cells(field_t *f, mg_vector_t vec) {
  for (int round = 0; round < mg_slabs_rounds(f->slabs); round++) {
    mg_slab_t slab;
    MG_TRY(read_round(f, round, &slab));
    MG_TRY(mg_comm_agree_or_end(mg_slabs_store(f->slabs, vec, round)));
  }
  return MG_OK;
}

/* Copy the last cells or faces of a slab in direction d to their place in the upper wall. */
static void keep_last(const field_t *f, const mg_slab_t *slab, const double *cells, int d,
                      double *wall) {
  const int64_t n0 = f->n[0], n1 = f->n[1], plane = plane_cells(f), row = d == 0 ? n1 : n0;
  for (int32_t k = 0; k < slab->n; k++) {
    const double *from = cells + k * plane;
    const int64_t global = slab->first + k;
    if (d == 2 && global == f->n[2] - 1) memcpy(wall, from, (size_t)plane * sizeof *wall);
    for (int64_t c = 0; d < 2 && c < row; c++)
      wall[global * row + c] = d == 0 ? from[c * n0 + n0 - 1] : from[(n1 - 1) * n0 + c];
  }
}

/* Fill the upper faces of patches: from the next patch, or at the upper wall from the ranks'
 * known values. */
static mg_status_t close_faces(field_t *f, int d, double *wall) {
  mg_level_t *level = &f->h->level[0];
  if (level->comm) MG_TRY(mg_halo(level, MG_BETA_I + d, false));
  if (mg_is_periodic(&level->store.view, d)) return MG_OK;
  return mg_boundary_faces_put(level, d, wall);
}

/* Read the stored checksums of a wall's rows. */
static mg_status_t read_wall_sums(field_t *f, int32_t rows, uint64_t *sums) {
  char path[MG_INPUT_PATH_MAX];
  snprintf(path, sizeof path, "/HPGMG/checksums/walls/%s", f->name);
  return mg_dataset_move(f->file, path, MG_H5_UINT64, 1, &rows, false, sums);
}

/* On rank 0, which has the wall. Its checksums count towards the problem's checksum, stored or
 * not. */
static mg_status_t compare_wall_sums(field_t *f, const char *path, const int32_t size[2],
                                     const uint64_t *want) {
  const int64_t n = size[0];
  for (int64_t row = 0; row < size[1]; row++) {
    const uint64_t sum = mg_checksum_doubles(f->wall + row * n, n, (uint64_t)(row * n));
    if (f->place->has_wall_checksums && sum != want[row])
      return mg_error(MG_ERR_IO, "--%s=%s: row %lld of %s is damaged: its checksum does not match",
                      f->option, f->file_path, (long long)row, path);
    f->checksum += sum;
  }
  return MG_OK;
}

static mg_status_t check_wall_sums(field_t *f, const char *path, const int32_t n[2]) {
  uint64_t *want;
  mg_status_t status = mg_comm_agree(mg_new(&want, n[1], "checksums"));
  if (status == MG_OK && f->place->has_wall_checksums) status = read_wall_sums(f, n[1], want);
  if (status == MG_OK && mg_comm_is_root()) status = compare_wall_sums(f, path, n, want);
  free(want);
  return mg_comm_agree(status);
}

static mg_status_t read_walls(field_t *f, int d) {
  char path[MG_INPUT_PATH_MAX];
  mg_h5_data_t data;
  int32_t n[2];
  const int64_t faces = mg_boundary_faces_size(f->n, d, n);
  snprintf(path, sizeof path, "/HPGMG/walls/%s", f->name);
  MG_TRY(mg_comm_agree(mg_h5_data_open_numbers(f->file, path, 2, n, &data)));
  memset(f->wall, 0, (size_t)faces * sizeof *f->wall);
  const mg_status_t status =
      mg_comm_agree(mg_h5_read_planes(f->file, &data, 0, mg_comm_is_root() ? n[1] : 0, f->wall));
  MG_TRY(mg_status_worst(status, mg_comm_agree(mg_h5_data_close(f->file, &data))));
  MG_TRY(check_wall_sums(f, path, n));
  if (mg_comm_is_root()) check_values(f, f->wall, faces, n[0], f->n[2] - 1, true);
  return judge(f);
}

static mg_status_t read_faces(field_t *f, int d) {
  f->direction = d;
  for (int side = 0; side < 2; side++)
    f->closed[side] = mg_gives_flux(&f->h->params.side[d][side]);
  memset(f->wall, 0, (size_t)f->faces * sizeof *f->wall);
  for (int round = 0; round < mg_slabs_rounds(f->slabs); round++) {
    mg_slab_t slab;
    MG_TRY(read_round(f, round, &slab));
    keep_last(f, &slab, slab.cells, d, f->wall);
    MG_TRY(mg_comm_agree_or_end(mg_slabs_store(f->slabs, MG_BETA_I + d, round)));
  }
  if (f->place->has_walls && !mg_params_is_periodic(&f->h->params, d)) MG_TRY(read_walls(f, d));
  return close_faces(f, d, f->wall);
}

/* Compute the lower face in direction d of every cell in the slab. `cells` begins with the plane
 * below the slab. At a wall, the face takes the cell's value, since only half a cell lies on
 * that side. */
static void average(const field_t *f, const mg_slab_t *slab, int d, bool periodic) {
  const int64_t n = f->n[0], rows = f->n[1], plane = plane_cells(f),
                stride = d == 0   ? 1
                         : d == 1 ? n
                                  : plane;
  const int64_t around = periodic ? (f->n[d] - 1) * stride : 0;
  const double *position = f->h->params.face[d];
#pragma omp parallel for
  for (int64_t row = 0; row < slab->n * rows; row++) {
    const double *cell = f->cells + plane + row * n;
    double *face = slab->cells + row * n;
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = d == 0 ? i : d == 1 ? row % rows : slab->first + row / rows;
      const int64_t below = at > 0 ? at - 1 : f->n[d] - 1;
      const double low = cell[i + (d < 2 && at == 0 ? around : -stride)];
      face[i] = position ? mg_weighted_harmonic(low, position[below + 1] - position[below], cell[i],
                                                position[at + 1] - position[at])
                         : mg_harmonic(low, cell[i]);
    }
  }
}

/* Read the plane below a slab; at a wall, the slab's own first plane. */
static mg_status_t read_below(field_t *f, const mg_slab_t *slab, bool periodic) {
  const int32_t below = slab->first > 0 ? slab->first - 1 : periodic ? f->n[2] - 1 : 0;
  return mg_comm_agree(mg_h5_read_planes(f->file, &f->data, below, slab->n > 0 ? 1 : 0, f->cells));
}

static mg_status_t read_beta(field_t *f) {
  const size_t plane = (size_t)plane_cells(f);
  double *wall[3] = {f->wall, f->wall + f->faces, f->wall + 2 * f->faces};
  memset(f->wall, 0, 3 * (size_t)f->faces * sizeof *f->wall);
  for (int round = 0; round < mg_slabs_rounds(f->slabs); round++) {
    mg_slab_t slab;
    MG_TRY(read_round(f, round, &slab));
    MG_TRY(read_below(f, &slab, mg_params_is_periodic(&f->h->params, 2)));
    if (slab.n > 0) memcpy(f->cells + plane, slab.cells, (size_t)slab.n * plane * sizeof *f->cells);
    for (int d = 0; d < 3; d++) {
      keep_last(f, &slab, f->cells + plane, d, wall[d]);
      average(f, &slab, d, mg_params_is_periodic(&f->h->params, d));
      MG_TRY(mg_comm_agree_or_end(mg_slabs_store(f->slabs, MG_BETA_I + d, round)));
    }
  }
  for (int d = 0; d < 3; d++)
    MG_TRY(close_faces(f, d, wall[d]));
  return MG_OK;
}

static mg_status_t read_field(field_t *f, int field) {
  switch (field) {
  case MG_INPUT_ALPHA:
    return read_cells(f, MG_ALPHA);
  case MG_INPUT_BETA:
    return read_beta(f);
  case MG_INPUT_F:
    return read_cells(f, MG_F);
  default:
    return read_faces(f, field - MG_INPUT_BETA_I);
  }
}

static mg_status_t allocate(field_t *f, int field) {
  const int64_t plane = plane_cells(f), planes = mg_slabs_planes(f->slabs, 0).n;
  const bool cells = field == MG_INPUT_BETA, walls = field >= MG_INPUT_BETA && field < MG_INPUT_F;
  MG_TRY(mg_new(&f->want, planes, "checksums"));
  if (f->place->is_float) MG_TRY(mg_new(&f->floats, plane, "input planes"));
  if (cells) MG_TRY(mg_new(&f->cells, (planes + 1) * plane, "input planes"));
  f->faces = mg_boundary_faces_max(&f->h->level[0]);
  return walls ? mg_new(&f->wall, (cells ? 3 : 1) * f->faces, "input planes") : MG_OK;
}

static mg_status_t open_data(field_t *f) {
  char path[MG_INPUT_PATH_MAX];
  MG_TRY(mg_comm_agree(mg_h5_data_open_numbers(f->file, f->place->path, 3, f->n, &f->data)));
  if (!f->place->has_checksums) return MG_OK;
  snprintf(path, sizeof path, "/HPGMG/checksums/level_0/%s", f->name);
  return mg_comm_agree(mg_h5_data_open(f->file, path, MG_H5_UINT64, 1, &f->n[2], &f->sums));
}

/* Sum over all ranks. Fields have different weights, so that swapping two changes the checksum. */
static mg_status_t add_checksum(const field_t *f, int field, mg_input_t *input) {
  double halves[2] = {(double)(f->checksum >> 32), (double)(f->checksum & 0xffffffffu)};
  MG_TRY(mg_comm_sum(mg_comm_world(), halves, 2));
  const uint64_t sum = ((uint64_t)halves[0] << 32) + (uint64_t)halves[1];
  input->checksum = (int64_t)((uint64_t)input->checksum + sum * (uint64_t)(2 * field + 1));
  return MG_OK;
}

static mg_status_t add_range(const field_t *f, mg_input_t *input) {
  double smallest = f->smallest, largest = f->largest;
  MG_TRY(mg_comm_min(mg_comm_world(), &smallest, 1));
  MG_TRY(mg_comm_max(mg_comm_world(), &largest, 1));
  if (input->beta[0] == 0.0 || smallest < input->beta[0]) input->beta[0] = smallest;
  if (largest > input->beta[1]) input->beta[1] = largest;
  return MG_OK;
}

/* If alpha is 0 everywhere and no wall fixes u, u is unique only up to a constant. The squares
 * of a tiny f underflow to 0, and conjugate gradients divide by their sum. */
static mg_status_t check_largest(const field_t *f, int field) {
  double largest = f->largest;
  MG_TRY(mg_comm_max(mg_comm_world(), &largest, 1));
  if (field == MG_INPUT_F && largest > 0.0 && largest < MG_MIN_VALUE) {
    return mg_root_error(MG_ERR_IO, "--%s=%s: max|f| is %g; it must be 0 or at least 1e-60",
                         f->option, f->file_path, largest);
  }
  if (field != MG_INPUT_ALPHA || largest > 0.0 || mg_params_has_fixing_side(&f->h->params))
    return MG_OK;
  return mg_root_error(
      MG_ERR_IO,
      "--%s=%s: alpha is 0 in all cells; without Dirichlet and Robin walls, remove alpha to solve "
      "--equation=poisson",
      f->option, f->file_path);
}

static mg_status_t load_field(mg_h5_t *file, const mg_input_source_t *source, int field,
                              mg_hierarchy_t *h, mg_input_t *input) {
  field_t f = {.h = h,
               .file = file,
               .option = source->option,
               .name = mg_input_names[field],
               .file_path = source->path,
               .place = &input->place[field],
               .data = {.id = -1},
               .sums = {.id = -1},
               .n = {input->n[0], input->n[1], input->n[2]},
               .smallest = INFINITY,
               .bad_plane = input->n[2],
               .is_signed = field == MG_INPUT_F,
               .may_be_0 = field == MG_INPUT_ALPHA};
  MG_TRY(mg_slabs_create(&h->level[0], mg_h5_ranks(), &f.slabs));
  mg_status_t status = mg_comm_agree(allocate(&f, field));
  if (status == MG_OK) status = open_data(&f);
  if (status == MG_OK) status = mg_comm_agree_or_end(read_field(&f, field));
  if (status == MG_OK) status = mg_comm_agree(check_largest(&f, field));
  if (status == MG_OK && field >= MG_INPUT_BETA && field <= MG_INPUT_BETA_K)
    status = add_range(&f, input);
  if (status == MG_OK) status = add_checksum(&f, field, input);
  status = mg_status_worst(status, mg_comm_agree(mg_h5_data_close(file, &f.data)));
  status = mg_status_worst(status, mg_comm_agree(mg_h5_data_close(file, &f.sums)));
  mg_slabs_free(f.slabs);
  free(f.want), free(f.floats), free(f.cells), free(f.wall);
  return status;
}

static mg_status_t load_source(const mg_input_source_t *source, mg_hierarchy_t *h,
                               mg_input_t *input) {
  mg_h5_t *file;
  mg_status_t status = mg_comm_agree(mg_h5_open_input(source->option, source->path, &file));
  for (int field = source->from; field < source->end && status == MG_OK; field++)
    if (input->place[field].path[0]) status = load_field(file, source, field, h, input);
  return mg_status_worst(status, mg_comm_agree(mg_h5_close(file)));
}

/* beta = 1 on all faces. */
static mg_status_t fill_beta(mg_hierarchy_t *h) {
  double *wall;
  mg_level_t *level = &h->level[0];
  const int64_t faces = mg_boundary_faces_max(level);
  MG_TRY(mg_comm_agree(mg_new(&wall, faces, "input planes")));
  mg_status_t status = MG_OK;
  for (int d = 0; d < 3 && status == MG_OK; d++) {
    for (int64_t i = 0; i < faces; i++)
      wall[i] = mg_comm_is_root() ? 1.0 : 0.0;
    status = mg_fill(level, MG_BETA_I + d, 1.0);
    if (status == MG_OK) status = close_faces(&(field_t){.h = h}, d, wall);
  }
  free(wall);
  return status;
}

/* With a file, nothing is built in: fields that no file has are constants. alpha is 1 already. */
static mg_status_t fill_others(mg_hierarchy_t *h, const mg_input_t *input) {
  const mg_input_place_t *place = input->place;
  if (!place[MG_INPUT_BETA].path[0] && !place[MG_INPUT_BETA_I].path[0]) MG_TRY(fill_beta(h));
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
  const mg_input_source_t source[] = {mg_input_coefficients(&h->params), mg_input_rhs(&h->params)};
  input->checksum = (int64_t)checksum_of_problem(&h->params, input);
  input->beta[0] = input->beta[1] = 0.0;
  MG_TRY(fill_others(h, input));
  for (int s = 0; s < 2; s++)
    if (source[s].path[0]) MG_TRY(load_source(&source[s], h, input));
  if (!mg_params_is_singular(&h->params) || input->beta[1] <= MG_MAX_RATIO * input->beta[0])
    return MG_OK;
  return mg_root_error(
      MG_ERR_IO,
      "--%s=%s: beta is from %g to %g; if no side and no alpha fix u, the greatest may "
      "be at most 1e20 times the least, because of round-off; 1e-12 of the greatest "
      "closes a face as well",
      source[0].option, source[0].path, input->beta[0], input->beta[1]);
}
