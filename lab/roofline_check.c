/* Checks of the solver's kernels: the same operation on the same numbers by the CPU backend, one
 * operation at a time and, where the kernel is the CPU's own, in one thread. Results must be
 * bit-identical. */
#include "backend/sweeps.h"
#include "base/log.h"
#include "formulas/index.h"
#include "lab/roofline.h"
#include "level/ops.h"
#include "level/smooth.h"
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

_Static_assert(MG_U == 0, "kernels that are not listed leave their result in MG_U of level 0");
const roofline_output_t roofline_output[N_ROOFLINE] = {
    [ROOFLINE_RESIDUAL] = {0, MG_TMP, 0},
    [ROOFLINE_RESIDUAL_NORM] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_RESTRICTS_RESIDUAL] = {1, MG_F, 0},
    [ROOFLINE_RESTRICTS] = {1, MG_F, 0},
    [ROOFLINE_AXPBY] = {0, MG_TMP, 0},
    [ROOFLINE_MULTIPLIES] = {0, MG_TMP, 0},
    [ROOFLINE_SHIFTS] = {0, MG_TMP, 0},
    [ROOFLINE_SCALES] = {0, MG_TMP, 0},
    [ROOFLINE_FILLS] = {0, MG_TMP, 0},
    [ROOFLINE_MAX_NORM] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_DIFFERENCE] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_DOT] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_SMOOTHS_RESTRICTS] = {1, MG_F, 0, .smooths = true},
    [ROOFLINE_SMOOTHS_NORM] = {0, ROOFLINE_NUMBER, 0, .smooths = true},
    [ROOFLINE_HALO] = {0, MG_U, 1},
    [ROOFLINE_LOWERS] = {0, MG_F, 1, .low = true},
    [ROOFLINE_LOWERS_RESIDUAL] = {0, MG_F, 0, .low = true},
    [ROOFLINE_LOWERS_RESIDUAL_NORM] = {0, MG_F, 0, .low = true},
    [ROOFLINE_LOWERS_GUESS] = {0, MG_F, 0, .low = true},
};

/* A running check. `twin` has the same levels 0 and 1 on the CPU. */
typedef struct {
  const roofline_place_t *place;
  mg_hierarchy_t *h, *twin;
  roofline_kind_t kind;
  roofline_fn run;
} check_t;

mg_status_t roofline_wait(const mg_level_t *level) {
  return level->backend->queue.wait ? level->backend->queue.wait() : MG_OK;
}

/* Use the CPU's table without the entries that fuse two operations. */
static void compose(mg_hierarchy_t *twin) {
  static mg_backend_t composed[2];
  static mg_backend_fused_t fused[2];
  for (int l = 0; l < twin->n_levels; l++) {
    mg_level_t *level = &twin->level[l];
    mg_backend_t *table = &composed[level->backend->value_bytes == sizeof(float)];
    *table = *level->backend;
    if (table->fused) {
      mg_backend_fused_t *const own = &fused[table == &composed[1]];
      *own = *table->fused;
      own->residual_norm = NULL;
      own->residual_restrict = NULL;
      table->fused = own;
    }
    level->backend = table;
  }
  if (twin->low) compose(twin->low);
}

mg_status_t roofline_twin_create(const mg_hierarchy_t *h, mg_hierarchy_t **twin) {
  static mg_plan_t plan;
  plan = h->plan;
  plan.n_levels = 2;
  if (plan.n_outer > plan.n_levels) plan.n_outer = plan.n_levels;
  for (int l = 0; l < 2; l++) {
    plan.level[l].place = plan.outer[l].place = MG_PLACE_CPU;
    plan.level[l].shared = plan.outer[l].shared = false;
    plan.level[l].guess = plan.outer[l].guess = NULL; /* a CPU stores guesses */
  }
  MG_TRY(mg_hierarchy_create(&h->params, &plan, NULL, twin));
  compose(*twin);
  mg_level_t *smoothed = (*twin)->low ? &(*twin)->low->level[0] : &(*twin)->level[0];
  return mg_smoother_set(smoothed, &h->params, mg_hierarchy_of_cycles(h)->level[0].lambda_max,
                         false);
}

