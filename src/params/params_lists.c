/* Values of options of files: sets of words, and pairs. */
#include "base/log.h"
#include "params/params_value.h"
#include "params/params_wings.h"
#include <ctype.h>
#include <string.h>

enum { ALL_MAX = 32 };

/* One bit for each word. */
static unsigned all_words(const mg_option_t *option) {
  unsigned all = 0;
  for (int i = 0; option->words[i]; i++)
    all |= 1u << i;
  return all;
}

bool mg_set_read(const mg_option_t *option, const char *text, unsigned *value, mg_why_t *why) {
  char word[ALL_MAX];
  if (strcmp(text, "all") == 0) {
    *value = all_words(option);
    return true;
  }
  *value = 0;
  for (const char *at = text;; at++) {
    int bit = 0;
    const size_t length = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    if (length >= sizeof word || !mg_option_read_word(option, word, &bit, why))
      return length < sizeof word ? false : mg_option_refuse(option, "unknown value", why);
    *value |= 1u << bit;
    at += length;
    if (*at == '\0') return true;
  }
}

void mg_set_format(const mg_option_t *option, unsigned value, char *text, int text_size) {
  if (value == all_words(option)) {
    snprintf(text, (size_t)text_size, "all");
    return;
  }
  for (int i = 0; option->words[i]; i++)
    if (value & 1u << i) mg_append(text, text_size, "%s%s", text[0] ? "," : "", option->words[i]);
}

/* Numeric words are a range. */
void mg_set_describe(const mg_option_t *option, char *text, int text_size) {
  int n = 0;
  while (option->words[n])
    n++;
  if (isdigit((unsigned char)option->words[0][0]))
    snprintf(text, (size_t)text_size, "all or a comma-separated list of %s to %s", option->words[0],
             option->words[n - 1]);
  else
    mg_option_list_words(option, "all or a comma-separated list of ", text, text_size);
}

/* Comma-separated "key=value" pairs with nonempty keys and values. MPI accepts keys
 * of at least 35 characters. Open MPI's MPI_MAX_INFO_KEY is 36 including the terminator. */
bool mg_pairs_check(const mg_option_t *option, const char *text, mg_why_t *why) {
  for (const char *at = text;; at++) {
    const size_t length = strcspn(at, ","), key = strcspn(at, "=");
    if (key == 0 || key + 1 >= length || length > 200)
      return mg_option_refuse(option, "not a list of key=value pairs", why);
    if (key > 35)
      return mg_option_refuse(option, "key of more than 35 characters, the limit of MPI", why);
    at += length;
    if (*at == '\0') return true;
  }
}
