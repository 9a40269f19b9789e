/* Links of a health check. All ranks send to the next rank at the same time: messages between host
 * memories, and stores of GPUs into each other's memory. What arrives is compared. Each rank
 * measures the links from the previous rank to itself.
 *
 * A rank without a GPU, or whose GPU has failed, takes part in all exchanges, so that its neighbors
 * need not agree on anything. */
#include "backend/peer.h"
#include "base/log.h"
#include "base/timers.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include "run/health.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MESSAGE_BYTES = 16 << 20,
  MESSAGE_WORDS = MESSAGE_BYTES / sizeof(uint64_t),
  WINDOW_BYTES = 64 << 20,
  WINDOW_WORDS = WINDOW_BYTES / sizeof(uint64_t),
  REPEATS = 5, /* timed */
  STORES = 8,  /* of all bytes of a window, timed together */
  WHY = 64
};

/* What a rank sends to both neighbors. */
typedef struct {
  char host[64];
  unsigned char uuid[16];
  unsigned char handle[MG_PEER_HANDLE_BYTES]; /* of its window; zeros: it cannot be opened */
  bool has_stored; /* since the last exchange, into the window of the next rank */
  double seconds;  /* that this took */
  char why[WHY];   /* why it never stores, or "" */
} neighbor_t;

typedef struct {
  const mg_params_t *params;
  const mg_backend_t *backend;
  mg_health_device_t *device;
  double limit; /* seconds of a wait */
  mg_requests_t *requests;
  uint64_t *sent, *received; /* messages */
  neighbor_t mine, previous, next;
  void *window, *remote; /* device memory: of this rank, and of the next one */
  int repeat;
} links_t;

static int previous_rank(void) {
  const int n = mg_comm_size(mg_comm_world());
  return (mg_comm_rank(mg_comm_world()) + n - 1) % n;
}

static int next_rank(void) {
  return (mg_comm_rank(mg_comm_world()) + 1) % mg_comm_size(mg_comm_world());
}

/* Wait for the messages in flight. The first one is from the previous rank. */
static mg_status_t wait_for_messages(links_t *l, int n) {
  bool arrived[4];
  mg_health_device_t *d = l->device;
  MG_TRY(mg_requests_wait_at_most(l->requests, l->limit, arrived));
  for (int m = 0; m < n; m++)
    d->stuck = d->stuck || !arrived[m];
  d->lost_peer = !arrived[0];
  d->n_exchanges += !d->stuck;
  return MG_OK;
}

static void add_arrivals(mg_health_arrivals_t *all, int64_t n_words, const mg_word_errors_t *e) {
  const int64_t before = all->errors.n;
  all->n_words += n_words;
  if (before == 0) all->errors = *e;
  if (before > 0) all->errors.n += e->n;
}

/* --- messages between host memories ----------------------------------------------------------- */

/* One message from the previous rank, while another one goes to the next. */
static mg_status_t exchange_messages(links_t *l, double *seconds) {
  memset(l->received, 0, MESSAGE_BYTES);
  const double start = mg_now();
  MG_TRY(mg_comm_receive(l->requests, previous_rank(), l->received, MESSAGE_BYTES));
  MG_TRY(mg_comm_send(l->requests, next_rank(), l->sent, MESSAGE_BYTES));
  MG_TRY(wait_for_messages(l, 2));
  *seconds = mg_now() - start;
  return MG_OK;
}

/* All ranks send the same words. */
static void check_message(links_t *l) {
  mg_word_errors_t errors = {0};
  for (int64_t i = 0; i < MESSAGE_WORDS; i++)
    if (l->received[i] != l->sent[i] && errors.n++ == 0)
      errors = (mg_word_errors_t){1, i, l->received[i], l->sent[i]};
  add_arrivals(&l->device->messages, MESSAGE_WORDS, &errors);
}

/* The first message waits until both ranks are here, and is not timed. */
static mg_status_t measure_messages(links_t *l) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
  double fastest = INFINITY, seconds;
  for (int64_t i = 0; i < MESSAGE_WORDS; i++)
    l->sent[i] = odd * (uint64_t)(i + 1);
  for (int r = -1; r < REPEATS; r++) {
    MG_TRY(exchange_messages(l, &seconds));
    if (l->device->stuck) return MG_OK;
    check_message(l);
    if (r >= 0) fastest = fmin(fastest, seconds);
  }
  l->device->value[MG_HEALTH_MESSAGE] = MESSAGE_BYTES / fastest;
  return MG_OK;
}

/* --- stores between GPUs ---------------------------------------------------------------------- */

/* Exchange `mine` with both neighbors. The two may be the same rank: then its first message, which
 * it sends to its next rank, is the one received first. */
static mg_status_t exchange_states(links_t *l) {
  MG_TRY(mg_comm_receive(l->requests, previous_rank(), &l->previous, sizeof l->previous));
  MG_TRY(mg_comm_receive(l->requests, next_rank(), &l->next, sizeof l->next));
  MG_TRY(mg_comm_send(l->requests, next_rank(), &l->mine, sizeof l->mine));
  MG_TRY(mg_comm_send(l->requests, previous_rank(), &l->mine, sizeof l->mine));
  return wait_for_messages(l, 4);
}

static mg_status_t create_window(void *data) {
  links_t *l = data;
  mg_device_uuid(l->params, l->mine.uuid);
  return l->backend->peer->alloc(WINDOW_BYTES, &l->window, l->mine.handle);
}

static bool can_open(const neighbor_t *n) {
  static const unsigned char none[MG_PEER_HANDLE_BYTES];
  return memcmp(n->handle, none, sizeof none) != 0;
}

/* Open the window of the next rank.
 * @return NULL, or why not */
