/* Preconditioned Krylov methods on one level: flexible conjugate gradients, and BiCGStab for A that
 * is not symmetric. The caller runs the preconditioner: a cycle from zero, which computes MG_U from
 * MG_F.
 *
 * During the iteration MG_F holds what the preconditioner is applied to, and MG_U the result; u is
 * in MG_SOLUTION and f in MG_RHS. All calls are collective over the ranks that hold cells of the
 * level; other ranks return at once.
 *
 *   mg_outer_begin(level, method, false, &outer);
 *   while (norm is too large) {
 *     compute MG_U from MG_F;
 *     mg_outer_step(level, &outer, &norm);
 *   }
 *   mg_outer_end(level); */
#ifndef MG_OUTER_H
#define MG_OUTER_H

#include "level/level.h"

/** State passed from one step to the next. */
typedef struct {
  bool stabilizes;    /**< BiCGStab */
  bool has_direction; /**< MG_DIRECTION and MG_A_DIRECTION hold those of the previous step */
  bool is_second;     /**< BiCGStab: the next step is the second one of an iteration */
  double p_dot_ap;    /**< CG: p is MG_DIRECTION */
  double rho, alpha;  /**< BiCGStab: r.r0, and the step length along p */
} mg_outer_t;

/** Start from MG_U, or from zero, without a search direction yet.
 *  @param[in] method  MG_KRYLOV_BICGSTAB; others: conjugate gradients
 *  @pre the level has the vectors MG_VECTORS_OF_OUTER_KRYLOV, and MG_SHADOW for BiCGStab
 *  @post MG_F is the residual of the starting point */
MG_MUST_CHECK mg_status_t mg_outer_begin(mg_level_t *level, mg_krylov_method_t method,
                                         bool from_zero, mg_outer_t *outer);

/** One step. CG: with z in MG_U and p the previous direction,
 *
 *    p <- z - (z.Ap / p.Ap) p,   u <- u + (p.r / p.Ap) p,   r <- r - (p.r / p.Ap) A p
 *
 *  In the first step, p <- z. If p is unusable (p.Ap not positive, p.r zero, or a non-finite
 *  value), z itself is tried. If z is unusable too, u <- u + z, as in a plain V-cycle without CG.
 *  Hence a NaN ends up in r.
 *
 *  BiCGStab takes half an iteration. With z the preconditioned p, and r0 the first r,
 *
 *    v <- A z,   alpha <- rho / r0.v,   u <- u + alpha z,   s <- r - alpha v
 *
 *  and in the next step, with z the preconditioned s,
 *
 *    t <- A z,   omega <- t.s / t.t,   u <- u + omega z,   r <- s - omega t,
 *    beta <- (r0.r / rho) (alpha / omega),   p <- r + beta (p - omega v)
 *
 *  If a length is zero or not finite, u <- u + z, and the method restarts from there.
 *  @param[out] norm  max |r| or max |s|, on the level's ranks; r is updated, not recomputed from u.
 *      NULL: not needed
 *  @ref Notay, Flexible conjugate gradients, SIAM Journal on Scientific Computing 22 (2000); van
 *      der Vorst, Bi-CGSTAB, SIAM Journal on Scientific and Statistical Computing 13 (1992) */
MG_MUST_CHECK mg_status_t mg_outer_step(mg_level_t *level, mg_outer_t *outer, double *norm);

/** Forget the search direction, before the preconditioner runs. */
MG_MUST_CHECK mg_status_t mg_outer_restart(mg_level_t *level, mg_outer_t *outer);

/** Between two steps, move u to MG_U and f to MG_F for inspection, and move them back. In between,
 *  only MG_TMP may be overwritten. */
MG_MUST_CHECK mg_status_t mg_outer_show(mg_level_t *level);
MG_MUST_CHECK mg_status_t mg_outer_hide(mg_level_t *level);

/** Leave u in MG_U and the original f in MG_F. */
MG_MUST_CHECK mg_status_t mg_outer_end(mg_level_t *level);

#endif
