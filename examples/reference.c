/* The F-cycle of `hpgmg-fv N 1` in one file: plain C11, one core, no library. It is written to be
 * read from top to bottom, and its results have the same bits as the program's, with the same math
 * library.
 *
 *     cc -std=c11 -ffp-contract=off -O2 -o reference examples/reference.c -lm
 *     ./reference 6                       # 64^3 cells
 *
 * -ffp-contract=off matters: the compiler must not fuse a * b + c into one rounding. Where one
 * rounding is meant, the code says fma().
 *
 * Problem. -div(beta grad u) = f in the unit cube, u = 0 on its walls, with
 *
 *     beta = 1 + sin(2 pi x) sin(2 pi y) sin(2 pi z) / 4,
 *     f    = (sin(2 pi x) sin(2 pi y) sin(2 pi z))^7 .
 *
 * Discretization (fv2). n^3 cells of width h = 1/n; u and f are averages over cells. By the
 * divergence theorem, the average of -div(beta grad u) over a cell is -1/h times the sum, over its
 * six faces, of the average of beta du/dn, with n the outward normal. We approximate that average
 * by beta (u_neighbor - u_cell) / h, where beta is averaged over the face. This is second-order. So
 *
 *     (A u)_cell = 1/h^2 sum over six faces of beta (u_cell - u_neighbor) .
 *
 * Outside a wall there is no neighbor, so we use a ghost cell. Take the parabola that is 0 on the
 * wall and has the given averages in the first two cells. The ghost is its average over the ghost
 * cell.
 *
 * Method. A few sweeps of relaxation reduce errors that oscillate from cell to cell, but hardly
 * reduce smooth errors. A smooth error can be represented on a grid of width 2h. There it
 * oscillates more, relative to the cells, and a sweep costs an eighth. A V-cycle smooths by such
 * sweeps, restricts the residual r = f - A u to the coarse grid, approximately solves A e = r there
 * by a V-cycle from e = 0, adds the interpolated e to u, and smooths again.
 *
 * An F-cycle begins on the coarsest grid. Each grid takes the interpolated solution of the coarser
 * one as its initial guess and improves it by one V-cycle. (This is HPGMG's name; textbooks call it
 * full multigrid, FMG.) The algebraic error that remains is comparable to the discretization error.
 * The cost is about 300 floating-point operations per cell, for any n.
 *
 * Brandt, Multi-level adaptive solutions to boundary-value problems (1977); Trottenberg, Oosterlee
 * and Schueller, Multigrid (2001). The other operators and smoothers: docs/algorithm.md. What makes
 * the program faster than this file: docs/performance.md. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Grids ---- */

enum { MAX_LEVELS = 10, SWEEPS = 3 /* before and after each coarse-grid correction */ };

/* One level; level[0] is the finest. Arrays have (n + 2)^3 values: the cells, and one layer of
 * ghosts around them. beta[d] at the index of a cell is that of its lower face in direction d. The
 * last face has index n, in the ghost layer. */
typedef struct {
  int n;         /* cells per side */
  double *u, *f; /* solution, or correction; right-hand side */
  double *r;     /* residual; difference() uses it for the restricted solution of the finer level */
  double *dinv;  /* 1 / diagonal of A */
  double *beta[3];
} grid_t;

/* Distance in memory to the next cell in x, y and z. */
static ptrdiff_t stride(const grid_t *g, int d) {
  const ptrdiff_t row = g->n + 2;
  return d == 0 ? 1 : d == 1 ? row : row * row;
}

/* Index of cell (i, j, k); ghosts have i, j or k = -1 or n. */
static ptrdiff_t at(const grid_t *g, int i, int j, int k) {
  return (i + 1) + (j + 1) * stride(g, 1) + (k + 1) * stride(g, 2);
}

/* Declares i, j and k for the body; i is fastest, as in memory. */
#define FOR_EACH_CELL(n)                                                                           \
  for (int k = 0; k < (n); k++)                                                                    \
    for (int j = 0; j < (n); j++)                                                                  \
      for (int i = 0; i < (n); i++)

static double *new_values(ptrdiff_t n) {
  double *x = calloc((size_t)n, sizeof *x);
  if (x) return x;
  fprintf(stderr, "reference: out of memory; use a smaller N\n");
  exit(2);
}

