/* Distribution of boxes: one cuboid per rank, if that balances the load well enough. */
#ifndef MG_DECOMP_CUBOIDS_H
#define MG_DECOMP_CUBOIDS_H

#include "formulas/index.h"
#include <stdbool.h>
#include <stdint.h>

/** Cuboid of cells, in global indices. */
typedef struct {
  int32_t lo[3]; /**< first cell in i, j, k */
  int32_t n[3];  /**< cells in i, j, k */
} mg_cuboid_t;

/** Distribution of the cells of one level over ranks. Boxes are cubes; the grid need not be one.
 *
 *  In a general layout (--cells) boxes only say where ranks may be separated. They are cuboids of
 *  `box` cells, less at the high end of a direction, and each rank has one cuboid. */
typedef struct {
  int32_t n[3];        /**< cells in i, j, k */
  int32_t box[3];      /**< cells of a box; in a general layout even where a rank has a neighbor */
  int32_t box_dim;     /**< cells per side of a box; general: of the narrowest part of a rank */
  int32_t boxes[3];    /**< boxes in i, j, k; n = box_dim * boxes, unless general */
  int64_t n_ranks;     /**< ranks that hold boxes, at most one per box */
  int64_t world_ranks; /**< ranks of the whole run; the n_ranks are spread evenly over them */
  bool cuboids;        /**< one cuboid per rank, otherwise a segment of the Morton curve */
  bool general;
  mg_singles_t single[3]; /**< cells that the next coarser level has too; none unless general */
} mg_layout_t;

/** Part of the next coarser level that a part of the grid in cells becomes. */
static inline mg_cuboid_t mg_layout_coarse(const mg_layout_t *layout, const mg_cuboid_t *cells) {
  mg_cuboid_t c;
  for (int d = 0; d < 3; d++) {
    const mg_singles_t *s = &layout->single[d];
    c.lo[d] = mg_coarse_cells(s, cells->lo[d]);
    c.n[d] = mg_coarse_cells(s, cells->lo[d] + cells->n[d]) - c.lo[d];
  }
  return c;
}

/** Cells of the next coarser level in direction d. */
static inline int32_t mg_layout_coarse_n(const mg_layout_t *layout, int d) {
  return mg_coarse_cells(&layout->single[d], layout->n[d]);
}

/** Product of three counts. */
static inline int64_t mg_volume(const int32_t n[3]) {
  return (int64_t)n[0] * n[1] * n[2];
}

/** The cells that two cuboids have in common; n is 0 in some direction if there are none. */
static inline mg_cuboid_t mg_cuboid_common(const mg_cuboid_t *a, const mg_cuboid_t *b) {
  mg_cuboid_t c;
  for (int d = 0; d < 3; d++) {
    const int32_t end_a = a->lo[d] + a->n[d], end_b = b->lo[d] + b->n[d],
                  end = end_a < end_b ? end_a : end_b;
    c.lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
    c.n[d] = end > c.lo[d] ? end - c.lo[d] : 0;
  }
  return c;
}

/** Shape of a part of the grid, given in boxes, in cells. */
static inline mg_cuboid_t mg_layout_cells(const mg_layout_t *layout, const mg_cuboid_t *boxes) {
  mg_cuboid_t c;
  for (int d = 0; d < 3; d++) {
    const int32_t w = layout->box[d], rest = layout->n[d] - boxes->lo[d] * w;
    c.lo[d] = boxes->lo[d] * w;
    c.n[d] = boxes->n[d] * w < rest ? boxes->n[d] * w : rest;
  }
  return c;
}

/** Total number of boxes. */
static inline int64_t mg_layout_n_boxes(const mg_layout_t *layout) {
  return mg_volume(layout->boxes);
}

/** Total number of cells. */
static inline int64_t mg_layout_n_cells(const mg_layout_t *layout) {
  return mg_volume(layout->n);
}

/** Report whether the grid can be cut into one cuboid per rank, none more than 5 % above the
 *  mean.
 *
 *  The longest side is cut, k before j before i, then each part recursively. The number of equal
 *  parts is the largest prime from 2 to 11 that divides both the side and the number of ranks.
 *  If there is none, the ranks are halved and the side is cut in proportion, as closely as its
 *  boxes allow. Odd primes come first because coarser levels preserve them: their cuts coincide
 *  with those of the finer level. */
bool mg_cuboids_are_even(const mg_layout_t *layout);

/** Number of boxes of the largest cuboid of this decomposition; 0 if it does not exist because
 *  some part has fewer layers than ranks. */
int64_t mg_cuboids_largest(const mg_layout_t *layout);

/** Cuboid number `index`, 0 to n_ranks - 1, in boxes. */
mg_cuboid_t mg_cuboids_part(const mg_layout_t *layout, int64_t index);

/** Number of the cuboid that contains a box. */
int64_t mg_cuboids_index(const mg_layout_t *layout, const int32_t box[3]);

/** Report whether `fine`, with twice the boxes in each direction, has the cuboids of `coarse` at
 * twice the width. */
bool mg_cuboids_double(const mg_layout_t *fine, const mg_layout_t *coarse);

/** Cells per side of coarse boxes that are the coarsened boxes of `fine`, in direction d; 0 if
 * these differ in size. */
int32_t mg_cuboids_coarse_box(const mg_layout_t *fine, int d);

#endif
