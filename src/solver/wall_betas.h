/* The betas at the walls as they were given, for right-hand sides that are set later. */
#ifndef MG_WALL_BETAS_H
#define MG_WALL_BETAS_H

#include "level/level.h"

/** Save the betas of the finest level's faces on walls: without factors, and before those of
 * Neumann walls are closed. The memory belongs to the hierarchy.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_wall_betas_save(mg_hierarchy_t *h);

/** Exchange the level's betas on walls with the saved ones; a second call restores both. */
MG_MUST_CHECK mg_status_t mg_wall_betas_swap(mg_hierarchy_t *h);

#endif
