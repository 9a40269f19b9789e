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
  return mg_h5_put_integers(file, ours, of_attributes, &checksum, 1);
}

mg_status_t mg_sums_check_attributes(mg_h5_t *file) {
  int64_t checksum, stored = 0;
  bool there;
  MG_TRY(mg_h5_has_attribute(file, ours, of_attributes, &there));
  if (!there)
    return mg_h5_wrong(
        file,
        ": %s of /HPGMG is missing; a file with checksums needs that of its attributes, "
        "too (docs/format.md)",
        of_attributes);
  MG_TRY(mg_h5_get_integers(file, ours, of_attributes, &stored, 1));
  MG_TRY(sum_attributes(file, &checksum));
  if (stored == checksum) return MG_OK;
  return mg_h5_wrong(
      file, ": %s does not match: an attribute of /HPGMG or /VTKHDF is damaged or was changed",
      of_attributes);
}

/* --- the list -------------------------------------------------------------------------- */

static mg_status_t has_attribute(mg_h5_t *file, const char *group, bool *there) {
  MG_TRY(mg_h5_exists(file, group, there));
  return *there ? mg_h5_has_attribute(file, group, MG_SUMS_LIST, there) : MG_OK;
}

/* Old formats of HDF5 do not protect the name of /HPGMG. With it, walls would be lost, too: so a
 * mark in /VTKHDF says that there is a list. */
mg_status_t mg_sums_list_read(mg_h5_t *file, mg_sums_list_t *list) {
  bool there, marked;
  list->words[0] = '\0';
  MG_TRY(has_attribute(file, ours, &there));
  MG_TRY(has_attribute(file, "/VTKHDF", &marked));
  if (!there && marked)
    return mg_h5_wrong(file, ": %s has no attribute checksums, but /VTKHDF has it", "/HPGMG");
  if (!there) return MG_OK;
  MG_TRY(mg_h5_get_text(file, ours, MG_SUMS_LIST, list->words + 1, MG_SUMS_LIST_MAX));
  list->words[0] = ' ';
  strcat(list->words, " ");
  return mg_sums_check_attributes(file);
}

mg_status_t mg_sums_find(mg_h5_t *file, const mg_sums_list_t *list, const char *word,
                         const char *path, bool is_there, bool *has_sums) {
  char listed[MG_H5_NAME_MAX];
  snprintf(listed, sizeof listed, " %s ", word);
  const bool is_listed = strstr(list->words, listed) != NULL;
  MG_TRY(mg_h5_exists(file, path, has_sums));
  if (is_there && list->words[0] && !is_listed)
    return mg_h5_wrong(
        file,
        ": %s is not in attribute checksums of /HPGMG; give all datasets checksums, or "
        "remove the attribute",
        word);
  if (is_listed && !is_there)
    return mg_h5_wrong(file, ": %s is missing, but attribute checksums of /HPGMG lists it", word);
  if (is_listed && !*has_sums)
    return mg_h5_wrong(file, ": %s is missing, but attribute checksums of /HPGMG lists it", path);
  return MG_OK;
}

/* --- small datasets -------------------------------------------------------------------- */

void mg_sums_of_rows(const double *values, int64_t rows, int64_t n, uint64_t *sums) {
  for (int64_t row = 0; row < rows; row++)
    sums[row] = mg_checksum_doubles(values + row * n, n, (uint64_t)(row * n));
}

void mg_sums_path(const char *word, char path[MG_H5_NAME_MAX]) {
  snprintf(path, MG_H5_NAME_MAX, "%s/checksums/%s", ours, word);
}

static mg_status_t compare(mg_h5_t *file, const char *word, int64_t rows, const uint64_t *sums,
                           const uint64_t *stored) {
  for (int64_t row = 0; row < rows; row++)
    if (sums[row] != stored[row])
      return mg_h5_wrong(file, ": %s is damaged at [%lld]: its checksum does not match", word,
                         (long long)row);
  return MG_OK;
}

static mg_status_t read_sums(mg_h5_t *file, const char *path, int32_t rows, uint64_t *sums) {
  mg_h5_data_t data;
  MG_TRY(mg_h5_data_open(file, path, MG_H5_UINT64, 1, &rows, &data));
  const mg_status_t status = mg_h5_read_planes(file, &data, 0, rows, sums);
  return mg_status_worst(status, mg_h5_data_close(file, &data));
}

mg_status_t mg_sums_compare(mg_h5_t *file, const char *word, int rank, const int32_t n[],
                            const double *values) {
  const int32_t rows = n[rank - 1];
  char path[MG_H5_NAME_MAX];
  uint64_t *sums;
  bool there;
  mg_sums_path(word, path);
  MG_TRY(mg_h5_exists(file, path, &there));
  if (!there) return MG_OK;
  MG_TRY(mg_new(&sums, 2 * (int64_t)rows, "checksums"));
  mg_sums_of_rows(values, rows, rank == 1 ? 1 : n[0], sums);
  mg_status_t status = read_sums(file, path, rows, sums + rows);
  if (status == MG_OK) status = compare(file, word, rows, sums, sums + rows);
  free(sums);
  return status;
}
