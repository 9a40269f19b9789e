/* The program as if each rank ran on a separate host with its own device. Used to test NCCL
 * where ranks share a host and a device: NCCL rejects two ranks of one host on one device, and
 * uses sockets between hosts (here the loopback interface). tests/mocks/hpgmg-fv-host-per-rank
 * is linked with --wrap. Memory still counts as shared, as detected by
 * src/device/device_select.c itself. */
#include "comm/comm.h"
#include "device/device_select.h"
#include <stdio.h>
#include <stdlib.h>

mg_status_t __real_mg_device_locations(mg_device_location_t **locations);
mg_status_t __wrap_mg_device_locations(mg_device_location_t **locations);

mg_status_t __wrap_mg_device_locations(mg_device_location_t **locations) {
  char host[32];
  MG_TRY(__real_mg_device_locations(locations));
  for (int r = 0; r < mg_comm_size(mg_comm_world()); r++) {
    (*locations)[r].host = r;
    (*locations)[r].sharers = 1;
  }
  snprintf(host, sizeof host, "host-%d", mg_comm_rank(mg_comm_world()));
  setenv("NCCL_HOSTID", host, 1);
  setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  setenv("NCCL_IB_DISABLE", "1", 1);
  return MG_OK;
}
