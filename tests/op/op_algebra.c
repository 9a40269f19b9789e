/* op_algebra: properties of the matrix A for any coefficients, between walls of both kinds.
 * Constants are annihilated. What leaves a cell enters its neighbor. A is positive, and symmetric
 * where the discretization is. The residual is f minus A x.
 *
 * 7pt is symmetric, and fv2 is symmetric away from Dirichlet walls. The wall formula of fv2 makes
 * the first cell depend on the second by -beta/2 more than the second on the first, so its matrix
 * is not symmetric at walls. fv4 is symmetric for constant beta only: the flux through a face reads
 * second neighbors. Row i weighs x(i+1) by 15 beta(i+1/2) + beta(i-1/2), and row i+1 weighs
 * x(i) by 15 beta(i+1/2) + beta(i+3/2). */
#include "formulas/walls.h"
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include <float.h>

/* Bound on the rounding error of one cell of A x for |x| <= 1. The absolute weights of a row sum
 * to at most 24 b/h^2 max(beta). A face in a Neumann wall contributes an exact 0. Each of 6 faces
 * contributes at most 4: the difference to a wall's ghost (fv2: 5/2 + 1/2 + 1; no more for fv4). At
 * most 64 operations lie between x and A x. */
static double row_error(const mg_view_t *v) {
  const double beta = v->op == MG_OPERATOR_7PT ? 10.0 : 1.25;
  return 64.0 * DBL_EPSILON * (24.0 * v->b_h2 * beta + v->a);
}

static double *apply(mg_level_t *level, const double *x) {
  field_put(level, MG_U, x);
  MUST(mg_residual(level, MG_TMP, MG_U, -1));
  return field_get(level, MG_TMP);
}

/* Zero the `rim` cells next to Dirichlet walls. */
static void clear_dirichlet(const mg_view_t *v, int rim, double *x) {
  EACH_CELL(at, v->n) {
    for (int d = 0; d < 3; d++)
      if ((at[d] < rim && v->side[d][0] == MG_WALL_DIRICHLET) ||
          (at[d] >= v->n[d] - rim && v->side[d][1] == MG_WALL_DIRICHLET))
        *x = 0.0;
    x++;
  }
}

/* Exact, because differences of equal numbers are 0 and a * c is exact for a = 0 or 1. Only
 * cells that read past a Dirichlet wall are excluded. */
static void test_constants(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const int64_t cells = mg_volume(v->n);
  double *ax = apply(level, field_constant(cells, 1.7)), *want = field_constant(cells, v->a * 1.7);
  clear_dirichlet(v, v->radius, ax);
  clear_dirichlet(v, v->radius, want);
  CHECK_SAME(ax, want, cells);
}

static bool is_closed(const mg_view_t *v) {
  return !mg_has_wall(v->side, MG_WALL_DIRICHLET);
}

/* A closed domain loses nothing: the sum of A x is a times the sum of x. */
static void test_conservation(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  const int64_t cells = mg_volume(v->n);
  if (!is_closed(v)) return;
  const double *x = field_random(cells, 1), *one = field_constant(cells, 1.0),
               *ax = apply(level, x);
  const double got = field_dot(ax, one, cells), want = v->a * field_dot(x, one, cells);
  CHECK_CASE(fabs(got - want) <= (double)(n * n * n) * row_error(v), got, want);
}

/* | <A x, y> - <x, A y> | is at most n^3 row errors for each product. */
static void test_symmetry(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  const int64_t cells = mg_volume(v->n);
  double *x = field_random(cells, 2), *y = field_random(cells, 3);
  if (v->op == MG_OPERATOR_FV4 && !v->periodic) return;
  for (int d = 0; d < 3 && v->op == MG_OPERATOR_FV4; d++)
    MUST(mg_fill(level, MG_BETA_I + d, 1.0));
  if (v->op == MG_OPERATOR_FV2) {
    clear_dirichlet(v, 1, x);
    clear_dirichlet(v, 1, y);
  }
  double *ax = apply(level, x), *ay = apply(level, y);
  const double left = field_dot(ax, y, cells), right = field_dot(x, ay, cells);
  CHECK_CASE(fabs(left - right) <= 2.0 * (double)(n * n * n) * row_error(v), left, right);
}

