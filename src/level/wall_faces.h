/* Faces on the walls of the finest level: their betas as given, and values of their conditions, for
 * right-hand sides that are set after the coefficients. */
#ifndef MG_WALL_FACES_H
#define MG_WALL_FACES_H

#include "level/level.h"

/** Save the betas of faces on walls: without factors, and before those of Neumann walls are closed.
 *  The memory belongs to the hierarchy.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_wall_betas_save(mg_hierarchy_t *h);

/** The patches end, but the faces stay. NULL: none. */
void mg_wall_faces_forget_copies(mg_wall_faces_t *faces);

/** Exchange the level's betas on walls for the saved ones, and undo it. Only enqueue. */
MG_MUST_CHECK mg_status_t mg_wall_betas_put(const mg_hierarchy_t *h);
MG_MUST_CHECK mg_status_t mg_wall_betas_restore(const mg_hierarchy_t *h);

/** Lay aside the level's betas on walls, which mg_wall_betas_restore brings back. Only enqueues. */
MG_MUST_CHECK mg_status_t mg_wall_betas_lay_aside(const mg_hierarchy_t *h);
/** Put the saved betas of one side into the faces of another vector. Only enqueues. */
MG_MUST_CHECK mg_status_t mg_wall_betas_put_into(const mg_hierarchy_t *h, int d, int side,
                                                 mg_vector_t vec);

/** Save the values of the condition on a side: MG_U of the cells next to it.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_wall_values_save(mg_hierarchy_t *h, int d, int side);

/** Set MG_U of the cells next to a side to the saved values, and back. Only enqueue. */
MG_MUST_CHECK mg_status_t mg_wall_values_put(const mg_hierarchy_t *h, int d, int side);
MG_MUST_CHECK mg_status_t mg_wall_values_restore(const mg_hierarchy_t *h, int d, int side);

#endif
