/* The stages of a check on one rank: solves, comparison of the solutions, bandwidth. */
#include "base/log.h"
#include "base/machine.h"
#include "base/timers.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "health/health.h"
#include "io/checksum.h"
#include "level/ops.h"
#include "run/energy_counter.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"
#include "solver/problem.h"
#include "wings.h"
#include <math.h>
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

/* A problem on one rank; too large for some stacks. */
static struct {
  mg_params_t params;
  mg_plan_t plan;
} problem;

static mg_status_t plan_problem(const mg_params_t *params, int32_t n) {
  mg_params_t *p = &problem.params;
  *p = *params;
  p->log2_box_dim = 0;
  while (1 << p->log2_box_dim < n)
    p->log2_box_dim++;
  p->boxes_per_rank = 1;
  p->cpu_below = 0;                 /* a measured choice would differ between runs */
  p->transport = MG_TRANSPORT_HOST; /* one rank sends no messages */
  return mg_plan_build(p, 1, &problem.plan, NULL, 0);
}

/* --- device ----------------------------------------------------------------------------------- */

static mg_counters_t nvml; /* of this rank's GPU: at most one counter */

static void identify(const mg_params_t *params, health_device_t *device) {
  static const unsigned char no_gpu[16];
  unsigned char uuid[16];
  const int threads = mg_machine_threads();
  if (mg_params_uses_gpu(params))
    snprintf(device->name.model, sizeof device->name.model, "%s", mg_device_text());
  else
    snprintf(device->name.model, sizeof device->name.model, "%s, %d thread%s", mg_machine_cpu(),
             threads, threads == 1 ? "" : "s");
  mg_device_uuid(params, uuid);
  if (memcmp(uuid, no_gpu, sizeof uuid) == 0) return;
  mg_nvml_name(uuid, device->name.uuid);
  mg_nvml_find(uuid, &nvml);
  if (nvml.n > 0 && !mg_nvml_pci(&nvml.counter[0], device->pci, (int)sizeof device->pci))
    device->pci[0] = '\0';
  if (nvml.n == 0) mg_verbose("health: %s", nvml.why[MG_ENERGY_GPU]);
}

mg_status_t health_prepare(const mg_params_t *params, health_device_t *device) {
  const int64_t buffers = (int64_t)128 << 20; /* for links */
  mg_room_t room;
  int ranks;
  double medium = 0.0;
  mg_status_t status = MG_OK;
  identify(params, device);
  MG_TRY(mg_memory_room(params, &room));
  MG_TRY(mg_comm_rank_on_host(NULL, &ranks, NULL));
  for (int k = 1; k < N_KNOWN && status == MG_OK; k++) {
    int64_t on_host, on_device;
    if (known[k].n > 128 && !mg_params_uses_gpu(params)) break;
    status = plan_problem(params, known[k].n);
    if (status == MG_OK) status = mg_memory_planned(&problem.plan, 0, &on_host, &on_device);
    if (status == MG_OK && on_device <= room.device_bytes &&
        on_host + buffers <= room.process_bytes && on_host + buffers <= room.host_bytes / ranks)
      medium = known[k].n;
  }
  MG_TRY(mg_comm_agree(status));
  MG_TRY(mg_comm_min(mg_comm_world(), &medium, 1));
  device->problem[HEALTH_MEDIUM].n = (int32_t)medium;
  device->problem[HEALTH_SMALL].n = medium > 64.0 ? 64 : 32;
  if (medium > 0.0) return MG_OK;
  return mg_root_error(MG_ERR_MEMORY,
                       "too little memory for 64^3 cells on each rank; use fewer ranks");
}

/* Clock and energy during timed solves. */
static struct {
  double mhz, last; /* sum of the samples; time of the last one */
  int n;
  mg_reading_t begin[MG_MAX_COUNTERS], end[MG_MAX_COUNTERS];
} observed;

static void observe_clock(void) {
  const double interval = 0.1;
  double mhz;
  if (nvml.n == 0 || (observed.n > 0 && mg_now() - observed.last < interval)) return;
  if (!mg_nvml_sm_clock(&nvml.counter[0], &mhz)) return;
  observed.mhz += mhz;
  observed.n++;
  observed.last = mg_now();
}

