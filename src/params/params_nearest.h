/* The valid name that a mistyped one most likely meant. */
#ifndef MG_PARAMS_NEAREST_H
#define MG_PARAMS_NEAREST_H

#include <stdbool.h>

/** Number of insertions, deletions, replacements and swaps of neighbours between two names.
 *
 *  Only the first 64 characters of each are looked at.
 *  @ref Damerau, Comm. ACM 7 (1964) 171; here in its restricted form (optimal string alignment) */
int mg_edit_distance(const char *a, const char *b);

/** Is this what other programs call the size of the grid: n, nx, dim, grid and the like? */
bool mg_names_size(const char *name);

/** The nearest name of an option that may stand in one of `where` (MG_IN_DECK, ...).
 *
 *  A name that starts with `name` is nearer than any other: people abbreviate.
 *  @return static string; NULL if no name is within one edit per three letters */
const char *mg_nearest_option(const char *name, unsigned where);

/** The nearest of a list of words that ends with NULL; at least one word.
 *  @return one of `words` */
const char *mg_nearest_word(const char *name, const char *const *words);

#endif
