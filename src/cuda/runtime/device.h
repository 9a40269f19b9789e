/* Selecting and opening the CUDA device, for the layers above the backend interface. */
#ifndef MG_CUDA_RUNTIME_DEVICE_H
#define MG_CUDA_RUNTIME_DEVICE_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number of CUDA devices; 0 without a driver or if the driver does not work.
 *  @param[out] why  the reason if there are none; nothing is logged */
int mg_cuda_devices(char *why, size_t size);

/** Whether this process can use device number `device`. It becomes the current device.
 *  @param[out] why  the reason if it cannot; nothing is logged */
bool mg_cuda_usable(int device, char *why, size_t size);

/** Open device number `device` for this process. No-op if a device is already open.
 *  @return MG_OK, MG_ERR_UNAVAILABLE (mg_cuda_usable is false), MG_ERR_DEVICE, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_cuda_open(int device);

/** UUID of the open device: unique, and the same in every process. */
MG_MUST_CHECK mg_status_t mg_cuda_identity(unsigned char uuid[16]);

/** Describe the open device for reports: "NVIDIA H200, sm_90, 132 SMs". If the code was
 *  compiled for another architecture, ", code for sm_80" follows. */
MG_MUST_CHECK mg_status_t mg_cuda_describe(char *text, size_t size);

/** State whether other ranks use the open device too. Their kernels may occupy SMs, so no launch
 *  may then rely on all its blocks running at the same time. The same holds under NVIDIA's
 *  Multi-Process Service, which is detected. */
void mg_cuda_set_shared(bool shared);

/** SMs of a device, which need not be open. After mg_cuda_set_shared, 0 if the open device is
 *  shared: a launch can rely on none.
 *  @return 0 also if the number is unknown */
int mg_cuda_usable_sms(int device);

/** Free memory of the open device per process sharing it: an equal part, less a margin for what the
 *  driver allocates per process, such as kernel stacks.
 *  @param[in] sharers  number of processes that share the device */
MG_MUST_CHECK mg_status_t mg_cuda_available(int sharers, int64_t *bytes);

/** Whether the open device supports fused sweeps (temporal blocking).
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_has_fused(bool *has);

/** Whether the open device has concurrent managed access: managed memory whose pages stay on the
 *  device. Required by --memory=unified.
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_has_managed(bool *has);
void mg_cuda_close(void);

#endif
