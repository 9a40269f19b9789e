/* The program with faulty devices, for --health, on a machine whose clock advances by calls.
 *
 *   MOCK_TICK    seconds that each call of mg_now takes; default 0.01
 *   MOCK_SLOW=R  calls of rank R take twice as long
 *   MOCK_FLIP=R  a bit of u is flipped on rank R before each checksum
 *   MOCK_FAIL=R  the device of rank R fails before it solves
 *   MOCK_HANG=R  rank R stops for ever at the point MOCK_HANG_AT: open (its device), memory (while
 *                ranks agree on sizes), solve (default) or link (before a long message). It then
 *                creates the file MOCK_HANG_FILE, until which all ranks wait for messages without a
 *                limit
 *   MOCK_GPUS    number of the GPU of each rank, separated by commas; default: no rank has one. The
 *                GPU N has the UUID 000...0N + 1
 *   MOCK_BYTES   free memory of the host; by default enough for 64^3 cells on each rank, not for
 * 128^3
 *
 * tests/mocks/hpgmg-fv-health is linked with --wrap. */
#include "base/log.h"
#include "base/timers.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "io/field_checksum.h"
#include "solver/problem.h"
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double __wrap_mg_now(void);
mg_status_t __real_mg_field_checksum(const mg_level_t *level, mg_vector_t vec, uint64_t *sum);
mg_status_t __wrap_mg_field_checksum(const mg_level_t *level, mg_vector_t vec, uint64_t *sum);
mg_status_t __real_mg_problem_set(mg_hierarchy_t *h);
mg_status_t __wrap_mg_problem_set(mg_hierarchy_t *h);
mg_status_t __real_mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data,
                                int64_t bytes);
mg_status_t __wrap_mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data,
                                int64_t bytes);
mg_status_t __real_mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data,
                                   int64_t bytes);
mg_status_t __wrap_mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data,
                                   int64_t bytes);
mg_status_t __real_mg_requests_create(int n_messages, mg_requests_t **out);
mg_status_t __wrap_mg_requests_create(int n_messages, mg_requests_t **out);
mg_status_t __real_mg_requests_wait_at_most(mg_requests_t *requests, double seconds, bool *arrived);
mg_status_t __wrap_mg_requests_wait_at_most(mg_requests_t *requests, double seconds, bool *arrived);
mg_status_t __real_mg_device_choose(mg_params_t *params);
mg_status_t __wrap_mg_device_choose(mg_params_t *params);
mg_status_t __wrap_mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]);
mg_status_t __wrap_mg_memory_room(const mg_params_t *params, mg_room_t *room);

/* Rank among all ranks of the program, also where this rank works alone. */
static int program_rank(void) {
  mg_comm_t *const before = mg_comm_enter(NULL);
  const int rank = mg_comm_rank(mg_comm_world());
  (void)mg_comm_enter(before);
  return rank;
}

/* Does the variable have the number of this rank? */
static bool names_me(const char *variable) {
  const char *text = getenv(variable);
  return text && atoi(text) == program_rank();
}

double __wrap_mg_now(void) {
  static double now;
  const char *tick = getenv("MOCK_TICK");
  return now += (tick ? atof(tick) : 0.01) * (names_me("MOCK_SLOW") ? 2.0 : 1.0);
}

mg_status_t __wrap_mg_field_checksum(const mg_level_t *level, mg_vector_t vec, uint64_t *sum) {
  uint64_t bits;
  double *u = (double *)level->store.view.patch[0].vec[MG_U];
  memcpy(&bits, u, sizeof bits);
  bits ^= names_me("MOCK_FLIP");
  memcpy(u, &bits, sizeof bits);
  return __real_mg_field_checksum(level, vec, sum);
}

static void hang(const char *point) {
  const char *at = getenv("MOCK_HANG_AT");
  if (!names_me("MOCK_HANG") || strcmp(at ? at : "solve", point) != 0) return;
  const int file = creat(getenv("MOCK_HANG_FILE"), 0666);
  for (;;)
    (void)poll(NULL, 0, file < 0 ? 0 : -1);
}

mg_status_t __wrap_mg_device_choose(mg_params_t *params) {
  hang("open");
  return __real_mg_device_choose(params);
}

mg_status_t __wrap_mg_problem_set(mg_hierarchy_t *h) {
  hang("solve");
  if (names_me("MOCK_FAIL")) return mg_error(MG_ERR_DEVICE, "the device is lost");
  return __real_mg_problem_set(h);
}

static int n_messages; /* in flight */

mg_status_t __wrap_mg_requests_create(int n, mg_requests_t **out) {
  n_messages = 0;
  return __real_mg_requests_create(n, out);
}

mg_status_t __wrap_mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data,
                                int64_t bytes) {
  if (bytes > 1 << 20) hang("link");
  n_messages++;
  return __real_mg_comm_send(requests, rank, data, bytes);
}

mg_status_t __wrap_mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data,
                                   int64_t bytes) {
  n_messages++;
  return __real_mg_comm_receive(requests, rank, data, bytes);
}

mg_status_t __wrap_mg_requests_wait_at_most(mg_requests_t *requests, double seconds,
                                            bool *arrived) {
  const double moment = 0.02;
  const char *file = getenv("MOCK_HANG_FILE");
  for (bool all = false; !all;) {
    const bool is_hung = file && access(file, F_OK) == 0;
    const mg_status_t status =
        __real_mg_requests_wait_at_most(requests, file ? moment : seconds, arrived);
    if (status != MG_OK || is_hung || !file) return status;
    all = true;
    for (int m = 0; m < n_messages; m++)
      all = all && arrived[m];
  }
  n_messages = 0;
  return MG_OK;
}

mg_status_t __wrap_mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]) {
  const char *gpu = getenv("MOCK_GPUS");
  (void)params;
  memset(uuid, 0, 16);
  for (int r = 0; gpu && r < program_rank(); r++)
    gpu = strchr(gpu, ',') ? strchr(gpu, ',') + 1 : NULL;
  if (gpu) uuid[15] = (unsigned char)(atoi(gpu) + 1);
  return MG_OK;
}

mg_status_t __wrap_mg_memory_room(const mg_params_t *params, mg_room_t *room) {
  const char *bytes = getenv("MOCK_BYTES");
  const int64_t enough = INT64_C(180000000) * mg_comm_size(mg_comm_world());
  (void)params;
  hang("memory");
  *room = (mg_room_t){bytes ? atoll(bytes) : enough, INT64_MAX, INT64_MAX};
  return MG_OK;
}
