/* Energy of a run's timed solves at h, from cumulative counters that are read before and after
 * them: of GPUs, CPU packages and nodes. The counters are those of the process. */
#ifndef MG_ENERGY_H
#define MG_ENERGY_H

#include "params/params.h"
#include "run/energy_counter.h"

/** Energy of a part of the machine, over all hosts. */
typedef struct {
  int n_counters;          /**< each counter once, however many ranks share its GPU or host */
  double joules;           /**< in the window; NaN if not measured */
  double idle_watts;       /**< before the run; NaN if not measured */
  char why[MG_ENERGY_WHY]; /**< reason if not measured; "" otherwise */
} mg_energy_sum_t;

/** Energy of a run, the same on every rank. Zero-initialize. */
typedef struct {
  bool is_reported;    /**< --energy, or --official on a machine with counters */
  int n_solves;        /**< timed solves at h in the window; 0: the window is not complete */
  double seconds;      /**< the window: from before the first to after the last of these solves */
  double idle_seconds; /**< over which idle_watts are means; 0: no counters */
  mg_energy_sum_t sum[MG_N_ENERGY_PARTS];
} mg_energy_t;

/** Names of a part in reports, and the source of its energy. */
typedef struct {
  const char *key, *text, *plural, *source;
} mg_energy_names_t;
extern const mg_energy_names_t mg_energy_names[MG_N_ENERGY_PARTS];

/** Find the counters and measure the idle power, for a second, if --energy or --official requests
 *  energy. A part without a usable counter gets one warning.
 *
 *  Collective over the world. Call it when the device has been chosen and does not compute. The
 *  first rank of each host reads RAPL's counters, and the first rank of each GPU reads NVML's.
 *  @return MG_OK (also without counters), MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_energy_open(const mg_params_t *params, mg_energy_t *energy);

/** Begin the window. Collective over the world; no effect if mg_energy_open found no counters.
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_energy_begin(void);

/** End the window and close the counters. Collective over the world; no effect without a window.
 *  @param[in]     n_solves  in the window; 0: it is not complete, and is dropped
 *  @param[in,out] energy    as mg_energy_open left it
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_energy_end(int n_solves, mg_energy_t *energy);

#endif
