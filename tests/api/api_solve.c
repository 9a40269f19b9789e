/* api_solve: solves through hpgmg.h give the norms and the u of the program's core, to the bit: on
 * any ranks, with boxes and strides of the caller's, one or several boxes per rank, empty boxes,
 * arrays in the memory of the host and of a GPU, several solvers at once, new coefficients and
 * right-hand sides, beta in cells, a guess, a varying alpha, and conditions with values. */
#ifdef HAVE_CONFIG_H
#include "backend/arrays.h"
#include "config.h"
#endif
#include "io/boundary_faces_io.h"
#include "level/ops.h"
#include "plan/axes.h"
#include "tests/api/parts.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>

/* The whole grid's beta, with the faces at the upper walls, f, and solution. */
typedef struct {
  double *beta[3], *f, *u;
  mg_history_t history;
} reference_t;

static int64_t faces_of(int d) {
  return mg_volume(grid) / grid[d] * (grid[d] + 1);
}

/* Cell-sized betas, and a plane at the upper wall, as one array of faces. */
static double *get_faces(mg_hierarchy_t *h, int d) {
  const double *low = field_get(&h->level[0], MG_BETA_I + d);
  double *faces = calloc((size_t)faces_of(d), sizeof *faces), *wall;
  int32_t n[2], size[3] = {grid[0], grid[1], grid[2]};
  mg_boundary_faces_size(grid, d, n);
  wall = calloc((size_t)(n[0] * n[1]), sizeof *wall);
  if (!mg_params_is_periodic(&h->params, d))
    MUST(mg_boundary_move(&h->level[0], MG_BETA_I + (mg_vector_t)d, d, 1, false, wall));
  size[d]++;
  double *face = faces;
  EACH_CELL(at, size) {
    const int a = at[d == 0], b = at[d == 2 ? 1 : 2];
    *face++ =
        at[d] == grid[d] ? wall[a + n[0] * b] : low[at[0] + grid[0] * (at[1] + grid[1] * at[2])];
  }
  free(wall);
  return faces;
}

static double *copy_of(const double *x, int64_t n) {
  double *y = malloc((size_t)n * sizeof *y);
  memcpy(y, x, (size_t)n * sizeof *y);
  return y;
}

static const char *with_cells(const char *words) {
  return textf("--cells=%dx%dx%d " SPACING " %s", grid[0], grid[1], grid[2], words);
}

/* Solve with the built-in beta and f; the words may give conditions values. */
static reference_t reference(const fixture_backend_t *b, const char *words, const char *values) {
  reference_t r;
  mg_hierarchy_t *h = fixture_create(b, 4, 1, with_cells(words));
  for (int d = 0; d < 3; d++)
    r.beta[d] = get_faces(h, d);
  r.f = copy_of(field_get(&h->level[0], MG_F), mg_volume(grid));
  mg_hierarchy_free(h);
  h = fixture_create(b, 4, 1, with_cells(textf("%s %s", words, values)));
  r.history = *fixture_solve(h);
  r.u = copy_of(field_get(&h->level[0], MG_U), mg_volume(grid));
  mg_hierarchy_free(h);
  return r;
}

static void free_reference(reference_t *r) {
  for (int d = 0; d < 3; d++)
    free(r->beta[d]);
  free(r->f), free(r->u);
}

static void check_solve(hpgmg_solver_t *s, const reference_t *r) {
  part_t f = part_of(r->f, -1), u = part_of(NULL, -1), want = part_of(r->u, -1);
  hpgmg_info_t info;
  API(hpgmg_solve(s, f.array, u.array, &info));
  CHECK_STRING(hpgmg_error(s), "");
  CHECK_INT(info.reason, HPGMG_CONVERGED);
  CHECK_INT(info.cycles, r->history.n_cycles);
  CHECK_SAME(&info.residual, &r->history.norm[r->history.n_cycles - 1], 1);
  CHECK_SAME(&info.relative, &r->history.rel[r->history.n_cycles - 1], 1);
  if (u.values > 0) CHECK_SAME(values_in(&u), values_in(&want), u.values);
  free_part(&f), free_part(&u), free_part(&want);
}

