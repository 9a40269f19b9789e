/* Input decks. libinih only splits lines into key and value.
 *
 * libinih truncates lines that exceed its buffer and treats an indented line as a continuation. It
 * ignores text after a ']' and does not detect NUL bytes. Each line therefore passes through
 * read_line first. It rejects or corrects all of these, however libinih was configured. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "params/params_nearest.h"
#include "params/params_parser.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_INIH
#include <ini.h>

typedef struct {
  mg_parser_t *parser;
  const char *next; /* first character of the next line */
  const char *end;
  int line; /* number of the last line read, from 1 */
} reader_t;

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* Accept UTF-8 text. Reject control characters other than tabs. */
static mg_status_t check_text(reader_t *reader, const char *begin, const char *end) {
  for (const char *c = begin; c < end; c++) {
    const unsigned char byte = (unsigned char)*c;
    if ((byte >= 0x20 && byte != 0x7f) || byte == '\t') continue;
    return mg_parser_fail(
        reader->parser, MG_ERR_USAGE,
        "%.150s:%d: control character 0x%02x in column %d; a deck must be plain text",
        reader->parser->deck_name, reader->line, byte, (int)(c - begin) + 1);
  }
  return MG_OK;
}

/* Section names are checked, then ignored: they only help the reader of a deck. */
static mg_status_t check_section(reader_t *reader, const char *begin, const char *end) {
  static const char *const names[] = {"problem", "solver", "run", "output", NULL};
  const char *close = memchr(begin, ']', (size_t)(end - begin));
  char name[64];
  if (!close)
    return mg_parser_fail(reader->parser, MG_ERR_USAGE,
                          "%.150s:%d: missing ']' after the section name",
                          reader->parser->deck_name, reader->line);
  const char *rest = close + 1;
  while (rest < end && is_blank(*rest))
    rest++;
  if (rest < end && *rest != '#' && *rest != ';')
    return mg_parser_fail(
        reader->parser, MG_ERR_USAGE,
        "%.150s:%d: unexpected '%.*s' after the section name; move it to the next line",
        reader->parser->deck_name, reader->line, end - rest < 60 ? (int)(end - rest) : 60, rest);
  const int length = close - begin - 1 < 60 ? (int)(close - begin - 1) : 60;
  snprintf(name, sizeof name, "%.*s", length, begin + 1);
  for (int i = 0; names[i]; i++)
    if (strcmp(names[i], name) == 0) return MG_OK;
  return mg_parser_fail(
      reader->parser, MG_ERR_USAGE, "%.150s:%d: unknown section [%s]; did you mean [%s]?",
      reader->parser->deck_name, reader->line, name, mg_nearest_word(name, names));
}

/* Strip comments, sections and surrounding blanks before libinih reads the line. */
static mg_status_t filter_line(reader_t *reader, const char **begin, const char **end) {
  if (*end > *begin && (*end)[-1] == '\r') --*end;
  MG_TRY(check_text(reader, *begin, *end));
  while (*begin < *end && is_blank(**begin))
    ++*begin;
  while (*begin < *end && is_blank((*end)[-1]))
    --*end;
  if (*begin < *end && **begin == '[') MG_TRY(check_section(reader, *begin, *end));
  if (*begin < *end && strchr("[#;", **begin)) *end = *begin;
  return MG_OK;
}

/* fgets replacement for libinih: returns a whole line, or NULL at the end or after a failure. */
static char *read_line(char *buffer, int size, void *stream) {
  reader_t *reader = stream;
  if (reader->next == reader->end || reader->parser->status != MG_OK) return NULL;

  const char *begin = reader->next;
  const char *newline = memchr(begin, '\n', (size_t)(reader->end - begin));
  const char *end = newline ? newline : reader->end;
  reader->next = newline ? newline + 1 : reader->end;
  reader->line++;
  if (reader->line == 1 && end - begin >= 3 && memcmp(begin, "\xEF\xBB\xBF", 3) == 0) begin += 3;
  if (filter_line(reader, &begin, &end) != MG_OK) return NULL;

  const int room = size - 2 < MG_DECK_LINE_MAX ? size - 2 : MG_DECK_LINE_MAX;
  if (end - begin > room) {
    (void)mg_parser_fail(reader->parser, MG_ERR_USAGE,
                         "%.150s:%d: line of %lld characters exceeds the limit of %d",
                         reader->parser->deck_name, reader->line, (long long)(end - begin), room);
    return NULL;
  }
  memcpy(buffer, begin, (size_t)(end - begin));
  memcpy(buffer + (end - begin), "\n", 2);
  return buffer;
}

