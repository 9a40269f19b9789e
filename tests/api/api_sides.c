/* api_sides: values of conditions from arrays, with hpgmg_set_sides. Equal values give the bits of
 * the same value in the words. With values of a linear function, which the operators reproduce
 * exactly, the solution is that function. Later values replace earlier ones. */
#include "tests/api/parts.h"
#include <math.h>
#include <stdlib.h>

enum { SIDES = 6 };

/* u = 1 + 2 x - 3 y + z. */
static double linear(const double at[3]) {
  return 1.0 + 2.0 * at[0] - 3.0 * at[1] + at[2];
}
static const double slope[3] = {2.0, -3.0, 1.0};

/* Faces of the axes, of different widths in j. */
static double *axes[3];
static void make_axes(void) {
  for (int d = 0; d < 3; d++) {
    if (!axes[d]) axes[d] = calloc((size_t)grid[d] + 1, sizeof *axes[d]);
    for (int i = 0; i <= grid[d]; i++)
      axes[d][i] = d == 1 ? 0.05 * i + 0.001 * i * i : 0.0625 * i;
  }
}

static double center(int d, int i) {
  return 0.5 * (axes[d][i] + axes[d][i + 1]);
}

/* Values of all faces on a side, for the condition a u + b du/dn. */
static double *values_on(int d, int side, double a, double b) {
  const int e = d == 0 ? 1 : 0, g = d == 2 ? 1 : 2;
  double *x = calloc((size_t)grid[e] * (size_t)grid[g], sizeof *x), at[3];
  for (int q = 0; q < grid[g]; q++)
    for (int p = 0; p < grid[e]; p++) {
      at[d] = axes[d][side == 0 ? 0 : grid[d]];
      at[e] = center(e, p);
      at[g] = center(g, q);
      x[p + grid[e] * q] = a * linear(at) + b * (side == 0 ? -slope[d] : slope[d]);
    }
  return x;
}

/* This rank's boxes of values on all sides. */
typedef struct {
  double *x[SIDES];
  hpgmg_array_t array[SIDES][MAX_BOXES];
  hpgmg_sides_t sides;
} values_t;

static void give(values_t *v, int d, int side, double *x) {
  const int n = 2 * d + side, e = d == 0 ? 1 : 0, g = d == 2 ? 1 : 2;
  v->x[n] = x;
  for (int box = 0; box < n_mine; box++) {
    const hpgmg_box_t *b = &my_boxes[box];
    hpgmg_array_t *a = &v->array[n][box];
    a->data = x + b->lo[e] + grid[e] * b->lo[g];
    a->stride[e] = 1;
    a->stride[g] = grid[e];
    a->stride[d] = 1000000; /* not used */
  }
  v->sides.values[d][side] = v->array[n];
}

static void free_values(values_t *v) {
  for (int n = 0; n < SIDES; n++)
    free(v->x[n]);
}

/* Conditions of all kinds. */
static const char mixed[] = "--boundary=dirichlet,robin:2:0.5:0,neumann,dirichlet,robin:1:1:0,"
                            "neumann";
static const double a_of[SIDES] = {1.0, 2.0, 0.0, 1.0, 1.0, 0.0},
                    b_of[SIDES] = {0.0, 0.5, 1.0, 0.0, 1.0, 1.0};

static void check_linear(part_t *u, double factor) {
  const double *got = values_in(u);
  for (int box = 0; box < n_mine; box++) {
    const hpgmg_box_t *b = &my_boxes[box];
    const hpgmg_array_t *a = &u->array[box];
    EACH_CELL(c, b->n) {
      const double at[3] = {center(0, b->lo[0] + c[0]), center(1, b->lo[1] + c[1]),
                            center(2, b->lo[2] + c[2])};
      const double *data = on_device ? got + (a->data - u->device) : a->data;
      const double x = data[c[0] * a->stride[0] + c[1] * a->stride[1] + c[2] * a->stride[2]];
      if (!(fabs(x - factor * linear(at)) < 1e-6)) {
        CHECK_NEAR(x, factor * linear(at), 1e-6);
        return;
      }
    }
  }
  CHECK(true);
}

