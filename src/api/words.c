/* The options of a solver: words, and members that say the same must agree. */
#include "api/solver.h"
#include "comm/comm.h"
#include "params/params_table.h"
#include "params/params_value.h"
#include "wings.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A command line: the grid, then the caller's words, which are separated in place. */
typedef struct {
  char cells[64], *words, **arg;
  int n;
  bool has_cycle, has_max_cycles; /* the words have these options */
} command_t;

/* Options of the program. A name stands for all that begin with it and a dash, too. */
static const struct {
  const char *option, *instead;
} programs[] = {{"help", "hpgmg-fv --help"},
                {"version", "hpgmg_version"},
                {"print-config", "hpgmg-fv"},
                {"ranks", "a communicator of as many"},
                {"official", "hpgmg-fv"},
                {"warmup", "hpgmg-fv"},
                {"min", "hpgmg-fv"},
                {"verify-only", "hpgmg-fv"},
                {"energy", "hpgmg-fv"},
                {"levels-breakdown", "hpgmg-fv"},
                {"coefficients", "hpgmg_set_coefficients"},
                {"rhs", "hpgmg_solve"},
                {"restart", "options.guess"},
                {"input", "the words themselves"},
                {"dump", "hpgmg-fv"},
                {"json", "hpgmg_info_t"},
                {"csv", "hpgmg_info_t"}};

/* Whether a word is --NAME, or --NAME=VALUE; with `family`, --NAME-MORE too. */
static bool names(const char *word, const char *name, bool family) {
  const size_t n = strlen(name);
  if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, n) != 0) return false;
  return word[2 + n] == '\0' || word[2 + n] == '=' || (family && word[2 + n] == '-');
}

static mg_status_t check_word(const hpgmg_options_t *o, const char *word) {
  static const char *const of_faces[] = {"lengths", "spacing", "stretch"};
  for (size_t r = 0; r < sizeof programs / sizeof *programs; r++)
    if (names(word, programs[r].option, true))
      return mg_error(MG_ERR_USAGE, "%.*s is an option of the program only; use %s",
                      (int)strcspn(word, "="), word, programs[r].instead);
  for (size_t r = 0; r < sizeof of_faces / sizeof *of_faces; r++)
    if (o->faces[0] && names(word, of_faces[r], false))
      return mg_error(MG_ERR_USAGE, "options.faces are given; remove %.60s from the words", word);
  return MG_OK;
}

static bool has_cells(const hpgmg_options_t *o) {
  return o->cells[0] != 0 || o->cells[1] != 0 || o->cells[2] != 0;
}

static mg_status_t split_words(hpgmg_solver_t *s, const hpgmg_options_t *o, command_t *c) {
  const char *const words = o->words ? o->words : "";
  const size_t length = strlen(words);
  if (length > INT_MAX / 2)
    return mg_error(MG_ERR_USAGE, "the words have %zu characters, limit %d", length, INT_MAX / 2);
  MG_TRY(mg_new(&c->words, (int64_t)length + 1, "words"));
  MG_TRY(mg_new(&c->arg, (int64_t)length / 2 + 5, "words"));
  memcpy(c->words, words, length + 1);
  c->arg[c->n++] = "hpgmg";
  MG_IF_CHOICES(c->arg[c->n++] = "--method=auto"); /* unless the words have another one */
  if (has_cells(o)) {
    snprintf(c->cells, sizeof c->cells, "--cells=%dx%dx%d", o->cells[0], o->cells[1], o->cells[2]);
    c->arg[c->n++] = c->cells;
  }
  char *rest = c->words;
  for (char *word; (word = strtok_r(rest, " \t\n", &rest));) {
    MG_TRY(check_word(o, word));
    s->cells_are_words = s->cells_are_words || names(word, "cells", false);
    c->has_cycle = c->has_cycle || names(word, "cycle", false);
    c->has_max_cycles = c->has_max_cycles || names(word, "max-cycles", false);
    c->arg[c->n++] = word;
  }
  return MG_OK;
}

