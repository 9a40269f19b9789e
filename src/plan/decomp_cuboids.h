/* One cuboid of boxes for each rank, where that deals them out evenly enough. */
#ifndef MG_DECOMP_CUBOIDS_H
#define MG_DECOMP_CUBOIDS_H

#include "plan/decomp.h"

/** Can the grid be cut into one cuboid a rank, none of them 5 % above the mean?
 *
 *  The longest side, k before j before i, is cut, and the parts go on likewise: into as many equal
 *  parts as the largest prime of 2 to 11 that divides both the side and the ranks. Where there is
 *  none, the ranks are halved and the side as near to that as its boxes allow. Odd primes come
 *  first because coarser levels keep them: their cuts are where the finer level's are. */
bool mg_cuboids_are_even(const mg_layout_t *layout);

/** Boxes of the largest cuboid when the grid is cut so; 0 where it cannot be, with fewer layers
 * than ranks somewhere. */
int64_t mg_cuboids_largest(const mg_layout_t *layout);

/** Cuboid number `index` of n_ranks, in boxes. */
mg_cuboid_t mg_cuboids_part(const mg_layout_t *layout, int64_t index);

/** The number of the cuboid that a box is in. */
int64_t mg_cuboids_index(const mg_layout_t *layout, const int32_t box[3]);

/** Are the cuboids of `fine`, with twice the boxes a side, those of `coarse` twice as wide? */
bool mg_cuboids_double(const mg_layout_t *fine, const mg_layout_t *coarse);

#endif
