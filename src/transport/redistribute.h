/* Copies between the patches of a level and arrays that hold cuboids of its grid, on any ranks:
 * slabs of a file, boxes of an application. */
#ifndef MG_REDISTRIBUTE_H
#define MG_REDISTRIBUTE_H

#include "backend/arrays.h"
#include "comm/comm.h"
#include "plan/copy_plan.h"

/** The cells of a cuboid in memory. */
typedef struct {
  mg_strided_t at; /**< x: the first cell; NULL: the cells are the vector itself */
  bool on_device;  /**< only the backend accesses them */
} mg_held_t;

/** Cuboids of ranks. Their cells move in rounds: set `cuboid`, then call begin and finish. */
typedef struct {
  const mg_backend_t *backend;
  const mg_view_t *view; /**< of the level; double cells */
  const mg_layout_t *layout;
  bool is_shared; /**< host and device access all arrays (MG_SPACE_SHARED) */
  bool storing;   /**< from arrays to patches */
  int face_dir;   /**< as mg_copy_spec_t */

  mg_cuboid_t *cuboid; /**< of all ranks in this round; empty ones have n = 0 in all directions */
  int *first;          /**< of each rank's cuboids, and their number */
  mg_copy_plan_t plan; /**< of this round */

  const mg_held_t *held; /* of the copies in flight, or NULL */
  mg_vector_t vec;
  mg_requests_t *requests;
  int64_t message_doubles, stage_doubles;
  double *message[2]; /* to send and received */
  double *stage[2];   /* for arrays that the device does not access */
} mg_redistribution_t;

/** Allocate the lists of n cuboids. The first members are set, those from `cuboid` on are 0.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE; free also after a failure */
MG_MUST_CHECK mg_status_t mg_redistribution_create(int n, mg_redistribution_t *r);
void mg_redistribution_free(mg_redistribution_t *r);

/** Plan the copies of a round, as begin does. Not collective. */
MG_MUST_CHECK mg_status_t mg_redistribution_plan(mg_redistribution_t *r);

/** Start the copies within this rank, and pack messages. A device does so asynchronously, except
 *  for arrays that it does not access. Collective over the world.
 *  @param[in] held  of this rank's cuboids; kept until finish
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_redistribution_begin(mg_redistribution_t *r, const mg_held_t *held,
                                                  mg_vector_t vec);
/** Exchange and unpack messages. Then all copies have finished, except those within this rank of
 *  arrays that only the device accesses.
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_redistribution_finish(mg_redistribution_t *r);

#endif
