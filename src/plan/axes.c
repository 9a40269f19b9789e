#include "plan/axes.h"
#include "base/alloc.h"
#include "formulas/coefficients.h"
#include <math.h>
#include <stdlib.h>

/* Faces at length / 2 (1 + tanh(b s) / tanh(b)), s from -1 to 1. Widths of mirrored cells are
 * equal up to rounding. */
static void stretch(double b, double length, int32_t n, double *face) {
  for (int32_t i = 0; i <= n / 2; i++) {
    const double s = (2.0 * i - n) / n, low = 0.5 * length * (1.0 + mg_tanh(b * s) / mg_tanh(b));
    face[n - i] = length - low;
    face[i] = low;
  }
  face[0] = 0.0;
  face[n] = length;
}

mg_status_t mg_axes_set(mg_axes_t *axes, mg_params_t *params) {
  for (int d = 0; d < 3; d++) {
    const int32_t n = params->cells[d];
    if (params->stretch[d] > 0.0) {
      MG_TRY(mg_new(&axes->face[d], (int64_t)n + 1, "positions of faces"));
      stretch(params->stretch[d], params->length[d], n, axes->face[d]);
    }
    params->face[d] = axes->face[d];
  }
  return MG_OK;
}

void mg_axes_free(mg_axes_t *axes) {
  for (int d = 0; d < 3; d++) {
    free(axes->face[d]);
    axes->face[d] = NULL;
  }
}

int64_t mg_axis_fault(const double *face, int32_t n) {
  for (int64_t i = 0; i <= n; i++)
    if (!isfinite(face[i]) || (i > 0 && !(face[i] > face[i - 1]))) return i;
  return -1;
}

bool mg_axis_is_even(const double *face, int32_t n) {
  const double length = face[n] - face[0], largest = fmax(fabs(face[0]), fabs(face[n]));
  for (int32_t i = 0; i < n; i++)
    if (fabs((face[i + 1] - face[i]) - length / n) > 1e-13 * largest) return false;
  return true;
}
