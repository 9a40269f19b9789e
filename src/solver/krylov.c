/* Solves by a Krylov method, whose preconditioner is a cycle; and cycles that take steps of CG on
 * coarse levels. */
#include "level/ops.h"
#include "solver/cycle_wings.h"
#include "solver/method.h"
#include "solver/outer.h"
#include "solver/solids.h"
#include "solver/solve.h"
#include "solver/solve_parts.h"
#include "wings.h"
#include <math.h>

/* K-cycles, after which V-cycles precondition CG if they were slow. */
enum { TRIED = 16 };

static void set_inner_cg(mg_hierarchy_t *h, bool inner_cg) {
  (h->low ? h->low : h)->inner_cg = inner_cg;
}

mg_status_t mg_krylov_begin(mg_hierarchy_t *h) {
  set_inner_cg(h, h->params.krylov == MG_KRYLOV_KCYCLE);
  MG_IF_CHOICES(MG_TRY(mg_method_adapt(h, NULL, NULL)));
  return MG_OK;
}

/* A K-cycle differs from step to step, so CG cannot remove a few slow components with it as it can
 * with V-cycles. Slow K-cycles have not done half of the way, by the residual's exponent. */
static bool is_kcycle_slow(const mg_solve_t *s) {
  const mg_history_t *history = s->history;
  return mg_hierarchy_of_cycles(s->h)->inner_cg && history->n_cycles - history->n_before >= TRIED &&
         history->rel[history->n_cycles - 1] > sqrt(s->h->params.rtol);
}

/* Steps until their updated residual reaches the tolerance or max_cycles are done. The callback
 * has not been called for the last step. */
static mg_status_t outer_steps(const mg_solve_t *s, mg_outer_t *outer) {
  mg_level_t *level = &s->h->level[s->top];
  for (;;) {
    double norm;
    bool restarts = false;
    MG_IF_CHOICES(MG_TRY(mg_method_adapt(s->h, s->history, &restarts)));
    if (restarts) MG_TRY(mg_outer_restart(level, outer));
    MG_TRY(mg_cycle_run(s->h, s->top, MG_KIND_PRECONDITION, NULL, NULL));
    MG_IF_SOLIDS(if (s->top == 0) MG_TRY(mg_solids_correct(s->h)));
    MG_TRY(mg_outer_step(level, outer, &norm));
    MG_TRY(mg_solve_record(s, norm));
    if (!mg_solve_is_unfinished(s) || is_kcycle_slow(s)) return MG_OK;
    if (!s->watch || !s->watch->after_cycle) continue;
    MG_TRY(mg_outer_show(level));
    const mg_status_t status = s->watch->after_cycle(s->watch->data, s->history);
    MG_TRY(mg_outer_hide(level));
    MG_TRY(status);
  }
}

/* The true residual decides: the method restarts from it if the updated residual was below the
 * tolerance and the true one is not. */
mg_status_t mg_krylov_cycles(const mg_solve_t *s) {
  mg_level_t *level = &s->h->level[s->top];
  while (mg_solve_is_unfinished(s)) {
    mg_outer_t outer;
    MG_TRY(mg_outer_begin(level, s->h->params.krylov, s->history->n_cycles == 0, &outer));
    const mg_status_t status = outer_steps(s, &outer);
    MG_TRY(mg_outer_end(level));
    MG_TRY(status);
    if (is_kcycle_slow(s)) set_inner_cg(s->h, false);
    MG_TRY(mg_set_mean(level, MG_U, s->h->params.mean));
    s->history->n_cycles--;
    double norm;
    MG_TRY(mg_residual_norm(level, MG_U, MG_F, &norm));
    MG_TRY(mg_solve_end_cycle(s, norm, false));
  }
  return MG_OK;
}

/* Restarts of the first run are not repeated. */
mg_status_t mg_krylov_repeat(mg_hierarchy_t *h, int top, int n, int n_cycles, int *diverged) {
  mg_level_t *level = &h->level[top];
  mg_outer_t outer;
  double norm;
  MG_TRY(mg_outer_begin(level, h->params.krylov, n == 0, &outer));
  for (; n < n_cycles && *diverged < 0; n++) {
    MG_TRY(mg_cycle_run(h, top, MG_KIND_PRECONDITION, NULL, diverged));
    MG_TRY(mg_outer_step(level, &outer, &norm));
  }
  return mg_outer_end(level);
}

/* Notay, Vassilevski, Recursive Krylov-based multigrid cycles, Numer. Linear Algebra Appl. 15
 * (2008). */
mg_status_t mg_krylov_k_cycle(mg_hierarchy_t *h, int l, int *diverged) {
  mg_level_t *level = &h->level[l];
  mg_outer_t cg;
  MG_TRY(mg_outer_begin(level, MG_KRYLOV_CG, true, &cg));
  for (int step = 0; step < 2; step++) {
    MG_TRY(mg_cycle_by_operations(h, l, MG_KIND_PRECONDITION, diverged));
    MG_TRY(mg_set_mean(level, MG_U, 0.0));
    MG_TRY(mg_outer_step(level, &cg, NULL));
  }
  return mg_outer_end(level);
}
