/* --restart with HDF5 files that are not valid dumps: every attribute missing, of another type,
 * of another length, or out of range; fields of other types and sizes. */
#include "base/log.h"
#include "comm/comm.h"
#include "io/hdf5/h5.h"
#include "io/restart.h"
#include "io/stored_sums.h"
#include "params/params_files.h"
#include "tests/lib/test.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 16 };
#define MUST_H5(call) CHECK_INT((call), MG_OK)

/* How one attribute or field of an otherwise valid file is corrupted. */
typedef enum { GOOD, MISSING, AS_TEXT, AS_DOUBLE, TWO_VALUES, LONG_TEXT, VALUE } spoil_t;

static const char *spoiled_name;
static spoil_t spoil;
static double spoiled_value;
static char path[256];

static spoil_t spoil_of(const char *name) {
  return spoiled_name && strcmp(spoiled_name, name) == 0 ? spoil : GOOD;
}

/* The attributes of a good file. */
typedef struct {
  const char *name;
  enum { INTEGER, REAL, WORD } kind;
  double number;
  const char *word;
} attribute_t;
static const attribute_t attributes[] = {
    {"format_version", INTEGER, 3, NULL}, {"complete", INTEGER, 1, NULL},
    {"cells", INTEGER, N, NULL},          {"box_cells", INTEGER, N, NULL},
    {"cycles", INTEGER, 2, NULL},         {"smooths", INTEGER, 3, NULL},
    {"degree", INTEGER, 6, NULL},         {"coarsest", INTEGER, 1, NULL},
    {"max_cycles", INTEGER, 4, NULL},     {"rtol", REAL, 1e-6, NULL},
    {"f_norm", REAL, 1.0, NULL},          {"residual_norms", REAL, 0.5, NULL},
    {"operator", WORD, 0, "fv2"},         {"equation", WORD, 0, "poisson"},
    {"boundary", WORD, 0, "dirichlet"},   {"smoother", WORD, 0, "gsrb"},
    {"bottom", WORD, 0, "bicgstab"},      {"cycle", WORD, 0, "f"}};
