/* Layouts of grids of any size (--cells). */
#ifndef MG_GENERAL_LAYOUT_H
#define MG_GENERAL_LAYOUT_H

#include "plan/decomp.h"

/** A general layout of n cells: one cuboid per rank, none more than 10 % above the mean if its
 *  sides can be cut so. Fewer ranks have cells if some would have none.
 *  @param[in] ranks  maximum number of ranks with cells */
mg_layout_t mg_general_layout(const int32_t n[3], int64_t ranks, int64_t world_ranks);

/** The layout of the next coarser level on at most `ranks` ranks. With as many ranks as the fine
 *  level it has the same parts, if their sides are even and no single cells separate them.
 *  @pre fine->single is set */
mg_layout_t mg_general_coarse(const mg_layout_t *fine, int64_t ranks);

#endif
