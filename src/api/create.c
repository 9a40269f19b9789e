/* Creation of a solver: options, plan, levels and boxes. */
#include "api/solver.h"
#include "base/alloc.h"
#include "comm/comm.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "device/thread_check.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "solver/method.h"
#include "solver/solids.h"
#include "wings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Robin's conditions and stretched axes make alpha vary too (params_check.c). */
static mg_status_t take_alpha(hpgmg_solver_t *s, bool given) {
  double any[2] = {given, !given};
  MG_TRY(mg_comm_max(mg_comm_world(), any, 2));
  const bool poisson = s->params.equation != MG_EQUATION_HELMHOLTZ, differ = any[0] + any[1] > 1.5;
  s->has_alpha = given;
  s->params.has_arrays = true;
  s->params.alpha_varies = s->params.alpha_varies || given;
  if (!differ && !(given && poisson)) return MG_OK;
  return mg_root_error(MG_ERR_USAGE,
                       differ ? "varying_alpha differs between ranks"
                              : "options.varying_alpha needs the word --equation=helmholtz");
}

/* All ranks have the same positions, to the bit. */
static mg_status_t compare_faces(const hpgmg_options_t *o, int d, const double *of_root,
                                 int32_t n) {
  for (int32_t i = 0; i <= n; i++)
    if (o->faces[d][i] != of_root[i])
      return mg_error(MG_ERR_USAGE,
                      "options.faces[%d][%d] is %.17g on rank %d, but %.17g on rank 0; all ranks "
                      "give the same positions",
                      d, i, o->faces[d][i], mg_comm_rank(mg_comm_world()), of_root[i]);
  return MG_OK;
}

/* An axis with cells of the same width is not stretched. */
static mg_status_t copy_faces(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  for (int d = 0; d < 3; d++) {
    const int32_t n = s->params.cells[d];
    double **const face = &s->axes.face[d];
    MG_TRY(mg_comm_agree(mg_new(face, (int64_t)n + 1, "positions of faces")));
    memcpy(*face, o->faces[d], ((size_t)n + 1) * sizeof **face);
    MG_TRY(mg_comm_broadcast(mg_comm_world(), *face, ((size_t)n + 1) * sizeof **face));
    MG_TRY(mg_comm_agree(compare_faces(o, d, *face, n)));
    s->params.length[d] = (*face)[n] - (*face)[0];
    if (!mg_axis_is_even(*face, n)) continue;
    free(*face);
    *face = NULL;
  }
  return MG_OK;
}

static mg_status_t open_device(hpgmg_solver_t *s) {
  if (s->params.dry_run) return mg_device_resolve(&s->params);
  MG_TRY(mg_device_choose(&s->params));
  s->holds_device = mg_params_uses_gpu(&s->params);
  return MG_OK;
}

static mg_status_t plan(hpgmg_solver_t *s) {
  char message[MG_API_MESSAGE] = "";
  const mg_status_t status =
      mg_plan_build(&s->params, mg_comm_size(mg_comm_world()), &s->plan, message, sizeof message);
  return status == MG_OK ? MG_OK : mg_root_error(status, "%s", message);
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
  if (o->cycles > 0 && p->krylov != MG_KRYLOV_NONE)
    return mg_error(MG_ERR_USAGE, "cycles is %d, but --krylov=%s; give --rtol instead of cycles",
                    o->cycles, mg_krylov_name(p->krylov));
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
  if (differ[0] + differ[1] > 1.5)
    return mg_root_error(MG_ERR_USAGE, "guess differs between ranks");
  if (differ[2] + differ[3] > 0.5)
    return mg_root_error(MG_ERR_USAGE, "cycles differs between ranks");
  s->has_guess = guess;
  s->cycles = o->cycles;
  s->params.chooses.krylov = s->params.chooses.krylov && o->cycles == 0;
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
  if (given[0] + given[1] > 1.5)
    return mg_root_error(MG_ERR_USAGE, "some ranks have options.allocate and others not");
  if (o->allocate && s->params.memory == MG_MEMORY_UNIFIED)
    return mg_root_error(MG_ERR_USAGE,
                         "options.allocate cannot be combined with --memory=unified; remove one");
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
  mg_status_t status = MG_OK;
  MG_IF_CHOICES(status = mg_placement_choose(&s->params, &s->plan, &s->placement));
  if (status == MG_OK) status = mg_hierarchy_create(&s->params, &s->plan, NULL, &s->h);
  (void)mg_allocator_enter(before);
  return status;
}

/* In mixed precision, coefficients that are out of float's range must not replace others. */
static mg_status_t set_limits(hpgmg_solver_t *s) {
  for (int f = 0; f < MG_API_CELL_BETA; f++) {
    mg_range_t *const limit = &s->limit[f], of_float = {0.0, INFINITY, true};
    MG_IF_MIXED(const mg_vector_t vec = f == MG_API_ALPHA ? MG_ALPHA : MG_BETA_I + (mg_vector_t)f;
                if (s->h->low) MG_TRY(mg_comm_agree(mg_mixed_range(s->h, vec, &of_float))));
    *limit = (mg_range_t){fmax(MG_MIN_VALUE, of_float.least), fmin(MG_MAX_VALUE, of_float.most),
                          f == MG_API_ALPHA || mg_may_close_faces(&s->params)};
  }
  MG_IF_MIXED(if (s->h->low) return mg_mixed_check_widths(s->h));
  return MG_OK;
}

mg_status_t mg_api_build(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  MG_TRY(mg_thread_check());
  MG_TRY(mg_api_parse(s, o));
  MG_TRY(take_alpha(s, o->varying_alpha != 0));
  MG_TRY(take_cycles(s, o));
  if (o->faces[0]) MG_TRY(copy_faces(s, o));
  MG_TRY(mg_comm_agree(mg_axes_set(&s->axes, &s->params)));
  MG_TRY(open_device(s));
  MG_IF_CHOICES(mg_method_begin(&s->params));
  mg_api_note_method(s, &s->params);
  MG_TRY(plan(s));
  MG_TRY(find_own_boxes(s));
  if (s->params.dry_run)
    return mg_comm_agree(
        mg_memory_planned(&s->plan, mg_comm_rank(mg_comm_world()), &s->planned[0], &s->planned[1]));
  MG_TRY(check_memory(s, o));
  MG_TRY(create_levels(s));
  MG_TRY(set_limits(s));
  MG_TRY(find_own_boxes(s)); /* the ranks of the finest level may have been measured */
  MG_TRY(create_boxes(s, o));
  MG_TRY(mg_api_create_coefficients(s));
  s->stream = o->stream;
  s->usable = true;
  return MG_OK;
}
