/* Boxes, ranks on the boxes, patches out of a rank's boxes.
 *
 * A rank has one cuboid where the grid can be cut so evenly enough; else the boxes lie along a
 * Morton curve, which is dealt out in even stretches.
 *
 * Integers only, and every rank can compute every other rank's share: nothing is communicated. */
#ifndef MG_DECOMP_H
#define MG_DECOMP_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

/** A cuboid of cells, by global index. */
typedef struct {
  int32_t lo[3]; /**< first cell in i, j, k */
  int32_t n[3];  /**< cells in i, j, k */
} mg_cuboid_t;

/** How the n^3 cells of one level are dealt to ranks. */
typedef struct {
  int32_t n;           /**< cells a side */
  int32_t box_dim;     /**< cells a side of a box */
  int32_t boxes;       /**< boxes a side; n = box_dim * boxes */
  int64_t n_ranks;     /**< ranks that hold boxes, at most boxes^3 */
  int64_t world_ranks; /**< ranks of the whole run, over which the n_ranks are spread evenly */
  bool cuboids;        /**< one cuboid a rank, else a stretch of the Morton curve */
} mg_layout_t;

/** Settle `cuboids`, once everything else is. */
void mg_layout_choose(mg_layout_t *layout);

/** Boxes in all: boxes^3. */
int64_t mg_layout_n_boxes(const mg_layout_t *layout);

/** Place of a box along the Morton curve through a grid of `boxes` boxes a side.
 *
 *  The curve is the one of the enclosing power of two with the missing boxes left out, so
 *  position = 8 * (position of the parent) + octant whenever `boxes` is even.
 *  @return 0 to boxes^3 - 1 */
int64_t mg_morton_position(int32_t boxes, const int32_t box[3]);

/** The inverse of mg_morton_position. */
void mg_morton_box(int32_t boxes, int64_t position, int32_t box[3]);

/** World rank that owns a box. */
int64_t mg_layout_owner(const mg_layout_t *layout, const int32_t box[3]);

/** World rank of one of the ranks that hold boxes, numbered from 0 to n_ranks - 1. */
int64_t mg_layout_rank(const mg_layout_t *layout, int64_t index);

/** Boxes that a rank owns. */
int64_t mg_layout_share(const mg_layout_t *layout, int64_t rank);

/** Boxes of the rank that owns most. */
int64_t mg_layout_largest_share(const mg_layout_t *layout);

/** Without cuboids: Morton positions [first, last) of a rank's boxes; an empty range on a rank
 *  without any. */
void mg_layout_range(const mg_layout_t *layout, int64_t rank, int64_t *first, int64_t *last);

/** A rank's boxes merged into few cuboids, in an order that depends only on the arguments.
 *
 *  Of a stretch of the curve: greedy growth from the first box that is left, for all six orders of
 * the axes; the order that gives the fewest wins. A full octant becomes one cube.
 *  @param[out] patches  malloc'ed, caller frees; NULL when the rank has no box
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_layout_patches(const mg_layout_t *layout, int64_t rank,
                                            mg_cuboid_t **patches, int *n_patches);

/** True when the halves of every rank's patches on `fine` are exactly its patches on `coarse`,
 *  so that restriction and interpolation between the two need no message. */
bool mg_layouts_nest(const mg_layout_t *fine, const mg_layout_t *coarse);

#endif
