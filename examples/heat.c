/* Heat in an insulated box: du/dt = div(k grad u) with the conductivity k = 1 + u^2.
 *
 *     mpicc -o heat examples/heat.c $(pkg-config --cflags --libs hpgmg) -lm && ./heat 32 10
 *
 * A step of the implicit Euler method, with k at the old temperature, is one linear problem:
 *
 *     u_new - div(beta grad u_new) = u_old,   beta = dt k(u_old),   no flux through the sides.
 *
 * It is Helmholtz's equation of the library with a coefficient that changes in each step. The old
 * temperature is the right-hand side and the guess. The sum of u, the energy, stays constant. All
 * steps are done twice: with one solver, which gets new coefficients in each step, and with a new
 * solver in each step. Both give the same bits; the difference in speed is the set-up. */
#include <hpgmg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *words = "--equation=helmholtz --boundary=neumann --operator=7pt --rtol=1e-10";
static const double rtol = 1e-10, dt = 5e-4; /* the box has sides of 1 */

typedef struct {
  int n, n_cells;
  double *u, *u_old, *beta;
} heat_t;

static void check(hpgmg_status_t status, const hpgmg_solver_t *solver) {
  if (status == HPGMG_OK) return;
  fprintf(stderr, "heat: %s: %s\n", hpgmg_status_text(status), hpgmg_error(solver));
  exit(1);
}

static double *new_cells(int n_cells) {
  double *x = malloc(sizeof *x * (size_t)n_cells);
  if (x) return x;
  fprintf(stderr, "heat: no memory for %d cells\n", n_cells);
  exit(1);
}

static double seconds(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A hot ball in a cold box, nearer to the low sides. */
static void set_start(heat_t *h) {
  const int n = h->n;
  for (int c = 0; c < h->n_cells; c++) {
    const double x = (c % n + 0.5) / n, y = (c / n % n + 0.5) / n, z = (c / n / n + 0.5) / n;
    const double r2 = pow(x - 0.4, 2) + pow(y - 0.4, 2) + pow(z - 0.4, 2);
    h->u[c] = r2 < 0.25 * 0.25 ? 4.0 : 0.5;
  }
}

static hpgmg_solver_t *new_solver(int n) {
  hpgmg_solver_t *solver;
  hpgmg_options_t options = hpgmg_options();
  for (int d = 0; d < 3; d++)
    options.cells[d] = n;
  options.words = words;
  options.guess = 1;
  check(hpgmg_create(&options, &solver), solver);
  return solver;
}

/* Returns the number of cycles. */
static int step(heat_t *h, hpgmg_solver_t *solver) {
  const ptrdiff_t n = h->n;
  const hpgmg_array_t beta = {h->beta, {1, n, n * n}, {h->n, h->n, h->n}},
                      f = {h->u_old, {1, n, n * n}, {h->n, h->n, h->n}},
                      u = {h->u, {1, n, n * n}, {h->n, h->n, h->n}};
  const hpgmg_coefficients_t coefficients = {.cell_beta = &beta};
  hpgmg_info_t info;
  for (int c = 0; c < h->n_cells; c++)
    h->beta[c] = dt * (1.0 + h->u[c] * h->u[c]);
  memcpy(h->u_old, h->u, sizeof *h->u * (size_t)h->n_cells);
  check(hpgmg_set_coefficients(solver, &coefficients), solver);
  check(hpgmg_solve(solver, &f, &u, &info), solver);
  return info.cycles;
}

/* Returns the energy: the mean of u, as the volume is 1. */
static double print_state(const heat_t *h, int n_steps, int cycles) {
  double sum = 0.0, maximum = h->u[0];
  for (int c = 0; c < h->n_cells; c++) {
    sum += h->u[c];
    maximum = fmax(maximum, h->u[c]);
  }
  const double energy = sum / h->n_cells;
  printf("step %3d  energy %.12f  maximum %.8f  cycles %d\n", n_steps, energy, maximum, cycles);
  return energy;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 32, steps = argc > 2 ? atoi(argv[2]) : 10;
  if (argc > 3 || n < 4 || n > 512 || steps < 1) {
    fprintf(stderr, "usage: heat [N [STEPS]], with 4 to 512 cells per side\n");
    return 1;
  }
  const int n_cells = n * n * n;
  heat_t h = {n, n_cells, new_cells(n_cells), new_cells(n_cells), new_cells(n_cells)};
  double *u_reused = new_cells(n_cells);

  set_start(&h);
  const double start = print_state(&h, 0, 0);
  double t_reused = 0.0, energy = start;
  hpgmg_solver_t *solver = new_solver(n);
  for (int s = 1; s <= steps; s++) {
    const double t = seconds();
    const int cycles = step(&h, solver);
    t_reused += seconds() - t;
    energy = print_state(&h, s, cycles);
  }
  hpgmg_destroy(&solver);
  memcpy(u_reused, h.u, sizeof *h.u * (size_t)n_cells);

  set_start(&h);
  const double t = seconds();
  for (int s = 1; s <= steps; s++) {
    solver = new_solver(n);
    step(&h, solver);
    hpgmg_destroy(&solver);
  }
  const double t_new = seconds() - t;

  /* Adding the equations of all cells cancels the fluxes. So a step changes the sum of u by the sum
   * of residuals, each at most rtol max|f|, and the largest f is the start's 4. */
  const double drift = fabs(energy - start), allowed = steps * rtol * 4.0;
  const int same = memcmp(u_reused, h.u, sizeof *h.u * (size_t)n_cells) == 0;
  printf("energy drift %.1e, allowed %.1e\n", drift, allowed);
  printf("steps per second: %.1f with one solver, %.1f with a solver per step\n", steps / t_reused,
         steps / t_new);
  printf("u is %s\n", same ? "the same to the last bit" : "different");
  free(h.u);
  free(h.u_old);
  free(h.beta);
  free(u_reused);
  if (drift <= allowed && same) return 0;
  fprintf(stderr, "heat: %s\n", same ? "energy is not conserved" : "the two solutions differ");
  return 1;
}
