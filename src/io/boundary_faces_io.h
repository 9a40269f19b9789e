/* Planes of values at the sides of the domain: the face betas at the upper walls, which cell-sized
 * arrays cannot hold, and values of boundary conditions. */
#ifndef MG_BOUNDARY_FACES_IO_H
#define MG_BOUNDARY_FACES_IO_H

#include "level/level.h"

/** Sizes of the plane normal to d of a grid: the first remaining direction of (i, j, k), then the
 *  second.
 *  @return their product */
int64_t mg_boundary_faces_size(const int32_t cells[3], int d, int32_t n[2]);
/** Faces of the largest plane. */
int64_t mg_boundary_faces_max(const mg_level_t *level);

/** Set (put) or get a vector at a side in direction d: of MG_BETA_I + d the faces at the upper
 * wall, of other vectors the cells next to the side.
 *
 *  Collective over the world; uses as many doubles on every rank.
 *  @param[in]     side  0: low; 1: high, the only one for faces. Must be a wall
 *  @param[in,out] wall  [n[1]][n[0]] of mg_boundary_faces_size. In: the
 *          values known on this rank, 0 elsewhere. Out: the whole plane, on every rank
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_boundary_move(const mg_level_t *level, mg_vector_t vec, int d,
                                           int side, bool put, double *wall);

#endif
