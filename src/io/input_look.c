#include "base/alloc.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/real_path.h"
#include "io/boundary_faces_io.h"
#include "io/input_parts.h"
#include "params/params_wings.h"
#include "solver/solids.h"
#include <stdio.h>
#include <string.h>

/* --- contents of the files ------------------------------------------------------------- */

/* The version of a dump determines how its checksums are computed; files of users have none. */
static mg_status_t check_version(const mg_input_look_t *in) {
  bool there;
  int64_t version;
  MG_TRY(mg_h5_get(in->file, MG_DUMP_OURS, "format_version", MG_H5_INT64, &version, 1, &there));
  if (!there || version == MG_FORMAT_VERSION) return MG_OK;
  return mg_h5_wrong(in->file, ": format_version is %lld; this program reads version %d",
                     (long long)version, MG_FORMAT_VERSION);
}

/* Find a field of cells, which may be stored as point data, as in a dump. */
static mg_status_t find_field(const mg_input_look_t *in, int field, mg_input_place_t *place,
                              mg_h5_look_t *look) {
  const char *name = mg_input_names[field];
  char cells[MG_INPUT_PATH_MAX], points[MG_INPUT_PATH_MAX], walls[MG_INPUT_PATH_MAX];
  mg_h5_look_t look_points, look_walls;
  bool has_sums;
  snprintf(cells, sizeof cells, "/VTKHDF/CellData/%s", name);
  snprintf(points, sizeof points, "/VTKHDF/PointData/%s", name);
  snprintf(walls, sizeof walls, "/HPGMG/walls/%s", name);
  MG_TRY(mg_h5_inspect(in->file, cells, look));
  MG_TRY(mg_h5_inspect(in->file, points, &look_points));
  if (look->there && look_points.there)
    return mg_h5_wrong(in->file, " has both %s and %s; remove one of them", cells, points);
  const char *path = look_points.there ? points : cells;
  MG_TRY(mg_sums_inspect(in->file, &in->sums, path, look, &place->has_checksums));
  if (!look->there) return MG_OK;
  memcpy(place->path, path, sizeof place->path);
  MG_TRY(mg_input_find_gaps(in->file, place->path, &place->gaps));
  place->is_float = look->type == MG_H5_FLOAT;
  if (field < MG_INPUT_BETA_I || field > MG_INPUT_BETA_K) return MG_OK;
  MG_TRY(mg_sums_inspect(in->file, &in->sums, walls, &look_walls, &has_sums));
  place->has_walls = look_walls.there;
  return MG_OK;
}

/* Check that all fields have the same size. from_before: it was set by an earlier file. A mismatch
 * between two files is a usage error; within one, the file is wrong. */
static mg_status_t take_size(const mg_input_look_t *in, const mg_input_place_t *place,
                             const mg_h5_look_t *look, bool from_before, mg_input_t *input) {
  int32_t n[3] = {0, 0, 0};
  if (look->rank != 3)
    return mg_h5_wrong(in->file, ": %s has %d dimensions; it must have 3", place->path, look->rank);
  for (int d = 0; d < 3; d++) {
    const int64_t size = look->size[2 - d]; /* k is the first */
    if (size < 1 || size > MG_MAX_DIM)
      return mg_h5_wrong(in->file, ": %s has %lld cells in %c; it must have 1 to %d", place->path,
                         (long long)size, "xyz"[d], MG_MAX_DIM);
    n[d] = (int32_t)size;
  }
  if (input->n[0] == 0) memcpy(input->n, n, sizeof n);
  if (memcmp(input->n, n, sizeof n) == 0) return MG_OK;
  return mg_error(from_before ? MG_ERR_USAGE : MG_ERR_IO,
                  "--%s=%s: %s has %s cells, but other fields have %s; use one size",
                  in->source->option, in->source->path, place->path, mg_grid(n).text,
                  mg_grid(input->n).text);
}

static bool has_points(const mg_input_place_t *place) {
  return strncmp(place->path, "/VTKHDF/PointData", strlen("/VTKHDF/PointData")) == 0;
}

