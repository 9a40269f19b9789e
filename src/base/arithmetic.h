/* Does this compiler, with its flags, compute as IEEE 754 says? configure runs these checks, and so
 * does each start of the program, because flags may be given to make later. */
#ifndef MG_ARITHMETIC_H
#define MG_ARITHMETIC_H

#include <float.h>
#include <math.h>
#include <stddef.h>

static double mg_sum_in_order(const double *x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

/** @param[in] one, nan  values that the compiler does not know
 *  @return what the flags do; NULL: nothing that changes results */
static const char *mg_arithmetic_fault(double one, double nan) {
  enum { TERMS = 64, QUOTIENTS = 4 };
  static const double pattern[4] = {1e16, 1.0, -1e16, 1.0},
                      digits[QUOTIENTS] = {1.0, 5.0, 7.0, 10.0};
  static const double thirds[QUOTIENTS] = {1.0 / 3.0, 5.0 / 3.0, 7.0 / 3.0, 10.0 / 3.0};
  static const float short_thirds[QUOTIENTS] = {1.0f / 3.0f, 5.0f / 3.0f, 7.0f / 3.0f,
                                                10.0f / 3.0f};
  const double small = 0x1p-60 * one, part = 0x1p-30 * one, three = 3.0 * one;
  const float short_one = (float)one, short_three = (float)three;
  double x[TERMS], quotient[QUOTIENTS];
  float short_quotient[QUOTIENTS];
  for (int i = 0; i < TERMS; i++)
    x[i] = one * pattern[i % 4];
  /* Each 1e16 absorbs the 1 next to it. */
  if (mg_sum_in_order(x, TERMS) != 1.0 || (one + small) - one != 0.0 ||
      (short_one + (float)part) - short_one != 0.0f)
    return "reassociate sums or compute in extended precision";
  if (one / 10.0 != 0.1) return "store constants in single precision";
  if ((one + part) * (one - part) - one != 0.0) return "contract a product and a sum";
  for (int q = 0; q < QUOTIENTS; q++) {
    quotient[q] = digits[q] * one / three;
    short_quotient[q] = (float)digits[q] * short_one / short_three;
  }
  for (int q = 0; q < QUOTIENTS; q++)
    if (quotient[q] != thirds[q] || short_quotient[q] != short_thirds[q] ||
        digits[q] * one / 3.0 != thirds[q])
      return "replace a division by a reciprocal";
  if (1.5 * DBL_MIN * one - DBL_MIN * one == 0.0) return "flush small values to zero";
  if (!(nan != nan)) return "ignore NaN";
  return signbit(copysign(0.0, -one) + 0.0) ? "ignore the sign of zero" : NULL;
}

#endif
