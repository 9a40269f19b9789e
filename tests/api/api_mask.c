/* api_mask: masks, closed faces and cells of a given u. Given cells around the grid with the values
 * of a linear function, which 7pt reproduces exactly, give that function. Solid cells keep their u.
 * A mask and the faces that it closes have the same bits. Each closed part has its own mean. */
#include "tests/api/parts.h"
#include <math.h>
#include <stdlib.h>

enum { N0 = 20, N1 = 17, N2 = 14, CELLS = N0 * N1 * N2, SOLID = 0, SOLVED = 1, GIVEN = 2 };

static int at(const int c[3]) {
  return c[0] + N0 * (c[1] + N1 * c[2]);
}

/* u = 1 + 2 i - 3 j + k. */
static double linear(const int c[3]) {
  return 1.0 + 2.0 * c[0] - 3.0 * c[1] + c[2];
}

static bool is_at_side(const int c[3]) {
  return c[0] == 0 || c[1] == 0 || c[2] == 0 || c[0] == N0 - 1 || c[1] == N1 - 1 || c[2] == N2 - 1;
}

/* A wall across j that parts the grid, and single cells. */
static bool is_solid(const int c[3]) {
  return c[1] == 9 || (7 * c[0] + 5 * c[1] + 3 * c[2]) % 11 == 0;
}

/* This rank's cells of an array, as the caller sees them. */
static void get(part_t *p, double *all) {
  const double *values = values_in(p);
  for (int box = 0; box < n_mine; box++) {
    const hpgmg_box_t *b = &my_boxes[box];
    const hpgmg_array_t *a = &p->array[box];
    const double *data = on_device ? values + (a->data - p->device) : a->data;
    EACH_CELL(c, b->n) {
      all[at((int[]){b->lo[0] + c[0], b->lo[1] + c[1], b->lo[2] + c[2]})] =
          data[c[0] * a->stride[0] + c[1] * a->stride[1] + c[2] * a->stride[2]];
    }
  }
}

static double one = 1.0;
static const hpgmg_array_t ones[] = EVERYWHERE(one);

/* Solve with a mask, or with betas, from u. Cells of other ranks keep u. */
static hpgmg_info_t solve(hpgmg_solver_t *s, const double *f, double *u) {
  part_t of_f = part_of(f, -1), of_u = part_of(u, -1);
  hpgmg_info_t info;
  API(hpgmg_solve(s, of_f.array, of_u.array, &info));
  get(&of_u, u);
  free_part(&of_f), free_part(&of_u);
  return info;
}

static void set_mask(hpgmg_solver_t *s, const double *mask) {
  part_t p = part_of(mask, -1);
  API(hpgmg_set_coefficients(s, &(hpgmg_coefficients_t){.cell_beta = ones, .mask = p.array}));
  free_part(&p);
}

static bool is_mine(const int c[3]) {
  for (int box = 0; box < n_mine; box++) {
    bool in = true;
    for (int d = 0; d < 3; d++)
      in = in && c[d] >= my_boxes[box].lo[d] && c[d] < my_boxes[box].lo[d] + my_boxes[box].n[d];
    if (in) return true;
  }
  return false;
}

static double mask[CELLS], f[CELLS], u[CELLS], want[CELLS];

