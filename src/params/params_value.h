/* Conversion of option values between text and mg_params_t. */
#ifndef MG_PARAMS_VALUE_H
#define MG_PARAMS_VALUE_H

#include "params/params_table.h"

/** Why a value is not allowed, and what is. */
typedef struct mg_why {
  char text[512];
} mg_why_t;

/** Check `text` and store its value in the option's field.
 *
 *  @param[in]  option    any but MG_KIND_ACTION
 *  @param[out] why       on failure: the problem and the allowed values
 *  @return false on failure, with params unchanged */
MG_MUST_CHECK bool mg_option_set(const mg_option_t *option, const char *text, mg_params_t *params,
                                 mg_why_t *why);

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

/** A value of any kind, and the bytes that it takes in its field. */
typedef union mg_value {
  int word;
  int64_t number;
  double real;
  bool on;
  unsigned bits;
  mg_side_t sides[3][2];
  int32_t cells[3];
  double reals[3];
} mg_value_t;

/** Read a number within the limits of the option. */
MG_MUST_CHECK bool mg_option_read_int64(const mg_option_t *option, const char *text, int64_t *value,
                                        mg_why_t *why);
MG_MUST_CHECK bool mg_option_read_double(const mg_option_t *option, const char *text, double *value,
                                         mg_why_t *why);

/** Explain why a value is not allowed, and what is.
 *  @return false */
bool mg_option_refuse(const mg_option_t *option, const char *problem, mg_why_t *why);

/** Find a word among those of an option.
 *  @param[out] value  its number
 *  @return false, with `why`, if it is none of them */
MG_MUST_CHECK bool mg_option_read_word(const mg_option_t *option, const char *text, int *value,
                                       mg_why_t *why);

/** Append a number with the fewest digits that read back to the same bits. */
void mg_option_append_double(double value, char *text, int text_size);

/** Write the lines of --help about an option. */
void mg_option_help(FILE *out, const mg_option_t *option);

/** Write the words of an option after `before`. */
void mg_option_list_words(const mg_option_t *option, const char *before, char *text, int text_size);

/** Describe the allowed values, as the object of "expected": "integer from 1 to 100". */
void mg_option_describe_limits(const mg_option_t *option, char *text, int text_size);

#endif
