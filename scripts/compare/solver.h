/* Interface between the driver (driver.c) and the library that solves (hypre.c, petsc.c).
 *
 * Ranks divide the grid into slabs normal to k. Arrays of cells hold a rank's slab, i fastest, k
 * slowest. Rows of the matrix are those of hpgmg-fv times h^3, as the finite-volume method
 * integrates them: A = sum over faces of h beta (u - u_neighbor). */
#ifndef COMPARE_SOLVER_H
#define COMPARE_SOLVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int n;             /* cells per side */
  double h;          /* 1 / n */
  bool fv2;          /* fv2, otherwise 7pt */
  bool closed;       /* no flux through the walls, otherwise u = 0 */
  int k_low, k_high; /* planes k_low <= k < k_high of this rank */
  double *beta[3];   /* lower faces normal to i, j, k of the slab's cells, and one more per row */
  double *rhs;       /* f h^3 */
  double *sine[2];   /* sin(2 pi x) at faces and at cell centers */
} problem_t;

/** Evaluate the coefficients of a slab of an n^3 grid, and its right-hand side if `with_rhs`. */
void problem_init(problem_t *p, int n, bool fv2, int k_low, int k_high, bool with_rhs);
void problem_free(problem_t *p);

/** Order of the entries of a row. */
enum { CENTER, LOW_I, HIGH_I, LOW_J, HIGH_J, LOW_K, HIGH_K, N_ENTRIES };

/** Entries of the row of a cell. Those of neighbors outside the domain are 0. */
void problem_row(const problem_t *p, int i, int j, int k, double entry[N_ENTRIES]);

/** Stop all ranks with one line on stderr. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* --- what a library provides ------------------------------------------------------------------ */

/** Names of its methods, ending with NULL. */
extern const char *const solver_methods[];

void solver_start(int *argc, char ***argv);
void solver_end(void);

/** Assemble the matrix and set up `method`, an index of solver_methods. */
void solver_setup(const problem_t *p, int method, double rtol);

/** Run this many iterations from u = 0, without computing norms where the method needs none. A
 *  library that knows max|f - A u| / max|f| may stop below rtol instead.
 *  @return the number of iterations */
int solver_solve(int iterations);

/** Copy the slab's solution. */
void solver_solution(double *u);
void solver_free(void);

#endif
