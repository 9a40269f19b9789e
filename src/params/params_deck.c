/* Input decks: lines "key = value", sections and comments.
 *
 * This parser is the project's own because each message names a line, and because a deck that was
 * damaged or cut must be an error. libinih does not report line numbers to its caller, truncates
 * long lines, and ignores text after a NUL byte or a section name. */
#include "params/params_files.h"
#include "params/params_nearest.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const mg_deck_sections[MG_GROUP_HELP + 1] = {"problem", "solver", "run", "output",
                                                         NULL};

#define BLANKS "\t "

/** The current line. */
typedef struct {
  mg_parser_t *parser;
  int number;                      /**< from 1 */
  char text[MG_DECK_LINE_MAX + 1]; /**< without comment and surrounding blanks */
} line_t;

/* Refuse the line; the format of the message, then its arguments. */
#define REFUSE(line, format, ...)                                                                  \
  mg_parser_fail((line)->parser, MG_ERR_USAGE, "%.150s:%d: " format, (line)->parser->deck_name,    \
                 (line)->number, __VA_ARGS__)

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* Accept UTF-8 text. Reject control characters other than tabs. */
static mg_status_t check_text(const line_t *line, const char *begin, const char *end) {
  for (const char *c = begin; c < end; c++) {
    const unsigned char byte = (unsigned char)*c;
    if ((byte >= 0x20 && byte != 0x7f) || byte == '\t') continue;
    return REFUSE(line, "control character 0x%02x in column %d; a deck must be plain text", byte,
                  (int)(c - begin) + 1);
  }
  return MG_OK;
}

/* First character of the comment, or `end`. A comment starts the line or follows a blank. */
static const char *find_comment(const char *begin, const char *end) {
  for (const char *c = begin; c < end; c++)
    if ((*c == '#' || *c == ';') && (c == begin || is_blank(c[-1]))) return c;
  return end;
}

static mg_status_t store_line(line_t *line, const char *begin, const char *end) {
  if (end > begin && end[-1] == '\r') end--;
  MG_TRY(check_text(line, begin, end));
  end = find_comment(begin, end);
  while (begin < end && is_blank(*begin))
    begin++;
  while (begin < end && is_blank(end[-1]))
    end--;
  if (end - begin > MG_DECK_LINE_MAX)
    return REFUSE(line, "line of %lld characters exceeds the limit of %d", (long long)(end - begin),
                  MG_DECK_LINE_MAX);
  snprintf(line->text, sizeof line->text, "%.*s", (int)(end - begin), begin);
  return MG_OK;
}

/* Section names are checked, then ignored: they only help the reader of a deck. */
static mg_status_t check_section(line_t *line) {
  char *name = line->text + 1, *close = strchr(name, ']');
  if (!close) return REFUSE(line, "%s", "missing ']' after the section name");
  if (close[1])
    return REFUSE(line, "unexpected '%.60s' after the section name; move it to the next line",
                  close + 1 + strspn(close + 1, BLANKS));
  *close = '\0';
  for (int i = 0; mg_deck_sections[i]; i++)
    if (strcmp(mg_deck_sections[i], name) == 0) return MG_OK;
  return REFUSE(line, "unknown section [%.60s]; did you mean [%s]?", name,
                mg_nearest_word(name, mg_deck_sections));
}

static mg_status_t refuse_key(const line_t *line, const char *name) {
  char hint[96] = "--help lists all keys";
  const char *nearest = mg_nearest_option(name, MG_IN_DECK);
  if (mg_names_size(name))
    snprintf(hint, sizeof hint, "log2-box-dim and boxes-per-rank set the grid size, or cells");
  else if (nearest)
    snprintf(hint, sizeof hint, "did you mean %s?", nearest);
  return REFUSE(line, "unknown key '%.60s'; %s", name, hint);
}

static mg_status_t set_key(const line_t *line, const char *name, const char *value) {
  mg_parser_t *parser = line->parser;
  const mg_option_t *option = mg_option_find(name);
  if (!option) return refuse_key(line, name);
  if (!(option->where & MG_IN_DECK))
    return REFUSE(line, "'%s' is not allowed in a deck; pass --%s on the command line", name, name);
  int *first = &parser->deck_line[option - mg_options];
  if (*first > 0)
    return REFUSE(line, "duplicate key '%s', first on line %d; remove one of them", name, *first);
  *first = line->number;
  return mg_parser_set(parser, option, value, MG_FROM_DECK, line->number);
}

static mg_status_t read_pair(line_t *line) {
  char *equals = strchr(line->text, '='), *end = equals;
  if (!equals) return REFUSE(line, "%s", "expected 'key = value'");
  while (end > line->text && is_blank(end[-1]))
    end--;
  *end = '\0';
  return set_key(line, line->text, equals + 1 + strspn(equals + 1, BLANKS));
}

/* The parser borrows `name`, for messages. */
static mg_status_t read_deck(mg_parser_t *parser, const char *text, int64_t length,
                             const char *name) {
  line_t line = {.parser = parser};
  const char *end = text + length;
  parser->deck_name = name;
  if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3;
  for (const char *newline; text < end; text = newline + 1) {
    newline = memchr(text, '\n', (size_t)(end - text));
    if (!newline) newline = end;
    line.number++;
    MG_TRY(store_line(&line, text, newline));
    if (line.text[0] == '[')
      MG_TRY(check_section(&line));
    else if (line.text[0] != '\0')
      MG_TRY(read_pair(&line));
  }
  return MG_OK;
}

/* Read at most MG_DECK_SIZE_MAX + 1 bytes; the extra byte detects a deck that is too long. Pipes
 * work too, for example --input=<(command). */
static mg_status_t load(mg_parser_t *parser, const char *path, char *text, size_t *length) {
  FILE *file = fopen(path, "r");
  if (!file)
    return mg_parser_fail(parser, MG_ERR_IO, "cannot open deck '%.150s': %s; check --input", path,
                          strerror(errno));
  errno = 0;
  *length = fread(text, 1, MG_DECK_SIZE_MAX + 1, file);
  const int error = ferror(file) ? errno : 0;
  fclose(file);
  if (error != 0)
    return mg_parser_fail(parser, MG_ERR_IO, "cannot read deck '%.150s': %s; check --input", path,
                          strerror(error));
  if (*length > MG_DECK_SIZE_MAX)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "deck '%.150s' exceeds the limit of %d bytes; check --input", path,
                          MG_DECK_SIZE_MAX);
  return MG_OK;
}

mg_status_t mg_parser_read_deck_file(mg_parser_t *parser, const char *path) {
  char *text = malloc(MG_DECK_SIZE_MAX + 1);
  size_t length = 0;
  if (!text)
    return mg_parser_fail(parser, MG_ERR_MEMORY, "out of memory: cannot read deck '%.150s'", path);
  mg_status_t status = load(parser, path, text, &length);
  if (status == MG_OK) status = read_deck(parser, text, (int64_t)length, path);
  free(text);
  return status;
}

mg_status_t mg_params_parse_deck(const char *text, int64_t length, const char *name,
                                 mg_params_t *params, char *message, int message_size) {
  mg_parser_t parser;
  mg_parser_init(&parser, params, message, message_size);
  MG_TRY(read_deck(&parser, text, length, name));
  return mg_parser_finish(&parser, NULL);
}
