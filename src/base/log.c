#include "base/log.h"
#include "base/log_wings.h"
#include "wings.h"
#include <stdio.h>
#include <string.h>

static mg_log_t of_program = {.n_ranks = 1, .program = "hpgmg-fv"};
static _Thread_local mg_log_t *current = &of_program;

mg_log_t *mg_log_enter(mg_log_t *log) {
  mg_log_t *before = current;
  current = log ? log : &of_program;
  return before;
}

void mg_log_program(const char *name) {
  current->program = name;
}

void mg_log_setup(int rank, int n_ranks, mg_log_level_t level) {
  current->rank = rank;
  current->n_ranks = n_ranks;
  current->level = level;
}

const mg_log_t *mg_log_current(void) {
  return current;
}

/* One write per line, since many ranks share a terminal. */
void mg_log_line(const char *prefix, const char *suffix, const char *format, va_list args) {
  char text[2048];
  vsnprintf(text, sizeof text, format, args);
  /* Paths may contain control characters, such as line breaks. */
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
  if (current->line) {
    char line[2560];
    snprintf(line, sizeof line, "%s%s%s%s", current->program, prefix, text, suffix);
    current->line(current->data, line);
    return;
  }
  MG_IF_CONSOLE(mg_progress_clear());
  fprintf(stderr, "%s%s%s%s\n", current->program, prefix, text, suffix);
  fflush(stderr);
}

/* Location of an error that the user did not cause: the rank and, with --verbose, the line. */
static void describe_place(const char *file, int line, mg_status_t status, char *where,
                           size_t size) {
  char rank[32] = "", place[128] = "";
  const char *base = strrchr(file, '/');
  where[0] = '\0';
  if (status == MG_ERR_USAGE || status == MG_ERR_INTERRUPTED) return;
  if (current->n_ranks > 1) snprintf(rank, sizeof rank, "rank %d", current->rank);
  if (current->level == MG_LOG_VERBOSE)
    snprintf(place, sizeof place, "%s%s:%d", rank[0] ? ", " : "", base ? base + 1 : file, line);
  if (rank[0] || place[0]) snprintf(where, size, " [%s%s]", rank, place);
}

mg_status_t mg_error_at(const char *file, int line, mg_status_t status, const char *format, ...) {
  char where[256];
  describe_place(file, line, status, where, sizeof where);
  va_list args;
  va_start(args, format);
  mg_log_line(": error: ", where, format, args);
  va_end(args);
  return status;
}

void mg_warning(const char *format, ...) {
  if (current->rank != 0 || current->level == MG_LOG_QUIET) return;
  va_list args;
  va_start(args, format);
  mg_log_line(": warning: ", "", format, args);
  va_end(args);
}

void mg_verbose(const char *format, ...) {
  if (current->rank != 0 || current->level != MG_LOG_VERBOSE) return;
  va_list args;
  va_start(args, format);
  mg_log_line(": ", "", format, args);
  va_end(args);
}

void mg_append(char *text, int size, const char *format, ...) {
  const size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, (size_t)size - used, format, args);
  va_end(args);
}

mg_bytes_text_t mg_bytes(double bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  enum { N_UNITS = sizeof units / sizeof units[0] };
  mg_bytes_text_t t;
  int unit = 0;
  for (; bytes >= 999.9995 && unit + 1 < N_UNITS; unit++)
    bytes *= 1e-3;
  snprintf(t.text, sizeof t.text, "%.*f %s", unit == 0 ? 0 : 3, bytes, units[unit]);
  return t;
}

mg_grid_text_t mg_grid(const int32_t n[3]) {
  mg_grid_text_t t;
  if (n[0] == n[1] && n[0] == n[2])
    snprintf(t.text, sizeof t.text, "%d^3", n[0]);
  else
    snprintf(t.text, sizeof t.text, "%dx%dx%d", n[0], n[1], n[2]);
  return t;
}
