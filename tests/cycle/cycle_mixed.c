/* cycle_mixed: solves with --precision=mixed. For every operator, boundary, equation and kind of
 * smoother, from F-cycles and from zero:
 *
 * - A tolerance of 1e-10 takes at most one cycle more than in double.
 * - After one F-cycle, the distance from the solution in double is within the bound that the
 * verdict uses: twice the difference between two solves that round differently.
 * - Results are bit-identical on every backend, for any number of threads and boxes, and if a
 *   solve is continued.
 * - Results of one F-cycle are bit-identical, too, also where the solution shares its memory with
 * float vectors. Values left in these vectors have no effect.
 *
 * The same holds for CG with --krylov=cg and for other bottom solvers. */
#include "level/ops.h"
#include "run/rounding.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "tests/lib/fixture.h"

static const char *case_options;

static mg_hierarchy_t *create(const char *backend, int log2_box_dim, int boxes, const char *more) {
  const fixture_backend_t *b = fixture_backends;
  while (strcmp(b->name, backend) != 0)
    b++;
  return fixture_create(b, log2_box_dim, boxes, textf("%s %s", case_options, more));
}

static void solve(mg_hierarchy_t *h, int top, mg_history_t *history) {
  double f_norm;
  MUST(mg_problem_restrict_rhs(h, top, &f_norm));
  MUST(mg_solve(h, top, f_norm, history));
}

static uint64_t hash_of(mg_hierarchy_t *h, const mg_history_t *history) {
  const int64_t cells = mg_volume(h->level[0].store.view.n);
  double *u = field_get(&h->level[0], MG_U);
  for (int c = 0; c < history->n_cycles; c++)
    u[c] += history->norm[c];
  return field_hash(u, cells);
}

static bool same(uint64_t got, uint64_t want, const char *what) {
  if (got != want) fprintf(stderr, "  %s: bits differ %s\n", case_options, what);
  return got == want;
}

/* Two cycles, then the others. CG would start with a new direction. */
static void test_continued(mg_hierarchy_t *h, int most, uint64_t want) {
  static mg_history_t history;
  double f_norm;
  if (h->params.krylov == MG_KRYLOV_CG) return;
  h->params.max_cycles = 2;
  solve(h, 0, &history);
  MUST(mg_max_norm(&h->level[0], MG_F, MG_NO_VECTOR, &f_norm));
  MUST(mg_comm_max(mg_comm_world(), &f_norm, 1));
  h->params.max_cycles = most;
  h->residual_level = -1; /* as after a restart */
  MUST(mg_solve_continue(h, 0, f_norm, NULL, &history));
  CHECK(same(hash_of(h, &history), want, "if continued"));
}

/* Solve to 1e-10 in both classes, and in mixed precision in other ways. The guard is slow.
 * @param n_guards  1 to 3 */
static void test_tolerance(int n_guards) {
  static mg_history_t d, m, other;
  const char *mixed = "--precision=mixed --rtol=1e-10 --max-cycles=60";
  mg_hierarchy_t *h = create("cpu", 4, 2, "--rtol=1e-10 --max-cycles=60");
  solve(h, 0, &d);
  mg_hierarchy_free(h);
  h = create("cpu", 4, 2, mixed);
  solve(h, 0, &m);
  const uint64_t want = hash_of(h, &m);
  if (!(d.converged && m.converged && m.n_cycles <= d.n_cycles + 1))
    fprintf(stderr, "  %s: %d cycles, %d in double\n", case_options, m.n_cycles, d.n_cycles);
  CHECK(d.converged && m.converged && m.n_cycles <= d.n_cycles + 1);
  test_continued(h, 60, want);
  mg_hierarchy_free(h);
  for (const fixture_backend_t *b = fixture_backends + 1; b->name; b++) {
    if (strncmp(b->name, "guard", 5) == 0 && b - fixture_backends > n_guards) continue;
    h = create(b->name, 4, 2, mixed);
    solve(h, 0, &other);
    CHECK(same(hash_of(h, &other), want, b->name));
    mg_hierarchy_free(h);
  }
  for (int threads = 2; threads <= 9 && fixture_threads(threads); threads += 7) {
    h = create("cpu", 5, 1, mixed);
    solve(h, 0, &other);
    CHECK(same(hash_of(h, &other), want, "with threads and one box"));
    mg_hierarchy_free(h);
  }
  (void)fixture_threads(1);
  fixture_release();
}

/* Overwrite the finest level's vectors that a solve from zero must not read. */
static void forget(mg_hierarchy_t *h) {
  static const mg_vector_t vectors[] = {MG_U, MG_F, MG_TMP, MG_PREVIOUS};
  MUST(mg_fill(&h->level[0], MG_U, NAN));
  for (int v = 0; v < 4; v++)
    if (h->low->level[0].plan->vectors & 1u << vectors[v])
      MUST(mg_fill(&h->low->level[0], vectors[v], NAN));
}

