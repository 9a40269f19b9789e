/* Checks of the solver's kernels: the same operation on the same numbers by the CPU backend, one
 * operation at a time and, where the kernel is the CPU's own, in one thread. Results must be
 * bit-identical. */
#include "base/log.h"
#include "formulas/index.h"
#include "lab/roofline.h"
#include "level/ops.h"
#include "level/smooth.h"
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

const roofline_output_t roofline_output[N_ROOFLINE] = {
    [ROOFLINE_SMOOTHS] = {0, MG_U, 0},
    [ROOFLINE_FIRST] = {0, MG_U, 0},
    [ROOFLINE_RESIDUAL] = {0, MG_TMP, 0},
    [ROOFLINE_RESIDUAL_NORM] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_RESTRICTS_RESIDUAL] = {1, MG_F, 0},
    [ROOFLINE_RESTRICTS] = {1, MG_F, 0},
    [ROOFLINE_CORRECTS] = {0, MG_U, 0},
    [ROOFLINE_INTERPOLATES] = {0, MG_U, 0},
    [ROOFLINE_AXPBY] = {0, MG_TMP, 0},
    [ROOFLINE_MULTIPLIES] = {0, MG_TMP, 0},
    [ROOFLINE_SHIFTS] = {0, MG_TMP, 0},
    [ROOFLINE_SCALES] = {0, MG_TMP, 0},
    [ROOFLINE_FILLS] = {0, MG_TMP, 0},
    [ROOFLINE_MAX_NORM] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_DIFFERENCE] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_DOT] = {0, ROOFLINE_NUMBER, 0},
    [ROOFLINE_HALO] = {0, MG_U, 1},
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

mg_status_t roofline_twin_create(const mg_hierarchy_t *h, mg_hierarchy_t **twin) {
  static mg_plan_t plan;
  static mg_backend_t composed; /* without the entries that fuse two operations */
  composed = mg_backend_cpu;
  composed.fused.residual_norm = NULL;
  composed.fused.residual_restrict = NULL;
  plan = h->plan;
  plan.n_levels = 2;
  for (int l = 0; l < 2; l++) {
    plan.level[l].place = MG_PLACE_CPU;
    plan.level[l].shared = false;
  }
  MG_TRY(mg_hierarchy_create(&h->params, &plan, twin));
  for (int l = 0; l < 2; l++)
    (*twin)->level[l].backend = &composed;
  return mg_smoother_set(&(*twin)->level[0], &h->params, h->level[0].lambda_max, 1);
}

void roofline_twin_free(mg_hierarchy_t *twin) {
  mg_hierarchy_free(twin);
}

/* Number of elements from a vector's first ghost to its last. */
static int64_t extent(const mg_hierarchy_t *h, int l, mg_vector_t vec, double **first) {
  const mg_view_t *v = &h->level[l].store.view;
  const mg_patch_t *p = &v->patch[0];
  const int g = v->ghost_layers;
  *first = mg_cell(p, vec, -g, -g, -g);
  return mg_cell(p, vec, p->n[0] - 1 + g, p->n[1] - 1 + g, p->n[2] - 1 + g) - *first + 1;
}

/* Ghosts too: a kernel that reads a wall ghost before it is made gets a wrong value. */
static mg_status_t make_noise(const roofline_place_t *place, const mg_hierarchy_t *h, int l,
                              mg_vector_t vec) {
  double *first;
  const int64_t n = extent(h, l, vec, &first);
  MG_TRY(roofline_wait(&h->level[l]));
  return place->fill(first, n, 7919 * (int64_t)(vec + 1));
}

mg_status_t roofline_begin(const roofline_place_t *place, mg_hierarchy_t *h) {
  MG_TRY(make_noise(place, h, 0, MG_U));
  return mg_residual(&h->level[0], MG_F, MG_U, MG_NO_VECTOR);
}

