/* One value of one option: from text into mg_params_t, and back. */
#ifndef MG_PARAMS_VALUE_H
#define MG_PARAMS_VALUE_H

#include "params/params_table.h"

/** Check `text` and store it into the option's field.
 *
 *  @param[in]  option    any but MG_KIND_ACTION
 *  @param[out] why       on failure: what is wrong and which values are allowed
 *  @return false on failure; params unchanged then */
MG_MUST_CHECK bool mg_option_set(const mg_option_t *option, const char *text, mg_params_t *params,
                                 char *why, int why_size);

/** The field's value as a user would write it; numbers in the fewest digits that read back equal.
 *
 *  @param[out] text  at least MG_PATH_MAX bytes
 *  @return false when the option is unset (an empty path, a number outside its own limits); text
 *          is empty then */
bool mg_option_format(const mg_option_t *option, const mg_params_t *params, char *text,
                      int text_size);

/** The values that an option allows, to follow "give ": "a whole number from 1 to 100". */
void mg_option_describe_limits(const mg_option_t *option, char *text, int text_size);

#endif
