/* Windows between the ranks of a host, and channels through them. The CUDA part is in cuda/peer.h
 * and cuda/p2p_exchange.h; this file exchanges the addresses to write to. */
#include "base/alloc.h"
#include "base/log.h"
#include "cuda/p2p_exchange.h"
#include "cuda/peer.h"
#include "transport/transport_impl.h"
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 8 << 20, ALIGNMENT = 256 };

/* Another rank's window; `memory` is NULL if it could not be opened. */
typedef struct {
  int64_t rank, number;
  void *memory;
} opened_t;

typedef struct {
  char *memory;
  int64_t bytes, used;
  unsigned char handle[MG_CUDA_HANDLE_BYTES];
} window_t;

struct mg_windows {
  window_t *own;
  int n_own;
  opened_t *opened;
  int n_opened;
  int sharers; /* number of ranks on this device */
  bool lost;   /* a window opens but stores do not arrive, in either direction */
};

/* Address that another rank may write to: byte offset `begin` in a window. Sent as doubles. */
typedef union {
  struct {
    unsigned char handle[MG_CUDA_HANDLE_BYTES];
    int64_t window, begin;
  } at;
  double doubles[(MG_CUDA_HANDLE_BYTES + 2 * sizeof(int64_t)) / sizeof(double)];
} ipc_address_t;
enum { IPC_ADDRESS_DOUBLES = sizeof(ipc_address_t) / sizeof(double) };

static mg_status_t add_window(mg_windows_t *w, int64_t bytes) {
  void *memory;
  MG_TRY(mg_grow(&w->own, w->n_own + 1, "peer windows"));
  window_t *window = &w->own[w->n_own];
  memset(window, 0, sizeof *window);
  window->bytes = bytes > WINDOW_BYTES ? bytes : WINDOW_BYTES;
  MG_TRY(mg_cuda_window_alloc((size_t)window->bytes, &memory, window->handle));
  window->memory = memory;
  w->n_own++;
  return MG_OK;
}

