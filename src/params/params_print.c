/* --help, generated from the option table. */
#include "params/params_print.h"
#include "base/log.h"
#include "params/params_value.h"
#include <string.h>

enum { COLUMNS = 88 };

void mg_print_wrapped(FILE *out, const char *prefix, const char *text) {
  int column = 0;
  while (*text) {
    const int length = (int)strcspn(text, " ");
    const bool new_line = column == 0 || column + 1 + length > COLUMNS;
    if (new_line && column > 0) fputc('\n', out);
    if (new_line)
      column = (int)strlen(prefix);
    else
      column++;
    fprintf(out, "%s%.*s", new_line ? prefix : " ", length, text);
    column += length;
    text += length;
    text += strspn(text, " ");
  }
  fputc('\n', out);
}

void mg_option_explain(const mg_option_t *option, bool words, char *text, int size) {
  char limits[256];
  const bool is_number = option->kind == MG_KIND_INT || option->kind == MG_KIND_INT64 ||
                         option->kind == MG_KIND_DOUBLE || option->kind == MG_KIND_CELLS ||
                         option->kind == MG_KIND_REALS || option->kind == MG_KIND_STRETCH;
  const bool is_flag = option->kind == MG_KIND_FLAG || option->kind == MG_KIND_VERBOSITY;
  const char *value = option->note ? option->note : is_flag ? NULL : option->value;
  const char *separator = " [";

  mg_option_describe_limits(option, limits, (int)sizeof limits);
  snprintf(text, (size_t)size, "%s", option->help);
  if (is_number || (words && option->words)) {
    mg_append(text, size, "%s%s", separator, limits);
    separator = "; ";
  }
  if (option->condition) {
    mg_append(text, size, "%s%s", separator, option->condition);
    separator = "; ";
  }
  if (value) {
    mg_append(text, size, "%sdefault: %s", separator, value);
    separator = "; ";
  }
  if (separator[0] == ';') mg_append(text, size, "]");
}

void mg_option_print_value_name(FILE *out, const mg_option_t *option) {
  if (option->metavar) fputs(option->metavar, out);
  if (option->kind == MG_KIND_SET) {
    fprintf(out, "%s", option->metavar ? "|all" : "all");
    for (int i = 0; !option->metavar && option->words[i]; i++)
      fprintf(out, "%s%s", i > 0 ? "," : "|", option->words[i]);
    return;
  }
  for (int i = 0; option->words && option->words[i]; i++)
    fprintf(out, "%s%s", i > 0 || option->metavar ? "|" : "", option->words[i]);
}

void mg_option_help(FILE *out, const mg_option_t *option) {
  char text[1024];
  fputs("  ", out);
  if (option->letter) fprintf(out, "-%c, ", option->letter);
  if (!(option->where & MG_AS_ARGUMENT)) {
    fprintf(out, "--%s", option->name);
    if (option->metavar || option->words) fputs(option->bare ? "[=" : "=", out);
  }
  mg_option_print_value_name(out, option);
  fputs(option->bare ? "]\n" : "\n", out);
  mg_option_explain(option, false, text, sizeof text);
  mg_print_wrapped(out, "      ", text);
}

static void help_epilogue(FILE *out) {
  fputs("\nFlags also accept =yes and =no: --official=no overrides a deck. If an option is "
        "repeated,\n"
        "the last one counts. The command line overrides the deck.\n"
        "\nExit status:\n"
        "  0  solved and verified          3  file could not be read or written\n"
        "  1  verification failed          4  out of memory, or device unavailable\n"
        "  2  bad option, deck or size     5  internal error\n"
        "\nExamples:\n"
        "  mpirun -n 2 hpgmg-fv 7 8                    2 ranks with 8 boxes of 128^3 cells each\n"
        "  hpgmg-fv --official --operator=fv4 7 8      by the rules of HPGMG's list\n"
        "  hpgmg-fv --operator=fv4 --rtol=1e-10 6 1    iterate to a tolerance\n"
        "  hpgmg-fv --dry-run --ranks=1000000 7 8      plan levels and memory of a large run\n"
        "  hpgmg-fv --print-config 6 8 > my.ini        write a deck to edit\n"
        "  mpirun -n 2 hpgmg-fv --input=my.ini         run the deck\n",
        out);
}

void mg_params_help(FILE *out) {
  static const char *const titles[MG_N_GROUPS] = {"Problem", "Solver", "Run", "Output", "Help"};
  fputs("Usage: mpirun -n RANKS hpgmg-fv [OPTION]... LOG2_BOX_DIM BOXES_PER_RANK\n"
        "       mpirun -n RANKS hpgmg-fv [OPTION]... --cells=NXxNYxNZ\n"
        "Solve a u - b div(beta grad u) = f on the unit cube by geometric multigrid, verify the\n"
        "solution, and report the performance in degrees of freedom (cells) per second.\n",
        out);
  for (int group = 0; group < MG_N_GROUPS; group++) {
    fprintf(out, "\n%s:\n", titles[group]);
    for (int i = 0; i < MG_N_OPTIONS; i++)
      if ((int)mg_options[i].group == group) mg_option_help(out, &mg_options[i]);
  }
  help_epilogue(out);
}
