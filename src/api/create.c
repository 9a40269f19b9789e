/* Creation of a solver: options, plan, levels and boxes. */
#include "api/solver.h"
#include "base/alloc.h"
#include "comm/comm.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "device/thread_check.h"
#include "solver/cycle.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_faces(const hpgmg_options_t *o) {
  return o->faces[0] || o->faces[1] || o->faces[2];
}

static double length_of(const hpgmg_options_t *o, int d) {
  return o->faces[d][o->cells[d]] - o->faces[d][0];
}

/* On this rank. */
static mg_status_t check_faces(const hpgmg_options_t *o) {
  for (int d = 0; d < 3 && has_faces(o); d++) {
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
  }
  return MG_OK;
}

/* A command line: the grid, then the caller's words, which are separated in place. */
typedef struct {
  char cells[64], lengths[96], *words, **arg;
  int n;
} command_t;

static mg_status_t split_words(const hpgmg_options_t *o, command_t *c) {
  const char *const words = o->words ? o->words : "";
  const size_t length = strlen(words);
  if (length > INT_MAX / 2)
    return mg_error(MG_ERR_USAGE, "the words have %zu characters, limit %d", length, INT_MAX / 2);
  MG_TRY(mg_new(&c->words, (int64_t)length + 1, "words"));
  MG_TRY(mg_new(&c->arg, (int64_t)length / 2 + 5, "words"));
  memcpy(c->words, words, length + 1);
  c->arg[c->n++] = "hpgmg";
  if (o->cells[0] != 0 || o->cells[1] != 0 || o->cells[2] != 0) {
    snprintf(c->cells, sizeof c->cells, "--cells=%dx%dx%d", o->cells[0], o->cells[1], o->cells[2]);
    c->arg[c->n++] = c->cells;
  }
  if (has_faces(o)) {
    snprintf(c->lengths, sizeof c->lengths, "--lengths=%.17g,%.17g,%.17g", length_of(o, 0),
             length_of(o, 1), length_of(o, 2));
    c->arg[c->n++] = c->lengths;
  }
  char *rest = c->words;
  for (char *word; (word = strtok_r(rest, " \t\n", &rest));)
    c->arg[c->n++] = word;
  return MG_OK;
}

/* What all ranks find. */
static mg_status_t refuse(const char *why) {
  return mg_comm_is_root() ? mg_error(MG_ERR_USAGE, "%s", why) : MG_ERR_USAGE;
}

/* Options that have no meaning here. */
static mg_status_t check_words(const mg_params_t *p, mg_action_t action) {
  const struct {
    bool given;
    const char *option, *instead;
  } refused[] = {{action == MG_ACTION_HELP, "help", "hpgmg-fv --help"},
                 {action == MG_ACTION_VERSION, "version", "hpgmg_version"},
                 {p->print_config, "print-config", "hpgmg-fv"},
                 {p->ranks > 0, "ranks", "a communicator of as many"},
                 {p->official, "official", "hpgmg-fv"},
                 {p->energy == MG_YES, "energy", "hpgmg-fv"},
                 {p->levels_breakdown, "levels-breakdown", "hpgmg-fv"},
                 {p->coefficients[0], "coefficients", "hpgmg_set_coefficients"},
                 {p->rhs[0], "rhs", "hpgmg_solve"},
                 {p->restart[0], "restart", "hpgmg-fv"},
                 {p->input[0], "input", "the words themselves"},
                 {p->health[0], "health", "hpgmg-fv"},
                 {p->dump[0], "dump", "hpgmg-fv"},
                 {p->json[0], "json", "hpgmg_info_t"},
                 {p->csv[0], "csv", "hpgmg_info_t"}};
  for (size_t r = 0; r < sizeof refused / sizeof *refused; r++)
    if (refused[r].given && mg_comm_is_root())
      return mg_error(MG_ERR_USAGE, "--%s is an option of the program only; use %s",
                      refused[r].option, refused[r].instead);
    else if (refused[r].given)
      return MG_ERR_USAGE;
  return MG_OK;
}

