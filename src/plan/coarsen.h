/* The level rule: the grid and the boxes of the next coarser level. */
#ifndef MG_COARSEN_H
#define MG_COARSEN_H

#include "plan/decomp.h"

/** The largest odd factor of n > 0. */
int64_t mg_odd_part(int64_t n);

/** The next coarser grid, with half the cells in each direction.
 *
 *  For cubes the rule is that of the reference benchmark. The box width that it gives decides where
 *  boundary formulas fall back to a lower order, so it affects the results. The cap on ranks only
 *  restricts where cells may be stored.
 *  @param[in]  radius    of the stencil
 *  @param[in]  smallest  minimum number of cells in each direction
 *  @param[out] coarse    without n_ranks and cuboids
 *  @param[out] rank_cap  maximum number of ranks
 *  @return false if there is no coarser grid
 *  @ref docs/algorithm.md, "Levels" */
bool mg_layout_coarsen(const mg_layout_t *fine, int radius, int smallest, mg_layout_t *coarse,
                       int64_t *rank_cap);

#endif
