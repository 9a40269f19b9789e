/* Groups and their attributes. */
#include "base/alloc.h"
#include "io/hdf5/h5_file.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mg_status_t mg_h5_group(mg_h5_t *file, const char *path) {
  if (!file) return MG_OK;
  const hid_t group = H5Gcreate2(file->id, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0 || H5Gclose(group) < 0) return mg_h5_failed(file, "write", path);
  return MG_OK;
}

/* Write an attribute; closes its type and space. */
static mg_status_t put(mg_h5_t *file, const char *group, const char *name, hid_t type, hid_t space,
                       const void *values) {
  hid_t object = H5I_INVALID_HID, attribute = H5I_INVALID_HID;
  bool good = type >= 0 && space >= 0;
  if (good) good = (object = H5Oopen(file->id, group, H5P_DEFAULT)) >= 0;
  if (good)
    good = (attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)) >= 0;
  if (good) good = H5Awrite(attribute, type, values) >= 0;
  const mg_status_t status = good ? MG_OK : mg_h5_failed(file, "write", name);
  good = attribute < 0 || H5Aclose(attribute) >= 0;
  good = (object < 0 || H5Oclose(object) >= 0) && good;
  good = (space < 0 || H5Sclose(space) >= 0) && good;
  good = (type < 0 || H5Tclose(type) >= 0) && good;
  return status != MG_OK || good ? status : mg_h5_failed(file, "close", name);
}

static hid_t list_space(int n) {
  const hsize_t size = (hsize_t)n;
  return H5Screate_simple(1, &size, NULL);
}

static hid_t text_type(size_t length) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || H5Tset_size(type, length > 0 ? length : 1) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
    return H5I_INVALID_HID;
  return type;
}

mg_status_t mg_h5_put_text(mg_h5_t *file, const char *group, const char *name, const char *text) {
  if (!file) return MG_OK;
  return put(file, group, name, text_type(strlen(text)), H5Screate(H5S_SCALAR), text);
}

mg_status_t mg_h5_put_integers(mg_h5_t *file, const char *group, const char *name,
                               const int64_t *values, int n) {
  if (!file) return MG_OK;
  return put(file, group, name, H5Tcopy(H5T_NATIVE_INT64), list_space(n), values);
}

mg_status_t mg_h5_put_doubles(mg_h5_t *file, const char *group, const char *name,
                              const double *values, int n) {
  if (!file) return MG_OK;
  return put(file, group, name, H5Tcopy(H5T_NATIVE_DOUBLE), list_space(n), values);
}

mg_status_t mg_h5_has_attribute(mg_h5_t *file, const char *group, const char *name, bool *there) {
  *there = false;
  if (!file) return MG_OK;
  const htri_t found = H5Aexists_by_name(file->id, group, name, H5P_DEFAULT);
  if (found < 0) return mg_h5_failed(file, "look up attribute", name);
  *there = found > 0;
  return MG_OK;
}

/* What an attribute's values must be. HDF5 converts integers to doubles. */
typedef enum { STRING, INTEGERS, NUMBERS } values_t;

static bool is_of(values_t values, hid_t type) {
  const H5T_class_t class = H5Tget_class(type);
  if (values == STRING) return class == H5T_STRING && H5Tis_variable_str(type) == 0;
  return class == H5T_INTEGER || (values == NUMBERS && class == H5T_FLOAT);
}

static mg_status_t wrong_values(const mg_h5_t *file, const char *name, values_t values, int n) {
  static const char *const names[] = {"string of fixed length", "integer", "number"};
  return mg_h5_wrong(file, ": %s must be %d %s%s", name, n, names[values], n == 1 ? "" : "s");
}

/* Open an attribute and check that it has n values; the caller closes it. */
static mg_status_t find(mg_h5_t *file, const char *group, const char *name, values_t values, int n,
                        hid_t *attribute, size_t *size) {
  *attribute = H5Aopen_by_name(file->id, group, name, H5P_DEFAULT, H5P_DEFAULT);
  if (*attribute < 0) return mg_h5_failed(file, "find the dump attribute", name);
  const hid_t type = H5Aget_type(*attribute), space = H5Aget_space(*attribute);
  const bool good =
      type >= 0 && space >= 0 && is_of(values, type) && H5Sget_simple_extent_npoints(space) == n;
  *size = type >= 0 ? H5Tget_size(type) : 0;
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  if (good) return MG_OK;
  (void)H5Aclose(*attribute);
  return wrong_values(file, name, values, n);
}

static mg_status_t get(mg_h5_t *file, const char *name, hid_t attribute, hid_t type, void *values) {
  const bool good = type >= 0 && H5Aread(attribute, type, values) >= 0;
  const mg_status_t status = good ? MG_OK : mg_h5_failed(file, "read", name);
  (void)H5Aclose(attribute);
  return status;
}

