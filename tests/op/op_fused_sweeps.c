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
static fixture_grid_t large_grid(void) {
  if (mg_device_count() == 0) return (fixture_grid_t){4, 2};
  return mg_comm_size(mg_comm_world()) == 1 ? (fixture_grid_t){5, 3} : (fixture_grid_t){6, 2};
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
  levels_with_passes += level->fused_sweeps > 1;
  const int seeds = n > 100 ? 1 : 2;
  for (int seed = 0; seed < seeds; seed++)
    for (int zero = 0; zero < 2; zero++) {
      const double *u = field_random(n, 10 + (uint64_t)seed), *x[2];
      const double *f = field_random(n, 20 + (uint64_t)seed);
      for (int passes = 0; passes < 2; passes++) {
        MUST(mg_smoother_set(level, params, level->lambda_max,
                             passes ? level->plan->fused_sweeps : 1));
        x[passes] = smooth_twice(level, zero == 1, u, f);
      }
      CHECK_CASE(field_distance(x[1], x[0], n) == 0.0, field_distance(x[1], x[0], n), 0.0);
    }
}

/* On the coarsest levels, patches are narrower than the number of fused steps. */
static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    if (h->level[l].plan->fused_sweeps > 1) test_level(&h->level[l], &h->params);
}

static void test_varying(void) {
  static const char *const options[] = {"--operator=7pt --smoother=chebyshev",
                                        "--operator=fv2 --boundary=periodic --smoother=gsrb"};
  const fixture_grid_t grid = large_grid();
  const int n = grid.boxes << grid.log2_box_dim;
  double *alpha = field_random(n, 5);
  for (int c = 0; c < n * n * n; c++)
    alpha[c] += 1.5;
  for (const fixture_backend_t *b = fixture_backends; b->name; b++) {
    if (strcmp(b->name, "cuda") != 0) continue; /* the guard backend has no fused sweeps */
    for (int o = 0; o < 2; o++) {
      char all[256];
      snprintf(all, sizeof all, "--equation=helmholtz %s", options[o]);
      mg_hierarchy_t *h = fixture_create_varying(b, grid.log2_box_dim, grid.boxes, all, alpha);
      test_levels(h);
      mg_hierarchy_free(h);
    }
  }
}

int main(int argc, char **argv) {
  /* Equal and unequal numbers of fused steps, with single steps between and after them. */
  static const struct {
    const char *smoothers, *more;
  } cases[] = {
      {"gsrb", "--smooths=1"},
      {"gsrb", "--smooths=3"},
      {"gsrb", "--smooths=3 --omega=1.15"},
      {"gsrb jacobi", "--smooths=5 --fused-sweeps=2"},
      {"jacobi", "--smooths=4"},
      {"chebyshev", "--degree=2"},
      {"chebyshev", "--degree=3 --fused-sweeps=2"},
      {"chebyshev", "--degree=6"},
      {"chebyshev", "--degree=9"},
      {"chebyshev", "--smooths=2 --degree=3"},
  };
  fixture_begin(&argc, &argv);
  const fixture_grid_t grids[] = {large_grid(), {0, 0}};
  static const char *const backends[] = {"guard", "cuda"};
  const char *only = getenv("FIXTURE_BACKEND");
  for (int b = 0; b < 1 + (mg_device_count() > 0); b++) {
    /* Other backends have no fused sweeps, or the same ones. */
    if (!only) setenv("FIXTURE_BACKEND", backends[b], 1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
      fixture_each(grids,
                   (fixture_choices_t){.operators = "fv2 7pt",
                                       .equations = "helmholtz",
                                       .smoothers = cases[c].smoothers,
                                       .more = cases[c].more},
                   test_levels);
    fixture_each(grids,
                 (fixture_choices_t){.operators = "fv2 7pt",
                                     .boundaries = "dirichlet",
                                     .equations = "poisson",
                                     .smoothers = "gsrb chebyshev",
                                     .more = "walls=nndnnd"},
                 test_levels);
    /* Not a cube, with the longest side first: fields have cells for a cube of that side. */
    fixture_each(grids,
                 (fixture_choices_t){.operators = "fv2 7pt",
                                     .equations = "poisson",
                                     .smoothers = "gsrb chebyshev",
                                     .more = "boxes=5x2x3"},
                 test_levels);
    if (only) break;
  }
  test_varying();
  CHECK(levels_with_passes > 0 || (only && strcmp(only, "cpu") == 0));
  return FIXTURE_END();
}
