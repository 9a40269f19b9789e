/* --print-config, generated from the option table. */
#include "params/params_files.h"
#include "params/params_print.h"
#include "params/params_value.h"
#include <string.h>

/* Can a deck hold this path? Comments, blanks at its ends and long lines prevent it. */
static bool fits_in_deck(const mg_option_t *option, const char *value) {
  const size_t length = strlen(value);
  if (option->kind != MG_KIND_PATH && option->kind != MG_KIND_PAIRS) return true;
  if (strlen(option->name) + 3 + length > MG_DECK_LINE_MAX) return false;
  if (value[0] == ' ' || value[0] == '#' || value[0] == ';' || value[length - 1] == ' ')
    return false;
  return !strstr(value, " #") && !strstr(value, " ;");
}

/* Whether --method=auto decides an option. */
static bool is_chosen(const mg_option_t *option, const mg_params_t *params) {
  const int id = (int)(option - mg_options);
  if (id >= MG_OPT_SMOOTHER && id <= MG_OPT_OMEGA) return params->chooses.smoother;
  return (id == MG_OPT_BOTTOM && params->chooses.bottom) ||
         (id == MG_OPT_CYCLE && params->chooses.cycle) ||
         (id == MG_OPT_KRYLOV && params->chooses.krylov);
}

/* Print a key and its value, commented out if it is unset, has no effect or is yet to be chosen. */
static void print_key(FILE *out, const mg_option_t *option, const mg_params_t *params) {
  char text[1024], value[MG_PATH_MAX];
  const bool is_set = mg_option_format(option, params, value, (int)sizeof value);
  const bool fits = !is_set || fits_in_deck(option, value);
  const bool applies = mg_option_applies(option, params) && !is_chosen(option, params);

  mg_option_explain(option, true, text, sizeof text);
  fputc('\n', out);
  mg_print_wrapped(out, "# ", text);
  if (!fits) fputs("# (a deck cannot store this value; pass it on the command line)\n", out);
  fprintf(out, "%s%s = ", is_set && fits && applies ? "" : "# ", option->name);
  /* Without rtol the value is 1, which would be wrong once the user adds rtol. */
  if (option == &mg_options[MG_OPT_MAX_CYCLES] && !applies)
    fputs(option->note, out);
  else if (is_set)
    fputs(value, out);
  else
    mg_option_print_value_name(out, option);
  fputc('\n', out);
}

void mg_params_print(FILE *out, const mg_params_t *params) {
  fputs("# Deck of hpgmg-fv: run with --input=FILE. Command-line options override it.\n", out);
  for (int group = 0; group < MG_GROUP_HELP; group++) {
    fprintf(out, "\n[%s]\n", mg_deck_sections[group]);
    for (int i = 0; i < MG_N_OPTIONS; i++) {
      const mg_option_t *option = &mg_options[i];
      if ((int)option->group == group && option->where & MG_IN_DECK) print_key(out, option, params);
    }
  }
}
