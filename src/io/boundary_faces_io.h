/* The faces that close the domain, which no field of cells has room for: one plane of n^2 betas for
 * each direction, at its upper wall. */
#ifndef MG_BOUNDARY_FACES_IO_H
#define MG_BOUNDARY_FACES_IO_H

#include "level/level.h"

/** Put a plane of face betas to the upper wall of direction d, or get it.
 *
 *  Collective over the world; n^2 doubles on every rank.
 *  @param[in]     level  with walls (not periodic)
 *  @param[in,out] wall   [n][n], the direction that comes first in (i, j, k) fastest. In: with what
 *                        ranks know of it, 0 where they do not. Out: whole, on every rank
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_boundary_faces_put(const mg_level_t *level, int d, double *wall);
MG_MUST_CHECK mg_status_t mg_boundary_faces_get(const mg_level_t *level, int d, double *wall);

#endif
