#include "run/rounding.h"
#include "base/log_wings.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/solve.h"
#include "wings.h"
#include <float.h>

/* Solve with exactly n_cycles cycles: no tolerance ends them. */
static mg_status_t solve_again(mg_hierarchy_t *h, int s, int n_cycles, double scale,
                               double f_norm) {
  static mg_history_t history; /* too large for some stacks */
  const double rtol = h->params.rtol;
  const int max_cycles = h->params.max_cycles;
  h->params.rtol = n_cycles > 1 ? DBL_MIN : 0.0;
  h->params.max_cycles = n_cycles;
  h->low_scale = scale;
  const mg_status_t status = mg_solve(h, s, f_norm, &history);
  h->low_scale = 1.0;
  h->residual_level = -1; /* the float right-hand side is scaled */
  h->params.rtol = rtol;
  h->params.max_cycles = max_cycles;
  return status;
}

mg_status_t mg_rounding_measure(mg_hierarchy_t *h, int s, int n_cycles, double f_norm,
                                double *difference) {
  const double scale = 3.0; /* not a power of two */
  mg_level_t *level = &h->level[s];
  MG_IF_CONSOLE(mg_progress("effect of float rounding"));
  if (s > 0) MG_TRY(mg_axpby(level, MG_RESTRICTED_U, 1.0, MG_U, 0.0, MG_NO_VECTOR));
  MG_TRY(solve_again(h, s, n_cycles, scale, f_norm));
  if (s > 0) {
    MG_TRY(mg_world_norm(level, MG_U, MG_RESTRICTED_U, difference));
    return mg_axpby(level, MG_U, 1.0, MG_RESTRICTED_U, 0.0, MG_NO_VECTOR);
  }
  MG_TRY(mg_restrict(h, 0, MG_U, MG_U));
  MG_TRY(mg_world_norm(&h->level[1], MG_U, MG_RESTRICTED_U, difference));
  return h->params.dump[0] ? solve_again(h, 0, n_cycles, 1.0, f_norm) : MG_OK;
}
