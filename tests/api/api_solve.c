/* api_solve: solves through hpgmg.h give the norms and the u of the program's core, to the bit: on
 * any ranks, with boxes and strides of the caller's, one or several boxes per rank, empty boxes,
 * arrays in the memory of the host and of a GPU, several solvers at once, new coefficients and
 * right-hand sides, beta in cells, a guess, a varying alpha, and conditions with values. Bad
 * arguments give a status and a message. */
#include "include/hpgmg.h"
#include "io/boundary_faces_io.h"
#include "level/ops.h"
#include "plan/axes.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef HAVE_MPI
#include <mpi.h>
static MPI_Comm all_ranks;
#endif

static const int32_t cells[3] = {20, 17, 14};

/* The whole grid's beta, with the faces at the upper walls, f, and solution. */
typedef struct {
  double *beta[3], *f, *u;
  mg_history_t history;
} reference_t;

static int64_t faces_of(int d) {
  return mg_volume(cells) / cells[d] * (cells[d] + 1);
}

/* Cell-sized betas, and a plane at the upper wall, as one array of faces. */
static double *get_faces(mg_hierarchy_t *h, int d) {
  const double *low = field_get(&h->level[0], MG_BETA_I + d);
  double *faces = calloc((size_t)faces_of(d), sizeof *faces), *wall;
  int32_t n[2], size[3] = {cells[0], cells[1], cells[2]};
  mg_boundary_faces_size(cells, d, n);
  wall = calloc((size_t)(n[0] * n[1]), sizeof *wall);
  if (!mg_params_is_periodic(&h->params, d)) MUST(mg_boundary_faces_get(&h->level[0], d, wall));
  size[d]++;
  for (int k = 0, face = 0; k < size[2]; k++)
    for (int j = 0; j < size[1]; j++)
      for (int i = 0; i < size[0]; i++, face++) {
        const int at[3] = {i, j, k};
        const int a = d == 0 ? j : i, b = d == 2 ? j : k;
        faces[face] =
            at[d] == cells[d] ? wall[a + n[0] * b] : low[i + cells[0] * (j + cells[1] * k)];
      }
  free(wall);
  return faces;
}

static double *copy_of(const double *x, int64_t n) {
  double *y = malloc((size_t)n * sizeof *y);
  memcpy(y, x, (size_t)n * sizeof *y);
  return y;
}

/* The betas of cells of this width are stored without rounding. */
#define SPACING "--spacing=0.0625,0.0625,0.0625"

static const char *with_cells(const char *words) {
  return textf("--cells=%dx%dx%d " SPACING " %s", cells[0], cells[1], cells[2], words);
}

/* Solve with the built-in beta and f; the words may give conditions values. */
static reference_t reference(const fixture_backend_t *b, const char *words, const char *values) {
  reference_t r;
  mg_hierarchy_t *h = fixture_create(b, 4, 1, with_cells(words));
  for (int d = 0; d < 3; d++)
    r.beta[d] = get_faces(h, d);
  r.f = copy_of(field_get(&h->level[0], MG_F), mg_volume(cells));
  mg_hierarchy_free(h);
  h = fixture_create(b, 4, 1, with_cells(textf("%s %s", words, values)));
  r.history = *fixture_solve(h);
  r.u = copy_of(field_get(&h->level[0], MG_U), mg_volume(cells));
  mg_hierarchy_free(h);
  return r;
}

static void free_reference(reference_t *r) {
  for (int d = 0; d < 3; d++)
    free(r->beta[d]);
  free(r->f), free(r->u);
}

static int rank, ranks;

/* Boxes of a rank: all its cells, or two parts of them and an empty one. */
enum { MAX_BOXES = 3 };
static int n_boxes = 1;
static hpgmg_box_t boxes[MAX_BOXES];

