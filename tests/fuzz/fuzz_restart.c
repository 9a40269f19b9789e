/* Feeds arbitrary bytes as the file of --restart, --coefficients and --rhs. Reading the header
 * must not crash, hang, or allocate memory based on a number in the file. Built with configure
 * --enable-fuzzer. FUZZ_GOOD names a file that must be accepted first: mutation needs a valid
 * starting point. */
#include "base/log.h"
#include "comm/comm.h"
#include "io/hdf5/h5.h"
#include "io/input.h"
#include "io/restart.h"
#include "io/stored_sums.h"
#include "params/params_files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* The HDF5 library requires a file that exists under a name. */
static char path[64];
static int file = -1;

static bool write_file(const unsigned char *data, size_t size) {
  return ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size;
}

static void remove_file(void) {
  (void)unlink(path);
}

/* An accepted file sets all settings. */
static mg_status_t restart(void) {
  static mg_params_t params;
  static mg_settings_t settings;
  mg_params_defaults(&params);
  snprintf(params.restart, sizeof params.restart, "%s", path);
  settings.n = 0;
  const mg_status_t status = mg_restart_settings(&params, &settings);
  if (status == MG_OK && settings.n < 9) abort();
  return status;
}

static mg_status_t look_for_fields(void) {
  static mg_params_t params;
  static mg_settings_t settings;
  static mg_input_t input;
  mg_params_defaults(&params);
  snprintf(params.coefficients, sizeof params.coefficients, "%s", path);
  settings.n = 0;
  const mg_status_t status = mg_input_coefficients_settings(&params, &settings);
  if (status == MG_OK && settings.n < 2) abort(); /* the size and the operator */
  /* Beside an --rhs file, which may also state widths, that one sets the size. */
  snprintf(params.rhs, sizeof params.rhs, "%s", path);
  settings.n = 0;
  if (mg_input_rhs_settings(&params, &settings) == MG_OK && settings.n < 1) abort();
  if (mg_input_open(&params, &input) == MG_OK && input.n[0] == 0) abort();
  return status;
}

/* Accept a valid dump of u, and betas. */
static void accept_good(const char *name) {
  static unsigned char data[1 << 20];
  FILE *good = fopen(name, "rb");
  if (!good || !write_file(data, fread(data, 1, sizeof data, good))) abort();
  (void)fclose(good);
  if (restart() != MG_OK || look_for_fields() != MG_OK) {
    fprintf(stderr, "%s is not accepted\n", name);
    abort();
  }
}

/* --- bytes as a recipe for a file --------------------------------------------------------- */

/* Metadata have checksums, which few mutated bytes pass. Bytes can therefore also describe how a
 * complete file differs from a valid one. Missing bytes are 0. */
static const unsigned char *next, *end;

static unsigned take_byte(void) {
  return next < end ? *next++ : 0;
}

static int64_t take_number(void) {
  uint64_t number = 0;
  for (int b = 0; b < 8; b++)
    number = number << 8 | take_byte();
  return (int64_t)number;
}

/* Errors here concern a file that will be rejected anyway. */
static void attempt(mg_status_t status) {
  (void)status;
}

enum { GOOD = 251 }; /* smaller bytes leave a value unchanged */

static void put_number(mg_h5_t *h5, const char *name, int64_t good) {
  int64_t value[2] = {good, good};
  const double real = (double)take_number();
  switch (take_byte()) {
  case GOOD:
    return;
  case GOOD + 1:
    attempt(mg_h5_put(h5, "/HPGMG", name, MG_H5_DOUBLE, &real, 1));
    return;
  case GOOD + 2:
    attempt(mg_h5_put(h5, "/HPGMG", name, MG_H5_INT64, value, 2));
    return;
  case GOOD + 3:
    attempt(mg_h5_put(h5, "/HPGMG", name, MG_H5_TEXT, "7", 1));
    return;
  case GOOD + 4:
    value[0] = take_number();
    break;
  default:
    break;
  }
  attempt(mg_h5_put(h5, "/HPGMG", name, MG_H5_INT64, value, 1));
}

static void put_real(mg_h5_t *h5, const char *name, double good) {
  double value[8] = {good, good, good};
  const unsigned how = take_byte();
  const int64_t bits = take_number();
  if (how == GOOD) return;
  if (how == GOOD + 1) memcpy(value, &bits, sizeof bits);
  attempt(
      mg_h5_put(h5, "/HPGMG", name, MG_H5_DOUBLE, value, how > GOOD + 1 ? (int)(how - GOOD) : 1));
}

