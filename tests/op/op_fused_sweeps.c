/* op_fused_sweeps: fused sweeps (temporal blocking) are bit-identical to single steps. Covered: a
 * guess and zero; the right-hand side of the previous smooth and another one; patches bordering
 * walls of both kinds, other patches and themselves; variable alpha. */
#include "device/device_select.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>

static int levels_with_passes;

/* A device uses fused sweeps only on large levels: at least MG_FUSED_SWEEPS_MIN_CELLS cells per
 * rank. */
static const char *large_grid(int *log2_box_dim, int *boxes) {
  const bool device = mg_device_count() > 0, alone = mg_comm_size(mg_comm_world()) == 1;
  *log2_box_dim = !device ? 4 : alone ? 5 : 6;
  *boxes = device && alone ? 3 : 2;
  return textf("%dx%d", *log2_box_dim, *boxes);
}

/* Smooth twice: fused sweeps must see the same right-hand side and must not depend on leftovers
 * of the first smooth. */
static double *smooth_twice(mg_level_t *level, bool zero_guess, const double *u, const double *f) {
  static const int vectors[] = {MG_U, MG_F, MG_TMP, MG_PREVIOUS};
  for (int v = 0; v < 4; v++)
    if (level->plan->vectors & 1u << vectors[v]) MUST(mg_fill(level, vectors[v], NAN));
  field_put(level, MG_U, u);
  field_put(level, MG_F, f);
  MUST(mg_smooth(level, zero_guess));
  MUST(mg_smooth_same_rhs(level));
  return field_get(level, MG_U);
}

static void test_level(mg_level_t *level, const mg_params_t *params) {
  const int n = level->store.view.n[0];
  const int64_t cells = mg_volume(level->store.view.n);
  levels_with_passes += level->fused_sweeps > 1;
  const int seeds = n > 100 ? 1 : 2;
  for (int seed = 0; seed < seeds; seed++)
    for (int zero = 0; zero < 2; zero++) {
      const double *u = field_random(cells, 10 + (uint64_t)seed), *x[2];
      const double *f = field_random(cells, 20 + (uint64_t)seed);
      for (int passes = 0; passes < 2; passes++) {
        MUST(mg_smoother_set(level, params, level->lambda_max,
                             passes ? level->plan->fused_sweeps : 1));
        x[passes] = smooth_twice(level, zero == 1, u, f);
      }
      CHECK_SAME(x[1], x[0], cells);
    }
}

/* On the coarsest levels, patches are narrower than the number of fused steps. */
static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    if (h->level[l].plan->fused_sweeps > 1) test_level(&h->level[l], &h->params);
}

static void test_varying(void) {
  static const char *const options[] = {
      "--equation=helmholtz --operator=7pt --smoother=chebyshev",
      "--equation=helmholtz --operator=fv2 --boundary=periodic --smoother=gsrb"};
  int log2_box_dim, boxes;
  (void)large_grid(&log2_box_dim, &boxes);
  const int n = boxes << log2_box_dim;
  double *alpha = field_random((int64_t)n * n * n, 5);
  for (int c = 0; c < n * n * n; c++)
    alpha[c] += 1.5;
  for (const fixture_backend_t *b = fixture_backends; b->name; b++) {
    if (strcmp(b->name, "cuda") != 0) continue; /* the guard backend has no fused sweeps */
    for (int o = 0; o < 2; o++) {
      mg_hierarchy_t *h = fixture_create_varying(b, log2_box_dim, boxes, options[o], alpha);
      test_levels(h);
      mg_hierarchy_free(h);
    }
  }
}

int main(int argc, char **argv) {
  /* Equal and unequal numbers of fused steps, with single steps between and after them. */
  static const char *const cases[] = {
      "--equation=helmholtz --smoother=gsrb --smooths=1,3",
      "--equation=helmholtz --smoother=gsrb --smooths=3 --omega=1.15",
      "--equation=helmholtz --smoother=gsrb,jacobi --smooths=5 --fused-sweeps=2",
      "--equation=helmholtz --smoother=jacobi --smooths=4",
      "--equation=helmholtz --smoother=chebyshev --degree=2,6,9",
      "--equation=helmholtz --smoother=chebyshev --degree=3 --fused-sweeps=2",
      "--equation=helmholtz --smoother=chebyshev --smooths=2 --degree=3",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb,chebyshev walls=nndnnd",
      /* Not a cube. */
      "--equation=poisson --smoother=gsrb,chebyshev boxes=5x2x3",
  };
  int log2_box_dim, boxes;
  fixture_begin(&argc, &argv);
  const char *grid = large_grid(&log2_box_dim, &boxes);
  static const char *const backends[] = {"guard", "cuda"};
  const char *only = getenv("FIXTURE_BACKEND");
  for (int b = 0; b < 1 + (mg_device_count() > 0); b++) {
    /* Other backends have no fused sweeps, or the same ones. */
    if (!only) setenv("FIXTURE_BACKEND", backends[b], 1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
      fixture_each(grid, textf("--operator=fv2,7pt %s", cases[c]), test_levels);
    if (only) break;
  }
  test_varying();
  CHECK(levels_with_passes > 0 || (only && strcmp(only, "cpu") == 0));
  return FIXTURE_END();
}
