/* Messages of a call: in the library's terms, and given to the caller when the call ends. */
#include "api/solver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parser's name of options.cells, unless the words have the option. */
static const char in_words[] = "--cells", in_options[] = "options.cells";

void mg_api_take_line(void *data, const char *text) {
  hpgmg_solver_t *s = data;
  char line[MG_API_LINE];
  const char *const cells = s->cells_are_words ? NULL : strstr(text, in_words);
  snprintf(line, sizeof line, "%.*s%s%s", cells ? (int)(cells - text) : 0, text,
           cells ? in_options : "", cells ? cells + strlen(in_words) : text);
  const char *const error = strstr(line, "error: ");
  if (error && !s->error[0]) snprintf(s->error, sizeof s->error, "%s", error + strlen("error: "));
  if (!s->log) return;
  const size_t n = strlen(line) + 1;
  char *const lines = realloc(s->lines, s->lines_size + n);
  if (!lines) return; /* hpgmg_error still has the first error */
  memcpy(lines + s->lines_size, line, n);
  s->lines = lines;
  s->lines_size += n;
}

mg_api_lines_t mg_api_detach_lines(hpgmg_solver_t *s) {
  const mg_api_lines_t lines = {s->log, s->log_data, s->lines, s->lines_size};
  s->lines = NULL;
  s->lines_size = 0;
  return lines;
}

/* The last line is a copy: the function may not return (longjmp, exceptions), so nothing is left to
 * free. */
void mg_api_deliver(mg_api_lines_t lines) {
  char last[MG_API_LINE];
  for (const char *line = lines.text, *next; line; line = next) {
    next = line + strlen(line) + 1;
    if (next == lines.text + lines.size) {
      snprintf(last, sizeof last, "%s", line);
      free(lines.text);
      line = last;
      next = NULL;
    }
    lines.log(lines.data, line);
  }
}
