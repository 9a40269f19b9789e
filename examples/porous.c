/* Flow through layered and mixed rock: its effective permeability.
 *
 *     mpicc -o porous examples/porous.c $(pkg-config --cflags --libs hpgmg) -lm && ./porous 24
 *     ./porous 32 plane.txt && python3 examples/porous_picture.py plane.txt porous.png
 *
 * Darcy's law, -div(K grad p) = 0 in a block of 2 x 1 x 1. The pressure p is 1 on one side and 0 on
 * the opposite one; nothing flows through the other four. The flow rate Q through an area A over
 * the length L gives the permeability of a homogeneous block with the same flow: Q L / A.
 *
 * Layers with a contrast of 10^5 have known results: the arithmetic mean of K along them, the
 * harmonic mean across them. Finite volumes with harmonic means on faces have the same results on
 * any grid. For clay lenses in sand no formula is known, but Wiener's bounds hold: the result is
 * between the two means. */
#include <float.h>
#include <hpgmg.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n[3], n_cells; /* i is along the long side, k is up */
  double h;
  double *K, *p;
} block_t;

typedef struct {
  double permeability, bound; /* bound of its error */
} result_t;

static void check(hpgmg_status_t status, const hpgmg_solver_t *solver) {
  if (status == HPGMG_OK) return;
  fprintf(stderr, "porous: %s: %s\n", hpgmg_status_text(status), hpgmg_error(solver));
  exit(1);
}

static double *new_cells(int n_cells) {
  double *x = malloc(sizeof *x * (size_t)n_cells);
  if (x) return x;
  fprintf(stderr, "porous: no memory for %d cells\n", n_cells);
  exit(1);
}

/* Eight layers, clay at the bottom and at the top. */
static void set_layers(block_t *b) {
  static const double of_layer[8] = {1e-4, 1.0, 1e-2, 10.0, 1e-3, 1.0, 0.1, 1e-4};
  for (int c = 0; c < b->n_cells; c++)
    b->K[c] = of_layer[c / b->n[0] / b->n[1] * 8 / b->n[2]];
}

/* From 0 to 1, the same on every machine (a linear congruential generator). */
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

/* Flat ellipsoids of clay in sand. */
static void set_lenses(block_t *b) {
  uint64_t state = 1;
  for (int c = 0; c < b->n_cells; c++)
    b->K[c] = 1.0;
  for (int lens = 0; lens < 40; lens++) {
    const double x0 = 2.0 * random_number(&state), y0 = random_number(&state),
                 z0 = random_number(&state), slope = 0.8 * random_number(&state) - 0.4,
                 clay = pow(10.0, -3.0 - 2.0 * random_number(&state));
    for (int c = 0; c < b->n_cells; c++) {
      const double x = (c % b->n[0] + 0.5) * b->h - x0,
                   y = (c / b->n[0] % b->n[1] + 0.5) * b->h - y0,
                   z = (c / b->n[0] / b->n[1] + 0.5) * b->h - z0 - slope * x;
      if (pow(x / 0.3, 2) + pow(y / 0.3, 2) + pow(z / 0.06, 2) < 1.0) b->K[c] = clay;
    }
  }
}

