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

void mg_sum_merge(mg_sum_t *sum, const mg_sum_t *other) {
  for (int i = 0; i < MG_SUM_LIMBS; i++)
    sum->digit[i] += other->digit[i];
}
