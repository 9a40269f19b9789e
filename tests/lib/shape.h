/* Cells of levels of any shape, for op_shape and cycle_shape. */
#ifndef MG_TEST_SHAPE_H
#define MG_TEST_SHAPE_H

#include "plan/decomp.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>

#define MG_TEST_PI 3.14159265358979323846

/** beta at the face below a cell; of fv2 and fv4 the average over the face. */
static inline double beta_at(const mg_view_t *v, int d, const int at[3]) {
  double x[3], s = 1.0, r2 = 0.0, tangential = 0.0;
  for (int e = 0; e < 3; e++) {
    x[e] = (at[e] + (e == d ? 0.0 : 0.5)) / v->n[e];
    s *= sin(2.0 * MG_TEST_PI * x[e]);
    r2 += (x[e] - 0.5) * (x[e] - 0.5);
    if (e != d) tangential += 1.0 / ((double)v->n[e] * v->n[e]);
  }
  if (v->op == MG_OPERATOR_7PT) return 5.5 + 4.5 * tanh(10.0 * (sqrt(r2) - 0.25));
  return 1.0 + 0.25 * s * (1.0 - 4.0 * MG_TEST_PI * MG_TEST_PI * tangential / 24.0);
}

#endif
