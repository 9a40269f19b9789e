/* Between double and float cells (--precision=mixed): the right-hand side of a correction is a
 * residual in double, rounded to float; the correction is added in double.
 *
 * The scale is 1, so that both operations are exact but for one rounding. Another scale makes the
 * float cells round elsewhere, which shows how much rounding matters (run/rounding.c). */
#ifndef MG_PRECISION_H
#define MG_PRECISION_H

#include "base/inline.h"
#include "formulas/view.h"
#include <math.h>

/** A double value for a float level. */
MG_INLINE float mg_lowered(double x, double scale) {
  return (float)(scale * x);
}

/** x plus a value of a float level. */
MG_INLINE double mg_corrected(double x, float correction, double scale) {
  return fma(scale, (double)correction, x);
}

/** Address of a cell of a float level, in code compiled for double. */
MG_INLINE float *mg_float_cell(const mg_patch_t *p, int vec, int64_t i, int64_t j, int64_t k) {
  return (float *)(void *)p->vec[vec] + i + j * p->jstride + k * p->kstride;
}

#endif
