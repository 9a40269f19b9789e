/* Restarts. */
#include "run/benchmark.h"
#include "wings.h"

mg_status_t mg_benchmark_continue(mg_hierarchy_t *h, const mg_history_t *start,
                                  mg_result_t *result) {
  const mg_watch_t until_signal = {NULL, mg_benchmark_poll_stop, NULL};
  mg_size_result_t *size = &result->size[0];
  mg_history_t history = *start;
  MG_IF_PROFILE(mg_timers_clear(h));
  const double begin = mg_now();
  const mg_status_t status = mg_solve_continue(h, 0, size->f_norm, &until_signal, &history);
  result->seconds_profiled = mg_now() - begin;
  if (status == MG_OK || status == MG_ERR_DIVERGED) mg_benchmark_record(0, &history, result);
  MG_TRY(status);
  MG_TRY(mg_comm_max(mg_comm_world(), &result->seconds_profiled, 1));
  if (result->interrupted) return MG_OK;
  size->n_solves = result->n_sizes = result->n_profiled = 1;
  mg_benchmark_log("restart", size, 0.0);
  return result->n_sizes_planned > 1 ? mg_benchmark_poll_stop(NULL, &result->interrupted) : MG_OK;
}