static int64_t aligned(int64_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Allocate a block of a window. Blocks are freed only with the window. */
static mg_status_t allot(mg_windows_t *w, int64_t bytes, ipc_address_t *offer, char **memory) {
  bytes = aligned(bytes);
  if (w->own[w->n_own - 1].bytes - w->own[w->n_own - 1].used < bytes) MG_TRY(add_window(w, bytes));
  window_t *window = &w->own[w->n_own - 1];
  memcpy(offer->at.handle, window->handle, sizeof window->handle);
  offer->at.window = w->n_own - 1;
  offer->at.begin = window->used;
  *memory = window->memory + window->used;
  window->used += bytes;
  return MG_OK;
}

/* Map another rank's window; `memory` is NULL if it cannot be opened. */
static mg_status_t open_window(mg_windows_t *w, int64_t rank, const ipc_address_t *offer,
                               char **memory) {
  for (int o = 0; o < w->n_opened; o++)
    if (w->opened[o].rank == rank && w->opened[o].number == offer->at.window) {
      *memory = w->opened[o].memory;
      return MG_OK;
    }
  MG_TRY(mg_grow(&w->opened, w->n_opened + 1, "peer windows"));
  opened_t *opened = &w->opened[w->n_opened++];
  *opened = (opened_t){rank, offer->at.window, NULL};
  if (!mg_cuda_window_open(offer->at.handle, &opened->memory)) opened->memory = NULL;
  *memory = opened->memory;
  return MG_OK;
}

/* Exchange n doubles with each of several ranks. */
static mg_status_t swap(const int64_t *ranks, int n_ranks, double *give, double *get, int n) {
  mg_requests_t *requests;
  MG_TRY(mg_requests_create(2 * n_ranks, &requests));
  mg_status_t status = MG_OK;
  for (int r = 0; r < n_ranks && status == MG_OK; r++)
    status = mg_comm_receive(requests, ranks[r], get + (size_t)r * (size_t)n, n);
  for (int r = 0; r < n_ranks && status == MG_OK; r++)
    status = mg_comm_send(requests, ranks[r], give + (size_t)r * (size_t)n, n);
  if (status == MG_OK) status = mg_requests_wait(requests);
  mg_requests_free(requests);
  return status;
}

/* Window addresses exchanged with every other rank of the host. */
typedef struct {
  const int64_t *rank;
  int n;
  ipc_address_t *give, *get;
  double *here, *there; /* result of a test on this rank and on the other */
} ipc_exchange_t;

static mg_status_t ipc_exchange_create(const int64_t *ranks, int n, ipc_exchange_t *m) {
  const char *what = "peer window addresses";
  *m = (ipc_exchange_t){.rank = ranks, .n = n};
  MG_TRY(mg_new(&m->give, n, what));
  MG_TRY(mg_new(&m->get, n, what));
  MG_TRY(mg_new(&m->here, n, what));
  return mg_new(&m->there, n, what);
}

static void ipc_exchange_free(ipc_exchange_t *m) {
  free(m->give);
  free(m->get);
  free(m->here);
  free(m->there);
}

/* Each pair exchanges the address of its first window and the offset for the other's probe. Each
 * rank then opens the other's window and stores a probe there. */
static mg_status_t store_probes(mg_windows_t *w, const mg_pair_t *pairs, ipc_exchange_t *m) {
  const int me = mg_comm_rank(mg_comm_world());
  for (int r = 0; r < m->n; r++) {
    memcpy(m->give[r].at.handle, w->own[0].handle, sizeof w->own[0].handle);
    m->give[r].at.begin = (int64_t)r * MG_CUDA_PROBE_BYTES;
  }
  MG_TRY(swap(m->rank, m->n, m->give[0].doubles, m->get[0].doubles, IPC_ADDRESS_DOUBLES));
  for (int r = 0; r < m->n; r++) {
    char *memory = NULL;
    if (mg_cuda_reaches(pairs[m->rank[r]].uuid))
      MG_TRY(open_window(w, m->rank[r], &m->get[r], &memory));
    m->here[r] = memory ? 1.0 : 0.0;
    if (memory) MG_TRY(mg_cuda_window_probe(memory + m->get[r].at.begin, me));
  }
  return MG_OK;
}

/* Each pair exchanges whether the windows opened, then whether the probes arrived. */
static mg_status_t check_probes(mg_windows_t *w, ipc_exchange_t *m, bool *reached) {
  MG_TRY(swap(m->rank, m->n, m->here, m->there, 1));
  for (int r = 0; r < m->n; r++) {
    const bool opened = m->here[r] > 0.0 && m->there[r] > 0.0;
    bool arrived;
    reached[m->rank[r]] = opened;
    MG_TRY(
        mg_cuda_window_probed(w->own[0].memory + m->give[r].at.begin, (int)m->rank[r], &arrived));
    m->here[r] = arrived ? 1.0 : 0.0;
  }
  MG_TRY(swap(m->rank, m->n, m->here, m->there, 1));
  for (int r = 0; r < m->n; r++)
    if (reached[m->rank[r]] && (m->here[r] == 0.0 || m->there[r] == 0.0)) {
      reached[m->rank[r]] = false;
      w->lost = true;
    }
  return MG_OK;
}

static mg_status_t try_each(mg_windows_t *w, const mg_pair_t *pairs, const int64_t *ranks,
                            int n_ranks, bool *reached) {
  ipc_exchange_t m;
  mg_status_t status = ipc_exchange_create(ranks, n_ranks, &m);
  if (status == MG_OK) status = store_probes(w, pairs, &m);
  if (status == MG_OK) status = check_probes(w, &m, reached);
  ipc_exchange_free(&m);
  return status;
}

mg_status_t mg_windows_create(const mg_pair_t *pairs, int sharers, bool *reached,
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
    if (pairs[r].both && ranks) ranks[n++] = r;
  }
  status = mg_comm_agree(status);
  if (status != MG_OK) {
    /* Either all ranks have windows or none, because freeing them is collective. */
    free(w);
    free(ranks);
    return status;
  }
  w->sharers = sharers;
  status = mg_comm_agree(add_window(w, (int64_t)n * MG_CUDA_PROBE_BYTES));
  if (status == MG_OK) status = mg_comm_agree_or_end(try_each(w, pairs, ranks, n, reached));
  free(ranks);
  *out = w;
  return status;
}

