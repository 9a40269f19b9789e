/* op_truncation: A applied to a smooth u differs from -div(beta grad u) by O(h^p), with p = 2 for
 * fv2, 7pt and 27pt, and p = 4 for fv4. In cells that read past a Dirichlet wall, the ghost's error
 * O(h^(q+1)) is divided by h^2, where q = 1, 2, 4 is the degree of the wall formula. There p is 0,
 * 1 and 3.
 *
 * u = w(x) w(y) w(z), neither odd nor even at walls. fv2 and fv4 use averages. beta is also a
 * sum of products, so averages are products of one-dimensional averages, computed here by
 * 5-point Gauss quadrature (exact to degree 9). 7pt and 27pt use values at cell centers. */
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>

static const double two_pi = 6.283185307179586476925286766559;

/* One-dimensional functions of x: w, w'', s w and (s w')', with s = sin(2 pi x) from beta. */
enum { W, W_XX, SW, SW_X_X, N_FUNCTIONS };

static void factors(double x, bool periodic, double w[3]) {
  if (periodic) {
    w[0] = sin(two_pi * x + 1.0);
    w[1] = two_pi * cos(two_pi * x + 1.0);
    w[2] = -two_pi * two_pi * w[0];
  } else { /* (x - x^2) e^x */
    w[0] = (x - x * x) * exp(x);
    w[1] = (1.0 - x - x * x) * exp(x);
    w[2] = -(3.0 * x + x * x) * exp(x);
  }
}

static void functions(double x, bool periodic, double value[N_FUNCTIONS]) {
  const double s = sin(two_pi * x), s_x = two_pi * cos(two_pi * x);
  double w[3];
  factors(x, periodic, w);
  value[W] = w[0];
  value[W_XX] = w[2];
  value[SW] = s * w[0];
  value[SW_X_X] = s_x * w[1] + s * w[2];
}