enum { N_ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

static void put_word(mg_h5_t *file, const char *name, const char *word) {
  const spoil_t how = spoil_of(name);
  const int64_t number = 3;
  if (how == AS_TEXT) word = "nonsense";
  if (how == LONG_TEXT) word = "a word that is far longer than any of ours";
  if (how == AS_DOUBLE || how == TWO_VALUES)
    MUST_H5(mg_h5_put(file, "/HPGMG", name, MG_H5_INT64, &number, 1));
  else if (how != MISSING)
    MUST_H5(mg_h5_put(file, "/HPGMG", name, MG_H5_TEXT, word, 1));
}

/* An integer, or `n_good` real numbers. */
static void put_number(mg_h5_t *file, const attribute_t *a, int n_good) {
  const spoil_t how = spoil_of(a->name);
  const double first = how == VALUE ? spoiled_value : a->number;
  const double reals[3] = {first, a->number, a->number};
  const int64_t integer = a->kind == INTEGER ? (int64_t)first : 0, integers[2] = {integer, integer};
  const int n = n_good + (how == TWO_VALUES);
  if (how == AS_TEXT || (how == AS_DOUBLE && a->kind == REAL))
    MUST_H5(mg_h5_put(file, "/HPGMG", a->name, MG_H5_TEXT, "12", 1));
  else if (how == AS_DOUBLE || (how != MISSING && a->kind == REAL))
    MUST_H5(mg_h5_put(file, "/HPGMG", a->name, MG_H5_DOUBLE, reals, n));
  else if (how != MISSING)
    MUST_H5(mg_h5_put(file, "/HPGMG", a->name, MG_H5_INT64, integers, n));
}

/* Absent in files written before the option existed. */
static const char *krylov;

/* Group with an attribute that the checksum of all attributes does not include; NULL: none. */
static const char *late_change;

static void put_field(mg_h5_t *file, const char *name, mg_h5_type_t type, int rank) {
  static double zero[N * N * N * 8];
  mg_h5_data_t data;
  int32_t n = N;
  const spoil_t how = spoil_of(name);
  if (how == MISSING) return;
  if (how == AS_DOUBLE) type = type == MG_H5_DOUBLE ? MG_H5_FLOAT : MG_H5_DOUBLE;
  if (how == AS_TEXT) rank = rank == 3 ? 1 : 3;
  if (how == TWO_VALUES) n = 2 * N;
  MUST_H5(mg_h5_data_create(file, name, type, rank, (int32_t[]){n, n, n}, 0, &data));
  MUST_H5(mg_h5_write_planes(file, &data, 0, n, zero));
  MUST_H5(mg_h5_data_close(file, &data));
}

static void write_file(void) {
  mg_h5_t *file;
  MUST_H5(mg_h5_create(path, "", &file));
  MUST_H5(mg_h5_group(file, "/HPGMG"));
  MUST_H5(mg_h5_group(file, "/HPGMG/checksums"));
  MUST_H5(mg_h5_group(file, "/HPGMG/checksums/level_0"));
  MUST_H5(mg_h5_group(file, "/VTKHDF"));
  MUST_H5(mg_h5_group(file, "/VTKHDF/CellData"));
  for (const attribute_t *a = attributes; a < attributes + N_ATTRIBUTES; a++)
    if (a->kind == WORD)
      put_word(file, a->name, a->word);
    else /* two cycles have two residual norms */
      put_number(file, a, strcmp(a->name, "residual_norms") == 0 ? 2 : 1);
  if (krylov) put_word(file, "krylov", krylov);
  put_word(file, "precision", "double");
  put_word(file, "centering", "cell");
  put_field(file, "/VTKHDF/CellData/u", MG_H5_DOUBLE, 3);
  put_field(file, "/HPGMG/checksums/level_0/u", MG_H5_UINT64, 1);
  MUST_H5(mg_sums_put_attributes(file));
  if (late_change) MUST_H5(mg_h5_put(file, late_change, "later", MG_H5_INT64, &(int64_t){1}, 1));
  MUST_H5(mg_h5_close(file));
}

/* Status of a command line that restarts from the file. */
static mg_status_t parse(mg_params_t *params) {
  char option[300], program[] = "hpgmg-fv", message[1024];
  char *argv[] = {program, option};
  mg_action_t action;
  write_file();
  snprintf(option, sizeof option, "--restart=%s", path);
  const mg_settings_reader_t readers[] = {{"restart", mg_restart_settings}, {NULL, NULL}};
  return mg_params_parse(2, argv, readers, params, &action, message, (int)sizeof message);
}

static void check_spoiled(const char *name, spoil_t how, double value) {
  static mg_params_t params;
  spoiled_name = name;
  spoil = how;
  spoiled_value = value;
  const mg_status_t status = parse(&params);
  if (status != MG_ERR_IO)
    fprintf(stderr, "%s spoiled in way %d: %d\n", name ? name : "nothing", (int)how, (int)status);
  CHECK_INT(status, MG_ERR_IO);
}

static void test_good(void) {
  static mg_params_t params;
  spoiled_name = NULL;
  CHECK_INT(parse(&params), MG_OK);
  CHECK_INT(params.log2_box_dim, 4);
  CHECK_INT(params.boxes_per_rank, 1);
  CHECK_INT(params.max_cycles, 4);
  CHECK(params.rtol == 1e-6);
  CHECK(params.verify_only);
  CHECK_INT(params.krylov, MG_KRYLOV_NONE);
  krylov = "cg";
  CHECK_INT(parse(&params), MG_OK);
  CHECK_INT(params.krylov, MG_KRYLOV_CG);
}

static void test_types(void) {
  static const char *const fields[] = {"/VTKHDF/CellData/u", "/HPGMG/checksums/level_0/u"};
  static const spoil_t ways[] = {MISSING, AS_TEXT, AS_DOUBLE, TWO_VALUES};
  for (size_t w = 0; w < 4; w++) {
    for (int a = 0; a < N_ATTRIBUTES; a++)
      check_spoiled(attributes[a].name, ways[w], 0.0);
    for (size_t i = 0; i < 2; i++)
      check_spoiled(fields[i], ways[w], 0.0);
  }
  for (int a = 0; a < N_ATTRIBUTES; a++)
    if (attributes[a].kind == WORD) check_spoiled(attributes[a].name, LONG_TEXT, 0.0);
  check_spoiled("krylov", AS_DOUBLE, 0.0);
  check_spoiled("krylov", TWO_VALUES, 0.0);
  check_spoiled("krylov", LONG_TEXT, 0.0);
  krylov = "gmres";
  static mg_params_t params;
  spoiled_name = NULL;
  CHECK_INT(parse(&params), MG_ERR_IO);
  krylov = NULL;
}

/* Out-of-range numbers that must not be used, above all not to allocate memory. */
static void test_limits(void) {
  static const struct {
    const char *name;
    double value;
  } bad[] = {{"format_version", 2},   {"format_version", -1},
             {"complete", 0},         {"cells", 0},
             {"cells", -16},          {"cells", 1e15},
             {"cells", 32},           {"box_cells", 0},
             {"box_cells", 8},        {"box_cells", 24},
             {"box_cells", 1e9},      {"box_cells", -16},
             {"cycles", 0},           {"cycles", 1001},
             {"cycles", 1e18},        {"cycles", -1},
             {"cycles", 3},           {"smooths", 0},
             {"smooths", 1e15},       {"degree", 51},
             {"coarsest", -1},        {"max_cycles", 0},
             {"rtol", 2.0},           {"f_norm", -1.0},
             {"f_norm", INFINITY},    {"f_norm", NAN},
             {"residual_norms", NAN}, {"residual_norms", -1.0}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    check_spoiled(bad[i].name, VALUE, bad[i].value);
}

/* Any change of an attribute is detected, also of one that a restart does not read. */
static void test_attributes_checksum(void) {
  late_change = "/HPGMG";
  check_spoiled(NULL, GOOD, 0.0);
  late_change = "/VTKHDF";
  check_spoiled(NULL, GOOD, 0.0);
  late_change = NULL;
}

int main(int argc, char **argv) {
  if (!mg_h5_available()) return test_skip("build without HDF5");
  CHECK_INT(mg_comm_init(&argc, &argv), MG_OK);
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%.200s/unit_restart.%ld.hdf", folder ? folder : "/tmp",
           (long)getpid());
  test_good();
  test_types();
  test_limits();
  test_attributes_checksum();
  (void)unlink(path);
  mg_comm_finalize();
  return TEST_RESULT();
}
