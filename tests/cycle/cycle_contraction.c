/* cycle_contraction: V-cycles reduce the residual by a factor bounded by local Fourier analysis,
 * for every operator, boundary and smoother on two or three grids and for any right-hand side.
 *
 * The analysis (two_grid_factor) gives the two-grid factor s for constant beta. A V-cycle replaces
 * the exact coarse solve by a V-cycle of about the same factor, which adds at most another s.
 * The bound is therefore 2 s for all h. This requires that the orders of interpolation and
 * restriction sum to more than the order 2 of the differential equation (Hemker, On the order of
 * prolongations and restrictions in multigrid procedures, 1990). v2 (order 3) and the mean of 8
 * (order 1) satisfy this. p0 of 7pt (order 1) does not, so each coarser level may add another s:
 * 2 s at 16^3, plus one s with each doubling. */
#include "formulas/smoother_steps.h"
#include "level/ops.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <complex.h>
#include <float.h>
#include <stdlib.h>

/* --- local Fourier analysis ------------------------------------------------------------- */

/* The 8 modes e^(i theta x) that alias on a grid of twice the spacing. theta of each direction
 * is a low frequency, or that plus pi. x is the cell center in units of h, a half-integer.
 * Matrices act on the amplitudes of these modes; bit d of an index selects the frequency of
 * direction d. */
enum { MODES = 8 };
typedef double complex value_t;
typedef struct {
  value_t at[MODES][MODES];
} matrix_t;

static const double pi = 3.14159265358979323846;

static matrix_t identity(void) {
  matrix_t m = {{{0.0}}};
  for (int r = 0; r < MODES; r++)
    m.at[r][r] = 1.0;
  return m;
}

static matrix_t product(const matrix_t *a, const matrix_t *b) {
  matrix_t m = {{{0.0}}};
  for (int r = 0; r < MODES; r++)
    for (int c = 0; c < MODES; c++)
      for (int k = 0; k < MODES; k++)
        m.at[r][c] += a->at[r][k] * b->at[k][c];
  return m;
}

/* a x + b y */
static matrix_t combine(double a, const matrix_t *x, double b, const matrix_t *y) {
  matrix_t m;
  for (int r = 0; r < MODES; r++)
    for (int c = 0; c < MODES; c++)
      m.at[r][c] = a * x->at[r][c] + b * y->at[r][c];
  return m;
}

/* h^2 A of one direction, and its contributions to the diagonal and to the absolute off-diagonal
 * sum. */
static double symbol_1d(mg_operator_t op, double theta) {
  if (op == MG_OPERATOR_FV4) return (30.0 - 32.0 * cos(theta) + 2.0 * cos(2.0 * theta)) / 12.0;
  return 2.0 - 2.0 * cos(theta);
}
static double diagonal_1d(mg_operator_t op) {
  return op == MG_OPERATOR_FV4 ? 30.0 / 12.0 : 2.0;
}
static double off_diagonal_1d(mg_operator_t op) {
  return op == MG_OPERATOR_FV4 ? 34.0 / 12.0 : 2.0;
}

static double frequency(const double low[3], int mode, int d) {
  return low[d] + (mode >> d & 1) * pi;
}

static double symbol(mg_operator_t op, const double low[3], int mode) {
  double sum = 0.0;
  for (int d = 0; d < 3; d++)
    sum += symbol_1d(op, frequency(low, mode, d));
  return sum;
}

/* The restricted mode as a multiple of the coarse mode. It is the mean of the values at -1/2 and
 * 1/2 around a coarse center, where a high mode has opposite signs. */
static double restricted(const double low[3], int mode) {
  double r = 1.0;
  for (int d = 0; d < 3; d++)
    r *= (mode >> d & 1 ? -1.0 : 1.0) * cos(0.5 * frequency(low, mode, d));
  return r;
}

/* Amplitude of the mode in the interpolated coarse mode. The children have the values 1 -+ g: p0
 * g = 0, v2 g = i sin(2 theta) / 4. */
