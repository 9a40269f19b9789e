/* Defaults and the command line. getopt is unsuitable: it has global state, reorders argv and
 * depends on POSIXLY_CORRECT. Its messages give neither limits nor the nearest option. */
#include "params/params.h"
#include "params/params_files.h"
#include "params/params_value.h"
#include "params/params_wings.h"
#include "wings.h"
#include <ctype.h>
#include <string.h>

void mg_params_defaults(mg_params_t *params) {
  static const mg_source_t nothing_set[MG_N_OPTIONS];
  mg_why_t why;
  memset(params, 0, sizeof *params); /* padding too: ranks and tests compare bytes */
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    /* cannot fail: tests/unit/unit_params.c checks that every default is within its limits */
    if (option->value && !mg_option_set(option, option->value, params, &why)) continue;
  }
  params->gpu = (mg_gpu_t){.sms = 132, .shared_bytes = 227 << 10, .l2_bytes = 50 << 20};
  mg_params_set_dependent_defaults(params, nothing_set);
}

/* Position in the command line. */
typedef struct {
  int argc;
  char *const *argv;
  int next;
  int n_sizes; /* positional arguments so far */
} cursor_t;

/* "-5" is an invalid size, not an unknown option. "-" alone is not an option either. */
static bool looks_like_option(const char *argument) {
  return argument[0] == '-' && argument[1] != '\0' && !isdigit((unsigned char)argument[1]);
}

static mg_status_t read_size(mg_parser_t *parser, cursor_t *cursor, const char *argument) {
  static const mg_option_id_t order[] = {MG_OPT_LOG2_BOX_DIM, MG_OPT_BOXES_PER_RANK};
  if (cursor->n_sizes == 2)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "unexpected argument '%.60s' after LOG2_BOX_DIM and BOXES_PER_RANK; "
                          "remove it, or pass option values as --option=VALUE",
                          argument);
  const mg_option_t *option = &mg_options[order[cursor->n_sizes++]];
  return mg_parser_set(parser, option, argument, MG_FROM_COMMAND_LINE, 0);
}

static mg_status_t refuse_option(mg_parser_t *parser, const char *argument, const char *name) {
  const mg_option_t *option = mg_option_find(name);
  if (option && option->where & MG_AS_ARGUMENT)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "--%s is not an option; pass LOG2_BOX_DIM and BOXES_PER_RANK as "
                          "arguments, for example: 7 8",
                          name);
  MG_IF_CONSOLE(return mg_nearest_refuse(parser, argument, name));
  return mg_parser_fail(parser, MG_ERR_USAGE, "unknown option %.60s; hpgmg-fv --help lists all",
                        argument);
}

/* Find the option of "--name", "--name=value" or "-x"; *value is NULL without '='.
 * @return NULL on failure */
static const mg_option_t *find_option(mg_parser_t *parser, const char *argument,
                                      const char **value) {
  char name[64];
  const mg_option_t *option = NULL;

  *value = NULL;
  if (argument[1] != '-') {
    snprintf(name, sizeof name, "%s", argument + 1);
    if (argument[2] == '\0') option = mg_option_find_letter(argument[1]);
  } else {
    const char *equals = strchr(argument, '=');
    const size_t length = equals ? (size_t)(equals - argument - 2) : strlen(argument + 2);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 63, argument + 2);
    if (equals) *value = equals + 1;
    if (length < sizeof name) option = mg_option_find(name);
  }
  if (option && option->where & MG_AS_OPTION) return option;
  (void)refuse_option(parser, argument, name);
  return NULL;
}

static bool is_flag(const mg_option_t *option) {
  return option->kind == MG_KIND_FLAG || option->kind == MG_KIND_VERBOSITY;
}

/* Read one option. Its value may be the next argument, unless that starts with "--". */
static mg_status_t read_option(mg_parser_t *parser, cursor_t *cursor, const char *argument,
                               mg_action_t *action) {
  const char *value;
  const mg_option_t *option = find_option(parser, argument, &value);
  if (!option) return parser->status;

  if (option->kind == MG_KIND_ACTION) {
    if (value)
      return mg_parser_fail(parser, MG_ERR_USAGE, "--%s takes no value; remove '=%.60s'",
                            option->name, value);
    *action = option == &mg_options[MG_OPT_HELP] ? MG_ACTION_HELP : MG_ACTION_VERSION;
    return MG_OK;
  }
  if (is_flag(option) && !value) value = "yes";
  if (!value) value = option->bare;
  if (!value && cursor->next < cursor->argc && strncmp(cursor->argv[cursor->next], "--", 2) != 0)
    value = cursor->argv[cursor->next++];
  if (!value) value = ""; /* mg_parser_set rejects it with the option's message */
  if (option == &mg_options[MG_OPT_INPUT] && parser->params->input[0] != '\0')
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "--input=%.60s: only one deck is allowed; pass other settings as options",
                          value);
  return mg_parser_set(parser, option, value, MG_FROM_COMMAND_LINE, 0);
}

/* Read all arguments in order. --help and --version stop the parse immediately. */
static mg_status_t read_command_line(mg_parser_t *parser, int argc, char *const argv[],
                                     mg_action_t *action) {
  cursor_t cursor = {.argc = argc, .argv = argv, .next = 1};
  bool options_end = false;
  while (cursor.next < argc && *action == MG_ACTION_RUN) {
    const char *argument = argv[cursor.next++];
    if (!options_end && strcmp(argument, "--") == 0)
      options_end = true;
    else if (!options_end && looks_like_option(argument))
      MG_TRY(read_option(parser, &cursor, argument, action));
    else
      MG_TRY(read_size(parser, &cursor, argument));
  }
  if (*action == MG_ACTION_RUN && cursor.n_sizes == 1)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "BOXES_PER_RANK is missing; pass both LOG2_BOX_DIM and BOXES_PER_RANK, "
                          "for example: 7 8");
  return MG_OK;
}

/* The command line is read first: it names the deck, which does not override it. */
static mg_status_t read_all(mg_parser_t *parser, int argc, char *const argv[],
                            mg_action_t *action) {
  *action = MG_ACTION_RUN;
  MG_TRY(read_command_line(parser, argc, argv, action));
  const char *deck = parser->params->input;
  if (*action != MG_ACTION_RUN || deck[0] == '\0') return MG_OK;
  MG_IF_FILES(return mg_parser_read_deck_file(parser, deck));
  return MG_OK;
}

mg_status_t mg_params_read(int argc, char *const argv[], mg_params_t *params, mg_action_t *action,
                           char *message, int message_size) {
  mg_parser_t parser;
  mg_parser_init(&parser, params, message, message_size);
  return read_all(&parser, argc, argv, action);
}

mg_status_t mg_params_parse(int argc, char *const argv[], const struct mg_settings_reader *readers,
                            mg_params_t *params, mg_action_t *action, char *message,
                            int message_size) {
  mg_parser_t parser;
  mg_parser_init(&parser, params, message, message_size);
  MG_TRY(read_all(&parser, argc, argv, action));
  if (*action != MG_ACTION_RUN) return MG_OK;
  return mg_parser_finish(&parser, readers);
}