/* The options of this rank: a part of the rows; the last of several ranks has none. */
static hpgmg_options_t options_of(const char *words) {
  hpgmg_options_t o = hpgmg_options();
  const int owners = ranks > 1 ? ranks - 1 : 1;
  const int32_t first = rank < owners ? cells[1] * rank / owners : 0;
  const int32_t rows = rank < owners ? cells[1] * (rank + 1) / owners - first : 0;
  const hpgmg_box_t mine = {{0, first, 0}, {cells[0], rows, cells[2]}};
  for (int d = 0; d < 3; d++)
    o.cells[d] = cells[d];
  for (int box = 0; box < MAX_BOXES; box++)
    boxes[box] = mine;
  if (n_boxes > 1) {
    boxes[0].n[0] = boxes[2].lo[0] = 7;
    boxes[1].n[0] = 0;
    boxes[2].n[0] -= 7;
  }
  o.n_boxes = n_boxes;
  o.boxes = boxes;
  o.words = words;
#ifdef HAVE_MPI
  o.comm = &all_ranks;
#endif
  return o;
}

/* Whether arrays are in the memory of the GPU. */
static bool on_device;

/* This rank's part of an array of the whole grid, in each box k fastest, with two unused values per
 * column. */
typedef struct {
  double *memory, *device;
  int64_t values;
  hpgmg_array_t array[MAX_BOXES];
} part_t;

static int64_t values_of(const hpgmg_box_t *box, int faces, int n[3]) {
  const bool empty = box->n[0] == 0 || box->n[1] == 0;
  for (int d = 0; d < 3; d++)
    n[d] = box->n[d] + (d == faces && !empty);
  return empty ? 0 : (int64_t)(n[2] + 2) * n[0] * n[1];
}

#ifdef HAVE_CUDA
/* Copy the values to the device, or back. */
static void move(part_t *p, bool to_device) {
  const int32_t n[3] = {(int32_t)p->values, 1, 1};
  void *memory;
  MUST(mg_backend_cuda.alloc((size_t)p->values * sizeof(double), MG_SPACE_SHARED, &memory));
  const mg_strided_t shared = {memory, {1, 0, 0}}, device = {p->device, {1, 0, 0}};
  if (to_device) memcpy(memory, p->memory, (size_t)p->values * sizeof(double));
  MUST(to_device ? mg_backend_cuda.arrays.copy(n, &shared, &device)
                 : mg_backend_cuda.arrays.copy(n, &device, &shared));
  MUST(mg_backend_cuda.queue.wait());
  if (!to_device) memcpy(p->memory, memory, (size_t)p->values * sizeof(double));
  mg_backend_cuda.release(memory, (size_t)p->values * sizeof(double), MG_SPACE_SHARED);
}

static void put_on_device(part_t *p) {
  void *memory;
  if (p->values == 0) return;
  MUST(mg_backend_cuda.alloc((size_t)p->values * sizeof(double), MG_SPACE_LEVEL, &memory));
  p->device = memory;
  move(p, true);
  for (int box = 0; box < n_boxes; box++)
    if (p->array[box].data) p->array[box].data = p->device + (p->array[box].data - p->memory);
}
#endif

static part_t part_of(const double *x, int faces) {
  part_t p = {.values = 0};
  int n[3], size[3];
  for (int box = 0; box < n_boxes; box++)
    p.values += values_of(&boxes[box], faces, n);
  p.memory = calloc((size_t)p.values + 1, sizeof *p.memory);
  for (int d = 0; d < 3; d++)
    size[d] = cells[d] + (d == faces);
  double *next = p.memory;
  for (int box = 0; box < n_boxes; box++) {
    const int64_t values = values_of(&boxes[box], faces, n);
    const int32_t *lo = boxes[box].lo;
    const ptrdiff_t column = n[2] + 2;
    if (values == 0) continue;
    p.array[box] = (hpgmg_array_t){next, {column, column * n[0], 1}};
    for (int k = 0; x && k < n[2]; k++)
      for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++)
          next[column * (i + n[0] * j) + k] =
              x[i + lo[0] + size[0] * (j + lo[1] + size[1] * (k + lo[2]))];
    next += values;
  }
