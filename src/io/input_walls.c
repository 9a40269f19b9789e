/* Values of boundary conditions that differ from face to face: /boundary in the --rhs file. */
#include "base/alloc.h"
#include "base/log.h"
#include "io/boundary_faces_io.h"
#include "io/checksum.h"
#include "io/field_io.h"
#include "io/hdf5/h5.h"
#include "io/input_parts.h"
#include "level/ops.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *mg_input_wall_path(int d, int side) {
  static const char *const path[3][2] = {{"/boundary/x_low", "/boundary/x_high"},
                                         {"/boundary/y_low", "/boundary/y_high"},
                                         {"/boundary/z_low", "/boundary/z_high"}};
  return path[d][side];
}

static mg_status_t find(mg_h5_t *file, const mg_sums_list_t *list, const mg_params_t *params, int d,
                        int side, const mg_input_t *input) {
  const char *name = mg_input_wall_path(d, side);
  char sums[MG_H5_NAME_MAX];
  mg_h5_look_t look;
  int32_t n[2];
  bool has_sums;
  mg_sums_path(name + 1, sums);
  MG_TRY(mg_h5_inspect(file, name, &look));
  MG_TRY(mg_sums_find(file, list, name + 1, sums, look.there, &has_sums));
  if (!look.there) return MG_OK;
  mg_boundary_faces_size(input->n, d, n);
  if (look.rank != 2 || look.size[0] != n[1] || look.size[1] != n[0])
    return mg_h5_wrong(file,
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

mg_status_t mg_input_find_walls(mg_h5_t *file, const mg_sums_list_t *list,
                                const mg_params_t *params, const mg_input_t *input) {
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      MG_TRY(find(file, list, params, d, side, input));
  return MG_OK;
}

static mg_status_t check(const mg_h5_t *file, const char *name, const mg_input_gaps_t *gaps,
                         const double *values, const int32_t n[2]) {
  for (int64_t at = 0; at < (int64_t)n[0] * n[1]; at++)
    if (!(fabs(values[at]) <= 1e60) || mg_input_is_missing(gaps, values[at]))
      return mg_h5_wrong(file,
                         ": %s has %g at [%lld][%lld]; it must be finite and at most 1e60 in "
                         "magnitude%s",
                         name, values[at], (long long)(at / n[0]), (long long)(at % n[0]),
                         mg_input_is_missing(gaps, values[at])
                             ? "; this one marks a missing value (netCDF, NumPy)"
                             : "");
  return MG_OK;
}

/* Read a side's values on rank 0, and 0 elsewhere. */
static mg_status_t read_values(const mg_params_t *params, const char *name, const int32_t n[2],
                               double *values) {
  mg_h5_t *file;
  mg_h5_data_t data;
  mg_input_gaps_t gaps;
  MG_TRY(mg_h5_open_alone("rhs", params->rhs, &file));
  mg_status_t status = mg_input_find_gaps(file, name, &gaps);
  if (status == MG_OK) status = mg_h5_data_open_numbers(file, name, 2, n, &data);
  if (status == MG_OK) {
    status = mg_h5_read_planes(file, &data, 0, n[1], values);
    status = mg_status_worst(status, mg_h5_data_close(file, &data));
  }
  if (status == MG_OK) status = mg_sums_compare(file, name + 1, 2, n, values);
  if (status == MG_OK) status = check(file, name, &gaps, values, n);
  return mg_status_worst(status, mg_h5_close(file));
}

mg_status_t mg_input_load_wall(void *data, mg_hierarchy_t *h, int d, int side) {
  mg_input_t *input = data;
  const char *name = mg_input_wall_path(d, side);
  int32_t n[2];
  double *values;
  const int64_t faces = mg_boundary_faces_size(input->n, d, n);
  MG_TRY(mg_comm_agree(mg_new(&values, faces, "boundary values")));
  mg_status_t status = MG_ON_ROOT(read_values(&h->params, name, n, values));
  if (status == MG_OK) status = mg_boundary_cells_put(&h->level[0], MG_U, d, side, values);
  if (status == MG_OK)
    input->checksum =
        (int64_t)((uint64_t)input->checksum +
                  mg_checksum_doubles(values, faces, (uint64_t)(2 * d + side + 1) * 0x10001));
  free(values);
  return status;
}
