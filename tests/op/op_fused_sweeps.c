/* op_fused_sweeps: fused sweeps (temporal blocking) are bit-identical to single steps. Covered: the
 * 7-point operators, and half sweeps of fv4; a guess and zero; the right-hand side of the previous
 * smooth and another one; patches bordering walls of both kinds, other patches and themselves;
 * double and float cells; variable alpha; the residual of the last sweep, restricted and as a norm;
 * a correction between two smooths, with an even or odd number of vector swaps; resident sweeps,
 * which perform all steps of a smooth. */
#include "device/device_select.h"
#include "level/mixed.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>

static int levels_with_passes, resident_levels, resident_fv4_levels, fv4_levels, float_fv4_levels,
    levels_with_residuals;

/* A device uses fused sweeps only on large levels (cuda/fused/fused_path.c). */
static const char *large_grid(void) {
  return mg_comm_size(mg_comm_world()) == 1 ? "5x3" : "6x2";
}

/* Boxes of the cases for a backend; smaller ones if there are many. */
static const char *grid_for(const char *backend, const char *options) {
  if (strcmp(backend, "guard") != 0) return large_grid();
  return strstr(options, "boxes=") ? "3x2" : "4x2";
}

/* Level l with the smoother: of float cells if there are any. */
static mg_level_t *smoothed_level(mg_hierarchy_t *h, int l) {
  return h->low ? &h->low->level[l] : &h->level[l];
}

/* Smooth twice: fused sweeps must see the same right-hand side and must not depend on leftovers
 * of the first smooth. */
static double *smooth_twice(mg_hierarchy_t *h, int l, bool zero_guess, const double *u,
                            const double *f) {
  static const int vectors[] = {MG_U, MG_F, MG_TMP, MG_PREVIOUS};
  mg_level_t *doubles = &h->level[l], *level = smoothed_level(h, l);
  for (int v = 0; v < 4; v++)
    if (level->plan->vectors & 1u << vectors[v]) MUST(mg_fill(level, vectors[v], NAN));
  field_put(doubles, MG_U, u);
  field_put(doubles, MG_F, f);
  if (h->low) {
    MUST(mg_lower(doubles, level, MG_U, MG_U, 1.0));
    MUST(mg_lower(doubles, level, MG_F, MG_F, 1.0));
  }
  MUST(mg_smooth(level, zero_guess));
  MUST(mg_smooth(level, false));
  if (h->low) MUST(mg_raise(doubles, level, 1.0, false));
  return field_get(doubles, MG_U);
}

static void test_level(mg_hierarchy_t *h, int l) {
  const mg_params_t *params = &h->params;
  mg_level_t *level = smoothed_level(h, l);
  const int n = level->store.view.n[0];
  const int64_t cells = mg_volume(level->store.view.n);
  const bool fuses_fv4 = level->steps_per_pass > 1 && params->op == MG_OPERATOR_FV4;
  levels_with_passes += level->steps_per_pass > 1;
  resident_levels += mg_smooth_is_resident(level);
  resident_fv4_levels += mg_smooth_is_resident(level) && params->op == MG_OPERATOR_FV4;
  fv4_levels += fuses_fv4 && !h->low;
  float_fv4_levels += fuses_fv4 && h->low;
  const int seeds = n > 100 || h->low ? 1 : 2;
  for (int seed = 0; seed < seeds; seed++)
    for (int zero = 0; zero < 2; zero++) {
      const double *u = field_random(cells, 10 + (uint64_t)seed), *x[2];
      const double *f = field_random(cells, 20 + (uint64_t)seed);
      for (int passes = 0; passes < 2; passes++) {
        MUST(mg_smoother_set(level, params, level->lambda_max, passes));
        /* The backend does as planned, on ranks that have part of the level. */
        if (passes && level->comm && level->plan->place == MG_PLACE_CUDA)
          CHECK_INT(mg_smooth_is_resident(level), level->plan->resident);
        x[passes] = smooth_twice(h, l, zero == 1, u, f);
      }
      CHECK_SAME(x[1], x[0], cells);
    }
}

/* Results of smooth, residual and restriction, then of a correction, a second smooth and the
 * residual's norm. */
typedef struct {
  double *x, *coarse_f, norm;
} results_t;

