#include "solver/solve.h"
#include "base/log.h"
#include "level/ops.h"
#include "solver/cycle.h"
#include "solver/method.h"
#include "solver/outer.h"
#include "solver/solids.h"
#include <float.h>
#include <math.h>

enum {
  MAX_STAGNANT = 5, /* residuals without progress at round-off */
  TRIED = 16,       /* K-cycles, after which V-cycles precondition CG if they were slow */
  MAX_GROWN = 10    /* plain cycles that raise the residual one after the other */
};

/* The course of max |f - A u|. Norms that CG or BiCGStab update do not count. */
typedef struct {
  double best, last;
  int n_stagnant; /* residuals since one was 10 % below the best before it */
  int n_grown;    /* last plain cycles that raised the residual */
  double factor;  /* by the last one of them */
} course_t;

/* One solve. */
typedef struct {
  mg_hierarchy_t *h;
  int top, max_cycles;
  double f_norm;
  const mg_watch_t *watch;
  mg_history_t *history;
  course_t *course;
} solve_t;

static bool is_unfinished(const solve_t *s) {
  const mg_history_t *history = s->history;
  return history->n_cycles < s->max_cycles && !history->converged && !history->stagnated &&
         !history->stopped;
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

/* Bound of |A| |u| in a cell: the diagonal of a row is at most that of the largest betas, twice the
 * sum of the directions, and its other entries add up to as much. */
static mg_status_t bound_terms(const solve_t *s, double *bound) {
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
static mg_status_t check_round_off(const solve_t *s, double norm) {
  double terms;
  if (s->course->n_stagnant < MAX_STAGNANT) return MG_OK;
  MG_TRY(bound_terms(s, &terms));
  s->history->stagnated = norm <= 4.0 * DBL_EPSILON * fmax(s->f_norm, terms);
  return MG_OK;
}

/* Plain cycles that converge hardly ever raise the residual: of 561 random problems with jumps up
 * to 1e6, 354 reached 1e-8, and none of these rose more than twice in a row. The factors of a solve
 * that diverges may change for dozens of cycles. */
static bool keeps_growing(const solve_t *s) {
  const mg_history_t *history = s->history;
  const int last = history->n_cycles - 1;
  return s->course->n_grown >= MAX_GROWN && history->rel[last] > 1.0 &&
         history->norm[last] > history->norm[0];
}

/* Judge the last max |f - A u| of the history, which is the same on all ranks, after a plain cycle
 * or after a Krylov method. */
static mg_status_t judge(const solve_t *s, bool is_plain) {
  course_t *c = s->course;
  const double norm = s->history->norm[s->history->n_cycles - 1];
  const bool progress = norm < 0.9 * c->best;
  c->n_stagnant = progress ? 0 : c->n_stagnant + 1;
  if (progress) c->best = norm;
  const bool grows = is_plain && c->last > 0.0 && norm > c->last;
  c->n_grown = grows ? c->n_grown + 1 : 0;
  if (grows) c->factor = norm / c->last;
  c->last = norm;
  if (!is_unfinished(s)) return MG_OK;
  return keeps_growing(s) ? MG_ERR_DIVERGED : check_round_off(s, norm);
}

static mg_status_t end_cycle(const solve_t *s, double norm, bool is_plain) {
  MG_TRY(record_norm(s, norm));
  MG_TRY(judge(s, is_plain));
  return call_back(s);
}

static mg_status_t plain_cycles(const solve_t *s) {
  while (is_unfinished(s) && s->history->n_cycles < mg_n_plain_cycles(s->h, s->max_cycles)) {
    const mg_cycle_kind_t kind = mg_plain_cycle_kind(s->history->n_cycles);
    double norm;
    MG_TRY(mg_cycle_run(s->h, s->top, kind, NULL));
    MG_TRY(mg_cycle_residual_norm(s->h, s->top, kind, &norm));
    MG_TRY(end_cycle(s, norm, true));
  }
  return MG_OK;
}

static void set_inner_cg(mg_hierarchy_t *h, bool inner_cg) {
  (h->low ? h->low : h)->inner_cg = inner_cg;
}

/* A K-cycle differs from step to step, so CG cannot remove a few slow components with it as it can
 * with V-cycles. Slow K-cycles have not done half of the way, by the residual's exponent. */
static bool is_kcycle_slow(const solve_t *s) {
  const mg_history_t *history = s->history;
  return mg_hierarchy_of_cycles(s->h)->inner_cg && history->n_cycles - history->n_before >= TRIED &&
         history->rel[history->n_cycles - 1] > sqrt(s->h->params.rtol);
}

/* Steps until their updated residual reaches the tolerance or max_cycles are done. The callback
 * has not been called for the last step. */
static mg_status_t outer_steps(const solve_t *s, mg_outer_t *outer) {
  mg_level_t *level = &s->h->level[s->top];
  for (;;) {
    double norm;
    bool restarts = false;
    MG_IF_CHOICES(MG_TRY(mg_method_adapt(s->h, s->history, &restarts)));
    if (restarts) MG_TRY(mg_outer_restart(level, outer));
    MG_TRY(mg_cycle_run(s->h, s->top, MG_KIND_PRECONDITION, NULL));
    MG_IF_SOLIDS(if (s->top == 0) MG_TRY(mg_solids_correct(s->h)));
    MG_TRY(mg_outer_step(level, outer, &norm));
    MG_TRY(record_norm(s, norm));
    if (!is_unfinished(s) || is_kcycle_slow(s)) return MG_OK;
    if (!has_callback(s)) continue;
    MG_TRY(mg_outer_show(level));
    const mg_status_t status = call_back(s);
    MG_TRY(mg_outer_hide(level));
    MG_TRY(status);
  }
}

/* The true residual decides: the method restarts from it if the updated residual was below the
 * tolerance and the true one is not. */
static mg_status_t outer_cycles(const solve_t *s) {
  mg_level_t *level = &s->h->level[s->top];
  while (is_unfinished(s)) {
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
    MG_TRY(end_cycle(s, norm, false));
  }
  return MG_OK;
}

/* Run n_cycles again with checks. CG restarts of the first run are not repeated. */
static mg_status_t find_diverged_level(mg_hierarchy_t *h, int top, int n_cycles, int *diverged) {
  mg_level_t *level = &h->level[top];
  mg_outer_t outer;
  double norm;
  int n = 0;
  for (; n < mg_n_plain_cycles(h, n_cycles) && *diverged < 0; n++)
    MG_TRY(mg_cycle_run(h, top, mg_plain_cycle_kind(n), diverged));
  if (n == n_cycles || *diverged >= 0) return MG_OK;
  MG_TRY(mg_outer_begin(level, h->params.krylov, n == 0, &outer));
  for (; n < n_cycles && *diverged < 0; n++) {
    MG_TRY(mg_cycle_run(h, top, MG_KIND_PRECONDITION, diverged));
    MG_TRY(mg_outer_step(level, &outer, &norm));
  }
  return mg_outer_end(level);
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
  course_t course = {.best = INFINITY};
  const solve_t solve = {h, top, max_cycles, f_norm, watch, history, &course};
  history->n_before = history->n_cycles;
  history->stagnated = history->stopped = false;
  set_inner_cg(h, h->params.krylov == MG_KRYLOV_KCYCLE);
  MG_IF_CHOICES(MG_TRY(mg_method_adapt(h, NULL, NULL)));
  mg_status_t status = plain_cycles(&solve);
  if (status == MG_OK && mg_uses_krylov(h)) status = outer_cycles(&solve);
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
