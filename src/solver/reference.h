/* The norm that --rtol is relative to. */
#ifndef MG_REFERENCE_H
#define MG_REFERENCE_H

#include "level/level.h"

/** Find the least and the greatest u on the sides whose conditions determine it: Dirichlet's value,
 *  or Robin's value / (factor of u). Both are 0 if there are no boundary values.
 *
 *  Collective over the world.
 *  @param[in,out] h  sets h->reference, but not its norm. If values differ from face to face
 *                    (mg_wall_values_save), overwrites MG_U of level 0
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_reference_choose(mg_hierarchy_t *h);

/** Whether mg_reference_set overwrites MG_U of level 0. */
static inline bool mg_reference_needs_u(const mg_hierarchy_t *h) {
  return h->reference.least != 0.0 || h->reference.greatest != 0.0;
}

/** Set the reference norm: the least max |MG_F - A c| on level 0 of c = the least, the middle and
 *  the greatest u on the sides.
 *
 *  Adding s to u on the sides, and a alpha s to f, changes it by rounding only. If it is itself
 *  rounding, u = c is the solution, and the norm is max |MG_F|. Collective over the world.
 *  @pre mg_reference_choose, and MG_F includes the boundary values
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_reference_set(mg_hierarchy_t *h);

#endif
