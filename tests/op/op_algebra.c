/* op_algebra: properties of the matrix A for any coefficients. Constants are annihilated. What
 * leaves a cell enters its neighbour. A is positive, and symmetric where the discretization is. The
 * residual is f minus A x.
 *
 * 7pt is symmetric, and fv2 is symmetric away from walls. The wall formula of fv2 makes the
 * first cell depend on the second by -beta/2 more than the second on the first, so its matrix is
 * not symmetric at walls. fv4 is symmetric for constant beta only: the flux through a face reads
 * second neighbours. Row i weighs x(i+1) by 15 beta(i+1/2) + beta(i-1/2), and row i+1 weighs
 * x(i) by 15 beta(i+1/2) + beta(i+3/2). */
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include <float.h>
#include <stdlib.h>

/* Bound on the rounding error of one cell of A x for |x| <= 1. The absolute weights of a row sum
 * to at most 24 b/h^2 max(beta). Each of 6 faces contributes at most 4: the difference to a
 * wall's ghost (fv2: 5/2 + 1/2 + 1; no more for fv4). At most 64 operations lie between x and A
 * x. */
static double row_error(const mg_view_t *v) {
  const double beta = v->op == MG_OPERATOR_7PT ? 10.0 : 1.25;
  return 64.0 * DBL_EPSILON * (24.0 * v->b_h2 * beta + v->a);
}

static double *apply(mg_level_t *level, const double *x) {
  double *ax = field_new(level->store.view.n[0]);
  field_put(level, MG_U, x);
  MUST(mg_residual(level, MG_TMP, MG_U, -1));
  field_get(level, MG_TMP, ax);
  return ax;
}

/* Exact, because differences of equal numbers are 0 and a * c is exact for a = 0 or 1. Only
 * cells that read past a wall are excluded. */
static void test_constants(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0], rim = v->periodic ? 0 : v->radius;
  const double c = 1.7;
  double *x = field_new(n);
  for (int i = 0; i < n * n * n; i++)
    x[i] = c;
  double *ax = apply(level, x);
  double worst = 0.0;
  for (int k = rim; k < n - rim; k++)
    for (int j = rim; j < n - rim; j++)
      for (int i = rim; i < n - rim; i++)
        worst = worst_of(worst, fabs(ax[i + n * (j + n * k)] - v->a * c));
  CHECK_CASE(worst == 0.0, worst, 0.0);
  free(x);
  free(ax);
}

/* A periodic domain loses nothing: the sum of A x is a times the sum of x. */
static void test_conservation(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  if (!v->periodic) return;
  double *x = field_new(n), *one = field_new(n);
  field_random(x, n, 1);
  for (int i = 0; i < n * n * n; i++)
    one[i] = 1.0;
  double *ax = apply(level, x);
  const double got = field_dot(ax, one, n), want = v->a * field_dot(x, one, n);
  CHECK_CASE(fabs(got - want) <= (double)(n * n * n) * row_error(v), got, want);
  free(x);
  free(one);
  free(ax);
}

/* Zero the cells that touch a wall. */
static void clear_rim(double *x, int n) {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1)
          x[i + n * (j + n * k)] = 0.0;
}

/*  <A x, y> - <x, A y> | is at most n^3 row errors for each product. */
static void check_symmetry(mg_level_t *level, bool away_from_walls) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  double *x = field_new(n), *y = field_new(n);
  field_random(x, n, 2);
  field_random(y, n, 3);
  if (away_from_walls) {
    clear_rim(x, n);
    clear_rim(y, n);
  }
  double *ax = apply(level, x), *ay = apply(level, y);
  const double left = field_dot(ax, y, n), right = field_dot(x, ay, n);
  CHECK_CASE(fabs(left - right) <= 2.0 * (double)(n * n * n) * row_error(v), left, right);
  free(x);
  free(y);
  free(ax);
  free(ay);
}

static void test_symmetry(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  if (v->op != MG_OPERATOR_FV4) {
    check_symmetry(level, v->op == MG_OPERATOR_FV2 && !v->periodic);
    return;
  }
  if (!v->periodic) return;
  for (int d = 0; d < 3; d++)
    MUST(mg_fill(level, MG_BETA_I + d, 1.0));
  check_symmetry(level, false);
}

