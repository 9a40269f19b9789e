/* Restarts. */
#include "run/benchmark.h"
#include "wings.h"

mg_status_t mg_benchmark_continue(mg_hierarchy_t *h, const mg_history_t *start,
                                  mg_result_t *result) {
  MG_IF_PROFILE(mg_timers_clear(h));
  MG_TRY(mg_benchmark_solve(h, 0, start, result, &result->seconds_profiled));
  if (result->interrupted) return MG_OK;
  result->size[0].n_solves = result->n_sizes = result->n_profiled = 1;
  mg_benchmark_log("restart", &result->size[0], 0.0);
  return result->n_sizes_planned > 1 ? mg_benchmark_poll_stop(NULL, &result->interrupted) : MG_OK;
}
