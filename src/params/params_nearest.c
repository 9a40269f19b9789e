/* Edit distance and the nearest valid name. */
#include "params/params_nearest.h"
#include "params/params_parser.h"
#include "params/params_value.h"
#include "params/params_wings.h"
#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 64 };

static int min_int(int a, int b) {
  return a < b ? a : b;
}

/* Differences in case, or between '_' and '-', cost nothing. */
static int fold(char c) {
  return c == '_' ? '-' : tolower((unsigned char)c);
}

int mg_edit_distance(const char *a, const char *b) {
  const int n = (int)strnlen(a, NAME_MAX_LENGTH);
  const int m = (int)strnlen(b, NAME_MAX_LENGTH);
  int d[NAME_MAX_LENGTH + 1]
       [NAME_MAX_LENGTH + 1]; /* d[i][j]: first i characters of a, first j of b */

  for (int i = 0; i <= n; i++)
    d[i][0] = i;
  for (int j = 0; j <= m; j++)
    d[0][j] = j;
  for (int i = 1; i <= n; i++) {
    for (int j = 1; j <= m; j++) {
      const int replace = d[i - 1][j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
      d[i][j] = min_int(replace, 1 + min_int(d[i - 1][j], d[i][j - 1]));
      if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
        d[i][j] = min_int(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[n][m];
}

/* Edit distance, or -1 if `candidate` starts with `name`. */
static int distance_of(const char *name, const char *candidate) {
  const size_t length = strlen(name);
  if (length > 0 && strncmp(name, candidate, length) == 0) return -1;
  return mg_edit_distance(name, candidate);
}

bool mg_names_size(const char *name) {
  static const char *const names[] = {"n",    "nx",   "ny",   "nz",        "dim",       "dims",
                                      "size", "grid", "cube", "grid-size", "resolution"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (mg_edit_distance(name, names[i]) == 0) return true;
  return false;
}

const char *mg_nearest_option(const char *name, unsigned where) {
  const char *nearest = NULL;
  /* Allow (length + 1) / 3 edits: about one per three letters, none for a single letter. */
  int limit = ((int)strlen(name) + 1) / 3 + 1;
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    if (!(mg_options[i].where & where)) continue;
    const int distance = distance_of(name, mg_options[i].name);
    if (distance >= limit) continue;
    limit = distance;
    nearest = mg_options[i].name;
  }
  return nearest;
}

const char *mg_nearest_word(const char *name, const char *const *words) {
  const char *nearest = words[0];
  for (int i = 1; words[i]; i++)
    if (distance_of(name, words[i]) < distance_of(name, nearest)) nearest = words[i];
  return nearest;
}

mg_status_t mg_nearest_refuse(mg_parser_t *parser, const char *argument, const char *name) {
  if (mg_names_size(name))
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "unknown option %.60s; the arguments LOG2_BOX_DIM and BOXES_PER_RANK set "
                          "the grid size, for example 7 8 (8 boxes of 128^3 cells per rank), and "
                          "--cells=100x80x60 any other",
                          argument);
  const char *nearest = mg_nearest_option(name, MG_AS_OPTION);
  if (!nearest)
    return mg_parser_fail(parser, MG_ERR_USAGE, "unknown option %.60s; hpgmg-fv --help lists all",
                          argument);
  return mg_parser_fail(parser, MG_ERR_USAGE,
                        "unknown option %.60s; did you mean --%s? (hpgmg-fv --help lists all)",
                        argument, nearest);
}

bool mg_nearest_refuse_word(const mg_option_t *option, const char *text, mg_why_t *why) {
  char problem[128];
  snprintf(problem, sizeof problem, "unknown value (did you mean %s?)",
           mg_nearest_word(text, option->words));
  return mg_option_refuse(option, problem, why);
}
