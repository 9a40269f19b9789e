/* The command line: accepted options, their meaning, and the message of each error. */
#include "params/params_nearest.h"
#include "params/params_value.h"
#include "tests/lib/params_line.h"
#include <unistd.h>

static void test_table_is_sound(void) {
  mg_params_t scratch = {0};
  mg_why_t why;
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    CHECK(option->name && option->help);
    CHECK(mg_option_find(option->name) == option); /* names are unique */
    if (option->alias) CHECK(mg_option_find(option->alias) == option);
    CHECK((option->applies != NULL) == (option->condition != NULL));
    CHECK(option->kind == MG_KIND_WORD || option->kind == MG_KIND_SET ||
                  option->kind == MG_KIND_SIDES
              ? option->words != NULL
              : !option->words || option->kind == MG_KIND_INT64);
    if (option->value) CHECK(mg_option_set(option, option->value, &scratch, &why));
    if (option->official) CHECK(mg_option_set(option, option->official, &scratch, &why));
    if (option->letter) CHECK(mg_option_find_letter(option->letter) == option);
  }
  CHECK(mg_option_find_letter('\0') == NULL);
}

static void test_defaults(void) {
  expect_ok("7 8");
  CHECK_INT(action, MG_ACTION_RUN);
  CHECK_INT(params.log2_box_dim, 7);
  CHECK_INT(params.boxes_per_rank, 8);
  CHECK_INT(params.op, MG_OPERATOR_FV2);
  CHECK_INT(params.equation, MG_EQUATION_POISSON);
  CHECK_INT(mg_params_count_sides(&params, MG_WALL_DIRICHLET), 6);
  CHECK_INT(params.smoother, MG_SMOOTHER_GSRB);
  CHECK_INT(params.bottom, MG_BOTTOM_BICGSTAB);
  CHECK_INT(params.cycle, MG_CYCLE_F);
  CHECK_INT(params.device, MG_DEVICE_AUTO);
  CHECK(params.rtol == 0);
  CHECK_INT(params.max_cycles, 1);
  CHECK_INT(params.krylov, MG_KRYLOV_NONE);
  CHECK_INT(params.coarsest, 1);
  CHECK_INT(params.warmup, 1);
  CHECK_INT(params.min_solves, 10);
  CHECK(params.min_time == 1);
  CHECK_INT(params.agglomerate_below, MG_AGGLOMERATE_AUTO);
  CHECK_INT(params.device_id, -1);
  CHECK_INT(params.cpu_below, MG_CPU_BELOW_AUTO);
  CHECK_INT(params.memory, MG_MEMORY_AUTO);
  CHECK_INT(params.verbosity, 0);
  CHECK_INT(params.ranks, 0);
}