static const char *open_next(links_t *l) {
  if (l->device->failure[0]) return "the GPU has failed";
  if (strcmp(l->mine.host, l->next.host) != 0) return "on another host";
  if (!can_open(&l->next)) return "memory of the GPU cannot be opened (CUDA IPC)";
  if (memcmp(l->mine.uuid, l->next.uuid, sizeof l->mine.uuid) == 0) return "the same GPU";
  return l->backend->peer->open(l->next.uuid, l->next.handle, &l->remote);
}

static uint64_t pattern_of(int rank, int repeat) {
  return (uint64_t)rank * (REPEATS + 1) + (uint64_t)repeat + 1;
}

static mg_status_t store(void *data) {
  links_t *l = data;
  const uint64_t pattern = pattern_of(mg_comm_rank(mg_comm_world()), l->repeat);
  const double start = mg_now();
  for (int s = 0; s < STORES; s++)
    MG_TRY(l->backend->peer->store(l->remote, WINDOW_BYTES, pattern));
  if (l->backend->queue.wait) MG_TRY(l->backend->queue.wait());
  l->mine.seconds = mg_now() - start;
  l->mine.has_stored = true;
  return MG_OK;
}

static mg_status_t check_window(void *data) {
  links_t *l = data;
  mg_word_errors_t errors;
  const uint64_t pattern = pattern_of(previous_rank(), l->repeat);
  MG_TRY(l->backend->peer->check(l->window, WINDOW_BYTES, pattern, &errors));
  add_arrivals(&l->device->stores, WINDOW_WORDS, &errors);
  return MG_OK;
}

/* A failure of the device here may be one of the link. */
static void try_link(links_t *l, mg_status_t (*run)(void *), const char *what, int rank) {
  char *const failure = l->device->failure;
  const bool failed_before = failure[0] != '\0';
  mg_health_try(l->device, run, l);
  if (failed_before || !failure[0]) return;
  mg_append(failure, MG_HEALTH_TEXT, " (%s rank %d)", what, rank);
  snprintf(l->mine.why, sizeof l->mine.why, "the GPU has failed");
}

/* Store into the window of the next rank, and check what the previous rank stored into this one.
 * The second exchange lets it store again. */
static mg_status_t run_repeat(links_t *l, double *seconds) {
  l->mine.has_stored = false;
  if (l->remote) try_link(l, store, "storing into the GPU of", next_rank());
  MG_TRY(exchange_states(l));
  if (l->device->stuck) return MG_OK;
  *seconds = l->previous.has_stored ? l->previous.seconds : NAN;
  if (l->previous.has_stored)
    try_link(l, check_window, "checking stores of the GPU of", previous_rank());
  return exchange_states(l);
}

static mg_status_t run_repeats(links_t *l) {
  double fastest = INFINITY;
  for (l->repeat = 0; l->repeat <= REPEATS; l->repeat++) {
    double seconds = NAN;
    MG_TRY(run_repeat(l, &seconds));
    if (l->device->stuck) return MG_OK;
    if (isnan(seconds)) fastest = NAN;
    if (l->repeat > 0 && seconds < fastest) fastest = seconds; /* the first one is not timed */
  }
  const double bytes = (double)WINDOW_BYTES * STORES;
  if (!isnan(fastest)) l->device->value[MG_HEALTH_PEER_LINK] = bytes / fastest;
  return MG_OK;
}

/* Memory that other ranks may still use is not freed. */
static mg_status_t measure_stores(links_t *l) {
  const mg_backend_peer_t *const peer = l->backend->peer;
  if (!peer) return MG_OK;
  snprintf(l->mine.host, sizeof l->mine.host, "%s", l->device->host);
  mg_health_try(l->device, create_window, l);
  MG_TRY(exchange_states(l));
  if (l->device->stuck) return MG_OK;
  const char *const why = open_next(l);
  if (why) snprintf(l->mine.why, sizeof l->mine.why, "%s", why);
  MG_TRY(run_repeats(l));
  if (l->device->stuck) return MG_OK;
  snprintf(l->device->no_peer_link, sizeof l->device->no_peer_link, "%s", l->previous.why);
  if (l->remote) peer->close(l->remote);
  MG_TRY(exchange_states(l));
  if (!l->device->stuck && l->window) peer->release(l->window);
  return MG_OK;
}

/* --- both ------------------------------------------------------------------------------------- */

static mg_status_t create(const mg_params_t *params, mg_health_device_t *device, links_t **out) {
  const mg_place_t place = params->device == MG_DEVICE_CUDA          ? MG_PLACE_CUDA
                           : params->device == MG_DEVICE_CUDA_SIMPLE ? MG_PLACE_CUDA_SIMPLE
                                                                     : MG_PLACE_CPU;
  MG_TRY(mg_new(out, 1, "links"));
  links_t *l = *out;
  l->params = params;
  l->backend = mg_level_backend(place);
  l->device = device;
  l->limit = 0.25 * params->health_timeout;
  MG_TRY(mg_new(&l->sent, MESSAGE_WORDS, "messages between ranks"));
  MG_TRY(mg_new(&l->received, MESSAGE_WORDS, "messages between ranks"));
  return mg_requests_create(4, &l->requests);
}

mg_status_t mg_health_check_links(const mg_params_t *params, mg_health_device_t *device) {
  links_t *l = NULL;
  MG_TRY(mg_comm_agree(create(params, device, &l)));
  MG_TRY(measure_messages(l));
  if (!device->stuck) MG_TRY(measure_stores(l));
  if (device->stuck) return MG_OK; /* messages in flight need their memory */
  mg_requests_free(l->requests);
  free(l->sent);
  free(l->received);
  free(l);
  return MG_OK;
}
