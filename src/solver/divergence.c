#include "solver/divergence.h"
#include "base/log.h"
#include "solver/outer_cg.h"
#include <math.h>

/* Run n_cycles again with checks. CG restarts of the first run are not repeated. */
static mg_status_t find_diverged_level(mg_hierarchy_t *h, int top, int n_cycles, int *diverged) {
  mg_level_t *level = &h->level[top];
  mg_outer_cg_t cg;
  double norm;
  int n = 0;
  for (; n < mg_n_plain_cycles(h, n_cycles) && *diverged < 0; n++)
    MG_TRY(mg_cycle_run(h, top, mg_plain_cycle_kind(n), diverged));
  if (n == n_cycles || *diverged >= 0) return MG_OK;
  MG_TRY(mg_outer_cg_begin(level, n == 0, &cg));
  for (; n < n_cycles && *diverged < 0; n++) {
    MG_TRY(mg_cycle_run(h, top, MG_KIND_PRECONDITION, diverged));
    MG_TRY(mg_outer_cg_step(level, &cg, &norm));
  }
  return mg_outer_cg_end(level);
}

mg_status_t mg_divergence_report(mg_hierarchy_t *h, int top, double f_norm, mg_history_t *history) {
  const int cycle = history->n_cycles;
  int diverged = isfinite(f_norm) && history->n_before == 0 ? -1 : top;
  if (diverged < 0) MG_TRY(find_diverged_level(h, top, cycle, &diverged));
  history->diverged_level = diverged < 0 ? top : diverged;
  return mg_root_error(MG_ERR_DIVERGED,
                       "the solution diverged on level %d (%s cells) in cycle %d: residual %g, "
                       "right-hand side %g",
                       history->diverged_level,
                       mg_grid(h->plan.level[history->diverged_level].layout.n).text, cycle,
                       history->norm[cycle - 1], f_norm);
}

mg_status_t mg_divergence_report_growth(const mg_hierarchy_t *h, int top, double factor,
                                        mg_history_t *history) {
  const int cycle = history->n_cycles;
  history->diverged_level = top;
  return mg_root_error(
      MG_ERR_DIVERGED,
      "the solution diverged on level %d (%s cells) in cycle %d: all last cycles raised "
      "the residual, the last one by a factor of %.3g to %g; use --method=auto, more "
      "--smooths or another --smoother",
      top, mg_grid(h->plan.level[top].layout.n).text, cycle, factor, history->norm[cycle - 1]);
}