/* Same as the reference: 6 half sweeps of gsrb, 4 for 7pt; Chebyshev of degree 6, 4 for 7pt. */
static void test_defaults_of_smoothers(void) {
  static const struct {
    const char *line;
    int smooths, degree;
    double omega;
  } cases[] = {
      {"--smoother=gsrb 5 1", 3, 6, 1.0},
      {"--smoother=gsrb --operator=fv4 5 1", 3, 6, 1.0},
      {"--smoother=chebyshev 5 1", 1, 6, 1.0},
      {"--smoother=jacobi 5 1", 6, 6, 2.0 / 3.0},
      {"--smoother=l1jacobi 5 1", 6, 6, 1.0},
      {"--smoother=symgs 5 1", 2, 6, 1.0},
      {"--smoother=ssor 5 1", 2, 6, 1.15},
      {"--operator=7pt 5 1", 2, 4, 1.0},
      {"--operator=7pt --smoother=chebyshev 5 1", 1, 4, 1.0},
      {"--operator=7pt --smoother=jacobi 5 1", 4, 4, 2.0 / 3.0},
      {"--operator=7pt --smoother=l1jacobi 5 1", 4, 4, 1.0},
      {"--operator=7pt --smoother=symgs 5 1", 2, 4, 1.0},
      {"--operator=7pt --smooths=9 5 1", 9, 4, 1.0},
      {"--smoother=ssor --omega=1.3 5 1", 2, 6, 1.3},
      {"--omega=0.9 5 1", 3, 6, 0.9},
      {"--smoother=chebyshev --degree=2 --smooths=3 5 1", 3, 2, 1.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    expect_ok(cases[i].line);
    CHECK_INT(params.smooths, cases[i].smooths);
    CHECK_INT(params.degree, cases[i].degree);
    CHECK(params.omega == cases[i].omega);
  }
}

static void test_ways_to_write_options(void) {
  expect_ok("--operator fv4 7 --rtol 1e-8 8 --cycle=v -q");
  CHECK_INT(params.op, MG_OPERATOR_FV4);
  CHECK(params.rtol == 1e-8);
  CHECK_INT(params.max_cycles, 20);
  CHECK_INT(params.cycle, MG_CYCLE_V);
  CHECK_INT(params.verbosity, -1);
  expect_ok("-v -- 7 8");
  CHECK_INT(params.verbosity, 1);
  expect_ok("--quiet --quiet=no --verbose 7 8");
  CHECK_INT(params.verbosity, 1);
  expect_ok("--json - --csv=x.csv 7 8");
  CHECK_STRING(params.json, "-");
  CHECK_STRING(params.csv, "x.csv");
  expect_ok("--official --official=no --verify-only 7 8");
  CHECK(params.verify_only && !params.official);
  expect_ok("--fused-sweeps=2 7 8"); /* an alias */
  CHECK_INT(params.steps_per_pass, 2);
  expect_ok("--smooths=4 --smooths=5 7 8");
  CHECK_INT(params.smooths, 5);
  expect_ok("4 1000000000000");
  CHECK_INT(params.boxes_per_rank, 1000000000000);
  expect_ok("--dry-run --json=a 7 8");
  CHECK_STRING(params.json, "a");
  expect_ok("--dry-run --ranks=1000000000 10 1");
  CHECK_INT(params.ranks, 1000000000);
  expect_ok("--help");
  CHECK_INT(action, MG_ACTION_HELP);
  expect_ok("-V --no-matter-what");
  CHECK_INT(action, MG_ACTION_VERSION);
  expect_ok("--official 7 8");
  CHECK(params.warmup == 10 && params.min_solves == 10 && params.min_time == 60);
  expect_ok("--official --min-time=60 7 8");
}

/* Without "=", --energy means yes and is followed by the next argument. */
static void test_energy(void) {
  expect_ok("7 8");
  CHECK_INT(params.energy, MG_AUTO);
  expect_ok("--energy 7 8");
  CHECK_INT(params.energy, MG_YES);
  expect_ok("--energy=no --verify-only 7 8");
  CHECK_INT(params.energy, MG_NO);
  expect_ok("--energy=auto --verify-only 7 8");
  expect_usage("--energy= 7 8", "--energy=: no value; expected one of no, yes, auto");
  expect_usage("--energy --verify-only 7 8", "--energy cannot be combined with --verify-only");
}

static void test_bad_sizes(void) {
  expect_usage("", "for example: 7 8 (8 boxes of 128^3 cells per rank)");
  expect_usage("7", "BOXES_PER_RANK is missing");
  expect_usage("7", "for example: 7 8");
  expect_usage("7 8 9", "unexpected argument '9'");
  expect_usage("3 8", "LOG2_BOX_DIM=3: out of range; expected integer from 4 to 10");
  expect_usage("11 8", "from 4 to 10");
  expect_usage("-5 8", "LOG2_BOX_DIM=-5: out of range");
  expect_usage("7 0", "BOXES_PER_RANK=0: out of range");
  expect_usage("7 1000000000001", "from 1 to 1000000000000");
  expect_usage("7 99999999999999999999", "too large");
  expect_usage("7 -99999999999999999999", "too small");
  expect_usage("4294967303 8", "out of range"); /* 2^32 + 7 must not become 7 */
  expect_usage("seven 8", "LOG2_BOX_DIM=seven: not a number");
  expect_usage("7 8x", "trailing 'x' after the number");
  expect_usage("7 1e3", "trailing 'e3'");
  expect_usage("7.0 8", "trailing '.0'");
  expect_usage("- 8", "not a number");
  expect_usage("--log2-box-dim=7 8", "--log2-box-dim is not an option; pass LOG2_BOX_DIM");
}

static void check_grid(const char *line, const int32_t cells[3], const double length[3]) {
  expect_ok(line);
  for (int d = 0; d < 3; d++) {
    CHECK_INT(params.cells[d], cells[d]);
    CHECK(params.length[d] == length[d]);
  }
}

/* A grid of any size is solved once, to a tolerance. */
static void test_cells(void) {
  const int32_t cells[3] = {10, 20, 5}, widest[3] = {1048576, 1048576, 1048576};
  const double h = 0.3;
  check_grid("--cells=10x20x5", cells, (const double[3]){1, 2, 0.5});
  check_grid("--cells=10X20X5 --lengths=3,.5,1e100", cells, (const double[3]){3, 0.5, 1e100});
  CHECK(params.spacing[0] == 0);
  check_grid("--cells=10x20x5 --spacing=0.3,0.5,1e-100", cells,
             (const double[3]){h * 10, 10, 1e-100 * 5});
  check_grid("--cells=1048576x1048576x1048576", widest, (const double[3]){1, 1, 1});
  CHECK(params.rtol == 1e-8 && params.max_cycles == 200);
  CHECK(params.warmup == 0 && params.min_solves == 1 && params.min_time == 0);
  CHECK(mg_params_solves_once(&params));
  expect_ok("--cells=1x2x3 --operator=7pt --rtol=1e-3 --max-cycles=7 --warmup=2 --min-solves=3 "
            "--min-time=4 --dump=a.hdf");
  CHECK(params.rtol == 1e-3 && params.max_cycles == 7);
  CHECK(params.warmup == 2 && params.min_solves == 3 && params.min_time == 4);
  expect_ok("--cells=1x2x3 --official=no --verify-only");
  expect_ok("7 8");
  CHECK(!mg_params_has_cells(&params) && params.length[0] == 0);
}

static void test_bad_cells(void) {
  static const char *const bad[][2] = {
      {"--cells=", "no value"},
      {"--cells=3", "fewer than three numbers"},
      {"--cells=3x3", "fewer than three numbers; expected three integers from 1 to 1048576"},
      {"--cells=x", "not a number"},
      {"--cells=3x3x3x3", "more than three numbers"},
      {"--cells=3x3x", "not a number"},
      {"--cells=3xx3", "not a number"},
      {"--cells=3,3,3", "fewer than three numbers"},
      {"--cells=3x3x3m", "trailing 'm'"},
      {"--cells=0x3x3", "out of range"},
      {"--cells=3x-1x3", "out of range"},
      {"--cells=3x3x1048577", "out of range"},
      {"--cells=3x4294967299x3", "out of range"}, /* 2^32 + 3 must not become 3 */
      {"--cells=3x3x99999999999999999999", "too large"},
      {"--cells=1e3x3x3", "trailing 'e3'"},
      {"--cells=nanx3x3", "not a number"},
      {"--cells=3x3x3 --lengths=1,1", "fewer than three numbers; expected three numbers from"},
      {"--cells=3x3x3 --lengths=1,1,1,1", "more than three numbers"},
      {"--cells=3x3x3 --lengths=1x1x1", "fewer than three numbers"},
      {"--cells=3x3x3 --lengths=1,0,1", "out of range"},
      {"--cells=3x3x3 --lengths=1,1,-1", "out of range"},
      {"--cells=3x3x3 --lengths=nan,1,1", "not a finite number"},
      {"--cells=3x3x3 --spacing=1,inf,1", "not a finite number"},
      {"--cells=3x3x3 --spacing=1,1,1e400", "too large"},
      {"--cells=3x3x3 --spacing=1e-400,1,1", "too close to 0"},
      {"--cells=3x3x3 --spacing=,1,1", "not a number"},
      {"--cells=3x3x3 --spacing=1,1,1e101", "out of range; expected three numbers from 1e-100 to"},
      {"--cells=3x3x3 --spacing=1,1,1 --lengths=1,1,1",
       "--lengths requires --cells without --spacing"},
      {"--lengths=1,1,1 7 8", "--lengths requires --cells without --spacing"},
      {"--spacing=1,1,1 7 8", "--spacing requires --cells"},
      {"--cells=3x3x3 7 8", "--cells cannot be combined with LOG2_BOX_DIM; remove one of them"},
      {"--cells=3x3x3 --official", "--cells cannot be combined with --official"},
      {"--cells=3x3x3 --operator=fv4", "--cells requires --operator=fv2 or 7pt"},
      {"--cells=3x3x3 --operator=27pt", "27pt needs a cube of boxes"},
      {"4 1 --coefficients=x.hdf --operator=27pt", "--coefficients"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    expect_usage(bad[i][0], bad[i][1]);
  char line[128];
  snprintf(line, sizeof line, "--cells=3x%0100dx3", 3);
  expect_usage(line, "not a number");
}

static void test_bad_values(void) {
  expect_usage("--operator=fv3 7 8",
               "unknown value (did you mean fv2?); expected one of fv2, fv4, 7pt");
  expect_usage("--smoother=chebychev 7 8", "did you mean chebyshev?");
  expect_usage("--smooths=0 7 8", "from 1 to 100");
  expect_usage("--smooths=101 7 8", "from 1 to 100");
  expect_usage("--smooths= 7 8", "no value");
  expect_usage("7 8 --smooths", "no value");
  expect_usage("--json --quiet 7 8", "--json=: no value");
  expect_usage("--rtol=0 7 8", "above 0 and below 1");
  expect_usage("--rtol=1 7 8", "above 0 and below 1");
  expect_usage("--rtol=nan 7 8", "not a finite number");
  expect_usage("--rtol=inf 7 8", "not a finite number");
  expect_usage("--rtol=1e999 7 8", "too large");
  expect_usage("--rtol=1e-999 7 8", "too close to 0");
  expect_usage("--rtol=1e-9z 7 8", "trailing 'z'");
  expect_usage("--min-time=-1 7 8", "from 0 to 1000000");
  expect_usage("--min-time=-inf 7 8", "not a finite number");
  expect_usage("--max-cycles=1001 --rtol=.5 7 8", "from 1 to 1000");
  expect_usage("--ranks=1000000001 --dry-run 7 8", "from 1 to 1000000000");
  expect_usage("--cpu-below=9223372036854775808 7 8", "too large");
  expect_usage("--cpu-below=9223372036854775807 7 8", "out of range");
  expect_usage("--device-id=-1 7 8", "out of range; expected integer from 0 to 1023");
  expect_usage("--device-id=gpu0 7 8", "not a number");
  expect_usage("--device-id=0 --device=cpu 7 8",
               "--device-id requires --device=auto, cuda or cuda-simple");
  expect_usage("--device-id=0 --device=cpu 7 8",
               "--device-id requires --device=auto, cuda or cuda-simple");
  expect_usage("--transport=peer --device=cpu 7 8",
               "--transport requires --device=auto, cuda or cuda-simple");
  expect_usage("--cpu-below=-1 7 8", "out of range; expected auto or integer from 0");
  expect_usage("--memory=unified --device=cpu 7 8",
               "--memory cannot be combined with --device=cpu");
  expect_usage("--cpu-below=automatic 7 8", "not a number; expected auto or");
  expect_usage("--quiet=maybe 7 8", "expected yes or no");
  expect_usage("--help=me 7 8", "takes no value");
  char *argv[] = {"hpgmg-fv", "--smooths= 3", "7", "8\n", NULL};
  CHECK_INT(mg_params_parse(4, argv, NULL, &params, &action, message, 1024), MG_ERR_USAGE);
  argv[1] = "--json=a\nb";
  CHECK_INT(mg_params_parse(4, argv, NULL, &params, &action, message, 1024), MG_ERR_USAGE);
  CHECK_CONTAINS(message, "--json=a?b: contains a control character");
}

static void test_path_length(void) {
  static char option[MG_PATH_MAX + 16];
  char *argv[] = {"hpgmg-fv", option, "7", "8", NULL};
  memcpy(option, "--json=", 7);
  memset(option + 7, 'x', MG_PATH_MAX - 1);
  CHECK_INT(mg_params_parse(4, argv, NULL, &params, &action, message, 1024), MG_OK);
  CHECK_INT(strlen(params.json), MG_PATH_MAX - 1);
  option[7 + MG_PATH_MAX - 1] = 'x';
  CHECK_INT(mg_params_parse(4, argv, NULL, &params, &action, message, 1024), MG_ERR_USAGE);
  CHECK_CONTAINS(message, "too long");
}

static void test_nearest_names(void) {
  expect_usage("--operater=fv2 7 8", "did you mean --operator?");
  expect_usage("--smother=gsrb 7 8", "did you mean --smoother?");
  expect_usage("--min_time=3 7 8", "did you mean --min-time?");
  expect_usage("--verify 7 8", "did you mean --verify-only?");
  expect_usage("--agglom=3 7 8", "did you mean --agglomerate-below?");
  expect_usage("--xyzzy 7 8", "unknown option --xyzzy; hpgmg-fv --help lists all");
  expect_usage("--n=128", "LOG2_BOX_DIM and BOXES_PER_RANK set the grid size, for example 7 8 ");
  expect_usage("-n 128", "set the grid size");
  expect_usage("--NX=128", "set the grid size");
  expect_usage("--grid_size 128", "set the grid size");
  expect_usage("--=3 7 8", "unknown option");
  expect_usage("-x 7 8", "unknown option -x");
  CHECK_INT(mg_edit_distance("rtol", "rtol"), 0);
  CHECK_INT(mg_edit_distance("rotl", "rtol"), 1);
  CHECK_INT(mg_edit_distance("", "rtol"), 4);
  CHECK_INT(mg_edit_distance("kitten", "sitting"), 3);
  CHECK_STRING(mg_nearest_option("inptu", MG_AS_OPTION), "input");
  CHECK(!mg_nearest_option("inptu", MG_IN_DECK));
}

static void test_contradictions(void) {
  expect_usage("--degree=4 7 8", "--degree requires --smoother=chebyshev");
  expect_usage("--smoother=chebyshev --omega=1.2 7 8",
               "--omega cannot be combined with --smoother=chebyshev");
  expect_usage("--omega=2 7 8", "--omega=2");
  expect_usage("--omega=0 7 8", "--omega=0");
  expect_usage("--max-cycles=4 7 8", "--max-cycles requires --rtol=R");
  expect_usage("--krylov=cg 7 8", "--krylov requires --rtol=R");
  expect_usage("--krylov=gmres --rtol=.1 7 8", "expected one of none, cg");
  expect_usage("--ranks=4 7 8", "--ranks requires --dry-run");
  expect_usage("--official --verify-only 7 8", "--verify-only");
  expect_usage("--verify-only --min-solves=3 7 8", "cannot be combined with --verify-only");
  expect_usage("--verify-only --min-time=3 7 8", "cannot be combined with --verify-only");
  expect_usage("--verify-only --warmup=3 7 8", "cannot be combined with --verify-only");
  expect_usage("--official --min-time=61 7 8", "--min-time is 61, but --official requires 60");
  expect_usage("--official --warmup=0 7 8", "--warmup is 0, but --official requires 10");
  expect_usage("--official --min-solves=11 7 8", "--official requires 10");
  expect_usage("--quiet --verbose 7 8", "conflicts with --quiet");
  expect_usage("-v -q 7 8", "conflicts with --verbose");
  expect_usage("--json=- --csv=- 7 8", "both write to '-'");
  expect_usage("--json=a --csv=a 7 8", "both write to 'a'");
  expect_usage("--dry-run --print-config 7 8", "--print-config cannot be combined with --dry-run");
  expect_usage("--dry-run --csv=a 7 8", "--csv cannot be combined with --dry-run");
}

static void test_dump_options(void) {
  expect_ok("7 8");
  CHECK_STRING(params.dump, "");
  CHECK_INT(params.dump_fields, 1 << MG_FIELD_U | 1 << MG_FIELD_F | 1 << MG_FIELD_RESIDUAL);
  CHECK_INT(params.dump_levels, 1);
  expect_ok("--dump=g.hdf --dump-fields=dinv,u --dump-levels=all --dump-hints=a=b,c=d 7 8");
  CHECK_INT(params.dump_fields, 1 << MG_FIELD_U | 1 << MG_FIELD_DINV);
  CHECK_INT(params.dump_levels, (1 << 24) - 1);
  CHECK_STRING(params.dump_hints, "a=b,c=d");
  expect_ok("--dump=g.hdf --dump-fields=all --dump-levels=23,0 7 8");
  CHECK_INT(params.dump_fields, (1 << MG_N_FIELDS) - 1);
  CHECK_INT(params.dump_levels, 1 << 23 | 1);
  expect_usage("--dump=g.hdf --dump-fields=u,,f 7 8", "unknown value");
  expect_usage("--dump=g.hdf --dump-fields=u, 7 8", "unknown value");
  expect_usage("--dump=g.hdf --dump-fields=beta_x 7 8",
               "did you mean beta_i?); expected all or a comma-separated list of u, f");
  expect_usage("--dump=g.hdf --dump-fields=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 7 8",
               "unknown value");
  expect_usage("--dump=g.hdf --dump-levels=24 7 8", "all or a comma-separated list of 0 to 23");
  expect_usage("--dump=g.hdf --dump-hints=a 7 8", "not a list of key=value");
  expect_usage("--dump=g.hdf --dump-hints==b 7 8", "not a list of key=value");
  expect_usage("--dump=g.hdf --dump-hints=a=b,c= 7 8", "not a list of key=value");
  expect_usage("--dump-every=2 7 8", "--dump-every requires --dump=FILE");
  expect_usage("--dump=a --csv=a 7 8", "both write to 'a'");
  expect_usage("--dry-run --dump=a 7 8", "--dump cannot be combined with --dry-run");
}

/* Files are compared by location, not by name. */
static void test_files(void) {
  expect_ok("--json=a --csv=b --dump=c --rhs=d --restart=e 7 8");
  expect_ok("--restart=a.hdf --dump=a.hdf 7 8");
  expect_ok("--dump=a.hdf --dump-every=2 --rtol=1e-3 --csv=a.0003.hdf 7 8");
  expect_usage("--json=./a --csv=a 7 8", "--json and --csv both write to 'a'");
  expect_usage("--json=a --dump=../no-folder/../a --csv=b --dump=./a 7 8",
               "--dump and --json both");
  expect_usage("--dump=- 7 8", "--dump=-: a dump cannot be written to stdout");
  expect_usage("--dump=a.hdf --json=./a.hdf.xdmf 7 8", "--dump and --json both write");
  expect_usage("--dump=a.hdf --dump-every=2 --rtol=1e-3 --csv=a.0004.hdf 7 8", "--dump and --csv");
  expect_usage("--dump=a.hdf --dump-every=2 --rtol=1e-3 --rhs=a.0004.hdf 7 8",
               "--dump would overwrite 'a.0004.hdf', which --rhs reads");
  expect_usage("--dump=a --dump-every=1 --rtol=.1 --json=a.0004.xdmf 7 8",
               "--dump and --json both");
  expect_usage("--restart=a --csv=./a 7 8", "--csv would overwrite 'a', which --restart reads");
  expect_usage("--coefficients=a --json=a 7 8", "'a', which --coefficients reads");
  CHECK_INT(symlink("unit_params_target", "unit_params_link"), 0);
  FILE *file = fopen("unit_params_target", "w");
  CHECK(file != NULL);
  if (file) fclose(file);
  expect_usage("--rhs=unit_params_target --json=unit_params_link 7 8", "which --rhs reads");
  /* A dump replaces the target of a link; numbered files are created beside the link. */
  expect_usage("--dump=unit_params_link --rhs=unit_params_target 7 8", "which --rhs reads");
  expect_usage("--dump=unit_params_link --dump-every=1 --csv=unit_params_link.0001 7 8",
               "both write");
  expect_ok("--dump=unit_params_link --dump-every=1 --csv=unit_params_target.0001 7 8");
  remove("unit_params_link");
  remove("unit_params_target");
}

int main(void) {
  test_files();
  test_dump_options();
  test_table_is_sound();
  test_defaults();
  test_defaults_of_smoothers();
  test_ways_to_write_options();
  test_energy();
  test_bad_sizes();
  test_cells();
  test_bad_cells();
  test_bad_values();
  test_path_length();
  test_nearest_names();
  test_contradictions();
  return TEST_RESULT();
}
