/* h5.h for builds without HDF5. Nothing is available, and options that need HDF5 are rejected
 * before any of these functions is called. */
#include "base/log.h"
#include "io/hdf5/h5.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

bool mg_h5_available(void) {
  return false;
}
int mg_h5_ranks(void) {
  return 0;
}
bool mg_h5_takes_part(void) {
  return false;
}
void mg_h5_drop_at_abort(const char *path) {}
void mg_h5_name_datasets(mg_h5_t *file, char *text, int size) {}
const char *mg_h5_file_name(const mg_h5_t *file) {
  return "";
}
mg_status_t mg_h5_close(mg_h5_t *file) {
  return MG_OK;
}
mg_status_t mg_h5_data_close(mg_h5_t *file, mg_h5_data_t *data) {
  return MG_OK;
}

static mg_status_t none(void) {
  return mg_error(MG_ERR_INTERNAL, "HDF5 file requested in a build without HDF5");
}

#define NONE(function, ...)                                                                        \
  mg_status_t function(__VA_ARGS__) {                                                              \
    return none();                                                                                 \
  }

NONE(mg_h5_create, const char *path, const char *hints, mg_h5_t **out)
NONE(mg_h5_open, const char *option, const char *path, bool alone, mg_h5_t **out)
NONE(mg_h5_exists, mg_h5_t *file, const char *path, bool *there)
NONE(mg_h5_has_attribute, mg_h5_t *file, const char *group, const char *name, bool *there)
NONE(mg_h5_group, mg_h5_t *file, const char *path)
NONE(mg_h5_put, mg_h5_t *h, const char *o, const char *a, mg_h5_type_t t, const void *v, int n)
NONE(mg_h5_get, mg_h5_t *h, const char *o, const char *a, mg_h5_type_t t, void *v, int n, bool *b)
NONE(mg_h5_visit_attributes, mg_h5_t *file, const char *group, mg_h5_visit_t *visit, void *data)
NONE(mg_h5_wrong_at, const char *source, int line, const mg_h5_t *file, const char *format, ...)
NONE(mg_h5_name, mg_h5_t *file, const char *group, bool of_attribute, int64_t index,
     char name[MG_H5_NAME_MAX])
NONE(mg_h5_data_create, mg_h5_t *h, const char *path, mg_h5_type_t t, int rank, const int32_t n[],
     int compress, mg_h5_data_t *data)
NONE(mg_h5_data_open, mg_h5_t *h, const char *path, mg_h5_type_t t, int rank, const int32_t n[],
     mg_h5_data_t *data)
NONE(mg_h5_inspect, mg_h5_t *file, const char *path, mg_h5_look_t *look)
NONE(mg_h5_write_planes, mg_h5_t *h, const mg_h5_data_t *d, int32_t i, int32_t n, const void *v)
NONE(mg_h5_read_planes, mg_h5_t *h, const mg_h5_data_t *d, int32_t i, int32_t n, void *values)
