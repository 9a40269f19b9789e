#include "run/benchmark.h"
#include "base/log.h"
#include "base/log_wings.h"
#include "base/machine.h"
#include "level/ops.h"
#include "level/profile.h"
#include "level/transfer.h"
#include "run/rounding.h"
#include "solver/cycle_wings.h"
#include "solver/problem.h"
#include "wings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

mg_status_t mg_benchmark_poll_stop(void *no_data, bool *stop) {
  (void)no_data;
  double caught = mg_machine_signal() != 0;
  MG_TRY(mg_comm_max(mg_comm_world(), &caught, 1));
  *stop = caught != 0.0;
  return MG_OK;
}

static const mg_watch_t until_signal = {NULL, mg_benchmark_poll_stop, NULL};

static mg_status_t check_interrupt(mg_result_t *result) {
  return mg_benchmark_poll_stop(NULL, &result->interrupted);
}

/* Record the history of a solve, even if a signal ended it. All complete solves have the same
 * history, and that of an interrupted solve is the beginning of it. So an interrupted solve never
 * replaces a complete one. */
static void record(int s, const mg_history_t *history, mg_result_t *result) {
  mg_size_result_t *size = &result->size[s];
  if (s == 0) result->n_cycles_at_h = history->n_cycles;
  if (history->stopped && !history->converged) {
    result->interrupted = true;
    if (size->is_solved) return;
    snprintf(result->where, sizeof result->where, ", after cycle %d at %s", history->n_cycles,
             mg_grid(size->n).text);
  } else {
    size->is_solved = true;
  }
  size->history = *history;
}

/* With --official, compute max |f| again: the rules of HPGMG's list require this in every solve.
 * Ranks without cells keep the first value, which is the same. */
static mg_status_t repeat_rhs_norm(mg_hierarchy_t *h, int s, double *f_norm) {
  double norm;
  if (!h->params.official) return MG_OK;
  MG_TRY(mg_max_norm(&h->level[s], MG_F, MG_NO_VECTOR, &norm));
  if (h->level[s].comm) *f_norm = norm;
  return MG_OK;
}

mg_status_t mg_benchmark_solve(mg_hierarchy_t *h, int s, const mg_history_t *start,
                               mg_result_t *result, double *seconds) {
  mg_history_t history;
  if (start) history = *start;
  MG_TRY(mg_comm_barrier(mg_comm_world()));
  const double begin = mg_now();
  MG_TRY(repeat_rhs_norm(h, s, &result->size[s].f_norm));
  const mg_status_t status = (start ? mg_solve_continue : mg_solve_watched)(
      h, s, result->size[s].f_norm, &until_signal, &history);
  *seconds = mg_now() - begin;
  if (status == MG_OK || status == MG_ERR_DIVERGED) record(s, &history, result);
  MG_TRY(status);
  MG_TRY(mg_comm_max(mg_comm_world(), seconds, 1));
  /* Otherwise a clock that goes back by an hour adds an hour of solves. */
  if (*seconds >= 0.0) return MG_OK;
  return mg_root_error(MG_ERR_UNAVAILABLE,
                       "the clock went back by %g s during a solve; repeat the run", -*seconds);
}

void mg_benchmark_log(const char *phase, const mg_size_result_t *size, double seconds) {
  mg_verbose("%s at %s: %.6f s, max|f-Au| %.6e after %d cycle%s", phase, mg_grid(size->n).text,
             seconds, size->history.norm[size->history.n_cycles - 1], size->history.n_cycles,
             size->history.n_cycles == 1 ? "" : "s");
}

static mg_status_t warm_up(mg_hierarchy_t *h, int s, mg_result_t *result, double *estimate) {
  const int n = h->params.verify_only ? 0 : h->params.warmup;
  *estimate = 0.0;
  for (int i = 0; i < n && !result->interrupted; i++) {
    MG_IF_CONSOLE(mg_benchmark_show(&h->params, s, false, i, *estimate));
    MG_TRY(mg_benchmark_solve(h, s, NULL, result, estimate));
    if (result->interrupted) return MG_OK;
    mg_benchmark_log("warm-up", &result->size[s], *estimate);
    MG_TRY(check_interrupt(result));
  }
  return MG_OK;
}

/* Solve until both --min-solves and --min-time are met. Times are the same on all ranks, so all
 * ranks make the same decision. */
static mg_status_t timed_solves(mg_hierarchy_t *h, int s, mg_result_t *result, double estimate) {
  const mg_params_t *p = &h->params;
  mg_size_result_t *size = &result->size[s];
  double total = 0.0, seconds;
  for (;;) {
    (void)estimate;
    MG_IF_CONSOLE(mg_benchmark_show(p, s, true, size->n_solves,
                                    size->n_solves > 0 ? size->seconds_mean : estimate));
    MG_TRY(mg_benchmark_solve(h, s, NULL, result, &seconds));
    if (result->interrupted) return MG_OK;
    mg_benchmark_log(p->verify_only ? "verification" : "timing", size, seconds);
    size->seconds_min =
        size->n_solves == 0 || seconds < size->seconds_min ? seconds : size->seconds_min;
    total += seconds;
    size->n_solves++;
    size->seconds_mean = total / size->n_solves;
    const bool done = p->verify_only || (size->n_solves >= p->min_solves && total >= p->min_time);
    /* After the last requested solve there is nothing to interrupt. */
    if (!done || s + 1 < result->n_sizes_planned) MG_TRY(check_interrupt(result));
    if (done || result->interrupted) return MG_OK;
  }
}

