/* The multigrid cycles. */
#ifndef MG_MG_H
#define MG_MG_H

#include "level/level.h"

enum { MG_MAX_CYCLES = 1000 };

/** What one solve reached: residual norms after each cycle. */
typedef struct {
  int n_cycles;
  int n_before;               /**< of these, those of an earlier run */
  double norm[MG_MAX_CYCLES]; /**< max |f - A u| */
  double rel[MG_MAX_CYCLES];  /**< the same over max |f| */
  bool reached;               /**< rel below --rtol, or none asked for */
  bool stopped;               /**< a watch asked for no further cycle */
  int diverged_level;         /**< where the last cycle went astray, -1 if it did not */
} mg_history_t;

/** What --rtol is compared with: max|f-Au| / max|f|, and max|Au| where f = 0. */
static inline double mg_relative_norm(double norm, double f_norm) {
  return f_norm > 0.0 ? norm / f_norm : norm;
}

/** Record the cycles of solves from level `top`, so that mg_solve replays them in one call each.
 *  Collective over the world: all ranks record, or none does.
 *  Nothing happens where a backend cannot record, or where a cycle needs the host on its way: for
 *  messages, for levels on the CPU, for a bottom solve that is not one launch.
 *
 *  Allocates; the solves do not.
 *  @pre mg_problem_set has been called, and is not called again without another recording
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_graph_capture(mg_hierarchy_t *h, int top);

/** What a solve may do after each cycle; a status other than MG_OK ends it. */
typedef struct {
  mg_status_t (*after_cycle)(void *data, const mg_history_t *history); /**< NULL: nothing */
  /** Before each further cycle: true in *stop, on all ranks or on none, is for ending here, as if
   *  no more cycles were allowed. NULL: never. */
  mg_status_t (*ask)(void *data, bool *stop);
  void *data;
} mg_watch_t;

/** Solve A MG_U = MG_F on level `top` with the coarser levels' help.
 *
 *  One cycle (F or V as chosen); with a tolerance V-cycles follow until it is reached or
 *  --max-cycles are done. With --krylov=cg a cycle after an F-cycle, or from zero, is a step of
 *  conjugate gradients (outer_cg.h); its norm is that of the residual which they update, except for
 *  the last one: max |MG_F - A MG_U| as always. MG_F of coarser levels and MG_U of all are
 *  overwritten, MG_F of the top is not. Collective over the world.
 *  @param[in]  f_norm   max |MG_F| of the top
 *  @param[out] history  the same on every rank
 *  @return MG_OK, MG_ERR_DIVERGED (logged: level and cycle), MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_solve(mg_hierarchy_t *h, int top, double f_norm,
                                   mg_history_t *history);

/** The same with a look at every cycle.
 *  @param[in] watch  called on every rank; NULL: no look */
MG_MUST_CHECK mg_status_t mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm,
                                           const mg_watch_t *watch, mg_history_t *history);

/** Go on with a solve whose MG_U is on the top.
 *  @param[in]     watch    as above
 *  @param[in,out] history  of the cycles so far: one at least */
MG_MUST_CHECK mg_status_t mg_solve_on(mg_hierarchy_t *h, int top, double f_norm,
                                      const mg_watch_t *watch, mg_history_t *history);

#endif
