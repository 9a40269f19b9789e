/* api_directions: new betas through hpgmg.h replace the levels, if they differ between directions,
 * and the inverse of the coarsest level, and choose the method. */
#include "tests/api/parts.h"

static void set_constants(hpgmg_solver_t *s, double *beta) {
  const hpgmg_array_t array[3][MAX_BOXES] = {EVERYWHERE(beta[0]), EVERYWHERE(beta[1]),
                                             EVERYWHERE(beta[2])};
  const hpgmg_coefficients_t c = {.beta = {array[0], array[1], array[2]}};
  API(hpgmg_set_coefficients(s, &c));
}

/* Betas that differ between directions replace the levels; with betas of 1 the first ones come
 * back. After hpgmg_storage none are replaced. */
static void test_directions(const fixture_backend_t *b, const char *words) {
  const hpgmg_options_t o = options_of(textf("%s " SPACING " %s --operator=7pt --rtol=1e-8 "
                                             "--smoother=chebyshev --krylov=cg --max-cycles=12",
                                             b->options, words));
  double one[3] = {1.0, 1.0, 1.0}, differ[3] = {1.0, 1e-3, 1.0};
  const double *x = field_random(mg_volume(grid), 5);
  hpgmg_array_t f_before[MAX_BOXES], u_before[MAX_BOXES], f_after[MAX_BOXES], u_after[MAX_BOXES];
  hpgmg_solver_t *s;
  hpgmg_info_t info;
  part_t f = part_of(x, -1), u = part_of(NULL, -1), want = part_of(NULL, -1);
  API(hpgmg_create(&o, &s));
  API(hpgmg_solve(s, f.array, want.array, NULL));
  set_constants(s, differ);
  API(hpgmg_solve(s, f.array, u.array, &info));
  CHECK_INT(info.reason, HPGMG_CONVERGED);
  set_constants(s, one);
  API(hpgmg_solve(s, f.array, u.array, NULL));
  const double *first = values_in(&want);
  if (u.values > 0) CHECK_SAME(values_in(&u), first, u.values);
  hpgmg_storage(s, f_before, u_before);
  set_constants(s, differ);
  hpgmg_storage(s, f_after, u_after);
  for (int box = 0; box < n_mine; box++)
    CHECK(f_after[box].data == f_before[box].data && u_after[box].data == u_before[box].data);
  hpgmg_destroy(&s);
  free_part(&f), free_part(&u), free_part(&want);
}

/* Betas choose the method, unless the words have one. */
static void test_method(const fixture_backend_t *b) {
  hpgmg_options_t o =
      options_of(textf("%s " SPACING " --method=auto --operator=7pt --rtol=1e-8", b->options));
  double one[3] = {1.0, 1.0, 1.0};
  hpgmg_solver_t *s;
  double *x = field_random(mg_volume(grid), 5);
  for (int64_t c = 0; c < mg_volume(grid); c++)
    x[c] = x[c] > 0.0 ? 1e4 : 1.0;
  part_t rough = part_of(x, -1);
  API(hpgmg_create(&o, &s));
  CHECK_CONTAINS(hpgmg_method(s), "--krylov=none; beta is constant");
  API(hpgmg_set_coefficients(s, &(hpgmg_coefficients_t){.cell_beta = rough.array}));
  CHECK_CONTAINS(hpgmg_method(s), "--smoother=chebyshev4 --smooths=1 --degree=8 ");
  CHECK_CONTAINS(hpgmg_method(s), " --krylov=kcycle; beta varies by a factor of ");
  set_constants(s, one);
  CHECK_CONTAINS(hpgmg_method(s), "--krylov=none; beta is constant");
  hpgmg_destroy(&s);
  CHECK_STRING(hpgmg_method(s), "");
  o.words = textf("%s " SPACING " --smoother=symgs", b->options);
  API(hpgmg_create(&o, &s));
  CHECK_CONTAINS(hpgmg_method(s), "--smoother=symgs ");
  CHECK(!strchr(hpgmg_method(s), ';'));
  hpgmg_destroy(&s);
  free_part(&rough);
}

/* Other betas replace the inverse of the coarsest level too, which graphs refer to: twice the betas
 * give half of u, to the bit. */
static void test_again(const fixture_backend_t *b) {
  const hpgmg_options_t o =
      options_of(textf("%s " SPACING " --smoother=gsrb --rtol=1e-8", b->options));
  double one[3] = {1.0, 1.0, 1.0}, two[3] = {2.0, 2.0, 2.0};
  const double *x = field_random(mg_volume(grid), 5);
  part_t f = part_of(x, -1), u = part_of(NULL, -1), half = part_of(NULL, -1);
  hpgmg_solver_t *s;
  API(hpgmg_create(&o, &s));
  set_constants(s, one);
  API(hpgmg_solve(s, f.array, u.array, NULL));
  set_constants(s, two);
  API(hpgmg_solve(s, f.array, half.array, NULL));
  const double *values = values_in(&half);
  double *twice = field_new(u.values + 1);
  for (int64_t i = 0; i < u.values; i++)
    twice[i] = 2.0 * values[i];
  if (u.values > 0) CHECK_SAME(twice, values_in(&u), u.values);
  hpgmg_destroy(&s);
  free_part(&f), free_part(&u), free_part(&half);
}

/* The last solver of a process closes the device; so keep one. */
static void test_backend(const fixture_backend_t *b) {
  hpgmg_options_t o = options_of(b->options);
  hpgmg_solver_t *first;
  API(hpgmg_create(&o, &first));
  test_directions(b, "--boundary=dirichlet,neumann,neumann");
  test_directions(b, "--boundary=robin:1:1:1,dirichlet,periodic --precision=mixed");
  test_again(b);
  test_method(b);
  hpgmg_destroy(&first);
}

int main(int argc, char **argv) {
  parts_begin(&argc, &argv);
  parts_each(4, test_backend);
  parts_end();
  return FIXTURE_END();
}
