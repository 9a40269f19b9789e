/* Parser state: the source of each value, and the first failure. */
#include "params/params_parser.h"
#include "params/params_value.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

void mg_parser_init(mg_parser_t *parser, mg_params_t *params, char *message, int message_size) {
  memset(parser, 0, sizeof *parser);
  mg_params_defaults(params);
  parser->params = params;
  parser->deck_name = "";
  parser->message = message;
  parser->message_size = message_size;
  message[0] = '\0';
}

mg_status_t mg_parser_fail(mg_parser_t *parser, mg_status_t status, const char *format, ...) {
  if (parser->status != MG_OK) return parser->status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(parser->message, (size_t)parser->message_size, format, arguments);
  va_end(arguments);
  for (char *c = parser->message; *c; c++)
    if (iscntrl((unsigned char)*c)) *c = '?';
  return parser->status = status;
}

mg_label_t mg_parser_label(const mg_parser_t *parser, mg_option_id_t id) {
  const mg_option_t *option = &mg_options[id];
  mg_label_t label;
  if (parser->source[id] == MG_FROM_DECK)
    snprintf(label.text, sizeof label.text, "%s (%.150s:%d)", option->name, parser->deck_name,
             parser->deck_line[id]);
  else
    snprintf(label.text, sizeof label.text, "%s%s", option->where & MG_AS_ARGUMENT ? "" : "--",
             option->where & MG_AS_ARGUMENT ? option->metavar : option->name);
  return label;
}

/* Did the command line set this option? --quiet also overrides a deck's verbose. */
static bool is_decided(const mg_parser_t *parser, int id) {
  if (parser->source[id] == MG_FROM_COMMAND_LINE) return true;
  if (mg_options[id].kind != MG_KIND_VERBOSITY) return false;
  const int other = id == MG_OPT_QUIET ? MG_OPT_VERBOSE : MG_OPT_QUIET;
  return parser->source[other] == MG_FROM_COMMAND_LINE && parser->params->verbosity != 0;
}

mg_status_t mg_parser_set(mg_parser_t *parser, const mg_option_t *option, const char *text,
                          mg_source_t source, int line) {
  const int id = (int)(option - mg_options);
  mg_why_t why;

  if (source == MG_FROM_DECK && is_decided(parser, id)) {
    mg_params_t scratch = {0};
    if (mg_option_set(option, text, &scratch, &why)) return MG_OK;
  } else if (mg_option_set(option, text, parser->params, &why)) {
    parser->source[id] = source;
    return MG_OK;
  }
  if (source == MG_FROM_DECK)
    return mg_parser_fail(parser, MG_ERR_USAGE, "%.150s:%d: %s = %.60s: %s", parser->deck_name,
                          line, option->name, text, why.text);
  return mg_parser_fail(parser, MG_ERR_USAGE, "%s=%.60s: %s",
                        mg_parser_label(parser, (mg_option_id_t)id).text, text, why.text);
}