static value_t interpolated(mg_operator_t op, const double low[3], int mode) {
  value_t p = 1.0;
  for (int d = 0; d < 3; d++) {
    const double theta = frequency(low, mode, d);
    const value_t g = op == MG_OPERATOR_7PT ? 0.0 : 0.25 * I * sin(2.0 * low[d]);
    p *= (mode >> d & 1 ? -0.5 : 0.5) *
         (cexp(0.5 * I * theta) * (1.0 - g) + cexp(-0.5 * I * theta) * (1.0 + g));
  }
  return p;
}

/* 1 - P (1/A_c) R A */
static matrix_t correction(mg_operator_t op, const double low[3]) {
  const double twice[3] = {2.0 * low[0], 2.0 * low[1], 2.0 * low[2]};
  const double coarse = 0.25 * symbol(op, twice, 0);
  matrix_t m = identity();
  for (int r = 0; r < MODES; r++)
    for (int c = 0; c < MODES; c++)
      m.at[r][c] -= interpolated(op, low, r) * restricted(low, c) * symbol(op, low, c) / coarse;
  return m;
}

/* Multiplication by (-1)^(i+j+k), i = x - 1/2: swaps low and high modes. */
static matrix_t checkerboard(void) {
  matrix_t m = {{{0.0}}};
  for (int c = 0; c < MODES; c++) {
    value_t factor = 1.0;
    for (int d = 0; d < 3; d++)
      factor *= c >> d & 1 ? I : -I;
    m.at[MODES - 1 - c][c] = factor;
  }
  return m;
}

/* Error propagation of the smoothing steps. */
static matrix_t smoother(const mg_params_t *params, const double low[3]) {
  const mg_operator_t op = params->op;
  const double diagonal = 3.0 * diagonal_1d(op), off = 3.0 * off_diagonal_1d(op);
  const double l1_term =
      params->smoother == MG_SMOOTHER_L1JACOBI && diagonal < 1.5 * off ? 0.5 * off : 0.0;
  mg_step_t *steps;
  int n;
  MUST(mg_smoother_steps(params, 1.0 + off / diagonal, &steps, &n));
  matrix_t x = identity(), before = x, scaled = identity();
  const matrix_t one = identity(), swap = checkerboard();
  for (int c = 0; c < MODES; c++)
    scaled.at[c][c] = symbol(op, low, c) / (diagonal + l1_term);
  for (int s = 0; s < n; s++) {
    const matrix_t residual = product(&scaled, &x), old = x;
    if (steps[s].colored) {
      const double half = 0.5 * steps[s].c2;
      const matrix_t mask = combine(half, &one, steps[s].color == 0 ? half : -half, &swap);
      const matrix_t change = product(&mask, &residual);
      x = combine(1.0, &x, -1.0, &change);
    } else {
      const matrix_t moved = combine(1.0 + steps[s].c1, &x, -steps[s].c1, &before);
      x = combine(1.0, &moved, -steps[s].c2, &residual);
    }
    before = old;
  }
  free(steps);
  return x;
}

/* T^k|^(1/k) for k = 2^10: only the growth of T^k matters, not its size. */
static double spectral_radius(matrix_t t) {
  double log_scale = 0.0;
  int power = 1;
  for (int squaring = 0; squaring < 10; squaring++) {
    double norm = 0.0;
    for (int c = 0; c < MODES * MODES; c++)
      norm = fmax(norm, cabs((&t.at[0][0])[c]));
    if (norm == 0.0) return 0.0;
    t = combine(1.0 / norm, &t, 0.0, &t);
    log_scale += log(norm) / power;
    t = product(&t, &t);
    power *= 2;
  }
  return exp(log_scale);
}

/* Spectral radius of smooth, exact coarse-grid correction, smooth, for beta = 1, a = 0 and no
 * boundary: the maximum over the frequencies of a periodic grid of `n` cells per side. Restriction
 * is the mean of 8 children; interpolation is that of a V-cycle. See Trottenberg, Oosterlee,
 * Schueller, Multigrid (2001), sections 4.4 and 4.5. */
