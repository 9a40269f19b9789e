/* hpgmg_solve: to a tolerance, or a number of cycles, which may only be enqueued. */
#include "solver/solve.h"
#include "api/solver.h"
#include "backend/sweeps.h"
#include "base/alloc.h"
#include "comm/comm.h"
#include "level/ops.h"
#include "solver/reference.h"
#include "solver/solids.h"
#include "wings.h"
#include <math.h>
#include <stdlib.h>

static hpgmg_reason_t reason_of(const hpgmg_solver_t *s, mg_status_t status,
                                const mg_history_t *history, double relative) {
  return status == MG_ERR_DIVERGED                ? HPGMG_DIVERGED
         : s->cycles > 0 || s->params.rtol == 0.0 ? HPGMG_CYCLES_DONE
         : relative <= s->params.rtol             ? HPGMG_CONVERGED
         : history->stagnated                     ? HPGMG_STAGNATED
                                                  : HPGMG_MAX_CYCLES;
}

/* Whether f or u is in the solver's own memory on any rank, where conditions and factors change it.
 */
static bool has_storage(const hpgmg_solver_t *s, const hpgmg_array_t *array, mg_vector_t vec) {
  double any = 0.0;
  for (int box = 0; box < s->n_boxes; box++)
    if (array[box].data && array[box].data == mg_boxes_storage(s->boxes, box, vec).data) any = 1.0;
  return mg_comm_max(mg_comm_world(), &any, 1) == MG_OK && any > 0.0;
}

/* Values of f that are not allowed show in its norm. So only a suspicious norm makes it worth to
 * read f again. CG divides by squares of small values. */
static mg_status_t check_f(const hpgmg_solver_t *s, const hpgmg_array_t *f, double f_norm) {
  if (f_norm > 0.0 && f_norm < MG_MIN_VALUE)
    return mg_root_error(MG_ERR_USAGE, "max|f| is %g; it must be 0 or from 1e-60", f_norm);
  if (f_norm < 1e-10 * MG_MAX_VALUE) return MG_OK;
  if (!has_storage(s, f, MG_F)) return mg_api_check_values(s, MG_API_F, f);
  if (isfinite(f_norm)) return MG_OK;
  return mg_root_error(MG_ERR_USAGE, "f has a value that is not finite");
}

/* Host memory for the cells of this rank's boxes. */
static mg_status_t allocate_cells(const hpgmg_solver_t *s, hpgmg_array_t **array, double **values) {
  const int n = mg_boxes_count(s->boxes);
  int64_t cells = 0;
  for (int box = 0; box < n; box++)
    cells += mg_volume(mg_boxes_part(s->boxes, box, MG_CELLS).n);
  MG_TRY(mg_new(array, n, "boxes"));
  MG_TRY(mg_new(values, cells, "the guess"));
  cells = 0;
  for (int box = 0; box < n; box++) {
    const mg_cuboid_t part = mg_boxes_part(s->boxes, box, MG_CELLS);
    (*array)[box] = (hpgmg_array_t){
        *values + cells, {1, part.n[0], (ptrdiff_t)part.n[0] * part.n[1]}, {0, 0, 0}};
    cells += mg_volume(part.n);
  }
  return MG_OK;
}

/* mg_reference_set with a copy of MG_U in host memory: the level has no other vector. */
static mg_status_t set_reference_by_host(hpgmg_solver_t *s) {
  hpgmg_array_t *array = NULL;
  double *values = NULL;
  mg_status_t status = mg_comm_agree(allocate_cells(s, &array, &values));
  if (status == MG_OK) status = mg_boxes_fetch(s->boxes, MG_U, array);
  if (status == MG_OK) status = mg_reference_set(s->h);
  if (status == MG_OK) status = mg_boxes_store(s->boxes, array, MG_CELLS, MG_U);
  free(values);
  free(array);
  return status;
}

