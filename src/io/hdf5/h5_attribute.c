/* Groups and their attributes. */
#include "io/hdf5/h5_file.h"
#include <string.h>

mg_status_t mg_h5_group(mg_h5_t *file, const char *path) {
  if (!file) return MG_OK;
  const hid_t group = H5Gcreate2(file->id, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  return group >= 0 && mg_h5_release(group) ? MG_OK : mg_h5_failed(file, "write", path);
}

static hid_t text_type(size_t length) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || H5Tset_size(type, length > 0 ? length : 1) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
    return H5I_INVALID_HID;
  return type;
}

mg_status_t mg_h5_put(mg_h5_t *file, const char *group, const char *name, mg_h5_type_t type,
                      const void *values, int n) {
  const bool is_text = type == MG_H5_TEXT;
  const hsize_t size = (hsize_t)n;
  hid_t attribute = H5I_INVALID_HID;
  if (!file) return MG_OK;
  const hid_t stored = is_text ? text_type(strlen(values)) : H5Tcopy(mg_h5_memory_type(type));
  const hid_t space = is_text ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
  if (stored >= 0 && space >= 0)
    attribute = H5Acreate_by_name(file->id, group, name, stored, space, H5P_DEFAULT, H5P_DEFAULT,
                                  H5P_DEFAULT);
  if (attribute < 0 || H5Awrite(attribute, stored, values) < 0)
    return mg_h5_failed(file, "write", name);
  bool closed = mg_h5_release(attribute);
  closed = mg_h5_release(space) && closed;
  closed = mg_h5_release(stored) && closed;
  return closed ? MG_OK : mg_h5_failed(file, "close", name);
}

mg_status_t mg_h5_has_attribute(mg_h5_t *file, const char *object, const char *name, bool *there) {
  MG_TRY(mg_h5_exists(file, object, there));
  if (!*there) return MG_OK;
  const htri_t found = H5Aexists_by_name(file->id, object, name, H5P_DEFAULT);
  if (found < 0) return mg_h5_failed(file, "look up attribute", name);
  *there = found > 0;
  return MG_OK;
}

/* An open attribute. */
typedef struct {
  mg_h5_t *file;
  const char *name;
  hid_t id, type, space;
  H5T_class_t class;
  int64_t n;
} attribute_t;

static void close_attribute(const attribute_t *a) {
  (void)mg_h5_release(a->id), (void)mg_h5_release(a->type), (void)mg_h5_release(a->space);
}

static mg_status_t open_attribute(mg_h5_t *file, const char *object, const char *name,
                                  attribute_t *a) {
  *a = (attribute_t){.file = file, .name = name, .type = H5I_INVALID_HID, .space = H5I_INVALID_HID};
  a->id = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT);
  if (a->id >= 0 && (a->type = H5Aget_type(a->id)) >= 0) a->space = H5Aget_space(a->id);
  if (a->space >= 0) {
    a->class = H5Tget_class(a->type);
    a->n = H5Sget_simple_extent_npoints(a->space);
    return MG_OK;
  }
  const mg_status_t status = mg_h5_failed(file, "find the attribute", name);
  close_attribute(a);
  return status;
}

/* Read a text, whose length is part of its type or not, and fill the rest of `size` bytes with
 * zeros. */
static mg_status_t read_text(const attribute_t *a, char *text, size_t size) {
  const bool varies = H5Tis_variable_str(a->type) > 0;
  const size_t length = varies ? 0 : H5Tget_size(a->type);
  char *whole = NULL;
  if (length >= size) return mg_h5_wrong(a->file, ": %s is too long", a->name);
  memset(text, 0, size);
  const hid_t memory = varies ? H5Tcopy(a->type) : text_type(length);
  mg_status_t status =
      memory >= 0 && H5Aread(a->id, memory, varies ? (void *)&whole : (void *)text) >= 0
          ? MG_OK
          : mg_h5_failed(a->file, "read", a->name);
  (void)mg_h5_release(memory);
  if (whole && strlen(whole) < size)
    strcpy(text, whole);
  else if (whole)
    status = mg_h5_wrong(a->file, ": %s is too long", a->name);
  (void)H5free_memory(whole);
  return status;
}

static mg_status_t read_values(const attribute_t *a, const char *object, mg_h5_type_t type,
                               void *values, int n) {
  static const char *const names[] = {
      [MG_H5_INT64] = "integer", [MG_H5_NUMBER] = "number", [MG_H5_TEXT] = "text"};
  const bool is_text = type == MG_H5_TEXT;
  const int64_t count = is_text ? 1 : n;
  /* HDF5 converts integers to doubles. */
  const bool is_type =
      is_text ? a->class == H5T_STRING
              : a->class == H5T_INTEGER || (type == MG_H5_NUMBER && a->class == H5T_FLOAT);
  if (a->n != count || !is_type)
    return mg_h5_wrong(a->file, ": attribute %s of %s must be %lld %s%s", a->name, object,
                       (long long)count, names[type], count == 1 ? "" : "s");
  if (is_text) return read_text(a, values, (size_t)n);
  const bool good = H5Aread(a->id, mg_h5_memory_type(type), values) >= 0;
  return good ? MG_OK : mg_h5_failed(a->file, "read", a->name);
}

