/* The stages of a health check on one rank: solves, comparison of the solutions, bandwidth. */
#include "base/log.h"
#include "base/machine.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "level/ops.h"
#include "run/energy_counter.h"
#include "run/health.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "solver/problem.h"
#include "wings.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checksums of u after one F-cycle with the default operator and smoother. They are the same in all
 * bits on any CPU and GPU. tests/cli/health.sh compares them with runs and with
 * scripts/checks/known-results.csv. */
static const struct {
  int32_t n;
  uint64_t u;
} known[] = {{32, 0xd6f252e2b6faeb3e},
             {64, 0x0ae5e7ba778b9cee},
             {128, 0xc6246895ec9f4470},
             {256, 0xb56bd7d32be99430}};

enum { N_KNOWN = sizeof known / sizeof *known };

/* --- problems --------------------------------------------------------------------------------- */

static mg_params_t params_of(const mg_params_t *params, int32_t n) {
  mg_params_t p = *params;
  p.log2_box_dim = 0;
  while (1 << p.log2_box_dim < n)
    p.log2_box_dim++;
  p.boxes_per_rank = 1;
  p.cpu_below = 0;                 /* a measured choice would differ between runs */
  p.transport = MG_TRANSPORT_HOST; /* one rank sends no messages */
  return p;
}

/* Does a problem fit, if each rank of this host solves it? */
static mg_status_t check_room(const mg_params_t *params, int32_t n, const mg_room_t *room,
                              int ranks, bool *fits) {
  static mg_params_t p; /* too large for some stacks, like the plan */
  static mg_plan_t plan;
  const int64_t buffers = (int64_t)128 << 20; /* for links */
  int64_t host, device;
  p = params_of(params, n);
  MG_TRY(mg_plan_build(&p, 1, &plan, NULL, 0));
  MG_TRY(mg_memory_planned(&plan, 0, &host, &device));
  host += buffers;
  *fits = device <= room->device_bytes && host <= room->process_bytes &&
          host <= room->host_bytes / ranks;
  return MG_OK;
}

mg_status_t mg_health_sizes(const mg_params_t *params, int32_t n[MG_HEALTH_PROBLEMS]) {
  mg_room_t room;
  int ranks;
  double medium = 0.0;
  MG_TRY(mg_memory_room(params, &room));
  MG_TRY(mg_comm_rank_on_host(NULL, &ranks, NULL));
  mg_status_t status = MG_OK;
  for (int k = 1; k < N_KNOWN && status == MG_OK; k++) {
    bool fit = false;
    if (known[k].n > 128 && !mg_params_uses_gpu(params)) break;
    status = check_room(params, known[k].n, &room, ranks, &fit);
    if (fit) medium = known[k].n;
  }
  MG_TRY(mg_comm_agree(status));
  MG_TRY(mg_comm_min(mg_comm_world(), &medium, 1));
  n[1] = (int32_t)medium;
  n[0] = n[1] > 64 ? 64 : 32;
  if (n[1] > 0) return MG_OK;
  return mg_root_error(MG_ERR_MEMORY,
                       "too little memory for 64^3 cells on each rank; use fewer ranks");
}

/* --- NVML ------------------------------------------------------------------------------------- */

static mg_counters_t nvml; /* of this rank's GPU: at most one counter */

mg_status_t mg_health_identify(const mg_params_t *params, mg_health_device_t *device) {
  static const unsigned char no_gpu[16];
  unsigned char uuid[16];
  mg_device_uuid(params, uuid);
  const bool has_gpu = memcmp(uuid, no_gpu, sizeof uuid) != 0;
  const int threads = mg_machine_threads();
  if (mg_params_uses_gpu(params))
    snprintf(device->model, sizeof device->model, "%s", mg_device_text());
  else
    snprintf(device->model, sizeof device->model, "%s, %d thread%s", mg_machine_cpu(), threads,
             threads == 1 ? "" : "s");
  if (!has_gpu) return MG_OK;
  mg_nvml_name(uuid, device->uuid);
  mg_nvml_find(uuid, &nvml);
  if (nvml.n > 0 && !mg_nvml_pci(&nvml.counter[0], device->pci, (int)sizeof device->pci))
    device->pci[0] = '\0';
  if (nvml.n == 0) mg_verbose("health: %s", nvml.why[MG_ENERGY_GPU]);
  return MG_OK;
}

/* Clock and energy during the solves of the medium problem. */
typedef struct {
  double mhz, last; /* sum of the samples; time of the last one */
  int n;
  mg_reading_t begin[MG_MAX_COUNTERS];
} observation_t;

static void observe_clock(observation_t *o) {
  const double interval = 0.1;
  double mhz;
  if (nvml.n == 0 || (o->n > 0 && mg_now() - o->last < interval)) return;
  if (!mg_nvml_sm_clock(&nvml.counter[0], &mhz)) return;
  o->mhz += mhz;
  o->n++;
  o->last = mg_now();
}

