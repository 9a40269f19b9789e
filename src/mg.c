#include "mg.h"
#include "bottom.h"
#include "log.h"
#include "ops.h"
#include "transfer.h"
#include <math.h>

static const struct {
  mg_interpolation_t v, f;
} interpolations[] = {
    [MG_OPERATOR_FV2] = {MG_INTERPOLATE_V2, MG_INTERPOLATE_V2},
    [MG_OPERATOR_FV4] = {MG_INTERPOLATE_V2, MG_INTERPOLATE_V4},
    [MG_OPERATOR_7PT] = {MG_INTERPOLATE_P0, MG_INTERPOLATE_P1},
};

/* Pre-smooth, residual, restriction. */
static mg_status_t descend(mg_hierarchy_t *h, int l, bool zero_guess) {
  mg_level_t *level = &h->level[l];
  MG_TRY(mg_smooth(level, zero_guess));
  return mg_restrict_residual(h, l);
}

/* Interpolation, correction, post-smooth. */
static mg_status_t ascend(mg_hierarchy_t *h, int l) {
  MG_TRY(mg_interpolate(h, l, interpolations[h->params.op].v, true));
  return mg_smooth(&h->level[l], false);
}

/* The bottom solve starts from zero in any case. */
static mg_status_t v_cycle(mg_hierarchy_t *h, int top, bool zero_guess) {
  const int bottom = h->n_levels - 1;
  for (int l = top; l < bottom; l++)
    MG_TRY(descend(h, l, zero_guess || l > top));
  MG_TRY(mg_bottom_solve(&h->level[bottom], h->params.bottom));
  for (int l = bottom - 1; l >= top; l--)
    MG_TRY(ascend(h, l));
  return MG_OK;
}

static mg_status_t f_cycle(mg_hierarchy_t *h, int top) {
  const int bottom = h->n_levels - 1;
  for (int l = top; l < bottom; l++)
    MG_TRY(mg_restrict(h, l, MG_F, MG_F));
  MG_TRY(mg_bottom_solve(&h->level[bottom], h->params.bottom));
  for (int l = bottom - 1; l >= top; l--) {
    MG_TRY(mg_interpolate(h, l, interpolations[h->params.op].f, false));
    MG_TRY(v_cycle(h, l, false));
  }
  return MG_OK;
}

/* A periodic Poisson problem determines u up to a constant: take the one of mean zero. */
static mg_status_t remove_mean(mg_level_t *level) {
  if (!level->store.view.periodic || level->store.view.a != 0.0) return MG_OK;
  double mean;
  MG_TRY(mg_mean(level, MG_U, &mean));
  return mg_shift(level, MG_U, MG_U, -mean);
}

/* The coarsest level whose solution is not finite is where it began. */
static mg_status_t report_divergence(mg_hierarchy_t *h, int top, double f_norm,
                                     mg_history_t *history) {
  const int cycle = history->n_cycles;
  const double norm = history->norm[cycle - 1];
  int culprit = top;
  for (int l = h->n_levels - 1; l > top; l--) {
    double u;
    MG_TRY(mg_max_norm(&h->level[l], MG_U, -1, &u));
    MG_TRY(mg_comm_max(mg_comm_world(), &u, 1));
    if (isfinite(u)) continue;
    culprit = l;
    break;
  }
  history->diverged_level = culprit;
  if (mg_comm_rank(mg_comm_world()) != 0) return MG_ERR_DIVERGED;
  return mg_error(MG_ERR_DIVERGED,
                  "the solution diverged on level %d (%d^3 cells) in cycle %d: residual %g, "
                  "right-hand side %g",
                  culprit, h->plan.level[culprit].layout.n, cycle, norm, f_norm);
}

/* Norm of the residual on every rank, and whether it still makes sense. */
static mg_status_t assess(mg_hierarchy_t *h, int top, double f_norm, mg_history_t *history) {
  const int n = history->n_cycles;
  double norm;
  MG_TRY(mg_residual_norm(&h->level[top], MG_U, MG_F, &norm));
  /* Ranks without cells on the top level need the verdict as well. */
  if (h->plan.level[top].layout.n_ranks < mg_comm_size(mg_comm_world()))
    MG_TRY(mg_comm_max(mg_comm_world(), &norm, 1));
  history->norm[n] = norm;
  history->rel[n] = f_norm > 0.0 ? norm / f_norm : norm;
  history->n_cycles = n + 1;
  history->reached = h->params.rtol == 0.0 || history->rel[n] < h->params.rtol;
  /* A first V-cycle with P0 may raise the residual by 0.035 n (see verify.c); what converges at all
   * stays far below a thousand times the right-hand side or the last norm. */
  const double before = n > 0 ? history->norm[n - 1] : f_norm;
  if (isfinite(norm) && norm <= 1e3 * (before > f_norm ? before : f_norm)) return MG_OK;
  return report_divergence(h, top, f_norm, history);
}

mg_status_t mg_solve(mg_hierarchy_t *h, int top, double f_norm, mg_history_t *history) {
  mg_level_t *level = &h->level[top];
  const int most = h->params.rtol > 0.0 ? h->params.max_cycles : 1;
  history->n_cycles = 0;
  history->reached = false;
  history->diverged_level = -1;
  for (int cycle = 0; cycle < most && !history->reached; cycle++) {
    if (cycle == 0 && h->params.cycle == MG_CYCLE_F) {
      MG_TRY(f_cycle(h, top));
    } else {
      MG_TRY(v_cycle(h, top, cycle == 0));
    }
    MG_TRY(remove_mean(level));
    MG_TRY(assess(h, top, f_norm, history));
  }
  return MG_OK;
}
