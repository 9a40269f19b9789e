/* op_constants: the betas of a level are found to be constant if and only if they are equal on all
 * faces normal to a direction inside the domain, and on all faces of each side, on all ranks; with
 * double and float cells. Kernels of constant betas are bit-identical to those that read betas. New
 * betas replace the arguments of captured kernels. */
#include "backend/sweeps.h"
#include "level/mixed.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "solver/cycle_wings.h"
#include "solver/domain.h"
#include "tests/lib/fixture.h"
#include "wings.h"

static int levels_with_constants;

/* Whether the level has kernels for constant betas. */
static bool finds(const mg_level_t *level) {
  return level->comm && level->backend->fused && level->backend->fused->bound_betas;
}

static mg_beta_bounds_t bounds_of(const mg_level_t *level) {
  mg_beta_bounds_t b = mg_no_bounds();
  MUST(level->backend->fused->bound_betas(&level->store.view, &b));
  return b;
}

/* Cells of the smallest direction. */
static int least_cells(const mg_view_t *v) {
  const int n = v->n[0] < v->n[1] ? v->n[0] : v->n[1];
  return n < v->n[2] ? n : v->n[2];
}

/* With --beta=1 and cells of one width. */
static void test_ones(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    const mg_view_t *v = &h->level[l].store.view;
    if (!finds(&h->level[l])) CHECK(!v->constant.is);
    if (!finds(&h->level[l]) || least_cells(v) < 2) continue;
    CHECK(v->constant.is);
    levels_with_constants++;
    for (int d = 0; d < 3; d++) {
      CHECK_CASE(v->constant.inside[d] == 1.0, v->constant.inside[d], 1.0);
      for (int side = 0; side < 2; side++) {
        const double want = v->side[d][side] == MG_WALL_DIRICHLET ? 1.0 : 0.0;
        CHECK_CASE(v->constant.side[d][side] == want, v->constant.side[d][side], want);
      }
    }
  }
  CHECK(h->params.constant_beta == h->level[0].store.view.constant.is);
}

/* The built-in betas vary. */
static void test_built_in(mg_hierarchy_t *h) {
  CHECK(!h->level[0].store.view.constant.is);
  CHECK(!h->params.constant_beta);
}

/* The beta of one face differs, in the least possible way. */
static void test_one_face(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  if (!finds(level)) return;
  const mg_view_t *v = &level->store.view;
  const mg_beta_bounds_t before = bounds_of(level);
  for (int d = 0; d < 3; d++)
    for (int q = 0; q < v->n_patches; q++) {
      const mg_patch_t *p = &v->patch[q];
      const int n[3] = {p->n[0] + 2, p->n[1] + 2, p->n[2] + 2};
      double *beta = patch_get(level, q, MG_BETA_I + (mg_vector_t)d, 1);
      for (int corner = 0; corner < 8; corner++) {
        int at[3];
        for (int e = 0; e < 3; e++)
          at[e] = corner >> e & 1 ? p->n[e] - (e != d) : 0;
        double *face = beta + at[0] + 1 + n[0] * (at[1] + 1 + n[1] * (at[2] + 1));
        const double was = *face;
        *face = nextafter(was, 2.0);
        patch_put(level, q, MG_BETA_I + (mg_vector_t)d, 1, beta);
        const mg_beta_bounds_t b = bounds_of(level);
        int infinite = 0;
        for (int e = 0; e < 9; e++)
          infinite += b.most[e / 3][e % 3] == INFINITY;
        CHECK(infinite > 0);
        *face = was;
        patch_put(level, q, MG_BETA_I + (mg_vector_t)d, 1, beta);
      }
    }
  const mg_beta_bounds_t after = bounds_of(level);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
}

/* Patches with constants of their own have no common one. */
static void test_patches(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  if (!finds(level)) return;
  const mg_view_t *v = &level->store.view;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    double *beta = field_constant((int64_t)(p->n[0] + 2) * (p->n[1] + 2) * (p->n[2] + 2), 1.0 + q);
    patch_put(level, q, MG_BETA_I, 1, beta);
  }
  const mg_beta_bounds_t b = bounds_of(level);
  if (v->n_patches > 0)
    CHECK_CASE(b.most[0][0] + b.minus_least[0][0] == v->n_patches - 1.0,
               b.most[0][0] + b.minus_least[0][0], v->n_patches - 1.0);
}

/* Two smooths and a residual from random fields, with constants or without. */
static const double *smooth_twice(mg_hierarchy_t *h, int l, mg_constant_betas_t constant,
                                  const double **residual) {
  mg_level_t *doubles = &h->level[l], *level = h->low ? &h->low->level[l] : doubles;
  const int64_t cells = mg_volume(level->store.view.n);
  level->store.view.constant = constant;
  MUST(mg_smoother_set(level, &h->params, level->lambda_max, true));
  field_put(doubles, MG_U, field_random(cells, 1));
  field_put(doubles, MG_F, field_random(cells, 2));
  if (h->low) MUST(mg_lower(doubles, level, MG_F, MG_F, 1.0));
  MUST(mg_smooth(level, true));
  MUST(mg_smooth(level, false));
  if (h->low) MUST(mg_raise(doubles, level, 1.0, false));
  const double *u = field_get(doubles, MG_U);
  if (!h->low) MUST(mg_residual(doubles, MG_TMP, MG_U, MG_F));
  *residual = h->low ? u : field_get(doubles, MG_TMP);
  return u;
}

