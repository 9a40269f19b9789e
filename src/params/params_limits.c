/* The allowed values of an option, in words. */
#include "base/log.h"
#include "params/params_value.h"
#include "params/params_wings.h"
#include "wings.h"

void mg_option_list_words(const mg_option_t *option, const char *before, char *text,
                          int text_size) {
  snprintf(text, (size_t)text_size, "%s", before);
  for (int i = 0; option->words[i]; i++)
    mg_append(text, text_size, "%s%s", i > 0 ? ", " : "", option->words[i]);
}

void mg_option_describe_limits(const mg_option_t *option, char *text, int text_size) {
  const size_t size = (size_t)text_size;
  snprintf(text, size, "not in this build");
  switch (option->kind) {
  case MG_KIND_WORD:
    mg_option_list_words(option, "one of ", text, text_size);
    return;
  case MG_KIND_INT:
  case MG_KIND_INT64:
    snprintf(text, size, "%s%sinteger from %.0f to %.0f", option->words ? option->words[0] : "",
             option->words ? " or " : "", option->min, option->max);
    return;
  case MG_KIND_DOUBLE:
    snprintf(text, size,
             option->open ? "number above %.7g and below %.7g" : "number from %.7g to %.7g",
             option->min, option->max);
    return;
  case MG_KIND_SIDES:
    mg_option_list_words(option, "1, 3 or 6 of the words ", text, text_size);
    return;
  case MG_KIND_CELLS:
  case MG_KIND_REALS:
  case MG_KIND_STRETCH:
    MG_IF_DOMAINS(mg_domain_describe(option, text, text_size));
    return;
  case MG_KIND_FLAG:
  case MG_KIND_VERBOSITY:
    snprintf(text, size, "yes or no");
    return;
  case MG_KIND_SET:
    MG_IF_FILES(mg_set_describe(option, text, text_size));
    return;
  case MG_KIND_PAIRS:
    snprintf(text, size, "comma-separated key=value pairs of at most %d bytes", MG_PATH_MAX - 1);
    return;
  case MG_KIND_PATH:
    snprintf(text, size, "file path of at most %d bytes", MG_PATH_MAX - 1);
    return;
  case MG_KIND_ACTION:
    snprintf(text, size, "no value");
    return;
  }
}
