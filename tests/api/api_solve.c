/* api_solve: solves through hpgmg.h give the norms and the u of the program's core, to the bit: on
 * any ranks, with boxes and strides of the caller's, empty boxes, several solvers at once, new
 * coefficients and right-hand sides, a varying alpha, and conditions with values. Bad arguments
 * give a status and a message. */
#include "include/hpgmg.h"
#include "io/boundary_faces_io.h"
#include "level/ops.h"
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

/* The options of this rank: a part of the rows; the last of several ranks has none. */
static hpgmg_options_t options_of(const char *words) {
  hpgmg_options_t o = hpgmg_options();
  const int owners = ranks > 1 ? ranks - 1 : 1;
  for (int d = 0; d < 3; d++) {
    o.cells[d] = o.n[d] = cells[d];
    o.lo[d] = 0;
  }
  o.lo[1] = rank < owners ? cells[1] * rank / owners : 0;
  o.n[1] = rank < owners ? cells[1] * (rank + 1) / owners - o.lo[1] : 0;
  o.words = words;
#ifdef HAVE_MPI
  o.comm = &all_ranks;
#endif
  return o;
}

/* This rank's part of an array of the whole grid, k fastest, with two unused values per column. */
typedef struct {
  double *memory;
  hpgmg_array_t array;
} part_t;

static part_t part_of(const hpgmg_options_t *o, const double *x, int faces) {
  int n[3], size[3];
  part_t p = {NULL, {NULL, {0, 0, 0}}};
  for (int d = 0; d < 3; d++) {
    n[d] = o->n[d] + (d == faces && o->n[1] > 0);
    size[d] = cells[d] + (d == faces);
  }
  const ptrdiff_t column = n[2] + 2;
  p.memory = calloc((size_t)(column * n[0] * n[1] + 1), sizeof *p.memory);
  if (o->n[1] == 0) return p;
  p.array = (hpgmg_array_t){p.memory, {column, column * n[0], 1}};
  for (int k = 0; x && k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++)
        p.memory[column * (i + n[0] * j) + k] =
            x[i + o->lo[0] + size[0] * (j + o->lo[1] + size[1] * (k + o->lo[2]))];
  return p;
}

#define API(call) CHECK_INT((call), HPGMG_OK)

static void check_solve(hpgmg_solver_t *s, const hpgmg_options_t *o, const reference_t *r) {
  part_t f = part_of(o, r->f, -1), u = part_of(o, NULL, -1), want = part_of(o, r->u, -1);
  hpgmg_info_t info;
  API(hpgmg_solve(s, &f.array, &u.array, &info));
  CHECK_STRING(hpgmg_error(s), "");
  CHECK_INT(info.reason, HPGMG_CONVERGED);
  CHECK_INT(info.cycles, r->history.n_cycles);
  CHECK_SAME(&info.residual, &r->history.norm[r->history.n_cycles - 1], 1);
  CHECK_SAME(&info.relative, &r->history.rel[r->history.n_cycles - 1], 1);
  if (u.array.data) CHECK_SAME(u.memory, want.memory, (o->n[2] + 2) * o->n[0] * o->n[1]);
  free(f.memory), free(u.memory), free(want.memory);
}

static void set_beta(hpgmg_solver_t *s, const hpgmg_options_t *o, const reference_t *r,
                     hpgmg_array_t alpha) {
  part_t beta[3];
  hpgmg_coefficients_t c = {.alpha = alpha};
  for (int d = 0; d < 3; d++) {
    beta[d] = part_of(o, r->beta[d], d);
    c.beta[d] = beta[d].array;
  }
  API(hpgmg_set_coefficients(s, &c));
  for (int d = 0; d < 3; d++)
    free(beta[d].memory);
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
  part_t f = part_of(&o, r.f, -1), u = part_of(&o, NULL, -1);
  API(hpgmg_solve(s[0], &f.array, &u.array, NULL));
  for (int n = 0; n < 2; n++)
    set_beta(s[n], &o, &r, (hpgmg_array_t){NULL, {0, 0, 0}});
  for (int n = 0; n < 4; n++)
    check_solve(s[n % 2], &o, &r);
  for (int n = 0; n < 2; n++) {
    hpgmg_destroy(&s[n]);
    CHECK(s[n] == NULL);
  }
  free(f.memory), free(u.memory);
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
  set_beta(s, &o, &r, (hpgmg_array_t){&one, {0, 0, 0}});
  part_t f = part_of(&o, r.f, -1), u = part_of(&o, NULL, -1);
  hpgmg_info_t info;
  API(hpgmg_solve(s, &f.array, &u.array, &info));
  CHECK_INT(info.cycles, r.history.n_cycles);
  hpgmg_destroy(&s);
  free(f.memory), free(u.memory);
  free_reference(&r);
}