static void end_observation(int n_solves, double *value) {
  const mg_reading_t *begin = &observed.begin[0], *end = &observed.end[0];
  char why[MG_ENERGY_WHY];
  double joules;
  mg_counters_read(&nvml, observed.end);
  if (observed.n > 0) value[HEALTH_SM_CLOCK] = observed.mhz / observed.n;
  if (nvml.n == 0 || nvml.state[MG_ENERGY_GPU] != MG_ENERGY_OK ||
      !mg_counter_joules(&nvml.counter[0], begin, end, &joules, why))
    return;
  value[HEALTH_POWER] = joules / (end->seconds - begin->seconds);
  value[HEALTH_ENERGY] = joules / n_solves;
}

/* --- solves ----------------------------------------------------------------------------------- */

enum { MAX_SAMPLES = 1 << 16 };

static double sample[MAX_SAMPLES]; /* seconds of the last repetitions */

/* Solves of one problem. */
typedef struct {
  const mg_params_t *params;
  mg_hierarchy_t *h;
  health_problem_t *problem;
  double norm;         /* of the last solve */
  double first_norm;   /* of the first solve with the known solution; NaN: none yet */
  int n;               /* repetitions of the last `repeat` */
  mg_copies_t *copies; /* to the host */
} solves_t;

static mg_status_t solve(solves_t *s) {
  MG_TRY(mg_cycle_run(s->h, 0, MG_KIND_FIRST, &s->norm, NULL));
  s->problem->n_solves++;
  return MG_OK;
}

static bool has_first_norm(const solves_t *s) {
  return memcmp(&s->norm, &s->first_norm, sizeof s->norm) == 0;
}

/* Compare the last solution with the known one. */
static mg_status_t check(solves_t *s) {
  health_problem_t *p = s->problem;
  uint64_t sum;
  MG_TRY(mg_field_checksum(&s->h->level[0], MG_U, &sum));
  p->n_checked++;
  if (p->n_wrong == 0) p->checksum = sum;
  p->n_wrong += sum != p->known;
  if (sum != p->known) return MG_OK;
  if (isnan(s->first_norm)) s->first_norm = s->norm;
  p->n_norms += !has_first_norm(s);
  return MG_OK;
}

/* Solutions to compare: none, those whose norm is not that of the known solution, or all. */
typedef enum { NO_SOLVES, OTHER_NORMS, ALL } checks_t;

/* Run and time something at least n times, and for some seconds. It returns when it has finished.
 * SIGHUP, SIGINT or SIGTERM ends the measurement, not the report. */
static mg_status_t repeat(solves_t *s, mg_status_t (*run)(solves_t *s), checks_t checks, int n,
                          double seconds) {
  const double begin = mg_now();
  for (s->n = 0; s->n < n || mg_now() - begin < seconds; s->n++) {
    const int caught = mg_machine_signal();
    if (caught != 0)
      return mg_error(MG_ERR_INTERRUPTED, "signal %d (%s) ended the check", caught,
                      strsignal(caught));
    const double start = mg_now();
    MG_TRY(run(s));
    sample[s->n % MAX_SAMPLES] = mg_now() - start;
    if (checks == ALL || (checks == OTHER_NORMS && !has_first_norm(s))) MG_TRY(check(s));
    observe_clock();
  }
  return MG_OK;
}

static double median_seconds(const solves_t *s) {
  return health_median(sample, s->n < MAX_SAMPLES ? s->n : MAX_SAMPLES);
}

static mg_status_t set_up(solves_t *s) {
  for (int k = 0; k < N_KNOWN; k++)
    if (known[k].n == s->problem->n) s->problem->known = known[k].u;
  MG_TRY(plan_problem(s->params, s->problem->n));
  MG_TRY(mg_hierarchy_create(&problem.params, &problem.plan, NULL, &s->h));
  MG_TRY(mg_problem_set(s->h));
  MG_IF_COARSE(MG_TRY(mg_graph_capture(s->h, 0)));
  return MG_OK;
}

