#include "run/trial.h"
#include "base/log.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "solver/problem.h"
#include "wings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SOLVES = 5 };

mg_params_t mg_trial_params(const mg_params_t *params) {
  mg_params_t trial = *params;
  trial.rtol = 0.0;
  trial.max_cycles = 1;
  trial.krylov = MG_KRYLOV_NONE;
  for (int side = 0; side < 6; side++)
    trial.side[side / 2][side % 2].varies = false; /* the built-in problem */
  return trial;
}

/* A solve is one cycle and its residual norm. Whether it diverges is for the run to find. */
static mg_status_t time_solves(mg_hierarchy_t *h, double limit, double *fastest) {
  double total = 0.0;
  MG_TRY(mg_problem_set(h));
  MG_IF_COARSE(MG_TRY(mg_comm_agree_or_end(mg_graph_capture(h, 0))));
  *fastest = INFINITY;
  for (int s = 0; s <= MAX_SOLVES && total < limit; s++) {
    MG_TRY(mg_comm_barrier(mg_comm_world()));
    const double start = mg_now();
    double seconds, norm;
    MG_TRY(mg_cycle_run(h, 0, MG_KIND_FIRST, &norm, NULL));
    MG_TRY(mg_comm_max(mg_comm_world(), &norm, 1));
    seconds = mg_now() - start;
    MG_TRY(mg_comm_max(mg_comm_world(), &seconds, 1));
    if (s == 0) continue;
    if (seconds < *fastest) *fastest = seconds;
    total += seconds;
  }
  return MG_OK;
}

int mg_trial_fastest(const mg_trial_row_t *row, int n, double gain) {
  int best = 0;
  for (int r = 1; r < n; r++)
    if (row[r].seconds < (best == 0 ? 1.0 - gain : 1.0) * row[best].seconds) best = r;
  return best;
}

mg_status_t mg_trial_add(const mg_params_t *params, const mg_plan_t *plan,
                         mg_transports_t *transports, const mg_trial_rules_t *rules,
                         mg_trial_row_t row, mg_trials_t *found) {
  mg_hierarchy_t *h;
  MG_TRY(mg_hierarchy_create(params, plan, transports, &h));
  const mg_status_t status = time_solves(h, rules->limit, &row.seconds);
  if (status < MG_ERR_DEVICE) mg_hierarchy_free(h); /* freeing is collective */
  MG_TRY(status);
  memcpy(found->n, plan->level[0].layout.n, sizeof found->n);
  found->row[found->n_rows++] = row;
  found->best = mg_trial_fastest(found->row, found->n_rows, rules->gain);
  found->seconds = mg_now() - rules->start;
  return mg_comm_max(mg_comm_world(), &found->seconds, 1);
}

void mg_trial_log(const mg_trials_t *found, const char *title, const char *option) {
  for (int r = 0; r < found->n_rows; r++) {
    const mg_trial_row_t *row = &found->row[r];
    char ranks[64] = "";
    if (row->ranks > 0)
      snprintf(ranks, sizeof ranks, ", finest level on %lld rank%s", (long long)row->ranks,
               row->ranks == 1 ? "" : "s");
    mg_verbose("%s: %.3f ms for a solve of %s cells with --%s=%lld%s%s", title, 1e3 * row->seconds,
               mg_grid(found->n).text, option, (long long)row->below, ranks,
               r == found->best ? " (chosen)" : "");
  }
}
