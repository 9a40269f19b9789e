/* Decomposition: boxes, their distribution over ranks, and the patches of a rank.
 *
 * Each rank gets one cuboid if the grid can be cut evenly enough. Otherwise the boxes are
 * ordered along a Morton curve, which is cut into equal segments.
 *
 * Integers only. Every rank can compute the share of any other, without messages. */
#ifndef MG_DECOMP_H
#define MG_DECOMP_H

#include "base/status.h"
#include "plan/decomp_cuboids.h"

/** Position of a box along the Morton curve through a grid of boxes.
 *
 *  The curve is that of the enclosing cube of a power of two, without the missing boxes.
 *  Therefore position = 8 * (position of the parent) + octant whenever all of `boxes` are even.
 *  @param boxes  boxes in i, j, k
 *  @return 0 to the number of boxes - 1 */
int64_t mg_morton_position(const int32_t boxes[3], const int32_t box[3]);

/** World rank that owns a box. */
int64_t mg_layout_owner(const mg_layout_t *layout, const int32_t box[3]);

/** World rank of the rank with number `index`, 0 to n_ranks - 1, among the ranks with boxes. */
int64_t mg_layout_rank(const mg_layout_t *layout, int64_t index);

/** Number of boxes that a rank owns. */
int64_t mg_layout_share(const mg_layout_t *layout, int64_t rank);

/** Number of boxes on the rank that owns the most. */
int64_t mg_layout_largest_share(const mg_layout_t *layout);

/** Without cuboids: Morton positions [first, last) of the boxes of a rank; empty if it has none. */
void mg_layout_range(const mg_layout_t *layout, int64_t rank, int64_t *first, int64_t *last);

/** Merge the boxes of a rank into few cuboids, in an order that depends only on the arguments.
 *
 *  On a segment of the curve: greedy growth from the first remaining box along j, i and k. A full
 *  octant becomes one cube.
 *  @param[out] patches  malloc'ed, caller frees; NULL if the rank has no box
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_layout_patches(const mg_layout_t *layout, int64_t rank,
                                            mg_cuboid_t **patches, int *n_patches);

/** True if the halves of the patches on `fine` are exactly the patches on `coarse`, for every
 *  rank. Restriction and interpolation between the two levels then need no message. */
bool mg_layouts_nest(const mg_layout_t *fine, const mg_layout_t *coarse);

#endif
