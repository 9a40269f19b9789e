#include "digest.h"
#include <string.h>

static inline uint64_t hash(uint64_t bits, uint64_t index) {
  uint64_t x = bits ^ (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

uint64_t mg_digest_doubles(const double *value, int64_t n, uint64_t first) {
  uint64_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) if (n > 1 << 16)
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    sum += hash(bits, first + (uint64_t)i);
  }
  return sum;
}

uint64_t mg_digest_floats(const float *value, int64_t n, uint64_t first) {
  uint64_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) if (n > 1 << 16)
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    sum += hash(bits, first + (uint64_t)i);
  }
  return sum;
}