static void test_given(const char *words) {
  hpgmg_options_t o = options_of(textf("%s --rtol=1e-12 --spacing=1,1,1", words));
  hpgmg_solver_t *s;
  double worst = 0.0;
  EACH_CELL(c, grid) {
    mask[at(c)] = is_at_side(c) ? GIVEN : SOLVED;
    u[at(c)] = is_at_side(c) ? linear(c) : NAN;
    f[at(c)] = is_at_side(c) ? INFINITY : 0.0;
  }
  API(hpgmg_create(&o, &s));
  set_mask(s, mask);
  for (int again = 0; again < 2; again++) {
    const double factor = again ? -2.0 : 1.0;
    EACH_CELL(c, grid) {
      if (is_at_side(c)) u[at(c)] = factor * linear(c);
    }
    CHECK_INT(solve(s, f, u).reason, HPGMG_CONVERGED);
    EACH_CELL(c, grid) {
      if (is_mine(c)) worst = fmax(worst, fabs(u[at(c)] - factor * linear(c)));
    }
  }
  CHECK(worst < 1e-8);
  /* All is solved again. */
  API(hpgmg_set_coefficients(s, &(hpgmg_coefficients_t){.cell_beta = ones}));
  EACH_CELL(c, grid) f[at(c)] = sin(c[0] + 2.0 * c[1] + 3.0 * c[2]);
  (void)solve(s, f, u);
  hpgmg_destroy(&s);
  API(hpgmg_create(&o, &s));
  (void)solve(s, f, want);
  worst = 0.0;
  EACH_CELL(c, grid) {
    if (is_mine(c)) worst = fmax(worst, fabs(u[at(c)] - want[at(c)]));
  }
  CHECK(worst < 1e-8);
  hpgmg_destroy(&s);
}

/* The betas that the mask closes. */
static void set_betas(hpgmg_solver_t *s, bool periodic_j) {
  part_t p[3];
  for (int d = 0; d < 3; d++) {
    const int n[3] = {N0 + (d == 0), N1 + (d == 1), N2 + (d == 2)};
    double *beta = calloc((size_t)n[0] * (size_t)n[1] * (size_t)n[2], sizeof *beta);
    EACH_CELL(c, n) {
      int low[3] = {c[0], c[1], c[2]};
      low[d] += d == 1 && periodic_j && c[d] == 0 ? N1 - 1 : -1;
      const bool closed = (c[d] < n[d] - 1 && is_solid(c)) || (low[d] >= 0 && is_solid(low));
      beta[c[0] + n[0] * (c[1] + n[1] * c[2])] = closed ? 0.0 : 1.0;
    }
    p[d] = part_of(beta, d);
    free(beta);
  }
  API(hpgmg_set_coefficients(
      s, &(hpgmg_coefficients_t){.beta = {p[0].array, p[1].array, p[2].array}}));
  for (int d = 0; d < 3; d++)
    free_part(&p[d]);
}

/* Without Dirichlet sides, and across j no periodic ones, each half is singular. */
static void test_solids(const char *words, const char *boundary) {
  hpgmg_options_t o = options_of(textf("%s --boundary=%s --rtol=1e-10", words, boundary));
  const bool singular = strcmp(boundary, "neumann") == 0;
  hpgmg_solver_t *s;
  double sum[2] = {0.0, 0.0};
  int64_t changed = 0, differs = 0;
  EACH_CELL(c, grid) {
    mask[at(c)] = is_solid(c) ? SOLID : SOLVED;
    f[at(c)] = is_solid(c) ? NAN : sin(c[0] + 2.0 * c[1] + 3.0 * c[2]) + (c[1] < 9 ? 1.0 : -5.0);
    u[at(c)] = is_solid(c) ? 1e30 + c[0] : 0.0;
    want[at(c)] = u[at(c)];
  }
  API(hpgmg_create(&o, &s));
  set_mask(s, mask);
  CHECK_INT(solve(s, f, u).reason, HPGMG_CONVERGED);
  hpgmg_destroy(&s);
  API(hpgmg_create(&o, &s));
  set_betas(s, strstr(boundary, ",periodic") != NULL);
  CHECK_INT(solve(s, f, want).reason, HPGMG_CONVERGED);
  EACH_CELL(c, grid) {
    if (!is_mine(c)) continue;
    differs += u[at(c)] != want[at(c)];
    changed += is_solid(c) && u[at(c)] != 1e30 + c[0];
    sum[c[1] > 9] += is_solid(c) ? 0.0 : u[at(c)];
  }
  CHECK_INT(changed, 0);
  CHECK_INT(differs, 0);
  MUST(mg_comm_sum(mg_comm_world(), sum, 2));
  if (singular) CHECK(fabs(sum[0]) + fabs(sum[1]) < 1e-9);
  hpgmg_destroy(&s);
}

