#include "tests/lib/fixture.h"
#include "device/device_select.h"
#include "formulas/smoother.h"
#include "formulas/smoother_steps.h"
#include "io/input.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "wings.h"
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

void fixture_must(mg_status_t status, const char *file, int line, const char *what) {
  if (status == MG_OK) return;
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, mg_status_name(status));
  mg_comm_abort(1);
}

bool fixture_threads(int n) {
#ifdef _OPENMP
  omp_set_num_threads(n);
  return true;
#else
  return n == 1;
#endif
}

static void set_walls(mg_params_t *params, const char *kinds) {
  for (int side = 0; side < 6; side++)
    params->side[side / 2][side % 2] =
        kinds[side] == 'n'   ? (mg_side_t){.flux = 1.0, .wall = MG_WALL_NEUMANN}
        : kinds[side] == 'p' ? (mg_side_t){.wall = MG_WALL_NONE}
                             : (mg_side_t){.u = 1.0, .wall = MG_WALL_DIRICHLET};
}

/* Boxes in each direction from "3x2x5", instead of a cube. */
static void set_boxes(mg_params_t *params, const char *boxes, int log2_box_dim) {
  if (!boxes) return;
  int32_t *m = params->boxes;
  MUST(sscanf(boxes, "%dx%dx%d", &m[0], &m[1], &m[2]) == 3 ? MG_OK : MG_ERR_USAGE);
  params->log2_box_dim = log2_box_dim;
}

/* Tests store residuals in MG_TMP, which large levels do without. */
static void keep_tmp(mg_plan_t *plan) {
  for (int l = 0; l < plan->n_levels; l++)
    plan->level[l].vectors |= 1u << MG_TMP;
}

/* With --cells a solve starts on the finest level only. Tests need more double cells. */
static void keep_doubles(mg_plan_t *plan) {
  for (; plan->n_outer > 0 && plan->n_outer < 3 && plan->n_outer < plan->n_levels;
       plan->n_outer++) {
    const int l = plan->n_outer;
    plan->outer[l] = plan->outer[0];
    plan->outer[l].layout = plan->level[l].layout;
    for (int d = 0; d < 3; d++)
      if (plan->outer[l].layout.n[d] == 1) plan->outer[l].guess = NULL;
    plan->outer[l].place = plan->level[l].place;
    plan->outer[l].nests_coarse = plan->level[l].nests_coarse;
    plan->outer[l].halves = plan->level[l].halves;
    plan->outer[l].shared = plan->level[l].shared;
    memcpy(plan->outer[l].h, plan->level[l].h, sizeof plan->level[l].h);
  }
}

/* Let fused sweeps interpolate their input on levels of any size. */
static void fuse_interpolations(mg_plan_t *plan) {
  for (int l = 0; l + 1 < plan->n_levels; l++) {
    mg_level_plan_t *level = &plan->level[l];
    const int layers = mg_coarse_layers_of_steps(level->steps_per_pass);
    if (level->steps_per_pass == 1 || level[1].place != level->place) continue;
    /* As in cpu/pass_path.c and cuda/resident/resident_path.c. */
    if (level->resident && (level->one_exchange || !level->halves)) continue;
    level->fused_interpolation = true;
    if (level->ghost_layers > plan->radius && level[1].ghost_layers < layers &&
        level[1].layout.box_dim >= layers)
      level[1].ghost_layers = level[1].wall_layers = layers;
  }
}

/* Let fused sweeps compute residuals on levels of any size. */
static void fuse_residuals(const mg_params_t *params, mg_plan_t *plan) {
  const bool can = mg_has_path(params->op, MG_PATH_RESIDUAL) && !params->alpha_varies;
  for (int l = 0; l < plan->n_levels; l++) {
    mg_level_plan_t *level = &plan->level[l];
    if (level->steps_per_pass == 1 || level->layout.box_dim <= level->steps_per_pass) continue;
    if (level->resident ? !level->halves : !can) continue;
    level->fused_residual = true;
    if (level->ghost_layers == plan->radius) continue;
    level->ghost_layers = level->wall_layers = level->steps_per_pass + 1;
    level->one_exchange = level->one_exchange && level->resident;
  }
}

/* Let the passes of a level interpolate to ghosts where cpu/pass_path.c would. */
static void interpolate_ghosts(const mg_params_t *params, int n, mg_level_plan_t *level) {
  const int coarse = mg_coarse_layers_of_pass(n), layers = mg_layers_of_interpolating_pass(n);
  if (params->op == MG_OPERATOR_FV4 || !level->nests_coarse || level[1].place != level->place ||
      level->layout.box_dim < layers || level[1].layout.box_dim < coarse)
    return;
  level->fused_interpolation = true;
  level->ghost_layers = layers;
  if (level[1].ghost_layers >= coarse) return;
  level[1].ghost_layers = coarse;
  if (mg_params_is_all_periodic(params)) level[1].wall_layers = coarse;
}