#ifdef HAVE_CUDA
  if (on_device) put_on_device(&p);
#endif
  return p;
}

/* The values of a part, in host memory. */
static const double *values_in(part_t *p) {
#ifdef HAVE_CUDA
  if (p->device) move(p, false);
#endif
  return p->memory;
}

static void free_part(part_t *p) {
#ifdef HAVE_CUDA
  if (p->device)
    mg_backend_cuda.release(p->device, (size_t)p->values * sizeof(double), MG_SPACE_LEVEL);
#endif
  free(p->memory);
}

#define API(call) CHECK_INT((call), HPGMG_OK)

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
  const hpgmg_array_t one_array = {&one, {0, 0, 0}},
                      ones[MAX_BOXES] = {one_array, one_array, one_array};
  API(hpgmg_create(&o, &s[0]));
  API(hpgmg_solve(s[0], f.array, u[0].array, &info));
  hpgmg_destroy(&s[0]);
  test_guess(o, &(hpgmg_coefficients_t){{ones, ones, ones}, NULL, NULL}, &f, &u[0], info.residual);
  free_part(&f), free_part(&u[0]), free_part(&u[1]);
  free_reference(&r);
}

/* A varying alpha of 1 everywhere solves the problem with a constant one. */
static void test_alpha(const fixture_backend_t *b) {
  const char *words = "--equation=helmholtz --operator=7pt --rtol=1e-9";
  double one = 1.0;
  double *ones = field_random(mg_volume(cells), 1);
  for (int64_t c = 0; c < mg_volume(cells); c++)
    ones[c] = 1.0;
  reference_t r = reference(b, words, "");
  hpgmg_options_t o = options_of(textf("%s " SPACING " %s", b->options, words));
  hpgmg_solver_t *s;
  o.varying_alpha = 1;
  API(hpgmg_create(&o, &s));
  const hpgmg_array_t alpha = {&one, {0, 0, 0}}, all[MAX_BOXES] = {alpha, alpha, alpha};
  set_beta(s, &r, all);
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
  const int32_t size[3] = {cells[0] + (d == 0), cells[1] + (d == 1), cells[2] + (d == 2)};
  const bool wraps = mg_params_is_periodic(params, d);
  const double *x = params->face[d];
  double *beta = calloc((size_t)faces_of(d), sizeof *beta);
  for (int face = 0; face < faces_of(d); face++) {
    int low[3] = {face % size[0], face / size[0] % size[1], face / size[0] / size[1]};
    int high[3] = {low[0], low[1], low[2]};
    low[d]--;
    if (high[d] == cells[d]) high[d] = wraps ? 0 : cells[d] - 1;
    if (low[d] < 0) low[d] = wraps ? cells[d] - 1 : 0;
    const double p = of_cells[low[0] + cells[0] * (low[1] + cells[1] * low[2])],
                 q = of_cells[high[0] + cells[0] * (high[1] + cells[1] * high[2])],
                 wp = x ? x[low[d] + 1] - x[low[d]] : 0.5,
                 wq = x ? x[high[d] + 1] - x[high[d]] : 0.5;
    beta[face] = p == q ? p : p * (q / ((wp * q + wq * p) / (wp + wq)));
  }
  return beta;
}

