/* Bytes as a sequence of calls of hpgmg.h: solvers are created with good and bad options and boxes,
 * given good and bad arrays, and destroyed, in any order. No sequence may crash, leak or hang. A
 * status other than HPGMG_OK has a message, HPGMG_OK has none, and then u is finite. Values beside
 * the cells of u do not change. Built with configure --enable-fuzzer. */
#include "include/hpgmg.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { SOLVERS = 3, MAX_CELLS = 9, ROW = MAX_CELLS + 3, VALUES = ROW * ROW * ROW };

static const unsigned char *next, *end;

/* The next byte, below n; 0 at the end. */
static int choose(int n) {
  return next < end ? *next++ % n : 0;
}

static const char *const words[] = {"",
                                    "--operator=7pt --rtol=1e-6",
                                    "--boundary=neumann",
                                    "--boundary=periodic,neumann,dirichlet",
                                    "--equation=helmholtz --operator=7pt",
                                    "--boundary=dirichlet:1 --rtol=1e-4",
                                    "--boundary=robin:1:2:3 --operator=7pt",
                                    "--stretch=x:tanh:1.5 --lengths=1,2,3",
                                    "--smoother=chebyshev --krylov=cg --operator=7pt",
                                    "--precision=mixed",
                                    "--smoother=jacobi --max-cycles=2",
                                    "--device=guard",
                                    "--help",
                                    "--dry-run",
                                    "4 1",
                                    "--cells=3x3x3",
                                    "--rtol=x --json=y stray"};

static hpgmg_solver_t *solver[SOLVERS];
static int32_t cells[SOLVERS][3];
static double in[VALUES], out[VALUES];

static void check(bool right) {
  if (!right) abort();
}

static void check_status(int n, hpgmg_status_t status) {
  check(status >= HPGMG_OK && status <= HPGMG_FAILED);
  check((hpgmg_error(solver[n])[0] == '\0') == (status == HPGMG_OK));
  check(hpgmg_status_text(status)[0] != '\0');
}

static void create(int n) {
  hpgmg_options_t o = hpgmg_options();
  hpgmg_box_t box[3] = {{{0, 0, 0}, {0, 0, 0}}};
  for (int d = 0; d < 3; d++) {
    o.cells[d] = cells[n][d] = 1 + choose(MAX_CELLS);
    box[0].n[d] = box[1].n[d] = o.cells[d];
  }
  /* The whole grid; two boxes; or two that overlap, leave cells out, or leave the grid. */
  o.n_boxes = choose(3);
  box[0].n[2] = o.n_boxes == 2 ? o.cells[2] / 2 : o.cells[2];
  box[1].lo[2] = box[0].n[2];
  box[1].n[2] = o.cells[2] - box[0].n[2];
  const int wrong = choose(8);
  if (wrong == 7) box[choose(2)].lo[choose(3)]++;
  if (wrong == 6) box[choose(2)].n[choose(3)]--;
  if (wrong == 5) o.size--;
  if (wrong == 4) o.n_boxes = -1;
  o.boxes = wrong == 3 ? NULL : box;
  o.words = words[choose(sizeof words / sizeof *words)];
  o.varying_alpha = choose(8) == 7;
  static double faces[3][MAX_CELLS + 1];
  const int axes = choose(8);
  for (int d = 0; axes >= 5 && d < (axes == 5 ? 2 : 3); d++) {
    for (int i = 0; i <= MAX_CELLS; i++)
      faces[d][i] = 0.1 * i * (i + axes);
    if (axes == 7) faces[d][choose(MAX_CELLS + 1)] = -1.0;
    o.faces[d] = faces[d];
  }
  o.guess = choose(4) == 3;
  o.cycles = choose(4) == 3 ? choose(5) - 1 : 0;
  hpgmg_destroy(&solver[n]);
  check_status(n, hpgmg_create(&o, &solver[n]));
}

/* Two arrays, enough for all boxes: dense, padded, constant, or none. The second one begins in the
 * middle of the planes. */
