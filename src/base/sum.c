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

/* Terms that are added in doubles, and parts of each term. */
enum { CHUNK = 256, PARTS = 3, PART_BITS = 45 };

/* The exponent e of the least 2^e above all |term|, or -1022 if they are smaller; above 1000 if a
 * term is that large or not finite. */
static int exponent_above(const double *term, int n) {
  int64_t most = 0;
  for (int i = 0; i < n; i++) {
    int64_t bits;
    memcpy(&bits, &term[i], sizeof bits);
    bits &= INT64_MAX; /* of |term|; NaN is largest */
    most = bits > most ? bits : most;
  }
  return (int)(most >> 52) - 1022;
}

/* Split each term into parts that are multiples of a power of 2, so large that sums of CHUNK parts
 * are exact in any order: t + m is t rounded to a multiple of ulp(m). What remains of much smaller
 * terms is added one by one. Demmel and Nguyen, Parallel reproducible summation (2015). */
static void add_chunk(mg_sum_t *sum, const double *term, int n) {
  double rest[CHUNK], left = 0.0;
  int exponent = exponent_above(term, n);
  memcpy(rest, term, (size_t)n * sizeof *term);
  for (int part = 0; part < PARTS && exponent <= 1000; part++, exponent -= PART_BITS) {
    const double m = ldexp(1.5, exponent + 52 - PART_BITS);
    double all = 0.0;
#pragma omp simd reduction(+ : all)
    for (int i = 0; i < n; i++) {
      const double rounded = (rest[i] + m) - m;
      all += rounded;
      rest[i] -= rounded;
    }
    mg_sum_add(sum, all);
  }
#pragma omp simd reduction(+ : left)
  for (int i = 0; i < n; i++)
    left += fabs(rest[i]);
  for (int i = 0; i < n && left != 0.0; i++)
    mg_sum_add(sum, rest[i]);
}

void mg_sum_add_all(mg_sum_t *sum, const double *term, int n) {
  for (int first = 0; first < n; first += CHUNK)
    add_chunk(sum, term + first, n - first < CHUNK ? n - first : CHUNK);
}

void mg_sum_merge(mg_sum_t *sum, const mg_sum_t *other) {
  for (int i = 0; i < MG_SUM_LIMBS; i++)
    sum->digit[i] += other->digit[i];
}
