/* One solve, for its parts: plain cycles (solve.c), and steps of a Krylov method (krylov.c). */
#ifndef MG_SOLVE_PARTS_H
#define MG_SOLVE_PARTS_H

#include "solver/cycle.h"

struct mg_watch; /* solve.h */

/** The course of max |f - A u|. Norms that CG or BiCGStab update do not count. */
typedef struct {
  double best, last;
  int n_stagnant; /**< residuals since one was 10 % below the best before it */
  int n_grown;    /**< last plain cycles that raised the residual */
  double factor;  /**< by the last one of them */
} mg_course_t;

typedef struct mg_solve {
  mg_hierarchy_t *h;
  int top, max_cycles;
  double f_norm;
  const struct mg_watch *watch;
  mg_history_t *history;
  mg_course_t *course;
} mg_solve_t;

static inline bool mg_solve_is_unfinished(const mg_solve_t *s) {
  const mg_history_t *history = s->history;
  return history->n_cycles < s->max_cycles && !history->converged && !history->stagnated &&
         !history->stopped;
}

/** Append the residual norm of a cycle to the history.
 *  @return MG_OK, MG_ERR_DIVERGED (the norm exceeds the limit; not logged yet), MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_solve_record(const mg_solve_t *s, double norm);

/** mg_solve_record of max |f - A u|, judge it, and call back.
 *  @param[in] is_plain  after a plain cycle, not after a Krylov method */
MG_MUST_CHECK mg_status_t mg_solve_end_cycle(const mg_solve_t *s, double norm, bool is_plain);

#endif