/* Cells and points in one file would be on two grids. */
static mg_status_t check_centering(const mg_input_look_t *in,
                                   const mg_input_place_t *place[MG_N_INPUTS], bool *points) {
  const mg_input_place_t *first = NULL;
  *points = false;
  for (int field = 0; field < MG_N_INPUTS; field++) {
    if (!place[field]) continue;
    if (first && has_points(first) != has_points(place[field]))
      return mg_h5_wrong(in->file, " has %s, but %s; store both as CellData or PointData",
                         first->path, place[field]->path);
    first = place[field];
  }
  *points = first && has_points(first);
  return MG_OK;
}

/* Look for values of a condition that differ from face to face, and check them. */
static mg_status_t find_side(const mg_input_look_t *in, const mg_params_t *params, int d, int side,
                             const mg_input_t *input) {
  const char *name = mg_input_wall_path(d, side);
  mg_h5_look_t look;
  int32_t n[2];
  bool has_sums;
  MG_TRY(mg_sums_inspect(in->file, &in->sums, name, &look, &has_sums));
  if (!look.there) return MG_OK;
  mg_boundary_faces_size(input->n, d, n);
  if (look.rank != 2 || look.size[0] != n[1] || look.size[1] != n[0])
    return mg_h5_wrong(in->file,
                       ": %s must have %d x %d values, one for each face of the side; it has "
                       "%d dimension%s, the first of %lld",
                       name, (int)n[1], (int)n[0], look.rank, look.rank == 1 ? "" : "s",
                       (long long)look.size[0]);
  if (mg_params_is_periodic(params, d))
    return mg_error(MG_ERR_USAGE,
                    "--rhs=%s has %s, but the side is periodic; choose another --boundary",
                    params->rhs, name);
  if (params->side[d][side].value != 0.0)
    return mg_error(MG_ERR_USAGE,
                    "--boundary has the value %g for a side whose values --rhs=%s has in %s; drop "
                    "one of them",
                    params->side[d][side].value, params->rhs, name);
  return MG_OK;
}

/* Find the fields of the source, and note which others the file has. */
static mg_status_t find_fields(mg_h5_t *file, const mg_input_source_t *source,
                               const mg_params_t *params, mg_input_t *input) {
  const bool from_before = input->n[0] > 0, is_rhs = source->is_rhs;
  const mg_input_place_t *read[MG_N_INPUTS] = {NULL};
  mg_input_look_t in = {.source = source, .file = file};
  bool points;
  MG_TRY(mg_input_check_names(&in));
  MG_TRY(check_version(&in));
  MG_TRY(mg_sums_list_read(file, &in.sums));
  input->has_checksums[is_rhs] = in.sums.words[0] != '\0';
  for (int field = 0; field < MG_N_INPUTS; field++) {
    const bool own = field >= source->from && field < source->end;
    mg_input_place_t other = {.path = ""}, *place = own ? &input->place[field] : &other;
    mg_h5_look_t look;
    MG_TRY(find_field(&in, field, place, &look));
    if (place->path[0] == '\0') continue;
    input->held[is_rhs] |= 1u << field;
    if (!own) continue;
    read[field] = place;
    MG_TRY(take_size(&in, place, &look, from_before, input));
  }
  MG_TRY(check_centering(&in, read, &points));
  for (int side = 0; side < 6; side++) {
    bool there;
    MG_TRY(mg_h5_exists(file, mg_input_wall_path(side / 2, side % 2), &there));
    if (there) input->held[is_rhs] |= MG_INPUT_SIDE(side / 2, side % 2);
  }
  if (input->n[0] == 0) return MG_OK;
  MG_TRY(mg_input_find_grid(&in, points, input));
  for (int side = 0; side < 6 && is_rhs; side++)
    MG_TRY(find_side(&in, params, side / 2, side % 2, input));
  return MG_OK;
}