/* Let passes of a CPU compute ghosts on levels of any size. */
static void pass_halos(const mg_params_t *params, mg_plan_t *plan) {
  mg_step_t step[MG_MAX_DEGREE];
  const int once = mg_smoother_steps_once(params, 1.0, step), n = params->smooths * once;
  for (int l = 0; l + 1 < plan->n_levels; l++) {
    mg_level_plan_t *level = &plan->level[l];
    const int layers = mg_layers_of_pass(plan->radius, n);
    if (level->resident || level->place != MG_PLACE_CPU || level->layout.box_dim < layers ||
        params->steps_per_pass == 1 || n == 1 || !mg_steps_fuse(step, once) ||
        mg_traits_of(params->op)->pass_planes == 0)
      continue;
    MG_IF_FUSED(level->path = &mg_path_cpu_pass);
    level->resident = level->fused_residual = level->one_exchange = true;
    level->steps_per_pass = n;
    level->ghost_layers = layers;
    interpolate_ghosts(params, n, level);
    level->wall_layers =
        mg_params_count_sides(params, MG_WALL_NONE) > 0 ? level->ghost_layers : plan->radius;
  }
}

static mg_status_t load_alpha(void *alpha, mg_hierarchy_t *h) {
  field_put(&h->level[0], MG_ALPHA, alpha);
  return MG_OK;
}

static mg_status_t load_random_alpha(void *none, mg_hierarchy_t *h) {
  const int64_t cells = mg_volume(h->level[0].store.view.n);
  double *alpha = field_random(cells, 5);
  for (int64_t c = 0; c < cells; c++)
    alpha[c] += 1.5;
  (void)none;
  return load_alpha(alpha, h);
}
static const mg_problem_source_t random_alpha = {.load = load_random_alpha};

static mg_hierarchy_t *create(const fixture_backend_t *backend, int log2_box_dim, int boxes,
                              const char *options, bool alpha_varies,
                              const mg_problem_source_t *source) {
  enum { MOST_WORDS = 32 };
  const char *walls = NULL, *shape = NULL, *wide = NULL;
  bool residuals = false, interpolations = false, passes = false;
  const int smallest = 4; /* that options accept */
  char line[1024], message[1024] = "", *argv[MOST_WORDS + 1];
  const int ranks = mg_comm_size(mg_comm_world());
  const char *more = getenv("FIXTURE_OPTIONS");
  const bool any_size = strstr(options, "--cells=") != NULL;
  const char *size = any_size ? ""
                              : textf("%d %d", log2_box_dim > smallest ? log2_box_dim : smallest,
                                      (boxes * boxes * boxes + ranks - 1) / ranks);
  snprintf(line, sizeof line, "test %s %s %s %s", size, backend->options, options,
           more ? more : "");
  int argc = 0;
  for (char *word = strtok(line, " "); word && argc < MOST_WORDS; word = strtok(NULL, " "))
    if (strncmp(word, "walls=", 6) == 0)
      walls = word + 6;
    else if (strncmp(word, "boxes=", 6) == 0)
      shape = word + 6;
    else if (strncmp(word, "wide=", 5) == 0)
      wide = word + 5;
    else if (strcmp(word, "residuals") == 0)
      residuals = true;
    else if (strcmp(word, "interpolations") == 0)
      interpolations = true;
    else if (strcmp(word, "passes") == 0)
      passes = true;
    else if (strcmp(word, "alpha") == 0)
      alpha_varies = true, source = &random_alpha;
    else
      argv[argc++] = word;

  static mg_params_t params;
  static mg_plan_t plan;
  mg_action_t action;
  mg_hierarchy_t *h = NULL;
  mg_status_t status = mg_params_parse(argc, argv, NULL, &params, &action, message, sizeof message);
  static mg_input_t input;
  params.alpha_varies = alpha_varies;
  if (walls) set_walls(&params, walls);
  set_boxes(&params, shape, log2_box_dim);
  for (; wide && *wide >= 'i' && *wide <= 'k'; wide++)
    params.length[*wide - 'i'] *= 4.0;
  MG_IF_DOMAINS(MG_IF_FILES(if (status == MG_OK) status = mg_input_open(&params, &input)));
  if (status == MG_OK) status = mg_device_choose(&params);
  if (status == MG_OK) status = mg_plan_build(&params, ranks, &plan, message, sizeof message);
  if (plan.n_outer == 0) keep_tmp(&plan);
  if (any_size) keep_doubles(&plan);
  if (residuals) fuse_residuals(&params, &plan);
  if (interpolations) fuse_interpolations(&plan);
  if (passes) pass_halos(&params, &plan);
  if (status != MG_OK) fprintf(stderr, "%s\n", message);
  MUST(status);
  MUST(shape || any_size || plan.level[0].layout.boxes[0] == boxes ? MG_OK : MG_ERR_INTERNAL);
  MUST(mg_hierarchy_create(&params, &plan, NULL, &h));
  const mg_problem_source_t files = {
      MG_IF_DOMAINS(MG_IF_FILES(.load = mg_input_load, .load_wall = mg_input_load_wall, )).data =
          &input,
      .sets_f = true};
  MUST(mg_problem_set_from(h, source ? source : input.n[0] > 0 ? &files : NULL));
  return h;
}