static results_t run_with_residuals(mg_hierarchy_t *h, int l, bool zero_guess) {
  mg_level_t *level = &h->level[l], *coarse = level + 1;
  const int64_t cells = mg_volume(level->store.view.n);
  results_t r;
  field_put(level, MG_U, field_random(cells, 30));
  field_put(level, MG_F, field_random(cells, 31));
  MUST(mg_fill(level, MG_TMP, NAN));
  MUST(mg_fill(coarse, MG_F, NAN));
  const mg_start_t start = zero_guess ? MG_FROM_ZERO : MG_FROM_GUESS;
  MUST(mg_leg_run(h, l, &(mg_leg_t){.start = start, .end = MG_TO_COARSE}));
  r.coarse_f = field_get(coarse, MG_F);
  field_put(coarse, MG_U, field_random(mg_volume(coarse->store.view.n), 32));
  r.norm = ascent_norm(h, l, mg_interpolation_of(h->params.op, MG_CYCLE_V));
  r.x = field_get(level, MG_U);
  return r;
}

/* Fused and composed. */
static void test_residuals(mg_hierarchy_t *h) {
  for (int l = 0; l + 1 < h->n_levels; l++) {
    mg_level_t *level = &h->level[l];
    const int64_t cells = mg_volume(level->store.view.n);
    if (level->plan->steps_per_pass == 1) continue;
    for (int zero = 0; zero < 2; zero++) {
      results_t r[2];
      for (int fused = 0; fused < 2; fused++) {
        MUST(mg_smoother_set(level, &h->params, level->lambda_max, fused));
        r[fused] = run_with_residuals(h, l, zero == 1);
      }
      levels_with_residuals += mg_smooth_has_residual(level, zero ? MG_FROM_ZERO : MG_FROM_GUESS);
      resident_levels += mg_smooth_is_resident(level);
      resident_fv4_levels += mg_smooth_is_resident(level) && h->params.op == MG_OPERATOR_FV4;
      CHECK_SAME(r[1].x, r[0].x, cells);
      CHECK_SAME(r[1].coarse_f, r[0].coarse_f, mg_volume(h->level[l + 1].store.view.n));
      CHECK_CASE(r[1].norm == r[0].norm, r[1].norm, r[0].norm);
    }
  }
}

/* On the coarsest levels, patches are narrower than the number of fused steps. */
static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    if (smoothed_level(h, l)->plan->steps_per_pass > 1) test_level(h, l);
}

static void test_varying(const char *grid) {
  static const char *const cases[] = {"--operator=7pt --boundary=dirichlet --smoother=chebyshev",
                                      "--operator=fv2 --boundary=periodic",
                                      "--operator=fv4 --boundary=periodic,dirichlet"};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    fixture_each(grid, textf("--equation=helmholtz alpha %s", cases[c]), test_levels);
}

/* The guard's resident levels have 8^3 cells or fewer. */
static void run_resident(bool guard, const char *operators, const char *options) {
  const char *grid = guard ? "1x1" : "2x1";
  const char *all = textf("--operator=%s --equation=helmholtz %s", operators, options);
  fixture_each(grid, all, test_levels);
  if (!strstr(all, "mixed")) fixture_each(grid, all, test_residuals);
}

