/* Checksums of planes of cells, used to verify files when they are read. */
#ifndef MG_CHECKSUM_H
#define MG_CHECKSUM_H

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

#endif
