/* A number for the bits of a plane of cells, by which a file is checked when it is read. */
#ifndef MG_CHECKSUM_H
#define MG_CHECKSUM_H

#include <stdint.h>

/** Sum modulo 2^64 over n values of a hash of value and index.
 *
 *  The sum does not care who added what first; that every index has its own hash makes it care
 *  where a value stands.
 *  @param[in] first  index of the first value in its whole field
 *  @ref NH of Black, Halevi, Krawczyk, Krovetz, Rogaway, UMAC: fast and secure message
 *       authentication (1999), with keys that are multiples; docs/format.md has it in Python */
uint64_t mg_checksum_doubles(const double *value, int64_t n, uint64_t first);
uint64_t mg_checksum_floats(const float *value, int64_t n, uint64_t first);

#endif