/* Timed solves follow each other at once. Then each solution is compared. */
static mg_status_t run_solves(solves_t *s, health_stage_t stage, double *value) {
  const double n = s->problem->n, half = 0.5 * s->params->min_time;
  MG_TRY(set_up(s));
  MG_TRY(repeat(s, solve, ALL, 1, 0.0));
  MG_TRY(repeat(s, solve, OTHER_NORMS, s->params->warmup, 0.0));
  memset(&observed, 0, sizeof observed);
  mg_counters_read(&nvml, observed.begin);
  MG_TRY(repeat(s, solve, OTHER_NORMS, s->params->min_solves, half));
  if (stage == HEALTH_MEDIUM) end_observation(s->n, value);
  value[stage == HEALTH_SMALL ? HEALTH_RATE_SMALL : HEALTH_RATE_MEDIUM] =
      n * n * n / median_seconds(s);
  return repeat(s, solve, ALL, 1, half);
}

/* --- bandwidth -------------------------------------------------------------------------------- */

/* For at most a tenth of --min-time. The first repetition is not timed. */
static mg_status_t measure_rate(solves_t *s, mg_status_t (*run)(solves_t *s), double bytes,
                                double *rate) {
  enum { REPEATS = 5 };
  MG_TRY(repeat(s, run, NO_SOLVES, 1, 0.0));
  MG_TRY(repeat(s, run, NO_SOLVES, REPEATS, 0.1 * s->params->min_time));
  *rate = bytes / median_seconds(s);
  return MG_OK;
}

enum { UPDATES = 10, BYTES_PER_UPDATE = 24 };

/* u = f + beta, a few times in a row. Destroys u. */
static mg_status_t update_vector(solves_t *s) {
  mg_level_t *level = &s->h->level[0];
  for (int u = 0; u < UPDATES; u++)
    MG_TRY(mg_axpby(level, MG_U, 1.0, MG_F, 1.0, MG_BETA_I));
  return level->backend->queue.wait ? level->backend->queue.wait() : MG_OK;
}

static mg_status_t copy_to_host(solves_t *s) {
  const mg_backend_t *backend = s->h->level[0].backend;
  MG_TRY(backend->copy(s->copies, MG_F, MG_F));
  return backend->queue.wait();
}

/* Copy planes of f into the host's memory. */
static mg_status_t measure_host_link(solves_t *s, double *rate) {
  const mg_backend_t *backend = s->h->level[0].backend;
  const mg_view_t *v = &s->h->level[0].store.view;
  const int64_t plane = (int64_t)v->n[0] * v->n[1] * (int64_t)sizeof(double), most = 64 << 20;
  const int32_t planes = plane * v->n[2] < most ? v->n[2] : (int32_t)(most / plane);
  const size_t bytes = (size_t)(plane * planes);
  void *buffer;
  MG_TRY(backend->alloc(bytes, MG_SPACE_SHARED, &buffer));
  const mg_copy_t item = {.src_patch = 0, .dst_patch = -1, .n = {v->n[0], v->n[1], planes}};
  const mg_copy_job_t job = {v, v, buffer, &item, 1};
  mg_status_t status = backend->prepare_copies(&job, &s->copies);
  if (status == MG_OK) {
    status = measure_rate(s, copy_to_host, (double)bytes, rate);
    backend->release_copies(s->copies);
  }
  backend->release(buffer, bytes, MG_SPACE_SHARED);
  return status;
}

/* In the levels of the medium problem. */
static mg_status_t measure_memory(solves_t *s, double *value) {
  const mg_level_t *level = &s->h->level[0];
  const double bytes = (double)mg_volume(level->store.view.n) * BYTES_PER_UPDATE * UPDATES;
  MG_TRY(measure_rate(s, update_vector, bytes, &value[HEALTH_BANDWIDTH]));
  return level->backend->queue.wait ? measure_host_link(s, &value[HEALTH_HOST_LINK]) : MG_OK;
}

mg_status_t health_solve(const health_t *h) {
  const health_stage_t stage = h->stage;
  health_device_t *const device = h->mine;
  static solves_t s;
  if (stage != HEALTH_MEMORY)
    s = (solves_t){
        .params = &h->params, .problem = &device->problem[stage], .norm = NAN, .first_norm = NAN};
  const mg_status_t status = stage == HEALTH_MEMORY ? measure_memory(&s, device->value)
                                                    : run_solves(&s, stage, device->value);
  if (status == MG_OK && stage == HEALTH_MEDIUM) return MG_OK;
  if (status < MG_ERR_DEVICE) mg_hierarchy_free(s.h); /* freeing uses the device */
  if (stage == HEALTH_MEMORY) mg_nvml_close();
  return status;
}