mg_status_t mg_h5_get(mg_h5_t *file, const char *object, const char *name, mg_h5_type_t type,
                      void *values, int n, bool *there) {
  attribute_t a;
  if (there) MG_TRY(mg_h5_has_attribute(file, object, name, there));
  if (!file || (there && !*there)) return MG_OK;
  MG_TRY(open_attribute(file, object, name, &a));
  const mg_status_t status = read_values(&a, object, type, values, n);
  close_attribute(&a);
  return status;
}

/* --- all attributes -------------------------------------------------------------------- */

typedef struct {
  mg_h5_t *file;
  const char *group;
  mg_h5_visit_t *visit;
  void *data;
  mg_status_t status;
} visitor_t;

static void visit_text(const visitor_t *v, const char *name, const char *text, double *words) {
  const size_t length = strlen(text), n = (length + sizeof *words - 1) / sizeof *words;
  memset(words, 0, n * sizeof *words);
  memcpy(words, text, length);
  v->visit(v->data, name, words, (int64_t)n);
}

/* Values of one attribute. Not allocated: ranks read a dump's attributes together, and one that
 * lacks memory would leave the others waiting. */
static double values_read[1 << 17];
static char text_read[sizeof values_read - sizeof(double)];

static mg_status_t visit_values(const visitor_t *v, const attribute_t *a) {
  const size_t most = sizeof values_read / sizeof *values_read;
  if (a->class == H5T_STRING && a->n == 1) {
    MG_TRY(read_text(a, text_read, sizeof text_read));
    visit_text(v, a->name, text_read, values_read);
    return MG_OK;
  }
  if ((a->class != H5T_INTEGER && a->class != H5T_FLOAT) || a->n < 1) return MG_OK;
  if ((size_t)a->n >= most) return mg_h5_wrong(v->file, ": %s is too long", a->name);
  if (H5Aread(a->id, a->class == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, values_read) <
      0)
    return mg_h5_failed(v->file, "read", a->name);
  v->visit(v->data, a->name, values_read, a->n);
  return MG_OK;
}

/* The name is visited as text, then the values. */
static herr_t visit_one(hid_t group, const char *name, const H5A_info_t *info, void *visitor) {
  visitor_t *v = visitor;
  double words[MG_H5_NAME_MAX / sizeof(double)];
  attribute_t a;
  (void)group, (void)info;
  if (strlen(name) >= sizeof words) {
    v->status = mg_h5_wrong(v->file, ": %s is too long a name", name);
    return -1;
  }
  v->status = open_attribute(v->file, v->group, name, &a);
  if (v->status != MG_OK) return -1;
  visit_text(v, name, name, words);
  v->status = visit_values(v, &a);
  close_attribute(&a);
  return v->status == MG_OK ? 0 : -1;
}

mg_status_t mg_h5_visit_attributes(mg_h5_t *file, const char *group, mg_h5_visit_t *visit,
                                   void *data) {
  visitor_t visitor = {file, group, visit, data, MG_OK};
  if (!file) return MG_OK;
  if (H5Aiterate_by_name(file->id, group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_one, &visitor,
                         H5P_DEFAULT) < 0 &&
      visitor.status == MG_OK)
    visitor.status = mg_h5_failed(file, "read the attributes of", group);
  return visitor.status;
}

/* --- names ------------------------------------------------------------------------------ */

mg_status_t mg_h5_name(mg_h5_t *file, const char *group, bool of_attribute, int64_t index,
                       char name[MG_H5_NAME_MAX]) {
  const hid_t object = H5Oopen(file->id, group, H5P_DEFAULT);
  const hsize_t i = (hsize_t)index;
  H5G_info_t info;
  ssize_t n = -1;
  name[0] = '\0';
  if (object >= 0 && of_attribute) n = H5Aget_num_attrs(object);
  if (object >= 0 && !of_attribute && H5Gget_info(object, &info) >= 0) n = (ssize_t)info.nlinks;
  if (index < n)
    n = (of_attribute ? H5Aget_name_by_idx : H5Lget_name_by_idx)(
        object, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, MG_H5_NAME_MAX, H5P_DEFAULT);
  const mg_status_t status = n >= 0 ? MG_OK : mg_h5_failed(file, "list", group);
  (void)mg_h5_release(object);
  mg_h5_replace_controls(name);
  return status;
}
