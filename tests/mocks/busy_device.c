/* The program with simulated devices: each rank detects one, but the last rank's is unusable,
 * e.g. owned exclusively by another process. With FAULT=managed it opens but lacks managed
 * memory. No real device is queried. tests/mocks/hpgmg-fv-busy-device is linked with --wrap. */
#include "backend/device.h"
#include "comm/comm.h"
#include <stdio.h>
#include <stdlib.h>

static bool is_last(void) {
  return mg_comm_rank(mg_comm_world()) + 1 == mg_comm_size(mg_comm_world());
}

static int count(char *why, size_t size) {
  (void)why;
  (void)size;
  return 1;
}

static bool usable(int device, char *why, size_t size) {
  snprintf(why, size, "cannot use CUDA device %d: busy", device);
  return getenv("FAULT") || !is_last();
}

static mg_status_t open(int device, mg_device_facts_t *facts) {
  (void)device;
  *facts = (mg_device_facts_t){.text = "none", .has_managed = !is_last()};
  return MG_OK;
}

static void close(void) {}

extern const mg_backend_device_t __wrap_mg_cuda_device;
const mg_backend_device_t __wrap_mg_cuda_device = {
    .count = count, .usable = usable, .open = open, .close = close};