/* Check that a problem has one kind of beta, and all of its components. */
static mg_status_t check_fields(mg_h5_t *file, const mg_input_source_t *source,
                                const mg_input_t *input) {
  const bool is_rhs = source->is_rhs;
  int n = 0, faces = 0;
  char held[300];
  for (int field = source->from; field < source->end; field++) {
    const bool there = input->place[field].path[0] != '\0';
    n += there && field != MG_INPUT_GIVEN;
    faces += there && field >= MG_INPUT_BETA_I && field <= MG_INPUT_BETA_K;
  }
  /* Values of sides alone are a problem if the other file gives the size. */
  if (n == 0 && !(is_rhs && input->held[1] & MG_INPUT_BOUNDARY && input->n[0] > 0)) {
    mg_h5_name_datasets(file, held, (int)sizeof held);
    return mg_h5_wrong(file, " has no %s in /VTKHDF/CellData; %s",
                       is_rhs ? "f" : "alpha, beta, beta_i, beta_j, beta_k or mask", held);
  }
  if (faces != 0 && faces != 3)
    return mg_h5_wrong(file, " has %d of beta_i, beta_j and beta_k; all three are required", faces);
  if (!is_rhs && faces == 3 && input->place[MG_INPUT_BETA].path[0] != '\0')
    return mg_h5_wrong(
        file, " has both cell beta and face beta_i, beta_j, beta_k; remove one of the two");
  return MG_OK;
}

/* On the calling rank only. */
static mg_status_t look_into(const mg_input_source_t *source, const mg_params_t *params,
                             mg_input_t *input) {
  mg_h5_t *file;
  const char *why = mg_path_why_unreadable(source->path);
  if (why)
    return mg_error(MG_ERR_IO, "--%s=%s cannot be opened: %s", source->option, source->path, why);
  MG_TRY(mg_h5_open(source->option, source->path, true, &file));
  mg_status_t status = find_fields(file, source, params, input);
  if (status == MG_OK) status = check_fields(file, source, input);
  return mg_status_worst(status, mg_h5_close(file));
}

/* --- fields of the other option -------------------------------------------------------- */

#define BETAS                                                                                      \
  (1u << MG_INPUT_BETA | 1u << MG_INPUT_BETA_I | 1u << MG_INPUT_BETA_J | 1u << MG_INPUT_BETA_K)

/* Datasets that are one part of a problem, and the option whose file has it. */
typedef struct {
  unsigned bits;
  const char *name;
  bool is_rhs;
} part_t;
static const part_t parts[] = {{1u << MG_INPUT_ALPHA, "alpha", false},
                               {1u << MG_INPUT_MASK, "mask", false},
                               {BETAS, "beta", false},
                               {1u << MG_INPUT_F, "f", true},
                               {MG_INPUT_BOUNDARY, "/boundary", true}};

/* If both options name files, each file gives its own parts. A part that only the other file has
 * would be ignored. */
static mg_status_t check_parts(const mg_params_t *params, mg_input_t *input) {
  if (!params->coefficients[0] || !params->rhs[0] ||
      mg_path_is_same(params->coefficients, params->rhs))
    return MG_OK;
  for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
    const part_t *part = &parts[p];
    const mg_input_source_t own = mg_input_source(params, part->is_rhs),
                            other = mg_input_source(params, !part->is_rhs);
    const unsigned held = input->held[other.is_rhs] & part->bits;
    if (held && !(input->held[own.is_rhs] & part->bits))
      return mg_error(MG_ERR_USAGE,
                      "--%s=%s has %s, but %s is read from --%s=%s, which has none; move it there, "
                      "or remove it",
                      other.option, other.path, part->name, part->name, own.option, own.path);
    input->unused[other.is_rhs] |= held;
  }
  return MG_OK;
}

/* --- both files ------------------------------------------------------------------------ */

mg_status_t mg_input_look(const mg_params_t *params, mg_input_t *input) {
  const mg_input_source_t coefficients = mg_input_source(params, false),
                          rhs = mg_input_source(params, true);
  *input = (mg_input_t){0};
  if (coefficients.path[0] != '\0') MG_TRY(look_into(&coefficients, params, input));
  if (rhs.path[0] == '\0') return MG_OK;
  mg_input_grid_t first = input->grid;
  memset(&input->grid, 0, sizeof input->grid);
  mg_status_t status = look_into(&rhs, params, input);
  if (status == MG_OK) status = mg_input_join_grids(params, input->n, &first, &input->grid);
  if (status != MG_OK) mg_axes_free(&input->grid.axes);
  input->grid = first;
  return status == MG_OK ? check_parts(params, input) : status;
}

