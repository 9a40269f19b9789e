/* The program on a machine whose clock and energy counters advance by calls, not by time.
 *
 *   MOCK_TICK  seconds that each call of mg_now takes; default 0.01; negative: the clock goes
 *              back. nanosleep returns at once and takes the requested time
 *   MOCK_GPUS  number of the GPU of each rank, separated by commas; default: no rank has one. The
 *              GPU N has the UUID 000...0N + 1
 *
 * Each read of a file energy_uj adds the number in the file `step` beside it, and wraps at
 * max_energy_range_uj. tests/mocks/hpgmg-fv-energy is linked with --wrap. */
#include "base/timers.h"
#include "comm/comm.h"
#include "device/device_select.h"
#include "run/energy_counter.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double __wrap_mg_now(void);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
void __wrap_mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]);
bool __real_mg_powercap_read(const char *path, uint64_t *value, char why[MG_ENERGY_WHY]);
bool __wrap_mg_powercap_read(const char *path, uint64_t *value, char why[MG_ENERGY_WHY]);

static double now;

double __wrap_mg_now(void) {
  const char *tick = getenv("MOCK_TICK");
  return now += tick ? atof(tick) : 0.01;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left) {
  (void)left;
  now += (double)time->tv_sec + 1e-9 * (double)time->tv_nsec;
  return 0;
}

void __wrap_mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]) {
  const char *gpu = getenv("MOCK_GPUS");
  (void)params;
  memset(uuid, 0, 16);
  for (int r = 0; gpu && r < mg_comm_rank(mg_comm_world()); r++)
    gpu = strchr(gpu, ',') ? strchr(gpu, ',') + 1 : NULL;
  if (gpu) uuid[15] = (unsigned char)(atoi(gpu) + 1);
}

static uint64_t read_beside(const char *path, const char *name) {
  char other[4096], why[MG_ENERGY_WHY];
  uint64_t value = 0;
  snprintf(other, sizeof other, "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, name);
  return __real_mg_powercap_read(other, &value, why) ? value : 0;
}

bool __wrap_mg_powercap_read(const char *path, uint64_t *value, char why[MG_ENERGY_WHY]) {
  if (!__real_mg_powercap_read(path, value, why)) return false;
  const uint64_t next = *value + read_beside(path, "step");
  FILE *file = fopen(path, "w");
  if (!file) return true;
  fprintf(file, "%" PRIu64 "\n", next % (read_beside(path, "max_energy_range_uj") + 1));
  fclose(file);
  return true;
}
