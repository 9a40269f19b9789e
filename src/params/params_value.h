/* Conversion of option values between text and mg_params_t. */
#ifndef MG_PARAMS_VALUE_H
#define MG_PARAMS_VALUE_H

#include "params/params_table.h"

/** Check `text` and store its value in the option's field.
 *
 *  @param[in]  option    any but MG_KIND_ACTION
 *  @param[out] why       on failure: the problem and the allowed values
 *  @return false on failure, with params unchanged */
MG_MUST_CHECK bool mg_option_set(const mg_option_t *option, const char *text, mg_params_t *params,
                                 char *why, int why_size);

/** Clear the option's field: unset, for a kind that can be. */
void mg_option_unset(const mg_option_t *option, mg_params_t *params);

/** Format the field's value as the user would write it. Numbers get the fewest digits that read
 *  back equal.
 *
 *  @param[out] text  at least MG_PATH_MAX bytes
 *  @return false, with empty text, if the option is unset: an empty path, or a number outside its
 *          limits */
bool mg_option_format(const mg_option_t *option, const mg_params_t *params, char *text,
                      int text_size);

/** Describe the allowed values, as the object of "expected": "integer from 1 to 100". */
void mg_option_describe_limits(const mg_option_t *option, char *text, int text_size);

#endif
