/* Parser state, shared by the command line, the deck and the final checks. */
#ifndef MG_PARAMS_PARSER_H
#define MG_PARAMS_PARSER_H

#include "params/params_table.h"

/** Source of an option's value, in order of precedence. FILE: a file that another option names. */
typedef enum { MG_FROM_DEFAULT, MG_FROM_FILE, MG_FROM_DECK, MG_FROM_COMMAND_LINE } mg_source_t;

/** State of one parse. All pointers are borrowed. */
typedef struct mg_parser {
  mg_params_t *params;
  mg_source_t source[MG_N_OPTIONS]; /**< source of each option's value */
  int deck_line[MG_N_OPTIONS];      /**< line in the deck, from 1; 0: not in the deck */
  bool overridden[MG_N_OPTIONS];    /**< deck value dropped because of the command line */
  const char *deck_name;            /**< for messages */
  mg_status_t status;               /**< status of the first failure */
  char *message;                    /**< message of the first failure: one line */
  int message_size;
} mg_parser_t;

/** Initialize the parser, with default values in `params`. */
void mg_parser_init(mg_parser_t *parser, mg_params_t *params, char *message, int message_size);

/** Record a failure; only the first one is kept. Control characters in the message become '?'.
 *  @return the status of the first failure */
mg_status_t mg_parser_fail(mg_parser_t *parser, mg_status_t status, const char *format, ...)
    MG_PRINTF(3, 4);

/** Set one option from text.
 *
 *  A deck value for an option that the command line has set is only checked.
 *  @param[in] line  line in the deck if source is MG_FROM_DECK */
MG_MUST_CHECK mg_status_t mg_parser_set(mg_parser_t *parser, const mg_option_t *option,
                                        const char *text, mg_source_t source, int line);

/** Read the command line and its deck only. For ranks whose command line differs from rank 0's.
 *
 *  Reads no files that other options name. Skips the consistency checks between options. */
MG_MUST_CHECK mg_status_t mg_params_read(int argc, char *const argv[], mg_params_t *params,
                                         mg_action_t *action, char *message, int message_size);

/** Name of an option as the user wrote it: "--degree", "LOG2_BOX_DIM" or "degree (my.ini:7)". */
typedef struct {
  char text[256];
} mg_label_t;
mg_label_t mg_parser_label(const mg_parser_t *parser, mg_option_id_t id);

/** Did the user request an effect? A flag set to "no" does not. */
bool mg_parser_asks(const mg_parser_t *parser, int id);

/** Apply the readers (NULL: none), fill in the defaults that depend on other options, then reject
 *  contradictions. */
MG_MUST_CHECK mg_status_t mg_parser_finish(mg_parser_t *parser,
                                           const struct mg_settings_reader *readers);

/** Set the defaults that depend on other options, where `source` is MG_FROM_DEFAULT. */
void mg_params_set_dependent_defaults(mg_params_t *params, const mg_source_t source[MG_N_OPTIONS]);

#endif
