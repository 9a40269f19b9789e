/* NVML's energy counter of a GPU (Volta and newer), in mJ since the driver was loaded. The library
 * belongs to the driver, so it is loaded at run time. Types are from NVML's reference manual. */
#include "base/log.h"
#include "base/paths.h"
#include "run/energy_counter.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int call_t(void);
typedef int get_device_t(const char *uuid, void **device);
typedef int get_energy_t(void *device, unsigned long long *millijoules);
typedef const char *get_error_t(int code);

static struct {
  void *library;
  call_t *init, *shutdown;
  get_device_t *get_device;
  get_energy_t *get_energy;
  get_error_t *get_error;
} nvml;

/* No GPU draws more. The counter cannot wrap at this power: its range is 6e8 years. */
static const double gpu_watts = 1e4;

/* The counter is updated about every 0.1 s on H100 and H200. */
static const double shortest_window = 1.0;

static const char *library_name(void) {
  const char *name = getenv("HPGMG_NVML");
  return name && name[0] ? name : "libnvidia-ml.so.1";
}

static bool find_symbol(const char *name, void *function, char why[MG_ENERGY_WHY]) {
  void *const symbol = dlsym(nvml.library, name);
  memcpy(function, &symbol, sizeof symbol);
  if (!symbol) snprintf(why, MG_ENERGY_WHY, "%.200s has no function %s", library_name(), name);
  return symbol != NULL;
}

static bool check(const char *call, int code, char why[MG_ENERGY_WHY]) {
  if (code == 0) return true;
  snprintf(why, MG_ENERGY_WHY, "NVML: %s returned %d (%.200s)", call, code, nvml.get_error(code));
  return false;
}

static bool load(char why[MG_ENERGY_WHY]) {
  const char *const name = library_name();
  /* To open a pipe would wait for its writer. */
  const char *const unreadable = strchr(name, '/') ? mg_path_why_unreadable(name) : NULL;
  if (!unreadable) nvml.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (nvml.library) return true;
  const char *const error = unreadable ? NULL : dlerror();
  if (error)
    snprintf(why, MG_ENERGY_WHY, "NVML cannot be loaded: %.500s", error);
  else
    snprintf(why, MG_ENERGY_WHY, "NVML cannot be loaded: %.200s: %s", name,
             unreadable ? unreadable : "unknown error");
  return false;
}

static bool open_library(char why[MG_ENERGY_WHY]) {
  return find_symbol("nvmlDeviceGetTotalEnergyConsumption", &nvml.get_energy, why) &&
         find_symbol("nvmlDeviceGetHandleByUUID", &nvml.get_device, why) &&
         find_symbol("nvmlErrorString", &nvml.get_error, why) &&
         find_symbol("nvmlShutdown", &nvml.shutdown, why) &&
         find_symbol("nvmlInit_v2", &nvml.init, why) && check("nvmlInit_v2", nvml.init(), why);
}

void mg_nvml_name(const unsigned char uuid[16], char name[MG_NVML_NAME]) {
  snprintf(name, MG_NVML_NAME, "GPU-");
  for (int b = 0; b < 16; b++)
    mg_append(name, MG_NVML_NAME, "%s%02x", b == 4 || b == 6 || b == 8 || b == 10 ? "-" : "",
              uuid[b]);
}

void mg_nvml_find(const unsigned char uuid[16], mg_counters_t *counters) {
  char why[MG_ENERGY_WHY];
  mg_counter_t counter = {.part = MG_ENERGY_GPU,
                          .range = UINT64_MAX,
                          .joules = 1e-3,
                          .max_watts = gpu_watts,
                          .min_seconds = shortest_window};
  mg_nvml_name(uuid, counter.name);
  if (!load(why)) {
    mg_counters_fail(counters, MG_ENERGY_GPU, MG_ENERGY_ABSENT, "%s", why);
  } else if (!open_library(why)) {
    mg_counters_fail(counters, MG_ENERGY_GPU, MG_ENERGY_FAILED, "%s", why);
    (void)dlclose(nvml.library);
    nvml.library = NULL;
  } else if (!check("nvmlDeviceGetHandleByUUID", nvml.get_device(counter.name, &counter.device),
                    why)) {
    mg_counters_fail(counters, MG_ENERGY_GPU, MG_ENERGY_FAILED, "%s", why);
  } else {
    counters->counter[counters->n++] = counter;
    counters->state[MG_ENERGY_GPU] = MG_ENERGY_OK;
  }
}

bool mg_nvml_read(const mg_counter_t *counter, uint64_t *value, char why[MG_ENERGY_WHY]) {
  unsigned long long millijoules = 0;
  const int code = nvml.get_energy(counter->device, &millijoules);
  *value = millijoules;
  return check("nvmlDeviceGetTotalEnergyConsumption", code, why);
}

/* nvmlPciInfo_t of version 3. */
typedef struct {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char address[32];
} pci_info_t;

bool mg_nvml_pci(const mg_counter_t *counter, char *address, int size) {
  char why[MG_ENERGY_WHY];
  int (*get)(void *device, pci_info_t *info);
  pci_info_t info = {.address = ""};
  if (!find_symbol("nvmlDeviceGetPciInfo_v3", &get, why) || get(counter->device, &info) != 0)
    return false;
  snprintf(address, (size_t)size, "%.31s", info.address);
  return address[0] != '\0';
}

bool mg_nvml_sm_clock(const mg_counter_t *counter, double *mhz) {
  enum { SM_CLOCK = 1 };
  char why[MG_ENERGY_WHY];
  int (*get)(void *device, int kind, unsigned *mhz);
  unsigned clock = 0;
  if (!find_symbol("nvmlDeviceGetClockInfo", &get, why) ||
      get(counter->device, SM_CLOCK, &clock) != 0)
    return false;
  *mhz = clock;
  return true;
}

void mg_nvml_close(void) {
  if (!nvml.library) return;
  (void)nvml.shutdown();
  (void)dlclose(nvml.library);
  nvml.library = NULL;
}
