/* The coarsest levels as one piece, where their backend cycles over them in one go. */
#ifndef MG_COARSE_CYCLE_H
#define MG_COARSE_CYCLE_H

#include "level/level.h"

/** Find the levels that hierarchy->coarse_cycle takes, and make it; none is no error.
 *
 *  Not collective: ranks without cells of these levels have no tail and nothing to do there.
 *  @pre the smoothers' steps are known; call again when they have changed
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_coarse_cycle_prepare(mg_hierarchy_t *hierarchy);

#endif
