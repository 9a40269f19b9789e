/* Verification of the results of a run. */
#ifndef MG_VERIFY_H
#define MG_VERIFY_H

#include "run/benchmark.h"

/** With --precision=mixed, how far float rounding may move the results from those of a run in
 *  double: the error, relative, and the order. */
#define MG_MAX_ERROR_ROUNDING 0.01
#define MG_MAX_ORDER_ROUNDING 0.01

/** Judge a run: set result->passed, why (if it failed), note, error_rounding and order_rounding.
 * Not collective.
 *
 *  Requires finite norms, that --rtol was reached, and residual, error and order within bounds
 *  for the operator and grid at hand (derived in verify.c). With --precision=mixed also requires
 *  that float rounding changes error and order by no more than the limits above. After a single
 *  V-cycle, only the residual is judged. */
void mg_verify(const mg_params_t *params, mg_result_t *result);

/** Warn if --rtol is below the round-off limit on n cells per side. */
void mg_verify_warn_of_rtol(const mg_params_t *params, const int32_t n[3]);

/** The result is wrong, for this reason. The first one is kept. */
void mg_verify_fail(mg_result_t *result, const char *format, ...) MG_PRINTF(2, 3);

/** The part of mg_verify for mixed precision (verify_rounding.c, of the wing mixed). */
void mg_verify_rounding(const mg_params_t *params, mg_result_t *result);

#endif