static void put_word(mg_h5_t *h5, const char *name, const char *good) {
  char word[256] = "";
  const unsigned how = take_byte();
  if (how == GOOD) return;
  snprintf(word, sizeof word, "%s", good);
  for (unsigned i = 0, length = how > GOOD ? take_byte() : 0; i < length; i++)
    word[i] = (char)take_byte();
  attempt(mg_h5_put(h5, "/HPGMG", name, MG_H5_TEXT, word, 1));
}

static void put_field(mg_h5_t *h5, const char *name, mg_h5_type_t type, int rank) {
  static const double values[20 * 20 * 20];
  const unsigned how = take_byte();
  const int32_t n = how > GOOD ? (int32_t)(take_byte() % 20 + 1) : 16;
  const int dimensions = how == GOOD + 2 ? (int)(take_byte() % 3 + 1) : rank;
  mg_h5_data_t data;
  if (how == GOOD) return;
  if (how == GOOD + 3) type = MG_H5_FLOAT;
  if (mg_h5_data_create(h5, name, type, dimensions, (int32_t[]){n, n, n}, 0, &data) != MG_OK)
    return;
  attempt(mg_h5_write_planes(h5, &data, 0, n, values));
  attempt(mg_h5_data_close(h5, &data));
}

static void make_file(void) {
  static const char *const groups[] = {"/VTKHDF", "/VTKHDF/CellData", "/HPGMG", "/HPGMG/checksums",
                                       "/HPGMG/checksums/level_0"};
  mg_h5_t *h5;
  if (mg_h5_create(path, "", &h5) != MG_OK) abort();
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
    if (take_byte() != GOOD) attempt(mg_h5_group(h5, groups[g]));
  put_number(h5, "format_version", 3);
  put_number(h5, "complete", 1);
  put_number(h5, "cells", 16);
  put_number(h5, "box_cells", 16);
  put_number(h5, "cycles", 1);
  put_number(h5, "smooths", 3);
  put_number(h5, "degree", 6);
  put_number(h5, "coarsest", 1);
  put_number(h5, "max_cycles", 20);
  put_word(h5, "operator", "fv2");
  put_word(h5, "equation", "poisson");
  put_word(h5, "boundary", "dirichlet");
  put_word(h5, "smoother", "gsrb");
  put_word(h5, "bottom", "bicgstab");
  put_word(h5, "cycle", "f");
  put_word(h5, "krylov", "none");
  put_word(h5, "precision", "double");
  put_word(h5, "centering", "cell");
  put_real(h5, "rtol", 1e-8);
  put_real(h5, "f_norm", 1.0);
  put_real(h5, "residual_norms", 0.5);
  if (take_byte() > GOOD) {
    put_word(h5, "coefficients", "a.hdf");
    put_word(h5, "rhs", "b.hdf");
    put_number(h5, "problem_checksum", 1);
  }
  put_field(h5, "/VTKHDF/CellData/u", MG_H5_DOUBLE, 3);
  put_field(h5, "/HPGMG/checksums/level_0/u", MG_H5_UINT64, 1);
  put_field(h5, "/VTKHDF/CellData/beta", MG_H5_DOUBLE, 3);
  put_field(h5, "/VTKHDF/CellData/f", MG_H5_DOUBLE, 3);
  if (take_byte() > GOOD) put_field(h5, "/VTKHDF/CellData/alpha", MG_H5_DOUBLE, 3);
  if (take_byte() > GOOD) put_field(h5, "/VTKHDF/CellData/beta_i", MG_H5_DOUBLE, 3);
  attempt(mg_sums_put_attributes(h5)); /* so that damaged attributes are read */
  attempt(mg_h5_close(h5));
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  const char *good = getenv("FUZZ_GOOD");
  if (mg_comm_init(argc, argv) != MG_OK) abort();
  snprintf(path, sizeof path, "%s/fuzz_restart.XXXXXX", folder);
  file = mkstemp(path);
  if (file < 0 || atexit(remove_file) != 0) abort();
  if (good) accept_good(good);
  make_file();
  if (restart() != MG_OK || look_for_fields() != MG_OK) abort();
  return 0;
}

/* Input without the HDF5 signature is such a recipe. */
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  if (size > 0 && data[0] != 0x89) {
    next = data + 1;
    end = data + size;
    make_file();
    (void)restart();
    (void)look_for_fields();
    return 0;
  }
  if (!write_file(data, size)) return 0;
  (void)restart();
  /* Skip formats before 1.8: their metadata have no checksums, and the library trusts the contents.
   * Such files may cause failures, but they are out of scope here. */
  if (size > 8 && data[8] >= 2) (void)look_for_fields();
  return 0;
}