static void set_beta(hpgmg_solver_t *s, const reference_t *r, const hpgmg_array_t *alpha) {
  part_t beta[3];
  hpgmg_coefficients_t c = {.alpha = alpha};
  for (int d = 0; d < 3; d++) {
    beta[d] = part_of(r->beta[d], d);
    c.beta[d] = beta[d].array;
  }
  API(hpgmg_set_coefficients(s, &c));
  for (int d = 0; d < 3; d++)
    free_part(&beta[d]);
}

/* As many cycles by number give the same u; twice, because the second solve may only be enqueued.
 */
static void check_cycles(hpgmg_options_t o, const reference_t *r) {
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  part_t f = part_of(r->f, -1), want = part_of(r->u, -1);
  o.cycles = r->history.n_cycles;
  API(hpgmg_create(&o, &s));
  set_beta(s, r, NULL);
  for (int n = 0; n < 2; n++) {
    part_t u = part_of(NULL, -1);
    API(hpgmg_solve(s, f.array, u.array, n == 0 ? &info : NULL));
    if (u.values > 0) CHECK_SAME(values_in(&u), values_in(&want), u.values);
    free_part(&u);
  }
  CHECK_INT(info.reason, HPGMG_CYCLES_DONE);
  CHECK_INT(info.cycles, o.cycles);
  CHECK_SAME(&info.residual, &r->history.norm[o.cycles - 1], 1);
  hpgmg_destroy(&s);
  free_part(&f), free_part(&want);
}

/* f and u in the solver's own memory give the same u, without copies. */
static void check_storage(const fixture_backend_t *b, hpgmg_solver_t *s, const reference_t *r) {
  hpgmg_array_t own_f[MAX_BOXES], own_u[MAX_BOXES];
  hpgmg_storage(s, own_f, own_u);
  CHECK(n_ranks > 1 || n_mine > 1 || (own_f[0].data && own_u[0].data));
  const bool can_copy = strcmp(b->name, "cpu") == 0 || on_device;
  if (!can_copy || n_ranks > 1 || n_mine > 1) return;
  part_t f = part_of(r->f, -1), u = part_of(NULL, -1), want = part_of(r->u, -1);
  const mg_backend_t *backend = &mg_backend_cpu;
#ifdef HAVE_CUDA
  if (on_device) backend = &mg_backend_cuda;
#endif
  for (int n = 0; n < 2; n++) {
    const mg_strided_t from = {f.array[0].data, {f.array[0].stride[0], f.array[0].stride[1], 1}},
                       to = {own_f[0].data, {1, own_f[0].stride[1], own_f[0].stride[2]}};
    MUST(backend->arrays->copy(grid, &from, &to));
    API(hpgmg_solve(s, own_f, n == 0 ? u.array : own_u, NULL));
    if (n == 1) {
      const mg_strided_t result = {own_u[0].data, {1, own_u[0].stride[1], own_u[0].stride[2]}},
                         back = {u.array[0].data, {u.array[0].stride[0], u.array[0].stride[1], 1}};
      MUST(backend->arrays->copy(grid, &result, &back));
    }
    CHECK_SAME(values_in(&u), values_in(&want), u.values);
  }
  free_part(&f), free_part(&u), free_part(&want);
}

static void test_case(const fixture_backend_t *b, const char *words, const char *values) {
  words = textf("%s --rtol=1e-9", words);
  const char *given = textf("%s " SPACING " %s %s", b->options, words, values);
  reference_t r = reference(b, words, values);
  hpgmg_options_t o = options_of(given);
  hpgmg_solver_t *s[2];
  for (int n = 0; n < 2; n++) {
    API(hpgmg_create(&o, &s[n]));
    CHECK_STRING(hpgmg_error(s[n]), "");
  }
  /* Solve with beta = 1. Then set the given beta in both solvers, and solve twice with each. */
  part_t f = part_of(r.f, -1), u = part_of(NULL, -1);
  API(hpgmg_solve(s[0], f.array, u.array, NULL));
  for (int n = 0; n < 2; n++)
    set_beta(s[n], &r, NULL);
  for (int n = 0; n < 4; n++)
    check_solve(s[n % 2], &r);
  check_storage(b, s[0], &r);
  for (int n = 0; n < 2; n++) {
    hpgmg_destroy(&s[n]);
    CHECK(s[n] == NULL);
  }
  if (!strstr(words, "--krylov=cg")) check_cycles(o, &r);
  free_part(&f), free_part(&u);
  free_reference(&r);
}

