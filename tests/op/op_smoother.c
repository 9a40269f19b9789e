/* op_smoother: every smoother performs the documented steps. Chebyshev steps multiply an
 * eigenvector's error by T_k((theta - lambda)/delta) / T_k(theta/delta), those of the fourth kind
 * by W_k(1 - 2 lambda / lambda_max) / (2 k + 1). A smooth is bit-identical to its steps executed
 * one by one from stored residuals, from any guess or from zero. A solution stays unchanged. */
#include "formulas/smoother_steps.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "tests/lib/fixture.h"
#include <float.h>
#include <stdlib.h>

static double chebyshev_t(int degree, double x) {
  if (fabs(x) <= 1.0) return cos(degree * acos(x));
  return (x < 0.0 && degree % 2 ? -1.0 : 1.0) * cosh(degree * acosh(fabs(x)));
}

/* W_k(cos a) = sin((k + 1/2) a) / sin(a/2) */
static double chebyshev_w(int degree, double x) {
  const double a = acos(x);
  return x == 1.0 ? 2.0 * degree + 1.0 : sin((degree + 0.5) * a) / sin(0.5 * a);
}

/* x <- x + c1 (x - x_before) + c2 (0 - lambda x): effect of the steps on an eigenvector's error. */
static double amplify(const mg_step_t *step, int n, double lambda) {
  double x = 1.0, before = 1.0;
  for (int s = 0; s < n; s++) {
    const double next = x + step[s].c1 * (x - before) - step[s].c2 * lambda * x;
    before = x;
    x = next;
  }
  return x;
}

static void test_chebyshev(mg_smoother_t kind) {
  static mg_params_t params;
  mg_params_defaults(&params);
  params.smoother = kind;
  for (params.degree = 1; params.degree <= 10; params.degree++)
    for (params.smooths = 1; params.smooths <= 3; params.smooths++) {
      const double lambda_max = 1.0 + 0.1 * params.degree, theta = 0.5625 * lambda_max,
                   delta = 0.4375 * lambda_max;
      mg_step_t *steps;
      int n;
      double worst = 0.0;
      MUST(mg_smoother_steps(&params, lambda_max, &steps, &n));
      CHECK_INT(n, params.degree * params.smooths);
      for (int i = 0; i <= 64; i++) {
        const double lambda = lambda_max * i / 64;
        const double once = kind == MG_SMOOTHER_CHEBYSHEV
                                ? chebyshev_t(params.degree, (theta - lambda) / delta) /
                                      chebyshev_t(params.degree, theta / delta)
                                : chebyshev_w(params.degree, 1.0 - 2.0 * lambda / lambda_max) /
                                      (2.0 * params.degree + 1.0);
        worst = worst_of(worst, fabs(amplify(steps, n, lambda) - pow(once, params.smooths)));
      }
      /* All factors are at most 1; 8 operations per step, each error amplified by less than k. */
      CHECK_NEAR(worst, 0.0, 8.0 * n * params.degree * DBL_EPSILON);
      free(steps);
    }
}

/* The documented step sequence, derived independently of the level's own.
 * @return the number of steps */
static int expected_step(const mg_params_t *params, int s, mg_step_t *step) {
  static const int symgs[] = {0, 1, 1, 0};
  const bool idle = params->omega == 1.0 && mg_traits_of(params->op)->points == 7;
  switch (params->smoother) {
  case MG_SMOOTHER_GSRB:
    *step = (mg_step_t){.colored = true, .color = s % 2, .c2 = params->omega};
    return 2 * params->smooths;
  case MG_SMOOTHER_SYMGS:
  case MG_SMOOTHER_SSOR:
    /* Of two steps of a color in a row, the second would change nothing. */
    *step = (mg_step_t){.colored = true, .color = s % 2, .c2 = params->omega};
    if (params->smoother == MG_SMOOTHER_SYMGS && idle) return 2 * params->smooths + 1;
    *step = (mg_step_t){.colored = true, .color = symgs[s % 4], .c2 = params->omega};
    return 4 * params->smooths;
  case MG_SMOOTHER_JACOBI:
  case MG_SMOOTHER_L1JACOBI:
    *step = (mg_step_t){.c2 = params->omega};
    return params->smooths;
  case MG_SMOOTHER_CHEBYSHEV:
  case MG_SMOOTHER_CHEBYSHEV4:
    break; /* covered by test_chebyshev */
  }
  return params->degree * params->smooths;
}

