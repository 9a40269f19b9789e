/* op_deferred_guess: in mixed precision, a guess that is interpolated where it is read gives
 * bit-identical results to one that is stored: the residual for the float level, the correction,
 * and the norm and residual of the corrected solution. Covered: P1 and V2; fv2 and 7pt; walls of
 * both kinds; boxes of unequal sides; variable alpha; scales other than 1.
 *
 * Where the plan lets MG_U share its memory, because no guess is stored, the backend defers it. The
 * other tests store guesses; with a tolerance MG_U has its own memory. */
#include "formulas/walls.h"
#include "level/mixed.h"
#include "level/transfer.h"
#include "tests/lib/fixture.h"
#include <string.h>

enum { SEED_F = 60, SEED_COARSE, SEED_CORRECTION };
static const double scale = 3.0;
static int levels;  /* on which the current backend defers guesses */
static int sharing; /* hierarchies whose MG_U shares its memory */
#define MIXED "--precision=mixed --rtol=0.1"

typedef struct {
  double *r_guess, *u, *r, norm;
} results_t;

/* Set the inputs. Everything else is NaN, the ghosts of the coarse values too. */
static void set_inputs(mg_hierarchy_t *h, int l) {
  mg_level_t *level = &h->level[l], *coarse = &h->level[l + 1], *low = &h->low->level[l];
  const int64_t cells = mg_volume(level->store.view.n);
  field_put(level, MG_U, field_random(cells, SEED_CORRECTION));
  MUST(mg_lower(level, low, MG_U, MG_U, 1.0));
  field_put(level, MG_F, field_random(cells, SEED_F));
  MUST(mg_fill(level, MG_U, NAN));
  MUST(mg_fill(low, MG_F, NAN));
  MUST(mg_fill(coarse, MG_U, NAN));
  field_put(coarse, MG_U, field_random(cells / 8, SEED_COARSE));
}

/* The float right-hand side. Overwrites MG_U of both. */
static double *get_low_f(mg_hierarchy_t *h, int l) {
  MUST(mg_axpby(&h->low->level[l], MG_U, 1.0, MG_F, 0.0, MG_NO_VECTOR));
  MUST(mg_raise(&h->level[l], &h->low->level[l], 1.0, false));
  return field_get(&h->level[l], MG_U);
}

static results_t run_stored(mg_hierarchy_t *h, int l, mg_interpolation_t kind) {
  mg_level_t *level = &h->level[l], *low = &h->low->level[l];
  results_t x;
  set_inputs(h, l);
  MUST(mg_interpolate(h, l, kind, MG_U, false, false));
  MUST(mg_lower_residual(level, low, scale, NULL));
  x.r_guess = get_low_f(h, l);
  set_inputs(h, l);
  MUST(mg_interpolate(h, l, kind, MG_U, false, false));
  MUST(mg_raise(level, low, 1.0 / scale, true));
  x.u = field_get(level, MG_U);
  MUST(mg_lower_residual(level, low, scale, &x.norm));
  x.r = get_low_f(h, l);
  return x;
}

static results_t run_deferred(mg_hierarchy_t *h, int l, mg_interpolation_t kind) {
  mg_level_t *level = &h->level[l], *low = &h->low->level[l];
  const mg_guess_t guess = {mg_level_coarse_view(h, l), MG_U, kind};
  results_t x;
  set_inputs(h, l);
  MUST(mg_fill_coarse_ghosts(h, l, kind, false));
  MUST(mg_lower_guess_residual(level, low, &guess, scale));
  x.r_guess = get_low_f(h, l);
  set_inputs(h, l);
  MUST(mg_fill_coarse_ghosts(h, l, kind, false));
  MUST(mg_correct_guess_norm(level, low, &guess, 1.0 / scale, scale));
  MUST(mg_residual_norm_end(level, &x.norm));
  x.u = field_get(level, MG_U);
  x.r = get_low_f(h, l);
  return x;
}

/* The correction without a residual, and with its norm alone. The float level is unchanged. */
static void test_parts(mg_hierarchy_t *h, int l, mg_interpolation_t kind, const results_t *want) {
  mg_level_t *level = &h->level[l], *low = &h->low->level[l];
  const mg_guess_t guess = {mg_level_coarse_view(h, l), MG_U, kind};
  const int64_t cells = mg_volume(level->store.view.n);
  double norm;
  set_inputs(h, l);
  MUST(mg_fill_coarse_ghosts(h, l, kind, false));
  MUST(mg_correct_guess(level, low, &guess, 1.0 / scale));
  CHECK_SAME(field_get(level, MG_U), want->u, cells);
  MUST(mg_fill(level, MG_U, NAN));
  MUST(mg_correct_guess_norm(level, low, &guess, 1.0 / scale, 0.0));
  MUST(mg_residual_norm_end(level, &norm));
  CHECK_CASE(norm == want->norm, norm, want->norm);
  CHECK_SAME(field_get(level, MG_U), want->u, cells);
  MUST(mg_max_norm(low, MG_F, MG_NO_VECTOR, &norm));
  CHECK(isnan(norm));
}

static void test_levels(mg_hierarchy_t *h) {
  static const mg_interpolation_t kinds[] = {MG_INTERPOLATE_P1, MG_INTERPOLATE_V2};
  for (int l = 0; l + 1 < h->n_levels; l++)
    for (int k = 0; k < 2; k++) {
      const int64_t cells = mg_volume(h->level[l].store.view.n);
      if (!h->level[l].plan->guess || !h->level[l].comm) continue;
      levels++;
      const results_t want = run_stored(h, l, kinds[k]), got = run_deferred(h, l, kinds[k]);
      CHECK_SAME(got.r_guess, want.r_guess, cells);
      CHECK_SAME(got.u, want.u, cells);
      CHECK_SAME(got.r, want.r, cells);
      CHECK_CASE(got.norm == want.norm && got.norm > 0.0, got.norm, want.norm);
      test_parts(h, l, kinds[k], &want);
    }
}

/* Without a tolerance. */
static void test_plan(mg_hierarchy_t *h) {
  const mg_level_t *level = &h->level[0];
  if (level->plan->u_holds == 0) return;
  sharing++;
  CHECK(level->plan->guess != NULL);
  CHECK(!mg_is_singular(&level->store.view));
}

static void run(const char *backend) {
  static const char *const cases[] = {"--equation=poisson,helmholtz", "walls=nndnnd",
                                      "walls=dnnnnn --equation=poisson", "boxes=5x2x3",
                                      "boxes=2x3x5 --equation=poisson"};
  levels = sharing = 0;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const char *options = textf("--operator=fv2,7pt --boundary=dirichlet %s", cases[c]);
    fixture_each("4x1 4x3", textf("--precision=mixed --cycle=f,v %s", options), test_plan);
    fixture_each("4x1 4x3 5x2", textf(MIXED " %s", options), test_levels);
  }
  fixture_each("4x1", "--precision=mixed", test_plan);
  fixture_each("4x3", MIXED " --operator=fv2,7pt --boundary=dirichlet --equation=helmholtz alpha",
               test_levels);
  CHECK(sharing > 0 || strcmp(backend, "cpu") == 0);
  CHECK(levels > 0 || strcmp(backend, "cpu") == 0);
  fixture_each("4x3", MIXED " --operator=fv2 --boundary=periodic", test_levels);
  fixture_each("4x3", MIXED " --operator=fv4", test_levels);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  if (mg_comm_size(mg_comm_world()) > 1) return FIXTURE_SKIP("guesses are deferred on one rank");
  fixture_each_fusing(run);
  return FIXTURE_END();
}
