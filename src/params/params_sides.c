/* Values of --boundary: a word for each side, with the numbers of its condition. */
#include "base/log.h"
#include "params/params_value.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of --boundary: the side, and the numbers that may follow. */
typedef struct {
  mg_side_t side;
  int least, most;
  const char *problem; /* of other numbers */
} word_t;

/* In the order of params_table.c. */
static const word_t words[] = {
    {{.u = 1.0, .wall = MG_WALL_DIRICHLET}, 0, 1, "more than one number"},
    {{.flux = 1.0, .wall = MG_WALL_NEUMANN}, 0, 1, "more than one number"},
    {{.wall = MG_WALL_NONE}, 0, 0, "a number after periodic"},
    {{.wall = MG_WALL_NEUMANN}, 2, 3, "robin:A:B needs A > 0 and B > 0"}};
enum { ROBIN_WORD = 3 };
_Static_assert(sizeof words / sizeof *words == MG_N_WALLS + 1, "a word for each kind, and robin");

static int word_of(const mg_side_t *side) {
  int word = 0;
  while (words[word].side.wall != side->wall)
    word++;
  return mg_is_robin(side) ? ROBIN_WORD : word;
}

/* Read one side: a word and up to three numbers, separated by colons. */
static bool read_side(const mg_option_t *option, const char *text, mg_side_t *side, mg_why_t *why) {
  char part[128];
  double number[3] = {0};
  int word, n = 0;
  snprintf(part, sizeof part, "%s", text);
  for (char *at = strchr(part, ':'), *next; at; at = next) {
    *at++ = '\0';
    next = strchr(at, ':');
    if (n == 3) return mg_option_refuse(option, "more than three numbers", why);
    const size_t length = next ? (size_t)(next - at) : strlen(at);
    char digits[64], *end;
    snprintf(digits, sizeof digits, "%.*s", (int)length, at);
    number[n] = strtod(digits, &end);
    if (length == 0 || length >= sizeof digits || *end != '\0' || !isfinite(number[n]) ||
        isspace((unsigned char)digits[0]))
      return mg_option_refuse(option, "not a number", why);
    n++;
  }
  if (!mg_option_read_word(option, part, &word, why)) return false;
  memcpy(side, &words[word].side, sizeof *side); /* padding too: ranks compare bytes */
  side->value = number[word == ROBIN_WORD ? 2 : 0];
  if (word == ROBIN_WORD) side->u = number[0], side->flux = number[1];
  const bool valid = n >= words[word].least && n <= words[word].most &&
                     (word != ROBIN_WORD || (side->u > 0.0 && side->flux > 0.0));
  return valid || mg_option_refuse(option, words[word].problem, why);
}

/* One word for all sides, one per direction, or one per side. */
bool mg_sides_read(const mg_option_t *option, const char *text, mg_side_t sides[3][2],
                   mg_why_t *why) {
  static const char *const names[] = {"x-low", "x-high", "y-low", "y-high", "z-low", "z-high"};
  mg_side_t *side = sides[0];
  int n = 0;
  for (const char *at = text;; at++) {
    char part[128];
    const size_t length = strcspn(at, ",");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
    if (n == 6) return mg_option_refuse(option, "more than six words", why);
    if (!read_side(option, part, &side[n++], why)) return false;
    at += length;
    if (*at == '\0') break;
  }
  if (n != 1 && n != 3 && n != 6) return mg_option_refuse(option, "2, 4 or 5 words", why);
  for (int s = 5; s >= 0; s--)
    memmove(&side[s], &side[s * n / 6], sizeof *side);
  for (int s = 0; s < 6; s++) {
    if (side[s].wall != MG_WALL_NONE || side[s ^ 1].wall == MG_WALL_NONE) continue;
    snprintf(why->text, sizeof why->text, "%s is periodic, but %s is not; set both to periodic",
             names[s], names[s ^ 1]);
    return false;
  }
  return true;
}

static void append_number(char *text, int text_size, double number) {
  mg_append(text, text_size, ":");
  mg_option_append_double(number, text, text_size);
}

static void format_side(const mg_option_t *option, const mg_side_t *side, char *text,
                        int text_size) {
  mg_append(text, text_size, "%s", option->words[word_of(side)]);
  if (mg_is_robin(side)) append_number(text, text_size, side->u);
  if (mg_is_robin(side)) append_number(text, text_size, side->flux);
  if (side->value != 0.0) append_number(text, text_size, side->value);
}

static bool same(const mg_side_t *a, const mg_side_t *b) {
  return a->wall == b->wall && a->u == b->u && a->flux == b->flux && a->value == b->value;
}

/* As few words as possible. */
void mg_sides_format(const mg_option_t *option, const mg_side_t sides[3][2], char *text,
                     int text_size) {
  const mg_side_t *side = sides[0];
  int step = 6;
  for (int s = 0; s < 6; s++)
    step = !same(&side[s], &side[s ^ 1]) ? 1 : step == 6 && !same(&side[s], side) ? 2 : step;
  for (int s = 0; s < 6; s += step) {
    if (s > 0) mg_append(text, text_size, ",");
    format_side(option, &side[s], text, text_size);
  }
}

mg_boundary_text_t mg_boundary_text(const mg_params_t *params) {
  mg_boundary_text_t boundary;
  mg_option_format(&mg_options[MG_OPT_BOUNDARY], params, boundary.text, (int)sizeof boundary.text);
  return boundary;
}
