/* cycle_combinations: every combination of operator, boundary, equation, smoother, bottom solver
 * and first cycle reaches a residual of 1e-8 of the right-hand side within the default 20
 * cycles. This holds for any coarsest grid, including one that is also the finest. A bottom
 * solve delivers its promised reduction, from zero or from a guess, and leaves the right-hand
 * side unchanged. */
#include "formulas/walls.h"
#include "level/ops.h"
#include "solver/bottom.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <float.h>

static void test_solve(mg_hierarchy_t *h) {
  static mg_history_t history;
  double f_norm;
  double first = 0.0;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  for (int solve = 0; solve < 2; solve++) {
    MUST(mg_solve(h, 0, f_norm, &history));
    const double rel = history.rel[history.n_cycles - 1];
    CHECK_CASE(history.converged && rel < 1e-8, rel, 1e-8);
    if (solve == 0) first = rel;
    CHECK_CASE(rel == first, rel, first); /* solves leave f unchanged */
  }
}

/* The residual falls below 1e-3 of its initial value (of an inverse, to rounding errors), and again
 * if another method than a smoother continues from there. (A smoother is left with slowly
 * converging modes.) Krylov methods update the residual by recurrence; the true residual also
 * contains rounding of u times A. */
static void test_bottom(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[h->n_levels - 1];
  const mg_view_t *v = &level->store.view;
  const double beta = v->op == MG_OPERATOR_7PT ? 10.0 : 1.25;
  const int n_solves = h->params.bottom == MG_BOTTOM_SMOOTHER ? 1 : 2;
  const double reduction = h->params.bottom == MG_BOTTOM_DIRECT ? 1e-12 : 1e-3;
  double before = 0.0, mean, norm, u;
  if (n_solves == 1 && v->periodic && v->a != 0.0) return; /* see main */
  const double *f = field_random(mg_volume(v->n), 1);
  for (int solve = 0; solve < n_solves; solve++) {
    field_put(level, MG_F, f);
    if (solve == 0) MUST(mg_fill(level, MG_U, NAN));
    MUST(mg_bottom_solve(level, h->params.bottom, solve == 0, mg_bottom_reduction(h)));
    const double *kept = field_get(level, MG_F);
    CHECK_CASE(field_hash(kept, mg_volume(v->n)) == field_hash(f, mg_volume(v->n)),
               field_norm(kept, mg_volume(v->n)), field_norm(f, mg_volume(v->n)));
    if (mg_is_singular(v)) { /* solved up to the mean */
      MUST(mg_mean(level, MG_F, &mean));
      MUST(mg_shift(level, MG_F, MG_F, -mean));
    }
    if (solve == 0) MUST(mg_max_norm(level, MG_F, -1, &before));
    MUST(mg_residual_norm(level, MG_U, MG_F, &norm));
    MUST(mg_max_norm(level, MG_U, -1, &u));
    const double floor = 64.0 * DBL_EPSILON * 24.0 * (beta * v->b_h2 + v->a) * u;
    const double most = reduction * before + floor;
    if (level->comm) CHECK_CASE(norm <= most, norm, most);
    before = norm;
  }
}

static void test_both(mg_hierarchy_t *h) {
  test_solve(h);
  test_bottom(h);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_guard = false;
  fixture_each("4x1",
               "--bottom=bicgstab,smoother --cycle=f,v --rtol=1e-8 "
               "--smoother=gsrb,chebyshev,jacobi,l1jacobi,symgs,ssor",
               test_both);
  fixture_each("4x3", "--bottom=bicgstab,smoother --cycle=f,v --rtol=1e-8 --equation=poisson",
               test_both);
  /* A smoother hardly reduces the constant of a periodic Helmholtz problem: its eigenvalue is 1,
   * but the diagonal is at least 6 beta n^2. The cycles compensate for this from 2^3, but not from
   * larger grids. */
  fixture_each("4x1", "--bottom=bicgstab --cycle=f,v --rtol=1e-8 --coarsest=4,16", test_both);
  fixture_each("4x1",
               "--operator=fv2,7pt --bottom=direct --cycle=f,v --rtol=1e-8 --method=options "
               "--krylov=none --cells=7x7x7,1x9x30,24x13x1,2x3x40,19x21x23",
               test_both);
  return FIXTURE_END();
}
