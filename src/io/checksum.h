/* Checksums of planes of cells, in files and in memory. */
#ifndef MG_CHECKSUM_H
#define MG_CHECKSUM_H

#include "level/level.h"
#include <stdint.h>

/** Sum modulo 2^64, over n values, of a hash of value and index.
 *
 *  The sum does not depend on the order of summation. It depends on the position of each value,
 *  because each index has its own hash.
 *  @param[in] first  index of the first value within the whole field
 *  @ref NH of Black, Halevi, Krawczyk, Krovetz, Rogaway, UMAC: fast and secure message
 *          authentication (1999), with keys that are multiples; docs/format.md has a Python
 *          version */
uint64_t mg_checksum_doubles(const double *value, int64_t n, uint64_t first);
uint64_t mg_checksum_floats(const float *value, int64_t n, uint64_t first);

/** Sum modulo 2^64 of each of n checksums over the ranks of the world, in place. Collective.
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_checksum_sum(uint64_t *sums, int64_t n);

/** Checksum of the cells of a vector: the sum modulo 2^64 of the checksums of its planes
 * . Bit-identical fields have the same checksum on any ranks and devices.
 *
 *  Collective over the world, including ranks without cells. Memory: one plane of a patch, or 2 MiB
 *  if planes are smaller.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_field_checksum(const mg_level_t *level, mg_vector_t vec,
                                            uint64_t *checksum);

#endif