/* mg_reference_set overwrites MG_U, which may be the caller's guess. */
static mg_status_t set_reference(hpgmg_solver_t *s, const hpgmg_array_t *u) {
  mg_level_t *level = &s->h->level[0];
  if (!mg_reference_needs_u(s->h) || !s->has_guess || !has_storage(s, u, MG_U))
    return mg_reference_set(s->h);
  if (!(level->plan->vectors & 1u << MG_TMP) || !level->backend->fused ||
      !level->backend->fused->residual_norm)
    return set_reference_by_host(s);
  MG_TRY(mg_axpby(level, MG_TMP, 1.0, MG_U, 0.0, MG_NO_VECTOR));
  MG_TRY(mg_reference_set(s->h));
  return mg_axpby(level, MG_U, 1.0, MG_TMP, 0.0, MG_NO_VECTOR);
}

static mg_status_t residual_norm(hpgmg_solver_t *s, double *norm) {
  MG_TRY(mg_residual_norm(&s->h->level[0], MG_U, MG_F, norm));
  return mg_comm_max(mg_comm_world(), norm, 1);
}

static void record(const hpgmg_solver_t *s, mg_history_t *history, double norm, double f_norm) {
  history->norm[history->n_cycles] = norm;
  history->rel[history->n_cycles++] = mg_relative_norm(s->h, 0, norm, f_norm);
}

/* Make the caller's u the first iterate. */
static mg_status_t load_guess(hpgmg_solver_t *s, const hpgmg_array_t *u) {
  s->h->residual_level = -1;
  MG_TRY(mg_boxes_store(s->boxes, u, MG_CELLS, MG_U));
  MG_IF_SOLIDS(if (s->h->params.closes_cells) MG_TRY(mg_solids_clear(s->h, MG_U)));
  return mg_set_mean(&s->h->level[0], MG_U, s->params.mean);
}

/* Cycles that start from the caller's u. */
static mg_status_t solve_from_guess(hpgmg_solver_t *s, double f_norm, mg_history_t *history) {
  double norm;
  MG_TRY(residual_norm(s, &norm));
  record(s, history, norm, f_norm);
  return mg_solve_continue(s->h, 0, f_norm, NULL, history);
}

static mg_cycle_kind_t kind_of(const hpgmg_solver_t *s, int cycle) {
  return mg_plain_cycle_kind(s->has_guess ? 1 : cycle);
}

/* @param[out] norm  after the last one; NULL: operations only enqueue */
static mg_status_t run_cycles(hpgmg_solver_t *s, double *norm) {
  for (int c = 0; c < s->cycles; c++)
    MG_TRY(mg_cycle_run(s->h, 0, kind_of(s, c), c + 1 < s->cycles ? NULL : norm, NULL));
  return MG_OK;
}

static mg_status_t solve_by_number(hpgmg_solver_t *s, double f_norm, mg_history_t *history) {
  double norm;
  MG_TRY(run_cycles(s, &norm));
  MG_TRY(mg_comm_max(mg_comm_world(), &norm, 1));
  MG_IF_SOLIDS(MG_TRY(mg_solids_finish(s->h)));
  history->n_cycles = s->cycles - 1 + s->has_guess;
  record(s, history, norm, f_norm);
  if (isfinite(norm)) return MG_OK;
  return mg_root_error(MG_ERR_DIVERGED, "max|f-Au| is %g after %d cycles", norm, s->cycles);
}

/* The caller's u of cells outside of the problem. */
static mg_status_t take_values(hpgmg_solver_t *s, const hpgmg_array_t *u) {
  MG_TRY(mg_boxes_store(s->boxes, u, MG_CELLS, MG_U));
  MG_IF_SOLIDS(MG_TRY(mg_solids_take_values(s->h, true)));
  return MG_OK;
}

