/* Coefficients, right-hand side and smoother of every level. */
#ifndef MG_PROBLEM_H
#define MG_PROBLEM_H

#include "level/level.h"

/** Fill the hierarchy: betas and f on the finest level, alpha 1 where it varies, alpha and betas by
 *  restriction on coarser ones, Dinv, lambda_max and the smoother's steps on all.
 *
 *  Collective over the world.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_problem_set(mg_hierarchy_t *h);

/** Where the finest level's coefficients and right-hand side come from instead: `load` is called
 *  on every rank when the built-in ones are there. It may change MG_ALPHA (where alpha varies), the
 *  face betas of cells and the faces that close patches, and MG_F. */
typedef struct {
  mg_status_t (*load)(void *data, mg_hierarchy_t *h);
  void *data;
} mg_problem_source_t;

/** The same with a source; NULL: none.
 *  @return what mg_problem_set returns, or the status of `load` */
MG_MUST_CHECK mg_status_t mg_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source);

/** Restrict MG_F of the finest level down to level l, for a solve that starts there.
 *  @param[out] f_norm  max |MG_F| of level l, on every rank */
MG_MUST_CHECK mg_status_t mg_problem_restrict_rhs(mg_hierarchy_t *h, int l, double *f_norm);

/** Steps of one smooth with the given choices; `lambda_max` is Chebyshev's upper end.
 *
 *  @param[out] steps  malloc'ed, caller frees
 *  @ref Chebyshev: Saad, Iterative methods for sparse linear systems (2003), section 12.3, on
 *       [lambda_max/8, lambda_max] */
MG_MUST_CHECK mg_status_t mg_smoother_steps(const mg_params_t *params, double lambda_max,
                                            mg_step_t **steps, int *n_steps);

#endif
