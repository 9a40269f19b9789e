/* The steps of a check over all ranks. Ranks answer to rank 0, which waits for a limited time, so a
 * rank whose device or message hangs is detected. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/log_wings.h"
#include "base/machine.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include "health/health.h"
#include <math.h>
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
static mg_status_t receive_answers(mg_requests_t *requests, health_t *h) {
  static char go;
  bool *arrived;
  MG_TRY(mg_new(&arrived, h->n_ranks, "answers of ranks"));
  mg_status_t status = MG_OK;
  for (int r = 1; r < h->n_ranks && status == MG_OK; r++)
    status = mg_comm_receive(requests, r, &h->device[r], sizeof *h->device);
  if (status == MG_OK) status = wait_for_answers(requests, h->timeout, h->n_ranks - 1, arrived);
  for (int r = 0; r < h->n_ranks && status == MG_OK; r++) {
    h->device[r].answered = r == 0 || arrived[r - 1];
    h->must_abort = h->must_abort || !h->device[r].answered;
  }
  free(arrived);
  if (status != MG_OK || h->must_abort) return status;
  for (int r = 1; r < h->n_ranks; r++)
    MG_TRY(mg_comm_send(requests, r, &go, 1));
  return mg_requests_wait(requests);
}

/* Rank 0 may be later than this one, and then waits as long as its limit. */
static mg_status_t answer(mg_requests_t *requests, const health_t *h) {
  static char go;
  const double seconds = 3.0 * h->timeout;
  bool arrived[2];
  MG_TRY(mg_comm_receive(requests, 0, &go, 1));
  MG_TRY(mg_comm_send(requests, 0, h->mine, sizeof *h->device));
  MG_TRY(mg_requests_wait_at_most(requests, seconds, arrived));
  if (arrived[0] && arrived[1]) return MG_OK;
  return mg_error(MG_ERR_DIVERGED, "health: rank 0 is missing: no answer within %g s", seconds);
}

/* Collect the devices of all ranks on rank 0, which waits for a limited time. If ranks are missing,
 * must_abort is set on rank 0, which gets an error: it may wait for no other rank. The others wait
 * until rank 0 aborts them. Also for mg_comm_before_collectives: a rank whose device hangs between
 * collective functions is missing, too. */
static mg_status_t collect(void *data) {
  health_t *h = data;
  mg_requests_t *requests;
  h->device[0].answered = true;
  if (h->n_ranks == 1) return MG_OK;
  if (h->must_abort) return MG_ERR_COMM;
  mg_status_t status = mg_requests_create(h->n_ranks, &requests);
  if (status == MG_OK)
    status = h->mine == h->device ? receive_answers(requests, h) : answer(requests, h);
  if (status == MG_OK && h->must_abort) return MG_ERR_COMM; /* messages may still arrive */
  if (status != MG_OK)
    mg_comm_abort(mg_status_exit_code(status)); /* other ranks wait */
  else
    mg_requests_free(requests);
  return status;
}

/* --- all steps -------------------------------------------------------------------------------- */

/* Keep the first error. */
static void take_line(void *data, const char *text) {
  health_device_t *device = data;
  const char *const error = strstr(text, "error: ");
  if (error && !device->failure[0])
    snprintf(device->failure, sizeof device->failure, "%s", error + strlen("error: "));
}

void health_try(health_device_t *device, mg_status_t (*run)(void *data), void *data) {
  mg_log_t messages = {.n_ranks = 1, .program = "", .line = take_line, .data = device};
  if (device->failure[0]) return;
  mg_log_t *const log = mg_log_enter(&messages);
  const mg_status_t status = run(data);
  (void)mg_log_enter(log);
  if (status != MG_OK && !device->failure[0])
    snprintf(device->failure, sizeof device->failure, "%s", mg_status_name(status));
}

/* Run a stage in a world of this rank alone. */
static mg_status_t run_alone(void *data) {
  mg_comm_t *alone;
  MG_TRY(mg_comm_attach(NULL, NULL, &alone));
  mg_comm_t *const world = mg_comm_enter(alone);
  const mg_status_t status = health_solve(data);
  (void)mg_comm_enter(world);
  mg_comm_free(alone);
  return status;
}

static mg_status_t create(health_t *h) {
  h->n_ranks = h->n_devices = mg_comm_size(mg_comm_world());
  MG_TRY(mg_new(&h->device, (int64_t)h->n_ranks + h->n_baseline, "devices of all ranks"));
  for (int r = 0; r < h->n_ranks; r++) {
    h->device[r].name.rank = r;
    for (int f = 0; f < HEALTH_FIGURES; f++)
      h->device[r].value[f] = NAN;
  }
  h->mine = &h->device[mg_comm_rank(mg_comm_world())];
  snprintf(h->mine->name.host, sizeof h->mine->name.host, "%.63s", mg_comm_host());
  return MG_OK;
}

/* Before each step and each collective function, rank 0 waits for an answer of all ranks. The first
 * answer has the names of the hosts. */
static mg_status_t run_steps(health_t *h) {
  const health_problem_t *p = h->mine->problem;
  MG_TRY(collect(h));
  MG_TRY(mg_device_choose(&h->params));
  MG_TRY(health_prepare(&h->params, h->mine));
  mg_progress("health: each rank solves %d^3 and %d^3 alone for %g s each", p[0].n, p[1].n,
              h->params.min_time);
  for (h->stage = HEALTH_SMALL; h->stage < HEALTH_STAGES; h->stage++) {
    MG_TRY(collect(h));
    health_try(h->mine, run_alone, h);
  }
  MG_TRY(collect(h));
  if (h->n_ranks > 1) MG_TRY(health_links(h));
  mg_device_close();
  return collect(h);
}

mg_status_t health_check(health_t *h) {
  mg_comm_t *const world = mg_comm_world();
  MG_TRY(mg_comm_agree(create(h)));
  mg_comm_before_collectives(world, collect, h);
  const mg_status_t status = run_steps(h);
  mg_comm_before_collectives(world, NULL, NULL);
  if (!h->must_abort) MG_TRY(status);
  mg_progress_clear();
  if (!mg_comm_is_root()) return MG_OK;
  for (int r = 0; r < h->n_ranks; r++)
    h->must_abort = h->must_abort || h->device[r].stuck;
  return health_judge(h);
}
