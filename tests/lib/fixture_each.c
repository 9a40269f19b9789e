/* Backends of the test fixture, its begin and end, and loops over backends, grids and options. */
#include "base/log.h"
#include "device/device_select.h"
#include "tests/guard/guard.h"
#include "tests/lib/fixture.h"
#include "wings.h"

/* The guard stands for a GPU with these wings. */
#define IF_GUARD(...) MG_IF_DOMAINS(MG_IF_FUSED(MG_IF_RESIDENT(MG_IF_MIXED(__VA_ARGS__))))
enum { FIRST_GUARD = 1, N_GUARDS = 0 IF_GUARD(+3), FIRST_CUDA = FIRST_GUARD + N_GUARDS };
fixture_backend_t fixture_backends[] = {
    {"cpu", "--device=cpu"},
    IF_GUARD({"guard", "--device=guard"}, {"guard and cpu", "--device=guard --cpu-below=4096"},
             {"guard and cpu, shared", "--device=guard --cpu-below=4096 --memory=unified"}, ){
        "cuda", "--device=cuda --cpu-below=0"},
    {"cuda-simple", "--device=cuda-simple --cpu-below=0"},
    {"cuda and cpu", "--device=cuda --cpu-below=4096"},
    {"cuda and cpu, unified", "--device=cuda --cpu-below=4096 --memory=unified"},
    {NULL, NULL},
};

void fixture_begin(int *argc, char ***argv) {
  IF_GUARD(guard_provide());
  MUST(mg_comm_init(argc, argv));
  mg_log_setup(mg_comm_rank(mg_comm_world()), mg_comm_size(mg_comm_world()), MG_LOG_QUIET);
  if (mg_device_count() > 0) return;
  fixture_backends[FIRST_CUDA].name = NULL;
  if (mg_comm_is_root()) printf("no CUDA device: only the backends on the CPU run\n");
}

void fixture_finalize(void) {
  fixture_release();
  mg_device_close();
  mg_comm_finalize();
}

bool fixture_guard = true;
static const char *current_case;

bool fixture_explain(double got, double want) {
  fprintf(stderr, "  %s\n  got  %.17g\n  want %.17g\n", current_case, got, want);
  return false;
}

static bool is_guard(const fixture_backend_t *backend) {
  return strncmp(backend->name, "guard", 5) == 0;
}

bool fixture_runs(const fixture_backend_t *backend, int n) {
  if (!is_guard(backend) || mg_comm_size(mg_comm_world()) == 1) return true;
  return backend == &fixture_backends[FIRST_GUARD + n % (N_GUARDS + !N_GUARDS)];
}

/* Whether a backend runs only half of the combinations. */
static bool runs_half(const fixture_backend_t *backend) {
  if (strncmp(backend->name, "cuda", 4) == 0) return false;
#ifdef __SANITIZE_ADDRESS__
  return true;
#else
  return is_guard(backend) || mg_comm_size(mg_comm_world()) > 1;
#endif
}

static void each_grid(const char *grids, const char *options, bool only_whole,
                      void (*test)(mg_hierarchy_t *h)) {
  const char *only = getenv("FIXTURE_BACKEND");
  int log2_box_dim, boxes, used;
  for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++) {
    if (only && strcmp(only, backend->name) != 0) continue;
    if (!fixture_guard && is_guard(backend)) continue;
    if (only_whole && runs_half(backend)) continue;
    for (const char *at = grids; sscanf(at, "%dx%d%n", &log2_box_dim, &boxes, &used) == 2;
         at += used) {
      current_case = textf("%s: %d boxes per side, of 2^%d cells: %s", backend->name, boxes,
                           log2_box_dim, options);
      mg_hierarchy_t *h = fixture_create(backend, log2_box_dim, boxes, options);
      test(h);
      mg_hierarchy_free(h);
      fixture_release();
    }
  }
}

/* Split the first list of values in the options. `lists` have been split, into values whose numbers
 * have this sum. */
static void each_value(const char *grids, const char *options, int lists, int sum,
                       void (*test)(mg_hierarchy_t *h)) {
  const char *first = strchr(options, ',');
  if (!first) {
    /* With three lists, an even sum occurs with each pair of values. */
    each_grid(grids, options, lists >= 3 && sum % 2 == 1, test);
    return;
  }
  while (first[-1] != '=')
    first--;
  const char *end = first + strcspn(first, " ");
  for (const char *value = first; value < end; value += strcspn(value, ", ") + 1)
    each_value(
        grids,
        textf("%.*s%.*s%s", (int)(first - options), options, (int)strcspn(value, ", "), value, end),
        lists + 1, sum++, test);
}

void fixture_each(const char *grids, const char *options, void (*test)(mg_hierarchy_t *h)) {
  static const char *const defaults[] = {"--operator=fv2,fv4,7pt", "--boundary=dirichlet,periodic",
                                         "--equation=poisson,helmholtz", "--smoother=gsrb"};
  for (int d = 0; d < 4; d++) {
    const char *name = textf("%.*s", (int)strcspn(defaults[d], "=") + 1, defaults[d]);
    if (!strstr(options, name)) options = textf("%s %s", options, defaults[d]);
  }
  each_value(grids, options, 0, 0, test);
}

void fixture_each_any_size(const char *options, void (*test)(mg_hierarchy_t *h)) {
  static const char *const shapes[] = {
      "walls=nndnnd",         "walls=ppdndn",
      "wide=k walls=ddnddn",  "wide=i",
      "wide=j walls=ppdddd",  "wide=ij walls=nndnnd",
      "--stretch=x:tanh:1.7", "--stretch=y:tanh:1.7",
      "--stretch=z:tanh:1.5",
  };
  /* For a device, levels with fused sweeps; for others, coarse patches of 3 ranks that are halves
   * of the fine ones, and as wide as their ghosts. */
  const int64_t ranks = mg_comm_size(mg_comm_world());
  const char *backend = getenv("FIXTURE_BACKEND"), *spread = "";
  int64_t cells = ranks > 1 ? 30000 : 2000;
  if (backend && strcmp(backend, "cuda") == 0)
    cells = ranks MG_IF_FUSED(*mg_path_cuda_fused.limits.min_cells);
  else if (ranks > 1)
    spread = "--agglomerate-below=0";
  int n = 1;
  while ((int64_t)(n + 2) * n * n < cells)
    n += 2;
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    const bool periodic = strstr(shapes[s], "walls=pp") != NULL;
    fixture_each("4x1",
                 textf("--boundary=dirichlet --cells=%dx%dx%d %s %s %s", periodic ? n + 1 : n,
                       n + 2, n, shapes[s], spread, options),
                 test);
  }
}

void fixture_each_fusing(void (*run)(const char *backend)) {
  static const char *const names[] = {"guard", "cuda"};
  const char *only = getenv("FIXTURE_BACKEND");
  if (only) {
    run(only);
    return;
  }
  for (int b = 0; b < 1 + (mg_device_count() > 0); b++) {
    setenv("FIXTURE_BACKEND", names[b], 1);
    run(names[b]);
  }
}
