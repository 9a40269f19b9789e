/* h5.h for builds without HDF5. Nothing is available, and options that need HDF5 are rejected
 * before any of these functions is called. */
#include "base/log.h"
#include "io/hdf5/h5.h"
#include <stdio.h>

bool mg_h5_available(void) {
  return false;
}
bool mg_h5_parallel(void) {
  return false;
}
bool mg_h5_writes_beside(void) {
  return false;
}
bool mg_h5_takes_part(void) {
  return false;
}

void mg_h5_drop_at_abort(const char *path) {
  (void)path;
}

static mg_status_t none(void) {
  return mg_error(MG_ERR_INTERNAL, "HDF5 file requested in a build without HDF5");
}

mg_status_t mg_h5_create(const char *path, const char *hints, mg_h5_t **out) {
  (void)path, (void)hints;
  *out = NULL;
  return none();
}
mg_status_t mg_h5_open(const char *path, mg_h5_t **out) {
  (void)path;
  *out = NULL;
  return none();
}
mg_status_t mg_h5_open_input(const char *option, const char *path, mg_h5_t **out) {
  (void)option;
  return mg_h5_open(path, out);
}
mg_status_t mg_h5_open_alone(const char *option, const char *path, mg_h5_t **out) {
  return mg_h5_open_input(option, path, out);
}
mg_status_t mg_h5_exists(mg_h5_t *file, const char *path, bool *there) {
  (void)file, (void)path;
  *there = false;
  return none();
}
mg_status_t mg_h5_has_attribute(mg_h5_t *file, const char *group, const char *name, bool *there) {
  (void)group;
  return mg_h5_exists(file, name, there);
}
mg_status_t mg_h5_close(mg_h5_t *file) {
  (void)file;
  return MG_OK;
}
mg_status_t mg_h5_group(mg_h5_t *file, const char *path) {
  (void)file, (void)path;
  return none();
}
mg_status_t mg_h5_put_text(mg_h5_t *file, const char *group, const char *name, const char *text) {
  (void)file, (void)group, (void)name, (void)text;
  return none();
}
mg_status_t mg_h5_put_integers(mg_h5_t *file, const char *group, const char *name,
                               const int64_t *values, int n) {
  (void)file, (void)group, (void)name, (void)values, (void)n;
  return none();
}
mg_status_t mg_h5_put_doubles(mg_h5_t *file, const char *group, const char *name,
                              const double *values, int n) {
  (void)file, (void)group, (void)name, (void)values, (void)n;
  return none();
}
mg_status_t mg_h5_get_text(mg_h5_t *file, const char *group, const char *name, char *text,
                           int size) {
  (void)file, (void)group, (void)name, (void)text, (void)size;
  return none();
}
mg_status_t mg_h5_get_integers(mg_h5_t *file, const char *group, const char *name, int64_t *values,
                               int n) {
  (void)file, (void)group, (void)name, (void)values, (void)n;
  return none();
}
mg_status_t mg_h5_get_doubles(mg_h5_t *file, const char *group, const char *name, double *values,
                              int n) {
  (void)file, (void)group, (void)name, (void)values, (void)n;
  return none();
}
mg_status_t mg_h5_data_create(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                              const int32_t n[], int compress, mg_h5_data_t *data) {
  (void)file, (void)path, (void)compress;
  *data = mg_h5_data(type, rank, n);
  return none();
}
mg_status_t mg_h5_data_open(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                            const int32_t n[], mg_h5_data_t *data) {
  (void)file, (void)path;
  *data = mg_h5_data(type, rank, n);
  return none();
}
mg_status_t mg_h5_data_open_numbers(mg_h5_t *file, const char *path, int rank, const int32_t n[],
                                    mg_h5_data_t *data) {
  return mg_h5_data_open(file, path, MG_H5_DOUBLE, rank, n, data);
}
mg_status_t mg_h5_inspect(mg_h5_t *file, const char *path, mg_h5_look_t *look) {
  (void)file, (void)path;
  *look = (mg_h5_look_t){0};
  return none();
}
void mg_h5_name_datasets(mg_h5_t *file, char *text, int size) {
  (void)file;
  snprintf(text, (size_t)size, "the file has no dataset");
}
mg_status_t mg_h5_data_close(mg_h5_t *file, mg_h5_data_t *data) {
  (void)file, (void)data;
  return MG_OK;
}
mg_status_t mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                               int32_t count, const void *values) {
  (void)file, (void)data, (void)first, (void)count, (void)values;
  return none();
}
mg_status_t mg_h5_read_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first, int32_t count,
                              void *values) {
  (void)file, (void)data, (void)first, (void)count, (void)values;
  return none();
}