/* A solve from its own result ends at once; one from zero does not. */
static void test_guess(hpgmg_options_t o, const hpgmg_coefficients_t *c, part_t *f, part_t *u,
                       double residual) {
  part_t same = part_of(NULL, -1);
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  o.guess = 1;
  memcpy(same.memory, values_in(u), (size_t)u->values * sizeof(double));
  API(hpgmg_create(&o, &s));
  API(hpgmg_set_coefficients(s, c));
  API(hpgmg_solve(s, f->array, u->array, &info));
  CHECK_INT(info.cycles, 0);
  CHECK_INT(info.reason, HPGMG_CONVERGED);
  CHECK_NEAR(info.residual, residual, 1e-6 * residual);
  if (u->values > 0) CHECK_SAME(values_in(u), same.memory, u->values);
  for (int n = 0; n < 2; n++) { /* the first solve leaves nothing behind */
    part_t again = part_of(NULL, -1);
    API(hpgmg_solve(s, f->array, again.array, &info));
    CHECK(info.cycles > 0 && info.relative < 1e-9);
    if (n == 0)
      memcpy(same.memory, values_in(&again), (size_t)u->values * sizeof(double));
    else if (u->values > 0)
      CHECK_SAME(values_in(&again), same.memory, u->values);
    free_part(&again);
  }
  hpgmg_destroy(&s);
  free_part(&same);
}

/* Mixed precision, which the core of the test does not have on this grid: the same u twice. */
static void test_mixed(const fixture_backend_t *b) {
  double one = 1.0;
  reference_t r = reference(b, "--rtol=1e-9", "");
  hpgmg_options_t o = options_of(textf("%s --precision=mixed --rtol=1e-9", b->options));
  hpgmg_solver_t *s[2];
  hpgmg_info_t info;
  part_t f = part_of(r.f, -1), u[2] = {part_of(NULL, -1), part_of(NULL, -1)};
  for (int n = 0; n < 2; n++) {
    API(hpgmg_create(&o, &s[n]));
    set_beta(s[n], &r, NULL);
    API(hpgmg_solve(s[n], f.array, u[n].array, n == 0 ? &info : NULL));
    o.cycles = info.cycles;
    hpgmg_destroy(&s[n]);
  }
  if (f.values > 0) CHECK_SAME(values_in(&u[0]), values_in(&u[1]), f.values);
  o.cycles = 0;
  const hpgmg_array_t ones[] = EVERYWHERE(one);
  API(hpgmg_create(&o, &s[0]));
  API(hpgmg_solve(s[0], f.array, u[0].array, &info));
  hpgmg_destroy(&s[0]);
  test_guess(o, &(hpgmg_coefficients_t){{ones, ones, ones}, NULL, NULL, NULL}, &f, &u[0],
             info.residual);
  free_part(&f), free_part(&u[0]), free_part(&u[1]);
  free_reference(&r);
}

/* A varying alpha of 1 everywhere solves the problem with a constant one. */
static void test_alpha(const fixture_backend_t *b) {
  const char *words = "--equation=helmholtz --operator=7pt --rtol=1e-9";
  double one = 1.0;
  double *ones = field_random(mg_volume(grid), 1);
  for (int64_t c = 0; c < mg_volume(grid); c++)
    ones[c] = 1.0;
  reference_t r = reference(b, words, "");
  hpgmg_options_t o = options_of(textf("%s " SPACING " %s", b->options, words));
  hpgmg_solver_t *s;
  o.varying_alpha = 1;
  API(hpgmg_create(&o, &s));
  const hpgmg_array_t alpha[] = EVERYWHERE(one);
  set_beta(s, &r, alpha);
  part_t f = part_of(r.f, -1), u = part_of(NULL, -1);
  hpgmg_info_t info;
  API(hpgmg_solve(s, f.array, u.array, &info));
  CHECK_INT(info.cycles, r.history.n_cycles);
  hpgmg_destroy(&s);
  free_part(&f), free_part(&u);
  free_reference(&r);
}

