/* golden_histories: residual norms of the original benchmark at 64^3 after each cycle, and the
 * Richardson error of the discrete problem once it is solved. */
#include "level/ops.h"
#include "run/benchmark.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <float.h>
#include <stdlib.h>

enum { MOST = 5 };
static const struct {
  const char *options; /* V-cycles follow the first cycle */
  int n;
  double norm[MOST];
} histories[] = {
    {"--operator=fv2 --smoother=chebyshev --cycle=f",
     5,
     {1.638758839020316e-03, 2.902847647734408e-05, 5.870873851510083e-07, 1.331266552551114e-08,
      3.136931825409306e-10}},
    {"--operator=fv4 --smoother=gsrb --cycle=f",
     4,
     {6.934041112727218e-05, 9.920533452500990e-07, 1.449018749433151e-08, 2.212448002580913e-10}},
    {"--operator=fv2 --smoother=chebyshev --cycle=v",
     3,
     {1.650544863139791e-02, 3.246104054266397e-04, 7.138786714655510e-06}},
    {"--operator=fv4 --smoother=gsrb --cycle=v",
     3,
     {3.729128157729744e-02, 6.724278542051820e-04, 1.223156713370255e-05}},
};

static int current; /* index into histories */

/* Two correct computations differ by rounding of u, half a unit in the last place each. A
 * amplifies this by at most its largest row sum, 24 b/h^2 max(beta) (see op_algebra). This floor
 * is added to the bound of the golden norms, 1e-9 of the norm. Here the floor is below 1e-13, a
 * tenth of the 1e-12 that must cover all grids. */
static void test_history(mg_hierarchy_t *h) {
  static mg_history_t history;
  double f_norm, u;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  MUST(mg_solve(h, 0, f_norm, &history));
  MUST(mg_max_norm(&h->level[0], MG_U, -1, &u));
  const double floor = DBL_EPSILON * 24.0 * 1.25 * h->level[0].store.view.b_h2 * u;
  CHECK(floor < 1e-13);
  CHECK_INT(history.n_cycles, histories[current].n);
  for (int c = 0; c < histories[current].n; c++) {
    const double got = history.norm[c], want = histories[current].norm[c];
    CHECK_CASE(fabs(got - want) <= 1e-9 * want + floor, got, want);
    CHECK_CASE(history.rel[c] == got / f_norm, history.rel[c], got / f_norm);
  }
}

/* Solved to 1e-11 of max|f|, u has a relative error of about 1e-11, i.e. 3e-14. This is a
 * millionth of a percent of the smaller Richardson error. */
static void test_solved(mg_hierarchy_t *h) {
  static const double original[] = {
      [MG_OPERATOR_FV2] = 4.061097293909686e-05, [MG_OPERATOR_FV4] = 3.469551289830061e-06};
  static mg_result_t result;
  const double want = original[h->params.op];
  memset(&result, 0, sizeof result);
  MUST(mg_benchmark(h, NULL, &result));
  CHECK_CASE(fabs(result.error - want) <= 1e-8 * want, result.error, want);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  for (current = 0; current < (int)(sizeof histories / sizeof *histories); current++)
    fixture_each("5x2",
                 textf("%s --boundary=dirichlet --equation=poisson --rtol=1e-30 --max-cycles=%d",
                       histories[current].options, histories[current].n),
                 test_history);
  fixture_each("5x2",
               "--operator=fv2,fv4 --boundary=dirichlet --equation=poisson --rtol=1e-11 "
               "--verify-only --quiet",
               test_solved);
  return FIXTURE_END();
}