static void end_observation(const observation_t *o, int n_solves, double *value) {
  mg_reading_t end[MG_MAX_COUNTERS];
  char why[MG_ENERGY_WHY];
  double joules;
  if (o->n > 0) value[MG_HEALTH_SM_CLOCK] = o->mhz / o->n;
  if (nvml.n == 0) return;
  mg_counters_read(&nvml, end);
  if (nvml.state[MG_ENERGY_GPU] != MG_ENERGY_OK ||
      !mg_counter_joules(&nvml.counter[0], &o->begin[0], &end[0], &joules, why))
    return;
  value[MG_HEALTH_POWER] = joules / (end[0].seconds - o->begin[0].seconds);
  value[MG_HEALTH_ENERGY] = joules / n_solves;
}

/* --- solves ----------------------------------------------------------------------------------- */

enum { MAX_SAMPLES = 1 << 16 };

/* Solves of one problem. */
typedef struct {
  const mg_params_t *params;
  mg_health_checksum_t checksum;
  mg_hierarchy_t *h;
  mg_health_problem_t *problem;
  double norm;       /* of the last solve */
  double first_norm; /* of the first solve with the known solution; NaN: none yet */
  double *sample;    /* seconds of timed solves; after MAX_SAMPLES, of the last ones */
} solves_t;

static bool has_first_norm(const solves_t *s) {
  return memcmp(&s->norm, &s->first_norm, sizeof s->norm) == 0;
}

/* SIGHUP, SIGINT or SIGTERM ends the measurement, not the report. */
static mg_status_t check_signal(void) {
  const int caught = mg_machine_signal();
  if (caught == 0) return MG_OK;
  return mg_error(MG_ERR_INTERRUPTED, "signal %d (%s) ended the check", caught, strsignal(caught));
}

static mg_status_t solve(solves_t *s, double *seconds) {
  MG_TRY(check_signal());
  const double start = mg_now();
  MG_TRY(mg_cycle_run(s->h, 0, MG_KIND_FIRST, NULL));
  MG_TRY(mg_cycle_residual_norm(s->h, 0, MG_KIND_FIRST, &s->norm));
  *seconds = mg_now() - start;
  s->problem->n_solves++;
  return MG_OK;
}

/* Compare the last solution with the known one. */
static mg_status_t check(solves_t *s) {
  mg_health_problem_t *p = s->problem;
  uint64_t sum;
  MG_TRY(s->checksum(&s->h->level[0], MG_U, &sum));
  p->n_checked++;
  if (p->n_wrong == 0) p->checksum = sum;
  if (sum != p->known) {
    p->n_wrong++;
    return MG_OK;
  }
  if (isnan(s->first_norm)) s->first_norm = s->norm;
  p->n_norms += !has_first_norm(s);
  return MG_OK;
}

/* A solve whose norm is not that of the known solution is compared at once. */
static mg_status_t solve_and_check(solves_t *s, bool always, double *seconds) {
  MG_TRY(solve(s, seconds));
  return always || !has_first_norm(s) ? check(s) : MG_OK;
}

/* Timed solves, which follow each other at once. */
static mg_status_t run_timed(solves_t *s, observation_t *observation, double *value, int figure) {
  const double begin = mg_now();
  int n = 0;
  mg_counters_read(&nvml, observation->begin);
  while (n < s->params->min_solves || mg_now() - begin < 0.5 * s->params->min_time) {
    MG_TRY(solve_and_check(s, false, &s->sample[n % MAX_SAMPLES]));
    observe_clock(observation);
    n++;
  }
  if (figure == MG_HEALTH_RATE_MEDIUM) end_observation(observation, n, value);
  const double cells = (double)s->problem->n * s->problem->n * s->problem->n;
  value[figure] = cells / mg_health_median(s->sample, n < MAX_SAMPLES ? n : MAX_SAMPLES);
  return MG_OK;
}

static mg_status_t run_solves(solves_t *s, double *value, int figure) {
  observation_t observation = {.n = 0};
  double seconds;
  MG_TRY(solve_and_check(s, true, &seconds));
  for (int w = 0; w < s->params->warmup; w++)
    MG_TRY(solve_and_check(s, false, &seconds));
  MG_TRY(run_timed(s, &observation, value, figure));
  const double begin = mg_now();
  do {
    MG_TRY(solve_and_check(s, true, &seconds));
  } while (mg_now() - begin < 0.5 * s->params->min_time);
  return MG_OK;
}

/* --- bandwidth -------------------------------------------------------------------------------- */

enum { MIN_REPEATS = 5 };

/* Something timed: it returns when it has finished. */
typedef mg_status_t (*timed_t)(void *data);

/* Median seconds of repetitions, for at most a tenth of --min-time. The first one is not timed. */
static mg_status_t time_repeatedly(const solves_t *s, timed_t run, void *data, double *seconds) {
  MG_TRY(run(data));
  const double begin = mg_now();
  int n = 0;
  while (n < MIN_REPEATS || (n < MAX_SAMPLES && mg_now() - begin < 0.1 * s->params->min_time)) {
    MG_TRY(check_signal());
    const double start = mg_now();
    MG_TRY(run(data));
    s->sample[n++] = mg_now() - start;
  }
  *seconds = mg_health_median(s->sample, n);
  return MG_OK;
}

