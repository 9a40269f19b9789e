/* op_cpu_passes: a smooth that passes through the caches once (cpu/pass_smooth.c) is bit-identical
 * to single steps, with strips of any number of rows, also of more rows than the level has, and on
 * any number of threads. Covered: cycles, hence interpolated corrections and solutions, restricted
 * residuals and norms; steps of one color and of all cells, even and odd numbers of them; walls of
 * both kinds; fv4, also on rows split by color; grids that are not cubes; float cells; ghosts that
 * passes compute, at periodic sides and between ranks; measured sizes of strips. Several ranks have
 * one thread each.
 *
 * `op_cpu_passes ROWS`: strips of this number of rows only, on three threads. scripts/check.sh runs
 * it with ThreadSanitizer. With AddressSanitizer, strips have three rows. */
#include "backend/sweeps.h"
#include "cpu/pass.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "run/strip_size.h"
#include "tests/lib/fixture.h"

static int rows_of_strips, passes, only_rows, n_options;
static bool measures; /* the size of strips, before each solve */

static mg_status_t smooth_in_strips(const mg_view_t *v, const mg_sweep_t *sweep,
                                    const mg_resident_use_t *use) {
  passes++;
  return mg_cpu_smooth_in_strips(v, sweep, use, rows_of_strips);
}

/* With smooth betas, an error in the ghosts at edges of the domain would have no effect. */
static void set_rough_betas(const mg_level_t *level) {
  const int64_t n = mg_volume(mg_level_view(level)->n);
  for (int b = MG_BETA_I; b <= MG_BETA_K; b++) {
    double *beta = field_random(n, (uint64_t)b);
    for (int64_t c = 0; c < n; c++)
      beta[c] = 1.0 + 0.1 * beta[c];
    field_put(level, (mg_vector_t)b, beta);
  }
}

/* Three cycles or fewer: the norm after each, and the solution. */
typedef struct {
  mg_history_t history;
  uint64_t hash;
} result_t;

static result_t solve(const char *options, bool in_passes) {
  static mg_backend_t backend;
  static mg_backend_fused_t fused;
  const fixture_backend_t cpu = {"cpu", "--device=cpu"};
  mg_hierarchy_t *h = fixture_create(&cpu, 4, 1, options);
  if (!h->low) {
    set_rough_betas(&h->level[0]);
    MUST(mg_halo_betas(h, 0));
  }
  backend = mg_backend_cpu;
  fused = *mg_backend_cpu.fused;
  fused.smooth_resident = smooth_in_strips;
  backend.fused = &fused;
  /* On several ranks, only if each one's cells are a cuboid. */
  if (mg_comm_size(mg_comm_world()) == 1)
    CHECK_INT(mg_smooth_is_resident(h->low ? &h->low->level[0] : &h->level[0]), in_passes);
  for (int l = 0; l < h->n_levels && in_passes && !h->low; l++)
    h->level[l].backend = &backend;
  if (measures) {
    mg_strip_size_t sizes = {.n = 3, .size = {1, 100000, 1000000000}};
    MUST(mg_strip_size_measure(h, &sizes));
    CHECK(sizes.time[0] > 0.0 && sizes.time[1] > 0.0 && sizes.time[2] > 0.0);
  }
  result_t r = {.history = *fixture_solve(h)};
  r.hash = field_hash(field_get(&h->level[0], MG_U), mg_volume(mg_level_view(&h->level[0])->n));
  mg_hierarchy_free(h);
  return r;
}

static void check(const char *options, const result_t *want) {
  const result_t got = solve(options, true);
  CHECK(got.hash == want->hash);
  CHECK_INT(got.history.n_cycles, want->history.n_cycles);
  for (int c = 0; c < want->history.n_cycles; c++)
    CHECK(got.history.norm[c] == want->history.norm[c]);
}

static void test_options(const char *options) {
  static const int rows[] = {1, 2, 3, 5, 8, 1000};
  /* All ranks keep their cells on coarse levels too. */
  options = textf("%s --agglomerate-below=0 passes", options);
  const bool one_thread = mg_comm_size(mg_comm_world()) > 1 || !fixture_threads(3);
  const result_t want = solve(textf("%s --steps-per-pass=1", options), false);
  const int n_threads = one_thread ? 1 : only_rows ? 3 : 4;
  /* Any four successive options have all pairs of rows and threads. */
  n_options++;
  for (int r = 0; r < (only_rows ? 1 : (int)(sizeof rows / sizeof rows[0])); r++) {
    if (!fixture_threads(only_rows ? n_threads : 1 + (r + n_options) % n_threads)) continue;
    rows_of_strips = only_rows ? only_rows : rows[r];
    check(options, &want);
  }
  (void)fixture_threads(1);
  measures = true;
  check(options, &want);
  measures = false;
  fixture_release();
}