mg_status_t mg_h5_get_text(mg_h5_t *file, const char *group, const char *name, char *text,
                           int size) {
  hid_t attribute;
  size_t length = 0;
  if (!file) return MG_OK;
  MG_TRY(find(file, group, name, STRING, 1, &attribute, &length));
  if (length >= (size_t)size) {
    (void)H5Aclose(attribute);
    return mg_h5_wrong(file, ": %s is too long for a dump of hpgmg-fv", name);
  }
  memset(text, 0, (size_t)size);
  const hid_t type = text_type(length);
  const mg_status_t status = get(file, name, attribute, type, text);
  if (type >= 0) (void)H5Tclose(type);
  return status;
}

mg_status_t mg_h5_get_integers(mg_h5_t *file, const char *group, const char *name, int64_t *values,
                               int n) {
  hid_t attribute;
  size_t size;
  if (!file) return MG_OK;
  MG_TRY(find(file, group, name, INTEGERS, n, &attribute, &size));
  return get(file, name, attribute, H5T_NATIVE_INT64, values);
}

mg_status_t mg_h5_get_doubles(mg_h5_t *file, const char *group, const char *name, double *values,
                              int n) {
  hid_t attribute;
  size_t size;
  if (!file) return MG_OK;
  MG_TRY(find(file, group, name, NUMBERS, n, &attribute, &size));
  return get(file, name, attribute, H5T_NATIVE_DOUBLE, values);
}

/* --- all attributes -------------------------------------------------------------------- */

typedef struct {
  mg_h5_t *file;
  void (*visit)(void *data, const char *name, const double *words, int64_t n);
  void *data;
  mg_status_t status;
} visitor_t;

static int64_t words_of(size_t bytes) {
  return (int64_t)((bytes + sizeof(double) - 1) / sizeof(double));
}

static void visit_text(const visitor_t *v, const char *name, const char *text, double *words) {
  const size_t length = strlen(text);
  memset(words, 0, (size_t)words_of(length) * sizeof *words);
  memcpy(words, text, length);
  v->visit(v->data, name, words, words_of(length));
}

/* Values of one attribute. Not allocated: ranks read a dump's attributes together, and one that
 * lacks memory would leave the others waiting. */
static double values_read[1 << 17];

static bool fits(size_t bytes) {
  return bytes < sizeof values_read;
}

/* A string whose length is part of its type, or not. The last word of the values ends with zeros.
 */
static mg_status_t visit_string(const visitor_t *v, const char *name, hid_t attribute, hid_t type) {
  const bool varies = H5Tis_variable_str(type) > 0;
  const size_t size = varies ? 0 : H5Tget_size(type);
  char *text = varies ? NULL : (char *)values_read;
  if (!fits(size)) return mg_h5_wrong(v->file, ": %s is too long", name);
  memset(values_read, 0, size + 1);
  const hid_t memory = varies ? H5Tcopy(type) : text_type(size);
  mg_status_t status =
      memory >= 0 && H5Aread(attribute, memory, varies ? (void *)&text : (void *)text) >= 0
          ? MG_OK
          : mg_h5_failed(v->file, "read", name);
  const size_t length = status == MG_OK && text ? strlen(text) : 0;
  if (!fits(length + sizeof(double))) status = mg_h5_wrong(v->file, ": %s is too long", name);
  if (status == MG_OK && varies && text) memcpy(values_read, text, length);
  if (status == MG_OK && text) {
    memset((char *)values_read + length, 0, sizeof(double));
    v->visit(v->data, name, values_read, words_of(length));
  }
  if (varies) (void)H5free_memory(text);
  if (memory >= 0) (void)H5Tclose(memory);
  return status;
}

static mg_status_t visit_values(const visitor_t *v, const char *name, hid_t attribute, hid_t type,
                                int64_t n) {
  const H5T_class_t class = H5Tget_class(type);
  if (class == H5T_STRING && n == 1) return visit_string(v, name, attribute, type);
  if ((class != H5T_INTEGER && class != H5T_FLOAT) || n < 1) return MG_OK;
  if (!fits((size_t)n * sizeof(double))) return mg_h5_wrong(v->file, ": %s is too long", name);
  if (H5Aread(attribute, class == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE, values_read) <
      0)
    return mg_h5_failed(v->file, "read", name);
  v->visit(v->data, name, values_read, n);
  return MG_OK;
}

/* The name is visited as text, then the values. */
static mg_status_t visit_one(const visitor_t *v, hid_t group, const char *name) {
  double words[MG_H5_NAME_MAX / sizeof(double)];
  if (strlen(name) >= sizeof words) return mg_h5_wrong(v->file, ": %s is too long a name", name);
  const hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
  if (attribute < 0) return mg_h5_failed(v->file, "open", name);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  mg_status_t status = type >= 0 && space >= 0 ? MG_OK : mg_h5_failed(v->file, "read", name);
  visit_text(v, name, name, words);
  if (status == MG_OK)
    status = visit_values(v, name, attribute, type, H5Sget_simple_extent_npoints(space));
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  (void)H5Aclose(attribute);
  return status;
}