/* Cell means. */
static double *mean_table(int n, bool periodic) {
  static const double node[] = {0.0, 0.5384693101056831, 0.9061798459386640};
  static const double weight[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
  double *table = field_new(N_FUNCTIONS * n);
  for (int i = 0; i < n; i++)
    for (int q = -2; q <= 2; q++) {
      const int a = abs(q);
      double value[N_FUNCTIONS];
      functions((i + 0.5 + (q < 0 ? -0.5 : 0.5) * node[a]) / n, periodic, value);
      for (int g = 0; g < N_FUNCTIONS; g++)
        table[g * n + i] += 0.5 * weight[a] * value[g];
    }
  return table;
}

/* u and -div(beta grad u) of fv2, fv4: with S = s s s, beta = 1 + S/4,
 *   div(beta grad u) = sum_d w''(d) w w + 1/4 (s w')'(d) (s w) (s w)                            */
static void averages(int n, bool periodic, double *u, double *f) {
  double *t = mean_table(n, periodic);
  EACH_CELL(at, ((const int32_t[3]){n, n, n})) {
    double sum = 0.0;
    for (int d = 0; d < 3; d++) {
      const int o = at[d], p = at[(d + 1) % 3], q = at[(d + 2) % 3];
      sum += t[W_XX * n + o] * t[W * n + p] * t[W * n + q] +
             0.25 * t[SW_X_X * n + o] * t[SW * n + p] * t[SW * n + q];
    }
    *u++ = t[W * n + at[0]] * t[W * n + at[1]] * t[W * n + at[2]];
    *f++ = -sum;
  }
}

/* Same quantities for 7pt, with beta = 5.5 + 4.5 tanh(10 (r - 1/4)), and for 27pt, with beta = 1.
 */
static void points(int n, bool periodic, bool constant, double *u, double *f) {
  EACH_CELL(at, ((const int32_t[3]){n, n, n})) {
    double x[3], w[3][3], r2 = 0.0, sum = 0.0;
    for (int d = 0; d < 3; d++) {
      x[d] = (at[d] + 0.5) / n;
      factors(x[d], periodic, w[d]);
      r2 += (x[d] - 0.5) * (x[d] - 0.5);
    }
    const double r = sqrt(r2), t = tanh(10.0 * (r - 0.25));
    for (int d = 0; d < 3; d++) {
      const double others = w[(d + 1) % 3][0] * w[(d + 2) % 3][0];
      const double beta_d = 45.0 * (1.0 - t * t) * (x[d] - 0.5) / r; /* r > 0 at cell centers */
      sum += others * (constant ? w[d][2] : beta_d * w[d][1] + (5.5 + 4.5 * t) * w[d][2]);
    }
    *u++ = w[0][0] * w[1][0] * w[2][0];
    *f++ = -sum;
  }
}

/* Root-mean-square error where A reads no ghost, and the maximum in cells that read one. The
 * interior is the same part of the cube on all grids, because the error varies in space and a
 * region that grew with n would hide the order. It stays an eighth away from walls and from the
 * center, where 7pt's beta has a kink. Cells tile it, so its mean equals the mean over the cube
 * up to O(h^2). */
typedef struct {
  double interior, wall;
} error_t;

static bool is_interior(const mg_view_t *v, const int at[3]) {
  double far = 0.0;
  for (int d = 0; d < 3; d++)
    far = fmax(far, fabs((at[d] + 0.5) * v->h[0] - 0.5));
  return far > 0.125 && (v->periodic || far < 0.375);
}

static bool is_wall(const mg_view_t *v, const int at[3]) {
  for (int d = 0; d < 3; d++)
    if (at[d] < v->radius || at[d] >= v->n[0] - v->radius) return !v->periodic;
  return false;
}

static error_t truncation_error(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  double *u = field_new(mg_volume(v->n)), *f = field_new(mg_volume(v->n));
  if (v->op == MG_OPERATOR_7PT || v->op == MG_OPERATOR_27PT)
    points(n, v->periodic, v->op == MG_OPERATOR_27PT, u, f);
  else
    averages(n, v->periodic, u, f);
  for (int c = 0; c < n * n * n; c++)
    f[c] += v->a * u[c];
  field_put(level, MG_U, u);
  field_put(level, MG_F, f);
  MUST(mg_residual(level, MG_TMP, MG_U, MG_F));
  const double *r = field_get(level, MG_TMP);
  error_t e = {0.0, 0.0};
  int cells = 0;
  EACH_CELL(at, v->n) {
    const double error = fabs(*r++);
    if (is_interior(v, at)) {
      e.interior += error * error;
      cells++;
    }
    if (is_wall(v, at)) e.wall = worst_of(e.wall, error);
  }
  e.interior = sqrt(e.interior / cells);
  return e;
}

static error_t last; /* of the grid with half the cells per side */

/* An error C h^p (1 + D h^2) in the interior, or with 1 + D h at walls, shifts the slope between
 * two grids by 3 D h^2 / ln 2 or D h / ln 2, with h of the finer grid. The differentiated
 * quantity beta grad u has wave number 4 pi; 7pt's beta has a length scale of 1/10. In the
 * interior, D = (4 pi)^2 / 12, as for a second difference, shifts the slope by 0.014 at 64 cells
 * per side and by 0.056 at 32. At walls, D = 4 pi / 2 shifts it by 0.14 at 64. The tolerance is
 * twice the shift in the interior and once the shift at walls. */
static void check_order(mg_hierarchy_t *h) {
  static const double interior[] = {[MG_OPERATOR_FV2] = 2.0,
                                    [MG_OPERATOR_FV4] = 4.0,
                                    [MG_OPERATOR_7PT] = 2.0,
                                    [MG_OPERATOR_27PT] = 2.0};
  static const double wall[] = {[MG_OPERATOR_FV2] = 1.0,
                                [MG_OPERATOR_FV4] = 3.0,
                                [MG_OPERATOR_7PT] = 0.0,
                                [MG_OPERATOR_27PT] = 1.0};
  const mg_view_t *v = &h->level[0].store.view;
  const error_t e = truncation_error(&h->level[0]);
  const double slack = 2.0 * 0.014 * 64.0 * 64.0 * v->h[0] * v->h[0];
  if (v->n[0] > 16) {
    const double p = log2(last.interior / e.interior);
    CHECK_CASE(fabs(p - interior[v->op]) <= slack, p, interior[v->op]);
  }
  if (v->n[0] == 64 && !v->periodic) {
    const double p = log2(last.wall / e.wall);
    CHECK_CASE(fabs(p - wall[v->op]) <= 0.14, p, wall[v->op]);
  }
  last = e;
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 4x2 5x2", "--operator=fv2,fv4,7pt,27pt", check_order);
  return FIXTURE_END();
}
