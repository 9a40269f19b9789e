/* api_threads: several threads create, use and destroy solvers at the same time, each its own.
 * Their results have the bits of one thread. */
#include "include/hpgmg.h"
#include "tests/lib/fixture.h"
#include <pthread.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { N = 24, CELLS = N * N * N, THREADS = 4, TIMES = 6 };

static const char *const words[THREADS] = {"", "--operator=7pt --krylov=cg --smoother=chebyshev",
                                           "--precision=mixed", "--boundary=neumann"};

/* What a thread computes; `wrong` counts calls that fail. */
typedef struct {
  int number, times, wrong;
  double *f, *beta, *u;
} task_t;

static void solve(task_t *t) {
  hpgmg_options_t o = hpgmg_options();
  hpgmg_solver_t *s;
  char text[128];
  snprintf(text, sizeof text, "--cells=%dx%dx%d --device=cpu %s", N, N, N, words[t->number]);
  o.words = text;
  const hpgmg_array_t f = {t->f, {1, N, N * N}, {N, N, N}},
                      beta = {t->beta, {1, N, N * N}, {N, N, N}},
                      u = {t->u, {1, N, N * N}, {N, N, N}};
  t->wrong += hpgmg_create(&o, &s) != HPGMG_OK;
  for (int n = 0; n < 2; n++) {
    t->wrong += hpgmg_set_coefficients(s, &(hpgmg_coefficients_t){.cell_beta = &beta}) != HPGMG_OK;
    t->wrong += hpgmg_solve(s, &f, &u, NULL) != HPGMG_OK || hpgmg_error(s)[0] != '\0';
  }
  hpgmg_destroy(&s);
}

static void *run(void *task) {
  task_t *t = task;
#ifdef _OPENMP
  omp_set_num_threads(1 + t->number % 2);
#endif
  for (int n = 0; n < t->times; n++)
    solve(t);
  return NULL;
}

static task_t new_task(int number, int times) {
  task_t t = {number,
              times,
              0,
              malloc(CELLS * sizeof(double)),
              malloc(CELLS * sizeof(double)),
              malloc(CELLS * sizeof(double))};
  for (int c = 0; c < CELLS; c++) {
    t.f[c] = (double)((c * 7919 + number) % 1013) / 1013.0 - 0.5;
    t.beta[c] = 1.0 + (double)((c * 104729 + number) % 101) / 101.0;
  }
  return t;
}

static void free_task(task_t *t) {
  free(t->f), free(t->beta), free(t->u);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  task_t alone[THREADS], beside[THREADS];
  pthread_t thread[THREADS];
  for (int n = 0; n < THREADS; n++) {
    alone[n] = new_task(n, 1);
    beside[n] = new_task(n, TIMES);
    CHECK(run(&alone[n]) == NULL);
  }
  for (int n = 0; n < THREADS; n++)
    CHECK_INT(pthread_create(&thread[n], NULL, run, &beside[n]), 0);
  for (int n = 0; n < THREADS; n++) {
    CHECK_INT(pthread_join(thread[n], NULL), 0);
    CHECK_INT(alone[n].wrong + beside[n].wrong, 0);
    CHECK_SAME(beside[n].u, alone[n].u, CELLS);
    free_task(&alone[n]), free_task(&beside[n]);
  }
  return FIXTURE_END();
}
