#include "solver/solve.h"
#include "level/ops.h"
#include "solver/cycle.h"
#include "solver/divergence.h"
#include "solver/outer_cg.h"

/* One solve. */
typedef struct {
  mg_hierarchy_t *h;
  int top, max_cycles;
  double f_norm;
  const mg_watch_t *watch;
  mg_history_t *history;
} solve_t;

static bool is_unfinished(const solve_t *s) {
  return s->history->n_cycles < s->max_cycles && !s->history->converged && !s->history->stopped;
}

static mg_status_t poll_stop(const solve_t *s) {
  if (!is_unfinished(s) || !s->watch || !s->watch->poll_stop) return MG_OK;
  return s->watch->poll_stop(s->watch->data, &s->history->stopped);
}

/* Append the residual norm of a cycle to the history. Returns MG_ERR_DIVERGED, not logged yet, if
 * it exceeds the limit. */
static mg_status_t record_norm(const solve_t *s, double norm) {
  mg_history_t *history = s->history;
  const int n = history->n_cycles;
  mg_level_t *top = &s->h->level[s->top];
  /* Ranks without cells on the top level need the norm too. */
  if (top->plan->layout.n_ranks < mg_comm_size(mg_comm_world())) {
    top->timers.traffic.reductions++;
    MG_TRY(mg_comm_max(mg_comm_world(), &norm, 1));
  }
  history->norm[n] = norm;
  history->rel[n] = mg_relative_norm(s->h, s->top, norm, s->f_norm);
  history->n_cycles = n + 1;
  history->converged = s->h->params.rtol == 0.0 || history->rel[n] < s->h->params.rtol;
  /* A solve that starts from a guess may have f = 0. */
  const double before = history->n_before > 0 ? history->norm[history->n_before - 1] : 0.0;
  const double largest = s->f_norm > before ? s->f_norm : before;
  return norm <= mg_divergence_limit(s->h) * largest ? poll_stop(s) : MG_ERR_DIVERGED;
}

static bool has_callback(const solve_t *s) {
  return s->watch && s->watch->after_cycle;
}

static mg_status_t call_back(const solve_t *s) {
  return has_callback(s) ? s->watch->after_cycle(s->watch->data, s->history) : MG_OK;
}

static mg_status_t end_cycle(const solve_t *s, double norm) {
  MG_TRY(record_norm(s, norm));
  return call_back(s);
}

static mg_status_t plain_cycles(const solve_t *s) {
  while (is_unfinished(s) && s->history->n_cycles < mg_n_plain_cycles(s->h, s->max_cycles)) {
    const mg_cycle_kind_t kind = mg_plain_cycle_kind(s->history->n_cycles);
    double norm;
    MG_TRY(mg_cycle_run(s->h, s->top, kind, NULL));
    MG_TRY(mg_cycle_residual_norm(s->h, s->top, kind, &norm));
    MG_TRY(end_cycle(s, norm));
  }
  return MG_OK;
}

/* CG steps until its updated residual reaches the tolerance or max_cycles are done. The callback
 * has not been called for the last step. */
static mg_status_t cg_steps(const solve_t *s, mg_outer_cg_t *cg) {
  mg_level_t *level = &s->h->level[s->top];
  for (;;) {
    double norm;
    MG_TRY(mg_cycle_run(s->h, s->top, MG_KIND_PRECONDITION, NULL));
    MG_TRY(mg_outer_cg_step(level, cg, &norm));
    MG_TRY(record_norm(s, norm));
    if (!is_unfinished(s)) return MG_OK;
    if (!has_callback(s)) continue;
    MG_TRY(mg_outer_cg_show(level));
    const mg_status_t status = call_back(s);
    MG_TRY(mg_outer_cg_hide(level));
    MG_TRY(status);
  }
}

/* The true residual decides: CG restarts from it if the updated residual was below the tolerance
 * and the true one is not. */
static mg_status_t cg_cycles(const solve_t *s) {
  mg_level_t *level = &s->h->level[s->top];
  while (is_unfinished(s)) {
    mg_outer_cg_t cg;
    MG_TRY(mg_outer_cg_begin(level, s->history->n_cycles == 0, &cg));
    const mg_status_t status = cg_steps(s, &cg);
    MG_TRY(mg_outer_cg_end(level));
    MG_TRY(status);
    MG_TRY(mg_set_mean(level, MG_U, s->h->params.mean));
    s->history->n_cycles--;
    double norm;
    MG_TRY(mg_residual_norm(level, MG_U, MG_F, &norm));
    MG_TRY(end_cycle(s, norm));
  }
  return MG_OK;
}

/* Run cycles, the first of which has the number history->n_cycles. */
static mg_status_t run_cycles(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                              mg_history_t *history) {
  const int max_cycles = h->params.rtol > 0.0 ? h->params.max_cycles : 1;
  const solve_t solve = {h, top, max_cycles, f_norm, watch, history};
  history->n_before = history->n_cycles;
  history->stopped = false;
  mg_status_t status = plain_cycles(&solve);
  if (status == MG_OK && mg_uses_cg(h)) status = cg_cycles(&solve);
  return status == MG_ERR_DIVERGED ? mg_divergence_report(h, top, f_norm, history) : status;
}

mg_status_t mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                             mg_history_t *history) {
  history->n_cycles = 0;
  history->converged = false;
  history->diverged_level = -1;
  return run_cycles(h, top, f_norm, watch, history);
}

mg_status_t mg_solve(mg_hierarchy_t *h, int top, double f_norm, mg_history_t *history) {
  return mg_solve_watched(h, top, f_norm, NULL, history);
}

mg_status_t mg_solve_continue(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                              mg_history_t *history) {
  history->converged =
      h->params.rtol == 0.0 || history->rel[history->n_cycles - 1] < h->params.rtol;
  history->diverged_level = -1;
  return run_cycles(h, top, f_norm, watch, history);
}