static double *new_array(const grid_t *g) {
  return new_values(stride(g, 2) * (g->n + 2));
}

static void new_grid(grid_t *g, int n) {
  g->n = n;
  g->u = new_array(g);
  g->f = new_array(g);
  g->r = new_array(g);
  g->dinv = new_array(g);
  for (int d = 0; d < 3; d++)
    g->beta[d] = new_array(g);
}

static void free_grid(grid_t *g) {
  free(g->u);
  free(g->f);
  free(g->r);
  free(g->dinv);
  for (int d = 0; d < 3; d++)
    free(g->beta[d]);
}

/* Maximum of a norm so far and |x|. NaN stays, which fmax() would drop. */
static double max_abs(double norm, double x) {
  return norm >= fabs(x) || isnan(norm) ? norm : fabs(x);
}

/* ---- Walls ---- */

/* Ghost next to a wall from the two cells inward of it. A single cell has no u_2; there a straight
 * line gives -u_1. The flux through the wall is (7/2 u_1 - 1/2 u_2) beta / h, which is
 * second-order. It adds a coefficient of u_2 to the row of the first cell, but none of u_1 to the
 * row of the second. So A is not symmetric at walls. */
static double ghost(int n, double u_1, double u_2) {
  return n == 1 ? -u_1 : fma(-2.5, u_1, 0.5 * u_2);
}

/* Coefficient of u_1 in u_1 - ghost. */
static double wall_weight(int n) {
  return n == 1 ? 2.0 : 3.5;
}

/* Set the ghosts outside both walls normal to direction d. Directions are done in the order x, y,
 * z, and ghosts of earlier directions count as cells. So ghosts at edges and corners are tensor
 * products of the formula. A does not read them, but interpolation does. */
static void set_ghosts_normal_to(const grid_t *g, double *x, int d) {
  const int n = g->n, a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2; /* the other two directions */
  const ptrdiff_t in = stride(g, d);
  for (int q = b < d ? -1 : 0; q < (b < d ? n + 1 : n); q++)
    for (int p = a < d ? -1 : 0; p < (a < d ? n + 1 : n); p++) {
      double *low = x + at(g, 0, 0, 0) + p * stride(g, a) + q * stride(g, b),
             *high = low + (n - 1) * in;
      low[-in] = ghost(n, low[0], low[in]);
      high[in] = ghost(n, high[0], high[-in]);
    }
}

static void set_ghosts(const grid_t *g, double *x) {
  for (int d = 0; d < 3; d++)
    set_ghosts_normal_to(g, x, d);
}

/* ---- Operator ---- */

/* A x in the cell with index c. The ghosts of x are set. The program also has a term a u, and a is
 * 0 here; adding it changes no more than the sign of a zero. */
static double apply(const grid_t *g, const double *x, ptrdiff_t c) {
  const double inv_h2 = (double)g->n * g->n, a = 0.0;
  const ptrdiff_t sy = stride(g, 1), sz = stride(g, 2);
  const double *bx = g->beta[0], *by = g->beta[1], *bz = g->beta[2];
  double s = bx[c + 1] * (x[c + 1] - x[c]);
  s = fma(bx[c], x[c - 1] - x[c], s);
  s = fma(by[c + sy], x[c + sy] - x[c], s);
  s = fma(by[c], x[c - sy] - x[c], s);
  s = fma(bz[c + sz], x[c + sz] - x[c], s);
  s = fma(bz[c], x[c - sz] - x[c], s);
  return fma(-inv_h2, s, a * x[c]);
}

/* Diagonal of A in cell (i, j, k). */
static double diagonal(const grid_t *g, int i, int j, int k) {
  const int cell[3] = {i, j, k};
  const ptrdiff_t c = at(g, i, j, k);
  const double inv_h2 = (double)g->n * g->n, a = 0.0;
  double s = 0.0;
  for (int d = 0; d < 3; d++) {
    const double low = cell[d] == 0 ? wall_weight(g->n) : 1.0,
                 high = cell[d] == g->n - 1 ? wall_weight(g->n) : 1.0;
    s = s + low * g->beta[d][c];
    s = s + high * g->beta[d][c + stride(g, d)];
  }
  return fma(inv_h2, s, a);
}