/* Solve for p, and compute the permeability in the direction of an axis from the inflow. */
static result_t find_permeability(block_t *b, int axis, const char *name) {
  static const char *const sides[3] = {"dirichlet:1,dirichlet:0,neumann,neumann,neumann,neumann",
                                       "neumann,neumann,dirichlet:1,dirichlet:0,neumann,neumann",
                                       "neumann,neumann,neumann,neumann,dirichlet:1,dirichlet:0"};
  char words[256];
  snprintf(words, sizeof words,
           "--lengths=2,1,1 --boundary=%s --operator=7pt --smoother=chebyshev --krylov=cg --cycle=v"
           " --rtol=1e-11",
           sides[axis]);
  hpgmg_options_t options = hpgmg_options();
  for (int d = 0; d < 3; d++)
    options.cells[d] = b->n[d];
  options.words = words;

  double zero = 0.0;
  const ptrdiff_t stride[3] = {1, b->n[0], (ptrdiff_t)b->n[0] * b->n[1]};
  const hpgmg_array_t K = {b->K, {1, stride[1], stride[2]}, {b->n[0], b->n[1], b->n[2]}},
                      p = {b->p, {1, stride[1], stride[2]}, {b->n[0], b->n[1], b->n[2]}},
                      f = {.data = &zero};
  const hpgmg_coefficients_t coefficients = {.cell_beta = &K};
  hpgmg_solver_t *solver;
  hpgmg_info_t info;
  check(hpgmg_create(&options, &solver), solver);
  check(hpgmg_set_coefficients(solver, &coefficients), solver);
  check(hpgmg_solve(solver, &f, &p, &info), solver);
  hpgmg_destroy(&solver);

  /* The side is half a cell from the first centers. */
  double inflow = 0.0;
  for (int c = 0; c < b->n_cells; c++)
    if (c / stride[axis] % b->n[axis] == 0)
      inflow += b->K[c] * (1.0 - b->p[c]) / (b->h / 2.0) * b->h * b->h;
  const double length = axis == 0 ? 2.0 : 1.0, area = axis == 0 ? 1.0 : 2.0;
  /* A residual is a source in a cell. At most all of it leaves through the side with the inflow. */
  const result_t result = {inflow * length / area, info.residual * length * length};
  printf("%-15s  permeability %.12e  cycles %d\n", name, result.permeability, info.cycles);
  return result;
}

/* Compare with the exact value. The error is at most the bound and the rounding of the sums. */
static int check_exact(const block_t *b, result_t r, double exact) {
  const double error = fabs(r.permeability - exact) / exact, bound = r.bound / exact;
  printf("%15s  exact        %.12e  relative error %.1e, bound %.1e\n", "", exact, error, bound);
  return error <= bound + b->n_cells * DBL_EPSILON;
}

static void find_means(const block_t *b, double *arithmetic, double *harmonic) {
  double sum = 0.0, inverse = 0.0;
  for (int c = 0; c < b->n_cells; c++) {
    sum += b->K[c];
    inverse += 1.0 / b->K[c];
  }
  *arithmetic = sum / b->n_cells;
  *harmonic = b->n_cells / inverse;
}

/* The vertical plane in the middle: a line has i, k, K and p of a cell. */
static int write_plane(const block_t *b, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  fprintf(file, "# i k K p\n");
  for (int k = 0; k < b->n[2]; k++)
    for (int i = 0; i < b->n[0]; i++) {
      const int c = i + b->n[0] * (b->n[1] / 2 + b->n[1] * k);
      fprintf(file, "%d %d %.6e %.9e\n", i, k, b->K[c], b->p[c]);
    }
  const int failed = ferror(file);
  return fclose(file) == 0 && !failed;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 24;
  if (argc > 3 || n < 8 || n > 512) {
    fprintf(stderr, "usage: porous [N [FILE]], with 8 to 512 cells per unit of length\n");
    return 1;
  }
  block_t b = {{2 * n, n, n}, 2 * n * n * n, 1.0 / n, NULL, NULL};
  b.K = new_cells(b.n_cells);
  b.p = new_cells(b.n_cells);
  double arithmetic, harmonic;

  set_layers(&b);
  find_means(&b, &arithmetic, &harmonic);
  int ok = check_exact(&b, find_permeability(&b, 0, "along layers"), arithmetic);
  ok = check_exact(&b, find_permeability(&b, 2, "across layers"), harmonic) && ok;

  set_lenses(&b);
  find_means(&b, &arithmetic, &harmonic);
  const result_t lenses = find_permeability(&b, 0, "through lenses");
  printf("%15s  between      %.12e and %.12e\n", "", harmonic, arithmetic);
  ok = ok && lenses.permeability >= harmonic && lenses.permeability <= arithmetic;

  if (!ok) fprintf(stderr, "porous: a permeability is wrong\n");
  if (argc > 2 && !write_plane(&b, argv[2])) {
    fprintf(stderr, "porous: %s cannot be written\n", argv[2]);
    ok = 0;
  }
  free(b.K);
  free(b.p);
  return !ok;
}
