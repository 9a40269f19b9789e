#include "solver/solve.h"
#include "base/log.h"
#include "level/ops.h"
#include "solver/cycle_wings.h"
#include "solver/solids.h"
#include "solver/solve_parts.h"
#include "wings.h"
#include <float.h>
#include <math.h>

enum {
  MAX_STAGNANT = 5, /* residuals without progress at round-off */
  MAX_GROWN = 10    /* plain cycles that raise the residual one after the other */
};

static mg_status_t poll_stop(const mg_solve_t *s) {
  if (!mg_solve_is_unfinished(s) || !s->watch || !s->watch->poll_stop) return MG_OK;
  return s->watch->poll_stop(s->watch->data, &s->history->stopped);
}

mg_status_t mg_solve_record(const mg_solve_t *s, double norm) {
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

/* Bound of |A| |u| in a cell: the diagonal of a row is at most that of the largest betas, twice the
 * sum of the directions, and its other entries add up to as much. */
static mg_status_t bound_terms(const mg_solve_t *s, double *bound) {
  mg_level_t *level = &s->h->level[s->top];
  const mg_view_t *v = &level->store.view;
  double norm[5] = {0.0};
  MG_TRY(mg_max_norm(level, MG_U, MG_NO_VECTOR, &norm[4]));
  for (int d = 0; d < 3; d++)
    MG_TRY(mg_max_norm(level, MG_BETA_I + (mg_vector_t)d, MG_NO_VECTOR, &norm[d]));
  if (s->h->params.alpha_varies) MG_TRY(mg_max_norm(level, MG_ALPHA, MG_NO_VECTOR, &norm[3]));
  MG_TRY(mg_comm_max(mg_comm_world(), norm, 5));
  double b_h2_a[2] = {v->b_h2, s->h->params.alpha_varies ? norm[3] : v->a};
  MG_TRY(mg_comm_max(mg_comm_world(), b_h2_a, 2));
  *bound = (4.0 * b_h2_a[0] * (norm[0] + norm[1] + norm[2]) + b_h2_a[1]) * norm[4];
  return MG_OK;
}

/* A residual of up to some twenty rounded terms, which no longer falls, is round-off if it is below
 * 4 eps of their size. Far above, CG and slow cycles may pause and go on. */
static mg_status_t check_round_off(const mg_solve_t *s, double norm) {
  double terms;
  if (s->course->n_stagnant < MAX_STAGNANT) return MG_OK;
  MG_TRY(bound_terms(s, &terms));
  s->history->stagnated = norm <= 4.0 * DBL_EPSILON * fmax(s->f_norm, terms);
  return MG_OK;
}

/* Plain cycles that converge hardly ever raise the residual: of 561 random problems with jumps up
 * to 1e6, 354 reached 1e-8, and none of these rose more than twice in a row. The factors of a solve
 * that diverges may change for dozens of cycles. */
static bool keeps_growing(const mg_solve_t *s) {
  const mg_history_t *history = s->history;
  const int last = history->n_cycles - 1;
  return s->course->n_grown >= MAX_GROWN && history->rel[last] > 1.0 &&
         history->norm[last] > history->norm[0];
}

/* Judge the last max |f - A u| of the history, which is the same on all ranks, after a plain cycle
 * or after a Krylov method. */
static mg_status_t judge(const mg_solve_t *s, bool is_plain) {
  mg_course_t *c = s->course;
  const double norm = s->history->norm[s->history->n_cycles - 1];
  const bool progress = norm < 0.9 * c->best;
  c->n_stagnant = progress ? 0 : c->n_stagnant + 1;
  if (progress) c->best = norm;
  const bool grows = is_plain && c->last > 0.0 && norm > c->last;
  c->n_grown = grows ? c->n_grown + 1 : 0;
  if (grows) c->factor = norm / c->last;
  c->last = norm;
  if (!mg_solve_is_unfinished(s)) return MG_OK;
  return keeps_growing(s) ? MG_ERR_DIVERGED : check_round_off(s, norm);
}

mg_status_t mg_solve_end_cycle(const mg_solve_t *s, double norm, bool is_plain) {
  MG_TRY(mg_solve_record(s, norm));
  MG_TRY(judge(s, is_plain));
  if (!s->watch || !s->watch->after_cycle) return MG_OK;
  return s->watch->after_cycle(s->watch->data, s->history);
}

static mg_status_t plain_cycles(const mg_solve_t *s) {
  while (mg_solve_is_unfinished(s) &&
         s->history->n_cycles < mg_n_plain_cycles(s->h, s->max_cycles)) {
    const mg_cycle_kind_t kind = mg_plain_cycle_kind(s->history->n_cycles);
    double norm;
    MG_TRY(mg_cycle_run(s->h, s->top, kind, &norm, NULL));
    MG_TRY(mg_solve_end_cycle(s, norm, true));
  }
  return MG_OK;
}

/* Run n_cycles again with checks. */
static mg_status_t find_diverged_level(mg_hierarchy_t *h, int top, int n_cycles, int *diverged) {
  int n = 0;
  for (; n < mg_n_plain_cycles(h, n_cycles) && *diverged < 0; n++)
    MG_TRY(mg_cycle_run(h, top, mg_plain_cycle_kind(n), NULL, diverged));
  MG_IF_KRYLOV(
      if (n < n_cycles && *diverged < 0) return mg_krylov_repeat(h, top, n, n_cycles, diverged));
  return MG_OK;
}

/* Repeat the cycles with a check after each change of a level: at the end a NaN has reached every
 * level. After a restart, earlier cycles cannot be repeated, and the level is `top`. */
static mg_status_t report_level(mg_hierarchy_t *h, int top, double f_norm, mg_history_t *history) {
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

/* Plain cycles raise the residual; `factor` is that of the last one. */
static mg_status_t report_growth(const mg_hierarchy_t *h, int top, double factor,
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

/* Run cycles, the first of which has the number history->n_cycles. */
static mg_status_t run_cycles(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                              mg_history_t *history) {
  const int max_cycles = h->params.rtol > 0.0 ? h->params.max_cycles : 1;
  mg_course_t course = {.best = INFINITY};
  const mg_solve_t solve = {h, top, max_cycles, f_norm, watch, history, &course};
  history->n_before = history->n_cycles;
  history->stagnated = history->stopped = false;
  MG_IF_KRYLOV(MG_TRY(mg_krylov_begin(h)));
  mg_status_t status = plain_cycles(&solve);
  MG_IF_KRYLOV(if (status == MG_OK && mg_uses_krylov(h)) status = mg_krylov_cycles(&solve));
  MG_IF_SOLIDS(if (status == MG_OK && top == 0) status = mg_solids_finish(h));
  if (status != MG_ERR_DIVERGED) return status;
  return course.n_grown >= MAX_GROWN ? report_growth(h, top, course.factor, history)
                                     : report_level(h, top, f_norm, history);
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
