/* The program with simulated devices: each rank detects one, but the last rank's is unusable,
 * e.g. owned exclusively by another process. With FAULT=managed it opens but lacks managed
 * memory. No real device is queried. tests/mocks/hpgmg-fv-busy-device is linked with --wrap. */
#include "comm/comm.h"
#include "cuda/runtime/device.h"
#include <stdio.h>
#include <stdlib.h>

int __wrap_mg_cuda_devices(char *why, size_t size);
bool __wrap_mg_cuda_usable(int device, char *why, size_t size);
mg_status_t __wrap_mg_cuda_open(int device);
mg_status_t __wrap_mg_cuda_describe(char *text, size_t size);
mg_status_t __wrap_mg_cuda_has_managed(bool *has);

static bool is_last(void) {
  return mg_comm_rank(mg_comm_world()) + 1 == mg_comm_size(mg_comm_world());
}

int __wrap_mg_cuda_devices(char *why, size_t size) {
  (void)why;
  (void)size;
  return 1;
}

bool __wrap_mg_cuda_usable(int device, char *why, size_t size) {
  snprintf(why, size, "cannot use CUDA device %d: busy", device);
  return getenv("FAULT") || !is_last();
}

mg_status_t __wrap_mg_cuda_open(int device) {
  (void)device;
  return MG_OK;
}

mg_status_t __wrap_mg_cuda_describe(char *text, size_t size) {
  snprintf(text, size, "none");
  return MG_OK;
}

mg_status_t __wrap_mg_cuda_has_managed(bool *has) {
  *has = !is_last();
  return MG_OK;
}
