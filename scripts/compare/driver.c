/* Time a library on the problem of hpgmg-fv:
 *
 *     PROGRAM N fv2|7pt RTOL METHOD SECONDS ITERATIONS BETA BOUNDARY [search]
 *
 * BETA is variable, as that of hpgmg-fv; constant, 1; jumps, 1 or 1e4 in random blocks of 4^3
 * cells; or anisotropic, 1e-3 along z. BOUNDARY is dirichlet, u = 0, or neumann, no flux. Solves to
 * max|f - A u| < RTOL max|f| on the ranks that mpirun starts, after a warm-up, until SECONDS have
 * passed. The residual is evaluated here, not by the library. A solve has ITERATIONS iterations;
 * with `search`, the smallest number that reaches RTOL, found from that one. Prints one line of
 * JSON. Without arguments: prints the methods. */
#include "formulas/coefficients.h"
#include "solver.h"
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int most_iterations = 200;

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void check(int code, const char *call) {
  if (code != MPI_SUCCESS) fail("%s failed with code %d", call, code);
}

static double largest(double x) {
  double all;
  check(MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return all;
}

static double sum_of(double x) {
  double all;
  check(MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return all;
}

static double *new_doubles(size_t n) {
  double *x = calloc(n, sizeof *x);
  if (!x) fail("out of memory: %zu bytes", n * sizeof *x);
  return x;
}

/* --- problem ---------------------------------------------------------------------------------- */

/** Index of a face normal to d: rows of that direction have one face more than cells. */
static size_t face(const problem_t *p, int d, int i, int j, int k) {
  const size_t ni = (size_t)p->n + (d == 0), nj = (size_t)p->n + (d == 1);
  return ((size_t)(k - p->k_low) * nj + (size_t)j) * ni + (size_t)i;
}

static size_t cell(const problem_t *p, int i, int j, int k) {
  return ((size_t)(k - p->k_low) * (size_t)p->n + (size_t)j) * (size_t)p->n + (size_t)i;
}

static double smooth_beta(const problem_t *p, int d, int i, int j, int k) {
  const double h = p->h, h3[3] = {h, h, h};
  const int at[3] = {i, j, k};
  double x[3], s[3];
  for (int e = 0; e < 3; e++) {
    x[e] = h * (at[e] + (e == d ? 0.0 : 0.5));
    s[e] = p->sine[e != d][at[e]];
  }
  double gradient[3];
  return p->fv2 ? mg_beta_fv(mg_beta_scale(h3, d), s[0], s[1], s[2])
                : mg_beta_point(false, x[0], x[1], x[2], gradient);
}

/** 1 or 1e4, at random in blocks of 4^3 cells; beyond a wall that of the cell inside. */
static double beta_of_block(const problem_t *p, int i, int j, int k) {
  const int at[3] = {i, j, k};
  uint64_t x = 1;
  for (int d = 0; d < 3; d++) {
    const int inside = at[d] < 0 ? 0 : at[d] < p->n ? at[d] : p->n - 1;
    x = (x + (uint64_t)(inside / 4)) * 0x9e3779b97f4a7c15ULL;
    x ^= x >> 29;
  }
  return x >> 33 & 1 ? 1e4 : 1.0;
}

/** The harmonic mean of both cells. */
static double jumping_beta(const problem_t *p, int d, int i, int j, int k) {
  const double high = beta_of_block(p, i, j, k),
               low = beta_of_block(p, i - (d == 0), j - (d == 1), k - (d == 2));
  return 2.0 * high * low / (high + low);
}

enum { VARIABLE, CONSTANT, JUMPS, ANISOTROPIC };
static const char *const beta_names[] = {"variable", "constant", "jumps", "anisotropic", NULL};
static int beta_kind;

static double beta_of_face(const problem_t *p, int d, int i, int j, int k) {
  if (beta_kind == CONSTANT) return 1.0;
  if (beta_kind == ANISOTROPIC) return d == 2 ? 1e-3 : 1.0;
  return beta_kind == JUMPS ? jumping_beta(p, d, i, j, k) : smooth_beta(p, d, i, j, k);
}

/** sin^7(2 pi x), and its second derivative. */
static double sin7(double s) {
  return s * s * s * s * s * s * s;
}
static double sin7_second(double s) {
  return MG_TWO_PI * MG_TWO_PI * (-7.0 * sin7(s) + 42.0 * s * s * s * s * s * (1.0 - s * s));
}

static double rhs_of_cell(const problem_t *p, int i, int j, int k) {
  const double h = p->h, *s = p->sine[1];
  const mg_widths_t unit_cube = {{1.0, 1.0, 1.0}};
  if (!p->fv2)
    return mg_rhs_point(false, 0.0, false, unit_cube, h * (i + 0.5), h * (j + 0.5), h * (k + 0.5));
  return mg_rhs_fv(h * h, sin7(s[i]), sin7(s[j]), sin7(s[k]), sin7_second(s[i]), sin7_second(s[j]),
                   sin7_second(s[k]));
}

static bool closed; /* no flux through the walls */

/** Values of the slab's cells minus the mean of all cells. */
static void subtract_mean(const problem_t *p, double *x) {
  const size_t cells = cell(p, 0, 0, p->k_high);
  double sum = 0.0;
  for (size_t c = 0; c < cells; c++)
    sum += x[c];
  const double mean = sum_of(sum) / ((double)p->n * p->n * p->n);
  for (size_t c = 0; c < cells; c++)
    x[c] -= mean;
}

void problem_init(problem_t *p, int n, bool fv2, int k_low, int k_high, bool with_rhs) {
  memset(p, 0, sizeof *p);
  p->n = n;
  p->h = 1.0 / n;
  p->fv2 = fv2;
  p->closed = closed;
  p->k_low = k_low;
  p->k_high = k_high;
  for (int half = 0; half < 2; half++) {
    p->sine[half] = new_doubles((size_t)n + 1);
    for (int i = 0; i <= n; i++)
      p->sine[half][i] = sin(MG_TWO_PI * p->h * (i + 0.5 * half));
  }
  for (int d = 0; d < 3; d++) {
    const int ni = n + (d == 0), nj = n + (d == 1), end = k_high + (d == 2);
    p->beta[d] = new_doubles(face(p, d, 0, 0, end));
    for (int k = k_low; k < end; k++)
      for (int j = 0; j < nj; j++)
        for (int i = 0; i < ni; i++)
          p->beta[d][face(p, d, i, j, k)] = beta_of_face(p, d, i, j, k);
  }
  if (!with_rhs) return;
  p->rhs = new_doubles(cell(p, 0, 0, k_high));
  for (int k = k_low; k < k_high; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        p->rhs[cell(p, i, j, k)] = p->h * p->h * p->h * rhs_of_cell(p, i, j, k);
  if (p->closed) subtract_mean(p, p->rhs);
}

void problem_free(problem_t *p) {
  for (int d = 0; d < 3; d++)
    free(p->beta[d]);
  for (int half = 0; half < 2; half++)
    free(p->sine[half]);
  free(p->rhs);
}

void problem_row(const problem_t *p, int i, int j, int k, double entry[N_ENTRIES]) {
  const int at[3] = {i, j, k};
  memset(entry, 0, N_ENTRIES * sizeof *entry);
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      const int fi = i + (d == 0) * side, fj = j + (d == 1) * side, fk = k + (d == 2) * side;
      const double b = p->h * p->beta[d][face(p, d, fi, fj, fk)];
      const int outward = 1 + 2 * d + side, inward = 1 + 2 * d + !side;
      if (at[d] != (side ? p->n - 1 : 0)) {
        entry[CENTER] += b;
        entry[outward] -= b;
      } else if (p->closed) {
        continue;
      } else if (p->fv2) { /* the ghost outside the wall is -5/2 u + 1/2 u_inward */
        entry[CENTER] += 3.5 * b;
        entry[inward] -= 0.5 * b;
      } else { /* the ghost is -u */
        entry[CENTER] += 2.0 * b;
      }
    }
}

/* --- verification ----------------------------------------------------------------------------- */

/** max|f - A u| / max|f|. u has a plane of ghosts below and above the slab. */
static double relative_residual(const problem_t *p, double *u) {
  const size_t plane = (size_t)p->n * (size_t)p->n, planes = (size_t)(p->k_high - p->k_low);
  int rank, ranks;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double *top = u + planes * plane;
  check(MPI_Sendrecv(top, (int)plane, MPI_DOUBLE, above, 0, u, (int)plane, MPI_DOUBLE, below, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  check(MPI_Sendrecv(u + plane, (int)plane, MPI_DOUBLE, below, 0, top + plane, (int)plane,
                     MPI_DOUBLE, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
  const ptrdiff_t offset[N_ENTRIES] = {
      0, -1, 1, -(ptrdiff_t)p->n, p->n, -(ptrdiff_t)plane, (ptrdiff_t)plane};
  double worst = 0.0, f_norm = 0.0;
  for (int k = p->k_low; k < p->k_high; k++)
    for (int j = 0; j < p->n; j++)
      for (int i = 0; i < p->n; i++) {
        const double f = p->rhs[cell(p, i, j, k)], *x = u + plane + cell(p, i, j, k);
        double entry[N_ENTRIES], r = f;
        problem_row(p, i, j, k, entry);
        for (int e = 0; e < N_ENTRIES; e++)
          if (entry[e] != 0.0) r -= entry[e] * x[offset[e]];
        worst = r == r ? fmax(worst, fabs(r)) : INFINITY;
        f_norm = fmax(f_norm, fabs(f));
      }
  return largest(worst) / largest(f_norm);
}

/** Whether a solve of n iterations, or those that the library does itself, reaches rtol. */
static bool reaches(const problem_t *p, double rtol, int *n, double *u) {
  *n = solver_solve(*n);
  solver_solution(u + (size_t)p->n * (size_t)p->n);
  return relative_residual(p, u) < rtol;
}

/** The smallest number of iterations that reaches rtol, searched from a guess. */
static int find_iterations(const problem_t *p, double rtol, int guess, double *u) {
  int n = guess;
  while (!reaches(p, rtol, &n, u)) {
    if (n >= most_iterations) fail("%d iterations do not reach %g", n, rtol);
    n += 1 + n / 8;
  }
  for (int fewer = n - 1; fewer > 0 && reaches(p, rtol, &fewer, u) && fewer < n; fewer--)
    n = fewer;
  return n;
}

/** Largest |u|, and for 7pt the error against the exact solution; 0 if none is known. The mean of u
 * is subtracted if walls are closed. */
static void measure_solution(const problem_t *p, double *u, double *u_max, double *error) {
  double most = 0.0, worst = 0.0;
  if (p->closed) subtract_mean(p, u);
  for (int k = p->k_low; k < p->k_high; k++)
    for (int j = 0; j < p->n; j++)
      for (int i = 0; i < p->n; i++) {
        const double x = u[cell(p, i, j, k)];
        const double exact = mg_factor(p->h * (i + 0.5), false).value *
                             mg_factor(p->h * (j + 0.5), false).value *
                             mg_factor(p->h * (k + 0.5), false).value;
        most = fmax(most, fabs(x));
        worst = fmax(worst, fabs(x - exact));
      }
  *u_max = largest(most);
  *error = p->fv2 || p->closed || beta_kind != VARIABLE ? 0.0 : largest(worst);
}

static int index_of(const char *const names[], const char *name, const char *what) {
  for (int m = 0; names[m]; m++)
    if (strcmp(name, names[m]) == 0) return m;
  fail("unknown %s '%s'", what, name);
}

static double barrier_time(void) {
  check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  return MPI_Wtime();
}

int main(int argc, char **argv) {
  if (argc == 1) {
    for (int m = 0; solver_methods[m]; m++)
      puts(solver_methods[m]);
    return 0;
  }
  solver_start(&argc, &argv);
  int rank, ranks;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  if (argc < 9)
    fail("usage: %s N fv2|7pt RTOL METHOD SECONDS ITERATIONS BETA BOUNDARY [search]", argv[0]);
  const int n = atoi(argv[1]);
  const bool fv2 = strcmp(argv[2], "fv2") == 0;
  const double rtol = atof(argv[3]), min_seconds = atof(argv[5]);
  const int method = index_of(solver_methods, argv[4], "method");
  beta_kind = index_of(beta_names, argv[7], "beta");
  closed = index_of((const char *const[]){"dirichlet", "neumann", NULL}, argv[8], "boundary") == 1;
  if (n < 2 || n < ranks) fail("%d cells per side do not fit %d ranks", n, ranks);

  problem_t p;
  double start = barrier_time();
  problem_init(&p, n, fv2, (int)((long)n * rank / ranks), (int)((long)n * (rank + 1) / ranks),
               true);
  solver_setup(&p, method, rtol);
  const double setup_s = barrier_time() - start;

  const size_t plane = (size_t)n * (size_t)n;
  double *u = new_doubles(plane * (size_t)(p.k_high - p.k_low + 2));
  int iterations = atoi(argv[6]);
  if (argc > 9) iterations = find_iterations(&p, rtol, iterations, u);
  solver_solve(iterations); /* warm-up */
  int solves = 0;
  double elapsed = 0.0;
  start = barrier_time();
  do {
    solver_solve(iterations);
    solves++;
    elapsed = largest(barrier_time() - start);
  } while (elapsed < min_seconds);
  solver_solution(u + plane);
  const double relative = relative_residual(&p, u);
  double u_max, error;
  measure_solution(&p, u + plane, &u_max, &error);
  if (rank == 0)
    printf("{\"n\": %d, \"ranks\": %d, \"iterations\": %d, \"setup_s\": %.6g, \"solve_s\": %.6g, "
           "\"relative\": %.6g, \"u_max\": %.15g, \"error\": %.15g}\n",
           n, ranks, iterations, setup_s, elapsed / solves, relative, u_max, error);
  free(u);
  solver_free();
  problem_free(&p);
  solver_end();
  return 0;
}
