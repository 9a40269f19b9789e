#include "solver/mg.h"
#include "base/log.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/bottom.h"
#include "solver/outer_cg.h"
#include <math.h>

/* Pre-smooth, residual, restriction. */
static mg_status_t descend(mg_hierarchy_t *h, int l, bool zero_guess) {
  mg_level_t *level = &h->level[l];
  MG_TRY(mg_smooth(level, zero_guess));
  return mg_restrict_residual(h, l);
}

/* Interpolation, correction, post-smooth. */
static mg_status_t ascend(mg_hierarchy_t *h, int l) {
  MG_TRY(mg_interpolate(h, l, mg_interpolation_of(h->params.op, MG_CYCLE_V), true));
  return mg_smooth_again(&h->level[l]);
}

static bool uses_cg(const mg_hierarchy_t *h) {
  return h->params.krylov == MG_KRYLOV_CG;
}

/* A level's residual above this many times its right-hand side is no transient: a first V-cycle
 * with P0 may raise it by 0.035 n (see verify.c), what converges at all stays far below. Conjugate
 * gradients reduce the error in the norm of A; meanwhile the largest residual may rise, the more so
 * the more the coefficient varies. */
static double too_large(const mg_hierarchy_t *h) {
  if (mg_params_has_files(&h->params)) return 1e15; /* nobody knows by how much */
  return uses_cg(h) ? 1e8 : 1e3;
}

/* Keep the first level whose solution does not make sense; NULL: do not look. */
static mg_status_t look(mg_hierarchy_t *h, int l, int *culprit) {
  double norm[2];
  if (!culprit || *culprit >= 0) return MG_OK;
  MG_TRY(mg_residual_norm(&h->level[l], MG_U, MG_F, &norm[0]));
  MG_TRY(mg_max_norm(&h->level[l], MG_F, -1, &norm[1]));
  MG_TRY(mg_comm_max(mg_comm_world(), norm, 2));
  if (!(norm[0] <= too_large(h) * norm[1])) *culprit = l;
  return MG_OK;
}

/* The level from which on the backend runs a cycle in one go; the coarsest when it does not. */
static int lowest_leg(const mg_hierarchy_t *h, int top, const int *culprit) {
  const int bottom = h->n_levels - 1;
  if (!h->coarse_cycle || culprit) return bottom;
  return h->coarse_cycle_first > top ? h->coarse_cycle_first : top;
}

/* A cycle from level l down, l being that level. */
static mg_status_t coarse_cycle(mg_hierarchy_t *h, int l, mg_cycle_t cycle, bool zero_guess,
                                int *culprit) {
  mg_level_t *level = &h->level[l];
  if (!h->coarse_cycle || culprit) {
    MG_TRY(mg_bottom_solve(level, h->params.bottom, zero_guess));
    return look(h, l, culprit);
  }
  MG_TIMED(level, MG_TIME_COARSE_CYCLE,
           level->backend->coarse_cycle_run(h->coarse_cycle, l - h->coarse_cycle_first, cycle,
                                            zero_guess));
  return MG_OK;
}

static mg_status_t v_cycle(mg_hierarchy_t *h, int top, bool zero_guess, int *culprit) {
  const int lowest = lowest_leg(h, top, culprit);
  for (int l = top; l < lowest; l++) {
    MG_TRY(descend(h, l, zero_guess || l > top));
    MG_TRY(look(h, l, culprit));
  }
  MG_TRY(coarse_cycle(h, lowest, MG_CYCLE_V, zero_guess || lowest > top, culprit));
  for (int l = lowest - 1; l >= top; l--) {
    MG_TRY(ascend(h, l));
    MG_TRY(look(h, l, culprit));
  }
  return MG_OK;
}

