/* Checksums that a file stores of its own contents: the list of datasets that have some, those of
 * small datasets, and that of all attributes. docs/format.md defines them.
 *
 * All functions but mg_sums_put_attributes and mg_sums_check_attributes are for a file that the
 * calling rank has opened alone. */
#ifndef MG_STORED_SUMS_H
#define MG_STORED_SUMS_H

#include "io/hdf5/h5.h"

/** Attribute of /HPGMG that lists the datasets with checksums: names of fields, walls/NAME,
 *  grid/NAME, boundary/NAME and NAMECoordinates, separated by spaces. */
#define MG_SUMS_LIST "checksums"
enum { MG_SUMS_LIST_MAX = 512 };

/** The list of a file, each word between two spaces; "" if the file has none. */
typedef struct {
  char words[MG_SUMS_LIST_MAX + 2];
} mg_sums_list_t;

/** Read the list. If there is one, the attributes must match their checksum. */
MG_MUST_CHECK mg_status_t mg_sums_list_read(mg_h5_t *file, mg_sums_list_t *list);

/** Name of a dataset in the list, from its path. */
const char *mg_sums_word(const char *path);
/** Path of a dataset's checksums, from its own. */
void mg_sums_path(const char *path, char sums[MG_H5_NAME_MAX]);

/** Look for a dataset and its checksums. In a file with a list, both an unlisted dataset and a
 *  missing one that is listed are errors: damage must not be mistaken for absence. */
MG_MUST_CHECK mg_status_t mg_sums_inspect(mg_h5_t *file, const mg_sums_list_t *list,
                                          const char *path, mg_h5_look_t *look, bool *has_sums);

/** Checksum of each of `rows` rows of n values. */
void mg_sums_of_rows(const double *values, int64_t rows, int64_t n, uint64_t *sums);

/** Read a small dataset, [n[1]][n[0]] or [n[0]], and compare it with its checksums, if it has any:
 *  one for each entry of its first dimension. */
MG_MUST_CHECK mg_status_t mg_sums_read(mg_h5_t *file, const char *path, int rank, const int32_t n[],
                                       double *values);

/** Write the checksum of all attributes of /HPGMG and /VTKHDF so far. */
MG_MUST_CHECK mg_status_t mg_sums_put_attributes(mg_h5_t *file);
/** Compare it with the attributes. It must exist. */
MG_MUST_CHECK mg_status_t mg_sums_check_attributes(mg_h5_t *file);

#endif
