/* Cumulative energy counters of this host: NVML's of a GPU, RAPL's of CPU packages and of the node.
 *
 * Functions here are not collective. No failure ends a run: it leaves a part without a number and
 * gives the reason. */
#ifndef MG_ENERGY_COUNTER_H
#define MG_ENERGY_COUNTER_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

/** Parts of a machine whose energy is reported separately. */
typedef enum { MG_ENERGY_GPU, MG_ENERGY_CPU, MG_ENERGY_NODE, MG_N_ENERGY_PARTS } mg_energy_part_t;

/** State of a part on this rank. The order is severity. */
typedef enum {
  MG_ENERGY_NONE,   /**< nothing to read on this rank */
  MG_ENERGY_OK,     /**< has counters */
  MG_ENERGY_ABSENT, /**< this machine has no counter */
  MG_ENERGY_FAILED  /**< a counter cannot be read, or its values are unusable */
} mg_energy_state_t;

enum { MG_ENERGY_WHY = 768, MG_MAX_COUNTERS = 64 };

/** One counter. */
typedef struct {
  mg_energy_part_t part;
  char name[256];     /**< path of energy_uj, or "GPU-" and the UUID */
  void *device;       /**< NVML's handle; NULL: RAPL */
  uint64_t range;     /**< largest value, in units */
  double joules;      /**< per unit */
  double max_watts;   /**< no machine exceeds this power */
  double min_seconds; /**< shortest window: ten updates of the counter */
} mg_counter_t;

/** The counters that this rank reads. Zero-initialize. */
typedef struct {
  int n;
  mg_counter_t counter[MG_MAX_COUNTERS];
  mg_energy_state_t state[MG_N_ENERGY_PARTS];
  char why[MG_N_ENERGY_PARTS][MG_ENERGY_WHY]; /**< reason, if ABSENT or FAILED */
} mg_counters_t;

/** A value of a counter and when it was read (mg_now). */
typedef struct {
  uint64_t value;
  double seconds;
} mg_reading_t;

/** Set the state of a part and its reason, unless the part has failed before. */
void mg_counters_fail(mg_counters_t *counters, mg_energy_part_t part, mg_energy_state_t state,
                      const char *format, ...) MG_PRINTF(4, 5);

/** Read all counters of the parts that are OK. Those of a part that fails are undefined. */
void mg_counters_read(mg_counters_t *counters, mg_reading_t reading[MG_MAX_COUNTERS]);

/** Energy between two readings of a counter.
 *
 *  Refused if the counter went backwards or did not change, or if the window is so short that the
 *  counter's updates are a tenth of it, or so long that the counter may have wrapped unnoticed.
 *  @param[out] joules  set if true
 *  @param[out] why     set if false */
bool mg_counter_joules(const mg_counter_t *counter, const mg_reading_t *from,
                       const mg_reading_t *to, double *joules, char why[MG_ENERGY_WHY]);

/** Find RAPL's counters of all packages, and of the node (psys), below /sys/class/powercap, or
 *  below HPGMG_POWERCAP. Sets the states of CPU and NODE. */
void mg_powercap_find(mg_counters_t *counters);

/** Read a file that contains one integer. */
bool mg_powercap_read(const char *path, uint64_t *value, char why[MG_ENERGY_WHY]);

/** Name of a GPU: "GPU-" and its UUID. */
enum { MG_NVML_NAME = 48 };
void mg_nvml_name(const unsigned char uuid[16], char name[MG_NVML_NAME]);

/** Load libnvidia-ml.so.1, or the library HPGMG_NVML, and find the counter of a GPU. Sets the state
 *  of GPU. */
void mg_nvml_find(const unsigned char uuid[16], mg_counters_t *counters);

/** Read NVML's counter. @pre mg_nvml_find found it */
bool mg_nvml_read(const mg_counter_t *counter, uint64_t *value, char why[MG_ENERGY_WHY]);

/** PCI address of the GPU of NVML's counter ("00000000:18:00.0"), and the current clock of its SMs
 * in MHz. @pre mg_nvml_find found it
 *  @return false: unknown */
bool mg_nvml_pci(const mg_counter_t *counter, char *address, int size);
bool mg_nvml_sm_clock(const mg_counter_t *counter, double *mhz);

/** Unload the library; no effect if it is not loaded. */
void mg_nvml_close(void);

#endif
