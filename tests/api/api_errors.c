/* api_errors: bad arguments of hpgmg.h give a status and a message, and leave the solver as before.
 * A solve has a reason. */
#include "tests/api/parts.h"
#include "tests/lib/fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_MPI
#include <mpi.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

static void test_errors(void) {
  static const struct {
    const char *words, *text;
  } bad[] = {{"--smoother=magic", "magic"},
             {"--rtol=-1", "rtol"},
             {"--json=x", "--json is an option of the program only"},
             {"--energy", "--energy is an option of the program only"},
             {"--help", "--help is an option"},
             {"--dump-levels=0", "--dump-levels is an option of the program only"},
             {"--input=missing.ini", "--input is an option of the program only"},
             {"--min-time=1", "--min-time is an option of the program only"},
             {"-V", "-h and -V are options of the program"},
             {"--operator=fv4", "options.cells requires --operator=fv2"},
             {"4 1", "options.cells cannot be combined with LOG2_BOX_DIM"},
             {"4", "for example: 7 8"},
             {"4 1 1", "unexpected argument '1'"},
             {"--cells=9x9x9", "options.cells is 20x17x14, but the words have --cells=9x9x9"},
             {"--cells=0x9x9", "--cells=0x9x9: out of range"},
             {"--log2-box-dim=4", "--log2-box-dim is not an option; pass LOG2_BOX_DIM"},
             {"--size=4", "and options.cells=100x80x60 any other"},
             {"--nothing-like-it", "hpgmg-fv --help lists all"},
             {"--smother=gsrb", "did you mean --smoother?"},
             {"stray", "stray"}};
  n_lines = 0;
  for (size_t n = 0; n < sizeof bad / sizeof *bad; n++)
    refuse_create(options_of(bad[n].words), HPGMG_BAD_ARGUMENT, bad[n].text);
  hpgmg_options_t o = options_of(NULL);
  o.size--;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "compile with its hpgmg.h");
  o = options_of(NULL);
  o.cells[1] = -3;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "-3");
  o.cells[1] = 0;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "options.cells=20x0x14: out of range");
  memset(o.cells, 0, sizeof o.cells);
  refuse_create(o, HPGMG_BAD_ARGUMENT, "BOXES_PER_RANK are missing; pass both, for example: 7 8");
  o.words = "--boundary=dirichlet:1";
  refuse_create(o, HPGMG_BAD_ARGUMENT, "values other than 0, require options.cells");
  o.words = "--mean=1 4 1";
  refuse_create(o, HPGMG_BAD_ARGUMENT, "--mean requires options.cells");
  o.words = "--cells=100000x100000x100000 --device=cpu";
  refuse_create(o, HPGMG_NO_MEMORY, "^3 cells");
  o = options_of("--max-cycles=2");
  o.cycles = 3;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "options.cycles is 3, but the words have --max-cycles=2");
  o = options_of("--cycle=f");
  o.guess = 1;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "options.guess needs V-cycles");
  o = options_of(NULL);
  o.varying_alpha = 1;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "--equation=helmholtz");
  o = options_of(NULL);
  if (my_rank == 0) my_boxes[0].n[2]++;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "the grid has 14 cells there");
  o = options_of(NULL);
  if (my_rank == 0) my_boxes[0].n[2]--;
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
  if (n_ranks == 1) refuse_create(o, HPGMG_BAD_ARGUMENT, "a guess needs --rtol or cycles");
  o = options_of(NULL);
  o.cycles = -1;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "cycles is -1");
  o = options_of("--operator=7pt --krylov=cg");
  o.cycles = 2;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "cycles is 2, but --krylov=cg");
  if (n_ranks > 1) {
    o = options_of("--equation=helmholtz");
    o.varying_alpha = my_rank == 0;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "differs between ranks");
    o = options_of(NULL);
    o.cycles = my_rank == 0 ? 2 : 3;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "cycles differs between ranks");
    o = options_of(NULL);
    o.guess = my_rank == 0;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "guess differs between ranks");
    o = options_of(my_rank == 0 ? "--rtol=1e-6" : "--rtol=1e-7");
    refuse_create(o, HPGMG_BAD_ARGUMENT, "differ from those of rank 0: --rtol is 1e-07, not 1e-06");
    o = options_of(NULL);
    o.cells[2] += my_rank;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "options.cells is 20x17x15, not 20x17x14");
    o = options_of(NULL);
    if (my_rank == n_ranks - 1) my_boxes[0].n[1] = 1;
    refuse_create(o, HPGMG_BAD_ARGUMENT, "both have cell (0, 0, 0)");
  }
  CHECK(my_rank > 0 || n_lines > 10);
}

