/* parity_overlap: a smoothing step, or several fused ones, may run on interior cells before the
 * halo exchange and on boundary cells afterwards. The result is bit-identical to all cells after
 * the exchange. The interior part reads no ghost that the exchange fills: these are NaN until it
 * completes. Skips if no backend can split the step. */
#include "level/ops.h"
#include "tests/lib/fixture.h"

static void start(mg_level_t *level, const double *u, const double *f, const double *before) {
  MUST(mg_fill(level, MG_U, NAN));
  MUST(mg_fill(level, MG_TMP, NAN));
  field_put(level, MG_U, u);
  field_put(level, MG_F, f);
  field_put(level, MG_TMP, before);
}

static void test_step(mg_level_t *level, const mg_step_t *step, const double *const given[3]) {
  const mg_view_t *v = mg_level_view(level);
  const int64_t cells = mg_volume(v->n);
  const bool in_place = step->colored && v->op != MG_OPERATOR_FV4;
  const int dst = in_place ? MG_U : MG_TMP;
  const mg_sweep_t sweep = {step, 1, MG_U, MG_TMP, dst, -1};
  start(level, given[0], given[1], given[2]);
  MUST(mg_halo(level, MG_U, false));
  MUST(level->backend->smooth(v, &sweep, MG_REGION_ALL));
  const double *whole = field_get(level, dst);
  start(level, given[0], given[1], given[2]);
  MUST(level->backend->smooth(v, &sweep, MG_REGION_INTERIOR));
  MUST(mg_halo(level, MG_U, false));
  MUST(level->backend->smooth(v, &sweep, MG_REGION_BOUNDARY));
  const double *parts = field_get(level, dst);
  CHECK_SAME(whole, parts, cells);
  CHECK_CASE(field_distance(whole, given[0], cells) > 0.0, 0.0, 1.0);
}

/* Includes the ghosts of the deep halo; those of the right-hand side are exchanged with u's. */
static void test_pass(mg_level_t *level, const double *const given[3]) {
  const mg_view_t *v = mg_level_view(level);
  const int64_t cells = mg_volume(v->n);
  const mg_sweep_t sweep = {level->steps, level->fused_sweeps, MG_U, -1, MG_TMP, -1};
  const double *x[2];
  for (int in_parts = 0; in_parts < 2; in_parts++) {
    MUST(mg_fill(level, MG_F, NAN));
    start(level, given[0], given[1], given[2]);
    for (int p = 0; p < (in_parts ? 2 : 1); p++) {
      const mg_region_t part = !in_parts ? MG_REGION_ALL
                               : p == 0  ? MG_REGION_INTERIOR
                                         : MG_REGION_BOUNDARY;
      if (part != MG_REGION_INTERIOR) {
        MUST(mg_halo_deep(level, MG_F));
        MUST(mg_halo_deep(level, MG_U));
      }
      MUST(level->backend->smooth(v, &sweep, part));
    }
    x[in_parts] = field_get(level, MG_TMP);
  }
  CHECK_SAME(x[0], x[1], cells);
  CHECK_CASE(field_distance(x[0], given[0], cells) > 0.0, 0.0, 1.0);
}

/* Single steps, or fused steps where the case has them. */
static void test_level(mg_level_t *level, bool pass) {
  const int64_t cells = mg_volume(mg_level_view(level)->n);
  double *given[3];
  for (int x = 0; x < 3; x++) {
    given[x] = field_random(cells, (uint64_t)x + 1);
  }
  const int most = level->n_steps < 2 ? level->n_steps : 2;
  for (int s = 0; s < most && !pass; s++)
    test_step(level, &level->steps[s], (const double *const *)given);
  if (pass) test_pass(level, (const double *const *)given);
}

typedef struct {
  int log2_box_dim, boxes; /* boxes along the domain */
  bool pass;
  const char *options;
  bool alpha_varies; /* variable alpha */
} case_t;

/* Interiors that the kernels treat as small and as large. Periodic patches have boundary cells
 * on all sides; with walls and several patches, only some sides have them. */