static void test_steps(const mg_hierarchy_t *h, const mg_level_t *level) {
  for (int s = 0; s < level->n_steps; s++) {
    const mg_step_t *got = &level->steps[s];
    mg_step_t want = *got;
    CHECK_INT(level->n_steps, expected_step(&h->params, s, &want));
    CHECK_INT(got->colored, want.colored);
    CHECK_INT(got->color, want.color);
    CHECK(got->c1 == want.c1 && got->c2 == want.c2);
  }
}

/* One step on dense fields, from a residual that the level computes; swaps x and before. */
static void step_by_hand(mg_level_t *level, const mg_step_t *step, const double *dinv, double *x,
                         double *before) {
  field_put(level, MG_U, x);
  MUST(mg_residual(level, MG_TMP, MG_U, MG_F));
  const double *r = field_get(level, MG_TMP);
  int64_t c = 0;
  EACH_CELL(at, level->store.view.n) {
    const double old = x[c];
    if (!step->colored)
      x[c] = fma(step->c2 * dinv[c], r[c], fma(step->c1, old - before[c], old));
    else if ((at[0] + at[1] + at[2] + step->color) % 2 == 0)
      x[c] = fma(step->c2 * dinv[c], r[c], old);
    before[c++] = old;
  }
}

/* The result must not depend on what the last smooth left in MG_TMP, or in MG_U for a zero
 * guess: both start as NaN. */
static void test_smooth(mg_level_t *level, int n_steps, bool zero_guess) {
  const int64_t cells = mg_volume(level->store.view.n);
  double *x = zero_guess ? field_new(cells) : field_random(cells, 1), *before = field_new(cells);
  const double *dinv = field_get(level, MG_DINV), *none = field_constant(cells, NAN);
  field_put(level, MG_F, field_random(cells, 2));
  field_put(level, MG_U, zero_guess ? none : x);
  field_put(level, MG_TMP, none);
  MUST(mg_smooth(level, zero_guess));
  const double *got = field_get(level, MG_U);
  const mg_step_t no_step = {.c2 = 0.0}; /* if the level has no cells */
  for (int s = 0; s < n_steps; s++)
    step_by_hand(level, level->comm ? &level->steps[s] : &no_step, dinv, x, before);
  if (level->comm)
    CHECK_CASE(field_hash(got, cells) == field_hash(x, cells), field_distance(got, x, cells), 0.0);
}

/* With f = A x the residual is exactly 0, and so is every correction. */
static void test_fixed_point(mg_level_t *level) {
  const int64_t cells = mg_volume(level->store.view.n);
  const double *x = field_random(cells, 3);
  field_put(level, MG_U, x);
  MUST(mg_residual(level, MG_F, MG_U, -1));
  MUST(mg_smooth(level, false));
  const double *got = field_get(level, MG_U);
  CHECK_SAME(got, x, cells);
}

/* Ranks without cells have no steps, but take part in the exchanges. */
static void test_smooths(mg_hierarchy_t *h, int l) {
  mg_step_t first;
  const int n_steps = expected_step(&h->params, 0, &first);
  test_smooth(&h->level[l], n_steps, false);
  test_smooth(&h->level[l], n_steps, true);
}

static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    test_steps(h, &h->level[l]);
    test_smooths(h, l);
    test_fixed_point(&h->level[l]);
  }
}

/* Large enough that the 7-point diagonal is recomputed in each step instead of being read. A GPU
 * stores it only for a dump. */
static void test_finest(mg_hierarchy_t *h) {
  test_smooths(h, 0);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  test_chebyshev(MG_SMOOTHER_CHEBYSHEV);
  test_chebyshev(MG_SMOOTHER_CHEBYSHEV4);
  fixture_each("4x1", "--smoother=gsrb,chebyshev,jacobi,l1jacobi,symgs,ssor", test_levels);
  fixture_each("4x3", "--equation=helmholtz --smoother=gsrb,chebyshev", test_levels);
  fixture_each("3x1", "--smoother=gsrb,chebyshev boxes=3x2x5", test_levels);
  /* An odd number of steps ends in the other vector. */
  fixture_each("4x1", "--smoother=jacobi,l1jacobi --smooths=3", test_levels);
  fixture_each("4x1", "--smoother=chebyshev --degree=5", test_levels);
  fixture_each("4x1", "--smoother=gsrb,jacobi,l1jacobi,symgs --omega=1.2", test_levels);
  fixture_each("5x2",
               "--operator=fv2,7pt --boundary=dirichlet --equation=helmholtz "
               "--smoother=gsrb,chebyshev,l1jacobi --dump=dinv.hdf --dump-fields=dinv",
               test_finest);
  return FIXTURE_END();
}
