/* Messages of a call: in the library's terms, and given to the caller when the call ends. */
#include "api/solver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the layers below say of the program. The first phrases are those that contain others. */
static const struct {
  const char *program, *library;
  bool of_cells; /* only if the words have no --cells */
} phrases[] = {
    {"pass both, for example: mpirun -n 2 hpgmg-fv 7 8 (8 boxes of 128^3 cells per rank), or "
     "--cells=NXxNYxNZ, or set log2-box-dim and boxes-per-rank in a deck",
     "set options.cells", false},
    {"; the arguments LOG2_BOX_DIM and BOXES_PER_RANK set the grid size: hpgmg-fv 7 1 solves 128^3 "
     "cells, mpirun -n 2 hpgmg-fv 7 4 solves 256^3; --cells=100x80x60 sets any other grid",
     "; options.cells sets the grid size", false},
    {" is a deck key, not an option; pass LOG2_BOX_DIM and BOXES_PER_RANK as arguments, for "
     "example: "
     "mpirun -n 2 hpgmg-fv 7 8",
     " is not an option; set options.cells", false},
    {"for example: mpirun -n 2 hpgmg-fv 7 8", "for example: 7 8", false},
    {"LOG2_BOX_DIM and BOXES_PER_RANK are missing;", "the size of the grid is missing;", false},
    {"; --help lists all options", "; docs/usage.md lists all options", false},
    {" (--help lists all options)", "", false},
    {"the command line of rank", "the call of rank", false},
    {"start all ranks with the same options", "give all ranks the same options", false},
    {"--cells=NXxNYxNZ", "options.cells", false},
    {"--cells", "options.cells", true},
};

/* Replace a phrase where it first stands in a text of limited size. */
static void replace(char *text, size_t size, const char *old, const char *with) {
  char *const at = strstr(text, old);
  if (!at) return;
  char rest[MG_API_LINE];
  snprintf(rest, sizeof rest, "%s", at + strlen(old));
  snprintf(at, size - (size_t)(at - text), "%s%s", with, rest);
}

void mg_api_take_line(void *data, const char *text) {
  hpgmg_solver_t *s = data;
  char line[MG_API_LINE];
  snprintf(line, sizeof line, "%s", text);
  for (size_t p = 0; p < sizeof phrases / sizeof *phrases; p++)
    if (!phrases[p].of_cells || !s->cells_are_words)
      replace(line, sizeof line, phrases[p].program, phrases[p].library);
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