mg_hierarchy_t *fixture_create(const fixture_backend_t *backend, int log2_box_dim, int boxes,
                               const char *options) {
  return create(backend, log2_box_dim, boxes, options, false, NULL);
}

mg_hierarchy_t *fixture_create_from(const fixture_backend_t *backend, int log2_box_dim, int boxes,
                                    const char *options, const mg_problem_source_t *source) {
  return create(backend, log2_box_dim, boxes, options, false, source);
}

mg_hierarchy_t *fixture_create_varying(const fixture_backend_t *backend, int log2_box_dim,
                                       int boxes, const char *options, const double *alpha) {
  const mg_problem_source_t source = {.load = load_alpha, .data = (void *)(uintptr_t)alpha};
  return create(backend, log2_box_dim, boxes, options, true, &source);
}

const mg_history_t *fixture_solve(mg_hierarchy_t *h) {
  static mg_history_t history;
  double f_norm;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  MUST(mg_solve(h, 0, f_norm, &history));
  return &history;
}

/* All arrays allocated since the last release. */
typedef struct array {
  struct array *next;
  double x[];
} array_t;
static array_t *arrays;

double *field_new(int64_t n) {
  array_t *array = calloc(1, sizeof *array + (size_t)n * sizeof(double));
  MUST(array ? MG_OK : MG_ERR_MEMORY);
  array->next = arrays;
  arrays = array;
  return array->x;
}

void fixture_release(void) {
  while (arrays) {
    array_t *next = arrays->next;
    free(arrays);
    arrays = next;
  }
}

double *field_constant(int64_t n, double value) {
  double *x = field_new(n);
  for (int64_t c = 0; c < n; c++)
    x[c] = value;
  return x;
}

double *field_random(int64_t n, uint64_t seed) {
  double *x = field_new(n);
  random_t r = {seed};
  for (int64_t c = 0; c < n; c++)
    x[c] = (double)(random_bits(&r) >> 11) * 0x1p-52 - 1.0;
  return x;
}

double *field_integers(int64_t n, uint64_t seed, int range) {
  double *x = field_new(n);
  random_t r = {seed};
  for (int64_t c = 0; c < n; c++)
    x[c] = (double)random_int(&r, -range, range);
  return x;
}

void field_product(double *x, const int32_t n[3], const double *fi, const double *fj,
                   const double *fk) {
  EACH_CELL(at, n) {
    *x++ = fi[at[0]] * fj[at[1]] * fk[at[2]];
  }
}

double field_child(const double *x, const int32_t n[3], const int32_t at[3], int c) {
  return x[2 * at[0] + (c & 1) + n[0] * (2 * at[1] + (c >> 1 & 1) + n[1] * (2 * at[2] + (c >> 2)))];
}

double field_mean8(const double *x, const int32_t n[3], const int32_t at[3]) {
  double sum = 0.0;
  for (int c = 0; c < 8; c++)
    sum += field_child(x, n, at, c);
  return 0.125 * sum;
}

/* Dense index of a patch row. */
static size_t row_at(const mg_view_t *v, const mg_patch_t *p, int j, int k) {
  const size_t ni = (size_t)v->n[0], nj = (size_t)v->n[1];
  return (size_t)p->lo[0] + ni * ((size_t)(p->lo[1] + j) + nj * (size_t)(p->lo[2] + k));
}

/* Copies cells and ghosts of a patch to or from a buffer shared by host and backend. */
typedef struct {
  const mg_level_t *level;
  mg_copy_t copy;
  double *buffer;
  size_t doubles;
  int vec;
} window_t;