static mg_status_t f_cycle(mg_hierarchy_t *h, int top, int *culprit) {
  const int lowest = lowest_leg(h, top, culprit);
  for (int l = top; l < lowest; l++)
    MG_TRY(mg_restrict(h, l, MG_F, MG_F));
  MG_TRY(coarse_cycle(h, lowest, MG_CYCLE_F, true, culprit));
  for (int l = lowest - 1; l >= top; l--) {
    MG_TRY(mg_interpolate(h, l, mg_interpolation_of(h->params.op, MG_CYCLE_F), false));
    MG_TRY(v_cycle(h, l, false, culprit));
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

static mg_status_t cycle(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, int *culprit) {
  if (kind == MG_CYCLE_FIRST && h->params.cycle == MG_CYCLE_F) return f_cycle(h, top, culprit);
  return v_cycle(h, top, kind != MG_CYCLE_NEXT, culprit);
}

/* The kind of cycle number n of a solve, from 0 on, while it does not use conjugate gradients. */
static mg_cycle_kind_t kind_of(int n) {
  return n == 0 ? MG_CYCLE_FIRST : MG_CYCLE_NEXT;
}

static mg_status_t run_cycle(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, int *culprit) {
  mg_level_t *level = &h->level[top];
  const mg_backend_t *backend = level->backend;
  if (backend->range_begin) backend->range_begin(kind == MG_CYCLE_FIRST ? "first cycle" : "cycle");
  if (h->graph[top][kind] && !h->profile && !culprit)
    MG_TRY(backend->graph_launch(h->graph[top][kind]));
  else
    MG_TRY(cycle(h, top, kind, culprit));
  if (backend->range_end) backend->range_end();
  return remove_mean(level);
}

static bool recordable(const mg_hierarchy_t *h, int top) {
  const mg_level_t *last = &h->level[h->n_levels - 1];
  const mg_backend_t *backend = h->level[top].backend;
  if (!backend->graph_begin) return false;
  for (int l = top; l < h->n_levels; l++) {
    const mg_level_t *level = &h->level[l];
    if (level->backend != backend || mg_exchange_waits(level->halo) ||
        mg_exchange_waits(level->halo_box) || mg_exchange_waits(level->halo_deep) ||
        mg_exchange_waits(level->gather) || mg_exchange_waits(level->scatter))
      return false;
  }
  return h->coarse_cycle || !last->comm ||
         (backend->bottom && backend->bottom_fits(&last->store.view, h->params.bottom));
}

/* Does a solve have cycles of this kind? */
static bool is_needed(const mg_hierarchy_t *h, mg_cycle_kind_t kind) {
  if (kind == MG_CYCLE_NEXT) return h->params.rtol > 0.0 && !uses_cg(h);
  if (kind == MG_CYCLE_PRECONDITION) return uses_cg(h);
  return !uses_cg(h) || h->params.cycle == MG_CYCLE_F;
}

mg_status_t mg_graph_capture(mg_hierarchy_t *h, int top) {
  const mg_backend_t *backend = h->level[top].backend;
  /* All or none: what is only kept here may be waited for there, and a rank without cells on the
   * coarsest level does not know how that is solved. */
  double on_all = recordable(h, top);
  MG_TRY(mg_comm_min(mg_comm_world(), &on_all, 1));
  if (on_all == 0.0) return MG_OK;
  for (int kind = 0; kind < MG_N_CYCLE_KINDS; kind++) {
    if (h->graph[top][kind] || !is_needed(h, (mg_cycle_kind_t)kind)) continue;
    MG_TRY(backend->graph_begin());
    const mg_status_t status = cycle(h, top, (mg_cycle_kind_t)kind, NULL);
    const mg_status_t ended = backend->graph_end(&h->graph[top][kind]);
    MG_TRY(status); /* which may be why it did not end well */
    MG_TRY(ended);
  }
  return MG_OK;
}

/* Of so many cycles at most those that are none of conjugate gradients': with these the first one,
 * unless they begin from zero. */
static int n_plain(const mg_hierarchy_t *h, int n_cycles) {
  if (!uses_cg(h)) return n_cycles;
  return h->params.cycle == MG_CYCLE_F && n_cycles > 0;
}

/* So many cycles once more, with a look at each level whenever its solution has changed. Conjugate
 * gradients do not begin anew here where they did so on their way. */
static mg_status_t search(mg_hierarchy_t *h, int top, int n_cycles, int *culprit) {
  mg_level_t *level = &h->level[top];
  mg_outer_cg_t cg;
  double norm;
  int n = 0;
  for (; n < n_plain(h, n_cycles) && *culprit < 0; n++)
    MG_TRY(run_cycle(h, top, kind_of(n), culprit));
  if (n == n_cycles || *culprit >= 0) return MG_OK;
  MG_TRY(mg_outer_cg_begin(level, n == 0, &cg));
  for (; n < n_cycles && *culprit < 0; n++) {
    MG_TRY(run_cycle(h, top, MG_CYCLE_PRECONDITION, culprit));
    MG_TRY(mg_outer_cg_step(level, &cg, &norm));
  }
  return mg_outer_cg_end(level);
}

/* Where it began is hard to see in the end, when a NaN has reached every level. */
static mg_status_t report_divergence(mg_hierarchy_t *h, int top, double f_norm,
                                     mg_history_t *history) {
  const int cycle = history->n_cycles;
  /* What was done before a restart cannot be done again. */
  int culprit = isfinite(f_norm) && history->n_before == 0 ? -1 : top;
  if (culprit < 0) MG_TRY(search(h, top, cycle, &culprit));
  history->diverged_level = culprit < 0 ? top : culprit;
  if (mg_comm_rank(mg_comm_world()) != 0) return MG_ERR_DIVERGED;
  return mg_error(MG_ERR_DIVERGED,
                  "the solution diverged on level %d (%d^3 cells) in cycle %d: residual %g, "
                  "right-hand side %g",
                  history->diverged_level, h->plan.level[history->diverged_level].layout.n, cycle,
                  history->norm[cycle - 1], f_norm);
}

/* A solve under way. */
typedef struct {
  mg_hierarchy_t *h;
  int top, most; /* level, and cycles */
  double f_norm;
  const mg_watch_t *watch;
  mg_history_t *history;
} solve_t;

static bool goes_on(const solve_t *s) {
  return s->history->n_cycles < s->most && !s->history->reached && !s->history->stopped;
}

/* Shall there be another cycle? */
static mg_status_t ask(const solve_t *s) {
  if (!goes_on(s) || !s->watch || !s->watch->ask) return MG_OK;
  return s->watch->ask(s->watch->data, &s->history->stopped);
}

/* Keep the norm of the residual after a cycle.
 * MG_ERR_DIVERGED when it no longer makes sense; it is not logged yet. */
static mg_status_t keep(const solve_t *s, double norm) {
  mg_history_t *history = s->history;
  const int n = history->n_cycles;
  mg_level_t *top = &s->h->level[s->top];
  /* Ranks without cells on the top level need the verdict as well. */
  if (top->plan->layout.n_ranks < mg_comm_size(mg_comm_world())) {
    top->timers.traffic.reductions++;
    MG_TRY(mg_comm_max(mg_comm_world(), &norm, 1));
  }
  history->norm[n] = norm;
  history->rel[n] = mg_relative_norm(norm, s->f_norm);
  history->n_cycles = n + 1;
  history->reached = s->h->params.rtol == 0.0 || history->rel[n] < s->h->params.rtol;
  return norm <= too_large(s->h) * s->f_norm ? ask(s) : MG_ERR_DIVERGED;
}

static bool is_shown(const solve_t *s) {
  return s->watch && s->watch->after_cycle;
}

static mg_status_t show(const solve_t *s) {
  return is_shown(s) ? s->watch->after_cycle(s->watch->data, s->history) : MG_OK;
}

/* The residual of MG_U, after a cycle. */
static mg_status_t assess(const solve_t *s) {
  double norm;
  MG_TRY(mg_residual_norm(&s->h->level[s->top], MG_U, MG_F, &norm));
  MG_TRY(keep(s, norm));
  return show(s);
}

static mg_status_t plain_cycles(const solve_t *s) {
  while (goes_on(s) && s->history->n_cycles < n_plain(s->h, s->most)) {
    MG_TRY(run_cycle(s->h, s->top, kind_of(s->history->n_cycles), NULL));
    MG_TRY(assess(s));
  }
  return MG_OK;
}

/* Steps until the residual that they update is small enough, or their number is. The last of them
 * has not been shown. */
static mg_status_t cg_steps(const solve_t *s, mg_outer_cg_t *cg) {
  mg_level_t *level = &s->h->level[s->top];
  for (;;) {
    double norm;
    MG_TRY(run_cycle(s->h, s->top, MG_CYCLE_PRECONDITION, NULL));
    MG_TRY(mg_outer_cg_step(level, cg, &norm));
    MG_TRY(keep(s, norm));
    if (!goes_on(s)) return MG_OK;
    if (!is_shown(s)) continue;
    MG_TRY(mg_outer_cg_show(level));
    const mg_status_t shown = show(s);
    MG_TRY(mg_outer_cg_hide(level));
    MG_TRY(shown);
  }
}

/* The true residual has the last word: conjugate gradients begin anew from it when theirs was
 * smaller than it is. */
static mg_status_t cg_cycles(const solve_t *s) {
  mg_level_t *level = &s->h->level[s->top];
  while (goes_on(s)) {
    mg_outer_cg_t cg;
    MG_TRY(mg_outer_cg_begin(level, s->history->n_cycles == 0, &cg));
    const mg_status_t status = cg_steps(s, &cg);
    MG_TRY(mg_outer_cg_end(level));
    MG_TRY(status);
    MG_TRY(remove_mean(level));
    s->history->n_cycles--;
    MG_TRY(assess(s));
  }
  return MG_OK;
}

/* Cycles from number history->n_cycles on. */
static mg_status_t run_cycles(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                              mg_history_t *history) {
  const int most = h->params.rtol > 0.0 ? h->params.max_cycles : 1;
  const solve_t solve = {h, top, most, f_norm, watch, history};
  history->n_before = history->n_cycles;
  history->stopped = false;
  mg_status_t status = plain_cycles(&solve);
  if (status == MG_OK && uses_cg(h)) status = cg_cycles(&solve);
  return status == MG_ERR_DIVERGED ? report_divergence(h, top, f_norm, history) : status;
}

mg_status_t mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                             mg_history_t *history) {
  history->n_cycles = 0;
  history->reached = false;
  history->diverged_level = -1;
  return run_cycles(h, top, f_norm, watch, history);
}

mg_status_t mg_solve(mg_hierarchy_t *h, int top, double f_norm, mg_history_t *history) {
  return mg_solve_watched(h, top, f_norm, NULL, history);
}

mg_status_t mg_solve_on(mg_hierarchy_t *h, int top, double f_norm, const mg_watch_t *watch,
                        mg_history_t *history) {
  history->reached = h->params.rtol == 0.0 || history->rel[history->n_cycles - 1] < h->params.rtol;
  history->diverged_level = -1;
  return run_cycles(h, top, f_norm, watch, history);
}