/* Values of a vector from its first ghost to its last. */
typedef struct {
  char *first;
  int64_t n;
  int64_t origin;  /* index of cell (0, 0, 0) */
  int value_bytes; /* 8: double; 4: float */
} values_t;

static values_t values_of(const mg_level_t *level, mg_vector_t vec) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[0];
  const int g = v->ghost_layers, bytes = level->store.value_bytes;
  const int64_t origin = g * (1 + p->jstride + p->kstride);
  const int64_t last =
      (p->n[0] - 1 + g) + (p->n[1] - 1 + g) * p->jstride + (p->n[2] - 1 + g) * p->kstride;
  return (values_t){(char *)p->vec[vec] - origin * bytes, origin + last + 1, origin, bytes};
}

/* Ghosts too: a kernel that reads a wall ghost before it is made gets a wrong value. */
static mg_status_t make_noise(const roofline_place_t *place, const mg_level_t *level,
                              mg_vector_t vec) {
  if (!level->store.view.patch[0].vec[vec]) return MG_OK;
  const values_t x = values_of(level, vec);
  MG_TRY(roofline_wait(level));
  return place->fill(x.first, x.value_bytes, x.n, 7919 * (int64_t)(vec + 1) + 13 * x.value_bytes);
}

mg_status_t roofline_begin(const roofline_place_t *place, mg_hierarchy_t *h) {
  MG_TRY(make_noise(place, &h->level[0], MG_U));
  return mg_residual(&h->level[0], MG_F, MG_U, MG_NO_VECTOR);
}

/* An ascent starts from the same iterate as a smooth. */
static mg_status_t copy_iterate(mg_level_t *level) {
  if (level->descended == MG_U) return MG_OK;
  return mg_axpby(level, level->descended, 1.0, MG_U, 0.0, MG_NO_VECTOR);
}

/* Fill a level with noise and copy all of its vectors to the twin. */
static mg_status_t begin_level(const check_t *c, mg_level_t *from, mg_level_t *to) {
  static const int vectors[] = {MG_U, MG_F, MG_TMP};
  for (int q = 0; q < 3; q++)
    MG_TRY(make_noise(c->place, from, vectors[q]));
  if (from->store.bytes != to->store.bytes)
    return mg_error(MG_ERR_INTERNAL, "roofline: the twin of level %d differs in size", from->index);
  MG_TRY(c->place->fetch(to->store.memory, from->store.memory, to->store.bytes));
  MG_TRY(copy_iterate(from));
  return copy_iterate(to);
}

static mg_status_t begin_check(const check_t *c) {
  for (int l = 0; l < c->twin->n_levels; l++)
    MG_TRY(begin_level(c, &c->h->level[l], &c->twin->level[l]));
  return c->h->low ? begin_level(c, &c->h->low->level[0], &c->twin->low->level[0]) : MG_OK;
}

static mg_status_t run_twin(const check_t *c, double *number) {
#ifdef _OPENMP
  const int threads = omp_get_max_threads();
  const mg_backend_t *backend = c->h->level[0].backend;
  if (backend == &mg_backend_cpu || backend == &mg_backend_cpu_float) omp_set_num_threads(1);
#endif
  const mg_status_t status = roofline_run(c->twin, c->kind, number);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  return status;
}

