/* The program as where each rank sees a device, and that of the last one cannot be used: it is
 * another process's alone, say. No device is asked for. tests/hpgmg-fv-busy is linked with --wrap.
 */
#include "comm.h"
#include "cuda/device.h"
#include <stdio.h>

int __wrap_mg_cuda_devices(char *why, size_t size);
bool __wrap_mg_cuda_usable(int device, char *why, size_t size);

int __wrap_mg_cuda_devices(char *why, size_t size) {
  (void)why;
  (void)size;
  return 1;
}

bool __wrap_mg_cuda_usable(int device, char *why, size_t size) {
  snprintf(why, size, "CUDA device %d cannot be used: busy", device);
  return mg_comm_rank(mg_comm_world()) + 1 < mg_comm_size(mg_comm_world());
}
