/* The solver of the coarsest level. */
#ifndef MG_BOTTOM_H
#define MG_BOTTOM_H

#include "level/level.h"

enum { MG_BOTTOM_MAX_ITERATIONS = 200 };
#define MG_BOTTOM_REDUCTION 1e-3

/** Solve A MG_U = MG_F on the coarsest level until max|r| < 1e-3 max|r0| or
 *  MG_BOTTOM_MAX_ITERATIONS. Both Krylov methods are preconditioned by MG_DINV.
 *
 *  MG_F stays as it is. Of a periodic Poisson problem its mean is left out, since A is singular.
 *
 *  Collective over the level's ranks; returns at once on others. A breakdown keeps the iterate
 *  reached; for CG a direction in which A is not positive is one: at walls fv2 and fv4 are not
 *  symmetric, and with a rough beta a large coarsest grid is more than CG can solve.
 *  @param[in] zero_guess  start from zero whatever MG_U holds; else from there, as when cycles to a
 *                         tolerance have no coarser level to go to
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE; values that are not finite are found by the cycle
 *  @ref BiCGStab: van der Vorst (1992); CG: Hestenes and Stiefel (1952) */
MG_MUST_CHECK mg_status_t mg_bottom_solve(mg_level_t *level, mg_bottom_t method, bool zero_guess);

#endif
