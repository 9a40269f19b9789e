/* The verdict on a run in mixed precision: it fails if float rounding may have changed error or
 * order by more than the limits, or if the change is unknown. A run in double has no such limit. */
#include "run/verify.h"
#include "tests/lib/test.h"

/* Results of fv2 with GSRB at 128^3, 64^3 and 32^3, from tests/golden/golden.csv. */
static void set_result(double rounding, mg_result_t *result) {
  static const int32_t n[MG_N_SIZES] = {128, 64, 32};
  static const double norm[MG_N_SIZES] = {8.1e-4, 2.5e-3, 3.8e-3};
  memset(result, 0, sizeof *result);
  result->n_sizes = result->n_sizes_planned = MG_N_SIZES;
  for (int s = 0; s < MG_N_SIZES; s++) {
    mg_size_result_t *size = &result->size[s];
    for (int d = 0; d < 3; d++)
      size->n[d] = n[s];
    size->history.n_cycles = 1;
    size->history.norm[0] = size->history.rel[0] = norm[s];
    size->history.converged = true;
    size->history.diverged_level = -1;
    result->rounding[s] = rounding;
  }
  result->error = 9.649e-6;
  result->order = 1.989;
}

static void verify(mg_precision_class_t precision, double rounding, mg_result_t *result) {
  static mg_params_t params;
  mg_params_defaults(&params);
  params.precision = precision;
  set_result(rounding, result);
  mg_verify(&params, result);
}

int main(void) {
  static mg_result_t r;
  /* 2 (d + d) is the bound: 4e-12 of 9.649e-6. */
  verify(MG_CLASS_MIXED, 1e-12, &r);
  CHECK(r.passed);
  CHECK_STRING(r.why, "");
  CHECK_NEAR(r.error_rounding, 4e-12 / 9.649e-6, 1e-12);
  CHECK_NEAR(r.order_rounding, (4e-12 / 9.649e-6) * (1.0 + exp2(-1.989)) / log(2.0), 1e-12);
  /* The order exceeds its limit before the error does: here the error changes by 0.8 %. */
  verify(MG_CLASS_MIXED, 0.008 * 9.649e-6 / 4.0, &r);
  CHECK(!r.passed);
  CHECK_CONTAINS(r.why, "float rounding may change the order by 0.0144, more than 0.01");
  /* A change of 1.2 % of the error. */
  verify(MG_CLASS_MIXED, 0.012 * 9.649e-6 / 4.0, &r);
  CHECK(!r.passed);
  CHECK_CONTAINS(r.why, "float rounding may change the error by 1.2 %, more than 1 %");
  verify(MG_CLASS_MIXED, NAN, &r);
  CHECK(!r.passed);
  CHECK_CONTAINS(r.why, "float rounding may change the error");
  verify(MG_CLASS_DOUBLE, NAN, &r);
  CHECK(r.passed && isnan(r.error_rounding) && isnan(r.order_rounding));
  /* The other checks hold for both classes. */
  for (int precision = MG_CLASS_DOUBLE; precision <= MG_CLASS_MIXED; precision++) {
    static mg_params_t params;
    mg_params_defaults(&params);
    params.precision = (mg_precision_class_t)precision;
    set_result(1e-12, &r);
    r.error *= 10.0;
    mg_verify(&params, &r);
    CHECK(!r.passed);
    CHECK_CONTAINS(r.why, "expected at most");
  }
  return TEST_RESULT();
}