static mg_status_t solve(hpgmg_solver_t *s, const hpgmg_array_t *f, const hpgmg_array_t *u,
                         hpgmg_info_t *info) {
  mg_history_t history = {.n_cycles = 0};
  double f_norm;
  if (!s->ready) MG_TRY(mg_api_set_up(s));
  if (s->h->params.closes_cells) MG_TRY(take_values(s, u));
  MG_TRY(mg_api_set_rhs(s, f, false));
  MG_TRY(mg_problem_restrict_rhs(s->h, 0, &f_norm));
  MG_TRY(check_f(s, f, f_norm));
  MG_TRY(set_reference(s, u));
  if (s->has_guess) {
    MG_TRY(mg_api_check_values(s, MG_API_U, u));
    MG_TRY(load_guess(s, u));
  }
  const mg_status_t status = s->cycles > 0  ? solve_by_number(s, f_norm, &history)
                             : s->has_guess ? solve_from_guess(s, f_norm, &history)
                                            : mg_solve(s->h, 0, f_norm, &history);
  if (status != MG_OK && status != MG_ERR_DIVERGED) return status;
  const int last = history.n_cycles - 1;
  info->cycles = history.n_cycles - s->has_guess;
  info->residual = last >= 0 ? history.norm[last] : 0.0;
  info->relative = last >= 0 ? history.rel[last] : 0.0;
  info->reason = reason_of(s, status, &history, info->relative);
  MG_TRY(mg_boxes_fetch(s->boxes, MG_U, u));
  if (s->h->level[0].backend->queue.wait) MG_TRY(s->h->level[0].backend->queue.wait());
  if (info->reason != HPGMG_MAX_CYCLES && info->reason != HPGMG_STAGNATED) return status;
  return mg_root_error(MG_ERR_DIVERGED, "max|f-Au| is %g %s after %d cycles, but --rtol=%g%s",
                       info->relative, mg_reference_name(&s->h->reference), info->cycles,
                       s->params.rtol,
                       info->reason == HPGMG_STAGNATED ? " is below round-off" : "");
}

/* Enqueue a solve, without waiting for anything. */
static mg_status_t enqueue(hpgmg_solver_t *s, const hpgmg_array_t *f, const hpgmg_array_t *u,
                           bool captured) {
  MG_TRY(mg_api_set_rhs(s, f, true));
  if (s->has_guess) MG_TRY(load_guess(s, u));
  s->h->captured = captured;
  const mg_status_t status = run_cycles(s, NULL);
  s->h->captured = false;
  MG_TRY(status);
  MG_TRY(mg_boxes_fetch(s->boxes, MG_U, u));
  return s->h->level[0].backend->arrays->lead(s->stream);
}

/* Why a solve must wait for the device; NULL if it need not. */
static const char *why_not_enqueued(const hpgmg_solver_t *s, const mg_arrays_t *found,
                                    bool wants_info) {
  return s->cycles == 0       ? "the options have no number of cycles"
         : wants_info         ? "info is not NULL"
         : found->any_on_host ? "an array is in host memory"
         : !s->ready          ? "the levels are not set up; call hpgmg_set_coefficients before"
         : s->can_enqueue     ? NULL
                              : "a solve waits for the host: several ranks with boxes that are not "
                                "those of hpgmg_boxes or a singular A, closed faces, or levels on "
                                "the CPU (--cpu-below)";
}

mg_status_t mg_api_solve(hpgmg_solver_t *s, const hpgmg_array_t *f, const hpgmg_array_t *u,
                         hpgmg_info_t *info) {
  hpgmg_info_t unused = {HPGMG_CYCLES_DONE, 0, 0.0, 0.0};
  mg_arrays_t found;
  MG_TRY(mg_api_check_solve(s, f, u, &found));
  const char *const why = why_not_enqueued(s, &found, info != NULL);
  double waits = why != NULL; /* on any rank: their arrays may differ */
  MG_TRY(mg_comm_max(mg_comm_world(), &waits, 1));
  if (waits == 0.0) return enqueue(s, f, u, found.captured);
  if (found.captured) return mg_api_refuse_capture(s, why);
  return mg_comm_agree_or_end(solve(s, f, u, info ? info : &unused));
}
