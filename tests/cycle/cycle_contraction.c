/* cycle_contraction: V-cycles reduce the residual by a factor bounded by local Fourier analysis,
 * for every operator, boundary and smoother on three grids and for any right-hand side.
 *
 * The analysis (two_grid.c) gives the two-grid factor s for constant beta. A V-cycle replaces
 * the exact coarse solve by a V-cycle of about the same factor, which adds at most another s.
 * The bound is therefore 2 s for all h. This requires that the orders of interpolation and
 * restriction sum to more than the order 2 of the differential equation (Hemker, On the order of
 * prolongations and restrictions in multigrid procedures, 1990). v2 (order 3) and the mean of 8
 * (order 1) satisfy this. p0 of 7pt (order 1) does not, so each coarser level may add another s:
 * 2 s at 16^3, plus one s with each doubling. */
#include "level/ops.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include "tests/lib/two_grid.h"
#include <float.h>

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
  /* The guard is slow, and its results are the CPU's: parity_solve. */
  if (n > 32 && h->params.device == MG_DEVICE_GUARD) return;
  const double factor = worst_factor(h), two_grid = two_grid_factor(&h->params, 32);
  const bool first = n == 16;
  const double bound =
      first || h->params.op != MG_OPERATOR_7PT ? 2.0 * two_grid : last_factor + two_grid;
  CHECK_CASE(factor <= bound, factor, bound);
  last_factor = factor;
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 4x2 5x2",
               "--equation=poisson --smoother=gsrb,chebyshev,jacobi,l1jacobi,symgs,ssor "
               "--cycle=v --rtol=1e-30 --max-cycles=9",
               test_factor);
  return FIXTURE_END();
}