/* Solve again: after an earlier solve, without a graph, with the check of every level, and from
 * level 1, which leaves the finest solution as it is. */
static void test_repeated(mg_hierarchy_t *h, uint64_t want, const char *backend) {
  static mg_history_t history, other;
  int diverged = -1;
  forget(h);
  solve(h, 0, &history);
  CHECK(same(hash_of(h, &history), want, backend));
  solve(h, 0, &other);
  CHECK(same(hash_of(h, &other), want, "if repeated"));
  MUST(mg_graph_capture(h, 0));
  forget(h);
  solve(h, 0, &other);
  CHECK(same(hash_of(h, &other), want, "from a graph"));
  forget(h);
  MUST(mg_cycle_run(h, 0, MG_KIND_FIRST, NULL, &diverged));
  CHECK_INT(diverged, -1);
  CHECK(same(hash_of(h, &history), want, "with checks"));
  if (h->n_levels > 1) solve(h, 1, &other);
  CHECK(same(hash_of(h, &history), want, "after a solve of level 1"));
}

/* One F-cycle on all backends. */
static void test_one_cycle(void) {
  static mg_history_t history;
  mg_hierarchy_t *h = create("cpu", 4, 2, "--precision=mixed");
  solve(h, 0, &history);
  const uint64_t want = hash_of(h, &history);
  mg_hierarchy_free(h);
  for (const fixture_backend_t *b = fixture_backends; b->name; b++) {
    h = create(b->name, 4, 2, "--precision=mixed");
    test_repeated(h, want, b->name);
    mg_hierarchy_free(h);
  }
  fixture_release();
}

/* One cycle from level 1, where two solves that round differently are compared cell by cell. */
static void test_rounding(void) {
  static mg_history_t history;
  mg_hierarchy_t *h = create("cpu", 5, 2, "");
  const int64_t cells = mg_volume(h->level[1].store.view.n);
  double f_norm, difference, before;
  solve(h, 1, &history);
  const double *in_double = field_get(&h->level[1], MG_U);
  mg_hierarchy_free(h);
  h = create("cpu", 5, 2, "--precision=mixed");
  MUST(mg_problem_restrict_rhs(h, 1, &f_norm));
  MUST(mg_solve(h, 1, f_norm, &history));
  const double *u = field_get(&h->level[1], MG_U);
  MUST(mg_rounding_measure(h, 1, 1, f_norm, &difference));
  const double distance = field_distance(u, in_double, cells);
  if (!(distance <= 2.0 * difference))
    fprintf(stderr, "  %s: distance %g, difference %g\n", case_options, distance, difference);
  CHECK(distance <= 2.0 * difference);
  /* An F-cycle reduces the float rounding of the coarse levels: it stays below the rounding of u
   * itself to float. */
  CHECK(difference > 0.0);
  if (h->params.cycle == MG_CYCLE_F) CHECK(difference <= 0x1p-24 * field_norm(u, cells));
  /* The measurement leaves u as it was. */
  before = field_distance(u, field_get(&h->level[1], MG_U), cells);
  CHECK(before == 0.0);
  mg_hierarchy_free(h);
  fixture_release();
}

int main(int argc, char **argv) {
  static const char *const operators[] = {"fv2", "fv4", "7pt"};
  static const char *const boundaries[] = {"dirichlet", "periodic"};
  static const char *const smoothers[] = {"gsrb",     "chebyshev", "jacobi",
                                          "l1jacobi", "symgs",     "ssor"};
  fixture_begin(&argc, &argv);
  for (int op = 0; op < 3; op++)
    for (int b = 0; b < 2; b++)
      for (int s = 0; s < 6; s++) {
        const char *options = textf("--operator=%s --boundary=%s --smoother=%s", operators[op],
                                    boundaries[b], smoothers[s]);
        const bool helmholtz = (op + b + s) % 2 == 1;
        case_options = textf("%s --equation=%s --cycle=%s", options,
                             helmholtz ? "helmholtz" : "poisson", s % 3 == 2 ? "v" : "f");
        test_tolerance(s == 0 ? 3 : 1);
        if (s < 3) test_one_cycle();
        case_options = options;
        if (s < 2) test_rounding();
      }
  case_options = "--bottom=direct --operator=7pt";
  test_tolerance(1);
  case_options = "--bottom=smoother --coarsest=8";
  test_tolerance(1);
  case_options = "--krylov=cg --operator=7pt --smoother=symgs";
  test_tolerance(1);
  case_options = "--coarsest=16"; /* as many levels as double ones, or fewer */
  test_tolerance(1);
  case_options = "--coarsest=32 --bottom=bicgstab";
  test_tolerance(1);
  return FIXTURE_END();
}
