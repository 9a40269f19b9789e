/* The steps of a health check over all ranks. Ranks answer to rank 0, which waits for a limited
 * time, so a rank whose device or message hangs is detected. */
#include "run/health.h"
#include "base/log.h"
#include "base/machine.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- answers to rank 0 ------------------------------------------------------------------------ */

/* Wait for `seconds`; once a signal was caught, only for answers that are about to arrive. */
static mg_status_t wait_for_answers(mg_requests_t *requests, double seconds, int n, bool *arrived) {
  const double slice = 0.1, grace = 0.5;
  double left = seconds;
  for (bool ending = false;; left -= slice) {
    bool all = true;
    MG_TRY(mg_requests_wait_at_most(requests, fmin(slice, left), arrived));
    for (int r = 0; r < n; r++)
      all = all && arrived[r];
    if (all || left <= slice) return MG_OK;
    if (mg_machine_signal() != 0 && !ending) left = fmin(left, grace);
    ending = mg_machine_signal() != 0;
  }
}

/* Rank 0 receives the device of every rank, and lets the others continue, if all have answered. */
static mg_status_t receive_answers(mg_requests_t *requests, mg_health_t *health) {
  static char go;
  mg_health_device_t *const device = health->device;
  bool *arrived;
  MG_TRY(mg_new(&arrived, health->n_ranks, "answers of ranks"));
  mg_status_t status = MG_OK;
  for (int r = 1; r < health->n_ranks && status == MG_OK; r++)
    status = mg_comm_receive(requests, r, &device[r], sizeof *device);
  if (status == MG_OK)
    status = wait_for_answers(requests, health->timeout, health->n_ranks - 1, arrived);
  for (int r = 0; r < health->n_ranks && status == MG_OK; r++) {
    device[r].answered = r == 0 || arrived[r - 1];
    health->must_abort = health->must_abort || !device[r].answered;
  }
  free(arrived);
  if (status != MG_OK || health->must_abort) return status;
  for (int r = 1; r < health->n_ranks; r++)
    MG_TRY(mg_comm_send(requests, r, &go, 1));
  return mg_requests_wait(requests);
}

/* Rank 0 may be later than this one, and then waits as long as its limit. */
static mg_status_t answer(mg_requests_t *requests, const mg_health_t *health, int rank) {
  static char go;
  const double seconds = 3.0 * health->timeout;
  bool arrived[2];
  MG_TRY(mg_comm_receive(requests, 0, &go, 1));
  MG_TRY(mg_comm_send(requests, 0, &health->device[rank], sizeof *health->device));
  MG_TRY(mg_requests_wait_at_most(requests, seconds, arrived));
  if (arrived[0] && arrived[1]) return MG_OK;
  return mg_error(MG_ERR_DIVERGED, "health: rank 0 is missing: no answer within %g s", seconds);
}

/* Collect the devices of all ranks on rank 0, which waits for a limited time. If ranks are missing,
 * must_abort is set on rank 0, which gets an error: it may wait for no other rank. The others wait
 * until rank 0 aborts them. Also for mg_comm_before_collectives: a rank whose device hangs between
 * collective functions is missing, too. */
static mg_status_t collect(void *data) {
  mg_health_t *health = data;
  const int rank = mg_comm_rank(mg_comm_world());
  mg_requests_t *requests;
  health->device[0].answered = true;
  if (health->n_ranks == 1) return MG_OK;
  if (health->must_abort) return MG_ERR_COMM;
  mg_status_t status = mg_requests_create(health->n_ranks, &requests);
  if (status == MG_OK)
    status = rank == 0 ? receive_answers(requests, health) : answer(requests, health, rank);
  if (status == MG_OK && health->must_abort) return MG_ERR_COMM; /* messages may still arrive */
  if (status != MG_OK)
    mg_comm_abort(mg_status_exit_code(status)); /* other ranks wait */
  else
    mg_requests_free(requests);
  return status;
}

/* --- all steps -------------------------------------------------------------------------------- */

/* Keep the first error of the solves. */
static void take_line(void *data, const char *text) {
  mg_health_device_t *device = data;
  const char *const error = strstr(text, "error: ");
  if (error && !device->failure[0])
    snprintf(device->failure, sizeof device->failure, "%s", error + strlen("error: "));
}

