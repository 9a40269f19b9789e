/* The coarse cycle: runs the coarsest levels in one call, if their backend can. */
#ifndef MG_COARSE_CYCLE_H
#define MG_COARSE_CYCLE_H

#include "level/level.h"

/** Find the levels for hierarchy->coarse_cycle and create it. Finding none is not an error.
 *
 *  Not collective: ranks without cells of these levels have no coarse cycle.
 *  @pre the smoother steps are set; call again if they change
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_coarse_cycle_prepare(mg_hierarchy_t *hierarchy);

#endif
