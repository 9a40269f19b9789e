/* Selection of the device that a run uses. */
#ifndef MG_DEVICE_SELECT_H
#define MG_DEVICE_SELECT_H

#include "backend/device.h"
#include "params/params.h"

/** The devices; NULL in a build without CUDA: CPUs are no devices. */
const mg_backend_device_t *mg_device_gpus(void);

/** Number of CUDA devices visible to this rank; 0 in a build without CUDA or without a driver. */
int mg_device_count(void);

/** Location of a rank. Two ranks share a device if host and UUID are equal. */
typedef struct {
  int64_t host;           /**< number of the host, equal for all ranks on it */
  unsigned char uuid[16]; /**< device UUID (numbers differ per process); zero: no device */
  int sharers;            /**< ranks that share the device, including this one */
} mg_device_location_t;

/** Locations of all ranks, after the devices have been opened. Collective over the world.
 *  @param[out] locations  one per rank of the world; the caller frees
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_locations(mg_device_location_t **locations);

/** UUID of this rank's device, the same in all processes; zero if the run uses no GPU.
 *  @pre  mg_device_choose has set params->device */
void mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]);

/** Resolve --device=auto for a run that is only planned: as mg_device_choose, but opens no
 *  device. A device requested by name need not exist; without one, params->gpu stays. Collective
 *  over the world. */
MG_MUST_CHECK mg_status_t mg_device_resolve(mg_params_t *params);

/** Resolve --device and open the device of this rank.
 *
 *  `auto` becomes cuda if every rank has a device, otherwise cpu. A device requested by name
 *  must exist. The device is that of --device-id; by default the ranks of a host use its devices
 *  round-robin.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  device is not MG_DEVICE_AUTO afterwards; on GPUs, gpu and steps_per_pass
 *      are limited to what all of them have
 *  @return MG_OK, MG_ERR_UNAVAILABLE, MG_ERR_MEMORY or MG_ERR_DEVICE (logged once), MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_device_choose(mg_params_t *params);

/** Description of this rank's device for reports, once it is chosen: "NVIDIA H200, sm_90, 132 SMs",
 *  or "none" and the reason. Static storage. */
const char *mg_device_text(void);

/** Close the device; no effect without one. */
void mg_device_close(void);

#endif
