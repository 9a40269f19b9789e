/* cycle_shape: solves on grids of 24 x 16 x 40 cells, with three widths in the unit cube, converge,
 * with order 2 for a known solution, on every backend to the same bits. A dump holds beta and
 * restores u. */
#include "formulas/coefficients.h"
#include "io/dump.h"
#include "io/hdf5/h5.h"
#include "io/restart.h"
#include "level/ops.h"
#include "solver/domain.h"
#include "tests/lib/shape.h"
#include <float.h>
#include <unistd.h>

static const double pi = MG_TEST_PI;

/* --- solves ---------------------------------------------------------------------------- */

/* u = sin(pi x) sin(pi y) sin(pi z) solves the problem with beta = 1 and f = (a + 3 pi^2) u. */
static void fill_u(const mg_view_t *v, double factor, double *u) {
  EACH_CELL(at, v->n) {
    *u = factor;
    for (int d = 0; d < 3; d++)
      *u *= sin(pi * (at[d] + 0.5) / v->n[d]);
    u++;
  }
}

static mg_status_t load(void *data, mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  const mg_view_t *v = &level->store.view;
  double *f = field_new(mg_volume(v->n));
  (void)data;
  fill_u(v, v->a + 3.0 * pi * pi, f);
  field_put(level, MG_F, f);
  for (int d = 0; d < 3; d++)
    MUST(mg_fill(level, MG_BETA_I + d, 1.0));
  return MG_OK;
}

static const mg_problem_source_t sine = {.load = load};

/* Error of the solution if `source` is the sine problem. */
static double solve(const fixture_backend_t *backend, int log2_box_dim, const char *options,
                    const mg_problem_source_t *source, uint64_t *hash) {
  mg_hierarchy_t *h = fixture_create_from(backend, log2_box_dim, 1, options, source);
  const mg_view_t *v = &h->level[0].store.view;
  double *exact = field_new(mg_volume(v->n));
  CHECK(fixture_solve(h)->converged);
  const double *u = field_get(&h->level[0], MG_U);
  fill_u(v, 1.0, exact);
  const double error = field_distance(u, exact, mg_volume(v->n));
  *hash = field_hash(u, mg_volume(v->n));
  mg_hierarchy_free(h);
  return error;
}

/* As in op_neumann: an error C h^2 (1 + pi h), with the largest width. */
static void test_order(const char *smoother) {
  uint64_t hash;
  const char *options =
      textf("--operator=fv2 --rtol=1e-6 --max-cycles=200 --smoother=%s boxes=3x2x5", smoother);
  const double coarse = solve(fixture_backends, 3, options, &sine, &hash),
               fine = solve(fixture_backends, 4, options, &sine, &hash);
  const double h = 1.0 / 32.0, bound = log2((1.0 + 2.0 * pi * h) / (1.0 + pi * h));
  CHECK_NEAR(log2(coarse / fine), 2.0, bound);
}

/* The built-in problems converge, on every backend to the same bits: 7pt with CG, because its
 * V-cycle with P0 alone diverges if the widths of the cells differ. */
static void test_parity(void) {
  static const char *const operators[] = {"fv2", "fv4", "7pt"},
                           *const smoothers[] = {"gsrb", "chebyshev"},
                           *const boundaries[] = {"dirichlet", "periodic"};
  for (int c = 0; c < 12; c++) {
    uint64_t want, hash;
    const char *options = textf(
        "--operator=%s --smoother=%s --boundary=%s --rtol=1e-3 --max-cycles=200 %s boxes=3x2x5",
        operators[c % 3], smoothers[c / 3 % 2], boundaries[c / 6], c % 3 == 2 ? "--krylov=cg" : "");
    (void)solve(fixture_backends, 3, options, NULL, &want);
    for (const fixture_backend_t *b = fixture_backends + 1; b->name; b++) {
      if (!fixture_runs(b, c + c / 3)) continue;
      (void)solve(b, 3, options, NULL, &hash);
      CHECK(hash == want);
    }
  }
}

/* --- dump and restart ------------------------------------------------------------------ */

/* The file has beta itself, not the stored value with its metric factor, in planes of k. */
static void check_beta(const char *path, const mg_view_t *v, int d) {
  static const char *const names[3] = {"/VTKHDF/CellData/beta_i", "/VTKHDF/CellData/beta_j",
                                       "/VTKHDF/CellData/beta_k"};
  double *beta = field_new(mg_volume(v->n)), worst = 0.0;
  mg_h5_t *file;
  mg_h5_data_t data;
  MUST(mg_h5_open("dump", path, true, &file));
  MUST(mg_h5_data_open(file, names[d], MG_H5_DOUBLE, 3, v->n, &data));
  MUST(mg_h5_read_planes(file, &data, 0, v->n[2], beta));
  MUST(mg_h5_data_close(file, &data));
  MUST(mg_h5_close(file));
  int64_t c = 0;
  EACH_CELL(at, v->n) {
    worst = worst_of(worst, fabs(beta[c++] - beta_at(v, d, at)));
  }
  CHECK_CASE(worst <= 64.0 * DBL_EPSILON * 10.0, worst, 0.0);
}

static void test_restart(mg_hierarchy_t *h) {
  static mg_history_t history;
  static mg_restart_t restart;
  mg_level_t *level = &h->level[0];
  const mg_view_t *v = &level->store.view;
  double f_norm;
  mg_dump_stats_t stats = {0};
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  MUST(mg_solve(h, 0, f_norm, &history));
  const double *before = field_get(level, MG_U);
  const mg_dump_about_t about = {
      .command_line = "op_shape", .threads = 1, .history = &history, .f_norm = f_norm};
  MUST(mg_dump_write(h, h->params.dump, &about, &stats));
  for (int d = 0; d < 3 && mg_comm_is_root(); d++)
    check_beta(h->params.dump, v, d);
  MUST(mg_fill(level, MG_U, 0.0));
  memcpy(h->params.restart, h->params.dump, sizeof h->params.restart);
  MUST(mg_restart_open(&h->params, &h->plan, &restart));
  MUST(mg_restart_load(h, &restart));
  const double *after = field_get(level, MG_U);
  CHECK_SAME(before, after, mg_volume(v->n));
}

/* Restarts require boxes of 16^3 cells or more. */
static void test_restarts(void) {
  char path[256];
  const char *folder = getenv("TMPDIR");
  if (!mg_h5_available()) return;
  snprintf(path, sizeof path, "%.200s/op_shape.%ld.hdf", folder ? folder : "/tmp", (long)getpid());
  MUST(mg_comm_broadcast(mg_comm_world(), path, sizeof path));
  fixture_each("4x1",
               textf("--boundary=dirichlet --equation=poisson --rtol=0.5 --dump=%s "
                     "--dump-fields=all --dump-levels=all boxes=3x2x5",
                     path),
               test_restart);
  if (!mg_comm_is_root()) return;
  (void)remove(path);
  (void)remove(textf("%s.xdmf", path));
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  test_order("gsrb");
  test_order("chebyshev");
  test_parity();
  test_restarts();
  return FIXTURE_END();
}
