/* --boundary: a word for each side, with the numbers of its condition. */
#include "params/params_wings.h"
#include "tests/lib/params_line.h"
#include <string.h>

/* `kinds`: d, n or p for each side, as in x-low, x-high, y-low, ... */
static void check_sides(const char *words, const char *kinds, const char *shortest) {
  static const mg_wall_t wall[] = {
      ['d'] = MG_WALL_DIRICHLET, ['n'] = MG_WALL_NEUMANN, ['p'] = MG_WALL_NONE};
  expect_ok(textf("7 8 --boundary=%s", words));
  for (int side = 0; side < 6; side++)
    CHECK_INT(params.side[side / 2][side % 2].wall, wall[(int)kinds[side]]);
  CHECK_INT(mg_params_is_all_periodic(&params), strcmp(kinds, "pppppp") == 0);
  CHECK_STRING(mg_boundary_text(&params).text, shortest);
}

/* Conditions with numbers, and back to text. */
static void test_conditions(void) {
  static const char text[] =
      "dirichlet:1.5,neumann:-2,robin:1:2,robin:0.5:1e-3:7,neumann,dirichlet";
  static const double wanted[6][3] = {{1, 0, 1.5},    {0, 1, -2}, {1, 2, 0},
                                      {0.5, 1e-3, 7}, {0, 1, 0},  {1, 0, 0}};
  expect_ok(textf("--cells=8x8x8 --boundary=%s", text));
  for (int side = 0; side < 6; side++) {
    const mg_side_t *c = &params.side[side / 2][side % 2];
    CHECK(c->u == wanted[side][0] && c->flux == wanted[side][1] && c->value == wanted[side][2]);
    CHECK_INT(mg_is_robin(c), side == 2 || side == 3);
  }
  CHECK_INT(params.side[0][0].wall, MG_WALL_DIRICHLET);
  CHECK_INT(params.side[1][0].wall, MG_WALL_NEUMANN);
  CHECK(params.alpha_varies);
  CHECK(mg_params_has_wall_values(&params));
  CHECK_STRING(mg_boundary_text(&params).text,
               "dirichlet:1.5,neumann:-2,robin:1:2,robin:0.5:0.001:7,neumann,dirichlet");
  expect_ok("--cells=8x8x8 --boundary=robin:1:2:3");
  CHECK_STRING(mg_boundary_text(&params).text, "robin:1:2:3");
  expect_ok("--cells=8x8x8 --boundary=neumann,dirichlet,dirichlet");
  CHECK(!params.alpha_varies && !mg_params_has_wall_values(&params));
  expect_usage("7 8 --boundary=dirichlet:1", "require --cells");
  expect_usage("7 8 --boundary=robin:1:1", "require --cells");
  static const char *const bad[][2] = {{"robin", "A > 0 and B > 0"},
                                       {"robin:1", "A > 0 and B > 0"},
                                       {"robin:-1:2", "A > 0 and B > 0"},
                                       {"robin:1:0", "A > 0 and B > 0"},
                                       {"robin:1:2:3:4", "more than three numbers"},
                                       {"periodic:1", "a number after periodic"},
                                       {"dirichlet:1:2", "more than one number"},
                                       {"neumann:x", "not a number"},
                                       {"dirichlet:nan", "not a number"},
                                       {"dirichlet:1e400", "not a number"},
                                       {"dirichlet:", "not a number"}};
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    expect_usage(textf("--cells=8x8x8 --boundary=%s", bad[b][0]), bad[b][1]);
}

/* --stretch and --mean. */
static void test_axes(void) {
  expect_ok("--cells=8x8x8 --stretch=z:tanh:2.5,x:tanh:1");
  CHECK(params.stretch[0] == 1.0 && params.stretch[1] == 0.0 && params.stretch[2] == 2.5);
  expect_usage("7 8 --stretch=x:tanh:1", "requires --cells");
  static const char *const bad[][2] = {{"x", "not AXIS:tanh:B"},
                                       {"a:tanh:1", "not AXIS:tanh:B"},
                                       {"x:sinh:1", "not AXIS:tanh:B"},
                                       {"x:tanh:", "not a number"},
                                       {"x:tanh:0", "out of range"},
                                       {"x:tanh:9", "out of range"},
                                       {"x:tanh:nan", "not a finite number"},
                                       {"x:tanh:1,", "not AXIS:tanh:B"},
                                       {"x:tanh:1,x:tanh:2", "an axis twice"}};
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    expect_usage(textf("--cells=8x8x8 --stretch=%s", bad[b][0]), bad[b][1]);
  expect_ok("--cells=8x8x8 --boundary=neumann,periodic,neumann:1 --mean=-2.5");
  CHECK(params.mean == -2.5);
  static const char *const determined[] = {"7 8 --boundary=neumann", "--cells=8x8x8",
                                           "--cells=8x8x8 --boundary=neumann,neumann,dirichlet",
                                           "--cells=8x8x8 --boundary=robin:1:1",
                                           "--cells=8x8x8 --boundary=neumann --equation=helmholtz"};
  for (size_t c = 0; c < sizeof determined / sizeof *determined; c++)
    expect_usage(textf("%s --mean=1", determined[c]), "without Dirichlet and Robin sides");
}

static void test_boundary(void) {
  check_sides("dirichlet", "dddddd", "dirichlet");
  check_sides("neumann", "nnnnnn", "neumann");
  check_sides("periodic", "pppppp", "periodic");
  check_sides("periodic,periodic,periodic", "pppppp", "periodic");
  check_sides("neumann,dirichlet,periodic", "nnddpp", "neumann,dirichlet,periodic");
  check_sides("neumann,neumann,periodic,periodic,dirichlet,dirichlet", "nnppdd",
              "neumann,periodic,dirichlet");
  check_sides("dirichlet,neumann,dirichlet,dirichlet,neumann,dirichlet", "dnddnd",
              "dirichlet,neumann,dirichlet,dirichlet,neumann,dirichlet");
  for (int d = 0; d < 3; d++)
    CHECK(!mg_params_is_periodic(&params, d));
  CHECK(mg_params_count_sides(&params, MG_WALL_NONE) == 0);
  expect_ok("7 8 --boundary=neumann,dirichlet,periodic");
  CHECK(mg_params_is_periodic(&params, 2) && !mg_params_is_periodic(&params, 0));
  CHECK(mg_params_count_sides(&params, MG_WALL_NONE) > 0);
  expect_usage("7 8 --boundary=robni", "unknown value (did you mean robin?); expected 1, 3 or 6");
  expect_usage("7 8 --boundary=neumann,dirichlet", "2, 4 or 5 words");
  expect_usage("7 8 --boundary=neumann,neumann,neumann,neumann,neumann", "2, 4 or 5 words");
  expect_usage("7 8 --boundary=neumann,neumann,neumann,neumann,neumann,neumann,neumann",
               "more than six words");
  expect_usage("7 8 --boundary=neumann,,neumann", "unknown value");
  expect_usage("7 8 --boundary=neumann,neumann,neumann,", "unknown value");
  expect_usage("7 8 --boundary=", "no value");
  expect_usage("7 8 --boundary=periodic,dirichlet,neumann,neumann,neumann,neumann",
               "x-low is periodic, but x-high is not; set both to periodic");
  expect_usage("7 8 --boundary=neumann,neumann,neumann,neumann,neumann,periodic",
               "z-high is periodic, but z-low is not");
}

int main(void) {
  test_boundary();
  test_conditions();
  test_axes();
  return TEST_RESULT();
}