static void test_bad_values(void) {
  hpgmg_options_t o = options_of("--boundary=neumann,dirichlet,neumann");
  hpgmg_solver_t *s;
  API(hpgmg_create(&o, &s));
  double one = 1.0, bad = my_rank == 0 ? -1.0 : 1.0, nan = NAN;
  hpgmg_array_t constant = {.data = &one}, wrong = {.data = &bad}, none = {.data = &nan};
  hpgmg_coefficients_t c = {{&constant, &wrong, &constant}, NULL, NULL, NULL};
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
  hpgmg_array_t ghosts = u.array[0];
  ghosts.n[0] = 22;
  refused(s, hpgmg_solve(s, &constant, &ghosts, NULL), HPGMG_BAD_ARGUMENT, "u has 22x");
  /* The solver is as before. */
  API(hpgmg_solve(s, &constant, u.array, NULL));
  hpgmg_destroy(&s);
  free_part(&u);
}

/* If u is determined only up to a constant, betas of a ratio above 1e20 are lost in round-off. */
static void test_ratio(const char *words, double beta_i, double beta_k, const char *text) {
  hpgmg_options_t o = options_of(words);
  hpgmg_solver_t *s;
  double one = 1.0;
  const hpgmg_array_t ones = {.data = &one}, in_i = {.data = &beta_i}, in_k = {.data = &beta_k};
  const hpgmg_coefficients_t c = {.beta = {&in_i, &ones, &in_k}};
  part_t u = part_of(NULL, -1);
  API(hpgmg_create(&o, &s));
  if (text)
    refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, text);
  else
    API(hpgmg_set_coefficients(s, &c));
  /* After an error, betas of 1. */
  if (text) API(hpgmg_solve(s, &ones, u.array, NULL));
  hpgmg_destroy(&s);
  free_part(&u);
}

/* Values that only all ranks together show to be wrong. */
static void test_bad_fields(void) {
  hpgmg_options_t o = options_of("--equation=helmholtz --boundary=neumann --operator=7pt");
  hpgmg_solver_t *s;
  double one = 1.0, zero = 0.0, small = 1e-70;
  hpgmg_array_t constant = {.data = &one}, none = {.data = &zero}, tiny = {.data = &small};
  hpgmg_coefficients_t c = {{&constant, &constant, &constant}, &none, NULL, NULL};
  part_t u = part_of(NULL, -1);
  o.varying_alpha = 1;
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "alpha is 0 everywhere");
  refused(s, hpgmg_solve(s, &tiny, u.array, NULL), HPGMG_BAD_ARGUMENT, "max|f| is 1e-70");
  hpgmg_destroy(&s);
  test_ratio("--boundary=neumann", 0.9e-20, 1.0, "beta[0] has 9e-21 at (1, 0, 0), less than 1e-20");
  test_ratio("--boundary=periodic", 1.0, 2e20, "beta[0] has 1 at (0, 0, 0), less than 1e-20");
  test_ratio("--boundary=periodic", 1.0, 1e-20, NULL);
  test_ratio("--boundary=periodic,dirichlet,neumann", 1.0, 1e-60, NULL);
  test_ratio("--boundary=neumann --equation=helmholtz", 1.0, 1e-60, NULL);
  free_part(&u);
}

/* Values that float cells cannot hold. */
static void test_mixed_values(void) {
  hpgmg_options_t o = options_of("--precision=mixed");
  hpgmg_solver_t *s;
  double one = 1.0, large = 1e50, small = 1e-50;
  const hpgmg_array_t ones[MAX_BOXES] = {{.data = &one}}, f = {.data = &large},
                      tiny = {.data = &small};
  hpgmg_coefficients_t c = {.cell_beta = &f};
  part_t u = part_of(NULL, -1);
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_solve(s, &f, u.array, NULL), HPGMG_BAD_ARGUMENT,
          "max|f| is 1e+50; --precision=mixed requires");
  refused(s, hpgmg_solve(s, &tiny, u.array, NULL), HPGMG_BAD_ARGUMENT, "max|f| is 1e-50; ");
  API(hpgmg_solve(s, ones, u.array, NULL));
  /* The solver is as before. */
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT,
          "cell_beta has 1e+50 at (0, 0, 0); it must be from ");
  c = (hpgmg_coefficients_t){.beta = {&tiny, ones, ones}};
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "beta[0] has 1e-50 at (0, 0, 0); ");
  API(hpgmg_solve(s, ones, u.array, NULL));
  hpgmg_destroy(&s);
  refuse_create(options_of("--precision=mixed --spacing=1e-30,1e-30,1e-30"), HPGMG_BAD_ARGUMENT,
                "1 / width^2 is 1e+60; ");
  free_part(&u);
}

static jmp_buf back;

static void jump(void *data, const char *text) {
  (void)data, (void)text;
  longjmp(back, 1);
}

