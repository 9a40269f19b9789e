/* The state of one parse, shared by the command line, the deck and the checks at the end. */
#ifndef MG_PARAMS_PARSER_H
#define MG_PARAMS_PARSER_H

#include "params/params_table.h"

enum {
  MG_DECK_LINE_MAX = 190, /**< characters a line; libinih's buffer holds 200, some are its own */
  MG_DECK_SIZE_MAX = 1 << 20
};

/** File: one that another option names. */
typedef enum { MG_FROM_DEFAULT, MG_FROM_FILE, MG_FROM_DECK, MG_FROM_COMMAND_LINE } mg_source_t;

/** Borrows everything it points to. */
typedef struct {
  mg_params_t *params;
  mg_source_t source[MG_N_OPTIONS]; /**< who set each option */
  int deck_line[MG_N_OPTIONS];      /**< where in the deck, from 1; 0: not there */
  bool forgotten[MG_N_OPTIONS];     /**< the command line left it without a meaning in the deck */
  const char *deck_name;            /**< for messages */
  mg_status_t status;               /**< of the first failure */
  char *message;                    /**< of the first failure: one line */
  int message_size;
} mg_parser_t;

/** Start with defaults in `params` and nothing set. */
void mg_parser_init(mg_parser_t *parser, mg_params_t *params, char *message, int message_size);

/** Keep a failure: the first one counts. Control characters in it become '?'.
 *  @return the status of the first failure */
mg_status_t mg_parser_fail(mg_parser_t *parser, mg_status_t status, const char *format, ...)
    MG_PRINTF(3, 4);

/** Set one option from text, unless the deck tries what the command line has set: then only check.
 *
 *  @param[in] line  of the deck, where source is MG_FROM_DECK */
MG_MUST_CHECK mg_status_t mg_parser_set(mg_parser_t *parser, const mg_option_t *option,
                                        const char *text, mg_source_t source, int line);

/** How the user wrote an option: "--degree", "LOG2_BOX_DIM" or "degree (my.ini:7)".
 *  @return text */
const char *mg_parser_label(const mg_parser_t *parser, const mg_option_t *option, char *text,
                            int text_size);

/** Read a deck from memory into the parser.
 *
 *  @param[in] name  the file name for messages; borrowed by the parser */
MG_MUST_CHECK mg_status_t mg_parser_read_deck(mg_parser_t *parser, const char *text, int64_t length,
                                              const char *name);

/** The same from a file. MG_ERR_IO when it can't be read. */
MG_MUST_CHECK mg_status_t mg_parser_read_deck_file(mg_parser_t *parser, const char *path);

/** Take over what the file of an option says. */
MG_MUST_CHECK mg_status_t mg_parser_take_file(mg_parser_t *parser,
                                              const mg_settings_reader_t *reader);

/** Refuse files of results that would be written twice, or over what the run reads. */
MG_MUST_CHECK mg_status_t mg_parser_check_files(mg_parser_t *parser);

/** Fill in the defaults that depend on other options, then refuse contradictions. */
MG_MUST_CHECK mg_status_t mg_parser_finish(mg_parser_t *parser);

/** The defaults that depend on other options, for those that `source` leaves to us. */
void mg_params_settle(mg_params_t *params, const mg_source_t source[MG_N_OPTIONS]);

#endif
