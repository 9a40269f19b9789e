#include "run/energy.h"
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm.h"
#include "device/device_select.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const mg_energy_names_t mg_energy_names[MG_N_ENERGY_PARTS] = {
    [MG_ENERGY_GPU] = {"gpu", "GPU", "GPUs", "NVML"},
    [MG_ENERGY_CPU] = {"cpu", "CPU", "CPUs", "RAPL package"},
    [MG_ENERGY_NODE] = {"node", "node", "nodes", "RAPL psys"}};

/* The counters of this rank. The states are those of the job after share_states. */
static struct {
  bool is_open; /* the same on all ranks */
  bool has_window;
  bool requested; /* by --energy: absent counters are worth a warning */
  mg_counters_t counters;
  mg_reading_t begin[MG_MAX_COUNTERS];
} meter;

/* Does no rank before this one use the same GPU? */
static mg_status_t is_first_on_gpu(const unsigned char uuid[16], bool *first) {
  mg_comm_t *world = mg_comm_world();
  unsigned char(*all)[16];
  mg_status_t status =
      mg_comm_agree(mg_new(&all, mg_comm_size(world), "device identities of all ranks"));
  if (status == MG_OK) status = mg_comm_gather(world, uuid, 16, all);
  *first = true;
  for (int r = 0; status == MG_OK && r < mg_comm_rank(world); r++)
    if (memcmp(all[r], uuid, 16) == 0) *first = false;
  free(all);
  return status;
}

static mg_status_t find_counters(const mg_params_t *params) {
  static const unsigned char no_gpu[16];
  unsigned char uuid[16];
  int rank;
  bool first;
  MG_TRY(mg_comm_rank_on_host(&rank, NULL, NULL));
  mg_device_uuid(params, uuid);
  MG_TRY(is_first_on_gpu(uuid, &first));
  if (rank == 0) mg_powercap_find(&meter.counters);
  if (first && memcmp(uuid, no_gpu, 16) != 0) mg_nvml_find(uuid, &meter.counters);
  return MG_OK;
}

/* Collective: copy the reason of the first rank whose state is `worst` to all ranks. */
static mg_status_t share_reason(mg_energy_part_t part, mg_energy_state_t worst) {
  mg_comm_t *world = mg_comm_world();
  char *why = meter.counters.why[part], mine[MG_ENERGY_WHY];
  int first;
  if (mg_comm_size(world) == 1) return MG_OK;
  snprintf(mine, sizeof mine, "%.80s: %.680s", mg_comm_host(), why);
  snprintf(why, MG_ENERGY_WHY, "%s", mine);
  return mg_comm_first_text(world, meter.counters.state[part] == worst, why, MG_ENERGY_WHY, &first);
}

/* Most machines have no counter of the node, so its absence is normal. */
static void report_failure(mg_energy_part_t part, mg_energy_state_t state) {
  const bool is_normal = state == MG_ENERGY_ABSENT && (!meter.requested || part == MG_ENERGY_NODE);
  (is_normal ? mg_verbose : mg_warning)("the energy of %s is not measured: %s",
                                        mg_energy_names[part].plural, meter.counters.why[part]);
}

/* Collective: a part has no number if a counter of any rank is missing or has failed. Report each
 * part once. */
static mg_status_t share_states(mg_energy_t *energy) {
  double state[MG_N_ENERGY_PARTS];
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    state[p] = (double)meter.counters.state[p];
  MG_TRY(mg_comm_max(mg_comm_world(), state, MG_N_ENERGY_PARTS));
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++) {
    const mg_energy_part_t part = (mg_energy_part_t)p;
    const mg_energy_state_t worst = (mg_energy_state_t)state[p];
    mg_energy_sum_t *const sum = &energy->sum[p];
    if (worst == MG_ENERGY_NONE) snprintf(sum->why, sizeof sum->why, "the run uses no GPU");
    if (worst < MG_ENERGY_ABSENT || sum->why[0]) continue;
    MG_TRY(share_reason(part, worst));
    memcpy(sum->why, meter.counters.why[p], sizeof sum->why);
    meter.counters.state[p] = worst;
    sum->joules = sum->idle_watts = NAN;
    report_failure(part, worst);
  }
  return MG_OK;
}

/* Joules and mean watts of this rank's counters, and the longest time between their readings. */
typedef struct {
  double joules[MG_N_ENERGY_PARTS], watts[MG_N_ENERGY_PARTS], seconds;
} change_t;

