/* Decks: accepted syntax, the message of each error, and round trips through --print-config. */
#include "params/params_files.h"
#include "tests/lib/params_line.h"
#include <stdlib.h>
#include <unistd.h>

static mg_status_t parse_deck(const char *text) {
  return mg_params_parse_deck(text, (int64_t)strlen(text), "a.ini", &params, message,
                              (int)sizeof message);
}

/* Output of mg_params_print for `p`. The caller frees it. */
static char *print_deck(const mg_params_t *p) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  mg_params_print(out, p);
  fclose(out);
  return text;
}

static void test_decks(void) {
  static const char good[] = "\xEF\xBB\xBF# comment\r\n; another\n\n[problem]\nlog2-box-dim=5\r\n"
                             "   boxes-per-rank = 27  # inline\n\toperator = fv4 ; inline\n"
                             "[run] # for the reader\nverify-only = on\n[output]\n"
                             "fused-sweeps = 1\njson = dir/a b#c.json";
  CHECK_INT(parse_deck(good), MG_OK);
  CHECK_STRING(message, "");
  CHECK_INT(params.log2_box_dim, 5);
  CHECK_INT(params.boxes_per_rank, 27);
  CHECK_INT(params.op, MG_OPERATOR_FV4);
  CHECK(params.verify_only);
  CHECK_INT(params.steps_per_pass, 1);
  CHECK_STRING(params.json, "dir/a b#c.json");
}

static void test_bad_decks(void) {
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", "LOG2_BOX_DIM and BOXES_PER_RANK are missing"},
      {"log2-box-dim = 7\n", "BOXES_PER_RANK is missing"},
      {"boxes-per-rank = 7\n", "LOG2_BOX_DIM is missing"},
      {"\nsmother = gsrb\n", "a.ini:2: unknown key 'smother'; did you mean smoother?"},
      {"rtol = 1e-3\n\nrtol = 1e-4\n", "a.ini:3: duplicate key 'rtol', first on line 1"},
      {"quiet = yes\n[run]\nquiet = yes\n", "a.ini:3: duplicate key 'quiet'"},
      {"smooths = 3x\n", "a.ini:1: smooths = 3x: trailing 'x'"},
      {"smooths = 3\n  4\n", "a.ini:2: expected 'key = value'"}, /* no continuation lines */
      {"smooths\n", "a.ini:1: expected 'key = value'"},
      {"# c\nrubbish\nsmother = gsrb\n", "a.ini:2: expected 'key = value'"},
      {"smother = gsrb\nrubbish\n", "a.ini:1: unknown key"},
      {"smooths =\n", "a.ini:1: smooths = : no value"},
      {"json = # none\n", "a.ini:1: json = : no value"},
      {"= 3\n", "a.ini:1: "},
      {"n = 128\n", "a.ini:1: unknown key 'n'; log2-box-dim and boxes-per-rank set the grid size"},
      {"fused-sweeps = 2\nsteps-per-pass = 1\n", "a.ini:2: duplicate key 'steps-per-pass'"},
      {"xyzzy = 1\n", "a.ini:1: unknown key 'xyzzy'; --help lists all keys"},
      {"\n[solvr]\n", "a.ini:2: unknown section [solvr]; did you mean [solver]?"},
      {"[solver\n", "a.ini:1: missing ']' after the section name"},
      {"[solver] smooths = 3\n", "a.ini:1: unexpected 'smooths = 3' after the section name"},
      {"input = b.ini\n", "a.ini:1: 'input' is not allowed in a deck"},
      {"help = yes\n", "'help' is not allowed in a deck"},
      {"version = yes\n", "'version' is not allowed in a deck"},
      {"print-config = yes\n", "'print-config' is not allowed in a deck"},
      {"dry-run = yes\n", "'dry-run' is not allowed in a deck"},
      {"ranks = 3\n", "'ranks' is not allowed in a deck"},
      {"quiet = 1\n", "a.ini:1: quiet = 1: unknown value"},
      {"quiet = yes\nverbose = yes\n", "a.ini:2: verbose = yes: conflicts with --quiet"},
      {"cells = 3x3\n", "a.ini:1: cells = 3x3: fewer than three numbers"},
      {"cells = 3x3x3\nlog2-box-dim = 4\n",
       "cells (a.ini:1) cannot be combined with log2-box-dim (a.ini:2)"},
      {"cells = 3x3x3\nspacing = 1,1,1\nlengths = 1,1,1\n",
       "lengths (a.ini:3) requires --cells without --spacing"},
      {"log2-box-dim=5\nboxes-per-rank=1\ndegree = 3\n", "degree (a.ini:3) requires --smoother"},
      {"rtol = \x01\n", "a.ini:1: control character 0x01 in column 8"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CHECK_INT(parse_deck(cases[i].text), MG_ERR_USAGE);
    CHECK_CONTAINS(message, cases[i].part);
    CHECK(strchr(message, '\n') == NULL);
  }
  static const char with_nul[] = "rtol = 1e-3\nrt\0ol = 3\n";
  CHECK_INT(mg_params_parse_deck(with_nul, sizeof with_nul - 1, "a.ini", &params, message, 1024),
            MG_ERR_USAGE);
  CHECK_CONTAINS(message, "a.ini:2: control character 0x00 in column 3");
}

