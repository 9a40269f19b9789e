/* Figure of merit: the class follows from the options alone, the validity from verification, counts
 * and times. A run that was not verified or not timed has no rate. */
#include "io/report/report.h"
#include "tests/lib/params_line.h"

static mg_result_t result;
static mg_fom_t fom;

/* A verified run of n^3 cells, with these solves and seconds for each grid. */
static void set_result(int32_t n, int n_solves, double seconds) {
  memset(&result, 0, sizeof result);
  result.n_sizes = result.n_sizes_planned = MG_N_SIZES;
  result.passed = true;
  for (int s = 0; s < MG_N_SIZES; s++) {
    mg_size_result_t *size = &result.size[s];
    size->n[0] = size->n[1] = size->n[2] = n >> s;
    size->n_solves = n_solves;
    size->seconds_min = size->seconds_mean = seconds / n_solves;
  }
}

static void judge(const char *line) {
  expect_ok(line);
  const mg_report_t report = {.params = &params, .result = &result};
  fom = mg_report_fom(&report);
}

static void expect_valid(const char *line, const char *name) {
  judge(line);
  CHECK_STRING(mg_result_class_name(fom.result_class), name);
  CHECK_STRING(fom.why, "");
  CHECK(fom.valid && fom.dof_per_s > 0.0);
}

static void expect_invalid(const char *line, const char *why) {
  judge(line);
  CHECK(!fom.valid);
  CHECK_CONTAINS(fom.why, why);
}

static void test_classes(void) {
  static const struct {
    const char *line, *name;
  } runs[] = {
      {"7 8", "double"},
      {"--operator=fv4 7 8", "double"},
      {"--operator=fv4 --official 7 8", "official"},
      {"--operator=fv4 --official --bottom=smoother 7 8", "official"},
      {"--operator=fv4 --official --bottom=direct 7 8", "double"},
      {"--operator=fv4 --official --smoother=chebyshev 7 8", "double"},
      {"--official 7 8", "double"},
      {"--operator=7pt --smoother=jacobi 7 8", "double"},
      {"--operator=7pt --smooths=2 7 8", "double"},
      {"--smoother=chebyshev --degree=6 7 8", "double"},
      {"--precision=mixed 7 8", "mixed"},
      {"--precision=mixed --operator=fv4 --min-time=60 7 8", "mixed"},
      {"--smooths=2 7 8", "open"},
      {"--smoother=chebyshev --degree=5 7 8", "open"},
      {"--smoother=ssor --omega=1.1 7 8", "open"},
      {"--operator=fv4 --official --smooths=2 7 8", "open"},
      {"--operator=fv4 --official --equation=helmholtz 7 8", "open"},
      {"--boundary=periodic 7 8", "open"},
      {"--boundary=dirichlet,dirichlet,neumann 7 8", "open"},
      {"--cycle=v 7 8", "open"},
      {"--rtol=1e-8 7 8", "open"},
      {"--rtol=1e-8 --krylov=cg --precision=mixed 7 8", "open"},
      {"--coarsest=4 7 8", "open"},
      {"--cells=64x64x64", "open"},
      {"--cells=64x64x64 --precision=mixed", "open"},
  };
  set_result(256, 10, 60.0);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
    expect_valid(runs[i].line, runs[i].name);
}

