/* parity_overlap: a smoothing step, or several fused ones, may run on interior cells before the
 * halo exchange and on boundary cells afterwards. The result is bit-identical to all cells after
 * the exchange. The interior part reads no ghost that the exchange fills: these are NaN until it
 * completes. The same for the residual of fused steps, restricted and as a norm. Where a kernel
 * does the exchange, fused steps may also begin with the interior beside it. */
#include "backend/sweeps.h"
#include "level/ops.h"
#include "tests/lib/fixture.h"

static int n_residuals, n_beside;

/* How a pass and its exchange are ordered. */
typedef enum { EXCHANGE_BEFORE, EXCHANGE_BETWEEN, EXCHANGE_BESIDE, N_ORDERS } order_t;

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

/* What a pass computes besides the iterate. */
typedef enum { NOTHING, RESTRICTED, NORM, N_USES } use_t;

static mg_status_t run_pass(mg_hierarchy_t *h, const mg_sweep_t *sweep, mg_region_t part,
                            use_t use) {
  const mg_level_t *level = &h->level[0];
  const mg_view_t *v = mg_level_view(level), *coarse = mg_level_coarse_view(h, 0);
  if (!level->comm) return MG_OK;
  if (use == NOTHING) return level->backend->smooth(v, sweep, part);
  return level->backend->fused->smooth_residual(v, sweep, part, use == RESTRICTED ? coarse : NULL,
                                                level->has_image ? MG_U : MG_F);
}

/* Restricted residuals, from the coarsened patches of this rank. */
static double *coarse_residual(mg_hierarchy_t *h) {
  if (h->level[0].has_image) MUST(mg_exchange_run(h->level[0].gather, MG_U, MG_F));
  return field_get(&h->level[1], MG_F);
}

static bool begins_with_interior(const mg_level_t *level) {
  const mg_backend_t *backend = level->backend;
  return level->comm && backend->overlap && backend->overlap->interior_first &&
         mg_exchange_by(level->halo_deep) & MG_BY_ONE_KERNEL &&
         backend->overlap->interior_first(mg_level_view(level), level->steps_per_pass);
}

/* The exchange and the pass. */
static void run_in_order(mg_hierarchy_t *h, const mg_sweep_t *sweep, order_t order, use_t use) {
  mg_level_t *level = &h->level[0];
  if (order == EXCHANGE_BETWEEN) MUST(run_pass(h, sweep, MG_REGION_INTERIOR, use));
  if (order == EXCHANGE_BESIDE && begins_with_interior(level)) {
    const mg_vector_t both[] = {MG_F, MG_U};
    MUST(mg_exchange_halo(level->halo_deep, both, 2, true));
    MUST(run_pass(h, sweep, MG_REGION_INTERIOR_FIRST, use));
    n_beside++;
    return;
  }
  MUST(mg_halo_deep(level, MG_F));
  MUST(mg_halo_deep(level, MG_U));
  MUST(run_pass(h, sweep, order == EXCHANGE_BETWEEN ? MG_REGION_BOUNDARY : MG_REGION_ALL, use));
}

/* Includes the ghosts of the deep halo; those of the right-hand side are exchanged with u's. */
static void test_pass(mg_hierarchy_t *h, const double *const given[3], use_t use) {
  mg_level_t *level = &h->level[0];
  const int64_t cells = mg_volume(mg_level_view(level)->n);
  const mg_sweep_t sweep = {level->steps, level->steps_per_pass, MG_U, -1, MG_TMP, -1};
  const double *x[N_ORDERS], *coarse[N_ORDERS];
  double norm[N_ORDERS] = {0.0, 0.0, 0.0};
  for (int order = 0; order < N_ORDERS; order++) {
    MUST(mg_fill(level, MG_F, NAN));
    start(level, given[0], given[1], given[2]);
    MUST(mg_fill(&h->level[1], MG_F, NAN));
    if (use == NORM) MUST(level->backend->fused->norm_begin());
    run_in_order(h, &sweep, (order_t)order, use);
    if (use == NORM && level->comm) MUST(mg_residual_norm_end(level, &norm[order]));
    x[order] = field_get(level, MG_TMP);
    coarse[order] = coarse_residual(h);
  }
  CHECK_CASE(field_distance(x[0], given[0], cells) > 0.0, 0.0, 1.0);
  CHECK_CASE((use == NORM && level->comm) == (norm[0] > 0.0), norm[0], 1.0);
  for (int order = 1; order < N_ORDERS; order++) {
    CHECK_SAME(x[0], x[order], cells);
    CHECK_CASE(norm[0] == norm[order], norm[order], norm[0]);
    if (use == RESTRICTED) CHECK_SAME(coarse[0], coarse[order], cells / 8);
  }
}