/* Send rank 0's axes to all ranks. */
static mg_status_t share_axes(mg_input_t *input) {
  for (int d = 0; d < 3; d++) {
    double **face = &input->grid.axes.face[d];
    const int64_t n = (int64_t)input->n[d] + 1;
    if (!*face) continue;
    MG_TRY(mg_comm_agree(mg_comm_is_root() ? MG_OK : mg_new(face, n, "positions of faces")));
    MG_TRY(mg_comm_broadcast(mg_comm_world(), *face, (size_t)n * sizeof **face));
  }
  return MG_OK;
}

/* Options cannot change the axes of a file, and values on sides require --cells. */
static mg_status_t check_options(const mg_params_t *params, const mg_input_t *input) {
  const bool has_axes = input->grid.length[0] > 0.0, has_cells = mg_params_has_cells(params);
  const char *option = (has_axes || input->held[1] & MG_INPUT_BOUNDARY) && !has_cells
                           ? "LOG2_BOX_DIM"
                       : !has_axes                     ? NULL
                       : mg_params_has_stretch(params) ? "--stretch"
                       : params->spacing[0] > 0.0      ? "--spacing"
                                                       : NULL;
  if (!option) return MG_OK;
  return mg_root_error(MG_ERR_USAGE, "%s cannot be combined with a file that has %s; drop it",
                       option, has_axes ? "/grid with cells of different widths" : "/boundary");
}

static mg_status_t check_mask(const mg_params_t *params, const mg_input_t *input) {
  const bool has_mask = input->place[MG_INPUT_MASK].path[0];
  if (!has_mask || mg_may_close_faces(params)) return MG_OK;
  return mg_root_error(MG_ERR_USAGE, "--coefficients=%s has mask, which requires %s",
                       params->coefficients,
                       MG_WING_SOLIDS ? "a build with the wing 'solids'" : "--operator=7pt");
}

mg_status_t mg_input_open(mg_params_t *params, mg_input_t *input) {
  *input = (mg_input_t){0};
  if (!mg_params_has_files(params)) return MG_OK;
  MG_TRY(MG_ON_ROOT(mg_input_look(params, input)));
  MG_TRY(mg_comm_broadcast(mg_comm_world(), input, sizeof *input));
  MG_TRY(share_axes(input));
  for (int side = 0; side < 6; side++)
    params->side[side / 2][side % 2].varies = input->held[1] & MG_INPUT_SIDE(side / 2, side % 2);
  MG_TRY(check_options(params, input));
  MG_TRY(mg_input_check_domain(params, input));
  MG_TRY(check_mask(params, input));
  memcpy(params->origin, input->grid.origin, sizeof params->origin);
  if (input->place[MG_INPUT_ALPHA].path[0]) params->alpha_varies = true;
  return MG_OK;
}

mg_status_t mg_input_check_size(const mg_params_t *params, const mg_plan_t *plan,
                                const mg_input_t *input) {
  const int32_t *n = plan->level[0].layout.n;
  const mg_input_source_t source = mg_input_source(params, !params->coefficients[0]);
  const bool has_cells = mg_params_has_cells(params);
  if (input->n[0] == 0 || memcmp(input->n, n, sizeof input->n) == 0) return MG_OK;
  if (params->restart[0] != '\0')
    return mg_root_error(
        MG_ERR_USAGE,
        "--restart=%s, or LOG2_BOX_DIM and BOXES_PER_RANK, give %s cells, but --%s=%s has "
        "%s; use files of one grid size",
        params->restart, mg_grid(n).text, source.option, source.path, mg_grid(input->n).text);
  return mg_root_error(MG_ERR_USAGE, "%s %s cells, but --%s=%s has %s; drop or change %s",
                       has_cells ? "--cells gives" : "LOG2_BOX_DIM and BOXES_PER_RANK give",
                       mg_grid(n).text, source.option, source.path, mg_grid(input->n).text,
                       has_cells ? "it" : "them");
}
