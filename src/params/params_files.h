/* Options in files: decks, and files that options name. */
#ifndef MG_PARAMS_FILES_H
#define MG_PARAMS_FILES_H

#include "params/params_parser.h"

enum {
  MG_DECK_SIZE_MAX = 1 << 20,
  MG_DECK_LINE_MAX = 190 /**< characters per line, without comment */
};

/** An option and its value as text, read from a file that another option names. */
typedef struct {
  char name[32], value[MG_PATH_MAX];
  bool binding; /**< the data in the file fits no other value */
} mg_setting_t;

enum { MG_MAX_SETTINGS = 24 };

/** A growing list of settings. */
typedef struct {
  mg_setting_t setting[MG_MAX_SETTINGS];
  int n;
} mg_settings_t;

void mg_settings_add(mg_settings_t *settings, const char *name, const char *value, bool binding);

/** Reader of the settings in the file that an option names.
 *  @param[in]     params    values from the command line, the deck and earlier readers; unset sizes
 *                           are 0, unset paths ""
 *  @param[in,out] settings  n is 0 before
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE, MG_ERR_MEMORY; logged */
typedef struct mg_settings_reader {
  const char *option; /**< the option that names the file */
  mg_status_t (*read)(const mg_params_t *params, mg_settings_t *settings);
} mg_settings_reader_t;

/** mg_params_parse for a deck in memory, without a command line. Entry point of the fuzzer.
 *
 *  @param[in] name  file name for messages ("name:line: ...") */
MG_MUST_CHECK mg_status_t mg_params_parse_deck(const char *text, int64_t length, const char *name,
                                               mg_params_t *params, char *message,
                                               int message_size);

/** Write a commented deck that reproduces this run. Parsing it gives the same params. */
void mg_params_print(FILE *out, const mg_params_t *params);

/** Sections of decks ("problem", ...), by group; ends with NULL. */
extern const char *const mg_deck_sections[MG_GROUP_HELP + 1];

/** Suffix of the XDMF file beside a dump: FILE.xdmf. */
#define MG_XDMF_ENDING ".xdmf"

/** File name of the --dump-every dump after `cycles` cycles: NAME.hdf becomes NAME.0003.hdf. */
void mg_dump_numbered(const char *path, int cycles, char numbered[MG_PATH_MAX]);

/** Read a deck from a file into the parser, which borrows `path`. Returns MG_ERR_IO if it cannot be
 * read. */
MG_MUST_CHECK mg_status_t mg_parser_read_deck_file(mg_parser_t *parser, const char *path);

/** Apply the settings in the files that options name. NULL: none */
MG_MUST_CHECK mg_status_t mg_parser_take_files(mg_parser_t *parser,
                                               const mg_settings_reader_t *readers);

/** Reject output files that two options write, or that would overwrite an input file. */
MG_MUST_CHECK mg_status_t mg_parser_check_files(mg_parser_t *parser);

#endif