void mg_health_try(mg_health_device_t *device, mg_status_t (*run)(void *data), void *data) {
  mg_log_t messages = {.n_ranks = 1, .program = "hpgmg-fv", .line = take_line, .data = device};
  if (device->failure[0]) return;
  mg_log_t *const log = mg_log_enter(&messages);
  const mg_status_t status = run(data);
  (void)mg_log_enter(log);
  if (status != MG_OK && !device->failure[0])
    snprintf(device->failure, sizeof device->failure, "%s", mg_status_name(status));
}

typedef struct {
  const mg_params_t *params;
  mg_health_checksum_t checksum;
  mg_health_stage_t stage;
  mg_health_device_t *device;
} job_t;

/* Run a stage in a world of this rank alone. */
static mg_status_t run_alone(void *data) {
  const job_t *job = data;
  mg_comm_t *alone;
  MG_TRY(mg_comm_attach(NULL, NULL, &alone));
  mg_comm_t *const world = mg_comm_enter(alone);
  const mg_status_t status = mg_health_run(job->params, job->checksum, job->stage, job->device);
  (void)mg_comm_enter(world);
  mg_comm_free(alone);
  return status;
}

static mg_status_t create(mg_health_t *health, mg_health_device_t **mine) {
  const int rank = mg_comm_rank(mg_comm_world());
  health->n_ranks = health->n_devices = mg_comm_size(mg_comm_world());
  MG_TRY(mg_new(&health->device, (int64_t)health->n_ranks + health->n_baseline,
                "devices of all ranks"));
  for (int r = 0; r < health->n_ranks; r++) {
    health->device[r].rank = r;
    for (int f = 0; f < MG_N_HEALTH_FIGURES; f++)
      health->device[r].value[f] = NAN;
  }
  *mine = &health->device[rank];
  snprintf((*mine)->host, sizeof(*mine)->host, "%.63s", mg_comm_host());
  return MG_OK;
}

static mg_status_t choose_problems(mg_params_t *params, mg_health_device_t *mine) {
  int32_t n[MG_HEALTH_PROBLEMS];
  MG_TRY(mg_device_choose(params));
  MG_TRY(mg_health_sizes(params, n));
  for (int p = 0; p < MG_HEALTH_PROBLEMS; p++)
    mine->problem[p].n = n[p];
  MG_TRY(mg_comm_agree(mg_health_identify(params, mine)));
  mg_progress("health: each rank solves %d^3 and %d^3 alone for %g s each", n[0], n[1],
              params->min_time);
  return MG_OK;
}

/* Before each step and each collective function, rank 0 waits for an answer of all ranks. The first
 * answer has the names of the hosts. */
static mg_status_t run_steps(mg_params_t *params, mg_health_checksum_t checksum,
                             mg_health_t *health, mg_health_device_t *mine) {
  MG_TRY(collect(health));
  MG_TRY(choose_problems(params, mine));
  for (int stage = 0; stage < MG_N_HEALTH_STAGES; stage++) {
    MG_TRY(collect(health));
    job_t job = {params, checksum, (mg_health_stage_t)stage, mine};
    mg_health_try(mine, run_alone, &job);
  }
  MG_TRY(collect(health));
  if (health->n_ranks > 1) MG_TRY(mg_health_check_links(params, mine));
  mg_device_close();
  return collect(health);
}

mg_status_t mg_health_check(mg_params_t *params, mg_health_checksum_t checksum,
                            mg_health_t *health) {
  mg_comm_t *const world = mg_comm_world();
  mg_health_device_t *mine = NULL;
  health->timeout = params->health_timeout;
  MG_TRY(mg_comm_agree(create(health, &mine)));
  mg_comm_before_collectives(world, collect, health);
  const mg_status_t status = run_steps(params, checksum, health, mine);
  mg_comm_before_collectives(world, NULL, NULL);
  if (!health->must_abort) MG_TRY(status);
  mg_progress_clear();
  if (!mg_comm_is_root()) return MG_OK;
  for (int r = 0; r < health->n_ranks; r++)
    health->must_abort = health->must_abort || health->device[r].stuck;
  return mg_health_judge(health, params->health_slow);
}

void mg_health_free(mg_health_t *health) {
  free(health->device);
  free(health->baseline);
  health->device = health->baseline = NULL;
}