bool mg_windows_lost(const mg_windows_t *w) {
  return w->lost;
}

void mg_windows_free(mg_windows_t *w) {
  if (!w) return;
  for (int o = 0; o < w->n_opened; o++)
    if (w->opened[o].memory) mg_cuda_window_close(w->opened[o].memory);
  /* Release memory only after all ranks have closed it. If the barrier fails, leave it until exit.
   */
  const bool all_came = mg_comm_barrier(mg_comm_world()) == MG_OK;
  for (int n = 0; n < w->n_own && all_came; n++)
    mg_cuda_window_release(w->own[n].memory);
  free(w->own);
  free(w->opened);
  free(w);
}

/* A channel through windows. */
typedef struct {
  mg_channel_t channel;
  mg_cuda_p2p_t *mail;
} peer_t;

static mg_status_t peer_pack(mg_channel_t *channel, int src, int dst) {
  return mg_cuda_p2p_send(((peer_t *)channel)->mail, src, dst);
}

static mg_status_t peer_unpack(mg_channel_t *channel, int dst) {
  return mg_cuda_p2p_receive(((peer_t *)channel)->mail, dst);
}

static mg_status_t peer_run(mg_channel_t *channel, int src, int dst) {
  return mg_cuda_p2p_exchange(((peer_t *)channel)->mail, src, dst);
}

static void peer_destroy(mg_channel_t *channel) {
  peer_t *p = (peer_t *)channel;
  mg_cuda_p2p_free(p->mail);
  free(p);
}

/* Layout of the block that a pair shares in a window, as byte offsets: arrival counters at 0,
 * counters of what the other rank has consumed, slots for incoming data. */
typedef struct {
  int64_t answers, slots, end;
} block_t;

/* A neighbor of a channel, and its blocks in both ranks' windows. */
typedef struct {
  int64_t rank;
  const mg_message_t *send, *receive; /* NULL if nothing is sent in that direction */
  char *here, *there;
  block_t at_here, at_there;
} neighbour_t;

static mg_cuda_p2p_need_t need_of(const mg_message_t *m, const mg_copy_list_t *items) {
  if (!m) return (mg_cuda_p2p_need_t){0};
  return mg_cuda_p2p_need(items->item, items->n, m->offset, m->count);
}

/* Block of the rank that receives `comes` and sends `goes`. */
static block_t block_of(mg_cuda_p2p_need_t comes, mg_cuda_p2p_need_t goes, bool one_way) {
  const int64_t answers = aligned(comes.arrivals);
  const int64_t slots = answers + (one_way ? aligned(goes.answers) : 0);
  return (block_t){answers, slots, slots + aligned(comes.slots)};
}

static int find_neighbours(const mg_message_list_t *p, neighbour_t *list) {
  int n = 0;
  for (int m = 0; m < p->n_receive; m++)
    list[n++] = (neighbour_t){.rank = p->receive[m].rank, .receive = &p->receive[m]};
  for (int m = 0; m < p->n_send; m++) {
    int at = 0;
    while (at < n && list[at].rank != p->send[m].rank)
      at++;
    if (at == n) list[n++] = (neighbour_t){.rank = p->send[m].rank};
    list[at].send = &p->send[m];
  }
  for (int i = 0; i < n; i++) {
    const mg_cuda_p2p_need_t comes = need_of(list[i].receive, &p->unpack),
                             goes = need_of(list[i].send, &p->pack);
    const bool one_way = !list[i].send || !list[i].receive;
    list[i].at_here = block_of(comes, goes, one_way);
    list[i].at_there = block_of(goes, comes, one_way);
  }
  return n;
}

