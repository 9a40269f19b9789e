/* Is the answer right? */
#ifndef MG_VERIFY_H
#define MG_VERIFY_H

#include "run/benchmark.h"

/** Judge a run: set result->passed and, when it is false, result->why. Not collective.
 *
 *  Every norm finite, --rtol reached, and residual, error and order within bounds that hold for the
 *  operator and grid at hand (derived in verify.c). After a single V-cycle only the residual. */
void mg_verify(const mg_params_t *params, mg_result_t *result);

/** The relative residual max |f - A u| / max |f| at which solves on n cells per side stall. For a
 * user's problem a bound that holds for any problem. */
double mg_verify_attainable_rtol(const mg_params_t *params, int n);

/** Warn of an --rtol that rounding does not allow on n cells per side. */
void mg_verify_warn_of_rtol(const mg_params_t *params, int n);

/** The error max |u_2h - R u_h| that a solved problem on n cells a side is expected to have, up to
 *  a factor between 1/2 and 2 (an upper bound alone below n = 64). n is even. */
double mg_verify_expected_error(const mg_params_t *params, int n);

#endif