enum { UPDATES = 10, BYTES_PER_UPDATE = 24 };

/* u = f + beta, a few times in a row. */
static mg_status_t update_vector(void *data) {
  mg_level_t *level = data;
  for (int u = 0; u < UPDATES; u++)
    MG_TRY(mg_axpby(level, MG_U, 1.0, MG_F, 1.0, MG_BETA_I));
  return level->backend->queue.wait ? level->backend->queue.wait() : MG_OK;
}

/* Destroys u. */
static mg_status_t measure_bandwidth(const solves_t *s, double *bytes_per_s) {
  mg_level_t *level = &s->h->level[0];
  double seconds;
  MG_TRY(time_repeatedly(s, update_vector, level, &seconds));
  *bytes_per_s = (double)mg_volume(level->store.view.n) * BYTES_PER_UPDATE * UPDATES / seconds;
  return MG_OK;
}

typedef struct {
  const mg_backend_t *backend;
  mg_copies_t *copies;
} to_host_t;

static mg_status_t copy_to_host(void *data) {
  const to_host_t *to_host = data;
  MG_TRY(to_host->backend->copy(to_host->copies, MG_F, MG_F));
  return to_host->backend->queue.wait();
}

/* Copy planes of f into the host's memory. */
static mg_status_t measure_host_link(const solves_t *s, double *bytes_per_s) {
  const mg_view_t *v = &s->h->level[0].store.view;
  const int64_t plane = (int64_t)v->n[0] * v->n[1] * (int64_t)sizeof(double), most = 64 << 20;
  const int32_t planes = plane * v->n[2] < most ? v->n[2] : (int32_t)(most / plane);
  const size_t bytes = (size_t)(plane * planes);
  to_host_t to_host = {s->h->level[0].backend, NULL};
  void *buffer;
  double seconds = NAN;
  MG_TRY(to_host.backend->alloc(bytes, MG_SPACE_SHARED, &buffer));
  const mg_copy_t item = {.src_patch = 0, .dst_patch = -1, .n = {v->n[0], v->n[1], planes}};
  const mg_copy_job_t job = {v, v, buffer, &item, 1};
  mg_status_t status = to_host.backend->prepare_copies(&job, &to_host.copies);
  if (status == MG_OK) {
    status = time_repeatedly(s, copy_to_host, &to_host, &seconds);
    to_host.backend->release_copies(to_host.copies);
  }
  to_host.backend->release(buffer, bytes, MG_SPACE_SHARED);
  *bytes_per_s = (double)bytes / seconds;
  return status;
}

/* --- stages ----------------------------------------------------------------------------------- */

static mg_status_t set_up(solves_t *s) {
  static mg_params_t small; /* too large for some stacks, like the plan */
  static mg_plan_t plan;
  for (int k = 0; k < N_KNOWN; k++)
    if (known[k].n == s->problem->n) s->problem->known = known[k].u;
  small = params_of(s->params, s->problem->n);
  MG_TRY(mg_plan_build(&small, 1, &plan, NULL, 0));
  MG_TRY(mg_hierarchy_create(&small, &plan, &s->h));
  MG_TRY(mg_problem_set(s->h));
  MG_IF_COARSE(return mg_graph_capture(s->h, 0));
  return MG_OK;
}

/* Memory is measured in the levels of the medium problem. */
static mg_status_t run_stage(solves_t *s, mg_health_stage_t stage, double *value) {
  if (stage == MG_HEALTH_MEMORY) {
    MG_TRY(measure_bandwidth(s, &value[MG_HEALTH_BANDWIDTH]));
    if (!s->h->level[0].backend->queue.wait) return MG_OK;
    return measure_host_link(s, &value[MG_HEALTH_HOST_LINK]);
  }
  MG_TRY(set_up(s));
  return run_solves(s, value,
                    stage == MG_HEALTH_SMALL ? MG_HEALTH_RATE_SMALL : MG_HEALTH_RATE_MEDIUM);
}

mg_status_t mg_health_run(const mg_params_t *params, mg_health_checksum_t checksum,
                          mg_health_stage_t stage, mg_health_device_t *device) {
  static solves_t s;
  if (stage != MG_HEALTH_MEMORY)
    s = (solves_t){params, checksum, NULL, &device->problem[stage], NAN, NAN, NULL};
  MG_TRY(mg_new(&s.sample, MAX_SAMPLES, "times of solves"));
  const mg_status_t status = run_stage(&s, stage, device->value);
  free(s.sample);
  if (status == MG_OK && stage == MG_HEALTH_MEDIUM) return MG_OK;
  if (status < MG_ERR_DEVICE) mg_hierarchy_free(s.h); /* freeing uses the device */
  if (stage == MG_HEALTH_MEMORY) mg_nvml_close();
  return status;
}