/* Ranks without cells follow the others. */
static bool can_compute_residual(const mg_level_t *level) {
  const mg_view_t *v = mg_level_view(level);
  double can = !level->comm ||
               (!level->plan->resident && level->plan->path->suits(v, level->steps_per_pass + 1));
  MUST(mg_comm_min(mg_comm_world(), &can, 1));
  return can > 0.0;
}

/* Single steps, or fused steps where the case has them. */
static void test_level(mg_hierarchy_t *h, bool pass) {
  mg_level_t *level = &h->level[0];
  const int64_t cells = mg_volume(mg_level_view(level)->n);
  double *given[3];
  for (int x = 0; x < 3; x++) {
    given[x] = field_random(cells, (uint64_t)x + 1);
  }
  const int most = level->n_steps < 2 ? level->n_steps : 2;
  for (int s = 0; s < most && !pass; s++)
    test_step(level, &level->steps[s], (const double *const *)given);
  const bool has_residual = pass && level->plan->fused_residual && can_compute_residual(level);
  n_residuals += has_residual;
  for (use_t use = NOTHING; pass && use < (has_residual ? N_USES : RESTRICTED); use++)
    test_pass(h, (const double *const *)given, use);
}

typedef struct {
  int log2_box_dim, boxes; /* boxes along the domain */
  bool pass;
  const char *options;
  bool alpha_varies; /* variable alpha */
} case_t;

/* The guard splits fused steps only, on levels of any size. On several ranks walls and messages
 * are on different sides. */
static const case_t guard_cases[] = {
    {4, 2, true, "--boundary=periodic --smoother=gsrb", false},
    {4, 2, true, "--smoother=gsrb --steps-per-pass=2", false},
    {4, 2, true, "--boundary=periodic --smoother=chebyshev --equation=helmholtz", false},
    {4, 2, true, "--smoother=jacobi --operator=7pt", false},
    {4, 2, true, "--boundary=periodic --smoother=gsrb --operator=fv4", false},
    {4, 1, true, "--smoother=gsrb boxes=5x2x3", false},
};
enum { N_GUARD_CASES = sizeof guard_cases / sizeof guard_cases[0] };

/* Cases of one box need one rank. Interiors that the kernels treat as small and as large. Periodic
 * patches have boundary cells on all sides; with walls and several patches, only some sides have
 * them. */
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
    {7, 2, true, "--boundary=periodic --smoother=gsrb", false},
    {7, 2, true, "--boundary=periodic --smoother=chebyshev --equation=helmholtz", false},
    {7, 2, true, "--boundary=periodic --smoother=jacobi --steps-per-pass=2", false},
    {7, 2, true, "--boundary=periodic --smoother=gsrb", true},
    {7, 2, true, "--boundary=periodic --smoother=gsrb --operator=fv4", false},
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

/* Whether a step, or fused ones, can be split on all ranks that have cells. */
static bool has_parts(const mg_level_t *level, bool pass) {
  const mg_backend_t *backend = level->backend;
  const int n = pass ? level->steps_per_pass : 1;
  double lacks = level->comm && (pass != (n > 1) ||
                                 !backend->overlap->sweep_overlaps(mg_level_view(level), n, true));
  MUST(mg_comm_max(mg_comm_world(), &lacks, 1));
  return lacks == 0.0;
}

static void test_guard(const fixture_backend_t *backend) {
  for (const case_t *c = guard_cases; c < guard_cases + N_GUARD_CASES; c++) {
    mg_hierarchy_t *h = create(backend, c);
    const bool parts = has_parts(&h->level[0], true);
    CHECK(parts);
    if (parts) test_level(h, true);
    mg_hierarchy_free(h);
    fixture_release();
  }
  CHECK(n_residuals > 0);
}

int main(int argc, char **argv) {
  int n_steps = 0, n_passes = 0, n_fv4 = 0;
  bool has_passes = false;
  fixture_begin(&argc, &argv);
  const bool alone = mg_comm_size(mg_comm_world()) == 1;
  for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++) {
    if (strcmp(backend->name, "guard") == 0) test_guard(backend);
    if (strcmp(backend->name, "cuda") != 0) continue;
    for (const case_t *c = cases; c < cases + N_CASES; c++) {
      if (c->boxes == 1 && !strstr(c->options, "boxes=") && !alone) continue;
      mg_hierarchy_t *h = create(backend, c);
      mg_level_t *level = &h->level[0];
      has_passes = has_passes || level->steps_per_pass > 1;
      if (level->backend->overlap && has_parts(level, c->pass)) {
        test_level(h, c->pass);
        *(c->pass ? &n_passes : &n_steps) += 1;
        n_fv4 += c->boxes == 5;
      }
      mg_hierarchy_free(h);
      fixture_release();
    }
  }
  /* Add cases if the GPU has too many SMs for one rank's levels to keep it busy: */
  CHECK(!has_passes || !alone || (n_passes > 0 && n_fv4 > 0));
  printf("%d passes began beside an exchange\n", n_beside);
  return FIXTURE_END();
}
