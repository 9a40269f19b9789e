/* Checks whether all ranks can have the threads that they request. */
#ifndef MG_THREAD_CHECK_H
#define MG_THREAD_CHECK_H

#include "base/status.h"

/** Check that every rank can start its OpenMP threads. Ranks may have different environments; the
 *  first one that cannot start its threads reports the error.
 *
 *  Collective over the world; call before the first parallel region.
 *  @return MG_OK, MG_ERR_USAGE, MG_ERR_MEMORY, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_thread_check(void);

/** Warn if rank 0's host has more threads than CPUs that its ranks may use. Collective over the
 *  world.
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_thread_warn_if_crowded(void);

#endif