/* libinih ends a value at " ;". Do the same at " #", since both start a comment. */
static void cut_comment(const char *value, char *text, size_t size) {
  snprintf(text, size, "%s", value);
  for (char *c = text; *c; c++) {
    if (*c != '#' || (c > text && !is_blank(c[-1]))) continue;
    while (c > text && is_blank(c[-1]))
      c--;
    *c = '\0';
    return;
  }
}

static mg_status_t refuse_key(mg_parser_t *parser, int line, const char *name) {
  char hint[96] = "--help lists all keys";
  const char *nearest = mg_nearest_option(name, MG_IN_DECK);
  if (mg_names_size(name))
    snprintf(hint, sizeof hint, "log2-box-dim and boxes-per-rank set the grid size");
  else if (nearest)
    snprintf(hint, sizeof hint, "did you mean %s?", nearest);
  return mg_parser_fail(parser, MG_ERR_USAGE, "%.150s:%d: unknown key '%.60s'; %s",
                        parser->deck_name, line, name, hint);
}

/* Handle one key and its value. @return 1, or 0 after a failure recorded in the parser */
static int handle_pair(void *user, const char *section, const char *name, const char *value) {
  reader_t *reader = user;
  mg_parser_t *parser = reader->parser;
  const mg_option_t *option = mg_option_find(name);
  char text[MG_DECK_LINE_MAX + 2];
  mg_status_t status = MG_OK;

  (void)section;
  cut_comment(value ? value : "", text, sizeof text);
  if (!option)
    status = refuse_key(parser, reader->line, name);
  else if (!(option->where & MG_IN_DECK))
    status =
        mg_parser_fail(parser, MG_ERR_USAGE,
                       "%.150s:%d: '%s' is not allowed in a deck; pass --%s on the command line",
                       parser->deck_name, reader->line, name, name);
  else if (parser->deck_line[option - mg_options] > 0)
    status = mg_parser_fail(
        parser, MG_ERR_USAGE, "%.150s:%d: duplicate key '%s', first on line %d; remove one of them",
        parser->deck_name, reader->line, name, parser->deck_line[option - mg_options]);
  else {
    parser->deck_line[option - mg_options] = reader->line;
    status = mg_parser_set(parser, option, text, MG_FROM_DECK, reader->line);
  }
  return status == MG_OK;
}

mg_status_t mg_parser_read_deck(mg_parser_t *parser, const char *text, int64_t length,
                                const char *name) {
  reader_t reader = {.parser = parser, .next = text, .end = text + length};
  parser->deck_name = name;
  /* libinih continues after a line that it cannot split. A recorded failure is therefore on a later
   * line, unless it is on the line that libinih reports. */
  const int line = ini_parse_stream(read_line, &reader, handle_pair, &reader);
  if (line > 0 && (parser->status == MG_OK || line < reader.line)) {
    parser->status = MG_OK;
    return mg_parser_fail(parser, MG_ERR_USAGE, "%.150s:%d: expected 'key = value'", name, line);
  }
  if (line < 0)
    return mg_parser_fail(parser, MG_ERR_MEMORY, "out of memory: cannot read deck '%.150s'", name);
  return parser->status;
}

#else

mg_status_t mg_parser_read_deck(mg_parser_t *parser, const char *text, int64_t length,
                                const char *name) {
  (void)text;
  (void)length;
  return mg_parser_fail(parser, MG_ERR_USAGE,
                        "--input=%.150s requires libinih, which this build lacks; reconfigure "
                        "with --with-inih=DIR, or pass the options on the command line",
                        name);
}

#endif

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
  if (status == MG_OK) status = mg_parser_read_deck(parser, text, (int64_t)length, path);
  free(text);
  return status;
}