/* Of measured rates in MDOF/s, the largest size within 2 % of the best. */
static void test_choice(void) {
  static const struct {
    double rate[8];
    int n, chosen;
  } machines[] = {
      {{28, 32, 33, 35, 23, 19.5}, 6, 3}, /* Xeon with 2 MB of L2: 0.3, 0.6, 0.9, 1.5, 3, 8 MB */
      {{22.7, 25, 26.3, 27.8, 28.6, 28.6}, 6, 5}, /* EPYC with 16 MB of L3 per CPU: 0.5 to 16 MB */
      {{16.8, 20.6, 23, 23.8, 23.4, 21.8, 18}, 7, 4}, /* the same at 256^3: 0.4 to 48 MB */
      {{30}, 1, 0},
      {{30, 30.5, 30.2, 29.2}, 4, 2},
  };
  for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
    double seconds[8];
    for (int s = 0; s < machines[m].n; s++)
      seconds[s] = 1.0 / machines[m].rate[s];
    CHECK_INT(mg_strip_fastest(seconds, machines[m].n), machines[m].chosen);
  }
}

/* From 3/4 of the second-level cache on, at most about twice as large each time. */
static void test_sizes(void) {
  static const int64_t second_level[] = {0, 1 << 18, 1 << 19, 1 << 21, 1 << 24};
  for (int c = 0; c < 5; c++)
    for (int64_t most = 1 << 16; most <= 1 << 24; most *= 4) {
      int64_t size[MG_MAX_STRIP_SIZES];
      const int n = mg_strip_sizes(second_level[c], most, size);
      const int64_t least = (second_level[c] > 0 ? second_level[c] : 1 << 20) * 3 / 4;
      CHECK(n >= 1 && n <= MG_MAX_STRIP_SIZES && size[n - 1] == most);
      CHECK(n == 1 ? most < 2 * least : size[0] == least);
      for (int s = 1; s < n; s++)
        CHECK(size[s] > size[s - 1] && size[s] < 3 * size[s - 1]);
    }
}

int main(int argc, char **argv) {
  static const char *const options[] = {
      /* 32^3 cells and more: several threads */
      "boxes=2x2x2 --operator=fv2 --smoother=gsrb",
      "boxes=2x3x1 --operator=7pt --smoother=gsrb --smooths=1 --rtol=1e-4 --max-cycles=3",
      "boxes=1x2x3 --operator=fv2 --smoother=chebyshev --rtol=1e-9 --max-cycles=3 walls=nndnnd",
      "boxes=2x2x2 --operator=fv2 --smoother=chebyshev --smooths=1 --degree=3",
      "boxes=3x1x2 --operator=7pt --smoother=jacobi --smooths=5 walls=dndndn",
      "boxes=2x2x2 --operator=fv2 --smoother=gsrb --omega=1.15 --cycle=v --rtol=1e-3 "
      "--max-cycles=3",
      "boxes=2x2x2 --operator=fv4 --smoother=gsrb",
      "boxes=1x2x3 --operator=fv4 --smoother=gsrb --smooths=1 --rtol=1e-4 --max-cycles=3",
      "boxes=2x3x1 --operator=fv4 --smoother=gsrb --omega=1.15 --cycle=v --rtol=1e-3 "
      "--max-cycles=3",
      "boxes=2x1x3 --operator=fv4 --smoother=chebyshev --rtol=1e-9 --max-cycles=2",
      "boxes=1x2x2 --operator=fv4 --smoother=chebyshev --smooths=1 --degree=3",
      "boxes=1x3x2 --operator=fv4 --smoother=jacobi --smooths=5",
      /* float cells, with the rows of strips that the backend chooses */
      "boxes=2x2x2 --operator=fv2 --smoother=gsrb --precision=mixed --rtol=1e-8",
      "boxes=2x2x2 --operator=fv4 --smoother=gsrb --precision=mixed --rtol=1e-8",
      /* ghosts on all sides, or between ranks */
      "boxes=2x2x2 --operator=fv2 --smoother=gsrb --boundary=periodic --equation=helmholtz "
      "--rtol=1e-9 --max-cycles=2",
      "boxes=2x4x1 --operator=7pt --smoother=chebyshev --smooths=1 --degree=3 --boundary=periodic "
      "--equation=helmholtz",
      "boxes=2x2x2 --operator=fv2 --smoother=gsrb walls=ppndpp --rtol=1e-9 --max-cycles=2",
      "boxes=2x2x2 --operator=fv2 --smoother=gsrb walls=dnppdd --precision=mixed --rtol=1e-8",
      "boxes=2x4x1 --operator=7pt --smoother=chebyshev --smooths=1 --degree=3 walls=nnddpp",
      "boxes=2x2x2 --operator=fv4 --smoother=gsrb --boundary=periodic --equation=helmholtz "
      "--rtol=1e-9 --max-cycles=2",
      "boxes=1x2x3 --operator=fv4 --smoother=gsrb --smooths=1 --boundary=periodic "
      "--precision=mixed "
      "--rtol=1e-8",
      "boxes=2x2x2 --operator=fv4 --smoother=chebyshev --smooths=1 --degree=2 --boundary=periodic "
      "--equation=helmholtz",
  };
  fixture_begin(&argc, &argv);
#ifdef __SANITIZE_ADDRESS__
  only_rows = 3;
#endif
  if (argc > 1) only_rows = atoi(argv[1]);
  for (size_t o = 0; o < sizeof options / sizeof options[0]; o++)
    test_options(options[o]);
  CHECK(passes > 0);
  test_choice();
  test_sizes();
  return FIXTURE_END();
}
