/* Coefficients, right-hand side and smoother of every level. */
#ifndef MG_PROBLEM_H
#define MG_PROBLEM_H

#include "level/level.h"

/** Limits of a user's values: beta and alpha are within both, but alpha may be 0; the magnitude of
 * f is at most the larger one. Products and sums of such values neither overflow nor underflow. */
#define MG_MIN_VALUE 1e-60
#define MG_MAX_VALUE 1e60

/** Limit of the ratio of two betas if u is determined only up to a constant. Subtracting the mean
 * of f leaves its rounding everywhere, which in a solid of small betas makes a u of about
 * eps ratio max|u|. Cycles round that in turn: at 1e22, eps^2 ratio is above the default --rtol of
 * 1e-8 on 32^3 and 64^3 cells. */
#define MG_MAX_RATIO 1e20

/** Set up the problem on all levels. Finest level: betas, f, and alpha = 1 if it varies. Coarser
 *  levels: alpha and betas by restriction. All levels: Dinv, lambda_max and the smoother steps.
 *
 *  Collective over the world.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_problem_set(mg_hierarchy_t *h);

/** Alternative source of the finest level's coefficients and right-hand side. `load` is called on
 *  every rank after the built-in ones are set, and once more if its betas replaced the levels
 *  (method.h). It may change MG_ALPHA (if alpha varies), the face
 *  betas of cells and the faces that close patches, and MG_F; all without the factors of
 *  level/metric.h. `load_wall` sets MG_U of the cells next to a side to the values of the side's
 *  condition, if params->side[d][side].varies. */
typedef struct {
  mg_status_t (*load)(void *data, mg_hierarchy_t *h);
  void *data;
  mg_status_t (*load_wall)(void *data, mg_hierarchy_t *h, int d, int side);
  bool sets_f; /**< `load` sets MG_F */
  /** `load` sets all betas, and mg_problem_set_rhs is called afterwards. The built-in problem is
   * not filled in. Without `load_wall`, values of conditions are those of mg_wall_values_save. */
  bool sets_coefficients;
} mg_problem_source_t;

/** Like mg_problem_set, with a source; NULL for none.
 *  @return status of mg_problem_set or of `load` */
MG_MUST_CHECK mg_status_t mg_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source);

/** Replace only the right-hand side of a problem that was set with sets_coefficients.
 *  @param[in] load      sets MG_F, without factors
 *  @param[in] enqueued  do not wait for the device; pre: it holds all cells
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE, or the status of `load`, the same on every rank */
MG_MUST_CHECK mg_status_t mg_problem_set_rhs(mg_hierarchy_t *h,
                                             mg_status_t (*load)(void *data, mg_hierarchy_t *h),
                                             void *data, bool enqueued);

/** Restrict MG_F of the finest level down to level l, for a solve that starts there.
 *  @param[out] f_norm  max |MG_F| of level l, on every rank */
MG_MUST_CHECK mg_status_t mg_problem_restrict_rhs(mg_hierarchy_t *h, int l, double *f_norm);

#endif
