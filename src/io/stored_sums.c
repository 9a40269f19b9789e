#include "io/stored_sums.h"
#include "base/alloc.h"
#include "io/checksum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ours[] = "/HPGMG", of_attributes[] = "attributes_checksum";

/* --- attributes ------------------------------------------------------------------------ */

typedef struct {
  uint64_t sum, n;
} words_t;

/* A dump's `complete` is written last, and must be 1 anyway. */
static void add_attribute(void *data, const char *name, const double *words, int64_t n) {
  words_t *all = data;
  if (strcmp(name, of_attributes) == 0 || strcmp(name, "complete") == 0) return;
  all->sum += mg_checksum_doubles(words, n, all->n);
  all->n += (uint64_t)n;
}

static mg_status_t sum_attributes(mg_h5_t *file, int64_t *checksum) {
  static const char *const groups[] = {ours, "/VTKHDF"};
  words_t all = {0};
  for (int g = 0; g < 2; g++) {
    bool there;
    MG_TRY(mg_h5_exists(file, groups[g], &there));
    if (there) MG_TRY(mg_h5_visit_attributes(file, groups[g], add_attribute, &all));
  }
  *checksum = (int64_t)all.sum;
  return MG_OK;
}

mg_status_t mg_sums_put_attributes(mg_h5_t *file) {
  int64_t checksum;
  MG_TRY(sum_attributes(file, &checksum));
  return mg_h5_put(file, ours, of_attributes, MG_H5_INT64, &checksum, 1);
}

mg_status_t mg_sums_check_attributes(mg_h5_t *file) {
  int64_t checksum, stored = 0;
  bool there;
  MG_TRY(mg_h5_get(file, ours, of_attributes, MG_H5_INT64, &stored, 1, &there));
  if (!there)
    return mg_h5_wrong(
        file,
        ": %s of /HPGMG is missing; a file with checksums needs that of its attributes, "
        "too (docs/format.md)",
        of_attributes);
  MG_TRY(sum_attributes(file, &checksum));
  if (stored == checksum) return MG_OK;
  return mg_h5_wrong(
      file, ": %s does not match: an attribute of /HPGMG or /VTKHDF is damaged or was changed",
      of_attributes);
}

/* --- the list -------------------------------------------------------------------------- */

/* Old formats of HDF5 do not protect the name of /HPGMG. With it, walls would be lost, too: so a
 * mark in /VTKHDF says that there is a list. */
mg_status_t mg_sums_list_read(mg_h5_t *file, mg_sums_list_t *list) {
  bool there, marked;
  list->words[0] = '\0';
  MG_TRY(
      mg_h5_get(file, ours, MG_SUMS_LIST, MG_H5_TEXT, list->words + 1, MG_SUMS_LIST_MAX, &there));
  MG_TRY(mg_h5_has_attribute(file, "/VTKHDF", MG_SUMS_LIST, &marked));
  if (!there && marked)
    return mg_h5_wrong(file, ": %s has no attribute checksums, but /VTKHDF has it", "/HPGMG");
  if (!there) return MG_OK;
  list->words[0] = ' ';
  strcat(list->words, " ");
  return mg_sums_check_attributes(file);
}

/* What precedes the name of a dataset in the list; first those of fields of the finest level. */
static const char *const before[] = {
    "/VTKHDF/CellData/", "/VTKHDF/PointData/", "/VTKHDF/", "/HPGMG/levels/", "/HPGMG/", "/"};
enum { N_OF_FIELDS = 2 };

static int group_of(const char *path) {
  int g = 0;
  while (strncmp(path, before[g], strlen(before[g])) != 0)
    g++;
  return g;
}

const char *mg_sums_word(const char *path) {
  return path + strlen(before[group_of(path)]);
}

void mg_sums_path(const char *path, char sums[MG_H5_NAME_MAX]) {
  snprintf(sums, MG_H5_NAME_MAX, "%s/checksums/%s%s", ours,
           group_of(path) < N_OF_FIELDS ? "level_0/" : "", mg_sums_word(path));
}

mg_status_t mg_sums_inspect(mg_h5_t *file, const mg_sums_list_t *list, const char *path,
                            mg_h5_look_t *look, bool *has_sums) {
  const char *word = mg_sums_word(path);
  char sums[MG_H5_NAME_MAX], listed[MG_H5_NAME_MAX];
  mg_sums_path(path, sums);
  snprintf(listed, sizeof listed, " %s ", word);
  const bool is_listed = strstr(list->words, listed) != NULL;
  MG_TRY(mg_h5_inspect(file, path, look));
  MG_TRY(mg_h5_exists(file, sums, has_sums));
  if (look->there && list->words[0] && !is_listed)
    return mg_h5_wrong(
        file,
        ": %s is not in attribute checksums of /HPGMG; give all datasets checksums, or "
        "remove the attribute",
        word);
  if (is_listed && !(look->there && *has_sums))
    return mg_h5_wrong(file, ": %s is missing, but attribute checksums of /HPGMG lists it",
                       look->there ? sums : word);
  return MG_OK;
}

/* --- small datasets -------------------------------------------------------------------- */

void mg_sums_of_rows(const double *values, int64_t rows, int64_t n, uint64_t *sums) {
  for (int64_t row = 0; row < rows; row++)
    sums[row] = mg_checksum_doubles(values + row * n, n, (uint64_t)(row * n));
}

static mg_status_t read_all(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                            const int32_t n[], void *values) {
  mg_h5_data_t data;
  MG_TRY(mg_h5_data_open(file, path, type, rank, n, &data));
  const mg_status_t status = mg_h5_read_planes(file, &data, 0, n[rank - 1], values);
  return mg_status_worst(status, mg_h5_data_close(file, &data));
}

mg_status_t mg_sums_read(mg_h5_t *file, const char *path, int rank, const int32_t n[],
                         double *values) {
  const int32_t rows = n[rank - 1];
  char name[MG_H5_NAME_MAX];
  uint64_t *sums;
  bool there;
  MG_TRY(read_all(file, path, MG_H5_NUMBER, rank, n, values));
  mg_sums_path(path, name);
  MG_TRY(mg_h5_exists(file, name, &there));
  if (!there) return MG_OK;
  MG_TRY(mg_new(&sums, 2 * (int64_t)rows, "checksums"));
  mg_sums_of_rows(values, rows, rank == 1 ? 1 : n[0], sums);
  mg_status_t status = read_all(file, name, MG_H5_UINT64, 1, &rows, sums + rows);
  for (int64_t row = 0; row < rows && status == MG_OK; row++)
    if (sums[row] != sums[rows + row])
      status = mg_h5_wrong(file, ": %s is damaged at [%lld]: its checksum does not match",
                           mg_sums_word(path), (long long)row);
  free(sums);
  return status;
}
