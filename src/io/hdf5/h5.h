/* What is used of HDF5, with every call checked. In builds without HDF5, h5_none.c.
 *
 * A file belongs to all ranks of the world. Through a parallel library on several ranks every rank
 * takes part; else rank 0 alone does, and every call here returns at once on the others. All calls
 * are collective in the first case, so every rank makes them in the same order and agrees
 * (mg_comm_agree) on how they went. Errors are logged with the file's name and the library's
 * reason.
 *
 * Where several ranks share an open file, a call that fails on one of them may leave the others
 * waiting within the library for good: then the run ends at once (mg_comm_abort) with the exit code
 * of MG_ERR_IO, and everything that must not be lost has to be written before. */
#ifndef MG_H5_H
#define MG_H5_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MG_H5_NAME_MAX = 128 };

/** An open file. */
typedef struct mg_h5 mg_h5_t;

/** The type of a dataset, in memory and in the file. */
typedef enum { MG_H5_DOUBLE, MG_H5_FLOAT, MG_H5_UINT64 } mg_h5_type_t;

/** A dataset of planes: [n], [n][n], or [n][n][n] with x fastest. */
typedef struct {
  int64_t id;
  mg_h5_type_t type;
  int rank;  /**< 1 to 3 */
  int32_t n; /**< of every dimension */
} mg_h5_data_t;

/** Is there an HDF5 library, and does it write from all ranks at once? */
bool mg_h5_available(void);
bool mg_h5_parallel(void);

/** May another thread write planes while this one does something else? Not where ranks share the
 *  file: their calls are messages, and those are this thread's. */
bool mg_h5_writes_beside(void);

/** Does this rank take part in the files of this run? Rank 0 always does. */
bool mg_h5_takes_part(void);

/** The file that is of no use if the run has to end in the midst of a call, and is removed then.
 *  @param[in] path  kept; NULL: none */
void mg_h5_drop_at_abort(const char *path);

/** Make a file, in place of one that there is.
 *  @param[in] hints  of a parallel run, "key=value,key=value" for MPI; may be ""
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_h5_create(const char *path, const char *hints, mg_h5_t **out);
/** Open a file for reading. */
MG_MUST_CHECK mg_status_t mg_h5_open(const char *path, mg_h5_t **out);
/** The same for a file that an option names, and errors with it: --option=path. */
MG_MUST_CHECK mg_status_t mg_h5_open_input(const char *option, const char *path, mg_h5_t **out);
/** The same for the calling rank by itself. */
MG_MUST_CHECK mg_status_t mg_h5_open_alone(const char *option, const char *path, mg_h5_t **out);
/** Close it; what was written is with the operating system then.
 *  @param[in] file  may be NULL */
MG_MUST_CHECK mg_status_t mg_h5_close(mg_h5_t *file);

/** Make a group; its parents must be there. */
MG_MUST_CHECK mg_status_t mg_h5_group(mg_h5_t *file, const char *path);

/** Attributes of a group. Text is ASCII of fixed length without an end, as VTK wants it. */
MG_MUST_CHECK mg_status_t mg_h5_put_text(mg_h5_t *file, const char *group, const char *name,
                                         const char *text);
MG_MUST_CHECK mg_status_t mg_h5_put_integers(mg_h5_t *file, const char *group, const char *name,
                                             const int64_t *values, int n);
MG_MUST_CHECK mg_status_t mg_h5_put_doubles(mg_h5_t *file, const char *group, const char *name,
                                            const double *values, int n);

/** Whether the file has a group or dataset. A damaged group on the way is an error, not absence.
 *  @param[out] there  false on ranks that take no part
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_h5_exists(mg_h5_t *file, const char *path, bool *there);
/** The same for an attribute of a group that exists. */
MG_MUST_CHECK mg_status_t mg_h5_has_attribute(mg_h5_t *file, const char *group, const char *name,
                                              bool *there);

/** The same read. Another type, another number of values, a text longer than size - 1: an error.
 *  On ranks that take no part the values stay as they are. */
MG_MUST_CHECK mg_status_t mg_h5_get_text(mg_h5_t *file, const char *group, const char *name,
                                         char *text, int size);
MG_MUST_CHECK mg_status_t mg_h5_get_integers(mg_h5_t *file, const char *group, const char *name,
                                             int64_t *values, int n);
MG_MUST_CHECK mg_status_t mg_h5_get_doubles(mg_h5_t *file, const char *group, const char *name,
                                            double *values, int n);

/** Make a dataset.
 *  @param[in] compress  0, or the level of deflate, 1 to 9, in chunks of planes
 *  @param[out] data     close with mg_h5_data_close */
MG_MUST_CHECK mg_status_t mg_h5_data_create(mg_h5_t *file, const char *path, mg_h5_type_t type,
                                            int rank, int32_t n, int compress, mg_h5_data_t *data);
/** Open one, which must have this type and these dimensions. */
MG_MUST_CHECK mg_status_t mg_h5_data_open(mg_h5_t *file, const char *path, mg_h5_type_t type,
                                          int rank, int32_t n, mg_h5_data_t *data);
MG_MUST_CHECK mg_status_t mg_h5_data_close(mg_h5_t *file, mg_h5_data_t *data);

/** What is known of a dataset without asking more of it. */
typedef struct {
  bool there;           /**< a dataset of numbers with 1 to 3 dimensions */
  int rank;             /**< dimensions */
  int64_t size[3];      /**< the slowest first */
  bool double_or_float; /**< stored as `type` says, and not to be converted */
  mg_h5_type_t type;
} mg_h5_look_t;

/** Look for a dataset; that it is missing is no error, and that it is stored as nothing is read
 * here is one. */
MG_MUST_CHECK mg_status_t mg_h5_look(mg_h5_t *file, const char *path, mg_h5_look_t *look);

/** The datasets of a file in a few words, "it has /a, /b and 3 more datasets". By one rank, with a
 * file of its own (mg_h5_open_alone). */
void mg_h5_name_datasets(mg_h5_t *file, char *text, int size);

/** Open a dataset of any type of numbers, to be read as doubles. */
MG_MUST_CHECK mg_status_t mg_h5_data_open_numbers(mg_h5_t *file, const char *path, int rank,
                                                  int32_t n, mg_h5_data_t *data);

/** Write, or read, planes first .. first + count - 1 of a dataset, of the dataset's type in memory;
 *  count 0 on ranks that have none.
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                             int32_t count, const void *values);
MG_MUST_CHECK mg_status_t mg_h5_read_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                            int32_t count, void *values);

#endif
