/* The coarse cycle: runs the coarsest levels in one call, if the plan says so (plan/path.h). */
#ifndef MG_COARSE_CYCLE_H
#define MG_COARSE_CYCLE_H

#include "level/level.h"

/** Create hierarchy->coarse_cycle, if the plan has one.
 *
 *  Not collective: ranks without cells of these levels have no coarse cycle.
 *  @pre the smoother steps are set; call again if they change
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_coarse_cycle_prepare(mg_hierarchy_t *hierarchy);

#endif
