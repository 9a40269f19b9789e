/* One vector of a level to a dataset of a file and back, with a checksum of each plane beside it.
 */
#ifndef MG_FIELD_IO_H
#define MG_FIELD_IO_H

#include "io/hdf5/h5.h"
#include "io/slabs.h"

/** A level and a file. */
typedef struct {
  mg_h5_t *file; /**< NULL on ranks that take no part in it */
  mg_slabs_t *slabs;
  int32_t n; /**< cells a side of the level */
  mg_precision_t precision;
  int compress; /**< level of deflate */
} mg_field_io_t;

/** Write a vector as [n][n][n] to `path`, and n checksums to `checksums`. While a slab is being
 *  written, the next one is on its way from the device.
 *
 *  Collective over the world, like the rest of these.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_field_write(const mg_field_io_t *io, const char *path,
                                         const char *checksums, int vec);

/** Read what mg_field_write wrote, and compare every plane with its checksum; with `vec` >= 0 the
 *  values become the vector's cells. */
MG_MUST_CHECK mg_status_t mg_field_read(const mg_field_io_t *io, const char *path,
                                        const char *checksums, int vec);

#endif
