/* Values of options of grids of any size: --boundary, a word for each side with the numbers of its
 * condition; cells and lengths in three directions; stretched axes. And what they contradict. */
#include "base/log.h"
#include "params/params_parser.h"
#include "params/params_value.h"
#include "params/params_wings.h"
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
static bool read_sides(const mg_option_t *option, const char *text, mg_side_t sides[3][2],
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
static void format_sides(const mg_option_t *option, const mg_side_t sides[3][2], char *text,
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

/* Read three numbers, separated by 'x' (cells) or commas. */
static bool read_three(const mg_option_t *option, const char *text, int32_t cells[3],
                       double reals[3], mg_why_t *why) {
  const bool is_cells = option->kind == MG_KIND_CELLS;
  for (int d = 0; d < 3; d++) {
    char part[64];
    int64_t number;
    const size_t length = strcspn(text, is_cells ? "xX" : ",");
    if (length >= sizeof part) return mg_option_refuse(option, "not a number", why);
    if ((text[length] == '\0') != (d == 2))
      return mg_option_refuse(option,
                              d == 2 ? "more than three numbers" : "fewer than three numbers", why);
    snprintf(part, sizeof part, "%.*s", (int)length, text);
    if (is_cells ? !mg_option_read_int64(option, part, &number, why)
                 : !mg_option_read_double(option, part, &reals[d], why))
      return false;
    if (is_cells) cells[d] = (int32_t)number; /* the table's limits fit */
    text += length + 1;
  }
  return true;
}

/* Read the axes that are stretched: "x:tanh:B", separated by commas. */
static bool read_stretch(const mg_option_t *option, const char *text, double stretch[3],
                         mg_why_t *why) {
  static const char tanh_word[] = ":tanh:";
  const size_t word = sizeof tanh_word - 1;
  memset(stretch, 0, 3 * sizeof *stretch);
  for (const char *at = text;; at++) {
    char part[64];
    const size_t length = strcspn(at, ",");
    const int d = at[0] - 'x';
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
    if (d < 0 || d > 2 || strncmp(part + 1, tanh_word, word) != 0)
      return mg_option_refuse(option, "not AXIS:tanh:B", why);
    if (stretch[d] > 0.0) return mg_option_refuse(option, "an axis twice", why);
    if (!mg_option_read_double(option, part + 1 + word, &stretch[d], why)) return false;
    at += length;
    if (*at == '\0') return true;
  }
}

static bool format_stretch(const double stretch[3], char *text, int text_size) {
  for (int d = 0; d < 3; d++) {
    if (stretch[d] == 0.0) continue;
    mg_append(text, text_size, "%s%c:tanh:", text[0] ? "," : "", "xyz"[d]);
    mg_option_append_double(stretch[d], text, text_size);
  }
  return text[0] != '\0';
}

bool mg_domain_read(const mg_option_t *option, const char *text, mg_value_t *v, mg_why_t *why) {
  if (option->kind == MG_KIND_SIDES) return read_sides(option, text, v->sides, why);
  if (option->kind == MG_KIND_STRETCH) return read_stretch(option, text, v->reals, why);
  return read_three(option, text, v->cells, v->reals, why);
}

bool mg_domain_format(const mg_option_t *option, const mg_value_t *v, char *text, int text_size) {
  switch (option->kind) {
  case MG_KIND_SIDES:
    format_sides(option, v->sides, text, text_size);
    return true;
  case MG_KIND_STRETCH:
    return format_stretch(v->reals, text, text_size);
  case MG_KIND_CELLS:
    if (v->cells[0] == 0) return false;
    snprintf(text, (size_t)text_size, "%dx%dx%d", (int)v->cells[0], (int)v->cells[1],
             (int)v->cells[2]);
    return true;
  default:
    if (v->reals[0] == 0) return false;
    for (int d = 0; d < 3; d++) {
      if (d > 0) mg_append(text, text_size, ",");
      mg_option_append_double(v->reals[d], text, text_size);
    }
    return true;
  }
}

void mg_domain_describe(const mg_option_t *option, char *text, int text_size) {
  const size_t size = (size_t)text_size;
  if (option->kind == MG_KIND_CELLS)
    snprintf(text, size, "three integers from %.0f to %.0f, such as 100x80x60", option->min,
             option->max);
  else if (option->kind == MG_KIND_REALS)
    snprintf(text, size, "three numbers from %g to %g, such as 1,0.5,2", option->min, option->max);
  else
    snprintf(text, size, "axes as x:tanh:B, with B from %g to %g, separated by commas", option->min,
             option->max);
}

/* Drop deck values of `id` if the command line sets `other`, which excludes it. */
static void drop_excluded(mg_parser_t *parser, mg_option_id_t id, mg_option_id_t other) {
  if (parser->source[id] != MG_FROM_DECK || parser->source[other] != MG_FROM_COMMAND_LINE) return;
  mg_option_unset(&mg_options[id], parser->params);
  parser->source[id] = MG_FROM_DEFAULT;
  parser->overridden[id] = true;
}

/* The grid and its lengths can each be given in two ways. The command line overrides the deck. */
static void choose_grid(mg_parser_t *parser) {
  drop_excluded(parser, MG_OPT_CELLS, MG_OPT_LOG2_BOX_DIM);
  drop_excluded(parser, MG_OPT_LOG2_BOX_DIM, MG_OPT_CELLS);
  drop_excluded(parser, MG_OPT_BOXES_PER_RANK, MG_OPT_CELLS);
  drop_excluded(parser, MG_OPT_SPACING, MG_OPT_LENGTHS);
  drop_excluded(parser, MG_OPT_LENGTHS, MG_OPT_SPACING);
  if (parser->overridden[MG_OPT_CELLS]) {
    drop_excluded(parser, MG_OPT_STRETCH, MG_OPT_LOG2_BOX_DIM);
    drop_excluded(parser, MG_OPT_SPACING, MG_OPT_LOG2_BOX_DIM);
    drop_excluded(parser, MG_OPT_LENGTHS, MG_OPT_LOG2_BOX_DIM);
  }
}

/* Reject what a grid of any size cannot have. */
mg_status_t mg_domain_check(mg_parser_t *parser) {
  static const mg_option_id_t excluded[] = {MG_OPT_LOG2_BOX_DIM, MG_OPT_BOXES_PER_RANK,
                                            MG_OPT_OFFICIAL};
  choose_grid(parser);
  if (!mg_params_has_cells(parser->params)) return MG_OK;
  const mg_label_t cells = mg_parser_label(parser, MG_OPT_CELLS);
  for (size_t i = 0; i < sizeof excluded / sizeof excluded[0]; i++)
    if (mg_parser_asks(parser, excluded[i]))
      return mg_parser_fail(parser, MG_ERR_USAGE,
                            "%s cannot be combined with %s; remove one of them", cells.text,
                            mg_parser_label(parser, excluded[i]).text);
  if (mg_traits_of(parser->params->op)->any_grid) return MG_OK;
  return mg_parser_fail(parser, MG_ERR_USAGE,
                        "%s requires --operator=fv2 or 7pt; %s needs a cube of boxes: pass "
                        "LOG2_BOX_DIM and BOXES_PER_RANK",
                        cells.text, mg_operator_name(parser->params->op));
}

mg_status_t mg_domain_check_walls(mg_parser_t *parser) {
  if (!mg_params_has_wall_values(parser->params)) return MG_OK;
  return mg_parser_fail(parser, MG_ERR_USAGE,
                        "%s: robin, and values other than 0, require --cells=NXxNYxNZ",
                        mg_parser_label(parser, MG_OPT_BOUNDARY).text);
}

/* Lengths of the domain: of the cells given by --spacing, or of cubic cells of width 1 / NX. */
static void set_lengths(mg_params_t *params) {
  for (int d = 0; d < 3; d++)
    params->length[d] = params->spacing[0] > 0 ? params->spacing[d] * params->cells[d]
                                               : params->cells[d] / (double)params->cells[0];
}

/* The volume of a cell that is not a whole one is in its alpha. Robin's condition is a part of
 * alpha. */
void mg_domain_set_defaults(mg_params_t *params, bool has_lengths) {
  if (!mg_params_has_cells(params)) return;
  if (!has_lengths) set_lengths(params);
  params->alpha_varies = params->equation == MG_EQUATION_HELMHOLTZ;
  for (int s = 0; s < 6; s++)
    params->alpha_varies = params->alpha_varies || mg_is_robin(&params->side[s / 2][s % 2]);
}