/* Robin's conditions and stretched axes make alpha vary too (params_check.c). */
static mg_status_t take_alpha(hpgmg_solver_t *s, bool given) {
  double any[2] = {given, !given};
  MG_TRY(mg_comm_max(mg_comm_world(), any, 2));
  const bool poisson = s->params.equation != MG_EQUATION_HELMHOLTZ, differ = any[0] + any[1] > 1.5;
  s->has_alpha = given;
  s->params.has_arrays = true;
  s->params.alpha_varies = s->params.alpha_varies || given;
  if (!differ && !(given && poisson)) return MG_OK;
  return refuse(differ ? "varying_alpha differs between ranks"
                       : "a varying alpha needs the word --equation=helmholtz");
}

static mg_status_t parse(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  command_t command = {.n = 0};
  mg_action_t action = MG_ACTION_RUN;
  mg_status_t status = mg_comm_agree(check_faces(o));
  if (status == MG_OK) status = mg_comm_agree(split_words(o, &command));
  if (status == MG_OK)
    status = mg_params_parse_on_ranks(command.n, command.arg, NULL, &s->params, &action);
  free(command.words), free(command.arg);
  MG_TRY(status);
  MG_TRY(check_words(&s->params, action));
  s->messages.level = MG_LOG_NORMAL;
  return take_alpha(s, o->varying_alpha != 0);
}

/* The axes of rank 0. An axis with cells of the same width is not stretched. */
static mg_status_t copy_faces(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  for (int d = 0; d < 3; d++) {
    const int32_t n = s->params.cells[d];
    double **const face = &s->axes.face[d];
    MG_TRY(mg_comm_agree(mg_new(face, (int64_t)n + 1, "positions of faces")));
    memcpy(*face, o->faces[d], ((size_t)n + 1) * sizeof **face);
    MG_TRY(mg_comm_broadcast(mg_comm_world(), *face, ((size_t)n + 1) * sizeof **face));
    if (!mg_axis_is_even(*face, n)) continue;
    free(*face);
    *face = NULL;
  }
  return MG_OK;
}

static mg_status_t take_faces(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  const mg_params_t *p = &s->params;
  double any[3] = {has_faces(o), !has_faces(o), 0.0};
  for (int d = 0; d < 3 && has_faces(o); d++)
    if (p->stretch[d] > 0.0 || p->spacing[d] > 0.0 || p->length[d] != length_of(o, d) ||
        p->cells[d] != o->cells[d])
      any[2] = 1.0;
  MG_TRY(mg_comm_max(mg_comm_world(), any, 3));
  if (any[0] + any[1] > 1.5) return refuse("some ranks give faces and others none");
  if (any[2] > 0.0)
    return refuse("faces are given; drop the words --lengths, --spacing, --stretch and --cells");
  return has_faces(o) ? copy_faces(s, o) : MG_OK;
}

static mg_status_t open_device(hpgmg_solver_t *s) {
  if (s->params.dry_run) return mg_device_resolve(&s->params);
  MG_TRY(mg_device_choose(&s->params));
  s->holds_device = s->params.device == MG_DEVICE_CUDA || s->params.device == MG_DEVICE_CUDA_SIMPLE;
  return MG_OK;
}

static mg_status_t plan(hpgmg_solver_t *s) {
  char message[MG_API_MESSAGE] = "";
  const mg_status_t status =
      mg_plan_build(&s->params, mg_comm_size(mg_comm_world()), &s->plan, message, sizeof message);
  if (status == MG_OK || !mg_comm_is_root()) return status;
  return mg_error(status, "%s", message);
}

static mg_status_t create_boxes(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  const int32_t *n = s->plan.level[0].layout.n;
  const hpgmg_box_t whole = {{0, 0, 0}, {n[0], n[1], n[2]}};
  const bool alone = mg_comm_size(mg_comm_world()) == 1 && o->n_boxes == 0;
  s->n_boxes = alone ? 1 : o->n_boxes;
  const bool bad = o->n_boxes < 0 || (o->n_boxes > 0 && !o->boxes);
  MG_TRY(mg_comm_agree(
      bad ? mg_error(MG_ERR_USAGE,
                     "n_boxes is %d, but boxes is %s; n_boxes must be at least 0, and "
                     "boxes have as many",
                     o->n_boxes, o->boxes ? "given" : "NULL")
          : MG_OK));
  return mg_boxes_create(&s->h->level[0], alone ? &whole : o->boxes, alone ? 1 : o->n_boxes,
                         &s->boxes);
}

