/* Mixed precision: bound the distance from a run in double, which differs by float rounding alone.
 * The difference between two runs that round differently (rounding.h) is of the size of the
 * difference from a run in double; twice the difference is used as its bound. u_2h - R u_h has both
 * solutions' roundings. */
#include "run/verify.h"
#include <math.h>

void mg_verify_rounding(const mg_params_t *params, mg_result_t *result) {
  const double of[2] = {2.0 * (result->rounding[0] + result->rounding[1]),
                        2.0 * (result->rounding[1] + result->rounding[2])};
  if (params->precision != MG_CLASS_MIXED) return;
  const double error_2h = result->error * exp2(result->order);
  result->error_rounding = of[0] / result->error;
  result->order_rounding = (of[0] / result->error + of[1] / error_2h) / log(2.0);
  if (!(result->error_rounding <= MG_MAX_ERROR_ROUNDING))
    mg_verify_fail(result,
                   "float rounding may change the error by %.2g %%, more than %.2g %%; use "
                   "--precision=double",
                   100.0 * result->error_rounding, 100.0 * MG_MAX_ERROR_ROUNDING);
  if (!(result->order_rounding <= MG_MAX_ORDER_ROUNDING))
    mg_verify_fail(result,
                   "float rounding may change the order by %.3g, more than %.3g; use "
                   "--precision=double",
                   result->order_rounding, MG_MAX_ORDER_ROUNDING);
}
