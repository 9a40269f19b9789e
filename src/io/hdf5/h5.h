/* The subset of HDF5 that the program uses, with every call checked. h5_none.c replaces it in
 * builds without HDF5.
 *
 * A file belongs to all ranks of the world. With parallel HDF5 and several ranks, every rank
 * participates and all calls are collective: every rank makes them in the same order and agrees
 * (mg_comm_agree) on the outcome. Otherwise only rank 0 participates, and every call returns
 * immediately on the other ranks. Errors are logged with the file's name and the library's
 * reason.
 *
 * If several ranks share an open file, a call that fails on one rank may leave the others
 * blocked inside the library. The run then aborts (mg_comm_abort) with the exit code of
 * MG_ERR_IO. Data that must not be lost has to be written before. */
#ifndef MG_H5_H
#define MG_H5_H

#include "base/log.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MG_H5_NAME_MAX = 128 };

/** An open file. */
typedef struct mg_h5 mg_h5_t;

/** Type of the values of a dataset or an attribute, in memory and in the file. NUMBER: doubles in
 *  memory, of any numeric type in the file. */
typedef enum {
  MG_H5_DOUBLE,
  MG_H5_FLOAT,
  MG_H5_UINT64,
  MG_H5_INT64,
  MG_H5_NUMBER,
  MG_H5_TEXT /**< of attributes */
} mg_h5_type_t;

/** A dataset of rank 1 to 3: [n[0]], [n[1]][n[0]], or [n[2]][n[1]][n[0]] with x fastest. Planes are
 *  the entries of its first dimension. */
typedef struct {
  int64_t id;
  mg_h5_type_t type;
  int rank;
  int32_t n[3]; /**< 1 beyond the rank */
} mg_h5_data_t;

/** A dataset that is not open yet. */
static inline mg_h5_data_t mg_h5_data(mg_h5_type_t type, int rank, const int32_t n[]) {
  mg_h5_data_t data = {-1, type, rank, {1, 1, 1}};
  for (int d = 0; d < rank; d++)
    data.n[d] = n[d];
  return data;
}

/** Whether an HDF5 library is available. */
bool mg_h5_available(void);

/** Refuse an option that needs the library in a build without it. */
static inline mg_status_t mg_h5_check_build(const char *option) {
  if (mg_h5_available()) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "--%s requires a build with HDF5; install libhdf5-openmpi-dev (or libhdf5-dev) "
                  "and reconfigure, or drop --%s",
                  option, option);
}

/** Number of ranks that access the files of this run: all of them with parallel HDF5, otherwise
 *  rank 0 alone. */
int mg_h5_ranks(void);

/** Whether this rank does. */
bool mg_h5_takes_part(void);

/** Set the file to remove if the run aborts in the middle of a call, because it is then
 *  unusable.
 *  @param[in] path  borrowed; NULL: none */
void mg_h5_drop_at_abort(const char *path);

/** Create a file, replacing any existing one.
 *  @param[in] hints  MPI hints of a parallel run, "key=value,key=value"; may be ""
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_h5_create(const char *path, const char *hints, mg_h5_t **out);
/** Open a file for reading.
 *  @param[in] option  that names the file: errors have --option=path; "": only the path
 *  @param[in] alone   by the calling rank only */
MG_MUST_CHECK mg_status_t mg_h5_open(const char *option, const char *path, bool alone,
                                     mg_h5_t **out);
/** Close a file; its data has then been passed to the operating system.
 *  @param[in] file  may be NULL */
MG_MUST_CHECK mg_status_t mg_h5_close(mg_h5_t *file);

/** Create a group; its parents must exist. */
MG_MUST_CHECK mg_status_t mg_h5_group(mg_h5_t *file, const char *path);

/** Write an attribute of a group: n values, or a text, as fixed-length ASCII without a terminator,
 * as VTK expects. */
MG_MUST_CHECK mg_status_t mg_h5_put(mg_h5_t *file, const char *group, const char *name,
                                    mg_h5_type_t type, const void *values, int n);

