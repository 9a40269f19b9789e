/* Suggestions for mistyped names. */
#ifndef MG_PARAMS_NEAREST_H
#define MG_PARAMS_NEAREST_H

#include <stdbool.h>

/** Edit distance: insertions, deletions, replacements and swaps of adjacent characters.
 *
 *  Compares only the first 64 characters of each name.
 *  @ref Damerau, Comm. ACM 7 (1964) 171; here in its restricted form (optimal string alignment) */
int mg_edit_distance(const char *a, const char *b);

/** Is `name` a common name for the grid size in other programs (n, nx, dim, grid, ...)? */
bool mg_names_size(const char *name);

/** Find the nearest option name that is valid in `where` (MG_IN_DECK, ...).
 *
 *  An option that starts with `name` beats any other, since users abbreviate.
 *  @return static string; NULL if no name is within one edit per three letters */
const char *mg_nearest_option(const char *name, unsigned where);

/** Find the nearest word in a non-empty, NULL-terminated list.
 *  @return one of `words` */
const char *mg_nearest_word(const char *name, const char *const *words);

#endif