/* Lower bound on the eigenvalues. For 7pt, x'Ax = b/h^2 (sum over faces of beta (difference)^2 + 2
 * beta x^2 at walls) + a x'x. This is at least min(beta) = 1 times the form with beta = 1, whose
 * eigenvalues are 4 b/h^2 sum_d sin^2(pi m_d h/2), m_d >= 1.
 *
 * fv2 differs at a wall by beta (3/2 x1^2 - 1/2 x1 x2) >= beta (1/2 x1^2 - 1/16 (x2-x1)^2). This
 * follows from 1/2 x1 (x2-x1) <= 1/2 x1^2 + 1/8 (x2-x1)^2 with room to spare. At most an eighth
 * of the form is lost, since neighboring betas differ by at most 1/2. No such bound is
 * available for fv4, or between walls of both kinds: it must only be above zero. The kernel of a
 * closed Poisson matrix contains the constants. */
static double smallest_quotient(const mg_view_t *v) {
  const double s = sin(0.5 * 3.14159265358979323846 * v->h[0]);
  const bool dirichlet = !is_closed(v) && !mg_has_wall(v->side, MG_WALL_NEUMANN);
  const double poisson = dirichlet ? 12.0 * v->b_h2 * s * s : 0.0;
  return (v->op == MG_OPERATOR_7PT   ? poisson
          : v->op == MG_OPERATOR_FV2 ? 0.5 * poisson
                                     : 0.0) +
         v->a;
}

static void check_quotient(mg_level_t *level, const double *x) {
  const mg_view_t *v = &level->store.view;
  double *ax = apply(level, x);
  const double xx = field_dot(x, x, mg_volume(v->n)),
               quotient = field_dot(ax, x, mg_volume(v->n)) / xx;
  /* error of <A x, x> / <x, x>, by Cauchy-Schwarz */
  const double error = row_error(v) * sqrt((double)v->n[0] * v->n[0] * v->n[0] / xx);
  CHECK_CASE(quotient >= smallest_quotient(v) - error, quotient, smallest_quotient(v));
  CHECK_CASE(is_closed(v) || quotient > 0.0, quotient, 0.0);
}

static void test_positivity(mg_level_t *level) {
  const int n = level->store.view.n[0];
  const int64_t cells = mg_volume(level->store.view.n);
  double *x = field_new(cells), *smooth = field_new(n);
  double *rough = field_new(n);
  for (int i = 0; i < n; i++) {
    smooth[i] = sin(3.14159265358979323846 * (i + 0.5) / n);
    rough[i] = i % 2 ? 1.0 : -1.0;
  }
  const double *const factor[] = {smooth, rough};
  for (int which = 0; which < 8; which++) {
    field_product(x, level->store.view.n, factor[which & 1], factor[which >> 1 & 1],
                  factor[which >> 2]);
    check_quotient(level, x);
  }
  check_quotient(level, field_random(cells, 4));
}

static void test_residual(mg_level_t *level) {
  const int n = level->store.view.n[0];
  const int64_t cells = mg_volume(level->store.view.n);
  double *f = field_random(cells, 6);
  const double *ax = apply(level, field_random(cells, 5));
  field_put(level, MG_F, f);
  MUST(mg_residual(level, MG_TMP, MG_U, MG_F));
  const double *r = field_get(level, MG_TMP);
  for (int i = 0; i < n * n * n; i++)
    f[i] -= ax[i];
  CHECK_SAME(r, f, cells);
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
  fixture_begin(&argc, &argv);
  fixture_each("4x1 5x1 4x2 4x3", "", test_levels);
  fixture_each("4x1 4x3",
               "walls=nnnnnn,nndddd,dnddnd,dnppnd,ppnnpp --operator=fv2,7pt --boundary=dirichlet",
               test_levels);
  return FIXTURE_END();
}