static void test_long_lines(void) {
  char text[1024];
  snprintf(text, sizeof text, "# %0400d\nlog2-box-dim = 5\nboxes-per-rank = 1\ncsv = %0184d\n", 0,
           1); /* a long comment is fine; the last line has 190 characters */
  CHECK_INT(parse_deck(text), MG_OK);
  CHECK_INT(strlen(params.csv), 184);
  snprintf(text, sizeof text, "csv = %0185d\n", 1);
  CHECK_INT(parse_deck(text), MG_ERR_USAGE);
  CHECK_CONTAINS(message, "a.ini:1: line of 191 characters exceeds the limit of 190");
}

static void test_deck_files(void) {
  char path[] = "unit_params_XXXXXX";
  const int descriptor = mkstemp(path);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  CHECK(file != NULL);
  if (!file) return;
  fputs("log2-box-dim = 5\nboxes-per-rank = 64\nofficial = yes\nsmooths = 2\n", file);
  fclose(file);

  expect_ok(textf("--input=%s --smooths=4", path));
  CHECK(params.smooths == 4 && params.boxes_per_rank == 64 && params.warmup == 10);
  expect_ok(textf("--input=%s 6 8 --official=no --verify-only", path));
  CHECK(params.log2_box_dim == 6 && params.boxes_per_rank == 8 && params.verify_only);
  expect_usage(textf("--input=%s --min-time=3", path),
               "--min-time is 3, but --official requires 60");
  expect_usage(textf("--input=%s 6", path), "BOXES_PER_RANK is missing");
  expect_usage(textf("--input=%s --csv=%s", path, path), "which --input reads");
  expect_usage(textf("--input=%s --input=%s", path, path), "only one deck is allowed");
  file = fopen(path, "a"); /* sparse, but larger than the limit for a deck */
  CHECK(file && ftruncate(fileno(file), MG_DECK_SIZE_MAX + 1) == 0);
  if (file) fclose(file);
  expect_usage(textf("--input=%s", path), "exceeds the limit of 1048576 bytes");
  remove(path);
  CHECK_INT(parse(textf("--input=%s", path)), MG_ERR_IO);
  CHECK_CONTAINS(message, "No such file or directory");
  CHECK_INT(parse("--input=/ 7 8"), MG_ERR_IO);
  CHECK_CONTAINS(message, "Is a directory");
}

/* The command line overrides the deck even where its meaning depends on the deck's values: the
 * result equals that of the command line alone. */
static void test_command_line_wins(void) {
  static const char size[] = "log2-box-dim = 5\nboxes-per-rank = 8\n";
  static const struct {
    const char *deck, *line;
  } cases[] = {
      {"warmup = 3\nmin-solves = 4\nmin-time = 5\n", "--verify-only"},
      {"official = yes\nwarmup = 10\n", "--verify-only"},
      {"smoother = chebyshev\ndegree = 11\n", "--smoother=jacobi"},
      {"operator = 7pt\nsmoother = chebyshev\ndegree = 11\n", "--smoother=gsrb --operator=fv2"},
      {"warmup = 3\nmin-time = 5\n", "--official"},
      {"json = a.json\ncsv = -\n", "--dry-run"},
      {"dump = a.hdf\ndump-fields = u\ndump-every = 2\n", "--dry-run"},
      {"warmup = 2\nmin-solves = 3\nmin-time = 4\n", "--restart=a.hdf"},
      {"energy = yes\n", "--verify-only"},
      {"quiet = yes\n", "--verbose"},
      {"verbose = yes\n", "--quiet"},
      {"verbose = yes\n", "--quiet=no --verbose"},
      {"rtol = 1e-3\n", "--cells=3x4x5 --rtol=1e-4"},
      {"cells = 3x4x5\nlengths = 1,2,3\n", "4 8"},
      {"cells = 3x4x5\nspacing = 1,2,3\n", "4 8"},
      {"cells = 3x4x5\nspacing = 1,2,3\n", "--cells=6x7x8 --lengths=4,5,6"},
      {"cells = 3x4x5\nlengths = 1,2,3\n", "--cells=6x7x8 --spacing=4,5,6"},
  };
  char path[] = "unit_params_XXXXXX";
  const int descriptor = mkstemp(path);
  CHECK(descriptor >= 0);
  if (descriptor < 0) return;
  close(descriptor);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    FILE *file = fopen(path, "w");
    const bool any_size = strstr(cases[i].deck, "cells") || strstr(cases[i].line, "cells");
    CHECK(file != NULL);
    if (!file) return;
    fprintf(file, "%s%s", strstr(cases[i].deck, "cells") ? "" : size, cases[i].deck);
    fclose(file);
    expect_ok(any_size ? cases[i].line : textf("5 8 %s", cases[i].line));
    const mg_params_t wanted = params;
    expect_ok(textf("--input=%s %s", path, cases[i].line));
    memset(params.input, 0, sizeof params.input);
    CHECK(memcmp(&params, &wanted, sizeof params) == 0);
  }
  remove(path);
}