/* Beta of the faces normal to d: harmonic means of those of cells. */
static double *averages(const mg_params_t *params, int d, const double *of_cells) {
  const int32_t size[3] = {grid[0] + (d == 0), grid[1] + (d == 1), grid[2] + (d == 2)};
  const bool wraps = mg_params_is_periodic(params, d);
  const double *x = params->face[d];
  double *beta = calloc((size_t)faces_of(d), sizeof *beta);
  for (int face = 0; face < faces_of(d); face++) {
    int low[3] = {face % size[0], face / size[0] % size[1], face / size[0] / size[1]};
    int high[3] = {low[0], low[1], low[2]};
    low[d]--;
    if (high[d] == grid[d]) high[d] = wraps ? 0 : grid[d] - 1;
    if (low[d] < 0) low[d] = wraps ? grid[d] - 1 : 0;
    const double p = of_cells[low[0] + grid[0] * (low[1] + grid[1] * low[2])],
                 q = of_cells[high[0] + grid[0] * (high[1] + grid[1] * high[2])],
                 wp = x ? x[low[d] + 1] - x[low[d]] : 0.5,
                 wq = x ? x[high[d] + 1] - x[high[d]] : 0.5;
    beta[face] = p == q ? p : p * (q / ((wp * q + wq * p) / (wp + wq)));
  }
  return beta;
}

/* Beta and f that vary without order. */
static reference_t rough(const fixture_backend_t *b, const char *words, double **of_cells) {
  reference_t r = {.f = copy_of(field_random(mg_volume(grid), 2), mg_volume(grid))};
  mg_hierarchy_t *h =
      fixture_create(b, 4, 1, textf("--cells=%dx%dx%d %s", grid[0], grid[1], grid[2], words));
  *of_cells = field_random(mg_volume(grid), 1);
  for (int64_t c = 0; c < mg_volume(grid); c++)
    (*of_cells)[c] = exp(2.0 * (*of_cells)[c]);
  mg_axes_t axes = {{NULL, NULL, NULL}};
  mg_params_t params = h->params;
  MUST(mg_axes_set(&axes, &params));
  for (int d = 0; d < 3; d++)
    r.beta[d] = averages(&params, d, *of_cells);
  mg_axes_free(&axes);
  mg_hierarchy_free(h);
  return r;
}

/* With f = 0 the residual itself is compared with the tolerance. */
static void test_zero_rhs(const fixture_backend_t *b) {
  hpgmg_options_t o = options_of(textf("%s --rtol=1e-6", b->options));
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  double zero = 0.0;
  const hpgmg_array_t f[] = EVERYWHERE(zero);
  double *random = field_random(mg_volume(grid), 3);
  part_t u = part_of(random, -1);
  o.guess = 1;
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, f, u.array, &info));
  CHECK(info.cycles > 0 && info.relative < 1e-6);
  hpgmg_destroy(&s);
  /* Cycles by number from a guess: the residual is that of the last cycle. */
  o.cycles = 2;
  part_t v = part_of(random, -1);
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, f, v.array, &info));
  CHECK_INT(info.cycles, 2);
  CHECK(info.residual > 0.0 && info.residual == info.relative);
  hpgmg_destroy(&s);
  free_part(&u), free_part(&v);
}