static void test_bits(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    mg_level_t *level = h->low ? &h->low->level[l] : &h->level[l];
    const mg_constant_betas_t constant = level->store.view.constant;
    const int64_t cells = mg_volume(level->store.view.n);
    const double *u[2], *r[2];
    double is = constant.is; /* false on ranks without the level */
    MUST(mg_comm_max(mg_comm_world(), &is, 1));
    if (is == 0.0) continue;
    u[0] = smooth_twice(h, l, constant, &r[0]);
    u[1] = smooth_twice(h, l, (mg_constant_betas_t){.is = false}, &r[1]);
    level->store.view.constant = constant; /* with its memory */
    CHECK_SAME(u[0], u[1], cells);
    CHECK_SAME(r[0], r[1], cells);
  }
}

/* Betas of each direction; 0: random ones. */
static mg_status_t load_betas(void *data, mg_hierarchy_t *h) {
  const double *value = data;
  mg_level_t *level = &h->level[0];
  for (int d = 0; d < 3 && level->comm; d++) {
    const int64_t cells = mg_volume(level->store.view.n);
    double *x = field_random(cells, 7);
    for (int64_t c = 0; c < cells; c++)
      x[c] = 1.5 + 0.5 * x[c];
    MUST(mg_fill(level, MG_BETA_I + (mg_vector_t)d, value[d] == 0.0 ? 1.0 : value[d]));
    if (value[d] == 0.0) field_put(level, MG_BETA_I + (mg_vector_t)d, x);
  }
  return MG_OK;
}

static mg_status_t load_f(void *data, mg_hierarchy_t *h) {
  if (h->level[0].comm) field_put(&h->level[0], MG_F, data);
  return MG_OK;
}

/* Cycles with these betas, as graphs where they can be captured. */
static const double *solve_with(mg_hierarchy_t *h, const double beta[3], double *f) {
  double value[3] = {beta[0], beta[1], beta[2]};
  const mg_problem_source_t source = {.load = load_betas, .data = value, .sets_coefficients = true};
  MUST(mg_problem_set_from(h, &source));
  MG_IF_COARSE(MUST(mg_graph_capture(h, 0)));
  MUST(mg_problem_set_rhs(h, load_f, f, false));
  (void)fixture_solve(h);
  return field_get(&h->level[0], MG_U);
}

static void test_again(mg_hierarchy_t *h) {
  const double one[3] = {1.0, 1.0, 1.0}, two[3] = {2.0, 2.0, 2.0}, random[3] = {0.0, 0.0, 0.0},
               differ[3] = {1.0, 1.25, 1.0};
  const int64_t cells = mg_volume(h->level[0].store.view.n);
  double *f = field_random(cells, 5), *twice = field_new(cells);
  const double *u[6];
  u[0] = solve_with(h, one, f);
  u[1] = solve_with(h, two, f);
  u[2] = solve_with(h, random, f);
  u[3] = solve_with(h, differ, f);
  u[4] = solve_with(h, random, f);
  u[5] = solve_with(h, one, f);
  for (int64_t c = 0; c < cells; c++)
    twice[c] = 2.0 * u[1][c];
  CHECK_SAME(twice, u[0], cells);
  CHECK_SAME(u[4], u[2], cells);
  CHECK_SAME(u[5], u[0], cells);
  CHECK(field_distance(u[3], u[0], cells) > 0.0);
  CHECK(field_distance(u[2], u[0], cells) > 0.0);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 4x3", "--operator=fv2,7pt --beta=1", test_ones);
  fixture_each("4x1 4x2",
               "--operator=fv2,7pt --beta=1 --boundary=dirichlet --equation=poisson "
               "--precision=double,mixed walls=nnnnnn,dnnndd",
               test_ones);
  CHECK(levels_with_constants > 0);
  fixture_each("4x1", "--operator=fv2,fv4,7pt,27pt", test_built_in);
  fixture_each("3x2", "--operator=fv2 --equation=poisson --beta=1", test_one_face);
  fixture_each("3x2",
               "--operator=fv2 --equation=poisson --boundary=dirichlet --beta=1 walls=ndnnnd",
               test_one_face);
  fixture_each("3x3", "--operator=7pt --equation=poisson --beta=1", test_patches);
  fixture_each("5x2", "--operator=fv2,7pt --beta=1 --smoother=gsrb,chebyshev", test_bits);
  fixture_each("5x2",
               "--operator=fv2 --beta=1 --boundary=dirichlet --equation=poisson "
               "--precision=double,mixed --smoother=gsrb,jacobi walls=nndnnd,dnnndd,ppdnpp",
               test_bits);
  MG_IF_DOMAINS(fixture_each(
      "4x1", "--cells=47x36x33 --operator=fv2,7pt --beta=1 --boundary=dirichlet", test_bits));
  /* Large enough for fused sweeps on a device. The guard would take long. */
  fixture_guard = false;
  MG_IF_DOMAINS(
      fixture_each("4x1",
                   "--cells=112x80x64 --operator=7pt --boundary=dirichlet "
                   "--equation=poisson --precision=double,mixed --bottom=direct --rtol=1e-6",
                   test_again));
  return FIXTURE_END();
}
