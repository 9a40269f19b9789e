#include "base/log.h"
#include "base/log_wings.h"
#include "base/timers.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool progress_shown;
static double line_every = -1.0, line_last; /* lines of progress in a file; < 0: none */

/* True at most ten times a second, so that a slow terminal does not slow down the solves. */
static bool is_due(void) {
  static double last;
  const double now = mg_now();
  if (progress_shown && now - last < 0.1) return false;
  last = now;
  return true;
}

/* Open MPI's launcher forwards its ranks' stderr from a pipe to its own stderr. On its host, the
 * launcher is the parent process of the ranks. */
static bool launcher_has_terminal(void) {
  char path[64];
  struct stat s;
  if (!getenv("OMPI_COMM_WORLD_RANK")) return false;
  if (fstat(STDERR_FILENO, &s) != 0 || !S_ISFIFO(s.st_mode)) return false;
  snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)getppid());
  const int descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool is_terminal = isatty(descriptor) != 0;
  close(descriptor);
  return is_terminal;
}

/* Cached, since progress is shown before every solve. */
static bool has_terminal(void) {
  static enum { UNKNOWN, NO, YES } answer = UNKNOWN;
  if (answer == UNKNOWN) answer = isatty(STDERR_FILENO) || launcher_has_terminal() ? YES : NO;
  return answer == YES;
}

mg_status_t mg_progress_begin(void) {
  const char *text = getenv("HPGMG_PROGRESS");
  char *end = NULL;
  const long value = text ? strtol(text, &end, 10) : 60;
  line_last = mg_now();
  line_every = (double)value;
  if (text && strcmp(text, "no") == 0) {
    line_every = -1.0;
  } else if (text && (end == text || *end || value < 0 || value > 1000000)) {
    if (mg_log_current()->rank != 0) return MG_ERR_USAGE;
    return mg_error(MG_ERR_USAGE,
                    "HPGMG_PROGRESS=%s is neither a number of seconds, 0 to 1000000, nor no", text);
  }
  return MG_OK;
}

/* Write a line to a file, if the last one is old enough. */
static void progress_line(const char *format, va_list args) {
  if (line_every < 0.0 || mg_now() - line_last < line_every) return;
  line_last = mg_now();
  mg_log_line(": ", "", format, args);
}

void mg_progress(const char *format, ...) {
  if (mg_log_current()->rank != 0 || mg_log_current()->level == MG_LOG_QUIET ||
      mg_log_current()->line)
    return;
  va_list args;
  if (!has_terminal()) {
    va_start(args, format);
    progress_line(format, args);
    va_end(args);
    return;
  }
  if (!is_due()) return;
  va_start(args, format);
  fputs("\r\033[K", stderr);
  vfprintf(stderr, format, args);
  va_end(args);
  fflush(stderr);
  progress_shown = true;
}

void mg_progress_clear(void) {
  if (!progress_shown) return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  progress_shown = false;
}
