/* The multigrid cycles: V, F, and the kinds that a solve consists of. */
#ifndef MG_CYCLE_H
#define MG_CYCLE_H

#include "level/level.h"

enum { MG_MAX_CYCLES = 1000 };

/** Residual norms after each cycle of one solve, and how it ended. */
typedef struct {
  int n_cycles;
  int n_before;               /**< cycles before a restart, included in n_cycles */
  double norm[MG_MAX_CYCLES]; /**< max |f - A u| */
  double rel[MG_MAX_CYCLES];  /**< norm / (reference norm) */
  bool converged;             /**< rel is below --rtol, or there is no --rtol */
  bool stagnated;             /**< ended at round-off, above --rtol */
  bool stopped;               /**< poll_stop (mg_watch_t, solve.h) ended the solve */
  int diverged_level;         /**< level on which the last cycle diverged, otherwise -1 */
} mg_history_t;

/** Run one cycle on the levels from `top` down.
 *
 *  Uses the captured graph of this kind if there is one (graph.c). For a singular problem u gets
 *  the mean of --mean, or zero. Collective over the world.
 *  @param[in]     kind      FIRST: from zero, F or V as chosen; NEXT: a V-cycle from MG_U;
 *                           PRECONDITION: a V-cycle from zero
 *  @param[out]    norm      max |f - A u| on the ranks of level `top`, which wait for it. In double
 *                           without --mean, that of u before its mean is removed. NULL: no norm
 *  @param[in,out] diverged  NULL: no check. Otherwise -1 on entry; set to the first level whose
 *                           residual exceeds mg_divergence_limit, with an extra norm per level
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cycle_run(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind,
                                       double *norm, int *diverged);

/** The cycle operation by operation: without a graph and without removing the mean of u. */
MG_MUST_CHECK mg_status_t mg_cycle_by_operations(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind,
                                                 int *diverged);

/** Residual norm, as a multiple of max |f|, above which a solve has diverged. */
double mg_divergence_limit(const mg_hierarchy_t *h);

/** Check the residual of level l, MG_F - A x.
 *  @param[in,out] diverged  NULL: no check. Set to l if it is -1 and the residual exceeds the limit
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_divergence_check(mg_hierarchy_t *h, int l, mg_vector_t x,
                                              int *diverged);

static inline bool mg_uses_krylov(const mg_hierarchy_t *h) {
  return h->params.krylov != MG_KRYLOV_NONE;
}

/** The kind of plain cycle number n of a solve, counted from 0. */
static inline mg_cycle_kind_t mg_plain_cycle_kind(int n) {
  return n == 0 ? MG_KIND_FIRST : MG_KIND_NEXT;
}

/** Number of plain multigrid cycles, at most n_cycles, before CG takes over: the F-cycle, or none
 *  with --cycle=v. */
static inline int mg_n_plain_cycles(const mg_hierarchy_t *h, int n_cycles) {
  if (!mg_uses_krylov(h)) return n_cycles;
  return h->params.cycle == MG_CYCLE_F && n_cycles > 0;
}

/** Set the smoothers of all levels, prepare the coarse cycle, and drop graphs of old ones.
 *  @param[in] slow  with params.slow_degree */
MG_MUST_CHECK mg_status_t mg_cycles_set_smoothers(mg_hierarchy_t *h, bool slow);

#endif