/* Beta and f that vary without order. */
static reference_t rough(const fixture_backend_t *b, const char *words, double **of_cells) {
  reference_t r = {.f = copy_of(field_random(mg_volume(cells), 2), mg_volume(cells))};
  mg_hierarchy_t *h =
      fixture_create(b, 4, 1, textf("--cells=%dx%dx%d %s", cells[0], cells[1], cells[2], words));
  *of_cells = field_random(mg_volume(cells), 1);
  for (int64_t c = 0; c < mg_volume(cells); c++)
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
  const hpgmg_array_t none = {&zero, {0, 0, 0}}, f[MAX_BOXES] = {none, none, none};
  double *random = field_random(mg_volume(cells), 3);
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
  hpgmg_options_t o = options_of(textf("%s %s --rtol=1e-9", b->options, words));
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

static int lines;
static void count_lines(void *data, const char *text) {
  lines += data == (void *)&lines && strncmp(text, "hpgmg: error: ", 14) == 0;
}

/* The call has the status, and a message with the text. */
static void refused(hpgmg_solver_t *s, hpgmg_status_t status, hpgmg_status_t want,
                    const char *text) {
  CHECK_INT(status, want);
  CHECK_CONTAINS(hpgmg_error(s), text);
}

static void refuse_create(hpgmg_options_t o, hpgmg_status_t want, const char *text) {
  hpgmg_solver_t *s;
  o.log = count_lines;
  o.log_data = &lines;
  const hpgmg_status_t status = hpgmg_create(&o, &s);
  refused(s, status, want, text);
  double x = 0.0;
  hpgmg_array_t array = {&x, {0, 0, 0}};
  refused(s, hpgmg_solve(s, &array, &array, NULL), HPGMG_BAD_ARGUMENT, "has failed before");
  hpgmg_destroy(&s);
}

/* The faces of a stretched axis as an array give the bits of the words. */
static void test_faces(const fixture_backend_t *b) {
  mg_axes_t axes = {{NULL, NULL, NULL}};
  mg_params_t params = {.cells = {cells[0], cells[1], cells[2]},
                        .length = {1.25, 1.0625, 0.875},
                        .stretch = {0.0, 1.5, 0.0}};
  double even[2][32], one = 1.0;
  const hpgmg_array_t array = {&one, {0, 0, 0}}, f[MAX_BOXES] = {array, array, array};
  hpgmg_options_t o[2] = {
      options_of(textf("%s --lengths=1.25,1.0625,0.875 --stretch=y:tanh:1.5", b->options)),
      options_of(b->options)};
  part_t u[2] = {part_of(NULL, -1), part_of(NULL, -1)};
  MUST(mg_axes_set(&axes, &params));
  for (int i = 0; i <= cells[0]; i++)
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
  refuse_create(o[1], HPGMG_BAD_ARGUMENT, "faces are given; drop");
  o[1].words = b->options;
  even[1][3] = even[1][2];
  refuse_create(o[1], HPGMG_BAD_ARGUMENT, "faces[2][3] is -0.375");
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
  const hpgmg_array_t array = {&f, {0, 0, 0}}, all[MAX_BOXES] = {array, array, array};
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, all, u.array, NULL));
  const double *got = values_in(&u);
  for (int64_t n = 0; n < u.values; n++)
    if (n % (cells[2] + 2) < cells[2]) CHECK_NEAR(got[n], 1.0, 1e-7);
  hpgmg_destroy(&s);
  free_part(&u);
}

static void test_errors(void) {
  static const struct {
    const char *words, *text;
  } bad[] = {{"--smoother=magic", "magic"},
             {"--rtol=-1", "rtol"},
             {"--json=x", "--json is an option of the program only"},
             {"--help", "--help is an option"},
             {"--operator=fv4", "fv4"},
             {"stray", "stray"}};
  lines = 0;
  for (size_t n = 0; n < sizeof bad / sizeof *bad; n++)
    refuse_create(options_of(bad[n].words), HPGMG_BAD_ARGUMENT, bad[n].text);
  hpgmg_options_t o = options_of(NULL);
  o.size--;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "compile with its hpgmg.h");
  o = options_of(NULL);
  o.cells[1] = -3;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "-3");
  o = options_of(NULL);
  o.varying_alpha = 1;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "--equation=helmholtz");
  o = options_of(NULL);
  if (rank == 0) boxes[0].n[2]++;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "the grid has 14 cells there");
  o = options_of(NULL);
  if (rank == 0) boxes[0].n[2]--;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "cells, but the grid has 4760");
  o = options_of(NULL);
  o.n_boxes = -1;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "n_boxes is -1");
  o = options_of(NULL);
  o.boxes = NULL;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "boxes is NULL");
  o = hpgmg_options();
  o.words = "4 1";
  o.guess = 1;
  if (ranks == 1) refuse_create(o, HPGMG_BAD_ARGUMENT, "a guess needs --rtol or cycles");
  o = options_of(NULL);
  o.cycles = -1;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "cycles is -1");
  o = options_of("--operator=7pt --krylov=cg");
  o.cycles = 2;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "cycles is 2, but --krylov=cg");
  if (ranks > 1) {
    o = options_of("--equation=helmholtz");
    o.varying_alpha = rank == 0;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "differs between ranks");
    o = options_of(NULL);
    o.cycles = rank == 0 ? 2 : 3;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "cycles differs between ranks");
    o = options_of(NULL);
    o.guess = rank == 0;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "guess differs between ranks");
    o = options_of(NULL);
    if (rank == ranks - 1) boxes[0].n[1] = 1;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "both have cell (0, 0, 0)");
  }
  CHECK(rank > 0 || lines > 10);
}

