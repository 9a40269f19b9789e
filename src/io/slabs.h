/* The cells of a level as slabs of whole planes in host memory, the layout of files.
 *
 * Slabs are assigned to some of the ranks round-robin. A slab has as many planes as fit in 2
 * MiB, at least one, so that it is still in cache when it is written. Memory: two slabs (three
 * with a device) plus the message buffers. */
#ifndef MG_SLABS_H
#define MG_SLABS_H

#include "level/level.h"

/** Distribution of a level's planes over ranks. */
typedef struct mg_slabs mg_slabs_t;

/** Planes first .. first + n - 1 of the level, i fastest, then j. */
typedef struct {
  int32_t first, n; /**< n is 0 on a rank without planes in this round */
  double *cells;
} mg_slab_t;

/** Distribute a level's planes over n_holders ranks, or fewer if there are fewer slabs. A single
 *  holder is rank 0; several are spread evenly over the world.
 *
 *  Collective over the world, including ranks without cells.
 *  @param[in] level  borrowed; must outlive the slabs
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_slabs_create(const mg_level_t *level, int n_holders, mg_slabs_t **out);
void mg_slabs_free(mg_slabs_t *slabs);

/** Number of rounds that cover all planes; the same on every rank. */
int mg_slabs_rounds(const mg_slabs_t *slabs);

/** This rank's planes of a round. */
mg_slab_t mg_slabs_planes(const mg_slabs_t *slabs, int round);

/** Whether a fetch continues asynchronously after mg_slabs_fetch_begin, as on a device. If so,
 *  begin it early. Otherwise it completes there and leaves the cells in cache. */
bool mg_slabs_fetch_goes_on(const mg_slabs_t *slabs);

/** Start fetching the cells of a vector into a round's slabs.
 *
 *  Only one fetch at a time. The previous round's slab stays valid while it is written. If
 *  fetches are asynchronous, so does the slab of the round before that. Collective over the
 *  world, like the functions below.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_slabs_fetch_begin(mg_slabs_t *slabs, mg_vector_t vec, int round);
/** Finish the fetch.
 *  @param[out] slab  valid until a later fetch reuses its memory
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_slabs_fetch_end(mg_slabs_t *slabs, int round, mg_slab_t *slab);

/** Copy the slabs of a round (mg_slabs_planes) to the cells of a vector; ghosts are not written.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_slabs_store(mg_slabs_t *slabs, mg_vector_t vec, int round);

#endif