static void run(const char *backend) {
  /* Equal and unequal numbers of fused steps, with single steps between and after them. */
  static const char *const cases[] = {
      "--equation=helmholtz --smoother=gsrb --smooths=1,3",
      "--equation=helmholtz --smoother=gsrb --smooths=3 --omega=1.15",
      "--equation=helmholtz --smoother=gsrb,jacobi --smooths=5 --steps-per-pass=2",
      "--equation=helmholtz --smoother=jacobi --smooths=4",
      "--equation=helmholtz --smoother=chebyshev --degree=2,6,9",
      "--equation=helmholtz --smoother=chebyshev --degree=3 --steps-per-pass=2",
      "--equation=helmholtz --smoother=chebyshev --smooths=2 --degree=3",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb,chebyshev walls=nndnnd",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb,chebyshev walls=nnppnd,ppdnpp",
      /* Not cubes. 512 cells: on a device, a tile of double or float cells ends at the wall. */
      "--equation=poisson --smoother=gsrb,chebyshev boxes=5x2x3",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb,chebyshev boxes=16x1x1",
      "--beta=1 --smoother=gsrb,chebyshev --precision=double,mixed",
      "--beta=1 --equation=helmholtz --smoother=gsrb --smooths=2 --omega=1.15 boxes=5x2x3",
      "--beta=1 --boundary=dirichlet --equation=poisson --smoother=gsrb,jacobi walls=nndnnd,ppdnpp",
  };
  static const char *const fv4_cases[] = {
      "--equation=helmholtz --smoother=gsrb --smooths=1,3",
      "--equation=poisson --smoother=gsrb --omega=1.15",
      "--equation=poisson --smoother=gsrb boxes=5x2x3",
      "--equation=helmholtz --smoother=gsrb boxes=2x5x3",
  };
  static const char *const float_cases[] = {
      "--operator=fv4 --equation=helmholtz --smoother=gsrb --smooths=1,3",
      "--operator=fv4 --equation=poisson --smoother=gsrb boxes=5x2x3",
      /* 512 cells: on a device, the cells next to the high wall are in both pairs of a thread. */
      "--operator=fv4 --equation=poisson --smoother=gsrb --boundary=dirichlet boxes=16x1x1",
      "--operator=fv2 --equation=helmholtz --smoother=gsrb,chebyshev",
      "--operator=fv2 --equation=poisson --smoother=gsrb,chebyshev --boundary=dirichlet "
      "boxes=16x1x1",
  };
  static const char *const residual_cases[] = {
      "--smoother=gsrb --smooths=1,3",
      "--smoother=gsrb,jacobi --smooths=3 --steps-per-pass=2",
      "--smoother=ssor --omega=1.15",
      "--smoother=chebyshev,chebyshev4 --degree=2,6",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb,chebyshev walls=nndnnd",
      "--equation=poisson --smoother=gsrb,chebyshev boxes=5x2x3",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb,chebyshev boxes=16x1x1",
  };
  /* Levels of one rank: 16^3 to 80^3 cells, and not cubes. On the device, tiles have 4 to 64 rows,
   * and threads one, two or four pairs of cells. */
  static const char *const resident_cases[] = {
      FIXTURE_RESIDENT_CASES,
      "boxes=2x16x4 --smoother=gsrb",
      "boxes=8x8x8 --precision=mixed --smoother=gsrb,chebyshev",
      "boxes=16x16x16 --precision=mixed --smoother=gsrb,chebyshev,jacobi",
  };
  static const char *const large_cases[] = {
      FIXTURE_LARGE_RESIDENT_CASES,
      "boxes=20x20x20 --precision=mixed --smoother=gsrb",
  };
  const bool is_cpu = strcmp(backend, "cpu") == 0; /* it fuses no sweeps */
  const bool guard = strcmp(backend, "guard") == 0, is_cuda = strcmp(backend, "cuda") == 0;
  const bool one_rank = mg_comm_size(mg_comm_world()) == 1;
  levels_with_passes = resident_levels = resident_fv4_levels = fv4_levels = float_fv4_levels =
      levels_with_residuals = 0;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    fixture_each(grid_for(backend, cases[c]), textf("--operator=fv2,7pt %s", cases[c]),
                 test_levels);
  for (size_t c = 0; c < sizeof fv4_cases / sizeof *fv4_cases; c++)
    fixture_each(grid_for(backend, fv4_cases[c]), textf("--operator=fv4 %s", fv4_cases[c]),
                 test_levels);
  for (size_t c = 0; c < sizeof float_cases / sizeof *float_cases; c++)
    fixture_each(grid_for(backend, float_cases[c]), textf("--precision=mixed %s", float_cases[c]),
                 test_levels);
  for (size_t c = 0; c < sizeof residual_cases / sizeof *residual_cases; c++)
    fixture_each(grid_for(backend, residual_cases[c]),
                 textf("--operator=fv2,7pt residuals %s", residual_cases[c]), test_residuals);
  for (size_t c = 0; c < sizeof fv4_cases / sizeof *fv4_cases; c++)
    fixture_each(grid_for(backend, fv4_cases[c]),
                 textf("--operator=fv4 residuals %s", fv4_cases[c]), test_residuals);
  fixture_each_any_size(
      textf("--equation=poisson residuals %s",
            one_rank || is_cuda
                ? "--operator=fv2,7pt --smoother=gsrb,jacobi,chebyshev --smooths=2,3"
                : "--operator=fv2 --smoother=gsrb"),
      test_residuals);
  for (size_t c = 0; c < sizeof resident_cases / sizeof *resident_cases && one_rank; c++)
    run_resident(guard, "fv2,7pt,fv4", resident_cases[c]);
  for (size_t c = 0; c < sizeof large_cases / sizeof *large_cases && one_rank && is_cuda; c++)
    run_resident(guard, "fv2,7pt", large_cases[c]);
  CHECK(resident_levels > 0 || is_cpu || !one_rank);
  CHECK(resident_fv4_levels > 0 || !is_cuda || !one_rank);
  CHECK(float_fv4_levels > 0 || is_cpu);
  CHECK(fv4_levels > 0 || is_cpu);
  CHECK(levels_with_passes > 0 || is_cpu);
  CHECK(levels_with_residuals > 0 || is_cpu);
  /* The guard fuses no sweeps with a varying alpha. On the device, coarser levels are resident. */
  if (is_cuda) test_varying(large_grid());
  if (is_cuda && one_rank) test_varying("4x5");
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each_fusing(run);
  return FIXTURE_END();
}