static double two_grid_factor(const mg_params_t *params, int n) {
  double worst = 0.0;
  /* By symmetry the frequencies 0 <= k0 <= k1 <= k2 suffice; the constant is not an error. */
  for (int k2 = 1; k2 <= n / 4; k2++)
    for (int k1 = 0; k1 <= k2; k1++)
      for (int k0 = 0; k0 <= k1; k0++) {
        const double low[3] = {2.0 * pi * k0 / n, 2.0 * pi * k1 / n, 2.0 * pi * k2 / n};
        const matrix_t s = smoother(params, low), c = correction(params->op, low);
        const matrix_t sc = product(&s, &c), scs = product(&sc, &s);
        worst = fmax(worst, spectral_radius(scs));
      }
  return worst;
}

/* The factor of an operator and a smoother: grids, boundaries and backends share it. */
static double known_factor(const mg_params_t *params) {
  enum { N_OPERATORS = 3, N_SMOOTHERS = 7 };
  static double known[N_OPERATORS][N_SMOOTHERS];
  MUST((int)params->op < N_OPERATORS && (int)params->smoother < N_SMOOTHERS ? MG_OK
                                                                            : MG_ERR_INTERNAL);
  double *factor = &known[params->op][params->smoother];
  if (*factor == 0.0) *factor = two_grid_factor(params, 32);
  return *factor;
}

/* --- cycles ----------------------------------------------------------------------------- */

/* A random right-hand side with all frequencies; its mean is zero if solvability requires it. */
static double put_random_rhs(mg_level_t *level) {
  const int64_t cells = mg_volume(level->store.view.n);
  double mean, norm;
  field_put(level, MG_F, field_random(cells, 1));
  if (level->store.view.periodic) {
    MUST(mg_mean(level, MG_F, &mean));
    MUST(mg_shift(level, MG_F, MG_F, -mean));
  }
  MUST(mg_max_norm(level, MG_F, -1, &norm));
  return norm;
}

/* The largest reduction factor per cycle, as the geometric mean over two cycles because some
 * smoothers alternate. Stops before the residual reaches the rounding level of u (see
 * golden_histories). */
static double worst_factor(mg_hierarchy_t *h) {
  static mg_history_t history;
  mg_level_t *level = &h->level[0];
  const double beta = h->params.op == MG_OPERATOR_7PT ? 10.0 : 1.25;
  const double f_norm = put_random_rhs(level);
  double u, worst = 0.0;
  MUST(mg_solve(h, 0, f_norm, &history));
  MUST(mg_max_norm(level, MG_U, -1, &u));
  const double floor = DBL_EPSILON * 24.0 * beta * level->store.view.b_h2 * u;
  int n = 0;
  for (int c = 2; c < history.n_cycles && history.norm[c] > 100.0 * floor; c++, n++)
    worst = worst_of(worst, sqrt(history.norm[c] / history.norm[c - 2]));
  CHECK(n >= 2);
  return worst;
}

static double last_factor; /* of the grid with half the cells per side */

static void test_factor(mg_hierarchy_t *h) {
  const int n = h->level[0].store.view.n[0];
  /* The CPU has one of the boundaries on the largest grid. */
  const int pair = (int)h->params.op + (int)h->params.smoother;
  const bool periodic = mg_params_is_all_periodic(&h->params);
  if (n > 32 && h->params.device == MG_DEVICE_CPU && (pair % 2 == 1) != periodic) return;
  const double factor = worst_factor(h), two_grid = known_factor(&h->params);
  const bool first = n == 16;
  const double bound =
      first || h->params.op != MG_OPERATOR_7PT ? 2.0 * two_grid : last_factor + two_grid;
  CHECK_CASE(factor <= bound, factor, bound);
  last_factor = factor;
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_guard = false;
  fixture_each("4x1 4x2 5x2",
               "--equation=poisson --smoother=gsrb,chebyshev,jacobi,l1jacobi,symgs,ssor "
               "--cycle=v --rtol=1e-30 --max-cycles=9",
               test_factor);
  return FIXTURE_END();
}
