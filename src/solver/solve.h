/* Solve: cycles until a tolerance is reached. */
#ifndef MG_SOLVE_H
#define MG_SOLVE_H

#include "solver/cycle.h"

/** The reference norm of a solve on level `top`.
 *  @param[in] f_norm  max |MG_F| of that level: the reference norm if c is 0 */
static inline double mg_reference_norm(const mg_hierarchy_t *h, int top, double f_norm) {
  return top == 0 && h->reference.norm > 0.0 ? h->reference.norm : f_norm;
}

/** How messages call the reference norm. */
static inline const char *mg_reference_name(const mg_reference_t *reference) {
  return reference->norm > 0.0 ? "max|f-Ac|" : "max|f|";
}

/** The relative residual, compared with --rtol: max|f-Au| / (reference norm), or max|Au| if f = 0.
 *  @param[in] f_norm  as in mg_reference_norm */
static inline double mg_relative_norm(const mg_hierarchy_t *h, int top, double norm,
                                      double f_norm) {
  const double reference = mg_reference_norm(h, top, f_norm);
  return reference > 0.0 ? norm / reference : norm;
}

/** Callbacks of a solve; a status other than MG_OK ends it. */
typedef struct mg_watch {
  mg_status_t (*after_cycle)(void *data, const mg_history_t *history); /**< NULL: none */
  /** Called before each further cycle. Setting *stop, on all ranks or on none, ends the solve as if
   *  --max-cycles were reached. NULL: never stop. */
  mg_status_t (*poll_stop)(void *data, bool *stop);
  void *data;
} mg_watch_t;

/** Solve A MG_U = MG_F on level `top`, with multigrid on the levels below.
 *
 *  One cycle (F or V as chosen). With a tolerance, V-cycles follow until it is reached or
 *  --max-cycles are done. With --krylov, the cycles after the F-cycle (all cycles with --cycle=v)
 *  are steps of a Krylov method (outer.h). A step's norm is the maximum of the residual that it
 *  updates; for the last step it is max |MG_F - A MG_U|, as for plain cycles. Overwrites MG_U of
 * all levels and MG_F of the coarser ones. Collective over the world.
 *  @param[in]  f_norm   max |MG_F| of the top level
 *  @param[out] history  the same on every rank
 *  @return MG_OK, MG_ERR_DIVERGED (logged with level and cycle), MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_solve(mg_hierarchy_t *h, int top, double f_norm,
                                   mg_history_t *history);

/** mg_solve with callbacks.
 *  @param[in] watch  called on every rank; may be NULL */
MG_MUST_CHECK mg_status_t mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm,
                                           const mg_watch_t *watch, mg_history_t *history);

/** Continue a solve from the MG_U of the top level.
 *  @param[in]     watch    as above
 *  @param[in,out] history  of the cycles so far, at least one */
MG_MUST_CHECK mg_status_t mg_solve_continue(mg_hierarchy_t *h, int top, double f_norm,
                                            const mg_watch_t *watch, mg_history_t *history);

#endif
