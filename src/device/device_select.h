/* Which processor a run uses: what was asked for against what is there. */
#ifndef MG_DEVICE_SELECT_H
#define MG_DEVICE_SELECT_H

#include "params/params.h"

/** CUDA devices that this rank sees; 0 in a build without CUDA, or without a driver. */
int mg_device_count(void);

/** Where a rank computes. Two ranks share a device where host and UUID are equal. */
typedef struct {
  int64_t host;           /**< of all ranks of one host the same */
  unsigned char uuid[16]; /**< of the device: its number differs between processes; zero: none */
  int sharers;            /**< ranks that share it, this one included */
} mg_device_place_t;

/** The places of all ranks, once the devices are open. Collective over the world.
 *  @param[out] places  one for each rank of the world; the caller frees
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_places(mg_device_place_t **places);

/** Settle --device=auto for a run that is only planned: as mg_device_choose would, without opening
 * a device; one that is asked for by name need not be there. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_device_foresee(mg_params_t *params);

/** Settle --device: `auto` becomes cuda where every rank has a device, else cpu; a device that was
 *  asked for by name must be there. Opens this rank's device: that of
 *  --device-id, or the host's in turn.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  device is not MG_DEVICE_AUTO afterwards
 *  @return MG_OK, MG_ERR_MEMORY or MG_ERR_DEVICE (logged once), MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_choose(mg_params_t *params);

/** What this rank computes on, for reports, once the device is chosen: "NVIDIA H200, sm_90, 132
 * multiprocessors", or "none" and why. Static storage. */
const char *mg_device_text(void);

/** Bytes that this rank may allocate on its device: what is free there, shared evenly by the ranks
 *  that use it. Collective over the world; before anything is allocated.
 *  @return MG_OK, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_room(int64_t *bytes);

/** Let go of the device; harmless without one. */
void mg_device_close(void);

#endif
