/* Conversion of text to checked values, and of values to text.
 *
 * Fields are accessed by offset with memcpy, which is correct for enums of any signedness. */
#include "params/params_value.h"
#include "base/log.h"
#include "params/params_wings.h"
#include "wings.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool in_limits(const mg_option_t *option, double value) {
  if (option->open) return value > option->min && value < option->max;
  return value >= option->min && value <= option->max;
}

/* Both limits are integers below 2^63. The integer comparison is exact; in double it is not. */
static bool in_limits_int64(const mg_option_t *option, int64_t value) {
  return value >= (int64_t)option->min && value <= (int64_t)option->max;
}

/* Report the problem and the allowed values. Always returns false, for use in a return. */
bool mg_option_refuse(const mg_option_t *option, const char *problem, mg_why_t *why) {
  char limits[256];
  mg_option_describe_limits(option, limits, (int)sizeof limits);
  snprintf(why->text, sizeof why->text, "%s; expected %s", problem, limits);
  return false;
}

/* Check the text after a number, where strtod or strtoll stopped. @return the problem, or NULL */
static const char *check_number_end(const char *text, const char *end, char *buffer, size_t size) {
  if (end == text || isspace((unsigned char)text[0])) return "not a number";
  if (*end == '\0') return NULL;
  snprintf(buffer, size, "trailing '%.20s' after the number", end);
  return buffer;
}

bool mg_option_read_int64(const mg_option_t *option, const char *text, int64_t *value,
                          mg_why_t *why) {
  char buffer[64];
  char *end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  const bool overflow = errno == ERANGE;
  const char *problem = check_number_end(text, end, buffer, sizeof buffer);
  if (problem) return mg_option_refuse(option, problem, why);
  if (overflow) return mg_option_refuse(option, number < 0 ? "too small" : "too large", why);
  if (!in_limits_int64(option, number)) return mg_option_refuse(option, "out of range", why);
  *value = number;
  return true;
}

bool mg_option_read_double(const mg_option_t *option, const char *text, double *value,
                           mg_why_t *why) {
  char buffer[64];
  char *end;
  errno = 0;
  const double number = strtod(text, &end);
  const bool overflow = errno == ERANGE;
  const char *problem = check_number_end(text, end, buffer, sizeof buffer);
  if (problem) return mg_option_refuse(option, problem, why);
  if (overflow)
    return mg_option_refuse(option, fabs(number) > 1 ? "too large" : "too close to 0", why);
  if (!isfinite(number)) return mg_option_refuse(option, "not a finite number", why);
  if (!in_limits(option, number)) return mg_option_refuse(option, "out of range", why);
  *value = number + 0.0; /* -0 becomes 0 */
  return true;
}

/* Number of a word in a list; -1: not there. */
static int find_word(const char *const *words, const char *text) {
  for (int i = 0; words && words[i]; i++)
    if (strcmp(words[i], text) == 0) return i;
  return -1;
}

bool mg_option_read_word(const mg_option_t *option, const char *text, int *value, mg_why_t *why) {
  *value = find_word(option->words, text);
  if (*value >= 0) return true;
  MG_IF_CONSOLE(return mg_nearest_refuse_word(option, text, why));
  return mg_option_refuse(option, "unknown value", why);
}

static bool read_flag(const mg_option_t *option, const char *text, bool *value, mg_why_t *why) {
  static const char *const words[] = {"no", "yes", "false", "true", "off", "on", NULL};
  const int word = find_word(words, text);
  *value = word % 2 != 0;
  return word >= 0 || mg_option_refuse(option, "unknown value", why);
}

/* --quiet and --verbose share one field. Setting both is a contradiction. */
static bool set_verbosity(const mg_option_t *option, bool on, int *field, mg_why_t *why) {
  const int own = (int)option->min;
  if (on && *field == -own) {
    snprintf(why->text, sizeof why->text, "conflicts with --%s; remove one of them",
             own < 0 ? "verbose" : "quiet");
    return false;
  }
  if (on)
    *field = own;
  else if (*field == own)
    *field = 0;
  return true;
}

