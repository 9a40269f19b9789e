/* Arrays of an application, one for each of its boxes of cells, to and from a level. */
#ifndef MG_BOXES_H
#define MG_BOXES_H

#include "backend/arrays.h"
#include "include/hpgmg.h"
#include "level/level.h"

enum { MG_CELLS = -1 }; /**< instead of a direction of faces */

/** The same for the cells next to a side of the grid. */
static inline int mg_cells_at(int d, int side) {
  return 3 + 2 * d + side;
}

/** The boxes of all ranks. */
typedef struct mg_boxes mg_boxes_t;

/** The functions of this header are collective over the world.
 *  @param[in] level  borrowed; must outlive the boxes
 *  @param[in] mine   this rank's boxes, copied; some may be empty
 *  @return MG_OK, MG_ERR_USAGE (a box leaves the grid, two overlap, or cells are in none),
 *          MG_ERR_MEMORY, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_boxes_create(const mg_level_t *level, const hpgmg_box_t *mine, int n,
                                          mg_boxes_t **out);
void mg_boxes_free(mg_boxes_t *boxes);

/** This rank's boxes. */
int mg_boxes_count(const mg_boxes_t *boxes);

/** The elements of an array for box number b: its cells, or its faces normal to a direction, one
 *  more than its cells, or its cells next to a side of the grid. */
mg_cuboid_t mg_boxes_part(const mg_boxes_t *boxes, int b, int part);

/** Copy arrays to a vector of the level, or back. Copies of arrays in memory of the level's device
 *  are enqueued; all others have finished. Ghosts are not written. Faces: those at the upper
 *  side of the grid too, unless the axis is periodic; not the other faces that close patches.
 *  @param[in] array  one for each box of this rank, in host memory, or in memory of the level's
 *                    device
 *  @param[in] part   direction normal to the faces, MG_CELLS, or mg_cells_at
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_boxes_store(mg_boxes_t *boxes, const hpgmg_array_t *array, int part,
                                         mg_vector_t vec);
MG_MUST_CHECK mg_status_t mg_boxes_fetch(mg_boxes_t *boxes, mg_vector_t vec,
                                         const hpgmg_array_t *array);

/** Whether no cells pass between ranks, on any rank. Not collective. */
bool mg_boxes_are_local(const mg_boxes_t *boxes);

/** A vector of the level as an array for box number b, if the box is one of its patches; else NULL.
 *  Storing and fetching it copies nothing. */
hpgmg_array_t mg_boxes_storage(const mg_boxes_t *boxes, int b, mg_vector_t vec);

/** Whether an array is in memory of the level's device, so that only the backend accesses it. */
bool mg_boxes_on_device(const mg_boxes_t *boxes, const hpgmg_array_t *array);

#endif
