/* A library with the functions of NVML that src/run/energy_nvml.c uses (HPGMG_NVML). The file
 * $NVML_FOLDER/UUID is the energy counter of a GPU in mJ; each read adds NVML_STEP, which may be
 * negative. The PCI address ends with the UUID, and the SM clock is 1500 MHz. With
 * NVML_FAIL=FUNCTION that function returns error 999. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetPciInfo_v3(void *device, void *info);
const char *nvmlErrorString(int code);

enum { OK = 0, NOT_FOUND = 6, UNKNOWN = 999 };

typedef struct {
  char path[4096];
} device_t;

/* Whether NVML_FAIL names the function. */
static int fails(const char *function) {
  const char *name = getenv("NVML_FAIL");
  return name && strcmp(name, function) == 0 ? UNKNOWN : OK;
}

int nvmlInit_v2(void) {
  return fails("nvmlInit_v2");
}

int nvmlShutdown(void) {
  return OK;
}

const char *nvmlErrorString(int code) {
  return code == NOT_FOUND ? "Not Found" : "Unknown Error";
}

static int read_counter(const char *path, long long *value) {
  FILE *file = fopen(path, "r");
  const int n = file ? fscanf(file, "%lld", value) : 0;
  if (file) fclose(file);
  return n == 1 ? OK : NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  static device_t only; /* a rank uses one GPU */
  long long value;
  const char *folder = getenv("NVML_FOLDER");
  snprintf(only.path, sizeof only.path, "%s/%s", folder ? folder : ".", uuid);
  *device = &only;
  return read_counter(only.path, &value);
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
  const char *path = ((const device_t *)device)->path, *step = getenv("NVML_STEP");
  long long value = 0;
  if (fails("nvmlDeviceGetTotalEnergyConsumption") || read_counter(path, &value)) return UNKNOWN;
  *millijoules = (unsigned long long)value;
  FILE *file = fopen(path, "w");
  if (!file) return UNKNOWN;
  fprintf(file, "%lld\n", value + (step ? atoll(step) : 0));
  return fclose(file) == 0 ? OK : UNKNOWN;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
  enum { SM = 1 };
  (void)device;
  *mhz = kind == SM ? 1500 : 2000;
  return fails("nvmlDeviceGetClockInfo");
}

int nvmlDeviceGetPciInfo_v3(void *device, void *info) {
  const char *path = ((const device_t *)device)->path;
  struct {
    char legacy[16];
    unsigned numbers[5];
    char address[32];
  } pci = {"", {0}, ""};
  snprintf(pci.address, sizeof pci.address, "00000000:%s:00.0", path + strlen(path) - 2);
  memcpy(info, &pci, sizeof pci);
  return fails("nvmlDeviceGetPciInfo_v3");
}