static void test_linear(const char *words, bool stretched) {
  hpgmg_options_t o = options_of(textf("%s %s --rtol=1e-11", words, mixed));
  for (int d = 0; d < 3; d++)
    o.faces[d] = axes[d];
  if (!stretched)
    for (int i = 0; i <= grid[1]; i++)
      axes[1][i] = 0.0625 * i;
  double zero = 0.0;
  const hpgmg_array_t f[] = EVERYWHERE(zero);
  part_t u = part_of(NULL, -1);
  hpgmg_solver_t *s;
  values_t v = {{NULL}, {{{.data = NULL}}}, {{{NULL}}}}, twice = v;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      const int n = 2 * d + side;
      give(&v, d, side, values_on(d, side, a_of[n], b_of[n]));
      give(&twice, d, side, values_on(d, side, 2.0 * a_of[n], 2.0 * b_of[n]));
    }
  API(hpgmg_create(&o, &s));
  for (int n = 0; n < 3; n++) {
    API(hpgmg_set_sides(s, n == 1 ? &twice.sides : &v.sides));
    API(hpgmg_solve(s, f, u.array, NULL));
    check_linear(&u, n == 1 ? 2.0 : 1.0);
  }
  /* A side without an array keeps its value. All 0 again. */
  const hpgmg_sides_t none = {{{NULL}}}, zeros = {{{f, f}, {f, f}, {f, f}}};
  hpgmg_info_t info;
  API(hpgmg_set_sides(s, &none));
  API(hpgmg_solve(s, f, u.array, NULL));
  check_linear(&u, 1.0);
  API(hpgmg_set_sides(s, &zeros));
  API(hpgmg_solve(s, f, u.array, &info));
  CHECK(info.residual == 0.0);
  hpgmg_destroy(&s);
  free_part(&u);
  free_values(&v), free_values(&twice);
  make_axes();
}

/* The same value in words and arrays; the arrays before and after the coefficients. */
static void test_equal(const char *words, const char *kinds, const char *with_values) {
  double one = 1.0, two = 2.0;
  hpgmg_options_t o = options_of(textf("%s %s --rtol=1e-8", words, with_values));
  const hpgmg_array_t ones[] = EVERYWHERE(one), same[] = EVERYWHERE(two);
  const hpgmg_coefficients_t c = {{ones, ones, ones}, NULL, NULL, NULL};
  const hpgmg_sides_t sides = {{{same, NULL}, {NULL, same}, {NULL, NULL}}};
  part_t u = part_of(NULL, -1), want = part_of(NULL, -1);
  hpgmg_solver_t *s;
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, ones, want.array, NULL));
  hpgmg_destroy(&s);
  for (int after = 0; after < 2; after++) {
    o.words = textf("%s %s --rtol=1e-8", words, kinds);
    API(hpgmg_create(&o, &s));
    if (!after) API(hpgmg_set_sides(s, &sides));
    API(hpgmg_set_coefficients(s, &c));
    if (after) API(hpgmg_set_sides(s, &sides));
    API(hpgmg_solve(s, ones, u.array, NULL));
    if (u.values > 0) CHECK_SAME(values_in(&u), values_in(&want), u.values);
    hpgmg_destroy(&s);
  }
  free_part(&u), free_part(&want);
}

/* A solve from its own result, in the solver's memory, ends at once: values leave no trace in u. */
static void test_storage(const char *words, bool accessible) {
  hpgmg_options_t o = options_of(textf("%s --rtol=1e-9", words));
  double two = 2.0, one = 1.0;
  const hpgmg_array_t f[] = EVERYWHERE(one), values[] = EVERYWHERE(two);
  hpgmg_array_t own_f[MAX_BOXES], own_u[MAX_BOXES];
  const hpgmg_sides_t sides = {{{values, NULL}, {NULL, NULL}, {NULL, values}}};
  part_t u = part_of(NULL, -1);
  hpgmg_info_t info;
  hpgmg_solver_t *s;
  o.guess = 1;
  API(hpgmg_create(&o, &s));
  hpgmg_storage(s, own_f, own_u);
  for (int box = 0; box < n_mine; box++)
    CHECK(!own_f[box].data && !own_u[box].data); /* set-up would change them */
  API(hpgmg_set_sides(s, &sides));
  API(hpgmg_solve(s, f, u.array, &info));
  CHECK(info.cycles > 0);
  hpgmg_storage(s, own_f, own_u);
  if (accessible && n_ranks == 1 && n_mine == 1)
    for (int n = 0; n < 2; n++) {
      API(hpgmg_solve(s, f, own_u, &info));
      CHECK_INT(info.cycles, 0);
    }
  hpgmg_destroy(&s);
  free_part(&u);
}

/* Walls at 293.15 heat nothing: u differs by 293.15 from that of walls at 0. Both solves, with the
 * same relative residual, leave an error of up to |A^-1| rtol max|f - A c|. u is at least half of
 * |A^-1| max|f| here, so the difference is below 4 rtol max|u|. alpha adds alpha s to f. */