/* Lower bound on the eigenvalues. For 7pt, x'Ax = b/h^2 (sum over faces of beta (difference)^2 + 2
 * beta x^2 at walls) + a x'x. This is at least min(beta) = 1 times the form with beta = 1, whose
 * eigenvalues are 4 b/h^2 sum_d sin^2(pi m_d h/2), m_d >= 1.
 *
 * fv2 differs at a wall by beta (3/2 x1^2 - 1/2 x1 x2) >= beta (1/2 x1^2 - 1/16 (x2-x1)^2). This
 * follows from 1/2 x1 (x2-x1) <= 1/2 x1^2 + 1/8 (x2-x1)^2 with room to spare. At most an eighth
 * of the form is lost, since neighbouring betas differ by at most 1/2. No such bound is
 * available for fv4: it must only be above zero. The kernel of a periodic Poisson matrix
 * contains the constants. */
static double smallest_quotient(const mg_view_t *v) {
  const double s = sin(0.5 * 3.14159265358979323846 * v->h[0]);
  const double poisson = v->periodic ? 0.0 : 12.0 * v->b_h2 * s * s;
  return (v->op == MG_OPERATOR_7PT   ? poisson
          : v->op == MG_OPERATOR_FV2 ? 0.5 * poisson
                                     : 0.0) +
         v->a;
}

static void check_quotient(mg_level_t *level, const double *x) {
  const mg_view_t *v = &level->store.view;
  double *ax = apply(level, x);
  const double xx = field_dot(x, x, v->n[0]), quotient = field_dot(ax, x, v->n[0]) / xx;
  /* error of <A x, x> / <x, x>, by Cauchy-Schwarz */
  const double error = row_error(v) * sqrt((double)v->n[0] * v->n[0] * v->n[0] / xx);
  CHECK_CASE(quotient >= smallest_quotient(v) - error, quotient, smallest_quotient(v));
  CHECK_CASE(v->periodic || quotient > 0.0, quotient, 0.0);
  free(ax);
}

static void test_positivity(mg_level_t *level) {
  const int n = level->store.view.n[0];
  double *x = field_new(n), *smooth = calloc((size_t)n, sizeof *smooth);
  double *rough = calloc((size_t)n, sizeof *rough);
  MUST(smooth && rough ? MG_OK : MG_ERR_MEMORY);
  for (int i = 0; i < n; i++) {
    smooth[i] = sin(3.14159265358979323846 * (i + 0.5) / n);
    rough[i] = i % 2 ? 1.0 : -1.0;
  }
  const double *const factor[] = {smooth, rough};
  for (int which = 0; which < 8; which++) {
    field_product(x, n, factor[which & 1], factor[which >> 1 & 1], factor[which >> 2]);
    check_quotient(level, x);
  }
  field_random(x, n, 4);
  check_quotient(level, x);
  free(x);
  free(smooth);
  free(rough);
}

static void test_residual(mg_level_t *level) {
  const int n = level->store.view.n[0];
  double *x = field_new(n), *f = field_new(n), *r = field_new(n);
  field_random(x, n, 5);
  field_random(f, n, 6);
  double *ax = apply(level, x);
  field_put(level, MG_F, f);
  MUST(mg_residual(level, MG_TMP, MG_U, MG_F));
  field_get(level, MG_TMP, r);
  for (int i = 0; i < n * n * n; i++)
    f[i] -= ax[i];
  CHECK_CASE(field_distance(r, f, n) == 0.0, field_distance(r, f, n), 0.0);
  free(x);
  free(f);
  free(r);
  free(ax);
}

static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    mg_level_t *level = &h->level[l];
    test_constants(level);
    test_conservation(level);
    test_positivity(level);
    test_residual(level);
    test_symmetry(level); /* last: changes beta */
  }
}

int main(int argc, char **argv) {
  static const fixture_grid_t grids[] = {{4, 1}, {5, 1}, {4, 2}, {4, 3}, {0, 0}};
  fixture_begin(&argc, &argv);
  fixture_each(grids, (fixture_choices_t){0}, test_levels);
  return FIXTURE_END();
}