/* Beta in cells is that of faces with the harmonic means. */
static void test_cell_beta(const fixture_backend_t *b, const char *words) {
  double *of_cells;
  reference_t r = rough(b, words, &of_cells);
  hpgmg_options_t o = options_of(textf("%s %s --rtol=1e-9 --method=options", b->options, words));
  hpgmg_solver_t *s[2];
  hpgmg_info_t info[2];
  part_t f = part_of(r.f, -1), u[2] = {part_of(NULL, -1), part_of(NULL, -1)};
  for (int n = 0; n < 2; n++)
    API(hpgmg_create(&o, &s[n]));
  set_beta(s[0], &r, NULL);
  part_t beta = part_of(of_cells, -1);
  const hpgmg_coefficients_t c = {.cell_beta = beta.array};
  API(hpgmg_set_coefficients(s[1], &c));
  for (int n = 0; n < 2; n++)
    API(hpgmg_solve(s[n], f.array, u[n].array, &info[n]));
  CHECK_INT(info[0].cycles, info[1].cycles);
  CHECK_SAME(&info[0].residual, &info[1].residual, 1);
  if (f.values > 0) CHECK_SAME(values_in(&u[0]), values_in(&u[1]), f.values);
  for (int n = 0; n < 2; n++)
    hpgmg_destroy(&s[n]);
  test_guess(o, &c, &f, &u[0], info[0].residual);
  free_part(&f), free_part(&u[0]), free_part(&u[1]), free_part(&beta);
  free_reference(&r);
}

/* The faces of a stretched axis as an array give the bits of the words. */
static void test_faces(const fixture_backend_t *b) {
  mg_axes_t axes = {{NULL, NULL, NULL}};
  mg_params_t params = {.cells = {grid[0], grid[1], grid[2]},
                        .length = {1.25, 1.0625, 0.875},
                        .stretch = {0.0, 1.5, 0.0}};
  double even[2][32], one = 1.0;
  const hpgmg_array_t f[] = EVERYWHERE(one);
  hpgmg_options_t o[2] = {
      options_of(textf("%s --lengths=1.25,1.0625,0.875 --stretch=y:tanh:1.5", b->options)),
      options_of(b->options)};
  part_t u[2] = {part_of(NULL, -1), part_of(NULL, -1)};
  MUST(mg_axes_set(&axes, &params));
  for (int i = 0; i <= grid[0]; i++)
    even[0][i] = even[1][i] = 0.0625 * i - 0.5;
  o[1].faces[0] = even[0];
  o[1].faces[1] = axes.face[1];
  o[1].faces[2] = even[1];
  for (int n = 0; n < 2; n++) {
    hpgmg_solver_t *s;
    API(hpgmg_create(&o[n], &s));
    API(hpgmg_solve(s, f, u[n].array, NULL));
    hpgmg_destroy(&s);
  }
  if (u[0].values > 0) CHECK_SAME(values_in(&u[0]), values_in(&u[1]), u[0].values);
  o[1].words = textf("%s --lengths=1,1,1", b->options);
  refuse_create(o[1], HPGMG_BAD_ARGUMENT, "options.faces are given; remove --lengths=1,1,1");
  o[1].words = b->options;
  even[1][3] = even[1][2];
  refuse_create(o[1], HPGMG_BAD_ARGUMENT, "faces[2][3] is -0.375");
  even[1][3] = -0.3125;
  if (n_ranks > 1) {
    if (my_rank == n_ranks - 1) even[1][2] = -0.40625;
    refuse_create(
        o[1], HPGMG_BAD_ARGUMENT,
        textf("options.faces[2][2] is -0.40625 on rank %d, but -0.375 on rank 0", n_ranks - 1));
    even[1][2] = -0.375;
  }
  o[1].faces[2] = NULL;
  refuse_create(o[1], HPGMG_BAD_ARGUMENT, "faces[2] is NULL");
  free_part(&u[0]), free_part(&u[1]);
  mg_axes_free(&axes);
}

/* The solution is 1: Robin's conditions without another side, and factors of stretched axes. */
static void test_one(const fixture_backend_t *b, const char *words, double f) {
  hpgmg_options_t o = options_of(textf("%s %s --rtol=1e-10", b->options, words));
  hpgmg_solver_t *s;
  part_t u = part_of(NULL, -1);
  const hpgmg_array_t all[] = EVERYWHERE(f);
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, all, u.array, NULL));
  const double *got = values_in(&u);
  for (int64_t n = 0; n < u.values; n++)
    if (n % (grid[2] + 2) < grid[2]) CHECK_NEAR(got[n], 1.0, 1e-7);
  hpgmg_destroy(&s);
  free_part(&u);
}

