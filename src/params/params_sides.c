/* Values of --boundary: a word for each side, with the numbers of its condition. */
#include "params/params_value.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words of --boundary, and kinds of walls. */
enum { DIRICHLET_WORD, NEUMANN_WORD, PERIODIC_WORD, ROBIN_WORD };

static mg_wall_t wall_of(int word) {
  return word == PERIODIC_WORD    ? MG_WALL_NONE
         : word == DIRICHLET_WORD ? MG_WALL_DIRICHLET
                                  : MG_WALL_NEUMANN;
}
static int word_of(mg_wall_t wall) {
  return wall == MG_WALL_NONE      ? PERIODIC_WORD
         : wall == MG_WALL_NEUMANN ? NEUMANN_WORD
                                   : DIRICHLET_WORD;
}

static bool read_condition(const mg_option_t *option, int word, const double number[3], int n,
                           mg_condition_t *condition, char *why, int why_size) {
  *condition = (mg_condition_t){0};
  if (word == PERIODIC_WORD && n > 0)
    return mg_option_refuse(option, "a number after periodic", why, why_size);
  if (word == ROBIN_WORD && (n < 2 || !(number[0] > 0.0) || !(number[1] > 0.0)))
    return mg_option_refuse(option, "robin:A:B needs A > 0 and B > 0", why, why_size);
  if (word != ROBIN_WORD && n > 1)
    return mg_option_refuse(option, "more than one number", why, why_size);
  condition->u = word == DIRICHLET_WORD ? 1.0 : word == ROBIN_WORD ? number[0] : 0.0;
  condition->flux = word == NEUMANN_WORD ? 1.0 : word == ROBIN_WORD ? number[1] : 0.0;
  condition->value = word == ROBIN_WORD ? (n == 3 ? number[2] : 0.0) : n == 1 ? number[0] : 0.0;
  return true;
}

/* Read one side: a word and up to three numbers, separated by colons. */
static bool read_side(const mg_option_t *option, const char *text, mg_wall_t *wall,
                      mg_condition_t *condition, char *why, int why_size) {
  char part[128];
  double number[3];
  int word, n = 0;
  snprintf(part, sizeof part, "%s", text);
  for (char *at = strchr(part, ':'), *next; at; at = next) {
    *at++ = '\0';
    next = strchr(at, ':');
    if (n == 3) return mg_option_refuse(option, "more than three numbers", why, why_size);
    const size_t length = next ? (size_t)(next - at) : strlen(at);
    char digits[64], *end;
    snprintf(digits, sizeof digits, "%.*s", (int)length, at);
    number[n] = strtod(digits, &end);
    if (length == 0 || length >= sizeof digits || *end != '\0' || !isfinite(number[n]) ||
        isspace((unsigned char)digits[0]))
      return mg_option_refuse(option, "not a number", why, why_size);
    n++;
  }
  if (!mg_option_read_word(option, part, &word, why, why_size)) return false;
  *wall = wall_of(word);
  return read_condition(option, word, number, n, condition, why, why_size);
}

/* One word for all sides, one per direction, or one per side. */
bool mg_sides_read(const mg_option_t *option, const char *text, mg_sides_t *sides, char *why,
                   int why_size) {
  static const char *const names[] = {"x-low", "x-high", "y-low", "y-high", "z-low", "z-high"};
  mg_wall_t wall[6];
  mg_condition_t condition[6];
  int n = 0;
  for (const char *at = text;; at++) {
    char part[128];
    const size_t length = strcspn(at, ",");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
    if (n == 6) return mg_option_refuse(option, "more than six words", why, why_size);
    if (!read_side(option, part, &wall[n], &condition[n], why, why_size)) return false;
    n++;
    at += length;
    if (*at == '\0') break;
  }
  if (n != 1 && n != 3 && n != 6) return mg_option_refuse(option, "2, 4 or 5 words", why, why_size);
  for (int side = 0; side < 6; side++) {
    sides->wall[side / 2][side % 2] = wall[side * n / 6];
    sides->condition[side / 2][side % 2] = condition[side * n / 6];
  }
  for (int side = 0; side < 6; side++) {
    if (sides->wall[side / 2][side % 2] != MG_WALL_NONE ||
        sides->wall[side / 2][1 - side % 2] == MG_WALL_NONE)
      continue;
    snprintf(why, (size_t)why_size, "%s is periodic, but %s is not; set both to periodic",
             names[side], names[side ^ 1]);
    return false;
  }
  return true;
}

/* Append text to a string of limited size. */
static void append(char *text, int text_size, const char *more) {
  const size_t used = strlen(text);
  snprintf(text + used, (size_t)text_size - used, "%s", more);
}

static void append_number(char *text, int text_size, double number) {
  append(text, text_size, ":");
  mg_option_format_double(number, text + strlen(text), text_size - (int)strlen(text));
}

static void format_side(const mg_option_t *option, mg_wall_t wall, const mg_condition_t *condition,
                        char *text, int text_size) {
  const bool robin = condition->u > 0.0 && condition->flux > 0.0;
  append(text, text_size, option->words[robin ? ROBIN_WORD : word_of(wall)]);
  if (robin) append_number(text, text_size, condition->u);
  if (robin) append_number(text, text_size, condition->flux);
  if (condition->value != 0.0) append_number(text, text_size, condition->value);
}

/* As few words as possible. */
void mg_sides_format(const mg_option_t *option, const mg_sides_t *sides, char *text,
                     int text_size) {
  const mg_wall_t *wall = sides->wall[0];
  const mg_condition_t *condition = sides->condition[0];
  bool pairs = true, same = true;
  for (int s = 0; s < 6; s++) {
    pairs = pairs && wall[s] == wall[s ^ 1] &&
            memcmp(&condition[s], &condition[s ^ 1], sizeof *condition) == 0;
    same = same && wall[s] == wall[0] && memcmp(&condition[s], condition, sizeof *condition) == 0;
  }
  for (int s = 0; s < 6; s += same ? 6 : pairs ? 2 : 1) {
    if (s > 0) append(text, text_size, ",");
    format_side(option, wall[s], &condition[s], text, text_size);
  }
}

mg_boundary_text_t mg_boundary_text(const mg_params_t *params) {
  mg_boundary_text_t boundary;
  mg_option_format(&mg_options[MG_OPT_BOUNDARY], params, boundary.text, (int)sizeof boundary.text);
  return boundary;
}
