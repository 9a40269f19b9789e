/* Any bytes as the file of --restart, --coefficients and --rhs: what reads its head must neither
 * crash nor hang, nor take memory that a number in the file asks for. Built by configure
 * --enable-fuzzer. */
#define _GNU_SOURCE /* memfd_create */

#include "comm.h"
#include "io/input.h"
#include "io/restart.h"
#include "log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The same bytes as a problem of the user's. The library trusts what is in formats before 1.8,
 * whose metadata have no checksums: these are left out, here alone. */
static void look_for_fields(const unsigned char *data, size_t size,
                            mg_setting_t settings[MG_MAX_SETTINGS]) {
  static mg_params_t params;
  static mg_input_t input;
  char message[1024];
  int n;
  if (size < 9 || data[8] < 2) return;
  mg_params_defaults(&params);
  snprintf(params.coefficients, sizeof params.coefficients, "/proc/self/fd/%d", file);
  snprintf(params.rhs, sizeof params.rhs, "/proc/self/fd/%d", file);
  if (mg_input_coefficients_settings(&params, settings, &n, message, (int)sizeof message) ==
          MG_OK &&
      n < 9)
    abort();
  if (mg_input_open(&params, &input) == MG_OK && input.cells == 0) abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static int file = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (mg_comm_init(argc, argv) != MG_OK) abort();
  file = memfd_create("restart", 0);
  if (file < 0) abort();
  return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static mg_params_t params;
  static mg_setting_t settings[MG_MAX_SETTINGS];
  char message[1024];
  int n;
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size) return 0;
  mg_params_defaults(&params);
  snprintf(params.restart, sizeof params.restart, "/proc/self/fd/%d", file);
  /* A file that is accepted is one that names all settings. */
  if (mg_restart_settings(&params, settings, &n, message, (int)sizeof message) == MG_OK && n < 9)
    abort();
  look_for_fields(data, size, settings);
  return 0;
}
