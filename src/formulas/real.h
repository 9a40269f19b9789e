/* The type of cell values: double, or float where a file is compiled with MG_FLOAT.
 *
 * Formulas and the files of a backend that touch cells are written once and compiled for each type.
 * A file that only passes views on may be compiled with either: the layout of a view does not
 * depend on the type. */
#ifndef MG_REAL_H
#define MG_REAL_H

#include "base/inline.h"
#include <math.h>

#ifdef MG_FLOAT
typedef float mg_real_t;
#else
typedef double mg_real_t;
#endif

/** A constant or a scalar, rounded to the type of cell values. Without it, a double constant turns
 *  float arithmetic into double arithmetic. */
#define MG_REAL(x) ((mg_real_t)(x))

/** a b + c with a single rounding; |x|. */
MG_INLINE mg_real_t mg_fma(mg_real_t a, mg_real_t b, mg_real_t c) {
#ifdef MG_FLOAT
  return fmaf(a, b, c);
#else
  return fma(a, b, c);
#endif
}
MG_INLINE mg_real_t mg_abs(mg_real_t x) {
#ifdef MG_FLOAT
  return fabsf(x);
#else
  return fabs(x);
#endif
}

#endif
