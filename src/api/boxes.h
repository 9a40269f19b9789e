/* Arrays of an application, one box of cells per rank, to and from a level. */
#ifndef MG_BOXES_H
#define MG_BOXES_H

#include "level/level.h"
#include <stddef.h>

/** Cells lo .. lo + n - 1. */
typedef struct {
  int32_t lo[3], n[3];
} mg_box_t;

int64_t mg_box_cells(const mg_box_t *box);

/** Copy a box between arrays on this rank. from, to: its first cell; strides: between cells. */
void mg_box_copy(const mg_box_t *box, const double *from, const ptrdiff_t from_stride[3],
                 double *to, const ptrdiff_t to_stride[3]);

/** The boxes of all ranks. */
typedef struct mg_boxes mg_boxes_t;

/** Functions of this header are collective over the world.
 *  @param[in] level  borrowed; must outlive the boxes
 *  @param[in] mine   this rank's box; may be empty
 *  @return MG_OK, MG_ERR_USAGE (a box leaves the grid, two overlap, or cells are in none), and
 * those of mg_slabs_create, the same on every rank */
MG_MUST_CHECK mg_status_t mg_boxes_create(const mg_level_t *level, const mg_box_t *mine,
                                          mg_boxes_t **out);
void mg_boxes_free(mg_boxes_t *boxes);

const mg_box_t *mg_boxes_mine(const mg_boxes_t *boxes);

/** Copy the box's cells to the cells of a vector, or back. Ghosts are not written.
 *  @param[in] x       the first cell of the box
 *  @param[in] stride  between cells in i, j and k
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_boxes_store(mg_boxes_t *boxes, const double *x,
                                         const ptrdiff_t stride[3], mg_vector_t vec);
MG_MUST_CHECK mg_status_t mg_boxes_fetch(mg_boxes_t *boxes, mg_vector_t vec, double *x,
                                         const ptrdiff_t stride[3]);

#endif
