/* op_alpha: variable alpha. With alpha = 1 in every cell, a solve is bit-identical to the
 * Helmholtz equation. With random alpha, A x minus the Poisson A x equals alpha x, and the
 * diagonals differ by alpha, up to rounding. Coarse alphas are means of 8 children. A solve is
 * bit-identical on every backend and for any number of threads and boxes. On devices this
 * includes levels large enough for the kernels of large levels. */
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include <float.h>

enum { LOG2 = 4, N = 32, LARGE = 64 };

static uint64_t solve(mg_hierarchy_t *h) {
  const int64_t cells = mg_volume(mg_level_view(&h->level[0])->n);
  const mg_history_t *history = fixture_solve(h);
  double *u = field_get(&h->level[0], MG_U);
  for (int c = 0; c < history->n_cycles; c++)
    u[c] += history->norm[c];
  const uint64_t hash = field_hash(u, cells);
  CHECK(history->norm[history->n_cycles - 1] < 0.1 * history->norm[0]);
  mg_hierarchy_free(h);
  return hash;
}

/* Between 0 and 2 h^-2: as large as the contribution of the betas to the diagonal. */
static double *some_alpha(int n) {
  double *alpha = field_random((int64_t)n * n * n, 7);
  for (int c = 0; c < n * n * n; c++)
    alpha[c] = (alpha[c] + 1.0) * n * n;
  return alpha;
}

static const char *options_of(const char *problem, const char *smoother) {
  return textf("%s --equation=helmholtz --smoother=%s --rtol=1e-30 --max-cycles=3", problem,
               smoother);
}

static void test_one(const fixture_backend_t *backend, const char *problem) {
  static const char *const smoothers[] = {"gsrb", "chebyshev", "jacobi", "l1jacobi"};
  const double *one = field_constant(N * N * N, 1.0);
  for (int s = 0; s < 4; s++) {
    const char *options = options_of(problem, smoothers[s]);
    const uint64_t want = solve(fixture_create(backend, LOG2, N >> LOG2, options));
    CHECK(solve(fixture_create_varying(backend, LOG2, N >> LOG2, options, one)) == want);
  }
}

/* Apply both operators to the same x. Compare alpha with their difference and with that of their
 * diagonals. */
static void test_terms(const fixture_backend_t *backend, const char *problem) {
  const double *alpha = some_alpha(N), *x = field_random(N * N * N, 1);
  mg_hierarchy_t *h = fixture_create(backend, LOG2, N >> LOG2, problem);
  mg_hierarchy_t *v = fixture_create_varying(backend, LOG2, N >> LOG2,
                                             textf("%s --equation=helmholtz", problem), alpha);
  field_put(&h->level[0], MG_U, x);
  field_put(&v->level[0], MG_U, x);
  MUST(mg_residual(&h->level[0], MG_TMP, MG_U, -1));
  MUST(mg_residual(&v->level[0], MG_TMP, MG_U, -1));
  const double *without = field_get(&h->level[0], MG_TMP), *with = field_get(&v->level[0], MG_TMP);
  /* Terms of A x are at most 24 beta n^2; beta is at most 10 (7pt). */
  const double rounding = 64.0 * DBL_EPSILON * 240.0 * N * N;
  double worst = 0.0, worst_diagonal = 0.0;
  for (int c = 0; c < N * N * N; c++)
    worst = fmax(worst, fabs(with[c] - without[c] - alpha[c] * x[c]));
  CHECK(worst < rounding);
  without = field_get(&h->level[0], MG_DINV);
  with = field_get(&v->level[0], MG_DINV);
  for (int c = 0; c < N * N * N; c++)
    worst_diagonal = fmax(worst_diagonal, fabs(1.0 / with[c] - 1.0 / without[c] - alpha[c]));
  CHECK(worst_diagonal < rounding);
  /* alpha of the next level */
  const double *coarse = field_get(&v->level[1], MG_ALPHA);
  double worst_mean = 0.0;
  EACH_CELL(at, mg_level_view(&v->level[1])->n) {
    worst_mean =
        fmax(worst_mean, fabs(*coarse++ - field_mean8(alpha, mg_level_view(&v->level[0])->n, at)));
  }
  CHECK(worst_mean < 16.0 * DBL_EPSILON * 2.0 * N * N);
  mg_hierarchy_free(h);
  mg_hierarchy_free(v);
}

static const char *const smoothers_of_both_kinds[] = {"gsrb", "chebyshev"};

static void test_parity(const fixture_backend_t *backend, const char *problem) {
  uint64_t want = 0;
  double *alpha = some_alpha(N);
  for (int s = 0; s < 2; s++)
    for (int threads = 1; threads <= 3; threads += 2) {
      if ((threads > 1 && backend != fixture_backends) || !fixture_threads(threads)) continue;
      const char *options = options_of(problem, smoothers_of_both_kinds[s]);
      if (threads == 1)
        want = solve(fixture_create_varying(fixture_backends, 5, 1, options, alpha));
      CHECK(solve(fixture_create_varying(backend, LOG2, N >> LOG2, options, alpha)) == want);
    }
  MUST(fixture_threads(1) ? MG_OK : MG_ERR_INTERNAL);
}

static void test_large(const fixture_backend_t *backend, const char *problem) {
  if (strncmp(backend->name, "cuda", 4) != 0) return;
  double *alpha = some_alpha(LARGE);
  for (int s = 0; s < 2; s++) {
    const char *options = options_of(problem, smoothers_of_both_kinds[s]);
    const uint64_t want = solve(fixture_create_varying(fixture_backends, 6, 1, options, alpha));
    CHECK(solve(fixture_create_varying(backend, 6, 1, options, alpha)) == want);
  }
}

int main(int argc, char **argv) {
  static const char *const problems[] = {"--operator=fv2", "--operator=fv2 --boundary=periodic",
                                         "--operator=7pt", "--operator=7pt --boundary=periodic",
                                         "--operator=fv4", "--operator=fv4 --boundary=periodic"};
  fixture_begin(&argc, &argv);
  for (int p = 0; p < 6; p++)
    for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++) {
      const int before = test_n_failures;
      test_one(backend, problems[p]);
      test_terms(backend, problems[p]);
      test_parity(backend, problems[p]);
      test_large(backend, problems[p]);
      fixture_release();
      if (test_n_failures > before) fprintf(stderr, "on %s: %s\n", backend->name, problems[p]);
    }
  return FIXTURE_END();
}