static void test_bad_values(void) {
  hpgmg_options_t o = options_of("--boundary=neumann,dirichlet,neumann");
  hpgmg_solver_t *s;
  API(hpgmg_create(&o, &s));
  double one = 1.0, bad = rank == 0 ? -1.0 : 1.0, nan = NAN;
  hpgmg_array_t constant = {&one, {0, 0, 0}}, wrong = {&bad, {0, 0, 0}}, none = {&nan, {0, 0, 0}};
  hpgmg_coefficients_t c = {{&constant, &wrong, &constant}, NULL, NULL};
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[1] has -1 at (0, 0, 0)");
  /* Faces on sides with Neumann's condition are not read. */
  c.beta[1] = &constant;
  c.beta[2] = &none;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[2] has nan at (0, 0, 1)");
  c.beta[2] = NULL;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[2] is NULL");
  c.beta[2] = c.alpha = &constant;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "no varying_alpha");
  c.alpha = NULL;
  c.cell_beta = &constant;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta and cell_beta are given");
  refused(s, hpgmg_set_coefficients(s, NULL), HPGMG_BAD_ARGUMENT, "coefficients is NULL");
  c = (hpgmg_coefficients_t){.cell_beta = &wrong};
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "cell_beta has -1 at (0, 0, 0)");
  part_t u = part_of(NULL, -1);
  refused(s, hpgmg_solve(s, &none, u.array, NULL), HPGMG_BAD_ARGUMENT, "f has nan at (0, 0, 0)");
  refused(s, hpgmg_solve(s, NULL, u.array, NULL), HPGMG_BAD_ARGUMENT, "f is NULL");
  /* The solver is as before. */
  API(hpgmg_solve(s, &constant, u.array, NULL));
  hpgmg_destroy(&s);
  free_part(&u);
}

/* Values that only all ranks together show to be wrong. */
static void test_bad_fields(void) {
  hpgmg_options_t o = options_of("--equation=helmholtz --boundary=neumann --operator=7pt");
  hpgmg_solver_t *s;
  double one = 1.0, zero = 0.0, small = 1e-70;
  hpgmg_array_t constant = {&one, {0, 0, 0}}, none = {&zero, {0, 0, 0}}, tiny = {&small, {0, 0, 0}};
  hpgmg_coefficients_t c = {{&constant, &constant, &constant}, &none, NULL};
  part_t u = part_of(NULL, -1);
  o.varying_alpha = 1;
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "alpha is 0 everywhere");
  refused(s, hpgmg_solve(s, &tiny, u.array, NULL), HPGMG_BAD_ARGUMENT, "max|f| is 1e-70");
  hpgmg_destroy(&s);
  free_part(&u);
}

