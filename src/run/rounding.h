/* How much float rounding changes a solution of mixed precision. */
#ifndef MG_ROUNDING_H
#define MG_ROUNDING_H

#include "level/level.h"

/** Measure the difference that float rounding makes to the solution of size s.
 *
 *  Repeats the solve with residuals scaled by 3 before they are rounded to float. In exact
 *  arithmetic the result is the same, since a V-cycle is linear. In float, every operation rounds
 *  differently. MG_U of level s > 0 is restored. MG_U of level 0 is solved again if dumps are
 *  written; otherwise it is overwritten. Overwrites MG_U and MG_F of coarser levels, and
 *  MG_RESTRICTED_U of level s > 0, of no other level. Restarts of CG are not repeated.
 *  Collective over the world.
 *  @param[in]  n_cycles    cycles of the solve that made MG_U
 *  @param[in]  f_norm      max |MG_F| of level s
 *  @param[out] difference  the largest over the cells of level s, or, for s = 0, over means of 8
 *      cells; on every rank
 *  @pre h->low; MG_RESTRICTED_U of level 1 holds the restriction of level 0 if s = 0
 *  @return MG_OK, MG_ERR_DIVERGED, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_rounding_measure(mg_hierarchy_t *h, int s, int n_cycles, double f_norm,
                                              double *difference);

#endif