static double value_at(const void *x, int value_bytes, int64_t at) {
  return value_bytes == sizeof(float) ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

/* Largest difference of cells, and of `rim` layers of ghosts, divided by the largest value;
 * infinite if a difference is NaN. `got` has the values of `want`, elsewhere. */
static double distance(const mg_patch_t *p, int rim, const char *got, const values_t *want) {
  double difference = 0.0, largest = 0.0;
#pragma omp parallel for collapse(2) reduction(max : difference, largest)
  for (int k = -rim; k < p->n[2] + rim; k++)
    for (int j = -rim; j < p->n[1] + rim; j++)
      for (int i = -rim; i < p->n[0] + rim; i++) {
        const int64_t at = want->origin + i + j * p->jstride + k * p->kstride;
        const double x = value_at(want->first, want->value_bytes, at),
                     d = fabs(value_at(got, want->value_bytes, at) - x);
        difference = fmax(difference, isnan(d) ? INFINITY : d);
        largest = fmax(largest, fabs(x));
      }
  return difference == 0.0 ? 0.0 : difference / largest;
}

/* Compare a vector of a level with one of the twin's: cells and `rim` layers of ghosts. Raises
 * *error. */
static mg_status_t compare(const check_t *c, const mg_level_t *level, mg_vector_t vec,
                           const mg_level_t *twin, mg_vector_t twin_vec, int rim, double *error) {
  const values_t got = values_of(level, vec), want = values_of(twin, twin_vec);
  const size_t bytes = (size_t)(got.n * got.value_bytes);
  char *copy = malloc(bytes);
  if (!copy) return mg_error(MG_ERR_MEMORY, "no memory to check a level");
  mg_status_t status = roofline_wait(level);
  if (status == MG_OK) status = c->place->fetch(copy, got.first, bytes);
  if (status == MG_OK)
    *error = fmax(*error, distance(&twin->store.view.patch[0], rim, copy, &want));
  free(copy);
  return status;
}

static mg_status_t compare_outputs(const check_t *c, double *error) {
  const roofline_output_t *out = &roofline_output[c->kind];
  const mg_level_t *level = c->h->level, *twin = c->twin->level;
  if (out->smooths)
    MG_TRY(compare(c, level, roofline_smoothed(level, c->kind), twin,
                   roofline_smoothed(twin, c->kind), 0, error));
  if (out->vec == ROOFLINE_NUMBER) return MG_OK;
  level = (out->low ? c->h->low : c->h)->level + out->level;
  twin = (out->low ? c->twin->low : c->twin)->level + out->level;
  return compare(c, level, out->vec, twin, out->vec, out->rim, error);
}

static double relative(double got, double want) {
  const double error = fabs(got - want) / fmax(fabs(got), fabs(want));
  return got == want ? 0.0 : isnan(error) ? INFINITY : error;
}

/* Set all cells of a vector of level 0 to `value`. Its ghosts are larger than any expected norm, so
 * a kernel that reads one is detected. */
static mg_status_t make_level(const check_t *c, mg_vector_t vec, double value, double ghost) {
  mg_level_t *fine = &c->h->level[0];
  MG_TRY(mg_fill(fine, vec, ghost)); /* a fill also writes the ghosts */
  MG_TRY(mg_fill(fine, MG_TMP, value));
  MG_TRY(mg_axpby(fine, vec, 1.0, MG_TMP, 0.0, MG_NO_VECTOR));
  return roofline_wait(fine);
}

/* One cell of vec[0] or, if present, vec[1] is much larger than the rest; the norm must be its
 * value at every place. Values decrease from run to run, so a stale maximum is detected. */
static mg_status_t check_maximum(const check_t *c, const int vec[2], double *error) {
  const mg_patch_t *p = &c->h->level[0].store.view.patch[0];
  const int n = p->n[0], places = lab_places(n);
  for (int v = 0; v < 2 && vec[v] >= 0; v++)
    MG_TRY(make_level(c, vec[v], v + 1.0, v == 0 ? 1e300 : -1e300));
  for (int q = 0; q < places; q++) {
    /* In pairs: the sign changes from one place to the next. */
    const int side = vec[1] >= 0 ? q / 2 % 2 : 0;
    const double value = 1e30 * (places - q);
    int at[3];
    lab_place(q, n, at);
    double *cell = mg_cell(p, vec[side], at[0], at[1], at[2]), norm = NAN;
    MG_TRY(c->place->put(cell, q % 2 == 0 ? value : -value));
    MG_TRY(c->run(c->h, c->kind, &norm));
    MG_TRY(c->place->put(cell, side + 1.0));
    *error = fmax(*error, relative(norm, value));
  }
  return MG_OK;
}

/* The norm of a smooth with one large value in MG_F must be that of a separate kernel. */
static mg_status_t check_source(const check_t *c, const int at[3], double *error) {
  double *cell = mg_cell(&c->h->level[0].store.view.patch[0], MG_F, at[0], at[1], at[2]);
  double norm = NAN, want = 0.0;
  MG_TRY(c->place->put(cell, 1e30));
  MG_TRY(c->run(c->h, c->kind, &norm));
  MG_TRY(mg_residual_norm(&c->h->level[0], MG_U, MG_F, &want));
  *error = fmax(*error, relative(norm, want));
  return c->place->put(cell, 1.0);
}

/* The largest residual is at the large value, if the last half sweep did not change that cell. The
 * sum of a place's three indices is even if and only if its i is even: neighbors in j and k give
 * such cells in all planes. Check those of the three that the half sweep did not change; all three
 * at walls, where residuals are smaller, and without colors. Each needs a smooth, so a fourth of
 * the random places must do. */
static mg_status_t check_smoothed_norm(const check_t *c, double *error) {
  const mg_level_t *fine = &c->h->level[0];
  const mg_step_t *last = &fine->steps[fine->n_steps - 1];
  const int n = fine->store.view.patch[0].n[0];
  MG_TRY(make_level(c, MG_F, 1.0, 1e300));
  for (int q = 0; q < lab_places(n); q += q < lab_plane_places(n) ? 1 : 4) {
    int at[3];
    bool all = !last->colored;
    lab_place(q, n, at);
    for (int d = 0; d < 3; d++)
      all = all || at[d] == 0 || at[d] == n - 1;
    const bool changed = ((at[0] + at[1] + at[2] + last->color) & 1) == 0;
    if (all || !changed) MG_TRY(check_source(c, at, error));
    if (!all && !changed) continue;
    MG_TRY(check_source(c, (const int[3]){at[0], at[1] ^ 1, at[2]}, error));
    MG_TRY(check_source(c, (const int[3]){at[0], at[1], at[2] ^ 1}, error));
  }
  return MG_OK;
}

mg_status_t roofline_check(const roofline_place_t *place, mg_hierarchy_t *h, mg_hierarchy_t *twin,
                           roofline_kind_t kind, roofline_fn run, double *error) {
  const check_t c = {place, h, twin, kind, run};
  double got = 0.0, want = 0.0;
  MG_TRY(begin_check(&c));
  MG_TRY(run(h, kind, &got));
  MG_TRY(run_twin(&c, &want));
  *error = relative(got, want);
  MG_TRY(compare_outputs(&c, error));
  if (kind == ROOFLINE_RESIDUAL_NORM || kind == ROOFLINE_LOWERS_RESIDUAL_NORM ||
      kind == ROOFLINE_RAISES_GUESS_NORM)
    return check_maximum(&c, (const int[2]){MG_F, MG_NO_VECTOR}, error);
  if (kind == ROOFLINE_MAX_NORM)
    return check_maximum(&c, (const int[2]){MG_U, MG_NO_VECTOR}, error);
  if (kind == ROOFLINE_DIFFERENCE) return check_maximum(&c, (const int[2]){MG_U, MG_F}, error);
  const bool fused =
      kind == ROOFLINE_SMOOTHS_NORM && mg_smooth_has_residual(&h->level[0], MG_FROM_GUESS);
  return fused ? check_smoothed_norm(&c, error) : MG_OK;
}
