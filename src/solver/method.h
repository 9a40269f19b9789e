/* What the coefficients of a problem decide. */
#ifndef MG_METHOD_H
#define MG_METHOD_H

#include "level/level.h"
#include "solver/cycle.h"

/** With --method=auto, choose smoother, cycle and Krylov method before betas are known. Those of
 *  --coefficients count as rough, and in a dry run of the library all, since the plan needs the
 * most memory then. Others are built in, or 1 until a library's caller sets them. */
void mg_method_begin(mg_params_t *params);

/** Choose the pairs of cells on all levels and, with --method=auto, the method by the betas of
 * level 0, which have no factors yet, if the grid may have any size. If anything else is chosen
 * than before, all levels are replaced, so that level 0 must be loaded again.
 *
 *  Collective over the world.
 *  @param[out] replaced  the levels are new
 *  @return as mg_hierarchy_create and mg_memory_check
 *  @ref docs/algorithm.md, "Grids of any size" and "Method" */
MG_MUST_CHECK mg_status_t mg_method_choose(mg_hierarchy_t *h, bool *replaced);

/** Before a step of a Krylov method: with params->slow_degree, give Chebyshev's polynomials of all
 * levels that degree if the cycles of this solve are slow. Graphs of cycles are dropped.
 *
 *  Collective over the world.
 *  @param[in]  history    of the solve; NULL: one begins, with params->degree
 *  @param[out] restarts  becomes true if the degree changes: a direction that is made conjugate to
 *                        the last one then costs many steps
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_method_adapt(mg_hierarchy_t *h, const mg_history_t *history,
                                          bool *restarts);

#endif