/* A mask of solved cells changes nothing. */
static void test_solved(const char *words) {
  hpgmg_options_t o = options_of(textf("%s --rtol=1e-9", words));
  hpgmg_solver_t *s;
  int64_t differs = 0;
  EACH_CELL(c, grid) {
    mask[at(c)] = SOLVED;
    f[at(c)] = sin(c[0] + 2.0 * c[1] + 3.0 * c[2]);
  }
  API(hpgmg_create(&o, &s));
  CHECK(solve(s, f, want).cycles > 0);
  set_mask(s, mask);
  (void)solve(s, f, u);
  EACH_CELL(c, grid) differs += is_mine(c) && (u[at(c)] != want[at(c)] || u[at(c)] == 0.0);
  CHECK_INT(differs, 0);
  hpgmg_destroy(&s);
}

/* With values in the solver's memory, and from a guess. */
static void test_guess(const char *words) {
  hpgmg_options_t o = options_of(textf("%s --rtol=1e-9", words));
  hpgmg_array_t own_f[MAX_BOXES], own_u[MAX_BOXES];
  hpgmg_solver_t *s;
  EACH_CELL(c, grid) {
    mask[at(c)] = is_solid(c) ? SOLID : (c[0] + c[2]) % 9 == 0 ? GIVEN : SOLVED;
    f[at(c)] = cos(c[0] - 2.0 * c[1]);
    u[at(c)] = linear(c);
  }
  o.guess = 1;
  API(hpgmg_create(&o, &s));
  set_mask(s, mask);
  CHECK(solve(s, f, u).cycles > 0);
  CHECK_INT(solve(s, f, u).cycles, 0);
  hpgmg_storage(s, own_f, own_u);
  part_t p = part_of(mask, -1);
  if (n_ranks == 1 && n_mine == 1) {
    API(hpgmg_set_coefficients(s, &(hpgmg_coefficients_t){.cell_beta = ones, .mask = p.array}));
    CHECK_INT(solve(s, f, u).cycles, 0);
  }
  hpgmg_destroy(&s);
  free_part(&p);
}

static void test_errors(const char *words) {
  hpgmg_options_t o = options_of(words);
  hpgmg_solver_t *s;
  double bad = 3.0, zero = 0.0;
  const hpgmg_array_t none[MAX_BOXES] = {{.data = NULL}}, bads[] = EVERYWHERE(bad),
                      zeros[] = EVERYWHERE(zero);
  hpgmg_coefficients_t c = {.cell_beta = ones, .mask = none};
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "mask is NULL");
  c.mask = bads;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT,
          "mask has 3 at (0, 0, 0); it must be 0 or from 1 to 2");
  EACH_CELL(i, grid) {
    mask[at(i)] = i[0] == 5 ? GIVEN : SOLVED;
    f[at(i)] = 1.0;
    u[at(i)] = NAN;
  }
  set_mask(s, mask);
  part_t of_f = part_of(f, -1), of_u = part_of(u, -1);
  refused(s, hpgmg_solve(s, of_f.array, of_u.array, NULL), HPGMG_BAD_ARGUMENT,
          "in the given cell (5, ");
  free_part(&of_f), free_part(&of_u);
  hpgmg_destroy(&s);
  o.words = textf("%s --operator=fv2", words);
  API(hpgmg_create(&o, &s));
  bad = 1.0;
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "it needs --operator=7pt");
  c = (hpgmg_coefficients_t){.cell_beta = zeros};
  refused(s, hpgmg_set_coefficients(s, &c), HPGMG_BAD_ARGUMENT, "cell_beta has 0 at (0, 0, 0)");
  hpgmg_destroy(&s);
}

static void test_backend(const fixture_backend_t *b) {
  const char *const words = textf("%s --operator=7pt", b->options);
  test_given(words);
  test_given(textf("%s --precision=mixed --boundary=neumann", words));
  test_solids(words, "dirichlet");
  test_solids(words, "neumann,periodic,neumann");
  test_solids(words, "neumann");
  test_solved(words);
  test_guess(textf("%s --boundary=neumann,dirichlet,robin:1:2", words));
  test_errors(words);
}

int main(int argc, char **argv) {
  parts_begin(&argc, &argv);
  parts_each(2, test_backend);
  parts_end();
  return FIXTURE_END();
}
