/* What files of --coefficients and --rhs must not have: names that nothing reads, and values that
 * are packed or missing. */
#include "io/input_parts.h"
#include "params/params_nearest.h"
#include <math.h>
#include <string.h>

static const char *const field_names[] = {"alpha", "beta", "beta_i", "beta_j",   "beta_k", "mask",
                                          "f",     "u",    "dinv",   "residual", NULL};
static const char *const axis_names[] = {"x", "y", "z", NULL};
static const char *const side_names[] = {"x_low", "x_high", "y_low", "y_high",
                                         "z_low", "z_high", NULL};
static const char *const root_names[] = {"VTKHDF", "boundary", "grid", NULL};
static const char *const vtk_names[] = {"CellData",     "PointData",    "XCoordinates",
                                        "YCoordinates", "ZCoordinates", NULL};
static const char *const attribute_names[] = {"Dimensions", "Direction", "Origin",      "Spacing",
                                              "Type",       "Version",   "WholeExtent", NULL};

/* A group, and the names that it may have. */
typedef struct {
  const char *group;
  const char *const *names;
  bool attributes; /* of the group, instead of members */
  bool is_ours;    /* other names are errors; elsewhere only those that look like one of `names` */
} rule_t;

static const rule_t rules[] = {{"/", root_names, false, false},
                               {"/VTKHDF", vtk_names, false, false},
                               {"/VTKHDF", attribute_names, true, false},
                               {"/VTKHDF/CellData", field_names, false, true},
                               {"/VTKHDF/PointData", field_names, false, true},
                               {"/grid", axis_names, false, true},
                               {"/boundary", side_names, false, true}};

static mg_status_t check_name(const mg_input_look_t *in, const rule_t *rule, const char *name) {
  const char *nearest = mg_nearest_word(name, rule->names);
  if (strcmp(name, nearest) == 0) return MG_OK;
  const int distance = mg_edit_distance(name, nearest);
  const bool looks_like_one = strlen(nearest) > 4 ? distance <= 1 : distance == 0;
  if (!rule->is_ours && !looks_like_one) return MG_OK;
  return mg_h5_wrong(in->file, " has an unknown %s '%s' in %s; did you mean %s?%s",
                     rule->attributes ? "attribute" : "name", name, rule->group, nearest,
                     rule->is_ours ? " (other data belong in groups of other names)" : "");
}

static mg_status_t check_rule(const mg_input_look_t *in, const rule_t *rule) {
  char name[MG_H5_NAME_MAX];
  bool there = true;
  if (rule->group[1] != '\0') MG_TRY(mg_h5_exists(in->file, rule->group, &there));
  for (int64_t i = 0; there; i++) {
    MG_TRY(mg_h5_name(in->file, rule->group, rule->attributes, i, name));
    if (name[0] == '\0') break;
    MG_TRY(check_name(in, rule, name));
  }
  return MG_OK;
}

mg_status_t mg_input_check_names(const mg_input_look_t *in) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    MG_TRY(check_rule(in, &rules[i]));
  return MG_OK;
}

/* Packed values would have to be converted. */
static mg_status_t refuse_packed(mg_h5_t *file, const char *path) {
  static const char *const names[] = {"scale_factor", "add_offset", "_Unsigned"};
  for (int i = 0; i < 3; i++) {
    const double neutral = i == 0 ? 1.0 : 0.0;
    double value = neutral;
    bool there;
    if (i == 2)
      MG_TRY(mg_h5_has_attribute(file, path, names[i], &there));
    else
      MG_TRY(mg_h5_get(file, path, names[i], MG_H5_NUMBER, &value, 1, &there));
    if (i < 2 ? value == neutral : !there) continue;
    return mg_h5_wrong(file, ": %s is packed (attribute %s); write its values without packing",
                       path, names[i]);
  }
  return MG_OK;
}

/* Add a value, as it is and rounded to float, which the attribute or the dataset may be. */
static void add_missing(mg_input_gaps_t *gaps, int *n, double value) {
  const int most = (int)(sizeof gaps->missing / sizeof gaps->missing[0]);
  if (*n + 2 > most) return;
  gaps->missing[(*n)++] = value;
  gaps->missing[(*n)++] = fabs(value) < 3e38 ? (double)(float)value : value;
}

mg_status_t mg_input_find_gaps(mg_h5_t *file, const char *path, mg_input_gaps_t *gaps) {
  const double netcdf = 9.9692099683868690e+36, numpy = 1e20; /* where no attribute names another */
  static const char *const names[] = {"_FillValue", "missing_value"};
  double value;
  int n = 0;
  bool there;
  *gaps = (mg_input_gaps_t){.valid = {-INFINITY, INFINITY}};
  for (size_t i = 0; i < sizeof gaps->missing / sizeof gaps->missing[0]; i++)
    gaps->missing[i] = NAN;
  MG_TRY(refuse_packed(file, path));
  add_missing(gaps, &n, netcdf);
  add_missing(gaps, &n, numpy);
  for (int i = 0; i < 2; i++) {
    MG_TRY(mg_h5_get(file, path, names[i], MG_H5_NUMBER, &value, 1, &there));
    if (there) add_missing(gaps, &n, value);
  }
  MG_TRY(mg_h5_get(file, path, "valid_min", MG_H5_NUMBER, &gaps->valid[0], 1, &there));
  MG_TRY(mg_h5_get(file, path, "valid_max", MG_H5_NUMBER, &gaps->valid[1], 1, &there));
  return mg_h5_get(file, path, "valid_range", MG_H5_NUMBER, gaps->valid, 2, &there);
}