/* --print-config reproduces every byte of the parameters except its own flag and the deck's
 * name. */
static void test_round_trip(void) {
  static const char *const lines[] = {
      "7 8",
      "--operator=7pt --equation=helmholtz --boundary=periodic --smoother=symgs 4 1000000000000",
      "--smoother=chebyshev --degree=11 --rtol=0.1 --max-cycles=7 --bottom=direct --cycle=v 5 27",
      "--rtol=1.2345678901234567e-10 --min-time=0.30000000000000004 --coarsest=2 5 1",
      "--rtol=2.3e-308 5 1",
      "--official --json=out.json --csv=- --quiet 7 8",
      "--energy 7 8",
      "--energy=no --official 7 8",
      "--verify-only --levels-breakdown --verbose --device=cuda-simple --cpu-below=1000 6 2",
      "--cpu-below=0 6 2",
      "--cpu-below=auto 6 2",
      "--memory=unified --device=cuda-simple 6 2",
      "--agglomerate-below=auto 6 2",
      "--agglomerate-below=0 --warmup=0 --min-solves=1 --min-time=0 --bottom=smoother 6 2",
      "--device-id=3 --device=cuda 6 2",
      "--cells=1048576x1x37 --operator=7pt --max-cycles=9",
      "--cells=3x4x5 --lengths=0.1,0.30000000000000004,1e-100 --boundary=periodic",
      "--operator=7pt --boundary=dirichlet,neumann,periodic,periodic,dirichlet,dirichlet 6 2",
      "--cells=3x4x5 --spacing=0.1,0.30000000000000004,1e100",
      "--cpu-below=999999999999999999 --json=first-long-name --json=x --smooths=100 6 2",
  };
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    expect_ok(lines[i]);
    const mg_params_t wanted = params;
    char *deck = print_deck(&wanted);
    CHECK_INT(parse_deck(deck), MG_OK);
    CHECK_STRING(message, "");
    CHECK(memcmp(&params, &wanted, sizeof params) == 0);
    free(deck);
  }
}

/* Values that deck syntax would alter are written as comments, so they are not lost. */
static void test_values_unfit_for_decks(void) {
  char *argv[] = {"hpgmg-fv", "--csv=a ;b", "7", "8", NULL};
  CHECK_INT(mg_params_parse(4, argv, NULL, &params, &action, message, 1024), MG_OK);
  char *deck = print_deck(&params);
  CHECK_CONTAINS(deck, "\n# csv = a ;b\n");
  CHECK_INT(parse_deck(deck), MG_OK);
  CHECK_STRING(params.csv, "");
  free(deck);
}

/* Options without effect are printed as comments. */
static void test_print_comments(void) {
  expect_ok("7 8");
  char *deck = print_deck(&params);
  CHECK_CONTAINS(deck, "\n# degree = 6\n");
  CHECK_CONTAINS(deck, "\n# rtol = R\n");
  CHECK_CONTAINS(deck, "\n# json = FILE\n");
  CHECK_CONTAINS(deck, "\nmin-time = 1\n");
  free(deck);
}

int main(void) {
  test_print_comments();
  test_decks();
  test_bad_decks();
  test_long_lines();
  test_deck_files();
  test_command_line_wins();
  test_round_trip();
  test_values_unfit_for_decks();
  return TEST_RESULT();
}