/* On this rank. */
static mg_status_t check_faces(const hpgmg_options_t *o) {
  for (int d = 0; d < 3; d++) {
    if (!o->faces[d])
      return mg_error(MG_ERR_USAGE, "faces[%d] is NULL; give all three, or none", d);
    if (o->cells[d] < 1)
      return mg_error(MG_ERR_USAGE, "faces need the size of the grid in cells, which has %d",
                      o->cells[d]);
    const int64_t at = mg_axis_fault(o->faces[d], o->cells[d]);
    if (at >= 0)
      return mg_error(MG_ERR_USAGE,
                      "faces[%d][%lld] is %g; positions must be finite, and above the one before",
                      d, (long long)at, o->faces[d][at]);
    const double length = o->faces[d][o->cells[d]] - o->faces[d][0];
    if (!(length >= 1e-100 && length <= 1e100))
      return mg_error(MG_ERR_USAGE, "faces[%d] span %g; the length must be from 1e-100 to 1e100", d,
                      length);
  }
  return MG_OK;
}

/* Some ranks may have faces, and others none. */
static mg_status_t agree_on_faces(const hpgmg_options_t *o) {
  const bool has = o->faces[0] || o->faces[1] || o->faces[2];
  double any[2] = {has, !has};
  MG_TRY(mg_comm_max(mg_comm_world(), any, 2));
  if (any[0] + any[1] > 1.5)
    return mg_root_error(MG_ERR_USAGE, "some ranks give faces and others none");
  return mg_comm_agree(has ? check_faces(o) : MG_OK);
}

/* The words come after the members, so the parser lets them win. */
static mg_status_t compare(const hpgmg_options_t *o, const mg_params_t *p, const command_t *c) {
  if (has_cells(o) && memcmp(o->cells, p->cells, sizeof p->cells) != 0)
    return mg_error(MG_ERR_USAGE,
                    "options.cells is %dx%dx%d, but the words have --cells=%dx%dx%d; remove one of "
                    "them",
                    o->cells[0], o->cells[1], o->cells[2], p->cells[0], p->cells[1], p->cells[2]);
  if (c->has_max_cycles && o->cycles > p->max_cycles)
    return mg_error(MG_ERR_USAGE,
                    "options.cycles is %d, but the words have --max-cycles=%d; remove one of them",
                    o->cycles, p->max_cycles);
  if (c->has_cycle && o->guess && p->cycle == MG_CYCLE_F)
    return mg_error(MG_ERR_USAGE, "options.guess needs V-cycles, but the words have --cycle=f; "
                                  "remove one of them");
  return MG_OK;
}

mg_status_t mg_api_parse(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  command_t command = {.n = 0};
  mg_action_t action = MG_ACTION_RUN;
  MG_TRY(agree_on_faces(o));
  mg_status_t status = mg_comm_agree(split_words(s, o, &command));
  if (status == MG_OK)
    status = mg_params_parse_on_ranks(command.n, command.arg, NULL, &s->params, &action);
  free(command.words), free(command.arg);
  MG_TRY(status);
  if (action != MG_ACTION_RUN)
    return mg_root_error(MG_ERR_USAGE,
                         "-h and -V are options of the program only; use hpgmg_version");
  s->messages.level = (mg_log_level_t)s->params.verbosity;
  return mg_comm_agree(compare(o, &s->params, &command));
}

void mg_api_note_method(hpgmg_solver_t *s, const mg_params_t *params) {
  static const mg_option_id_t words[] = {MG_OPT_SMOOTHER, MG_OPT_SMOOTHS, MG_OPT_DEGREE,
                                         MG_OPT_BOTTOM,   MG_OPT_CYCLE,   MG_OPT_KRYLOV};
  char value[MG_PATH_MAX];
  size_t n = 0;
  for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
    const mg_option_t *option = &mg_options[words[w]];
    if (!mg_option_applies(option, params) ||
        !mg_option_format(option, params, value, (int)sizeof value))
      continue;
    n += (size_t)snprintf(s->method + n, sizeof s->method - n, "%s--%s=%.24s", n > 0 ? " " : "",
                          option->name, value);
  }
  if (params->reason[0] != '\0')
    (void)snprintf(s->method + n, sizeof s->method - n, "; %s", params->reason);
}
