/* Checksum of a field in memory. */
#ifndef MG_FIELD_CHECKSUM_H
#define MG_FIELD_CHECKSUM_H

#include "level/level.h"

/** Checksum of the cells of a vector: the sum modulo 2^64 of the checksums of its planes
 *  (checksum.h). Bit-identical fields have the same checksum on any ranks and devices.
 *
 *  Collective over the world, including ranks without cells. Memory: one plane of a patch, or 2 MiB
 *  if planes are smaller.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_field_checksum(const mg_level_t *level, mg_vector_t vec,
                                            uint64_t *checksum);

#endif
