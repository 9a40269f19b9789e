/* op_fused_interpolation: a fused sweep that interpolates its input is bit-identical to an
 * interpolation and single steps. Covered: corrections and solutions by P0, P1 and V2; 7-point
 * operators with all kinds of smoothers, in passes of 2 and 3 steps; double and float cells; walls
 * of both kinds, other patches and the patch itself as neighbors; variable alpha; residuals;
 * grids of any size; resident sweeps, which interpolate and compute a residual. */
#include "device/device_select.h"
#include "level/mixed.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>

static int resident_levels, levels[2]; /* with interpolating sweeps; with double and float cells */

/* Set and get cells of a level with a smoother. Float cells pass through MG_U of the double ones.
 * With a tolerance, MG_U shares no memory with float vectors. */
static void put(mg_hierarchy_t *h, int l, mg_vector_t vec, const double *x) {
  mg_level_t *level = &h->level[l];
  field_put(level, h->low ? MG_U : vec, x);
  if (h->low) MUST(mg_lower(level, &h->low->level[l], MG_U, vec, 1.0));
}

static double *get(mg_hierarchy_t *h, int l, mg_vector_t vec) {
  mg_level_t *level = &h->level[l];
  if (!h->low) return field_get(level, vec);
  if (vec != MG_U) MUST(mg_axpby(&h->low->level[l], MG_U, 1.0, vec, 0.0, MG_NO_VECTOR));
  MUST(mg_raise(level, &h->low->level[l], 1.0, false));
  return field_get(level, MG_U);
}

/* Random values of the coarser level. All its ghosts are invalid before. */
static void put_coarse(mg_hierarchy_t *h, int l, uint64_t seed) {
  MUST(mg_fill(&(h->low ? h->low : h)->level[l + 1], MG_U, NAN));
  put(h, l + 1, MG_U, field_random(mg_volume(h->level[l + 1].store.view.n), seed));
}

/* Smooth, correction, smooth. */
static double *run_correction(mg_hierarchy_t *h, int l, mg_interpolation_t kind, bool zero_guess) {
  mg_hierarchy_t *smoothed = h->low ? h->low : h;
  mg_level_t *level = &smoothed->level[l];
  const int64_t cells = mg_volume(level->store.view.n);
  put(h, l, MG_F, field_random(cells, 40));
  put(h, l, MG_U, field_random(cells, 41));
  MUST(mg_smooth_from(level, zero_guess ? MG_FROM_ZERO : MG_FROM_GUESS,
                      &(mg_resident_use_t){.source = NULL}, level->descended));
  put_coarse(h, l, 42);
  MUST(mg_leg_run(smoothed, l, &(mg_leg_t){.start = MG_FROM_CORRECTION, .kind = kind}));
  return get(h, l, MG_U);
}

typedef struct {
  double *x, *coarse_f, norm;
} results_t;

/* Start from an interpolated solution; then a V-cycle: smooth, restricted residual, correction,
 * smooth, norm of the residual. */
static results_t run_solution(mg_hierarchy_t *h, int l, mg_interpolation_t kind) {
  mg_hierarchy_t *cells = h->low ? h->low : h;
  mg_level_t *level = &cells->level[l];
  results_t r = {.norm = 0.0};
  put(h, l, MG_F, field_random(mg_volume(level->store.view.n), 50));
  MUST(mg_fill(level, MG_U, NAN));
  put_coarse(h, l, 51);
  MUST(mg_leg_run(cells, l,
                  &(mg_leg_t){.start = MG_FROM_COARSE, .end = MG_TO_COARSE, .kind = kind}));
  r.coarse_f = get(h, l + 1, MG_F);
  put_coarse(h, l, 52);
  r.norm = ascent_norm(cells, l, mg_interpolation_of(h->params.op, MG_CYCLE_V));
  r.x = get(h, l, MG_U);
  return r;
}

/* Single steps, or fused ones. */
static void set_smoother(mg_hierarchy_t *h, int l, bool fused) {
  mg_level_t *level = h->low ? &h->low->level[l] : &h->level[l];
  MUST(mg_smoother_set(level, &h->params, level->lambda_max, fused));
  CHECK(fused || !mg_smooth_interpolates(level));
}

static void test_level(mg_hierarchy_t *h, int l) {
  static const mg_interpolation_t kinds[] = {MG_INTERPOLATE_P0, MG_INTERPOLATE_P1,
                                             MG_INTERPOLATE_V2};
  const int64_t cells = mg_volume(h->level[l].store.view.n);
  for (int k = 0; k < 3; k++) {
    double *x[2];
    results_t r[2];
    for (int zero = 0; zero < (k == 0 ? 2 : 1); zero++) {
      for (int fused = 0; fused < 2; fused++) {
        set_smoother(h, l, fused);
        x[fused] = run_correction(h, l, kinds[k], zero == 1);
      }
      CHECK_SAME(x[1], x[0], cells);
    }
    for (int fused = 0; fused < 2; fused++) {
      set_smoother(h, l, fused);
      r[fused] = run_solution(h, l, kinds[k]);
    }
    CHECK_SAME(r[1].x, r[0].x, cells);
    CHECK_SAME(r[1].coarse_f, r[0].coarse_f, mg_volume(h->level[l + 1].store.view.n));
    CHECK_CASE(r[1].norm == r[0].norm, r[1].norm, r[0].norm);
  }
}

