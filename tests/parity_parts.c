/* parity_parts: a smoothing step on the inner cells, before the halo exchange, and then on the rim
 * gives to the last bit what the step gives on all cells after the exchange. The inner part reads
 * no ghost: they are NaN until it is done. Skips where no backend has the parts. */
#include "fixture.h"
#include "ops.h"
#include <stdlib.h>

static void start(mg_level_t *level, const double *u, const double *f, const double *before) {
  MUST(mg_fill(level, MG_U, NAN));
  MUST(mg_fill(level, MG_TMP, NAN));
  field_put(level, MG_U, u);
  field_put(level, MG_F, f);
  field_put(level, MG_TMP, before);
}

static void test_step(mg_level_t *level, const mg_step_t *step, const double *const given[3]) {
  const mg_view_t *v = mg_level_view(level);
  const int dst = step->kind == MG_STEP_GSRB ? MG_U : MG_TMP, n = v->dim;
  double *whole = field_new(n), *parts = field_new(n);
  start(level, given[0], given[1], given[2]);
  MUST(mg_halo(level, MG_U, false));
  MUST(level->backend->smooth(v, MG_U, MG_TMP, dst, step));
  field_get(level, dst, whole);
  start(level, given[0], given[1], given[2]);
  MUST(level->backend->smooth_part(v, MG_U, MG_TMP, dst, step, MG_PART_INNER));
  MUST(mg_halo(level, MG_U, false));
  MUST(level->backend->smooth_part(v, MG_U, MG_TMP, dst, step, MG_PART_RIM));
  field_get(level, dst, parts);
  CHECK_CASE(field_distance(whole, parts, n) == 0.0, field_distance(whole, parts, n), 0.0);
  CHECK_CASE(field_distance(whole, given[0], n) > 0.0, 0.0, 1.0);
  free(whole);
  free(parts);
}

static void test_level(mg_level_t *level) {
  const int n = mg_level_view(level)->dim;
  double *given[3];
  for (int x = 0; x < 3; x++) {
    given[x] = field_new(n);
    field_random(given[x], n, (uint64_t)x + 1);
  }
  const int most = level->n_steps < 2 ? level->n_steps : 2;
  for (int s = 0; s < most; s++)
    test_step(level, &level->steps[s], (const double *const *)given);
  for (int x = 0; x < 3; x++)
    free(given[x]);
}

/* log2 of a box's side, boxes along the domain: inner cells that are few to the kernels, and many.
 */
static const int sizes[][2] = {{7, 1}, {6, 3}};

/* Periodic patches are all rim around; with walls and two patches some sides are. */
static const char *const cases[] = {
    "--boundary=periodic --smoother=gsrb",
    "--boundary=periodic --smoother=chebyshev",
    "--boundary=periodic --smoother=l1jacobi --equation=helmholtz",
    "--boundary=periodic --smoother=jacobi --operator=7pt",
    "--smoother=gsrb --operator=7pt",
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

int main(int argc, char **argv) {
  int n_tested = 0;
  fixture_begin(&argc, &argv);
  for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++) {
    if (strcmp(backend->name, "cuda") != 0) continue;
    for (int c = 0; c < 2 * N_CASES; c++) {
      const int *size = sizes[c / N_CASES];
      mg_hierarchy_t *h = fixture_create(backend, size[0], size[1], cases[c % N_CASES]);
      mg_level_t *level = &h->level[0];
      const bool parts = level->backend->smooth_part != NULL;
      if (parts && level->backend->smooths_parts(mg_level_view(level))) {
        test_level(level);
        n_tested++;
      }
      mg_hierarchy_free(h);
    }
  }
  if (n_tested > 0) return FIXTURE_END();
  fprintf(stderr, "skipped: no backend here smooths in parts\n");
  fixture_finalize();
  return TEST_SKIP;
}
