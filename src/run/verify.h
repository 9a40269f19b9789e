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

/** Relative residual max |f - A u| / max |f| at which solves on n cells per side stall. For a
 *  user's problem, a bound that holds for any problem. */
double mg_verify_attainable_rtol(const mg_params_t *params, int n);

/** Warn if --rtol is below the round-off limit on n cells per side. */
void mg_verify_warn_of_rtol(const mg_params_t *params, const int32_t n[3]);

/** Expected error max |u_2h - R u_h| of a solved problem on n cells per side, within a factor of
 *  1/2 to 2 (only an upper bound below n = 64). n is even. */
double mg_verify_expected_error(const mg_params_t *params, int n);

#endif