/* In a parallel region, kernels would see the wrong number of a thread. */
static void test_parallel_region(void) {
#ifdef _OPENMP
  hpgmg_options_t o = options_of(NULL);
  hpgmg_solver_t *s;
  double one = 1.0;
  const hpgmg_array_t f = {&one, {0, 0, 0}};
  part_t u = part_of(NULL, -1);
  hpgmg_status_t status = HPGMG_OK;
  bool parallel = false; /* not with OMP_THREAD_LIMIT=1 */
  API(hpgmg_create(&o, &s));
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    parallel = omp_in_parallel();
    status = hpgmg_solve(s, &f, u.array, NULL);
  }
  if (parallel)
    refused(s, status, HPGMG_BAD_ARGUMENT, "parallel region");
  else
    CHECK_INT(status, HPGMG_OK);
  API(hpgmg_solve(s, &f, u.array, NULL));
  hpgmg_destroy(&s);
  free_part(&u);
#endif
}

static void test_reasons(void) {
  hpgmg_options_t o = options_of("--rtol=1e-12 --max-cycles=2");
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  double one = 1.0;
  const hpgmg_array_t f = {&one, {0, 0, 0}};
  part_t u = part_of(NULL, -1);
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_solve(s, &f, u.array, &info), HPGMG_NOT_CONVERGED, "after 2 cycles");
  CHECK_INT(info.reason, HPGMG_MAX_CYCLES);
  hpgmg_destroy(&s);
  /* A cube of boxes, whose default is one cycle. */
  o = hpgmg_options();
  o.words = "4 1";
  hpgmg_array_t cube = {calloc(4096, sizeof(double)), {1, 16, 256}};
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, &f, &cube, &info));
  CHECK_INT(info.reason, HPGMG_CYCLES_DONE);
  CHECK_INT(info.cycles, 1);
  free(cube.data);
  int64_t bytes[2];
  hpgmg_memory(s, bytes);
  CHECK(bytes[0] + bytes[1] > 5 * 4096 * (int64_t)sizeof(double));
  hpgmg_solver_t *stale = s;
  hpgmg_destroy(&s);
  hpgmg_destroy(&s);
  hpgmg_destroy(&stale);
  refused(stale, hpgmg_solve(stale, &f, &f, NULL), HPGMG_BAD_ARGUMENT, "it was destroyed");
  refused(NULL, hpgmg_set_coefficients(NULL, NULL), HPGMG_BAD_ARGUMENT, "there is no such solver");
  hpgmg_memory(stale, bytes);
  CHECK(bytes[0] == 0 && bytes[1] == 0);
  CHECK_INT(hpgmg_create(NULL, &s), HPGMG_BAD_ARGUMENT);
  CHECK_INT(hpgmg_create(&o, NULL), HPGMG_BAD_ARGUMENT);
  CHECK_STRING(hpgmg_status_text(HPGMG_NO_MEMORY), "out of memory");
  CHECK_STRING(hpgmg_version(), PACKAGE_VERSION);
  free_part(&u);
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
  hpgmg_destroy(&first);
}

/* Backends that a word selects alone. */
static bool has_solver(const char *name) {
  return strcmp(name, "cpu") == 0 || strcmp(name, "guard") == 0 || strcmp(name, "cuda") == 0;
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  rank = mg_comm_rank(mg_comm_world());
  ranks = mg_comm_size(mg_comm_world());
#ifdef HAVE_MPI
  if (MPI_Comm_dup(MPI_COMM_WORLD, &all_ranks) != MPI_SUCCESS) return 1;
#endif
  for (const fixture_backend_t *b = fixture_backends; b->name; b++) {
    if (!has_solver(b->name)) continue;
    const bool has_device = strcmp(b->name, "cuda") == 0;
    for (int mode = 0; mode < (has_device ? 4 : 2); mode++) {
      n_boxes = mode % 2 == 0 ? 1 : MAX_BOXES;
      on_device = mode >= 2;
      test_backend(b);
    }
    n_boxes = 1;
    on_device = false;
    fixture_release();
  }
  test_errors();
  test_bad_values();
  test_bad_fields();
  test_parallel_region();
  test_reasons();
#ifdef HAVE_MPI
  if (MPI_Comm_free(&all_ranks) != MPI_SUCCESS) return 1;
#endif
  return FIXTURE_END();
}