/* r = f - A u, and max |r|. */
static double residual(grid_t *g) {
  double norm = 0.0;
  set_ghosts(g, g->u);
  FOR_EACH_CELL(g->n) {
    const ptrdiff_t c = at(g, i, j, k);
    g->r[c] = g->f[c] - apply(g, g->u, c);
    norm = max_abs(norm, g->r[c]);
  }
  return norm;
}

/* ---- Smoother ---- */

/* Red-black Gauss-Seidel. Color the cells like a chessboard. Cells of one color depend only on
 * cells of the other one. So each can solve its row of A u = f for its own u, in any order, also
 * all at once, as on a GPU: u += (f - A u) / diagonal. A sweep does red cells (even i + j + k),
 * then black ones. A wall's ghost depends on u_1 itself, which wall_weight() adds to the diagonal;
 * u_2 has the other color. */
static void smooth(grid_t *g) {
  for (int half_sweep = 0; half_sweep < 2 * SWEEPS; half_sweep++) {
    set_ghosts(g, g->u);
    FOR_EACH_CELL(g->n) {
      if ((i + j + k + half_sweep) % 2 != 0) continue;
      const ptrdiff_t c = at(g, i, j, k);
      g->u[c] = fma(g->dinv[c], g->f[c] - apply(g, g->u, c), g->u[c]);
    }
  }
}

/* ---- Restriction and interpolation ---- */

/* The average over a coarse cell is the mean of its 8 fine averages. */
static void restrict_cells(const grid_t *fine, const double *x, const grid_t *coarse, double *out) {
  const ptrdiff_t sy = stride(fine, 1), sz = stride(fine, 2);
  FOR_EACH_CELL(coarse->n) {
    const double *x0 = x + at(fine, 2 * i, 2 * j, 2 * k);
    const double low = (x0[0] + x0[1]) + (x0[sy] + x0[sy + 1]),
                 high = (x0[sz] + x0[sz + 1]) + (x0[sy + sz] + x0[sy + sz + 1]);
    out[at(coarse, i, j, k)] = 0.125 * (low + high);
  }
}

/* The average over a coarse face is the mean of its 4 fine averages. */
static void restrict_faces(const grid_t *fine, const grid_t *coarse, int d) {
  const ptrdiff_t sa = stride(fine, d == 0 ? 1 : 0), sb = stride(fine, d == 2 ? 1 : 2);
  const int n = coarse->n;
  for (int k = 0; k < n + (d == 2); k++)
    for (int j = 0; j < n + (d == 1); j++)
      for (int i = 0; i < n + (d == 0); i++) {
        const double *x0 = fine->beta[d] + at(fine, 2 * i, 2 * j, 2 * k);
        coarse->beta[d][at(coarse, i, j, k)] = 0.25 * ((x0[0] + x0[sa]) + (x0[sb] + x0[sa + sb]));
      }
}

/* Quadratic interpolation in one direction: take the parabola with the given averages over three
 * neighboring cells. Its average over the lower (side -1) or upper half of the middle cell is
 * middle +- (low - high) / 8. */
static double half_cell(double low, double middle, double high, int side) {
  return fma(side < 0 ? 0.125 : -0.125, low - high, middle);
}

/* Interpolate u to a fine cell: that formula in z, then in y, then in x. Third-order, one more than
 * A, as full multigrid needs. */
static double interpolated(const grid_t *coarse, int i, int j, int k) {
  const int side[3] = {i % 2 ? 1 : -1, j % 2 ? 1 : -1, k % 2 ? 1 : -1};
  const ptrdiff_t sy = stride(coarse, 1), sz = stride(coarse, 2);
  const double *first = coarse->u + at(coarse, i / 2, j / 2, k / 2) - 1 - sy; /* of 3 x 3 columns */
  double row[3];
  for (int p = 0; p < 3; p++) {
    double column[3];
    for (int q = 0; q < 3; q++) {
      const double *x = first + p + q * sy;
      column[q] = half_cell(x[-sz], x[0], x[sz], side[2]);
    }
    row[p] = half_cell(column[0], column[1], column[2], side[1]);
  }
  return half_cell(row[0], row[1], row[2], side[0]);
}

