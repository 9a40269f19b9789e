/* Parts of --help, which decks have too. */
#ifndef MG_PARAMS_PRINT_H
#define MG_PARAMS_PRINT_H

#include "params/params_table.h"

/** Print text in lines of limited length that start with `prefix`. Words are never split. */
void mg_print_wrapped(FILE *out, const char *prefix, const char *text);

/** Help text, then "[allowed values; condition; default]" if any.
 *  @param[in] words  list enum words, too */
void mg_option_explain(const mg_option_t *option, bool words, char *text, int size);

/** "fv2|fv4|7pt" for words, the metavar otherwise, "CELLS|auto" for both. */
void mg_option_print_value_name(FILE *out, const mg_option_t *option);

#endif
