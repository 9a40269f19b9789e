/* --restart with HDF5 files that are not valid dumps: every attribute missing, of another type,
 * of another length, or out of range; fields of other types and sizes. */
#include "base/log.h"
#include "comm/comm.h"
#include "io/hdf5/h5.h"
#include "io/restart.h"
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

static void put_integer(mg_h5_t *file, const char *name, int64_t value) {
  const int64_t two[2] = {value, value};
  const double as_double = (double)value;
  switch (spoil_of(name)) {
  case MISSING:
    return;
  case AS_TEXT:
  case LONG_TEXT:
    MUST_H5(mg_h5_put_text(file, "/HPGMG", name, "12"));
    return;
  case AS_DOUBLE:
    MUST_H5(mg_h5_put_doubles(file, "/HPGMG", name, &as_double, 1));
    return;
  case TWO_VALUES:
    MUST_H5(mg_h5_put_integers(file, "/HPGMG", name, two, 2));
    return;
  case VALUE:
    value = (int64_t)spoiled_value;
    break;
  case GOOD:
    break;
  }
  MUST_H5(mg_h5_put_integers(file, "/HPGMG", name, &value, 1));
}

static void put_doubles(mg_h5_t *file, const char *name, double value, int n) {
  double values[3] = {value, value, value};
  switch (spoil_of(name)) {
  case MISSING:
    return;
  case AS_TEXT:
  case LONG_TEXT:
  case AS_DOUBLE:
    MUST_H5(mg_h5_put_text(file, "/HPGMG", name, "12"));
    return;
  case TWO_VALUES:
    n++;
    break;
  case VALUE:
    values[0] = spoiled_value;
    break;
  case GOOD:
    break;
  }
  MUST_H5(mg_h5_put_doubles(file, "/HPGMG", name, values, n));
}

static void put_text(mg_h5_t *file, const char *name, const char *value) {
  const int64_t number = 3;
  switch (spoil_of(name)) {
  case MISSING:
    return;
  case AS_TEXT:
    value = "nonsense";
    break;
  case LONG_TEXT:
    value = "a word that is far longer than any of ours";
    break;
  case AS_DOUBLE:
  case TWO_VALUES:
  case VALUE:
    MUST_H5(mg_h5_put_integers(file, "/HPGMG", name, &number, 1));
    return;
  case GOOD:
    break;
  }
  MUST_H5(mg_h5_put_text(file, "/HPGMG", name, value));
}

/* Absent in files written before the option existed. */
static const char *krylov;

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
  put_integer(file, "format_version", 2);
  put_integer(file, "complete", 1);
  put_integer(file, "cells", N);
  put_integer(file, "box_cells", N);
  put_integer(file, "cycles", 2);
  put_integer(file, "smooths", 3);
  put_integer(file, "degree", 6);
  put_integer(file, "coarsest", 1);
  put_integer(file, "max_cycles", 4);
  put_doubles(file, "rtol", 1e-6, 1);
  put_doubles(file, "f_norm", 1.0, 1);
  put_doubles(file, "residual_norms", 0.5, 2);
  put_text(file, "operator", "fv2");
  put_text(file, "equation", "poisson");
  put_text(file, "boundary", "dirichlet");
  put_text(file, "smoother", "gsrb");
  put_text(file, "bottom", "bicgstab");
  put_text(file, "cycle", "f");
  if (krylov) put_text(file, "krylov", krylov);
  put_text(file, "precision", "double");
  put_text(file, "centering", "cell");
  put_field(file, "/VTKHDF/CellData/u", MG_H5_DOUBLE, 3);
  put_field(file, "/HPGMG/checksums/level_0/u", MG_H5_UINT64, 1);
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
  return mg_params_parse_with(2, argv, readers, params, &action, message, (int)sizeof message);
}

static void check_spoiled(const char *name, spoil_t how, double value) {
  static mg_params_t params;
  spoiled_name = name;
  spoil = how;
  spoiled_value = value;
  const mg_status_t status = parse(&params);
  if (status != MG_ERR_IO)
    fprintf(stderr, "%s spoiled in way %d: %d\n", name, (int)how, (int)status);
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
  static const char *const integers[] = {"format_version", "complete", "cells",
                                         "box_cells",      "cycles",   "smooths",
                                         "degree",         "coarsest", "max_cycles"};
  static const char *const doubles[] = {"rtol", "f_norm", "residual_norms"};
  static const char *const words[] = {"operator", "equation", "boundary",
                                      "smoother", "bottom",   "cycle"};
  static const char *const fields[] = {"/VTKHDF/CellData/u", "/HPGMG/checksums/level_0/u"};
  static const spoil_t ways[] = {MISSING, AS_TEXT, AS_DOUBLE, TWO_VALUES};
  for (size_t w = 0; w < 4; w++) {
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
      check_spoiled(integers[i], ways[w], 0.0);
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++)
      check_spoiled(doubles[i], ways[w], 0.0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
      check_spoiled(words[i], ways[w], 0.0);
    for (size_t i = 0; i < 2; i++)
      check_spoiled(fields[i], ways[w], 0.0);
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    check_spoiled(words[i], LONG_TEXT, 0.0);
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
  } bad[] = {{"format_version", 1},   {"format_version", -1},
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

int main(int argc, char **argv) {
  if (!mg_h5_available()) {
    fprintf(stderr, "skipped: build without HDF5\n");
    return TEST_SKIP;
  }
  CHECK_INT(mg_comm_init(&argc, &argv), MG_OK);
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%.200s/unit_restart.%ld.hdf", folder ? folder : "/tmp",
           (long)getpid());
  test_good();
  test_types();
  test_limits();
  (void)unlink(path);
  mg_comm_finalize();
  return TEST_RESULT();
}