/* Interpolate u of the coarse level to that of the fine one: add it, or replace u by it. */
static void interpolate(const grid_t *coarse, grid_t *fine, int add) {
  set_ghosts(coarse, coarse->u);
  FOR_EACH_CELL(fine->n) {
    const ptrdiff_t c = at(fine, i, j, k);
    const double value = interpolated(coarse, i, j, k);
    fine->u[c] = add ? fine->u[c] + value : value;
  }
}

/* ---- Cycles ---- */

static void set_zero(const grid_t *g, double *x) {
  FOR_EACH_CELL(g->n) {
    x[at(g, i, j, k)] = 0.0;
  }
}

/* The coarsest grid has one cell, so A is a scalar. The program uses BiCGStab from u = 0,
 * preconditioned by 1/diagonal, since A is not symmetric. For a scalar, the first half of its first
 * step, u = alpha dinv f, solves A u = f up to rounding. */
static void solve_coarsest(grid_t *g) {
  const ptrdiff_t c = at(g, 0, 0, 0);
  const double f = g->f[c];
  g->u[c] = g->dinv[c] * f;
  set_ghosts(g, g->u);
  const double r0_dot_v = apply(g, g->u, c) * f;
  g->u[c] = r0_dot_v != 0.0 ? f * f / r0_dot_v * g->u[c] : 0.0;
}

/* Improve u of a level by one V-cycle. Each level below solves A e = r for the correction e = u of
 * that level, from 0, and r becomes its f. */
static void v_cycle(grid_t *level, int first, int coarsest) {
  for (int l = first; l < coarsest; l++) {
    if (l > first) set_zero(&level[l], level[l].u);
    smooth(&level[l]);
    residual(&level[l]);
    restrict_cells(&level[l], level[l].r, &level[l + 1], level[l + 1].f);
  }
  solve_coarsest(&level[coarsest]);
  for (int l = coarsest - 1; l >= first; l--) {
    interpolate(&level[l + 1], &level[l], 1);
    smooth(&level[l]);
  }
}

/* Solve on a level whose f is given. Here f of each level below is the restricted f, no residual.
 * Each V-cycle then overwrites f of the levels below its own, but these have used it already. */
static void f_cycle(grid_t *level, int first, int coarsest) {
  for (int l = first; l < coarsest; l++)
    restrict_cells(&level[l], level[l].f, &level[l + 1], level[l + 1].f);
  solve_coarsest(&level[coarsest]);
  for (int l = coarsest - 1; l >= first; l--) {
    interpolate(&level[l + 1], &level[l], 0);
    v_cycle(level, l, coarsest);
  }
}

/* ---- The problem ---- */

static const double two_pi = 6.283185307179586476925286766559;

/* One of the three equal factors of the problem, in one direction. */
typedef struct {
  double *sin_face, *sin_center; /* sin(2 pi x) at x = i h and (i + 1/2) h */
  double *sin7, *sin7_xx;        /* sin^7(2 pi x) at centers, and its second derivative */
} factor_t;

static factor_t new_factor(int n) {
  const double h = 1.0 / n, w2 = two_pi * two_pi;
  double *memory = new_values(4 * (n + 1));
  const factor_t t = {memory, memory + n + 1, memory + 2 * (n + 1), memory + 3 * (n + 1)};
  for (int i = 0; i <= n; i++) {
    const double s = sin(two_pi * ((i + 0.5) * h)), cosine = cos(two_pi * ((i + 0.5) * h)),
                 s5 = s * s * s * s * s;
    t.sin_face[i] = sin(two_pi * (i * h));
    t.sin_center[i] = s;
    t.sin7[i] = s5 * s * s;
    t.sin7_xx[i] = w2 * (42.0 * s5 * cosine * cosine - 7.0 * s5 * s * s);
  }
  return t;
}

/* beta and f of the finest grid. The average of a function over a cell is its value at the center
 * plus h^2/24 times the sum of its second derivatives, with error O(h^4). Over a face only the two
 * tangential ones count: each is -(2 pi)^2 times the product of the sines, so the factor is
 * 1 - 2 (2 pi h)^2 / 24. */
