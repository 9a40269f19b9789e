/* Write a vector of a level to a dataset, or read it back, with one checksum per plane. */
#ifndef MG_FIELD_IO_H
#define MG_FIELD_IO_H

#include "io/hdf5/h5.h"
#include "io/slabs.h"
#include "level/metric.h"

/** Parameters of a transfer between a level and a file. */
typedef struct {
  mg_h5_t *file; /**< NULL on ranks that do not access the file */
  mg_slabs_t *slabs;
  const int32_t *n;          /**< cells of the level in i, j, k */
  const mg_metric_t *metric; /**< written are the level's values without these factors */
  mg_precision_t precision;
  int compress;        /**< deflate level */
  bool is_coefficient; /**< small values matter beside large ones */
  /* Of users' files: */
  bool any_number; /**< doubles are stored as any numbers */
  bool has_no_sums;
  /** Gets the planes that were read, as doubles, in place of the vector; NULL: none. Collective. */
  mg_status_t (*take)(void *data, const mg_slab_t *slab, int round);
  void *data;
} mg_field_io_t;

/** Values of a small dataset, the same as read back, and a checksum of each row of both. */
typedef struct {
  double *values, *stored;
  uint64_t *sums, *stored_sums;
} mg_rows_t;

/** Room for datasets of at most `most` values. Collective; free also after a failure. */
MG_MUST_CHECK mg_status_t mg_rows_create(int64_t most, mg_rows_t *rows);
void mg_rows_free(mg_rows_t *rows);

/** Write a dataset of rows->values and its checksums, or compare them with the file.
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_rows_move(mg_h5_t *file, const char *path, bool has_sums, int rank,
                                       const int32_t n[], bool write, const mg_rows_t *rows);

/** Write a vector as [n[2]][n[1]][n[0]] to `path`, and n[2] checksums.
 *
 *  Floats hold no magnitude above FLT_MAX, and few digits of those below FLT_MIN. Of u, f and
 *  residuals such small values are rounding beside the largest one, unless that is as small.
 *  @param[out] beyond  a value that a float cannot hold, on every rank; 0 if there is none
 *  While a slab is being written, the next one is fetched from the device. Collective over the
 *  world, like all functions of this file.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_field_write(const mg_field_io_t *io, const char *path, mg_vector_t vec,
                                         double *beyond);

/** Read a field written by mg_field_write and compare every plane with its checksum. The values
 *  go to the cells of vector `vec`, unless it is negative. */
MG_MUST_CHECK mg_status_t mg_field_read(const mg_field_io_t *io, const char *path, mg_vector_t vec);

#endif