static herr_t visit_in_order(hid_t group, const char *name, const H5A_info_t *info, void *visitor) {
  visitor_t *v = visitor;
  (void)info;
  v->status = visit_one(v, group, name);
  return v->status == MG_OK ? 0 : -1;
}

mg_status_t mg_h5_visit_attributes(mg_h5_t *file, const char *group,
                                   void (*visit)(void *data, const char *name, const double *words,
                                                 int64_t n),
                                   void *data) {
  visitor_t visitor = {file, visit, data, MG_OK};
  if (!file) return MG_OK;
  const hid_t object = H5Oopen(file->id, group, H5P_DEFAULT);
  if (object < 0) return mg_h5_failed(file, "open", group);
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_in_order, &visitor) < 0 &&
      visitor.status == MG_OK)
    visitor.status = mg_h5_failed(file, "read the attributes of", group);
  (void)H5Oclose(object);
  return visitor.status;
}

/* --- users' files ---------------------------------------------------------------------- */

mg_status_t mg_h5_get_numbers(mg_h5_t *file, const char *object, const char *name, double *values,
                              int most, int *n) {
  bool there;
  *n = 0;
  MG_TRY(mg_h5_has_attribute(file, object, name, &there));
  if (!there) return MG_OK;
  const hid_t attribute = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0) return mg_h5_failed(file, "find the attribute", name);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  const bool good = type >= 0 && is_of(NUMBERS, type) && count >= 0 && count <= most;
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  if (good) {
    *n = (int)count;
    return get(file, name, attribute, H5T_NATIVE_DOUBLE, values);
  }
  (void)H5Aclose(attribute);
  return mg_h5_wrong(file, ": %s has an attribute %s that must be numbers, at most %d", object,
                     name, most);
}

static void replace_controls(char *text) {
  for (; *text; text++)
    if (iscntrl((unsigned char)*text)) *text = '?';
}

/* Copy text of variable length, which belongs to the library. */
static bool read_variable(hid_t attribute, hid_t type, hid_t space, char *text, int size) {
  char *whole = NULL;
  const hid_t memory = H5Tcopy(type);
  const bool good = memory >= 0 && H5Aread(attribute, memory, &whole) >= 0;
  if (good) snprintf(text, (size_t)size, "%s", whole ? whole : "");
  if (good) (void)H5Dvlen_reclaim(memory, space, H5P_DEFAULT, &whole);
  if (memory >= 0) (void)H5Tclose(memory);
  return good;
}

mg_status_t mg_h5_get_word(mg_h5_t *file, const char *object, const char *name, char *text,
                           int size) {
  bool there, good = false;
  text[0] = '\0';
  MG_TRY(mg_h5_has_attribute(file, object, name, &there));
  if (!there) return MG_OK;
  const hid_t attribute = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0) return mg_h5_failed(file, "find the attribute", name);
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const bool is_text = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                       H5Sget_simple_extent_npoints(space) == 1;
  const bool is_variable = is_text && H5Tis_variable_str(type) > 0;
  if (is_variable) good = read_variable(attribute, type, space, text, size);
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  (void)H5Aclose(attribute);
  if (is_text && !is_variable) {
    MG_TRY(mg_h5_get_text(file, object, name, text, size));
    good = true;
  }
  replace_controls(text);
  return good ? MG_OK : mg_h5_wrong(file, ": %s must be text", name);
}

/* Take the name that a call of the library has found; it returned `length`, negative if it failed.
 */
static mg_status_t take_name(mg_h5_t *file, const char *group, ssize_t length, char *name) {
  if (length < 0) return mg_h5_failed(file, "list", group);
  replace_controls(name);
  return MG_OK;
}

mg_status_t mg_h5_name_member(mg_h5_t *file, const char *group, int64_t index,
                              char name[MG_H5_NAME_MAX]) {
  H5G_info_t info;
  name[0] = '\0';
  if (H5Gget_info_by_name(file->id, group, &info, H5P_DEFAULT) < 0)
    return mg_h5_failed(file, "list", group);
  if ((hsize_t)index >= info.nlinks) return MG_OK;
  return take_name(file, group,
                   H5Lget_name_by_idx(file->id, group, H5_INDEX_NAME, H5_ITER_INC, (hsize_t)index,
                                      name, MG_H5_NAME_MAX, H5P_DEFAULT),
                   name);
}

mg_status_t mg_h5_name_attribute(mg_h5_t *file, const char *group, int64_t index,
                                 char name[MG_H5_NAME_MAX]) {
  name[0] = '\0';
  const hid_t object = H5Oopen(file->id, group, H5P_DEFAULT);
  if (object < 0) return mg_h5_failed(file, "open", group);
  const int n = H5Aget_num_attrs(object);
  ssize_t length = n < 0 ? -1 : 0;
  if (index < n)
    length = H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)index, name,
                                MG_H5_NAME_MAX, H5P_DEFAULT);
  (void)H5Oclose(object);
  return take_name(file, group, length, name);
}
