/* Memory of this rank's windows, and mappings of other ranks' windows. */
#include "transport/windows.h"
#include "base/alloc.h"
#include "comm/comm.h"
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 8 << 20, ALIGNMENT = 256 };

/* Another rank's window; `memory` is NULL if it could not be opened. */
typedef struct {
  int64_t rank, index;
  void *memory;
} remote_window_t;

typedef struct {
  char *memory;
  int64_t bytes, used;
  unsigned char handle[MG_PEER_HANDLE_BYTES];
} window_t;

struct mg_windows {
  window_t *own;
  int n_own;
  remote_window_t *remote;
  int n_remote;
  mg_device_location_t mine;
  bool lost; /* a window opens but stores do not arrive, in either direction */
};

static const mg_backend_peer_t *peer(void) {
  return mg_backend_cuda.peer;
}

static mg_status_t add_window(mg_windows_t *w, int64_t bytes) {
  void *memory;
  MG_TRY(mg_grow(&w->own, w->n_own + 1, "peer windows"));
  window_t *window = &w->own[w->n_own];
  memset(window, 0, sizeof *window);
  window->bytes = bytes > WINDOW_BYTES ? bytes : WINDOW_BYTES;
  MG_TRY(peer()->alloc((size_t)window->bytes, &memory, window->handle));
  window->memory = memory;
  w->n_own++;
  return MG_OK;
}

int64_t mg_window_aligned(int64_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

mg_status_t mg_windows_alloc_block(mg_windows_t *w, int64_t bytes, mg_window_address_t *address,
                                   char **memory) {
  bytes = mg_window_aligned(bytes);
  if (w->own[w->n_own - 1].bytes - w->own[w->n_own - 1].used < bytes) MG_TRY(add_window(w, bytes));
  window_t *window = &w->own[w->n_own - 1];
  memcpy(address->at.handle, window->handle, sizeof window->handle);
  memcpy(address->at.uuid, w->mine.uuid, sizeof w->mine.uuid);
  address->at.window = w->n_own - 1;
  address->at.begin = window->used;
  *memory = window->memory + window->used;
  window->used += bytes;
  return MG_OK;
}

/* Find or map another rank's window. */
static mg_status_t open_window(mg_windows_t *w, int64_t rank, const mg_window_address_t *address,
                               char **memory) {
  for (int r = 0; r < w->n_remote; r++)
    if (w->remote[r].rank == rank && w->remote[r].index == address->at.window) {
      *memory = w->remote[r].memory;
      return MG_OK;
    }
  MG_TRY(mg_grow(&w->remote, w->n_remote + 1, "peer windows"));
  remote_window_t *remote = &w->remote[w->n_remote++];
  *remote = (remote_window_t){rank, address->at.window, NULL};
  if (peer()->open(address->at.uuid, address->at.handle, &remote->memory)) remote->memory = NULL;
  *memory = remote->memory;
  return MG_OK;
}

mg_status_t mg_windows_open(mg_windows_t *w, int64_t rank, const mg_window_address_t *address,
                            char **memory) {
  MG_TRY(open_window(w, rank, address, memory));
  if (*memory) *memory += address->at.begin;
  return MG_OK;
}

mg_status_t mg_windows_exchange(const int64_t *ranks, int n_ranks, const double *sent,
                                double *received, int n) {
  mg_requests_t *requests;
  MG_TRY(mg_requests_create(2 * n_ranks, &requests));
  mg_status_t status = MG_OK;
  for (int r = 0; r < n_ranks && status == MG_OK; r++)
    status = mg_comm_receive(requests, ranks[r], received + (size_t)r * (size_t)n,
                             n * (int64_t)sizeof *received);
  for (int r = 0; r < n_ranks && status == MG_OK; r++)
    status =
        mg_comm_send(requests, ranks[r], sent + (size_t)r * (size_t)n, n * (int64_t)sizeof *sent);
  if (status == MG_OK) status = mg_requests_wait(requests);
  mg_requests_free(requests);
  return status;
}

mg_status_t mg_windows_create(const bool *try_peer, const mg_device_location_t *mine, bool *reached,
                              mg_windows_t **out) {
  const int size = mg_comm_size(mg_comm_world());
  mg_windows_t *w;
  int64_t *ranks = NULL;
  int n = 0;
  *out = NULL;
  mg_status_t status = mg_new(&w, 1, "peer windows");
  if (status == MG_OK) status = mg_new(&ranks, size, "peer windows");
  for (int r = 0; r < size; r++) {
    reached[r] = false;
    if (try_peer[r] && ranks) ranks[n++] = r;
  }
  status = mg_comm_agree(status);
  if (status != MG_OK) {
    /* Either all ranks have windows or none, because freeing them is collective. */
    free(w);
    free(ranks);
    return status;
  }
  w->mine = *mine;
  status = mg_comm_agree(add_window(w, (int64_t)n * MG_PROBE_BYTES));
  if (status == MG_OK)
    status = mg_comm_agree_or_end(mg_windows_probe(w, ranks, n, reached, &w->lost));
  free(ranks);
  *out = w;
  return status;
}

bool mg_windows_lost_stores(const mg_windows_t *w) {
  return w->lost;
}

void mg_windows_free(mg_windows_t *w) {
  if (!w) return;
  for (int r = 0; r < w->n_remote; r++)
    if (w->remote[r].memory) peer()->close(w->remote[r].memory);
  /* Release memory only after all ranks have closed it. If the barrier fails, leave it until exit.
   */
  const bool all_closed = mg_comm_barrier(mg_comm_world()) == MG_OK;
  for (int n = 0; n < w->n_own && all_closed; n++)
    peer()->release(w->own[n].memory);
  free(w->own);
  free(w->remote);
  free(w);
}

int mg_windows_sharers(const mg_windows_t *w) {
  return w->mine.sharers;
}