static void test_shift(const char *words, double alpha) {
  const double rtol = 1e-8, shift = 293.15, conditions[2] = {0.0, shift};
  double source, value, largest = 0.0, difference = 0.0;
  const hpgmg_array_t f[] = EVERYWHERE(source), values[] = EVERYWHERE(value);
  const hpgmg_sides_t sides = {{{values, values}, {NULL, values}, {NULL, values}}};
  part_t u[2] = {part_of(NULL, -1), part_of(NULL, -1)};
  hpgmg_info_t info[2];
  hpgmg_solver_t *s;
  hpgmg_options_t o =
      options_of(textf("%s --rtol=%g --boundary=dirichlet,dirichlet,neumann,dirichlet,"
                       "neumann,dirichlet",
                       words, rtol));
  API(hpgmg_create(&o, &s));
  for (int n = 0; n < 2; n++) {
    value = conditions[n];
    source = 1.0 + alpha * value;
    API(hpgmg_set_sides(s, &sides));
    API(hpgmg_solve(s, f, u[n].array, &info[n]));
  }
  for (int64_t at = 0; at < u[0].values; at++) {
    const double x = values_in(&u[0])[at], y = values_in(&u[1])[at];
    largest = fmax(largest, fabs(x));
    if (y != 0.0) difference = fmax(difference, fabs(y - shift - x)); /* 0: between columns */
  }
  CHECK(difference <= 4.0 * rtol * largest);
  /* Without a source, u is the constant: the norm is then max|f|, which is above 0. */
  source = alpha * value;
  API(hpgmg_solve(s, f, u[1].array, &info[1]));
  CHECK_INT(info[1].reason, HPGMG_CONVERGED);
  hpgmg_destroy(&s);
  free_part(&u[0]), free_part(&u[1]);
}

static void test_errors(const char *words) {
  hpgmg_options_t o = options_of(textf("%s --boundary=periodic,dirichlet,neumann", words));
  hpgmg_solver_t *s;
  double bad = NAN;
  const hpgmg_array_t none[MAX_BOXES] = {{.data = NULL}}, bads[] = EVERYWHERE(bad);
  hpgmg_sides_t sides = {{{NULL}}};
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_set_sides(s, NULL), HPGMG_BAD_ARGUMENT, "sides is NULL");
  sides.values[0][1] = none;
  refused(s, hpgmg_set_sides(s, &sides), HPGMG_BAD_ARGUMENT, "the grid is periodic in i");
  sides.values[0][1] = NULL;
  sides.values[1][0] = none;
  refused(s, hpgmg_set_sides(s, &sides), HPGMG_BAD_ARGUMENT, "values[1][0] is NULL");
  sides.values[1][0] = bads;
  refused(s, hpgmg_set_sides(s, &sides), HPGMG_BAD_ARGUMENT,
          "values[1][0] has nan at (0, 0, 0); it must be finite");
  bad = 0.0;
  API(hpgmg_set_sides(s, &sides));
  hpgmg_destroy(&s);
  if (n_ranks > 1) return;
  o = hpgmg_options();
  o.words = "4 1";
  API(hpgmg_create(&o, &s));
  refused(s, hpgmg_set_sides(s, &sides), HPGMG_BAD_ARGUMENT, "need the size of the grid in cells");
  hpgmg_destroy(&s);
}

static void test_backend(const fixture_backend_t *b) {
  const bool accessible = strcmp(b->name, "guard") != 0;
  test_linear(textf("%s --operator=7pt", b->options), true);
  test_linear(textf("%s --precision=mixed", b->options), false);
  test_equal(b->options, "--boundary=dirichlet",
             "--boundary=dirichlet:2,dirichlet,dirichlet,dirichlet:2,dirichlet,dirichlet");
  test_equal(textf("%s --stretch=x:tanh:1.5", b->options), "--boundary=neumann",
             "--boundary=neumann:2,neumann,neumann,neumann:2,neumann,neumann");
  test_shift(b->options, 0.0);
  test_shift(textf("%s --operator=7pt --equation=helmholtz --precision=mixed", b->options), 1.0);
  test_storage(b->options, accessible);
  test_storage(textf("%s --stretch=x:tanh:1.5 --precision=mixed", b->options), accessible);
  test_errors(b->options);
}

int main(int argc, char **argv) {
  parts_begin(&argc, &argv);
  make_axes();
  parts_each(2, test_backend);
  for (int d = 0; d < 3; d++)
    free(axes[d]);
  parts_end();
  return FIXTURE_END();
}
