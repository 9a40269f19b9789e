/* Which processor a run uses: what was asked for against what is there. */
#ifndef MG_DEVICE_H
#define MG_DEVICE_H

#include "params.h"

/** CUDA devices that this rank sees; 0 in a build without CUDA, or without a driver. */
int mg_device_count(void);

/** Settle --device: `auto` becomes cuda where every rank has a device, else cpu; a device that was
 *  asked for by name must be there. Opens this rank's device, the host's ranks taking turns.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  device is not MG_DEVICE_AUTO afterwards
 *  @return MG_OK, MG_ERR_MEMORY or MG_ERR_DEVICE (logged once), MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_choose(mg_params_t *params);

/** Bytes that this rank may allocate on its device: what is free there, shared evenly by the ranks
 *  that use it. Collective over the world; before anything is allocated.
 *  @return MG_OK, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_room(int64_t *bytes);

/** Let go of the device; harmless without one. */
void mg_device_close(void);

#endif
