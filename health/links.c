/* Links between ranks. All ranks send to the next rank at the same time: messages between host
 * memories, and stores of GPUs into each other's memory. What arrives is compared. Each rank
 * measures the links from the previous rank to itself.
 *
 * A rank without a GPU, or whose GPU has failed, takes part in all exchanges, so that its neighbors
 * need not agree on anything. */
#include "base/log.h"
#include "base/timers.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include "health/health.h"
#include "level/level.h"
#include <math.h>
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
  double seconds; /* of its stores into the window of the next rank; NaN: none since the last
                     exchange */
  char why[WHY];  /* why it never stores, or "" */
} neighbor_t;

typedef struct {
  const mg_params_t *params;
  const mg_backend_t *backend;
  health_device_t *device;
  int rank, previous_rank, next_rank;
  double limit; /* seconds of a wait */
  mg_requests_t *requests;
  neighbor_t mine, previous, next;
  void *window, *remote; /* device memory: of this rank, and of the next one */
  int repeat;
} links_t;

/* Wait for the messages in flight. The first one is from the previous rank.
 * @return MG_OK, MG_ERR_INTERRUPTED if some do not arrive, MG_ERR_COMM */
static mg_status_t wait_for_messages(links_t *l, int n) {
  bool arrived[4];
  health_device_t *d = l->device;
  MG_TRY(mg_requests_wait_at_most(l->requests, l->limit, arrived));
  for (int m = 0; m < n; m++)
    d->stuck = d->stuck || !arrived[m];
  d->lost_peer = !arrived[0];
  d->n_exchanges += !d->stuck;
  return d->stuck ? MG_ERR_INTERRUPTED : MG_OK;
}

static void add_arrivals(health_arrivals_t *all, int64_t n_words, const mg_word_errors_t *e) {
  const int64_t before = all->errors.n;
  all->n_words += n_words;
  if (before == 0) all->errors = *e;
  if (before > 0) all->errors.n += e->n;
}

/* --- messages between host memories ----------------------------------------------------------- */

/* Messages in flight need their memory. */
static uint64_t sent[MESSAGE_WORDS], received[MESSAGE_WORDS];

/* One message from the previous rank, while another one goes to the next: all ranks send the same
 * words. The first message waits until both ranks are here, and is not timed. */
static mg_status_t measure_messages(links_t *l) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
  double fastest = INFINITY;
  for (int64_t i = 0; i < MESSAGE_WORDS; i++)
    sent[i] = odd * (uint64_t)(i + 1);
  for (int r = -1; r < REPEATS; r++) {
    mg_word_errors_t errors = {0};
    memset(received, 0, MESSAGE_BYTES);
    const double start = mg_now();
    MG_TRY(mg_comm_receive(l->requests, l->previous_rank, received, MESSAGE_BYTES));
    MG_TRY(mg_comm_send(l->requests, l->next_rank, sent, MESSAGE_BYTES));
    MG_TRY(wait_for_messages(l, 2));
    if (r >= 0) fastest = fmin(fastest, mg_now() - start);
    for (int64_t i = 0; i < MESSAGE_WORDS; i++)
      if (received[i] != sent[i] && errors.n++ == 0)
        errors = (mg_word_errors_t){1, i, received[i], sent[i]};
    add_arrivals(&l->device->messages, MESSAGE_WORDS, &errors);
  }
  l->device->value[HEALTH_MESSAGE] = MESSAGE_BYTES / fastest;
  return MG_OK;
}

/* --- stores between GPUs ---------------------------------------------------------------------- */

/* Exchange `mine` with both neighbors. The two may be the same rank: then its first message, which
 * it sends to its next rank, is the one received first. */
static mg_status_t exchange_states(links_t *l) {
  MG_TRY(mg_comm_receive(l->requests, l->previous_rank, &l->previous, sizeof l->previous));
  MG_TRY(mg_comm_receive(l->requests, l->next_rank, &l->next, sizeof l->next));
  MG_TRY(mg_comm_send(l->requests, l->next_rank, &l->mine, sizeof l->mine));
  MG_TRY(mg_comm_send(l->requests, l->previous_rank, &l->mine, sizeof l->mine));
  return wait_for_messages(l, 4);
}

static mg_status_t create_window(void *data) {
  links_t *l = data;
  mg_device_uuid(l->params, l->mine.uuid);
  return l->backend->peer->alloc(WINDOW_BYTES, &l->window, l->mine.handle);
}

/* Open the window of the next rank.
 * @return "", or why not */
