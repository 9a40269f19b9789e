/* api_process: the library in a process that belongs to others. A solver without a communicator
 * never calls MPI. Numbers have a point in any locale of the application. Communicators of another
 * MPI library are refused, one thread suffices, and MPI_Finalize may come too early. No solve
 * raises FE_INVALID or FE_DIVBYZERO. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* feenableexcept */
#endif
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "include/hpgmg.h"
#include "tests/lib/test.h"
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_MPI
#include <mpi.h>
#endif

enum { N = 16 };

static int my_rank, n_ranks = 1;
static char last_line[256], point_in_log;
static double u[N * N * N];

static void take_line(void *data, const char *text) {
  (void)data;
  snprintf(last_line, sizeof last_line, "%s", text);
  point_in_log = localeconv()->decimal_point[0];
}

/* A part of the planes for each rank. */
static hpgmg_status_t create(const char *words, const void *comm, const int32_t *comm_f,
                             hpgmg_solver_t **s) {
  const int ranks = comm || comm_f ? n_ranks : 1, rank = ranks > 1 ? my_rank : 0;
  const int32_t first = N * rank / ranks, end = N * (rank + 1) / ranks;
  const hpgmg_box_t box = {{0, 0, first}, {N, N, end - first}};
  hpgmg_options_t o = hpgmg_options();
  o.cells[0] = o.cells[1] = o.cells[2] = N;
  o.n_boxes = 1;
  o.boxes = &box;
  o.words = words;
  o.comm = comm;
  o.comm_f = comm_f;
  o.log = take_line;
  return hpgmg_create(&o, s);
}

static hpgmg_status_t solve_with(hpgmg_solver_t *s, double f_of_cells) {
  const hpgmg_array_t f = {.data = &f_of_cells}, values = {.data = u, .stride = {1, N, N * N}};
  return hpgmg_solve(s, &f, &values, NULL);
}

static hpgmg_status_t solve(hpgmg_solver_t *s) {
  return solve_with(s, 1.0);
}

static void works(const char *words, const void *comm, const int32_t *comm_f) {
  hpgmg_solver_t *s;
  CHECK_INT(create(words, comm, comm_f, &s), HPGMG_OK);
  CHECK_INT(solve(s), HPGMG_OK);
  CHECK_STRING(hpgmg_error(s), "");
  hpgmg_destroy(&s);
}

static void refused(const char *words, const void *comm, const int32_t *comm_f,
                    hpgmg_status_t status, const char *text) {
  hpgmg_solver_t *s;
  CHECK_INT(create(words, comm, comm_f, &s), status);
  CHECK_CONTAINS(hpgmg_error(s), text);
  hpgmg_destroy(&s);
}

/* In a step of Slurm without PMI, MPI_Init ends the process. */
static void test_alone(void) {
  CHECK_INT(setenv("SLURM_NODELIST", "x", 1) + setenv("SLURM_STEP_ID", "0", 1), 0);
  works("", NULL, NULL);
  CHECK_INT(unsetenv("SLURM_NODELIST") + unsetenv("SLURM_STEP_ID"), 0);
}