static window_t window_open(const mg_level_t *level, int patch, mg_vector_t vec, int rim) {
  const mg_patch_t *p = &level->store.view.patch[patch];
  window_t w = {.level = level, .vec = vec, .doubles = 1};
  w.copy = (mg_copy_t){.src_patch = patch, .dst_patch = patch};
  for (int d = 0; d < 3; d++) {
    w.copy.src_lo[d] = w.copy.dst_lo[d] = -rim;
    w.copy.n[d] = p->n[d] + 2 * rim;
    w.doubles *= (size_t)w.copy.n[d];
  }
  void *memory;
  MUST(level->backend->alloc(w.doubles * sizeof(double), MG_SPACE_SHARED, &memory));
  w.buffer = memory;
  return w;
}

static void window_move(const window_t *w) {
  const mg_view_t *v = &w->level->store.view;
  const mg_backend_t *backend = w->level->backend;
  const mg_copy_job_t job = {v, v, w->buffer, &w->copy, 1};
  mg_copies_t *copies;
  MUST(backend->prepare_copies(&job, &copies));
  MUST(backend->copy(copies, w->vec, w->vec));
  MUST(backend->queue.wait ? backend->queue.wait() : MG_OK);
  backend->release_copies(copies);
}

static void window_close(window_t *w) {
  w->level->backend->release(w->buffer, w->doubles * sizeof(double), MG_SPACE_SHARED);
}

double *patch_get(const mg_level_t *level, int patch, mg_vector_t vec, int rim) {
  window_t w = window_open(level, patch, vec, rim);
  double *x = field_new((int64_t)w.doubles);
  w.copy.dst_patch = -1;
  window_move(&w);
  memcpy(x, w.buffer, w.doubles * sizeof *x);
  window_close(&w);
  return x;
}

void patch_put(const mg_level_t *level, int patch, mg_vector_t vec, int rim, const double *x) {
  window_t w = window_open(level, patch, vec, rim);
  w.copy.src_patch = -1;
  memcpy(w.buffer, x, w.doubles * sizeof *x);
  window_move(&w);
  window_close(&w);
}

void field_put(const mg_level_t *level, mg_vector_t vec, const double *x) {
  const mg_view_t *v = &level->store.view;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    window_t w = window_open(level, q, vec, 0);
    double *to = w.buffer;
    w.copy.src_patch = -1;
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++, to += p->n[0])
        memcpy(to, x + row_at(v, p, j, k), (size_t)p->n[0] * sizeof *to);
    window_move(&w);
    window_close(&w);
  }
}

double *field_get(const mg_level_t *level, mg_vector_t vec) {
  const mg_view_t *v = &level->store.view;
  double *x = field_new(mg_volume(v->n));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    window_t w = window_open(level, q, vec, 0);
    const double *from = w.buffer;
    w.copy.dst_patch = -1;
    window_move(&w);
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++, from += p->n[0])
        memcpy(x + row_at(v, p, j, k), from, (size_t)p->n[0] * sizeof *x);
    window_close(&w);
  }
  /* Every cell has one owner; other ranks add zero, which changes only the sign of -0. */
  if (mg_comm_size(mg_comm_world()) > 1)
    MUST(mg_comm_sum(mg_comm_world(), x, (int)mg_volume(v->n)));
  return x;
}

uint64_t field_hash(const double *x, int64_t n) {
  uint64_t hash = 0;
  for (int64_t c = 0; c < n; c++) {
    const double value = x[c] + 0.0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    random_t r = {hash ^ bits};
    hash = random_bits(&r);
  }
  return hash;
}

double field_norm(const double *x, int64_t n) {
  double norm = 0.0;
  for (int64_t c = 0; c < n; c++)
    norm = worst_of(norm, fabs(x[c]));
  return norm;
}

double field_distance(const double *x, const double *y, int64_t n) {
  double norm = 0.0;
  for (int64_t c = 0; c < n; c++)
    norm = worst_of(norm, fabs(x[c] - y[c]));
  return norm;
}

double ascent_norm(mg_hierarchy_t *h, int l, mg_interpolation_t kind) {
  mg_level_t *level = &h->level[l];
  const bool fused = mg_smooth_has_residual(level, MG_FROM_CORRECTION);
  double norm;
  if (fused) MUST(mg_residual_norm_begin(level));
  MUST(mg_leg_run(
      h, l, &(mg_leg_t){MG_FROM_CORRECTION, fused ? MG_TO_NORM : MG_TO_SOLUTION, kind, false}));
  MUST(fused ? mg_residual_norm_end(level, &norm) : mg_residual_norm(level, MG_U, MG_F, &norm));
  return norm;
}

double field_dot(const double *x, const double *y, int64_t n) {
  long double sum = 0.0L;
  for (int64_t c = 0; c < n; c++)
    sum += (long double)x[c] * y[c];
  return (double)sum;
}
