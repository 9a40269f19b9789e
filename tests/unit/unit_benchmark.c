/* Benchmark: max|f| is computed once for each grid, and with --official in every solve, warm-up
 * included, as the rules of HPGMG's list require. Results are the same. */
#include "run/benchmark.h"
#include "tests/lib/fixture.h"
#include <string.h>

static int n_norms_of_f;

static mg_status_t count_norms(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm) {
  n_norms_of_f += x == MG_F;
  return mg_backend_cpu.max_norm(v, x, y, norm);
}

/* Solve three grids, with one warm-up and two timed solves each. */
static mg_result_t run(bool official) {
  static mg_result_t result;
  mg_hierarchy_t *h =
      fixture_create(&fixture_backends[0], 4, 1, "--warmup=1 --min-solves=2 --min-time=0");
  mg_backend_t counting = mg_backend_cpu;
  counting.max_norm = count_norms;
  for (int l = 0; l < h->n_levels; l++)
    h->level[l].backend = &counting;
  h->params.official = official;
  n_norms_of_f = 0;
  memset(&result, 0, sizeof result);
  MUST(mg_benchmark(h, NULL, &result));
  mg_hierarchy_free(h);
  return result;
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  const mg_result_t plain = run(false);
  CHECK_INT(n_norms_of_f, MG_N_SIZES);
  const mg_result_t official = run(true);
  CHECK_INT(n_norms_of_f, MG_N_SIZES * (1 + 1 + 2));
  CHECK_INT(official.n_sizes, MG_N_SIZES);
  CHECK(official.error == plain.error && official.order == plain.order);
  for (int s = 0; s < MG_N_SIZES; s++) {
    CHECK_INT(official.size[s].n_solves, 2);
    CHECK(official.size[s].f_norm == plain.size[s].f_norm);
    CHECK(official.size[s].history.rel[0] == plain.size[s].history.rel[0]);
  }
  return FIXTURE_END();
}
