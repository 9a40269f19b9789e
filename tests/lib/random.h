/* Reproducible random numbers: splitmix64 from a fixed seed. */
#ifndef MG_TEST_RANDOM_H
#define MG_TEST_RANDOM_H

#include <stdint.h>

typedef struct {
  uint64_t state;
} random_t;

static inline uint64_t random_bits(random_t *r) {
  uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/* Random integer in [lo, hi]. */
static inline int64_t random_int(random_t *r, int64_t lo, int64_t hi) {
  return lo + (int64_t)(random_bits(r) % (uint64_t)(hi - lo + 1));
}

#endif