/* Generate a locale with a decimal comma, which bare machines lack. */
static bool set_comma(void) {
  char folder[] = "/tmp/api_process.XXXXXX";
  if (setlocale(LC_ALL, "de_DE.UTF-8")) return true;
  if (!mkdtemp(folder)) return false;
  const bool made =
      system(textf("localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder)) != -1;
  CHECK_INT(setenv("LOCPATH", folder, 1), 0);
  const bool set = made && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
  CHECK_INT(unsetenv("LOCPATH") + system(textf("rm -rf %s", folder)), 0);
  return set;
}

static void test_locale(void) {
  if (!set_comma()) {
    fprintf(stderr, "skipped: decimal comma, without localedef and its data\n");
    return;
  }
  char number[16];
  static double wide[N + 1];
  hpgmg_options_t o = hpgmg_options();
  hpgmg_solver_t *s;
  works("--lengths=1,1,0.5 --rtol=0.001 --boundary=dirichlet:0.25", NULL, NULL);
  refused("--rtol=0.001 --max-cycles=1.5", NULL, NULL, HPGMG_BAD_ARGUMENT, "1.5");
  CHECK_CONTAINS(last_line, "1.5");
  CHECK_INT(point_in_log, ',');
  /* Lengths of 1.5, which pass through text. */
  for (int i = 0; i <= N; i++)
    wide[i] = 1.5 * i / N;
  for (int d = 0; d < 3; d++)
    o.cells[d] = N, o.faces[d] = wide;
  CHECK_INT(hpgmg_create(&o, &s), HPGMG_OK);
  hpgmg_destroy(&s);
  snprintf(number, sizeof number, "%.1f", 0.5);
  CHECK_STRING(number, "0,5");
  CHECK(setlocale(LC_ALL, "C") != NULL);
}

#ifdef HAVE_MPI
/* MPICH's MPI_COMM_WORLD, in memory of the size of any handle. */
static const int32_t foreign[2] = {0x44000000, 0};

static void test_before_mpi(void) {
  int initialized = 1;
  if (sizeof(MPI_Comm) == sizeof(void *))
    refused("", foreign, NULL, HPGMG_BAD_ARGUMENT, "the communicator is not one of ");
  CHECK_INT(MPI_Initialized(&initialized), MPI_SUCCESS);
  CHECK_INT(initialized, 0);
}

static void test_mpi(void) {
  static const int32_t other[2] = {12345, 0}, unknown = 12345;
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Errhandler before, after;
  int provided;
  /* A process without a launcher needs no daemon of Open MPI. */
  if (!getenv("OMPI_COMM_WORLD_SIZE"))
    CHECK_INT(setenv("OMPI_MCA_ess_singleton_isolated", "1", 1), 0);
  CHECK_INT(MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CHECK_INT(MPI_Comm_rank(world, &my_rank), MPI_SUCCESS);
  CHECK_INT(MPI_Comm_size(world, &n_ranks), MPI_SUCCESS);
  CHECK_INT(MPI_Comm_get_errhandler(world, &before), MPI_SUCCESS);
  works("", &world, NULL);
  refused("", other, NULL, HPGMG_BAD_ARGUMENT, "the communicator is not one of ");
  refused("", NULL, &unknown, HPGMG_BAD_ARGUMENT, "the communicator is not one of ");
#ifdef OPEN_MPI
  /* A communicator of another copy of Open MPI, which may be loaded with local symbols. */
  static _Alignas(16) char of_copy[512]; /* size of a predefined communicator */
  memcpy(of_copy, (const void *)world, sizeof of_copy);
  const MPI_Comm copy = (MPI_Comm)(void *)of_copy;
  refused("", &copy, NULL, HPGMG_BAD_ARGUMENT, "the communicator is not one of ");
#endif
  CHECK_INT(MPI_Comm_get_errhandler(world, &after), MPI_SUCCESS);
  CHECK(before == after);
  CHECK_INT(MPI_Errhandler_free(&before), MPI_SUCCESS);
  CHECK_INT(MPI_Errhandler_free(&after), MPI_SUCCESS);
  const int32_t fortran = MPI_Comm_c2f(world);
  works("", NULL, &fortran);
}

static void test_finalized(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  hpgmg_solver_t *used, *unused;
  CHECK_INT(create("", &world, NULL, &used), HPGMG_OK);
  CHECK_INT(create("", &world, NULL, &unused), HPGMG_OK);
  CHECK_INT(solve(used), HPGMG_OK);
  CHECK_INT(MPI_Finalize(), MPI_SUCCESS);
  /* One rank sends no messages. */
  CHECK_INT(solve(used), n_ranks > 1 ? HPGMG_FAILED : HPGMG_OK);
  CHECK_CONTAINS(hpgmg_error(used), n_ranks > 1 ? "MPI is finalized" : "");
  hpgmg_destroy(&used);
  hpgmg_destroy(&unused);
  refused("", &world, NULL, HPGMG_FAILED, "MPI is finalized");
  works("", NULL, NULL);
}
#endif

#ifdef FE_NOMASK_ENV /* has feenableexcept */
static char words[256];

static void name_words(int signal) {
  (void)signal;
  if (write(2, words, strlen(words)) < 0) _exit(2);
  _exit(1);
}

/* Traps in all threads. OpenMP's may exist already. */
static void set_traps(bool on) {
#pragma omp parallel
  if (on)
    (void)feenableexcept(FE_INVALID | FE_DIVBYZERO);
  else
    (void)fedisableexcept(FE_ALL_EXCEPT);
}

/* Solve with f = 0 and f = 1 where any trap ends the process. */
static int solve_with_traps(void) {
  hpgmg_solver_t *s;
  int n_solved = 0;
  set_traps(true);
  if (create(words, NULL, NULL, &s) == HPGMG_OK)
    for (int f = 0; f < 2; f++)
      n_solved += solve_with(s, f) == HPGMG_OK;
  set_traps(false);
  hpgmg_destroy(&s);
  return n_solved;
}

static void test_traps(void) {
  static const char *const
      smoother[] = {"gsrb", "chebyshev", "jacobi", "l1jacobi", "symgs", "ssor"},
      *const boundary[] = {"dirichlet", "neumann", "periodic", "robin:1:2", "dirichlet:3,neumann"},
      *const other[] = {"",
                        "--operator=7pt --bottom=direct",
                        "--precision=mixed",
                        "--operator=7pt --bottom=smoother --stretch=z:tanh:2",
                        "--equation=helmholtz --bottom=direct",
                        "--operator=7pt --lengths=1,1,9",
                        "--operator=7pt --precision=mixed --equation=helmholtz"},
      *const cycle[] = {"--rtol=1e-6", "--rtol=1e-6 --krylov=cg --cycle=v", "--rtol=1e-15",
                        "--rtol=1e-6 --cycle=v"};
  int n = 0, n_solved = 0;
  const struct sigaction report = {.sa_handler = name_words};
  struct sigaction before;
  CHECK_INT(sigaction(SIGFPE, &report, &before), 0);
  for (size_t s = 0; s < sizeof smoother / sizeof *smoother; s++)
    for (size_t b = 0; b < sizeof boundary / sizeof *boundary; b++)
      for (size_t o = 0; o < sizeof other / sizeof *other; o++, n++) {
        const char *const c = cycle[(s + b + o) % (sizeof cycle / sizeof *cycle)];
        snprintf(words, sizeof words, "--smoother=%s --boundary=%s %s %s", smoother[s], boundary[b],
                 other[o], c);
        n_solved += solve_with_traps();
      }
  CHECK_INT(sigaction(SIGFPE, &before, NULL), 0);
  CHECK(n_solved >= n); /* of 2 n: most are solved */
}
#endif

int main(void) {
#ifdef FE_NOMASK_ENV
  test_traps();
#endif
  test_alone();
  test_locale();
#ifdef HAVE_MPI
  test_before_mpi();
  test_mpi();
  test_finalized();
#endif
  return TEST_RESULT();
}
