/* Every option of the table appears in --help, in the man page and in the bash completion. Reads
 * the source tree at $srcdir, or the working directory. */
#include "params/params_table.h"
#include "tests/lib/test.h"
#include <ctype.h>
#include <stdlib.h>

/* Read a file of the source tree as a string without backslashes, since troff writes "\-\-rtol". */
static char *load(const char *name) {
  const char *srcdir = getenv("srcdir");
  const char *path = textf("%s/%s", srcdir ? srcdir : ".", name);
  char *text = NULL;
  size_t size = 0;
  FILE *in = fopen(path, "r");
  if (!in) {
    fprintf(stderr, "can't open %s\n", path);
    CHECK(in != NULL);
    return calloc(1, 1);
  }
  FILE *out = open_memstream(&text, &size);
  for (int c = fgetc(in); c != EOF; c = fgetc(in))
    if (c != '\\') fputc(c, out);
  fclose(out);
  fclose(in);
  return text;
}

static char *load_help(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  mg_params_help(out);
  fclose(out);
  return text;
}

static bool is_name(char c) {
  return isalnum((unsigned char)c) || c == '-' || c == '_';
}

/* True if `word` appears in the text as a separate word. */
static bool mentions(const char *text, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
    if ((at == text || !is_name(at[-1])) && !is_name(at[length])) return true;
  return false;
}

static void check_mentioned(const char *where, const char *text, const char *word) {
  const bool found = mentions(text, word);
  if (!found) fprintf(stderr, "%s does not mention %s\n", where, word);
  CHECK(found);
}

/* The numbers of levels are words, and documents give their range. */
static bool is_number(const char *word) {
  return word[strspn(word, "0123456789")] == '\0';
}

static void check_document(const char *where, const char *text) {
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    if (option->where & MG_AS_OPTION) check_mentioned(where, text, textf("--%s", option->name));
    for (int j = 0; option->words && option->words[j]; j++)
      if (!is_number(option->words[j])) check_mentioned(where, text, option->words[j]);
  }
}

/* The man page gives the range of each number, except those without a limit in practice. */
static void check_ranges(const char *man) {
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    if (option->kind != MG_KIND_INT && option->kind != MG_KIND_INT64) continue;
    if (option->max < 1e15)
      check_mentioned("the man page", man, textf("%.0f to %.0f", option->min, option->max));
  }
}

static void check_help_layout(const char *help) {
  for (const char *line = help; *line;) {
    const size_t length = strcspn(line, "\n");
    CHECK(length <= 100);
    line += length + (line[length] == '\n');
  }
  for (int code = 0; code <= 5; code++)
    CHECK_CONTAINS(help, textf("%d  ", code));
}

int main(void) {
  char *help = load_help();
  char *man = load("docs/hpgmg-fv.1");
  char *completion = load("scripts/hpgmg-fv.bash");
  check_document("--help", help);
  check_document("the man page", man);
  check_document("the bash completion", completion);
  check_help_layout(help);
  check_ranges(man);
  check_mentioned("--help", help, "LOG2_BOX_DIM");
  check_mentioned("--help", help, "BOXES_PER_RANK");
  check_mentioned("the man page", man, "log2-box-dim");
  check_mentioned("the man page", man, "boxes-per-rank");
  free(help);
  free(man);
  free(completion);
  return TEST_RESULT();
}