/** Whether the file has a group or dataset. A damaged group on the path is an error, not
 *  absence.
 *  @param[out] there  false on ranks that do not participate
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_h5_exists(mg_h5_t *file, const char *path, bool *there);
/** Like mg_h5_exists, for an attribute of a group or dataset, which may be missing, too. */
MG_MUST_CHECK mg_status_t mg_h5_has_attribute(mg_h5_t *file, const char *object, const char *name,
                                              bool *there);

/** Name of a file in messages. */
const char *mg_h5_file_name(const mg_h5_t *file);

/** Read an attribute of a group or dataset. A different type, a different number of values, or text
 *  longer than n - 1 is an error. On ranks that do not participate, the values are not changed.
 *  @param[in]  n      number of values; bytes of a text
 *  @param[out] there  false if the attribute is missing; NULL: that is an error */
MG_MUST_CHECK mg_status_t mg_h5_get(mg_h5_t *file, const char *object, const char *name,
                                    mg_h5_type_t type, void *values, int n, bool *there);

/** Visit all attributes of a group, sorted by name (strcmp): the name, then the values, as words of
 *  8 bytes. Text is padded with zeros to whole words, each integer is an int64, each other number a
 *  double. Values of other types have no words.
 *  @param[in] visit  words are bits, not numbers */
typedef void mg_h5_visit_t(void *data, const char *name, const double *words, int64_t n);
MG_MUST_CHECK mg_status_t mg_h5_visit_attributes(mg_h5_t *file, const char *group,
                                                 mg_h5_visit_t *visit, void *data);

/** Report contents that cannot be used, although no call failed: the file's name, then the text.
 *  Ranks that share the file find the same, and rank 0 reports it.
 *  @return MG_ERR_IO */
mg_status_t mg_h5_wrong_at(const char *source, int line, const mg_h5_t *file, const char *format,
                           ...) MG_PRINTF(4, 5);
#define mg_h5_wrong(file, ...) mg_h5_wrong_at(__FILE__, __LINE__, file, __VA_ARGS__)

/** Name of a group's member, or of an attribute of a group, by index. Called by one rank. Control
 *  characters are replaced by '?'.
 *  @param[out] name  "" from the end on; longer names are cut */
MG_MUST_CHECK mg_status_t mg_h5_name(mg_h5_t *file, const char *group, bool of_attribute,
                                     int64_t index, char name[MG_H5_NAME_MAX]);

/** Create a dataset.
 *  @param[in]  n         as many sizes as the rank
 *  @param[in]  compress  0 for none, or the deflate level, 1 to 9, in chunks of planes
 *  @param[out] data      close with mg_h5_data_close */
MG_MUST_CHECK mg_status_t mg_h5_data_create(mg_h5_t *file, const char *path, mg_h5_type_t type,
                                            int rank, const int32_t n[], int compress,
                                            mg_h5_data_t *data);
/** Open a dataset, which must have this type and these dimensions. */
MG_MUST_CHECK mg_status_t mg_h5_data_open(mg_h5_t *file, const char *path, mg_h5_type_t type,
                                          int rank, const int32_t n[], mg_h5_data_t *data);
MG_MUST_CHECK mg_status_t mg_h5_data_close(mg_h5_t *file, mg_h5_data_t *data);

/** Properties of a dataset. */
typedef struct {
  bool there;        /**< a numeric dataset with 1 to 3 dimensions exists */
  int rank;          /**< dimensions */
  int64_t size[3];   /**< slowest dimension first */
  mg_h5_type_t type; /**< MG_H5_FLOAT if stored as such, otherwise MG_H5_DOUBLE */
} mg_h5_look_t;

/** Look for a dataset. A missing dataset is not an error; one stored in an unsupported way is. */
MG_MUST_CHECK mg_status_t mg_h5_inspect(mg_h5_t *file, const char *path, mg_h5_look_t *look);

/** List the datasets of a file as text: "it has /a, /b and 3 more datasets". Called by one rank,
 *  on a file that it has opened alone. */
void mg_h5_name_datasets(mg_h5_t *file, char *text, int size);

/** Write or read planes first .. first + count - 1 of a dataset, in the dataset's memory type.
 *  Count is 0 on ranks without planes.
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                             int32_t count, const void *values);
MG_MUST_CHECK mg_status_t mg_h5_read_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                            int32_t count, void *values);

#endif
