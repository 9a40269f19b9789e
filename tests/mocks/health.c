/* hpgmg-health with faulty devices, on a machine whose clock advances by calls.
 *
 *   MOCK_TICK    seconds that each call of mg_now takes; default 0.01
 *   MOCK_SLOW=R  calls of rank R take twice as long
 *   MOCK_FLIP=R  a bit of u is flipped on rank R before each checksum
 *   MOCK_FAIL=R  the device of rank R fails before it solves
 *   MOCK_HANG=R  rank R stops for ever at the point MOCK_HANG_AT: open (its device), memory (while
 *                ranks agree on sizes), solve (default), link (before a long message) or store
 *                (into the memory of a GPU). It then creates the file MOCK_HANG_FILE, until which
 *                all ranks wait for messages without a limit
 *   MOCK_GPUS    number of the GPU of each rank, separated by commas; default: no rank has one. The
 *                GPU N has the UUID 000...0N + 1
 *   MOCK_PEERS   folder of files that stand for memory of GPUs: each rank can store into the memory
 *                of others. Only its first bytes exist
 *   MOCK_PEERS_CLOSED       it cannot, for this reason
 *   MOCK_FLIP_STORE=R       a bit that was stored into the memory of rank R is flipped
 *   MOCK_FLIP_MESSAGE=R     a bit of each long message to rank R is flipped
 *   MOCK_FAIL_STORE=R       rank R fails to store
 *   MOCK_BYTES   free memory of the host; default: enough for 64^3 cells on each rank, not for
 *                128^3
 *
 * tests/mocks/hpgmg-health is linked with --wrap. */
#include "backend/peer.h"
#include "base/log.h"
#include "base/timers.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "io/checksum.h"
#include "solver/problem.h"
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
mg_status_t __real_mg_requests_wait(mg_requests_t *requests);
mg_status_t __wrap_mg_requests_wait(mg_requests_t *requests);
mg_status_t __real_mg_requests_wait_at_most(mg_requests_t *requests, double seconds, bool *arrived);
mg_status_t __wrap_mg_requests_wait_at_most(mg_requests_t *requests, double seconds, bool *arrived);
mg_status_t __real_mg_device_choose(mg_params_t *params);
mg_status_t __wrap_mg_device_choose(mg_params_t *params);
void __wrap_mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]);
const mg_backend_t *__real_mg_level_backend(mg_place_t place);
const mg_backend_t *__wrap_mg_level_backend(mg_place_t place);
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

static int n_messages;              /* in flight */
static unsigned char *long_message; /* received */

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
  if (bytes > 1 << 20) long_message = data;
  return __real_mg_comm_receive(requests, rank, data, bytes);
}

mg_status_t __wrap_mg_requests_wait(mg_requests_t *requests) {
  n_messages = 0;
  return __real_mg_requests_wait(requests);
}

mg_status_t __wrap_mg_requests_wait_at_most(mg_requests_t *requests, double seconds,
                                            bool *arrived) {
  const double moment = 0.02;
  const char *file = getenv("MOCK_HANG_FILE");
  for (bool all = false; !all;) {
    const bool is_hung = file && access(file, F_OK) == 0;
    MG_TRY(__real_mg_requests_wait_at_most(requests, file ? moment : seconds, arrived));
    if (is_hung) return MG_OK;
    all = true;
    for (int m = 0; m < n_messages; m++)
      all = all && arrived[m];
  }
  n_messages = 0;
  if (long_message) long_message[12] ^= names_me("MOCK_FLIP_MESSAGE");
  long_message = NULL;
  return MG_OK;
}

void __wrap_mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]) {
  const char *gpu = getenv("MOCK_GPUS");
  (void)params;
  memset(uuid, 0, 16);
  for (int r = 0; gpu && r < program_rank(); r++)
    gpu = strchr(gpu, ',') ? strchr(gpu, ',') + 1 : NULL;
  if (gpu) uuid[15] = (unsigned char)(atoi(gpu) + 1);
}

mg_status_t __wrap_mg_memory_room(const mg_params_t *params, mg_room_t *room) {
  const char *bytes = getenv("MOCK_BYTES");
  const int64_t enough = INT64_C(180000000) * mg_comm_size(mg_comm_world());
  (void)params;
  hang("memory");
  *room = (mg_room_t){bytes ? atoll(bytes) : enough, INT64_MAX, INT64_MAX};
  return MG_OK;
}

/* --- memory of GPUs --- */

enum { WINDOW_WORDS = 512 };

static mg_status_t map_window(const char *name, void **memory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", getenv("MOCK_PEERS"), name);
  const int file = open(path, O_RDWR | O_CREAT, 0666);
  const off_t bytes = WINDOW_WORDS * sizeof(uint64_t);
  *memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, bytes) == 0)
    *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  return *memory == MAP_FAILED ? mg_error(MG_ERR_DEVICE, "cannot map %s", path) : MG_OK;
}

static mg_status_t alloc_window(size_t bytes, void **memory,
                                unsigned char handle[MG_PEER_HANDLE_BYTES]) {
  char name[MG_PEER_HANDLE_BYTES] = "";
  (void)bytes;
  snprintf(name, sizeof name, "window-%ld", (long)getpid());
  memcpy(handle, name, sizeof name);
  return map_window(name, memory);
}

static void unmap_window(void *memory) {
  (void)munmap(memory, WINDOW_WORDS * sizeof(uint64_t));
}

static const char *open_window(const unsigned char uuid[16],
                               const unsigned char handle[MG_PEER_HANDLE_BYTES], void **memory) {
  const char *why = getenv("MOCK_PEERS_CLOSED");
  (void)uuid;
  if (why) return why;
  return map_window((const char *)handle, memory) == MG_OK ? NULL : "cannot map";
}

static uint64_t word(uint64_t pattern, int64_t i) {
  return (pattern << 32) + (uint64_t)i;
}

static mg_status_t store_pattern(void *memory, size_t bytes, uint64_t pattern) {
  uint64_t *words = memory;
  (void)bytes;
  hang("store");
  if (names_me("MOCK_FAIL_STORE")) return mg_error(MG_ERR_DEVICE, "the link is lost");
  for (int64_t i = 0; i < WINDOW_WORDS; i++)
    words[i] = word(pattern, i);
  return MG_OK;
}

static mg_status_t check_pattern(const void *memory, size_t bytes, uint64_t pattern,
                                 mg_word_errors_t *errors) {
  const uint64_t *words = memory;
  (void)bytes;
  *errors = (mg_word_errors_t){0};
  for (int64_t i = 0; i < WINDOW_WORDS; i++) {
    const uint64_t found = words[i] ^ (i == 3 && names_me("MOCK_FLIP_STORE"));
    if (found != word(pattern, i) && errors->n++ == 0)
      *errors = (mg_word_errors_t){1, i, found, word(pattern, i)};
  }
  return MG_OK;
}

const mg_backend_t *__wrap_mg_level_backend(mg_place_t place) {
  static const mg_backend_peer_t peer = {alloc_window, unmap_window,  open_window,
                                         unmap_window, store_pattern, check_pattern};
  static mg_backend_t backend;
  backend = *__real_mg_level_backend(place);
  if (getenv("MOCK_PEERS")) backend.peer = &peer;
  return &backend;
}
