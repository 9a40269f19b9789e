/* Is the answer right? */
#ifndef MG_VERIFY_H
#define MG_VERIFY_H

#include "benchmark.h"

/** Judge a run: set result->passed and, when it is false, result->why. Not collective. */
void mg_verify(const mg_params_t *params, mg_result_t *result);

#endif
