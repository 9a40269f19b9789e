/* The program as on a machine where windows of device memory open but stores into them are lost:
 * here those of rank 1. Each rank appears to be alone on its device, so that auto tries the
 * transport. tests/mocks/hpgmg-fv-lost-stores is linked with --wrap. */
#include "backend/peer.h"
#include "comm/comm.h"
#include "device/device_select.h"

mg_status_t __real_mg_device_locations(mg_device_location_t **locations);
mg_status_t __wrap_mg_device_locations(mg_device_location_t **locations);
extern const mg_backend_peer_t __real_mg_cuda_peer;
extern mg_backend_peer_t __wrap_mg_cuda_peer;
mg_backend_peer_t __wrap_mg_cuda_peer;

mg_status_t __wrap_mg_device_locations(mg_device_location_t **locations) {
  MG_TRY(__real_mg_device_locations(locations));
  for (int r = 0; r < mg_comm_size(mg_comm_world()); r++)
    (*locations)[r].sharers = 1;
  return MG_OK;
}

static mg_status_t store(void *memory, size_t bytes, uint64_t pattern) {
  return pattern == 1 ? MG_OK : __real_mg_cuda_peer.store(memory, bytes, pattern);
}

__attribute__((constructor)) static void replace_store(void) {
  __wrap_mg_cuda_peer = __real_mg_cuda_peer;
  __wrap_mg_cuda_peer.store = store;
}
