/* The cells of a level as slabs of whole planes in host memory, which is how files have them.
 *
 * Slabs are dealt to some of the ranks in turn, round after round: so many planes as fill 2 MiB,
 * one at least, which are then still in the cache when they are written. Two slabs, three on a
 * device, and what came and went in messages are all the memory that this takes. */
#ifndef MG_SLABS_H
#define MG_SLABS_H

#include "level/level.h"

/** The planes of a level, dealt out. */
typedef struct mg_slabs mg_slabs_t;

/** Planes first .. first + n - 1 of the level: n * dim^2 doubles, i fastest, then j. */
typedef struct {
  int32_t first, n; /**< n is 0 on a rank that has no planes in this round */
  double *cells;
} mg_slab_t;

/** Deal a level's planes to n_holders ranks, or to fewer when there are fewer slabs; one holder is
 *  rank 0, several are spread evenly over the world.
 *
 *  Collective over the world, ranks without cells included.
 *  @param[in] level  kept; must outlive the slabs
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_slabs_create(const mg_level_t *level, int n_holders, mg_slabs_t **out);
void mg_slabs_free(mg_slabs_t *slabs);

/** Rounds that it takes to have every plane somewhere. The same on every rank. */
int mg_slabs_rounds(const mg_slabs_t *slabs);

/** This rank's planes of a round. */
mg_slab_t mg_slabs_planes(const mg_slabs_t *slabs, int round);

/** Whether a fetch goes on after mg_slabs_fetch_begin, as a device's does: then it should begin
 *  early; else all is done there, and the cells are in the cache after it. */
bool mg_slabs_fetch_goes_on(const mg_slabs_t *slabs);

/** Start to bring the cells of a vector to a round's slabs. One fetch at a time; the slab of the
 *  round before stays as it is while it is written, and where fetches go on, that of the round
 *  before it as well.
 *
 *  Collective over the world, like the rest of these.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_slabs_fetch_begin(mg_slabs_t *slabs, int vec, int round);
/** Finish it.
 *  @param[out] slab  valid until a fetch begins that may take its memory
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_slabs_fetch_end(mg_slabs_t *slabs, int round, mg_slab_t *slab);

/** Bring what the slabs of a round hold (mg_slabs_planes) to the cells of a vector; ghosts are left
 *  alone.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_slabs_store(mg_slabs_t *slabs, int vec, int round);

#endif
