#include "base/sum.h"
#include <string.h>

void mg_sum_add(mg_sum_t *sum, double term) {
  uint64_t bits;
  memcpy(&bits, &term, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & 0xfffffffffffffULL;
  if (exponent == 0x7ff) {
    sum->digit[MG_SUM_NONFINITE]++;
    return;
  }
  if (exponent == 0)
    exponent = 1; /* subnormal: the same unit as the smallest normal number */
  else
    mantissa |= 0x10000000000000ULL;
  /* mantissa * 2^(exponent - 1075) = mantissa << shift, stored in digits `low` and up */
  const int low = (exponent - 1) / 32, shift = (exponent - 1) % 32;
  const uint64_t bottom = mantissa << shift, top = shift ? mantissa >> (64 - shift) : 0;
  const int64_t sign = bits >> 63 ? -1 : 1;
  sum->digit[low] += sign * (int64_t)(bottom & 0xffffffffULL);
  sum->digit[low + 1] += sign * (int64_t)(bottom >> 32);
  if (top) sum->digit[low + 2] += sign * (int64_t)top;
}

/* Upper 32 bits of the largest |term|, where NaN exceeds every number. */
static uint32_t largest_high(const double *term, int n) {
  uint32_t largest = 0;
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &term[i], sizeof bits);
    const uint32_t high = (uint32_t)(bits >> 32) & 0x7fffffffU;
    largest = high > largest ? high : largest;
  }
  return largest;
}

/* Two parts hold the terms of most chunks. What remains of much smaller ones is split again. */
static void add_chunk(mg_sum_t *sum, const double *term, int n) {
  double rest[MG_SUM_CHUNK], left;
  do {
    const int exponent = mg_sum_exponent(largest_high(term, n));
    if (exponent > MG_SUM_MAX_EXPONENT) {
      for (int i = 0; i < n; i++)
        mg_sum_add(sum, term[i]);
      return;
    }
    const double first = mg_sum_splitter(exponent),
                 second = mg_sum_splitter(exponent - MG_SUM_PART_BITS);
    double high = 0.0, low = 0.0;
    left = 0.0;
#pragma omp simd reduction(+ : high, low, left)
    for (int i = 0; i < n; i++) {
      double t = term[i];
      high += mg_sum_split(&t, first);
      low += mg_sum_split(&t, second);
      left += fabs(t);
      rest[i] = t;
    }
    mg_sum_add(sum, high);
    mg_sum_add(sum, low);
    term = rest;
  } while (left != 0.0);
}

void mg_sum_add_all(mg_sum_t *sum, const double *term, int n) {
  for (int first = 0; first < n; first += MG_SUM_CHUNK)
    add_chunk(sum, term + first, n - first < MG_SUM_CHUNK ? n - first : MG_SUM_CHUNK);
}

void mg_sum_merge(mg_sum_t *sum, const mg_sum_t *other) {
  for (int i = 0; i < MG_SUM_LIMBS; i++)
    sum->digit[i] += other->digit[i];
}