/* Fill both levels with noise and copy all of their vectors to the twin. */
static mg_status_t begin_check(const check_t *c) {
  static const int vectors[] = {MG_U, MG_F, MG_TMP};
  for (int l = 0; l < 2; l++) {
    const mg_store_t *from = &c->h->level[l].store, *to = &c->twin->level[l].store;
    for (int q = 0; q < 3 - l; q++)
      MG_TRY(make_noise(c->place, c->h, l, vectors[q]));
    if (from->bytes != to->bytes)
      return mg_error(MG_ERR_INTERNAL, "roofline: the twin of level %d differs in size", l);
    MG_TRY(c->place->fetch(to->memory, from->memory, (int64_t)(to->bytes / sizeof(double))));
  }
  return MG_OK;
}

static mg_status_t run_twin(const check_t *c, double *number) {
#ifdef _OPENMP
  const int threads = omp_get_max_threads();
  if (c->h->level[0].backend == &mg_backend_cpu) omp_set_num_threads(1);
#endif
  const mg_status_t status = roofline_run(c->twin, c->kind, number);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  return status;
}

/* Largest difference of cells, and of `rim` layers of ghosts, divided by the largest value;
 * infinite if a difference is NaN. Pointers are to cell (0, 0, 0) of patch p. */
static double distance(const mg_patch_t *p, int rim, const double *got, const double *want) {
  double difference = 0.0, largest = 0.0;
#pragma omp parallel for collapse(2) reduction(max : difference, largest)
  for (int k = -rim; k < p->n[2] + rim; k++)
    for (int j = -rim; j < p->n[1] + rim; j++)
      for (int i = -rim; i < p->n[0] + rim; i++) {
        const ptrdiff_t at = i + j * p->jstride + k * p->kstride;
        const double d = fabs(got[at] - want[at]);
        difference = fmax(difference, isnan(d) ? INFINITY : d);
        largest = fmax(largest, fabs(want[at]));
      }
  return difference == 0.0 ? 0.0 : difference / largest;
}

/* Compare a vector of level l with the twin's: its cells and `rim` layers of ghosts. */
static mg_status_t compare(const check_t *c, int l, mg_vector_t vec, int rim, double *error) {
  double *first, *want;
  const int64_t n = extent(c->h, l, vec, &first);
  extent(c->twin, l, vec, &want);
  double *got = malloc((size_t)n * sizeof *got);
  if (!got) return mg_error(MG_ERR_MEMORY, "no memory to check a level");
  const mg_patch_t *p = &c->twin->level[l].store.view.patch[0];
  const ptrdiff_t origin = mg_cell(p, vec, 0, 0, 0) - want;
  mg_status_t status = roofline_wait(&c->h->level[0]);
  if (status == MG_OK) status = c->place->fetch(got, first, n);
  if (status == MG_OK) *error = distance(p, rim, got + origin, want + origin);
  free(got);
  return status;
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

mg_status_t roofline_check(const roofline_place_t *place, mg_hierarchy_t *h, mg_hierarchy_t *twin,
                           roofline_kind_t kind, roofline_fn run, double *error) {
  const check_t c = {place, h, twin, kind, run};
  double got = 0.0, want = 0.0;
  MG_TRY(begin_check(&c));
  MG_TRY(run(h, kind, &got));
  MG_TRY(run_twin(&c, &want));
  *error = relative(got, want);
  const roofline_output_t *out = &roofline_output[kind];
  if (kind == ROOFLINE_RESIDUAL_NORM)
    return check_maximum(&c, (const int[2]){MG_F, MG_NO_VECTOR}, error);
  if (kind == ROOFLINE_MAX_NORM)
    return check_maximum(&c, (const int[2]){MG_U, MG_NO_VECTOR}, error);
  if (kind == ROOFLINE_DIFFERENCE) return check_maximum(&c, (const int[2]){MG_U, MG_F}, error);
  return out->vec == ROOFLINE_NUMBER ? MG_OK : compare(&c, out->level, out->vec, out->rim, error);
}