static mg_status_t run_size(mg_hierarchy_t *h, int s, const mg_history_t *start,
                            mg_result_t *result) {
  mg_size_result_t *size = &result->size[s];
  double estimate;
  memcpy(size->n, h->plan.level[s].layout.n, sizeof size->n);
  size->seconds_min = size->seconds_mean = NAN;
  MG_TRY(mg_problem_restrict_rhs(h, s, &size->f_norm));
  (void)start;
  MG_IF_FILES(if (s == 0 && start) return mg_benchmark_continue(h, start, result));
  MG_TRY(warm_up(h, s, result, &estimate));
  if (result->interrupted) return MG_OK;
  /* The breakdown covers the timed solves of the finest grid. */
  MG_IF_PROFILE(if (s == 0) mg_timers_clear(h));
  MG_IF_ENERGY(if (s == 0) MG_TRY(mg_energy_begin()));
  MG_TRY(timed_solves(h, s, result, estimate));
  MG_IF_ENERGY(
      if (s == 0) MG_TRY(mg_energy_end(result->interrupted ? 0 : size->n_solves, &result->energy)));
  if (size->n_solves == 0) return MG_OK;
  result->n_sizes = s + 1;
  MG_IF_PROFILE(if (s == 0) return mg_benchmark_profile(h, result));
  return MG_OK;
}

/* Allocate everything that the solves of all sizes and the profile need before the first solve. */
static mg_status_t prepare(mg_hierarchy_t *h, int n_sizes) {
  const double begin = mg_now();
  /* Ranks may block on each other here: NCCL connects two ranks at their first message. */
  for (int s = 0; s < n_sizes; s++)
    MG_IF_COARSE(MG_TRY(mg_comm_agree_or_end(mg_graph_capture(h, s))));
  if (h->level[0].backend->graph)
    mg_verbose("set-up: %.3f s to capture cycle graphs", mg_now() - begin);
  mg_status_t status = MG_OK;
  MG_IF_PROFILE(if (h->params.levels_breakdown) status = mg_profile_prepare(h));
  return mg_comm_agree(status);
}

/* A diverged solve is also a result: its history is reported, and no further size is run. */
static mg_status_t run_size_or_stop(mg_hierarchy_t *h, int s, const mg_history_t *start,
                                    mg_result_t *result) {
  const mg_status_t status = run_size(h, s, start, result);
  if (status != MG_ERR_DIVERGED) return status;
  result->diverged = true;
  result->n_sizes = s + 1;
  return MG_OK;
}

mg_status_t mg_benchmark(mg_hierarchy_t *h, const mg_history_t *start, mg_result_t *result) {
  double difference[MG_N_SIZES] = {NAN, NAN, NAN};
  result->n_sizes_planned = h->n_levels < MG_N_SIZES ? h->n_levels : MG_N_SIZES;
  /* Coarser grids give no error estimate if the smoothness of the problem is unknown, or if their
   * cells are not those of the finest grid, two by two. */
  if (mg_params_solves_once(&h->params)) result->n_sizes_planned = 1;
  result->error = result->order = NAN;
  for (int s = 0; s < MG_N_SIZES; s++)
    result->rounding[s] = NAN;
  MG_TRY(prepare(h, result->n_sizes_planned));
  for (int s = 0; s < result->n_sizes_planned && !result->interrupted; s++) {
    MG_TRY(run_size_or_stop(h, s, start, result));
    MG_IF_PROFILE(if (s == 0) mg_timers_save(h));
    if (result->n_sizes <= s || result->diverged) break;
    /* Richardson: this size's solution minus the restricted one of the previous size. */
    if (s > 0) MG_TRY(mg_world_norm(&h->level[s], MG_U, MG_RESTRICTED_U, &difference[s]));
    if (s + 1 < result->n_sizes_planned) MG_TRY(mg_restrict(h, s, MG_U, MG_RESTRICTED_U));
    /* How float rounding changes u. Only error and order need it, which need all sizes. */
    MG_IF_MIXED(const mg_size_result_t *size = &result->size[s];
                if (h->low && result->n_sizes_planned == MG_N_SIZES && !result->interrupted)
                    MG_TRY(mg_rounding_measure(h, s, size->history.n_cycles, size->f_norm,
                                               &result->rounding[s])));
  }
  MG_IF_PROFILE(if (result->n_sizes > 0) mg_timers_restore(h));
  result->error = difference[1];
  if (difference[1] > 0.0) result->order = log2(difference[2] / difference[1]);
  MG_IF_CONSOLE(mg_progress_clear());
  return MG_OK;
}
