/* Order-independent sums: bit-identical for any decomposition, thread count, CPU or GPU.
 *
 * Cells are first summed in bricks of at most 8^3 cells at fixed global positions. A brick is
 * summed in a fixed order in double precision. The brick sums are then added exactly in fixed
 * point. Exact addition is associative, so ranks and threads may add in any order.
 *
 * Where bricks have one cell, every cell is such a term. Chunks of terms are then added in double
 * precision without rounding: each term is split into parts that are multiples of a common power
 * of 2, so large that every sum of a chunk's parts is exact (Demmel and Nguyen, Parallel
 * reproducible summation, 2015). */
#ifndef MG_SUM_H
#define MG_SUM_H

#include "base/inline.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

/** 32-bit digits (limbs) from 2^-1074 to beyond 2^1024, and a count of non-finite terms. */
enum { MG_SUM_DIGITS = 68, MG_SUM_NONFINITE = MG_SUM_DIGITS, MG_SUM_LIMBS = MG_SUM_DIGITS + 1 };

/** A fixed-point number; value = sum of digit[i] * 2^(32 i - 1074). Zero-initialize it.
 *
 *  Digits are signed and may exceed 32 bits until normalized. Normalize every 2^30 terms. */
typedef struct {
  int64_t digit[MG_SUM_LIMBS];
} mg_sum_t;

/** sum += term, exactly. */
void mg_sum_add(mg_sum_t *sum, double term);

/** sum += each of n terms, exactly; faster than one by one, best in whole chunks. */
void mg_sum_add_all(mg_sum_t *sum, const double *term, int n);

/** sum += other, exactly. */
void mg_sum_merge(mg_sum_t *sum, const mg_sum_t *other);

/** Terms of a chunk, bits of their parts, and the largest exponent of a chunk that is split.
 *  MG_SUM_CHUNK parts have at most 53 bits together. */
enum { MG_SUM_CHUNK = 256, MG_SUM_PART_BITS = 45, MG_SUM_MAX_EXPONENT = 1000 };

/** Exponent e of the least 2^e that exceeds all terms of a chunk, at least -1022. Larger than
 *  MG_SUM_MAX_EXPONENT if a term is that large or not finite.
 *  @param high  upper 32 bits of the largest |term| */
MG_INLINE int mg_sum_exponent(uint32_t high) {
  return (int)(high >> 20) - 1022;
}

/** The number that rounds terms below 2^exponent to MG_SUM_PART_BITS bits; see mg_sum_split. */
MG_INLINE double mg_sum_splitter(int exponent) {
  /* 1.5 * 2^power, whose unit in the last place is 2^(exponent - MG_SUM_PART_BITS); 0 if it would
   * be subnormal. Then |term| < 2^(-1022 - 7), so a chunk of whole terms has 53 bits. */
  const int power = exponent + 52 - MG_SUM_PART_BITS;
  const uint64_t bits = power > -1023 ? (uint64_t)(power + 1023) << 52 | 1ULL << 51 : 0;
  double splitter;
  memcpy(&splitter, &bits, sizeof splitter);
  return splitter;
}

/** Split off and return the upper part of a term: a multiple of the splitter's unit. Exact. */
MG_INLINE double mg_sum_split(double *term, double splitter) {
  const double part = (*term + splitter) - splitter;
  *term -= part;
  return part;
}

/** Propagate carries: every digit but the top one is then in [0, 2^32). For sums over ranks. */
MG_SHARED void mg_sum_normalize(mg_sum_t *sum) {
  for (int i = 0; i < MG_SUM_DIGITS - 1; i++) {
    const int64_t digit = sum->digit[i] & 0xffffffffLL;
    sum->digit[i + 1] += (sum->digit[i] - digit) / 0x100000000LL;
    sum->digit[i] = digit;
  }
}

/** The sum rounded to double, within one unit in the last place; NaN if any term was not finite. */
MG_SHARED double mg_sum_value(const mg_sum_t *sum) {
  if (sum->digit[MG_SUM_NONFINITE] != 0) return NAN;
  mg_sum_t s = *sum;
  double sign = 1.0;
  mg_sum_normalize(&s);
  if (s.digit[MG_SUM_DIGITS - 1] < 0) {
    sign = -1.0;
    for (int i = 0; i < MG_SUM_DIGITS; i++)
      s.digit[i] = -s.digit[i];
    mg_sum_normalize(&s);
  }
  int top = MG_SUM_DIGITS - 1;
  while (top > 0 && s.digit[top] == 0)
    top--;
  /* Three digits hold at least 65 significant bits. */
  double value = 0.0;
  for (int i = top > 2 ? top - 2 : 0; i <= top; i++)
    value += ldexp((double)s.digit[i], 32 * i - 1074);
  return sign * value;
}

#endif
