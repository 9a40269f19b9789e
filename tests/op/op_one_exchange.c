/* op_one_exchange: where a smooth exchanges ghosts once, its sweeps leave the first layer of ghosts
 * of the result, edges and corners included, as an exchange would fill it. It sends as many
 * messages as that one exchange of each vector, and an interpolation from the level needs none.
 * Ghosts are NaN before. op_fused_sweeps checks that such smooths are bit-identical to single
 * steps. */
#include "device/device_select.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>

static int n_levels;

/* Random cells; all ghosts are NaN. */
static void start(mg_level_t *level, bool zero_guess) {
  static const mg_vector_t vectors[] = {MG_U, MG_F, MG_TMP, MG_PREVIOUS};
  const int64_t cells = mg_volume(level->store.view.n);
  for (int v = 0; v < 4; v++)
    if (level->plan->vectors & 1u << vectors[v]) MUST(mg_fill(level, vectors[v], NAN));
  if (!zero_guess) field_put(level, MG_U, field_random(cells, 1));
  field_put(level, MG_F, field_random(cells, 2));
}

static int64_t n_messages(const mg_level_t *level) {
  return level->timers.traffic.messages;
}

/* Messages of one exchange of all layers. */
static int64_t count_exchange(mg_level_t *level) {
  const int64_t before = n_messages(level);
  MUST(mg_halo_deep(level, MG_F));
  return n_messages(level) - before;
}

static int64_t values_with_ghosts(const mg_patch_t *p) {
  return (int64_t)(p->n[0] + 2) * (p->n[1] + 2) * (p->n[2] + 2);
}

/* An exchange changes no bit of the cells and the first layer of ghosts. */
static void check_ghosts(mg_level_t *level, mg_vector_t vec) {
  const mg_view_t *v = mg_level_view(level);
  double *before[64];
  CHECK(v->n_patches <= 64);
  for (int q = 0; q < v->n_patches; q++)
    before[q] = patch_get(level, q, vec, 1);
  MUST(mg_halo(level, vec, true));
  for (int q = 0; q < v->n_patches; q++) {
    const double *after = patch_get(level, q, vec, 1);
    CHECK(memcmp(before[q], after, (size_t)values_with_ghosts(&v->patch[q]) * sizeof *after) == 0);
  }
}

static const mg_resident_use_t nothing = {.source = NULL};

static void check_smooths(mg_level_t *level) {
  const int64_t once = count_exchange(level);
  for (int zero = 0; zero < 2; zero++) {
    start(level, zero);
    int64_t before = n_messages(level);
    MUST(mg_smooth_from(level, zero ? MG_FROM_ZERO : MG_FROM_GUESS, &nothing, level->descended));
    CHECK_INT(n_messages(level) - before, zero ? once : 2 * once);
    check_ghosts(level, level->descended);
    before = n_messages(level);
    MUST(mg_smooth_from(level, MG_FROM_CORRECTION, &nothing, MG_U));
    CHECK_INT(n_messages(level) - before, once);
    check_ghosts(level, MG_U);
  }
}

/* From a level that has just been smoothed, with and without an exchange. The fine level's sweeps
 * are single, so that they do not interpolate. */
static void check_interpolation(mg_hierarchy_t *h, int l, mg_interpolation_t kind) {
  mg_level_t *fine = &h->level[l], *coarse = fine + 1;
  const int64_t cells = mg_volume(fine->store.view.n);
  double *x[2];
  MUST(mg_smoother_set(fine, &h->params, fine->lambda_max, false));
  start(fine, true);
  start(coarse, true);
  MUST(mg_smooth(coarse, true));
  for (int exchanged = 0; exchanged < 2; exchanged++) {
    const int64_t before = n_messages(coarse);
    MUST(mg_leg_run(
        h, l,
        &(mg_leg_t){.start = MG_FROM_COARSE, .kind = kind, .coarse_is_smoothed = !exchanged}));
    if (!exchanged && !fine->has_image) CHECK_INT(n_messages(coarse), before);
    x[exchanged] = field_get(fine, MG_U);
  }
  CHECK_SAME(x[0], x[1], cells);
}

static void test(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    /* Ranks without cells follow. */
    double once = mg_smooth_fills_ghosts(&h->level[l]);
    MUST(mg_comm_max(mg_comm_world(), &once, 1));
    if (once == 0.0) continue;
    n_levels++;
    check_smooths(&h->level[l]);
    if (l == 0) continue;
    check_interpolation(h, l - 1, mg_interpolation_of(h->params.op, MG_CYCLE_V));
    check_interpolation(h, l - 1, mg_interpolation_of(h->params.op, MG_CYCLE_F));
  }
}

static void run(const char *backend) {
  static const char *const cases[] = {
      "--smoother=gsrb --smooths=1,3",
      "--smoother=gsrb,jacobi --smooths=2 --steps-per-pass=2",
      "--smoother=chebyshev --degree=2,6",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb walls=nndnnd",
      "--boundary=dirichlet --equation=poisson --smoother=gsrb walls=nnppnd,ppppdn",
      "--equation=poisson --smoother=gsrb,chebyshev boxes=5x2x3",
  };
  const int n_ranks = mg_comm_size(mg_comm_world());
  const bool is_guard = strcmp(backend, "guard") == 0;
  n_levels = 0;
  /* On a GPU only with several ranks, from 2^19 cells per rank on. */
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    fixture_each(is_guard ? "4x2" : "6x2", textf("--operator=fv2,7pt %s", cases[c]), test);
  const bool has_some = is_guard || (strcmp(backend, "cuda") == 0 && n_ranks > 1 && n_ranks <= 3);
  CHECK(n_levels > 0 || !has_some);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each_fusing(run);
  return FIXTURE_END();
}
