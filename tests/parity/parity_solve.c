/* parity_solve: a solve is bit-identical on every backend, for any number of threads and any
 * division of the grid into boxes. Runs one F-cycle and two V-cycles for every operator,
 * boundary and smoother, the same with Neumann walls, and four cycles with CG; some on a grid of
 * any size. With the argument "print" it prints the results instead, for comparison across rank
 * counts. */
#include "device/device_select.h"
#include "level/ops.h"
#include "tests/lib/fixture.h"

/* A dot product and a mean of random numbers, whose rounding depends on the summation order. */
static void sums(mg_level_t *level, double sum[2]) {
  const int64_t cells = mg_volume(level->store.view.n);
  field_put(level, MG_U, field_random(cells, 1));
  field_put(level, MG_TMP, field_random(cells, 2));
  MUST(mg_dot(level, MG_U, MG_TMP, &sum[0]));
  MUST(mg_mean(level, MG_U, &sum[1]));
}

/* Hash of the sums, the solution and all norms of a solve; valid on rank 0 only. */
static uint64_t solve(mg_hierarchy_t *h) {
  const int n = h->level[0].store.view.n[0];
  const int64_t cells = mg_volume(h->level[0].store.view.n);
  double sum[2];
  sums(&h->level[0], sum);
  const mg_history_t *history = fixture_solve(h);
  double *u = field_get(&h->level[0], MG_U);
  u[0] += (double)history->n_cycles;
  memcpy(u + n * n, sum, sizeof sum);
  for (int c = 0; c < history->n_cycles; c++)
    u[c + 1] += history->norm[c];
  const uint64_t hash = field_hash(u, cells);
  fixture_release();
  return hash;
}

typedef struct {
  int log2_box_dim, boxes; /* per side */
} grid_t;

/* The same grid in one box and in 8. At 64^3 the CPU computes the 7-point diagonal. */
static const grid_t cuts[][2] = {{{5, 1}, {4, 2}}, {{6, 1}, {5, 2}}};

static void check(const fixture_backend_t *backend, grid_t grid, const char *options, int threads,
                  uint64_t want) {
  if (!fixture_threads(threads)) return;
  mg_hierarchy_t *h = fixture_create(backend, grid.log2_box_dim, grid.boxes, options);
  const uint64_t got = solve(h);
  mg_hierarchy_free(h);
  if (got == want) {
    CHECK(true);
    return;
  }
  fprintf(stderr, "%s, %d threads, %d boxes per side of 2^%d cells:%s\n", backend->name, threads,
          grid.boxes, grid.log2_box_dim, options);
  CHECK(got == want);
}

static void test_case(const char *options, const grid_t cut[2]) {
  MUST(fixture_threads(1) ? MG_OK : MG_ERR_INTERNAL);
  mg_hierarchy_t *h = fixture_create(&fixture_backends[0], cut[0].log2_box_dim, 1, options);
  const uint64_t want = solve(h);
  mg_hierarchy_free(h);
  for (const fixture_backend_t *backend = fixture_backends + 1; backend->name; backend++)
    check(backend, cut[1], options, 1, want);
  /* 9 threads divide 32 planes by rows. */
  for (int threads = 1; threads <= 9; threads *= 3)
    check(&fixture_backends[0], cut[1], options, threads, want);
  check(&fixture_backends[0], cut[0], options, 2, want);
}

static void print_case(const char *options, grid_t grid) {
  mg_hierarchy_t *h = fixture_create(&fixture_backends[0], grid.log2_box_dim, grid.boxes, options);
  const uint64_t hash = solve(h);
  if (mg_comm_is_root())
    printf("%d boxes per side of 2^%d:%s: %016llx\n", grid.boxes, grid.log2_box_dim, options,
           (unsigned long long)hash);
  mg_hierarchy_free(h);
}

static bool print;

static void run_case(const char *options) {
  if (print)
    print_case(options, (grid_t){4, 3});
  else
    test_case(options, cuts[0]);
}

static const char *const operators[] = {"fv2", "fv4", "7pt"};
static const char *const boundaries[] = {"dirichlet", "periodic"};
static const char *const smoothers[] = {"gsrb", "chebyshev", "jacobi", "l1jacobi", "symgs", "ssor"};

int main(int argc, char **argv) {
  print = argc > 1 && strcmp(argv[1], "print") == 0;
  fixture_begin(&argc, &argv);
  for (int c = 0; c < 3 * 2 * 6; c++) {
    const int smoother = c / 6;
    const char *options =
        textf(" --operator=%s --boundary=%s --smoother=%s --rtol=1e-30 --max-cycles=3",
              operators[c % 3], boundaries[c / 3 % 2], smoothers[smoother]);
    /* Alternate between 27 and 8 boxes, over operators and over smoothers. */
    if (print)
      print_case(options, (grid_t){4, 2 + (c + c / 6) % 2});
    else
      run_case(options);
    /* Chebyshev and gsrb cover both kinds of step: into another vector and in place. Without a
     * device, with one of the boundaries each. */
    const bool all = mg_device_count() > 0 || (c % 3 + c / 3) % 2 == 0;
    if (!print && smoother < 2 && all) test_case(options, cuts[1]);
  }
  /* 27pt, which uses no fast path. */
  for (int c = 0; c < 2; c++)
    run_case(textf(" --operator=27pt --boundary=%s --smoother=%s --rtol=1e-30 --max-cycles=3",
                   boundaries[c], smoothers[c]));
  /* Neumann walls. */
  for (int c = 0; c < 2 * 2; c++)
    run_case(textf(" --operator=%s --smoother=gsrb --rtol=1e-30 --max-cycles=3 walls=%s",
                   c % 2 == 0 ? "fv2" : "7pt", c < 2 ? "nnnnnn" : "dnndnd"));
  /* CG around the cycles. */
  for (int c = 0; c < 3 * 2; c++)
    run_case(textf(" --operator=%s --boundary=%s --smoother=symgs --krylov=cg --cycle=%s "
                   "--rtol=1e-30 --max-cycles=4",
                   operators[c % 3], boundaries[c / 3], c % 2 == 0 ? "f" : "v"));
  /* K-cycles: CG steps on two levels, of grids with and without levels that have cells alone. */
  for (int c = 0; c < 2 * 2; c++)
    run_case(textf(" --operator=%s --smoother=chebyshev4 --krylov=kcycle --rtol=1e-30 "
                   "--max-cycles=3 %s",
                   c % 2 == 0 ? "fv2" : "7pt",
                   c < 2 ? "--cells=64x48x32 --boundary=periodic" : "--cells=61x50x30"));
  /* Grids of any size, whose sums have no bricks. */
  for (int c = 0; c < 2 * 2; c++)
    run_case(textf(" --cells=45x38x22 --boundary=%s --operator=%s --rtol=1e-30 --max-cycles=3 %s",
                   c < 2 ? "neumann" : "periodic", c % 2 == 0 ? "fv2" : "7pt",
                   c % 2 == 0 ? "" : "--smoother=symgs --krylov=cg"));
  /* Orders of wall formulas that differ between axes: on all levels, or from the third one on. */
  run_case(" --cells=14x1x45 --boundary=dirichlet --rtol=1e-30 --max-cycles=3");
  run_case(
      " --cells=20x3x44 --boundary=dirichlet --smoother=chebyshev --rtol=1e-30 --max-cycles=3");
  if (!print) return FIXTURE_END();
  fixture_finalize();
  return 0;
}
