/* The program as on a machine where windows of device memory open but stores into them are lost:
 * here those of rank 1. Each rank appears to be alone on its device, so that auto tries the
 * transport. tests/mocks/hpgmg-fv-lost-stores is linked with --wrap. */
#include "comm/comm.h"
#include "cuda/peer.h"
#include "device/device_select.h"

mg_status_t __real_mg_device_places(mg_device_place_t **places);
mg_status_t __wrap_mg_device_places(mg_device_place_t **places);
mg_status_t __real_mg_cuda_window_probe(void *place, int number);
mg_status_t __wrap_mg_cuda_window_probe(void *place, int number);

mg_status_t __wrap_mg_device_places(mg_device_place_t **places) {
  MG_TRY(__real_mg_device_places(places));
  for (int r = 0; r < mg_comm_size(mg_comm_world()); r++)
    (*places)[r].sharers = 1;
  return MG_OK;
}

mg_status_t __wrap_mg_cuda_window_probe(void *place, int number) {
  return number == 1 ? MG_OK : __real_mg_cuda_window_probe(place, number);
}