/* The solution is 1: Robin's conditions without another side, and factors of stretched axes. */
static void test_one(const fixture_backend_t *b, const char *words, double f) {
  hpgmg_options_t o = options_of(textf("%s %s --rtol=1e-10", b->options, words));
  hpgmg_solver_t *s;
  part_t u = part_of(&o, NULL, -1);
  const hpgmg_array_t array = {&f, {0, 0, 0}};
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, &array, &u.array, NULL));
  for (int k = 0; u.array.data && k < o.n[2]; k++)
    for (int c = 0; c < o.n[0] * o.n[1]; c++)
      CHECK_NEAR(u.memory[c * (o.n[2] + 2) + k], 1.0, 1e-7);
  hpgmg_destroy(&s);
  free(u.memory);
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
  if (rank == 0) o.n[2]++;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "the grid has 14 cells there");
  o = options_of(NULL);
  if (rank == 0) o.n[2]--;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "cells, but the grid has 4760");
  if (ranks > 1) {
    o = options_of("--equation=helmholtz");
    o.varying_alpha = rank == 0;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "differs between ranks");
    o = options_of(NULL);
    if (rank == ranks - 1) o.n[1] = 1;
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
  hpgmg_coefficients_t c = {{constant, wrong, constant}, {NULL, {0, 0, 0}}};
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[1] has -1 at (0, 0, 0)");
  /* Faces on sides with Neumann's condition are not read. */
  c.beta[1] = constant;
  c.beta[2] = none;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[2] has nan at (0, 0, 1)");
  c.beta[2] = (hpgmg_array_t){NULL, {0, 0, 0}};
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[2] is NULL");
  c.beta[2] = c.alpha = constant;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "no varying_alpha");
  part_t u = part_of(&o, NULL, -1);
  refused(s, hpgmg_solve(s, &none, &u.array, NULL), HPGMG_BAD_ARGUMENT, "f has nan at (0, 0, 0)");
  /* The solver is as before. */
  API(hpgmg_solve(s, &constant, &u.array, NULL));
  hpgmg_destroy(&s);
  free(u.memory);
}

/* In a parallel region, kernels would see the wrong number of a thread. */
static void test_parallel_region(void) {
#ifdef _OPENMP
  hpgmg_options_t o = options_of(NULL);
  hpgmg_solver_t *s;
  double one = 1.0;
  const hpgmg_array_t f = {&one, {0, 0, 0}};
  part_t u = part_of(&o, NULL, -1);
  hpgmg_status_t status = HPGMG_OK;
  bool parallel = false; /* not with OMP_THREAD_LIMIT=1 */
  API(hpgmg_create(&o, &s));
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    parallel = omp_in_parallel();
    status = hpgmg_solve(s, &f, &u.array, NULL);
  }
  if (parallel)
    refused(s, status, HPGMG_BAD_ARGUMENT, "parallel region");
  else
    CHECK_INT(status, HPGMG_OK);
  API(hpgmg_solve(s, &f, &u.array, NULL));
  hpgmg_destroy(&s);
  free(u.memory);
#endif
}

static void test_reasons(void) {
  hpgmg_options_t o = options_of("--rtol=1e-12 --max-cycles=2");
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  double one = 1.0;
  const hpgmg_array_t f = {&one, {0, 0, 0}};
  part_t u = part_of(&o, NULL, -1);
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_solve(s, &f, &u.array, &info), HPGMG_NOT_CONVERGED, "after 2 cycles");
  CHECK_INT(info.reason, HPGMG_MAX_CYCLES);
  hpgmg_destroy(&s);
  /* A cube of boxes, whose default is one cycle. */
  o = hpgmg_options();
  o.words = "4 1";
  part_t cube = {calloc(4096, sizeof(double)), {NULL, {1, 16, 256}}};
  cube.array.data = cube.memory;
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, &f, &cube.array, &info));
  CHECK_INT(info.reason, HPGMG_CYCLES_DONE);
  CHECK_INT(info.cycles, 1);
  free(cube.memory);
  hpgmg_destroy(&s);
  hpgmg_destroy(&s);
  CHECK_STRING(hpgmg_status_text(HPGMG_NO_MEMORY), "out of memory");
  CHECK_STRING(hpgmg_version(), PACKAGE_VERSION);
  free(u.memory);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  rank = mg_comm_rank(mg_comm_world());
  ranks = mg_comm_size(mg_comm_world());
#ifdef HAVE_MPI
  if (MPI_Comm_dup(MPI_COMM_WORLD, &all_ranks) != MPI_SUCCESS) return 1;
#endif
  for (const fixture_backend_t *b = fixture_backends; b->name; b++) {
    if (strcmp(b->name, "cpu") != 0 && strcmp(b->name, "cuda") != 0) continue;
    test_case(b, "--operator=fv2", "");
    test_case(b, "--operator=7pt --smoother=chebyshev --krylov=cg", "");
    test_case(b, "--boundary=neumann,dirichlet,periodic", "");
    test_case(b, "--boundary=dirichlet",
              "--boundary=dirichlet:1,dirichlet,dirichlet,dirichlet:2,dirichlet,dirichlet:-1");
    test_alpha(b);
    test_one(b, "--boundary=robin:2:0.5:2", 0.0);
    test_one(
        b, "--operator=7pt --boundary=robin:1:1:1,dirichlet:1,neumann,neumann,dirichlet:1,neumann",
        0.0);
    test_one(b, "--equation=helmholtz --boundary=neumann --stretch=y:tanh:1.5", 1.0);
    fixture_release();
  }
  test_errors();
  test_bad_values();
  test_parallel_region();
  test_reasons();
#ifdef HAVE_MPI
  if (MPI_Comm_free(&all_ranks) != MPI_SUCCESS) return 1;
#endif
  return FIXTURE_END();
}