static const char *open_next(links_t *l) {
  static const unsigned char none[MG_PEER_HANDLE_BYTES];
  if (l->device->failure[0]) return "the GPU has failed";
  if (strcmp(l->mine.host, l->next.host) != 0) return "on another host";
  if (memcmp(l->next.handle, none, sizeof none) == 0)
    return "memory of the GPU cannot be opened (CUDA IPC)";
  if (memcmp(l->mine.uuid, l->next.uuid, sizeof l->mine.uuid) == 0) return "the same GPU";
  const char *const why = l->backend->peer->open(l->next.uuid, l->next.handle, &l->remote);
  return why ? why : "";
}

static uint64_t pattern_of(const links_t *l, int rank) {
  return (uint64_t)rank * (REPEATS + 1) + (uint64_t)l->repeat + 1;
}

static mg_status_t store(void *data) {
  links_t *l = data;
  const double start = mg_now();
  for (int s = 0; s < STORES; s++)
    MG_TRY(l->backend->peer->store(l->remote, WINDOW_BYTES, pattern_of(l, l->rank)));
  if (l->backend->queue.wait) MG_TRY(l->backend->queue.wait());
  l->mine.seconds = mg_now() - start;
  return MG_OK;
}

static mg_status_t check_window(void *data) {
  links_t *l = data;
  mg_word_errors_t errors;
  MG_TRY(
      l->backend->peer->check(l->window, WINDOW_BYTES, pattern_of(l, l->previous_rank), &errors));
  add_arrivals(&l->device->stores, WINDOW_WORDS, &errors);
  return MG_OK;
}

/* A failure of the device here may be one of the link. */
static void try_link(links_t *l, mg_status_t (*run)(void *), const char *what, int rank) {
  char *const failure = l->device->failure;
  if (failure[0]) return;
  health_try(l->device, run, l);
  if (!failure[0]) return;
  mg_append(failure, HEALTH_TEXT, " (%s rank %d)", what, rank);
  snprintf(l->mine.why, sizeof l->mine.why, "the GPU has failed");
}

/* Store into the window of the next rank, and check what the previous rank stored into this one.
 * The second exchange lets it store again. The first repeat is not timed. */
static mg_status_t run_repeats(links_t *l) {
  double fastest = INFINITY;
  for (l->repeat = 0; l->repeat <= REPEATS; l->repeat++) {
    l->mine.seconds = NAN;
    if (l->remote) try_link(l, store, "storing into the GPU of", l->next_rank);
    MG_TRY(exchange_states(l));
    const double seconds = l->previous.seconds;
    if (!isnan(seconds))
      try_link(l, check_window, "checking stores of the GPU of", l->previous_rank);
    MG_TRY(exchange_states(l));
    if (isnan(seconds) || (l->repeat > 0 && seconds < fastest)) fastest = seconds;
  }
  const double bytes = (double)WINDOW_BYTES * STORES;
  if (!isnan(fastest)) l->device->value[HEALTH_PEER_LINK] = bytes / fastest;
  return MG_OK;
}

/* Memory that other ranks may still use is not freed. */
static mg_status_t measure_stores(links_t *l) {
  const mg_backend_peer_t *const peer = l->backend->peer;
  if (!peer) return MG_OK;
  memcpy(l->mine.host, l->device->name.host, sizeof l->mine.host);
  health_try(l->device, create_window, l);
  MG_TRY(exchange_states(l));
  snprintf(l->mine.why, sizeof l->mine.why, "%s", open_next(l));
  MG_TRY(run_repeats(l));
  snprintf(l->device->no_peer_link, sizeof l->device->no_peer_link, "%s", l->previous.why);
  if (l->remote) peer->close(l->remote);
  MG_TRY(exchange_states(l));
  if (l->window) peer->release(l->window);
  return MG_OK;
}

mg_status_t health_links(const health_t *h) {
  static links_t l;
  const mg_place_t place = h->params.device == MG_DEVICE_CUDA          ? MG_PLACE_CUDA
                           : h->params.device == MG_DEVICE_CUDA_SIMPLE ? MG_PLACE_CUDA_SIMPLE
                                                                       : MG_PLACE_CPU;
  const int rank = h->mine->name.rank;
  l = (links_t){.params = &h->params,
                .backend = mg_level_backend(place),
                .device = h->mine,
                .rank = rank,
                .previous_rank = (rank + h->n_ranks - 1) % h->n_ranks,
                .next_rank = (rank + 1) % h->n_ranks,
                .limit = 0.25 * h->timeout};
  MG_TRY(mg_comm_agree(mg_requests_create(4, &l.requests)));
  mg_status_t status = measure_messages(&l);
  if (status == MG_OK) status = measure_stores(&l);
  if (h->mine->stuck) return MG_OK;
  mg_requests_free(l.requests);
  return status;
}
