/* libFuzzer target for the parsers. If the lowest bit of the first byte is set, the rest is a
 * command line, otherwise a deck. Any input that parses must survive --print-config. Build with
 * clang -fsanitize=fuzzer,address,undefined, run with -max_len=4096. */
#include "params/params_files.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 64, MESSAGE_SIZE = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char message[MESSAGE_SIZE];

/* A failure has a one-line message. */
static void check_message(mg_status_t status) {
  if ((status == MG_OK) != (message[0] == '\0')) abort();
  if (strchr(message, '\n')) abort();
}

/* A printed deck parses again, unless it reports a path that it cannot hold, which other options
 * may need. Equality is covered by the unit tests. */
static void check_print(const mg_params_t *params) {
  static mg_params_t again;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  mg_params_print(out, params);
  fclose(out);
  if (strstr(text, "(a deck cannot store this value")) {
    free(text);
    return;
  }
  const mg_status_t status =
      mg_params_parse_deck(text, (int64_t)size, "printed", &again, message, MESSAGE_SIZE);
  if (status != MG_OK) abort();
  if (again.rtol != params->rtol || again.smooths != params->smooths ||
      again.boxes_per_rank != params->boxes_per_rank || again.official != params->official ||
      again.min_time != params->min_time || again.max_cycles != params->max_cycles ||
      again.krylov != params->krylov)
    abort();
  free(text);
}

/* Arguments are separated by line ends or NUL, so values may contain blanks. */
static mg_status_t parse_arguments(char *text, size_t size, mg_params_t *params,
                                   mg_action_t *action) {
  char *argv[MAX_ARGUMENTS + 1] = {"hpgmg-fv"};
  int argc = 1;
  char *word = text;
  for (size_t i = 0; i <= size && argc < MAX_ARGUMENTS; i++) {
    if (text[i] != '\n' && text[i] != '\0') continue;
    text[i] = '\0';
    if (strncmp(word, "--input", 7) == 0) return MG_ERR_USAGE; /* reads no files */
    argv[argc++] = word;
    word = text + i + 1;
  }
  const mg_status_t status =
      mg_params_parse(argc, argv, NULL, params, action, message, MESSAGE_SIZE);
  check_message(status);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mg_params_t params;
  mg_action_t action = MG_ACTION_RUN;
  mg_status_t status;
  if (size < 1) return 0;

  char *text = malloc(size); /* exactly as long as the input, so that over-reads are detected */
  if (!text) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  if (data[0] & 1)
    status = parse_arguments(text, size - 1, &params, &action);
  else {
    status = mg_params_parse_deck(text, (int64_t)size - 1, "deck", &params, message, MESSAGE_SIZE);
    check_message(status);
  }
  if (status == MG_OK && action == MG_ACTION_RUN) check_print(&params);
  free(text);
  return 0;
}
