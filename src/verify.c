#include "verify.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static void fail(mg_result_t *result, const char *format, ...) MG_PRINTF(2, 3);
static void fail(mg_result_t *result, const char *format, ...) {
  if (!result->passed) return; /* the first reason is the one to act on */
  result->passed = false;
  va_list args;
  va_start(args, format);
  vsnprintf(result->why, sizeof result->why, format, args);
  va_end(args);
}

void mg_verify(const mg_params_t *params, mg_result_t *result) {
  result->passed = true;
  result->why[0] = '\0';
  if (result->interrupted) {
    fail(result, "interrupted after %d of %d sizes", result->n_sizes, result->n_sizes_planned);
    return;
  }
  for (int s = 0; s < result->n_sizes; s++) {
    const mg_history_t *hist = &result->size[s].history;
    const double rel = hist->rel[hist->n_cycles - 1];
    if (!isfinite(rel)) fail(result, "the residual at %d^3 is not finite", result->size[s].n);
    if (!hist->reached)
      fail(result, "relative residual %.3g after %d cycles at %d^3, asked for %.3g", rel,
           hist->n_cycles, result->size[s].n, params->rtol);
  }
}
