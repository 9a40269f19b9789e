/* cycle_coarse: solves with the coarse cycle, in which the coarsest levels are one launch, equal
 * those operation by operation, bit by bit: u and the residual of each cycle. For every operator,
 * boundary and smoother, other numbers of steps, every bottom solver, coarsest grids of 1^3 to 11^3
 * cells, alpha that varies, and cycles in float. Each of the three finest
 * levels is the top of a solve. */
#include "device/device_select.h"
#include "level/ops.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>

static int covered;

/* The coarse cycles of the hierarchy in double and of the one in float. */
typedef struct {
  struct mg_coarse_cycle *high, *low;
} coarse_cycles_t;

static coarse_cycles_t coarse_cycles(const mg_hierarchy_t *h) {
  return (coarse_cycles_t){h->coarse_cycle, h->low ? h->low->coarse_cycle : NULL};
}

static void use(mg_hierarchy_t *h, coarse_cycles_t c) {
  h->coarse_cycle = c.high;
  if (h->low) h->low->coarse_cycle = c.low;
}

/* Two cycles from level `top`. */
static double *solve_from(mg_hierarchy_t *h, int top, mg_history_t *history) {
  double f_norm;
  MUST(mg_problem_restrict_rhs(h, top, &f_norm));
  MUST(mg_solve(h, top, f_norm, history));
  return field_get(&h->level[top], MG_U);
}

static void test_solves(mg_hierarchy_t *h) {
  const coarse_cycles_t all = coarse_cycles(h), none = {NULL, NULL};
  static mg_history_t one, many;
  if (!all.high && !all.low) return;
  covered++;
  for (int top = 0; top < h->n_levels && top < 3; top++) {
    use(h, none);
    const double *want = solve_from(h, top, &many);
    use(h, all);
    const double *got = solve_from(h, top, &one);
    CHECK_SAME(got, want, mg_volume(h->level[top].store.view.n));
    CHECK_INT(one.n_cycles, many.n_cycles);
    for (int c = 0; c < many.n_cycles; c++)
      CHECK_CASE(one.norm[c] == many.norm[c], one.norm[c], many.norm[c]);
  }
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  const bool device = mg_device_count() > 0;
  if (!device && !mg_backend_cpu.coarse) return FIXTURE_SKIP("no backend has coarse cycles here");
  setenv("FIXTURE_BACKEND", device ? "cuda" : "cpu", 0);
  fixture_each("3x1",
               "--smoother=gsrb,chebyshev,jacobi,l1jacobi,symgs,ssor --rtol=1e-18 --max-cycles=2 "
               "boxes=1x1x1",
               test_solves);
  fixture_each("3x1",
               "--smoother=gsrb,chebyshev,jacobi --smooths=1,3 --cycle=v --equation=poisson "
               "--rtol=1e-18 --max-cycles=2 boxes=1x1x1",
               test_solves);
  fixture_each("3x1",
               "--smoother=gsrb,chebyshev --bottom=bicgstab,smoother --coarsest=4 "
               "--equation=poisson --rtol=1e-18 --max-cycles=2 boxes=1x1x1",
               test_solves);
  fixture_each("0x1",
               "--smoother=gsrb,chebyshev --equation=poisson --rtol=1e-18 --max-cycles=2 "
               "boxes=7x7x7,9x9x9,10x10x10,11x11x11,12x12x12,16x16x16",
               test_solves);
  /* Boxes merge on the coarsest level, which CUDA then solves with one cell per thread. */
  fixture_each("1x1",
               "--smoother=gsrb,chebyshev --bottom=bicgstab --precision=double,mixed --rtol=1e-18 "
               "--max-cycles=2 boxes=3x3x3,5x5x5,7x7x7",
               test_solves);
  fixture_each("3x1",
               "--precision=mixed --smoother=gsrb,chebyshev,symgs --equation=poisson --rtol=1e-18 "
               "--max-cycles=2 boxes=1x1x1",
               test_solves);
  fixture_each("3x1",
               "--smoother=gsrb,chebyshev --boundary=dirichlet --equation=helmholtz --rtol=1e-18 "
               "--max-cycles=2 boxes=1x1x1 alpha",
               test_solves);
  if (covered == 0) return FIXTURE_SKIP("the backend has no coarse cycles");
  return FIXTURE_END();
}
