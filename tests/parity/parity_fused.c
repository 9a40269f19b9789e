/* parity_fused: every optional backend entry is bit-identical to the composition of required
 * entries in ops.c and transfer.c. Checked alone and within whole solves, for any number of
 * threads. */
#include "backend/sweeps.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "solver/bottom.h"
#include "solver/cycle_wings.h"
#include "tests/lib/fixture.h"

/* A backend without its optional entries, which are pointers in `fused`. */
static mg_backend_t without_options(const mg_backend_t *backend, mg_backend_fused_t *fused) {
  mg_backend_t plain = *backend;
  if (backend->fused) {
    *fused = *backend->fused;
    fused->folds_walls = NULL;
    fused->residual_norm = NULL;
    fused->residual_restrict = NULL;
    fused->can_interpolate_smooth = NULL;
    fused->interpolate_smooth = NULL;
    fused->bottom = NULL;
    plain.fused = fused;
  }
  plain.coarse = NULL;
  return plain;
}

static const mg_backend_t *chosen[MG_MAX_LEVELS];
static mg_backend_t plain[MG_MAX_LEVELS];
static mg_backend_fused_t plain_fused[MG_MAX_LEVELS];
static struct mg_coarse_cycle *coarse_cycle;

/* Switch every level to its full backend, or to the one without optional entries. */
static void choose(mg_hierarchy_t *h, bool fused) {
  for (int l = 0; l < h->n_levels; l++) {
    mg_level_t *level = &h->level[l];
    level->backend = fused ? chosen[l] : &plain[l];
    MUST(mg_smoother_set(level, &h->params, level->lambda_max, fused));
  }
  h->coarse_cycle = fused ? coarse_cycle : NULL;
}

static void random_level(mg_level_t *level) {
  const int64_t cells = mg_volume(level->store.view.n);
  field_put(level, MG_U, field_random(cells, 1));
  field_put(level, MG_F, field_random(cells, 2));
}

static void test_residual_norm(mg_hierarchy_t *h, int l) {
  double norm[2];
  for (int fused = 0; fused < 2; fused++) {
    choose(h, fused);
    random_level(&h->level[l]);
    MUST(mg_residual_norm(&h->level[l], MG_U, MG_F, &norm[fused]));
  }
  CHECK_CASE(norm[1] == norm[0], norm[1], norm[0]);
}

static void test_residual_restrict(mg_hierarchy_t *h, int l) {
  mg_level_t *coarse = &h->level[l + 1];
  const int64_t cells = mg_volume(coarse->store.view.n);
  const double *x[2];
  for (int fused = 0; fused < 2; fused++) {
    choose(h, fused);
    random_level(&h->level[l]);
    MUST(mg_fill(coarse, MG_F, NAN));
    MUST(mg_residual_restrict(h, l, MG_U, false));
    x[fused] = field_get(coarse, MG_F);
  }
  CHECK_SAME(x[1], x[0], cells);
}

/* The Krylov method on the coarsest level, from zero and from a guess. */
static void test_bottom(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[h->n_levels - 1];
  const int64_t cells = mg_volume(level->store.view.n);
  const double *x[2];
  for (int from_zero = 0; from_zero < 2; from_zero++) {
    for (int fused = 0; fused < 2; fused++) {
      choose(h, fused);
      random_level(level);
      MUST(mg_bottom_solve(level, MG_BOTTOM_BICGSTAB, from_zero, mg_bottom_reduction(h)));
      x[fused] = field_get(level, MG_U);
    }
    CHECK_SAME(x[1], x[0], cells);
  }
}

/* Two cycles from the problem's right-hand side: operation by operation, fused, and as a
 * captured graph. */
static void test_solve(mg_hierarchy_t *h) {
  enum { PLAIN, FUSED, RECORDED, N_WAYS };
  const int64_t cells = mg_volume(h->level[0].store.view.n);
  double *x[N_WAYS];
  static mg_history_t history[N_WAYS];
  for (int way = 0; way < N_WAYS; way++) {
    choose(h, way != PLAIN);
    if (way == RECORDED) MUST(mg_graph_capture(h, 0));
    history[way] = *fixture_solve(h);
    x[way] = field_get(&h->level[0], MG_U);
    if (way == PLAIN) continue;
    CHECK_SAME(x[way], x[0], cells);
    CHECK_INT(history[way].n_cycles, history[0].n_cycles);
    for (int c = 0; c < history[0].n_cycles; c++)
      CHECK_CASE(history[way].norm[c] == history[0].norm[c], history[way].norm[c],
                 history[0].norm[c]);
  }
  mg_graphs_free(h);
}

static void test_hierarchy(mg_hierarchy_t *h) {
  static const int threads[2] = {1, 3};
  const int n_threads = mg_comm_size(mg_comm_world()) == 1 ? 2 : 1; /* of several ranks: 1 */
  const mg_backend_t *backend = h->level[0].backend;
  if (!backend->fused || (!backend->fused->residual_norm && !backend->fused->residual_restrict))
    return; /* nothing to compare */
  coarse_cycle = h->coarse_cycle;
  for (int l = 0; l < h->n_levels; l++) {
    chosen[l] = h->level[l].backend;
    plain[l] = without_options(chosen[l], &plain_fused[l]);
  }
  for (int t = 0; t < n_threads; t++)
    if (fixture_threads(threads[t])) test_solve(h);
  test_bottom(h);
  for (int t = 0; t < n_threads; t++) {
    if (!fixture_threads(threads[t])) continue;
    for (int l = 0; l < h->n_levels; l++) {
      test_residual_norm(h, l); /* overwrites the right-hand side */
      if (l + 1 < h->n_levels) test_residual_restrict(h, l);
    }
  }
  choose(h, true);
  MUST(fixture_threads(1) ? MG_OK : MG_ERR_INTERNAL);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  CHECK(mg_backend_cpu.fused->residual_norm && mg_backend_cpu.fused->residual_restrict);
  fixture_each("5x1", "--equation=helmholtz --smoother=gsrb,chebyshev --rtol=1e-30 --max-cycles=2",
               test_hierarchy);
  fixture_each("4x3", "--equation=poisson --rtol=1e-30 --max-cycles=2", test_hierarchy);
  /* Not a cube. */
  fixture_each("4x1", "--equation=poisson --rtol=1e-30 --max-cycles=2 boxes=5x2x3", test_hierarchy);
  fixture_each("5x1",
               "--operator=fv2,7pt --boundary=dirichlet --equation=poisson --rtol=1e-30 "
               "--max-cycles=2 walls=ndnndn,nnnnnn",
               test_hierarchy);
  return FIXTURE_END();
}
