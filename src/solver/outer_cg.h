/* Flexible conjugate gradients on one level. The caller runs the preconditioner: a V-cycle from
 * zero, which computes MG_U from MG_F.
 *
 * During the iteration MG_F holds the residual r and MG_U the preconditioned residual; u is in
 * MG_SOLUTION and f in MG_RHS. All calls are collective over the ranks that hold cells of the
 * level; other ranks return at once.
 *
 *   mg_outer_cg_begin(level, false, &cg);
 *   while (norm is too large) {
 *     compute MG_U from MG_F;
 *     mg_outer_cg_step(level, &cg, &norm);
 *   }
 *   mg_outer_cg_end(level); */
#ifndef MG_OUTER_CG_H
#define MG_OUTER_CG_H

#include "level/level.h"

/** State passed from one step to the next. */
typedef struct {
  bool has_direction; /**< MG_DIRECTION and MG_A_DIRECTION hold those of the previous step */
  double p_dot_ap;    /**< p is MG_DIRECTION */
} mg_outer_cg_t;

/** Start from MG_U, or from zero, without a search direction yet.
 *  @pre the level has the vectors MG_VECTORS_OF_OUTER_CG
 *  @post MG_F is the residual of the starting point */
MG_MUST_CHECK mg_status_t mg_outer_cg_begin(mg_level_t *level, bool from_zero, mg_outer_cg_t *cg);

/** One CG step. With z in MG_U and p the previous direction:
 *
 *    p <- z - (z.Ap / p.Ap) p,   u <- u + (p.r / p.Ap) p,   r <- r - (p.r / p.Ap) A p
 *
 *  In the first step, p <- z. If p is unusable (p.Ap not positive, p.r zero, or a non-finite
 *  value), z itself is tried. If z is unusable too, u <- u + z, as in a plain V-cycle without CG.
 *  Hence a NaN ends up in r.
 *  @param[out] norm  max |r|, on the level's ranks; r is updated, not recomputed from u. NULL: not
 *      needed
 *  @ref Notay, Flexible conjugate gradients, SIAM Journal on Scientific Computing 22 (2000) */
MG_MUST_CHECK mg_status_t mg_outer_cg_step(mg_level_t *level, mg_outer_cg_t *cg, double *norm);

/** Between two steps, move u to MG_U and f to MG_F for inspection, and move them back. In between,
 *  only MG_TMP may be overwritten. */
MG_MUST_CHECK mg_status_t mg_outer_cg_show(mg_level_t *level);
MG_MUST_CHECK mg_status_t mg_outer_cg_hide(mg_level_t *level);

/** Leave u in MG_U and the original f in MG_F. */
MG_MUST_CHECK mg_status_t mg_outer_cg_end(mg_level_t *level);

#endif