/* Reject control characters, since messages and decks print a path in one line. */
static bool set_path(const mg_option_t *option, const char *text, char *field, mg_why_t *why) {
  if (strlen(text) >= MG_PATH_MAX) return mg_option_refuse(option, "too long", why);
  for (const char *c = text; *c; c++)
    if (iscntrl((unsigned char)*c))
      return mg_option_refuse(option, "contains a control character", why);
  memset(field, 0, MG_PATH_MAX); /* clears the rest of an earlier, longer value */
  memcpy(field, text, strlen(text));
  return true;
}

/* The fewest digits that read back to the same bits. 17 always suffice, and %g drops zeros. */
void mg_option_append_double(double value, char *text, int text_size) {
  char *const end = text + strlen(text);
  for (int digits = 15; digits <= 17; digits++) {
    *end = '\0';
    mg_append(text, text_size, "%.*g", digits, value);
    if (strtod(end, NULL) == value) return;
  }
}

/* One condition for all sides: u = 0, no flux or periodic. Others, which need the wing domains, are
 * marked as varying. */
static bool read_sides(const mg_option_t *option, const char *text, mg_side_t sides[3][2],
                       mg_why_t *why) {
  static const mg_side_t side[] = {{.u = 1.0, .wall = MG_WALL_DIRICHLET},
                                   {.flux = 1.0, .wall = MG_WALL_NEUMANN},
                                   {.wall = MG_WALL_NONE},
                                   {.wall = MG_WALL_DIRICHLET, .varies = true}};
  char first[32];
  int word;
  snprintf(first, sizeof first, "%.*s", (int)strcspn(text, ",:"), text);
  if (!mg_option_read_word(option, first, &word, why)) return false;
  if (text[strlen(first)] != '\0' || word > 3) word = 3;
  for (int s = 0; s < 6; s++)
    memcpy(&sides[s / 2][s % 2], &side[word], sizeof *side); /* padding too: ranks compare bytes */
  return true;
}

static const char *word_of_sides(const mg_option_t *option, const mg_side_t sides[3][2]) {
  const mg_side_t *side = &sides[0][0];
  return side->varies ? "other" : option->words[side->u > 0.0 ? 0 : side->flux > 0.0 ? 1 : 2];
}

static const size_t size_of[] = {[MG_KIND_WORD] = sizeof(int),
                                 [MG_KIND_INT] = sizeof(int),
                                 [MG_KIND_INT64] = sizeof(int64_t),
                                 [MG_KIND_DOUBLE] = sizeof(double),
                                 [MG_KIND_FLAG] = sizeof(bool),
                                 [MG_KIND_VERBOSITY] = sizeof(int),
                                 [MG_KIND_SET] = sizeof(unsigned),
                                 [MG_KIND_CELLS] = sizeof(int32_t[3]),
                                 [MG_KIND_REALS] = sizeof(double[3]),
                                 [MG_KIND_STRETCH] = sizeof(double[3]),
                                 [MG_KIND_PATH] = MG_PATH_MAX,
                                 [MG_KIND_PAIRS] = MG_PATH_MAX,
                                 [MG_KIND_SIDES] = sizeof(mg_side_t[3][2])};

/* Read a value of a kind with a size. */
static bool read_value(const mg_option_t *option, const char *text, mg_value_t *v, mg_why_t *why) {
  int64_t number;
  switch (option->kind) {
  case MG_KIND_WORD:
    return mg_option_read_word(option, text, &v->word, why);
  case MG_KIND_INT:
    if (!mg_option_read_int64(option, text, &number, why)) return false;
    v->word = (int)number; /* the table's limits fit an int */
    return true;
  case MG_KIND_INT64:
    v->number = -1 - find_word(option->words, text); /* -1 for the first word, -2, ...; 0: none */
    return v->number != 0 || mg_option_read_int64(option, text, &v->number, why);
  case MG_KIND_DOUBLE:
    return mg_option_read_double(option, text, &v->real, why);
  case MG_KIND_SET:
    MG_IF_FILES(return mg_set_read(option, text, &v->bits, why));
    return true;
  case MG_KIND_SIDES:
  case MG_KIND_CELLS:
  case MG_KIND_REALS:
  case MG_KIND_STRETCH:
    MG_IF_DOMAINS(return mg_domain_read(option, text, v, why));
    if (option->kind == MG_KIND_SIDES) return read_sides(option, text, v->sides, why);
    v->cells[0] = 1; /* without the wing it only counts that the option is set */
    return true;
  default:
    return read_flag(option, text, &v->on, why);
  }
}

