#include "io/checksum.h"
#include "base/machine.h"
#include <string.h>

/* Product of two 32-bit words, each with its own key derived from the index. The product has 64
 * bits, so a change of one word changes it, unless the other sum is 0. The low word of round
 * numbers is 0, so no index that occurs may have 0 as its first key. */
static inline uint64_t term(uint32_t low, uint32_t high, uint32_t index) {
  const uint32_t a = low + (index + 1) * 0x9e3779b1u,
                 b = high + (index * 0x85ebca6bu ^ 0x7feb352du);
  return (uint64_t)a * b;
}

/* At most one thread per 65536 values: beyond that, the barrier costs more than threads save. */
static int threads_for(int64_t n) {
  const int64_t useful = n >> 16, max = mg_machine_threads();
  return useful < 1 ? 1 : (int)(useful < max ? useful : max);
}

uint64_t mg_checksum_doubles(const double *value, int64_t n, uint64_t first) {
  const uint32_t start = (uint32_t)first;
  const int threads = threads_for(n);
  uint64_t sum = 0;
  (void)threads; /* a build without OpenMP */
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    sum += term((uint32_t)bits, (uint32_t)(bits >> 32), start + (uint32_t)i);
  }
  return sum;
}

/* The second factor is that of a zero word. */
uint64_t mg_checksum_floats(const float *value, int64_t n, uint64_t first) {
  const uint32_t start = (uint32_t)first;
  const int threads = threads_for(n);
  uint64_t sum = 0;
  (void)threads; /* a build without OpenMP */
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    sum += term(bits, 0, start + (uint32_t)i);
  }
  return sum;
}
