/* The devices of a kind of processor. */
#ifndef MG_BACKEND_DEVICE_H
#define MG_BACKEND_DEVICE_H

#include "plan/copy_plan.h"

/** What a process knows about its device. */
typedef struct {
  char text[256];         /**< for reports: "NVIDIA H200, sm_90, 132 SMs". If the code was compiled
                             for another architecture, ", code for sm_80" follows. */
  unsigned char uuid[16]; /**< unique, and the same in every process */
  bool can_fuse;          /**< it supports fused sweeps (temporal blocking) */
  bool has_managed; /**< concurrent managed access: managed memory whose pages stay on the device.
                       Required by --memory=unified. */
} mg_device_facts_t;

/** Selecting and opening the device of a process. */
typedef struct {
  /** Number of devices; 0 without a driver or if the driver does not work.
   *  @param[out] why  the reason if there are none; nothing is logged */
  int (*count)(char *why, size_t size);
  /** Whether this process can use device `number`. It becomes the current device.
   *  @param[out] why  the reason if it cannot; nothing is logged */
  bool (*usable)(int number, char *why, size_t size);
  /** What launches can use on a device, which need not be open. Unknown: 0.
   *  @param[out] limit  [0]: SMs; after set_shared, 0 if the open device is shared: a launch can
   *      rely on none. [1]: bytes of shared memory of a block. [2]: bytes of the L2 */
  void (*limits)(int number, double limit[3]);
  /** Open device `number` for this process. If it is open already, only find the facts.
   *  @return MG_OK, MG_ERR_UNAVAILABLE (it is not usable), MG_ERR_DEVICE, MG_ERR_MEMORY */
  mg_status_t (*open)(int number, mg_device_facts_t *facts);
  /** State whether other ranks use the open device too. Their kernels may occupy SMs, so no launch
   *  may then rely on all its blocks running at the same time. The same holds under NVIDIA's
   *  Multi-Process Service, which is detected. */
  void (*set_shared)(bool shared);
  /** Free memory of the open device per process sharing it: an equal part, less a margin for what
   *  the driver allocates per process, such as kernel stacks. */
  mg_status_t (*available)(int sharers, int64_t *bytes);
  /** No effect if none is open. */
  void (*close)(void);
  const struct mg_backend_nccl *nccl; /**< backend/peer.h; NULL in a build without NCCL */
} mg_backend_device_t;

#endif
