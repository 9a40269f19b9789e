/* Bottom solver: solves the coarsest level. */
#ifndef MG_BOTTOM_H
#define MG_BOTTOM_H

#include "level/level.h"

enum { MG_BOTTOM_MAX_ITERATIONS = 200 };

/** Reduction of max|r| that ends the bottom solver. A preconditioner of CG should be constant. */
double mg_bottom_reduction(const mg_hierarchy_t *h);

/** Solve A MG_U = MG_F on the coarsest level until max|r| < reduction max|r0|, with at most
 *  MG_BOTTOM_MAX_ITERATIONS iterations; MG_DINV is the preconditioner. Or by the inverse. MG_F is
 *  unchanged on return. If A is singular, its mean is ignored.
 *
 *  Collective over the level's ranks; other ranks return at once. On a breakdown the current
 *  iterate is kept.
 *  @param[in] zero_guess  start from zero and ignore MG_U. Otherwise start from MG_U: later cycles
 * of a hierarchy of one level
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE; non-finite values are detected by the cycle
 *  @ref BiCGStab: van der Vorst (1992) */
MG_MUST_CHECK mg_status_t mg_bottom_solve(mg_level_t *level, mg_bottom_t method, bool zero_guess,
                                          double reduction);

#endif