static void test_rules(void) {
  const char *official = "--operator=fv4 --official 7 8";
  set_result(256, 10, 60.0);
  expect_valid(official, "official");
  CHECK_NEAR(fom.dof_per_s, 256.0 * 256.0 * 256.0 / 6.0, 1e-3);
  result.size[2].seconds_mean = 5.9;
  expect_invalid(official, "59 s of timed solves at 64^3, class official requires 60 s");
  CHECK(fom.dof_per_s > 0.0);
  expect_valid("--operator=fv4 7 8", "double");
  set_result(256, 9, 60.0);
  expect_invalid(official, "9 timed solves at 256^3, class official requires 10");
  expect_invalid("7 8", "9 timed solves at 256^3, class double requires 10");
  expect_invalid("--precision=mixed 7 8", "class mixed requires 10");
  expect_valid("--cycle=v 7 8", "open");
  set_result(256, 10, 0.9);
  expect_invalid("7 8", "0.9 s of timed solves at 256^3, class double requires 1 s");
  /* The mean of ten times may be rounded down. */
  set_result(256, 10, 60.0 * (1.0 - 1e-15));
  expect_valid(official, "official");
  /* A busy machine. */
  set_result(256, 10, 60.0);
  result.size[1].seconds_min /= MG_MAX_SPREAD;
  expect_valid(official, "official");
  result.size[1].seconds_min = 6.0 / 4.0;
  expect_invalid(official,
                 "at 128^3 the mean is 4 times the fastest solve, class official allows 1.5");
  expect_invalid("--precision=mixed 7 8", "class mixed allows 1.5");
  expect_valid("--cycle=v 7 8", "open");
  set_result(16 * 13, 10, 60.0);
  expect_invalid(official, "208^3 is not of the form C 2^k");
  set_result(8 * 11, 10, 60.0);
  expect_invalid(official, "88^3 is not of the form C 2^k");
  set_result(16 * 11, 10, 60.0);
  expect_valid(official, "official");
  set_result(48, 10, 60.0);
  expect_invalid("7 8", "class double requires a grid of at least 64^3");
  expect_valid("--cycle=v 7 8", "open");
  /* On the largest grids, rounding exceeds the error of fv4; the note is no reason against a run.
   */
  set_result(4096, 10, 60.0);
  snprintf(result.note, sizeof result.note, "error at round-off level: unchecked");
  expect_valid(official, "official");
}

static void test_no_rate(void) {
  set_result(256, 10, 60.0);
  result.passed = false;
  snprintf(result.why, sizeof result.why, "error 1, expected at most 0.1");
  expect_invalid("7 8", "error 1, expected at most 0.1");
  CHECK(isnan(fom.dof_per_s));
  expect_invalid("--cycle=v 7 8", "error 1, expected at most 0.1");
  set_result(256, 1, 1.0);
  expect_invalid("--verify-only 7 8", "--verify-only measures no times");
  CHECK(isnan(fom.dof_per_s));
  result.size[0].seconds_min = result.size[0].seconds_mean = NAN;
  expect_invalid("7 8", "--restart");
  CHECK(isnan(fom.dof_per_s));
  /* Interrupted before the first solve ended. */
  memset(&result, 0, sizeof result);
  snprintf(result.why, sizeof result.why, "interrupted");
  expect_invalid("7 8", "interrupted");
  CHECK(isnan(fom.dof_per_s));
}

/* The text report warns in every class. */
static void test_warning(void) {
  char text[4096] = "";
  set_result(256, 10, 60.0);
  result.size[2].seconds_min = 6.0 / 4.0;
  expect_ok("--cycle=v 7 8");
  const mg_report_t report = {.params = &params, .result = &result};
  FILE *out = fmemopen(text, sizeof text, "w");
  mg_report_print_results(out, &report);
  fclose(out);
  CHECK_CONTAINS(text, "  warning   at 64^3 the mean is 4 times the fastest solve: ");
  CHECK(strstr(text, "at 128^3") == NULL);
}

/* Only cells that are cubes of one size have a width. */
static void test_widths(void) {
  static double faces[17];
  const int32_t n[3] = {60, 20, 10};
  expect_ok("7 8");
  CHECK_NEAR(mg_report_width(&params, (const int32_t[3]){256, 256, 256}), 1.0 / 256, 0.0);
  expect_ok("--cells=60x20x10");
  CHECK_NEAR(mg_report_width(&params, n), 1.0 / 60, 1e-16);
  expect_ok("--cells=60x20x10 --spacing=20,20,20");
  CHECK_NEAR(mg_report_width(&params, n), 20.0, 1e-14);
  expect_ok("--cells=60x20x10 --spacing=20,10,2");
  CHECK(isnan(mg_report_width(&params, n)));
  expect_ok("--cells=16x16x16");
  params.face[2] = faces;
  CHECK(isnan(mg_report_width(&params, (const int32_t[3]){16, 16, 16})));
  params.face[2] = NULL;
}

int main(void) {
  test_warning();
  test_widths();

  test_classes();
  test_rules();
  test_no_rate();
  return TEST_RESULT();
}