/* A log function that does not return, as after a C++ exception, leaves no lock behind. */
static void test_jump(void) {
  static hpgmg_solver_t *s;
  hpgmg_options_t o = options_of("--smoother=magic");
  o.log = jump;
  const bool jumped = setjmp(back) != 0;
  if (!jumped) CHECK_INT(hpgmg_create(&o, &s), HPGMG_BAD_ARGUMENT);
  CHECK(jumped || my_rank > 0);
  CHECK_CONTAINS(hpgmg_error(s), "magic");
  hpgmg_destroy(&s);
  o = options_of(NULL);
  API(hpgmg_create(&o, &s));
  hpgmg_destroy(&s);
}

/* The caller's communicator may end before the solver, but not before it is created. */
static void test_freed_communicator(void) {
#ifdef HAVE_MPI
  hpgmg_options_t o = options_of(NULL);
  hpgmg_solver_t *s;
  MPI_Comm comm;
  double one = 1.0;
  const hpgmg_array_t f = {.data = &one};
  part_t u = part_of(NULL, -1);
  CHECK_INT(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  o.comm = &comm;
  API(hpgmg_create(&o, &s));
  CHECK_INT(MPI_Comm_free(&comm), MPI_SUCCESS);
  API(hpgmg_solve(s, &f, u.array, NULL));
  hpgmg_destroy(&s);
  refuse_create(o, HPGMG_BAD_ARGUMENT, "the communicator is MPI_COMM_NULL");
  free_part(&u);
#endif
}

/* In a parallel region, kernels would see the wrong number of a thread. */
static void test_parallel_region(void) {
#ifdef _OPENMP
  hpgmg_options_t o = options_of(NULL);
  hpgmg_solver_t *s;
  double one = 1.0;
  const hpgmg_array_t f = {.data = &one};
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

/* Blocks of 4^3 cells with betas of 1 and 1e6: plain cycles raise the residual by factors that
 * change from cycle to cycle. */
static void test_divergence(void) {
  static double beta[20 * 17 * 14], f[20 * 17 * 14];
  hpgmg_options_t o = options_of("--method=options --operator=7pt --cycle=v --boundary=neumann");
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  for (int c = 0; c < 20 * 17 * 14; c++) {
    beta[c] = (c % 20 / 4 + c / 20 % 17 / 4 + c / 340 / 4) % 2 == 0 ? 1.0 : 1e6;
    f[c] = c == 0 ? -3.0 : 1.0;
  }
  part_t u = part_of(NULL, -1), of_f = part_of(f, -1), of_beta = part_of(beta, -1);
  const hpgmg_coefficients_t coefficients = {.cell_beta = of_beta.array};
  API(hpgmg_create(&o, &s));
  API(hpgmg_set_coefficients(s, &coefficients));
  refused(s, hpgmg_solve(s, of_f.array, u.array, &info), HPGMG_NOT_CONVERGED,
          "all last cycles raised the residual");
  CHECK_INT(info.reason, HPGMG_DIVERGED);
  CHECK(info.cycles <= 15);
  hpgmg_destroy(&s);
  /* By default, the coefficients choose a method that converges; others choose again. */
  o.words = "--operator=7pt --boundary=neumann";
  double one = 1.0;
  const hpgmg_array_t ones[] = EVERYWHERE(one);
  API(hpgmg_create(&o, &s));
  for (int c = 0; c < 3; c++) {
    API(hpgmg_set_coefficients(s, c == 1 ? &(hpgmg_coefficients_t){.cell_beta = ones}
                                         : &coefficients));
    API(hpgmg_solve(s, of_f.array, u.array, &info));
    CHECK_INT(info.reason, HPGMG_CONVERGED);
    CHECK(info.cycles <= (c == 1 ? 6 : 25));
  }
  hpgmg_destroy(&s);
  free_part(&u), free_part(&of_f), free_part(&of_beta);
}

static void test_reasons(void) {
  hpgmg_options_t o = options_of("--rtol=1e-12 --max-cycles=2");
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  double one = 1.0;
  const hpgmg_array_t f = {.data = &one};
  part_t u = part_of(NULL, -1);
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_solve(s, &f, u.array, &info), HPGMG_NOT_CONVERGED, "after 2 cycles");
  CHECK_INT(info.reason, HPGMG_MAX_CYCLES);
  hpgmg_destroy(&s);
  o.words = "--rtol=1e-30 --max-cycles=200";
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_solve(s, &f, u.array, &info), HPGMG_NOT_CONVERGED, "is below round-off");
  CHECK_INT(info.reason, HPGMG_STAGNATED);
  hpgmg_destroy(&s);
  /* A cube of boxes, whose default is one cycle. */
  o = hpgmg_options();
  o.words = "4 1";
  hpgmg_array_t cube = {calloc(4096, sizeof(double)), {1, 16, 256}, {16, 16, 16}};
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

int main(int argc, char **argv) {
  parts_begin(&argc, &argv);
  test_errors();
  test_bad_values();
  test_bad_fields();
  test_mixed_values();
  test_jump();
  test_freed_communicator();
  test_parallel_region();
  test_divergence();
  test_reasons();
  parts_end();
  return FIXTURE_END();
}