static void set_problem(grid_t *g) {
  const int n = g->n;
  const double h = 1.0 / n, scale = 0.25 * (1.0 - two_pi * two_pi * h * h / 12.0),
               h2_24 = h * h / 24.0;
  const factor_t t = new_factor(n);
  for (int d = 0; d < 3; d++) {
    const double *sx = d == 0 ? t.sin_face : t.sin_center, *sy = d == 1 ? t.sin_face : t.sin_center,
                 *sz = d == 2 ? t.sin_face : t.sin_center;
    for (int k = 0; k < n + (d == 2); k++)
      for (int j = 0; j < n + (d == 1); j++)
        for (int i = 0; i < n + (d == 0); i++)
          g->beta[d][at(g, i, j, k)] = 1.0 + (scale * (sy[j] * sz[k])) * sx[i];
  }
  FOR_EACH_CELL(n) {
    const double x = t.sin7[i], y = t.sin7[j], z = t.sin7[k], xx = t.sin7_xx[i], yy = t.sin7_xx[j],
                 zz = t.sin7_xx[k];
    g->f[at(g, i, j, k)] = x * y * z + h2_24 * (xx * y * z + x * (yy * z + y * zz));
  }
  free(t.sin_face);
}

/* Set up all levels, down to one cell. Coarse operators have the same formula with averaged betas
 * (rediscretization). So coefficients need no formula.
 * @return the coarsest level */
static int set_up(grid_t *level, int log2_n) {
  for (int l = 0; l <= log2_n; l++) {
    grid_t *g = &level[l];
    new_grid(g, 1 << (log2_n - l));
    if (l == 0)
      set_problem(g);
    else
      for (int d = 0; d < 3; d++)
        restrict_faces(&level[l - 1], g, d);
    FOR_EACH_CELL(g->n) {
      g->dinv[at(g, i, j, k)] = 1.0 / diagonal(g, i, j, k);
    }
  }
  return log2_n;
}

/* ---- Solves on grids of width h, 2h and 4h ---- */

/* Solve on level s. Other solves may have overwritten f of that level, but never f of level 0, so
 * it is restricted again.
 * @return max |f - A u| */
static double solve(grid_t *level, int s, int coarsest) {
  for (int l = 0; l < s; l++)
    restrict_cells(&level[l], level[l].f, &level[l + 1], level[l + 1].f);
  f_cycle(level, s, coarsest);
  return residual(&level[s]);
}

/* max |u - R u_fine|, with R the restriction. */
static double difference(const grid_t *fine, grid_t *g) {
  double norm = 0.0;
  restrict_cells(fine, fine->u, g, g->r);
  FOR_EACH_CELL(g->n) {
    const ptrdiff_t c = at(g, i, j, k);
    norm = max_abs(norm, g->u[c] - g->r[c]);
  }
  return norm;
}

/* If the error on width h is C h^p, the solutions on 2h and h differ by C h^p (2^p - 1), and those
 * on 4h and 2h by 2^p times that. So log2 of the quotient is the order p. Restriction maps exact
 * averages to exact averages, so it adds no error. As in the program, `error` is the first
 * difference itself, about three times the error on width h. */
int main(int argc, char **argv) {
  grid_t level[MAX_LEVELS];
  char *end = NULL;
  const long log2_n = argc == 2 ? strtol(argv[1], &end, 10) : 0;
  double difference_to_finer[3] = {0.0};
  if (!end || *end != '\0' || log2_n < 4 || log2_n >= MAX_LEVELS) {
    fprintf(stderr, "usage: reference N, with N from 4 to %d: solve on 2^N cells per side\n",
            MAX_LEVELS - 1);
    return 2;
  }
  const int coarsest = set_up(level, (int)log2_n);
  for (int s = 0; s < 3; s++) {
    const double norm = solve(level, s, coarsest);
    printf("%4d^3  max|f-Au| %.15e\n", level[s].n, norm);
    /* A solve on level s does not change u of finer levels. */
    if (s > 0) difference_to_finer[s] = difference(&level[s - 1], &level[s]);
  }
  printf("error %.15e\n", difference_to_finer[1]);
  printf("order %.3f\n", log2(difference_to_finer[2] / difference_to_finer[1]));
  for (int l = 0; l <= coarsest; l++)
    free_grid(&level[l]);
  return 0;
}
