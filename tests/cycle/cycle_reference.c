/* cycle_reference: examples/reference.c has the bits of the program's F-cycle: u of every cell, the
 * residual norm, and both on the levels 2h and 4h. On every backend. */
int reference_main(int argc, char **argv);
#define main reference_main
#include "examples/reference.c"
#undef main
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"

static void compare(mg_hierarchy_t *h, int s, grid_t *level, int coarsest) {
  double f_norm;
  mg_history_t history;
  MUST(mg_problem_restrict_rhs(h, s, &f_norm));
  MUST(mg_solve(h, s, f_norm, &history));
  const double norm = solve(level, s, coarsest), *u = field_get(&h->level[s], MG_U);
  const grid_t *g = &level[s];
  CHECK_CASE(history.norm[0] == norm, history.norm[0], norm);
  double *cells = field_new((int64_t)g->n * g->n * g->n), *next = cells;
  FOR_EACH_CELL(g->n) {
    *next++ = g->u[at(g, i, j, k)];
  }
  CHECK_SAME(u, cells, (int64_t)g->n * g->n * g->n);
}

static void test(mg_hierarchy_t *h) {
  grid_t level[MAX_LEVELS];
  int log2_n = 0;
  while (1 << log2_n < h->level[0].store.view.n[0])
    log2_n++;
  const int coarsest = set_up(level, log2_n);
  CHECK_INT(h->n_levels, coarsest + 1);
  for (int s = 0; s < 3; s++)
    compare(h, s, level, coarsest);
  for (int l = 0; l <= coarsest; l++)
    free_grid(&level[l]);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 5x1 6x1 4x2", "--operator=fv2 --boundary=dirichlet --equation=poisson", test);
  return FIXTURE_END();
}
