/* libhpgmg: solves of hpgmg-fv through its library, with their norms. */
#include "solver.h"
#include <hpgmg.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

const char *const solver_methods[] = {"auto", NULL};

static struct {
  hpgmg_solver_t *solver;
  hpgmg_array_t beta[3], f, u;
  int n, k_low, n_k;
} s;

static void check(hpgmg_status_t status) {
  if (status != HPGMG_OK) fail("%s: %s", hpgmg_status_text(status), hpgmg_error(s.solver));
}

void solver_start(int *argc, char ***argv) {
  int provided;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    fail("MPI_Init_thread failed");
}

void solver_end(void) {
  if (MPI_Finalize() != MPI_SUCCESS) fail("MPI_Finalize failed");
}

static void create(const char *words) {
  const hpgmg_box_t box = {{0, 0, s.k_low}, {s.n, s.n, s.n_k}};
  const MPI_Comm comm = MPI_COMM_WORLD;
  hpgmg_options_t options = hpgmg_options();
  options.n_boxes = 1;
  options.boxes = &box;
  options.words = words;
  options.comm = &comm;
  check(hpgmg_create(&options, &s.solver));
  check(hpgmg_set_coefficients(
      s.solver, &(hpgmg_coefficients_t){{&s.beta[0], &s.beta[1], &s.beta[2]}, NULL, NULL, NULL}));
}

/* The matrix is that of the library times h^3. */
void solver_setup(const problem_t *p, int method, double rtol) {
  const size_t cells = (size_t)p->n * (size_t)p->n * (size_t)(p->k_high - p->k_low);
  const ptrdiff_t n = p->n, plane = n * n;
  char words[128];
  (void)method;
  s.n = p->n;
  s.k_low = p->k_low;
  s.n_k = p->k_high - p->k_low;
  snprintf(words, sizeof words,
           "--cells=%dx%dx%d --operator=%s --boundary=%s --rtol=%.17g --device=cpu", p->n, p->n,
           p->n, p->fv2 ? "fv2" : "7pt", p->closed ? "neumann" : "dirichlet", rtol);
  for (int d = 0; d < 3; d++)
    s.beta[d] = (hpgmg_array_t){p->beta[d], {1, n + (d == 0), (n + (d == 0)) * (n + (d == 1))}};
  s.f = (hpgmg_array_t){malloc(cells * sizeof(double)), {1, n, plane}};
  s.u = (hpgmg_array_t){malloc(cells * sizeof(double)), {1, n, plane}};
  if (!s.f.data || !s.u.data) fail("out of memory");
  for (size_t c = 0; c < cells; c++)
    s.f.data[c] = p->rhs[c] / (p->h * p->h * p->h);
  create(words);
}

int solver_solve(int iterations) {
  hpgmg_info_t info;
  (void)iterations;
  check(hpgmg_solve(s.solver, &s.f, &s.u, &info));
  return info.cycles;
}

void solver_solution(double *u) {
  const size_t cells = (size_t)s.n * (size_t)s.n * (size_t)s.n_k;
  for (size_t c = 0; c < cells; c++)
    u[c] = s.u.data[c];
}

void solver_free(void) {
  hpgmg_destroy(&s.solver);
  free(s.f.data);
  free(s.u.data);
}