static mg_status_t meet(mg_windows_t *w, neighbour_t *list, int n, int64_t *bytes) {
  const char *what = "peer window addresses";
  int64_t *ranks;
  ipc_address_t *give = NULL, *get = NULL;
  mg_status_t status = mg_new(&ranks, n, what);
  if (status == MG_OK) status = mg_new(&give, n, what);
  if (status == MG_OK) status = mg_new(&get, n, what);
  for (int i = 0; i < n && ranks && give; i++) {
    ranks[i] = list[i].rank;
    *bytes += list[i].at_here.end;
    if (status == MG_OK) status = allot(w, list[i].at_here.end, &give[i], &list[i].here);
    /* The other ranks wait for an address even if this one failed. */
    if (status != MG_OK) give[i].at.window = -1;
  }
  if (ranks && give && get) {
    const mg_status_t swapped =
        swap(ranks, n, give[0].doubles, get[0].doubles, IPC_ADDRESS_DOUBLES);
    status = status == MG_OK ? swapped : status;
  }
  for (int i = 0; i < n && status == MG_OK; i++) {
    if (get[i].at.window < 0) status = MG_ERR_DEVICE;
    if (status == MG_OK) status = open_window(w, list[i].rank, &get[i], &list[i].there);
    if (status == MG_OK && !list[i].there)
      status = mg_error(MG_ERR_DEVICE, "cannot open GPU memory of rank %lld; use --transport=host",
                        (long long)list[i].rank);
    if (status == MG_OK) list[i].there += get[i].at.begin;
  }
  free(ranks);
  free(give);
  free(get);
  return status;
}

/* Table of one direction's messages for the device. */
static void address(const mg_message_t *message, int n_messages, const neighbour_t *list, int n,
                    bool sending, mg_cuda_message_t *table) {
  for (int m = 0; m < n_messages; m++)
    for (int i = 0; i < n; i++) {
      if ((sending ? list[i].send : list[i].receive) != &message[m]) continue;
      const neighbour_t *to = &list[i];
      const bool one_way = !to->send || !to->receive;
      char *receiver = sending ? to->there : to->here, *sender = sending ? to->here : to->there;
      const block_t *at = sending ? &to->at_there : &to->at_here,
                    *back = sending ? &to->at_here : &to->at_there;
      table[m] = (mg_cuda_message_t){
          .slots = receiver + at->slots,
          .arrivals = receiver,
          .answers = one_way ? sender + back->answers : NULL,
          .doubles = message[m].count,
          .first = message[m].offset,
          .rank = (int)to->rank,
      };
    }
}

static mg_status_t prepare(const mg_message_list_t *p, const neighbour_t *list, int n,
                           mg_cuda_p2p_t **out) {
  mg_cuda_message_t *table;
  MG_TRY(mg_new(&table, p->n_send + p->n_receive, "message tables"));
  address(p->send, p->n_send, list, n, true, table);
  address(p->receive, p->n_receive, list, n, false, table + p->n_send);
  const mg_cuda_p2p_job_t job = {.src = p->src_view,
                                 .dst = p->dst_view,
                                 .pack = p->pack.item,
                                 .local = p->local.item,
                                 .unpack = p->unpack.item,
                                 .n_pack = p->pack.n,
                                 .n_local = p->local.n,
                                 .n_unpack = p->unpack.n,
                                 .sent = table,
                                 .received = table + p->n_send,
                                 .n_sent = p->n_send,
                                 .n_received = p->n_receive,
                                 .sharers = mg_transports_windows(p->transports)->sharers};
  const mg_status_t status = mg_cuda_p2p_create(&job, out);
  free(table);
  return status;
}

mg_status_t mg_channel_peer(const mg_message_list_t *p, mg_channel_t **out) {
  peer_t *peer;
  neighbour_t *list = NULL;
  *out = NULL;
  mg_status_t status = mg_new(&peer, 1, "message channels");
  if (status == MG_OK) status = mg_new(&list, p->n_send + p->n_receive, "message channels");
  if (status == MG_OK) {
    peer->channel = (mg_channel_t){
        .pack = peer_pack, .unpack = peer_unpack, .run = peer_run, .destroy = peer_destroy};
    const int n = find_neighbours(p, list);
    status = meet(mg_transports_windows(p->transports), list, n, &peer->channel.bytes);
    if (status == MG_OK) status = prepare(p, list, n, &peer->mail);
  }
  free(list);
  if (status != MG_OK) {
    if (peer) peer_destroy(&peer->channel);
    return status;
  }
  *out = &peer->channel;
  return MG_OK;
}
