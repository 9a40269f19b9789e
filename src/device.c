#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "comm.h"
#include "device.h"
#include "log.h"
#ifdef HAVE_CUDA
#include "cuda/device.h"
#endif

int mg_device_count(void) {
#ifdef HAVE_CUDA
  return mg_cuda_devices();
#else
  return 0;
#endif
}

static mg_status_t open_device(int n) {
#ifdef HAVE_CUDA
  int rank, size;
  MG_TRY(mg_comm_place_on_host(&rank, &size));
  if (size > n) mg_warning("%d ranks of a host share %d CUDA device%s", size, n, n == 1 ? "" : "s");
  return mg_cuda_open(rank % n);
#else
  (void)n;
  return MG_OK;
#endif
}

mg_status_t mg_device_choose(mg_params_t *params) {
  if (params->device != MG_DEVICE_AUTO && params->device != MG_DEVICE_CUDA) return MG_OK;
  const int here = mg_device_count();
  double least = here;
  MG_TRY(mg_comm_min(mg_comm_world(), &least, 1));
  if (least < 1.0 && params->device == MG_DEVICE_CUDA) {
    if (mg_comm_rank(mg_comm_world()) > 0) return MG_ERR_MEMORY;
#ifdef HAVE_CUDA
    return mg_error(MG_ERR_MEMORY, "--device=cuda: no CUDA device (or no driver) on every host; "
                                   "--device=auto runs on the CPU there");
#else
    return mg_error(MG_ERR_MEMORY,
                    "--device=cuda: this build has no CUDA; configure found no nvcc");
#endif
  }
  params->device = least < 1.0 ? MG_DEVICE_CPU : MG_DEVICE_CUDA;
  if (params->device == MG_DEVICE_CPU) return MG_OK;
  return mg_comm_agree(mg_comm_world(), open_device(here));
}

mg_status_t mg_device_room(int64_t *bytes) {
  *bytes = INT64_MAX;
#ifdef HAVE_CUDA
  int rank, size;
  const int n = mg_device_count();
  MG_TRY(mg_comm_place_on_host(&rank, &size));
  MG_TRY(mg_cuda_free_bytes(bytes));
  /* Ranks rank % n, + n, + 2n, ... of the host have this device. */
  const int sharers = n > 0 ? (size - rank % n + n - 1) / n : 1;
  *bytes /= sharers;
  /* Everybody has asked before anybody allocates. */
  MG_TRY(mg_comm_barrier(mg_comm_world()));
#endif
  return MG_OK;
}

void mg_device_close(void) {
#ifdef HAVE_CUDA
  mg_cuda_close();
#endif
}
