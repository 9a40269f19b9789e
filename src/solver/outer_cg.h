/* Flexible conjugate gradients on one level, around a preconditioner that the caller runs: a
 * V-cycle from zero, which makes MG_U of MG_F.
 *
 * While it goes on MG_F is the residual r and MG_U the preconditioned one; u is in MG_SOLUTION and
 * f in MG_RHS. All calls are collective over the ranks that hold cells of the level, and return at
 * once on others.
 *
 *   mg_outer_cg_begin(level, false, &cg);
 *   while (norm is too large) {
 *     make MG_U of MG_F;
 *     mg_outer_cg_step(level, &cg, &norm);
 *   }
 *   mg_outer_cg_end(level); */
#ifndef MG_OUTER_CG_H
#define MG_OUTER_CG_H

#include "level/level.h"

/** What one step hands to the next. */
typedef struct {
  bool has_direction; /**< MG_DIRECTION and MG_A_DIRECTION are those of the step before */
  double p_dot_ap;    /**< p being MG_DIRECTION */
} mg_outer_cg_t;

/** Begin from MG_U, or from zero, with the first direction still to be found.
 *  @pre the level has the vectors MG_VECTORS_OF_OUTER_CG
 *  @post MG_F is the residual of what it begins from */
MG_MUST_CHECK mg_status_t mg_outer_cg_begin(mg_level_t *level, bool from_zero, mg_outer_cg_t *cg);

/** One step. With z in MG_U, p the direction before:
 *
 *    p <- z - (z.Ap / p.Ap) p,   u <- u + (p.r / p.Ap) p,   r <- r - (p.r / p.Ap) A p,
 *
 *  where the first is p <- z without a direction before. Should p be unusable (p.Ap not positive,
 *  p.r zero, or a number that is not finite), z itself is tried, and then u <- u + z: what a
 * V-cycle without conjugate gradients does. So a NaN ends up in r.
 *  @param[out] norm  max |r|, on the level's ranks; r is updated, not computed from u
 *  @ref Notay, Flexible conjugate gradients, SIAM Journal on Scientific Computing 22 (2000) */
MG_MUST_CHECK mg_status_t mg_outer_cg_step(mg_level_t *level, mg_outer_cg_t *cg, double *norm);

/** Bring u to MG_U and f to MG_F, for a look at them between two steps, and back to what they were.
 *  MG_TMP may be overwritten in between, and nothing else. */
MG_MUST_CHECK mg_status_t mg_outer_cg_show(mg_level_t *level);
MG_MUST_CHECK mg_status_t mg_outer_cg_hide(mg_level_t *level);

/** Leave u in MG_U and f, as it was, in MG_F. */
MG_MUST_CHECK mg_status_t mg_outer_cg_end(mg_level_t *level);

#endif