/* Levels of which, and of the next coarser ones, double cells exist. */
static void test_levels(mg_hierarchy_t *h) {
  mg_hierarchy_t *cells = h->low ? h->low : h;
  for (int l = 0; l + 1 < h->n_levels; l++) {
    if (cells->level[l].plan->steps_per_pass == 1) continue;
    set_smoother(h, l, true);
    double interpolates = mg_smooth_interpolates(&cells->level[l]);
    MUST(mg_comm_max(mg_comm_world(), &interpolates, 1));
    if (interpolates == 0.0) continue;
    levels[h->low != NULL]++;
    resident_levels += mg_smooth_is_resident(&cells->level[l]);
    test_level(h, l);
  }
}

static void test_varying(const char *grid) {
  static const char *const cases[] = {
      "--operator=7pt --boundary=dirichlet --smoother=chebyshev --degree=6",
      "--operator=fv2 --boundary=periodic",
      "--operator=fv2 --boundary=dirichlet --omega=1.15",
      "--operator=fv2 --boundary=dirichlet --smooths=2",
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    fixture_each(grid, textf("--equation=helmholtz interpolations alpha %s", cases[c]),
                 test_levels);
}

/* The guard's resident levels have 8^3 cells or fewer. */
static void run_resident(bool guard, const char *options) {
  fixture_each(guard ? "1x1" : "2x1",
               textf("--operator=fv2,7pt --equation=%s --precision=double,mixed --rtol=0.1 %s",
                     strstr(options, "walls") ? "poisson" : "helmholtz", options),
               test_levels);
}

static void run(const char *backend) {
  static const char *const cases[] = {
      "--operator=fv2,7pt --smoother=gsrb --smooths=2,3",
      "--operator=fv2 --smoother=gsrb --smooths=1",
      "--operator=fv2 --smoother=gsrb,chebyshev residuals",
      "--operator=fv2 --smoother=gsrb --smooths=3 --omega=1.15",
      "--operator=7pt --smoother=chebyshev --degree=2,9",
      "--operator=fv2 --smoother=jacobi --smooths=5 --steps-per-pass=2",
      "--operator=fv2,7pt --boundary=dirichlet --smoother=gsrb,chebyshev walls=nndnnd",
      "--operator=fv2,7pt --boundary=dirichlet --smoother=gsrb,chebyshev walls=ppndpp,dnnnpp",
      "--operator=fv2 --smoother=gsrb,chebyshev boxes=5x2x3",
      "--operator=7pt --smoother=gsrb boxes=2x3x5",
      /* On a device, a tile of double or float cells ends at the wall. */
      "--operator=fv2 --boundary=dirichlet --smoother=gsrb,chebyshev boxes=16x1x1",
      "--operator=fv2,7pt --beta=1 --smoother=gsrb --smooths=2,3 residuals",
      "--operator=fv2 --beta=1 --boundary=dirichlet --smoother=gsrb --omega=1.15 walls=nndnnd",
  };
  /* Levels of one rank from 16^3 to 80^3 cells, also not cubes. */
  static const char *const resident_cases[] = {
      FIXTURE_RESIDENT_CASES,
      "boxes=8x4x8 --boundary=dirichlet --smoother=gsrb,chebyshev walls=nndnnd",
      "boxes=16x16x16 --boundary=dirichlet --smoother=gsrb walls=dnnddn",
      "boxes=16x16x16 --boundary=dirichlet --smoother=gsrb walls=ppdnnd,dnppnn",
  };
  static const char *const large_cases[] = {
      FIXTURE_LARGE_RESIDENT_CASES,
      "boxes=20x20x20 --boundary=dirichlet --smoother=gsrb walls=nndnnd",
  };
  const bool alone = mg_comm_size(mg_comm_world()) == 1;
  const bool guard = strcmp(backend, "guard") == 0, is_cuda = strcmp(backend, "cuda") == 0;
  /* A device fuses sweeps of 2^19 cells per rank or more. */
  const char *grid = guard ? "4x2" : alone ? "5x3" : "6x2";
  levels[0] = levels[1] = resident_levels = 0;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    fixture_each(
        guard && strstr(cases[c], "boxes=") ? "3x2" : grid,
        textf("--equation=poisson --precision=double,mixed --rtol=0.1 interpolations %s", cases[c]),
        test_levels);
  fixture_each_any_size(
      textf("--equation=poisson --rtol=0.1 interpolations residuals --smoother=gsrb,chebyshev %s",
            alone || is_cuda ? "--operator=fv2,7pt --precision=double,mixed" : "--operator=fv2"),
      test_levels);
  if (!guard)
    fixture_each(
        "5x5",
        "--operator=fv2 --equation=helmholtz --precision=double,mixed --rtol=0.1 interpolations "
        "--smoother=gsrb,chebyshev",
        test_levels);
  for (size_t c = 0; c < sizeof resident_cases / sizeof *resident_cases && alone; c++)
    run_resident(guard, resident_cases[c]);
  for (size_t c = 0; c < sizeof large_cases / sizeof *large_cases && alone && is_cuda; c++)
    run_resident(guard, large_cases[c]);
  CHECK(resident_levels > 0 || !alone || strcmp(backend, "cpu") == 0);
  CHECK((levels[0] > 0 && levels[1] > 0) || strcmp(backend, "cpu") == 0);
  /* The guard fuses only a constant alpha. */
  if (is_cuda) test_varying(grid);
  if (is_cuda && alone) test_varying("4x5"); /* resident */
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each_fusing(run);
  return FIXTURE_END();
}