static void set_arrays(int n, double *x, hpgmg_array_t array[2]) {
  for (int b = 0; b < 2; b++) {
    array[b] = (hpgmg_array_t){.data = x + 1, .stride = {1, ROW, ROW * ROW}};
    if (b == 1) array[b].data += cells[n][2] / 2 * ROW * ROW;
    switch (choose(8)) {
    case 7:
      array[b].data = NULL;
      break;
    case 6:
      array[b].stride[0] = array[b].stride[1] = array[b].stride[2] = 0;
      break;
    case 5:
      array[b].stride[0] = ROW;
      array[b].stride[1] = 1;
      break;
    default:
      break;
    }
  }
}

static void fill(double *x, bool positive) {
  static const double odd[] = {NAN, INFINITY, -1.0, 0.0, 1e-300, 1e300, -0.0, 1e61};
  for (int c = 0; c < VALUES; c++)
    x[c] = 1.0 + 0.5 * ((c * 7 + choose(2)) % 11) - (positive ? 0.0 : 3.0);
  if (choose(4) == 3) x[choose(256) * 6 % VALUES] = odd[choose(8)];
}

static double mask[VALUES];

static void fill_mask(void) {
  for (int c = 0; c < VALUES; c++)
    mask[c] = (c * 7 + choose(2)) % 5 < 3 ? 1.0 : choose(3);
  if (choose(8) == 7) mask[choose(256) * 6 % VALUES] = 3.0;
}

static void set_coefficients(int n) {
  hpgmg_array_t array[6][2];
  hpgmg_coefficients_t c = {{NULL, NULL, NULL}, NULL, NULL, NULL};
  fill(in, true);
  for (int f = 0; f < 5; f++)
    set_arrays(n, in, array[f]);
  fill_mask();
  set_arrays(n, mask, array[5]);
  const int given = choose(8);
  for (int d = 0; d < 3; d++)
    c.beta[d] = given == 1 || given == d + 5 ? NULL : array[d];
  c.alpha = choose(4) == 3 ? array[3] : NULL;
  c.cell_beta = given == 1 || given == 2 ? array[4] : NULL;
  c.mask = choose(4) == 3 ? array[5] : NULL;
  check_status(n, hpgmg_set_coefficients(solver[n], given == 3 ? NULL : &c));
}

static void set_sides(int n) {
  hpgmg_array_t array[6][2];
  hpgmg_sides_t sides = {{{NULL}}};
  fill(in, false);
  for (int side = 0; side < 6; side++) {
    set_arrays(n, in, array[side]);
    if (choose(2) == 0) sides.values[side / 2][side % 2] = array[side];
  }
  check_status(n, hpgmg_set_sides(solver[n], choose(16) == 15 ? NULL : &sides));
}

static void solve(int n) {
  hpgmg_array_t f[2], u[2];
  hpgmg_info_t info;
  fill(in, false);
  set_arrays(n, in, f);
  set_arrays(n, out, u);
  for (int c = 0; c < VALUES; c++)
    out[c] = 0.25;
  const bool wants_info = choose(2) == 0;
  const hpgmg_status_t status = hpgmg_solve(solver[n], choose(16) == 15 ? NULL : f,
                                            choose(16) == 15 ? NULL : u, wants_info ? &info : NULL);
  check_status(n, status);
  check(out[0] == 0.25 && out[VALUES - 1] == 0.25);
  for (int c = 0; status == HPGMG_OK && c < VALUES; c++)
    check(isfinite(out[c]));
  if (!wants_info || (status != HPGMG_OK && status != HPGMG_NOT_CONVERGED)) return;
  check(info.cycles >= 0 && info.reason <= HPGMG_STAGNATED && !(info.residual < 0.0));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  next = data;
  end = data + size;
  for (int calls = 0; next < end && calls < 16; calls++) {
    const int n = choose(SOLVERS);
    switch (choose(5)) {
    case 0:
      create(n);
      break;
    case 1:
      set_coefficients(n);
      break;
    case 2:
      set_sides(n);
      break;
    case 3:
      solve(n);
      break;
    default:
      hpgmg_destroy(&solver[n]);
      check(!solver[n]);
    }
  }
  for (int n = 0; n < SOLVERS; n++)
    hpgmg_destroy(&solver[n]);
  return 0;
}