static mg_status_t check_cycles(const hpgmg_options_t *o, const mg_params_t *p) {
  if (o->cycles < 0 || o->cycles >= MG_MAX_CYCLES)
    return mg_error(MG_ERR_USAGE, "cycles is %d; it must be from 0 to %d", o->cycles,
                    MG_MAX_CYCLES - 1);
  if (o->cycles > 0 && p->krylov == MG_KRYLOV_CG)
    return mg_error(MG_ERR_USAGE, "cycles is %d, but --krylov=cg; give --rtol instead of cycles",
                    o->cycles);
  if (o->guess && o->cycles == 0 && p->rtol == 0.0)
    return mg_error(MG_ERR_USAGE, "a guess needs --rtol or cycles");
  return MG_OK;
}

/* The guess counts as a cycle, which is not one of --max-cycles. The levels are planned for further
 * cycles after the first one if there is a tolerance. */
static mg_status_t take_cycles(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  const bool guess = o->guess != 0;
  double differ[4] = {guess, !guess, o->cycles, -o->cycles};
  MG_TRY(mg_comm_agree(check_cycles(o, &s->params)));
  MG_TRY(mg_comm_max(mg_comm_world(), differ, 4));
  if (differ[0] + differ[1] > 1.5) return refuse("guess differs between ranks");
  if (differ[2] + differ[3] > 0.5) return refuse("cycles differs between ranks");
  s->has_guess = guess;
  s->cycles = o->cycles;
  if (guess && s->params.max_cycles < MG_MAX_CYCLES) s->params.max_cycles++;
  if (s->params.rtol == 0.0 && (guess || o->cycles > 1)) s->params.rtol = 1e-8;
  return MG_OK;
}

/* Memory that the caller allocates need not be free. */
static mg_status_t check_memory(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  MG_TRY(mg_comm_agree(!o->allocate == !o->release
                           ? MG_OK
                           : mg_error(MG_ERR_USAGE, "options.%s is NULL, but options.%s is not",
                                      o->allocate ? "release" : "allocate",
                                      o->allocate ? "allocate" : "release")));
  double given[2] = {o->allocate != NULL, o->allocate == NULL};
  MG_TRY(mg_comm_max(mg_comm_world(), given, 2));
  if (given[0] + given[1] > 1.5) return refuse("some ranks have options.allocate and others not");
  s->allocator = (mg_allocator_t){o->allocate, o->release, o->memory_data};
  if (o->allocate) return MG_OK;
  const mg_status_t fits = mg_memory_check(&s->params);
  s->agreed = fits == MG_ERR_MEMORY;
  return fits;
}

static mg_status_t find_own_boxes(hpgmg_solver_t *s) {
  free(s->own);
  s->own = NULL;
  return mg_comm_agree(mg_layout_patches(&s->plan.level[0].layout, mg_comm_rank(mg_comm_world()),
                                         &s->own, &s->n_own));
}

static mg_status_t create_levels(hpgmg_solver_t *s) {
  const mg_allocator_t *const before =
      mg_allocator_enter(s->allocator.allocate ? &s->allocator : NULL);
  mg_status_t status = mg_placement_choose(&s->params, &s->plan, &s->placement);
  if (status == MG_OK) status = mg_hierarchy_create(&s->params, &s->plan, &s->h);
  (void)mg_allocator_enter(before);
  return status;
}

mg_status_t mg_api_build(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  MG_TRY(mg_thread_check());
  MG_TRY(parse(s, o));
  MG_TRY(take_cycles(s, o));
  MG_TRY(take_faces(s, o));
  MG_TRY(mg_comm_agree(mg_axes_set(&s->axes, &s->params)));
  MG_TRY(open_device(s));
  MG_TRY(plan(s));
  MG_TRY(find_own_boxes(s));
  if (s->params.dry_run)
    return mg_comm_agree(mg_memory_planned(&s->plan, &s->planned[0], &s->planned[1]));
  MG_TRY(check_memory(s, o));
  MG_TRY(create_levels(s));
  MG_TRY(find_own_boxes(s)); /* the ranks of the finest level may have been measured */
  MG_TRY(create_boxes(s, o));
  MG_TRY(mg_api_create_coefficients(s));
  s->stream = o->stream;
  s->usable = true;
  return MG_OK;
}