bool mg_option_set(const mg_option_t *option, const char *text, mg_params_t *params,
                   mg_why_t *why) {
  char *field = (char *)params + option->offset;
  mg_value_t v;
  memset(&v, 0, sizeof v);
  if (text[0] == '\0') return mg_option_refuse(option, "no value", why);
  if (option->kind == MG_KIND_PATH) return set_path(option, text, field, why);
  MG_IF_FILES(
      if (option->kind == MG_KIND_PAIRS && !mg_pairs_check(option, text, why)) return false);
  if (option->kind == MG_KIND_PAIRS) return set_path(option, text, field, why);
  if (option->kind == MG_KIND_ACTION) return mg_option_refuse(option, "unexpected value", why);
  if (!read_value(option, text, &v, why)) return false;
  if (option->kind == MG_KIND_VERBOSITY)
    return set_verbosity(option, v.on, &params->verbosity, why);
  memcpy(field, &v, size_of[option->kind]);
  return true;
}

void mg_option_unset(const mg_option_t *option, mg_params_t *params) {
  memset((char *)params + option->offset, 0, size_of[option->kind]);
}

bool mg_option_format(const mg_option_t *option, const mg_params_t *params, char *text,
                      int text_size) {
  const char *field = (const char *)params + option->offset, *word = NULL;
  const size_t size = (size_t)text_size;
  mg_value_t v = {0};
  text[0] = '\0';
  if (option->kind < MG_KIND_PATH) memcpy(&v, field, size_of[option->kind]);
  switch (option->kind) {
  case MG_KIND_INT:
    if (!in_limits_int64(option, v.word)) return false;
    snprintf(text, size, "%d", v.word);
    return true;
  case MG_KIND_INT64:
    if (option->words && v.number < 0) {
      word = option->words[-1 - v.number];
      break;
    }
    if (!in_limits_int64(option, v.number)) return false;
    snprintf(text, size, "%" PRId64, v.number);
    return true;
  case MG_KIND_DOUBLE:
    if (!in_limits(option, v.real)) return false;
    mg_option_append_double(v.real, text, text_size);
    return true;
  case MG_KIND_SIDES:
  case MG_KIND_CELLS:
  case MG_KIND_REALS:
  case MG_KIND_STRETCH:
    MG_IF_DOMAINS(return mg_domain_format(option, &v, text, text_size));
    word = option->kind == MG_KIND_SIDES ? word_of_sides(option, v.sides) : v.cells[0] ? "set" : "";
    break;
  case MG_KIND_SET:
    MG_IF_FILES(mg_set_format(option, v.bits, text, text_size));
    return text[0] != '\0';
  case MG_KIND_WORD:
    word = option->words[v.word];
    break;
  case MG_KIND_FLAG:
    word = v.on ? "yes" : "no";
    break;
  case MG_KIND_VERBOSITY:
    word = v.word == (int)option->min ? "yes" : "no";
    break;
  case MG_KIND_PATH:
  case MG_KIND_PAIRS:
    word = field;
    break;
  case MG_KIND_ACTION:
    return false;
  }
  snprintf(text, size, "%s", word);
  return text[0] != '\0';
}

mg_boundary_text_t mg_boundary_text(const mg_params_t *params) {
  mg_boundary_text_t boundary;
  mg_option_format(&mg_options[MG_OPT_BOUNDARY], params, boundary.text, (int)sizeof boundary.text);
  return boundary;
}
