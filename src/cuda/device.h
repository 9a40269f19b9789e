/* Choosing and opening the CUDA device, for the layers above the seam. */
#ifndef MG_CUDA_DEVICE_H
#define MG_CUDA_DEVICE_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** CUDA devices that this process can use; 0 without a driver, or where that does not work.
 *  @param[out] why  where there are none, in words; nothing is logged */
int mg_cuda_devices(char *why, size_t size);

/** Can this process use device number `device`? It is then the one of what follows.
 *  @param[out] why  where it cannot, in words; nothing is logged */
bool mg_cuda_usable(int device, char *why, size_t size);

/** Make device number `device` this process's; again is harmless.
 *  @return MG_OK, MG_ERR_DEVICE, also where this build has no code for the card, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_cuda_open(int device);

/** What tells the open device from all others, in every process alike. */
MG_MUST_CHECK mg_status_t mg_cuda_identity(unsigned char uuid[16]);

/** The open device in words, for reports: "NVIDIA H200, sm_90, 132 multiprocessors", and where the
 *  code is another card's, ", code for sm_80". */
MG_MUST_CHECK mg_status_t mg_cuda_describe(char *text, size_t size);

/** Memory that is free on the open device for each of those who share it: an even part, less a
 *  margin for what the driver holds of each beside it, such as stacks of kernels. */
MG_MUST_CHECK mg_status_t mg_cuda_room(int sharers, int64_t *bytes);

/** Whether the open device can make several steps of a smoother in one pass.
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_has_temporal(bool *has);

/** Whether the open device has managed memory that stays where it is put, for --memory=unified.
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_has_managed(bool *has);
void mg_cuda_close(void);

#endif