static change_t changes(const mg_reading_t *from, const mg_reading_t *to) {
  change_t change = {{0.0}, {0.0}, 0.0};
  char why[MG_ENERGY_WHY];
  for (int c = 0; c < meter.counters.n; c++) {
    const mg_counter_t *counter = &meter.counters.counter[c];
    double joules = 0.0;
    if (meter.counters.state[counter->part] != MG_ENERGY_OK) continue;
    const double seconds = to[c].seconds - from[c].seconds;
    if (!mg_counter_joules(counter, &from[c], &to[c], &joules, why))
      mg_counters_fail(&meter.counters, counter->part, MG_ENERGY_FAILED, "%s", why);
    change.joules[counter->part] += joules;
    change.watts[counter->part] += joules / seconds;
    change.seconds = fmax(change.seconds, seconds);
  }
  return change;
}

/* Collective: changes over all ranks. */
static mg_status_t add_up(const mg_reading_t *from, const mg_reading_t *to, mg_energy_t *energy,
                          change_t *change) {
  mg_comm_t *world = mg_comm_world();
  *change = changes(from, to);
  MG_TRY(share_states(energy));
  MG_TRY(mg_comm_sum(world, change->joules, MG_N_ENERGY_PARTS));
  MG_TRY(mg_comm_sum(world, change->watts, MG_N_ENERGY_PARTS));
  return mg_comm_max(world, &change->seconds, 1);
}

static bool is_measured(const mg_energy_t *energy, int part) {
  return energy->sum[part].why[0] == '\0';
}

static mg_status_t count_counters(mg_energy_t *energy) {
  double n[MG_N_ENERGY_PARTS] = {0.0};
  for (int c = 0; c < meter.counters.n; c++)
    n[meter.counters.counter[c].part] += 1.0;
  MG_TRY(mg_comm_sum(mg_comm_world(), n, MG_N_ENERGY_PARTS));
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++) {
    energy->sum[p].n_counters = is_measured(energy, p) ? (int)n[p] : 0;
    meter.is_open = meter.is_open || energy->sum[p].n_counters > 0;
  }
  return MG_OK;
}

/* All ranks sleep, so none computes or waits for messages in the meantime. */
static void sleep_for(time_t seconds) {
  struct timespec left = {seconds, 0};
  while (nanosleep(&left, &left) != 0)
    continue;
}

static mg_status_t measure_idle_power(mg_energy_t *energy, const mg_reading_t *begin) {
  mg_reading_t end[MG_MAX_COUNTERS] = {{0, 0.0}};
  change_t idle;
  sleep_for(1);
  mg_counters_read(&meter.counters, end);
  MG_TRY(add_up(begin, end, energy, &idle));
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    if (is_measured(energy, p)) energy->sum[p].idle_watts = idle.watts[p];
  energy->idle_seconds = idle.seconds;
  return MG_OK;
}

mg_status_t mg_energy_open(const mg_params_t *params, mg_energy_t *energy) {
  mg_reading_t begin[MG_MAX_COUNTERS] = {{0, 0.0}};
  if (params->energy == MG_NO || (params->energy == MG_AUTO && !params->official)) return MG_OK;
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    energy->sum[p].joules = energy->sum[p].idle_watts = NAN;
  meter.requested = params->energy == MG_YES;
  MG_TRY(find_counters(params));
  mg_counters_read(&meter.counters, begin);
  MG_TRY(share_states(energy));
  MG_TRY(count_counters(energy));
  energy->is_reported = meter.requested || meter.is_open;
  if (meter.is_open) return measure_idle_power(energy, begin);
  mg_nvml_close();
  return MG_OK;
}

mg_status_t mg_energy_begin(void) {
  if (!meter.is_open) return MG_OK;
  MG_TRY(mg_comm_barrier(mg_comm_world()));
  mg_counters_read(&meter.counters, meter.begin);
  meter.has_window = true;
  return MG_OK;
}

mg_status_t mg_energy_end(int n_solves, mg_energy_t *energy) {
  mg_reading_t end[MG_MAX_COUNTERS] = {{0, 0.0}};
  change_t window;
  if (!meter.has_window) return MG_OK;
  mg_counters_read(&meter.counters, end);
  mg_nvml_close();
  meter.is_open = meter.has_window = false;
  if (n_solves == 0) return MG_OK;
  MG_TRY(add_up(meter.begin, end, energy, &window));
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    if (is_measured(energy, p)) energy->sum[p].joules = window.joules[p];
  energy->seconds = window.seconds;
  energy->n_solves = n_solves;
  return MG_OK;
}