/* With the solver's own boxes, which a dry run tells. */
static void test_own_boxes(const fixture_backend_t *b, const char *words) {
  static const char fixed[] = "--agglomerate-below=0 --rtol=1e-9";
  reference_t r = reference(b, textf("%s %s", words, fixed), "");
  hpgmg_options_t o = options_of(textf("%s " SPACING " %s %s --dry-run", b->options, words, fixed));
  hpgmg_solver_t *s;
  hpgmg_array_t own_f[MAX_BOXES], own_u[MAX_BOXES];
  API(hpgmg_create(&o, &s));
  const int n = hpgmg_boxes(s, my_boxes, MAX_BOXES);
  hpgmg_destroy(&s);
  CHECK(n >= 0 && n <= MAX_BOXES);
  o.n_boxes = n_mine = n;
  o.words = textf("%s " SPACING " %s %s", b->options, words, fixed);
  API(hpgmg_create(&o, &s));
  CHECK_INT(hpgmg_boxes(s, my_boxes, 0), n);
  set_beta(s, &r, NULL);
  check_solve(s, &r);
  hpgmg_storage(s, own_f, own_u);
  for (int box = 0; box < n; box++)
    CHECK(own_f[box].data && own_u[box].data);
  hpgmg_destroy(&s);
  check_cycles(o, &r);
  free_reference(&r);
  n_mine = 1;
}

/* With info, a solve waits; without, it may only be enqueued. Both give the same u. */
static void test_enqueued(const fixture_backend_t *b, const char *words) {
  hpgmg_options_t o = options_of(textf("%s %s", b->options, words));
  double *x = malloc((size_t)mg_volume(grid) * sizeof *x);
  hpgmg_info_t info;
  hpgmg_solver_t *s;
  for (int64_t c = 0; c < mg_volume(grid); c++)
    x[c] = 3.0 + (double)(c * 7919 % 1013) / 1013.0;
  o.cycles = 5;
  part_t f = part_of(x, -1), u = part_of(NULL, -1), want = part_of(NULL, -1);
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, f.array, want.array, &info));
  API(hpgmg_solve(s, f.array, u.array, NULL));
  const double *waited = values_in(&want);
  if (u.values > 0) CHECK_SAME(values_in(&u), waited, u.values);
  CHECK(info.relative < 1e-2);
  hpgmg_destroy(&s);
  free_part(&f), free_part(&u), free_part(&want);
  free(x);
}

/* The last solver of a process closes the device; so keep one. */
static void test_backend(const fixture_backend_t *b) {
  hpgmg_options_t o = options_of(b->options);
  hpgmg_solver_t *first;
  API(hpgmg_create(&o, &first));
  test_case(b, "--operator=fv2", "");
  test_case(b, "--operator=7pt --smoother=chebyshev --krylov=cg", "");
  test_case(b, "--boundary=neumann,dirichlet,periodic", "");
  test_case(b, "--boundary=dirichlet",
            "--boundary=dirichlet:1,dirichlet,dirichlet,dirichlet:2,dirichlet,dirichlet:-1");
  test_alpha(b);
  test_mixed(b);
  test_zero_rhs(b);
  test_faces(b);
  test_cell_beta(b, "--boundary=periodic,dirichlet,neumann");
  test_cell_beta(b, "--boundary=dirichlet --stretch=y:tanh:1.5");
  test_one(b, "--boundary=robin:2:0.5:2", 0.0);
  test_one(b,
           "--operator=7pt "
           "--boundary=robin:1:1:1,dirichlet:1,neumann,neumann,dirichlet:1,neumann",
           0.0);
  test_one(b, "--equation=helmholtz --boundary=neumann --stretch=y:tanh:1.5", 1.0);
  test_enqueued(b, "--boundary=neumann --stretch=y:tanh:1.5");
  test_enqueued(b, "--boundary=periodic --precision=mixed");
  test_enqueued(b, "--boundary=dirichlet:2 --stretch=y:tanh:1.5");
  if (n_mine == 1) test_own_boxes(b, "--boundary=periodic,dirichlet,neumann");
  hpgmg_destroy(&first);
}

int main(int argc, char **argv) {
  parts_begin(&argc, &argv);
  parts_each(4, test_backend);
  parts_end();
  return FIXTURE_END();
}
