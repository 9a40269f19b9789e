/* Layouts of grids of any size, and the rule that coarsens them (--cells). */
#ifndef MG_GENERAL_LAYOUT_H
#define MG_GENERAL_LAYOUT_H

#include "plan/decomp.h"

/** A general layout of n cells: one cuboid per rank, none more than 10 % above the mean if its
 *  sides can be cut so. Fewer ranks have cells if some would have none.
 *  @param[in] ranks  maximum number of ranks with cells */
mg_layout_t mg_general_layout(const int32_t n[3], int64_t ranks, int64_t world_ranks);

/** Choose the directions in which the next coarser level is coarser: those with cells less than
 *  twice as wide as the narrowest ones, of the directions with more than one cell. So coarse levels
 *  have cells of similar widths.
 *  @param[in]  width     of the cells in each direction
 *  @param[in]  smallest  minimum number of coarse cells in each of these directions
 *  @param[out] kept      the other directions
 *  @return false if the level is the coarsest */
bool mg_general_coarsens(const int32_t n[3], const double width[3], int smallest, bool kept[3]);

/** The layout of the next coarser level on at most `ranks` ranks. With as many ranks as the fine
 *  level it has the same parts, if their sides are even.
 *  @pre fine->kept is set */
mg_layout_t mg_general_coarse(const mg_layout_t *fine, int64_t ranks);

#endif