static const case_t cases[] = {
    {7, 1, false, "--boundary=periodic --smoother=gsrb", false},
    {7, 1, false, "--boundary=periodic --smoother=chebyshev", false},
    {7, 1, false, "--boundary=periodic --smoother=l1jacobi --equation=helmholtz", false},
    {7, 1, false, "--boundary=periodic --smoother=jacobi --operator=7pt", false},
    {6, 5, false, "--boundary=periodic --smoother=gsrb --operator=fv4", false},
    {6, 5, false, "--boundary=periodic --smoother=chebyshev --operator=fv4", false},
    {6, 3, false, "--boundary=periodic --smoother=gsrb", false},
    {6, 3, false, "--boundary=periodic --smoother=chebyshev", false},
    {6, 3, false, "--smoother=gsrb --operator=7pt", false},
    {7, 2, false, "--smoother=gsrb --operator=fv4 --equation=helmholtz", false},
    {6, 5, false, "--boundary=periodic --smoother=gsrb --operator=fv4", true},
    {6, 5, false, "--boundary=periodic --smoother=chebyshev --operator=fv4", true},
    {7, 1, false, "--boundary=periodic --smoother=chebyshev", true},
    /* Not cubes. */
    {6, 1, false, "--boundary=periodic --smoother=gsrb boxes=5x2x3", false},
    {6, 1, false, "--boundary=periodic --smoother=chebyshev --operator=fv4 boxes=5x2x3", false},
    {8, 1, true, "--boundary=periodic --smoother=gsrb", false},
    {8, 1, true, "--boundary=periodic --smoother=chebyshev --equation=helmholtz", false},
    {8, 1, true, "--boundary=periodic --smoother=jacobi --fused-sweeps=2", false},
    {8, 1, true, "--boundary=periodic --smoother=gsrb", true},
    {8, 1, true, "--boundary=periodic --smoother=gsrb --operator=fv4", false},
    {7, 1, true, "--smoother=gsrb --operator=fv4 boxes=2x3x2", false},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static mg_hierarchy_t *create(const fixture_backend_t *backend, const case_t *c) {
  if (!c->alpha_varies) return fixture_create(backend, c->log2_box_dim, c->boxes, c->options);
  const int n = c->boxes << c->log2_box_dim;
  double *alpha = field_random((int64_t)n * n * n, 7);
  for (int cell = 0; cell < n * n * n; cell++)
    alpha[cell] = (alpha[cell] + 1.0) * n * n;
  return fixture_create_varying(backend, c->log2_box_dim, c->boxes, c->options, alpha);
}

static bool has_parts(const mg_level_t *level, bool pass) {
  const mg_backend_t *backend = level->backend;
  const int n = pass ? level->fused_sweeps : 1;
  return pass == (n > 1) && backend->overlap.sweep_overlaps(mg_level_view(level), n, true);
}

int main(int argc, char **argv) {
  int n_steps = 0, n_passes = 0, n_fv4 = 0;
  bool has_passes = false;
  fixture_begin(&argc, &argv);
  for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++) {
    if (strcmp(backend->name, "cuda") != 0) continue;
    for (const case_t *c = cases; c < cases + N_CASES; c++) {
      mg_hierarchy_t *h = create(backend, c);
      mg_level_t *level = &h->level[0];
      has_passes = has_passes || level->fused_sweeps > 1;
      if (level->backend->overlap.stream_fork && has_parts(level, c->pass)) {
        test_level(level, c->pass);
        *(c->pass ? &n_passes : &n_steps) += 1;
        n_fv4 += c->boxes == 5;
      }
      mg_hierarchy_free(h);
      fixture_release();
    }
  }
  /* Add cases if the GPU has too many SMs for any of these levels to keep it busy: */
  CHECK(!has_passes || (n_passes > 0 && n_fv4 > 0));
  if (n_steps > 0) return FIXTURE_END();
  return FIXTURE_SKIP("no backend splits a sweep into interior and boundary");
}
