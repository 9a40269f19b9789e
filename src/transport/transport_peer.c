/* The peer transport: kernels store messages into windows of the receiving ranks (windows.h). This
 * file assigns each message its blocks in windows. The kernels of this peer-to-peer (p2p) exchange
 * are in cuda/exchange/p2p_kernels.cu. */
#include "backend/p2p.h"
#include "base/alloc.h"
#include "base/log.h"
#include "transport/transport_impl.h"
#include "transport/transport_wings.h"
#include "transport/windows.h"
#include <stdlib.h>

typedef struct {
  mg_channel_t channel;
  const mg_backend_p2p_t *table;
  mg_p2p_t *p2p;
} peer_t;

static mg_status_t peer_start(mg_channel_t *channel, mg_vector_t src, mg_vector_t dst) {
  const peer_t *p = (peer_t *)channel;
  return p->table->send(p->p2p, src, dst);
}

static mg_status_t peer_unpack(mg_channel_t *channel, mg_vector_t dst) {
  const peer_t *p = (peer_t *)channel;
  return p->table->receive(p->p2p, dst);
}

static mg_status_t peer_run(mg_channel_t *channel, const mg_vector_t *src, const mg_vector_t *dst,
                            int n, bool beside) {
  const peer_t *p = (peer_t *)channel;
  for (int v = 0; v < n; v += MG_P2P_MAX_VECTORS) {
    const int left = n - v;
    MG_TRY(p->table->exchange(p->p2p, src + v, dst + v,
                              left < MG_P2P_MAX_VECTORS ? left : MG_P2P_MAX_VECTORS,
                              beside && left <= MG_P2P_MAX_VECTORS));
  }
  return MG_OK;
}

static void peer_destroy(mg_channel_t *channel) {
  peer_t *p = (peer_t *)channel;
  p->table->free(p->p2p);
  free(p);
}

/* Layout of the block in one rank's window that a pair of ranks uses, as byte offsets: arrival
 * counters at 0, counters that the other rank raises when it has read a message (acks), slots for
 * incoming data. */
typedef struct {
  int64_t acks, slots, end;
} block_t;

/* A neighbor rank, and the pair's blocks in the windows of both. */
typedef struct {
  int64_t rank;
  const mg_message_t *send, *receive; /* NULL if nothing is sent in that direction */
  char *own, *remote;                 /* the blocks: in this rank's window, in the neighbor's */
  block_t own_block, remote_block;
} neighbor_t;

static mg_p2p_bytes_t bytes_of(const mg_channel_job_t *p, const mg_message_t *m,
                               const mg_copy_list_t *items) {
  if (!m) return (mg_p2p_bytes_t){0};
  return p->src->p2p->bytes(items->item, items->n, m->offset, m->count);
}

/* Block of the rank that receives `incoming` and sends `outgoing`. */
static block_t block_of(mg_p2p_bytes_t incoming, mg_p2p_bytes_t outgoing, bool one_way) {
  const int64_t acks = mg_window_aligned(incoming.arrivals);
  const int64_t slots = acks + (one_way ? mg_window_aligned(outgoing.acks) : 0);
  return (block_t){acks, slots, slots + mg_window_aligned(incoming.slots)};
}

static int find_neighbors(const mg_channel_job_t *p, neighbor_t *list) {
  int n = 0;
  for (int m = 0; m < p->n_receive; m++)
    list[n++] = (neighbor_t){.rank = p->receive[m].rank, .receive = &p->receive[m]};
  for (int m = 0; m < p->n_send; m++) {
    int at = 0;
    while (at < n && list[at].rank != p->send[m].rank)
      at++;
    if (at == n) list[n++] = (neighbor_t){.rank = p->send[m].rank};
    list[at].send = &p->send[m];
  }
  for (int i = 0; i < n; i++) {
    const mg_p2p_bytes_t incoming = bytes_of(p, list[i].receive, &p->unpack),
                         outgoing = bytes_of(p, list[i].send, &p->pack);
    const bool one_way = !list[i].send || !list[i].receive;
    list[i].own_block = block_of(incoming, outgoing, one_way);
    list[i].remote_block = block_of(outgoing, incoming, one_way);
  }
  return n;
}

static mg_status_t exchange_addresses(mg_windows_t *w, neighbor_t *list, int n, int64_t *bytes) {
  const char *what = "peer window addresses";
  int64_t *ranks;
  mg_window_address_t *own = NULL, *remote = NULL;
  mg_status_t status = mg_new(&ranks, n, what);
  if (status == MG_OK) status = mg_new(&own, n, what);
  if (status == MG_OK) status = mg_new(&remote, n, what);
  for (int i = 0; i < n && ranks && own; i++) {
    ranks[i] = list[i].rank;
    *bytes += list[i].own_block.end;
    if (status == MG_OK)
      status = mg_windows_alloc_block(w, list[i].own_block.end, &own[i], &list[i].own);
    /* The other ranks wait for an address even if this one failed. */
    if (status != MG_OK) own[i].at.window = -1;
  }
  if (ranks && own && remote) {
    const mg_status_t exchanged =
        mg_windows_exchange(ranks, n, own[0].doubles, remote[0].doubles, MG_WINDOW_ADDRESS_DOUBLES);
    status = status == MG_OK ? exchanged : status;
  }
  for (int i = 0; i < n && status == MG_OK; i++) {
    if (remote[i].at.window < 0) status = MG_ERR_DEVICE;
    if (status == MG_OK) status = mg_windows_open(w, list[i].rank, &remote[i], &list[i].remote);
    if (status == MG_OK && !list[i].remote)
      status = mg_error(MG_ERR_DEVICE, "cannot open GPU memory of rank %lld; use --transport=host",
                        (long long)list[i].rank);
  }
  free(ranks);
  free(own);
  free(remote);
  return status;
}

/* Table of one direction's messages for the device. */
static void fill_table(const mg_message_t *message, int n_messages, const neighbor_t *list, int n,
                       bool sending, mg_p2p_message_t *table) {
  for (int m = 0; m < n_messages; m++)
    for (int i = 0; i < n; i++) {
      if ((sending ? list[i].send : list[i].receive) != &message[m]) continue;
      const neighbor_t *neighbor = &list[i];
      const bool one_way = !neighbor->send || !neighbor->receive;
      char *receiver = sending ? neighbor->remote : neighbor->own,
           *sender = sending ? neighbor->own : neighbor->remote;
      const block_t *in_receiver = sending ? &neighbor->remote_block : &neighbor->own_block,
                    *in_sender = sending ? &neighbor->own_block : &neighbor->remote_block;
      table[m] = (mg_p2p_message_t){
          .slots = receiver + in_receiver->slots,
          .arrivals = receiver,
          .acks = one_way ? sender + in_sender->acks : NULL,
          .values = message[m].count,
          .first = message[m].offset,
          .rank = (int)neighbor->rank,
      };
    }
}

static mg_status_t create_exchange(const mg_channel_job_t *p, const neighbor_t *list, int n,
                                   mg_p2p_t **out) {
  mg_p2p_message_t *table;
  MG_TRY(mg_new(&table, p->n_send + p->n_receive, "message tables"));
  fill_table(p->send, p->n_send, list, n, true, table);
  fill_table(p->receive, p->n_receive, list, n, false, table + p->n_send);
  const mg_p2p_job_t job = {.src = p->src_view,
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
                            .sharers = mg_windows_sharers(mg_transports_windows(p->transports))};
  const mg_status_t status = p->src->p2p->create(&job, out);
  free(table);
  return status;
}

mg_status_t mg_channel_peer(const mg_channel_job_t *p, mg_channel_t **out) {
  peer_t *peer;
  neighbor_t *list = NULL;
  *out = NULL;
  mg_status_t status = mg_new(&peer, 1, "message channels");
  if (status == MG_OK) status = mg_new(&list, p->n_send + p->n_receive, "message channels");
  if (status == MG_OK) {
    peer->table = p->src->p2p;
    peer->channel = (mg_channel_t){
        .start = peer_start, .unpack = peer_unpack, .run = peer_run, .destroy = peer_destroy};
    const int n = find_neighbors(p, list);
    status =
        exchange_addresses(mg_transports_windows(p->transports), list, n, &peer->channel.bytes);
    if (status == MG_OK) status = create_exchange(p, list, n, &peer->p2p);
  }
  free(list);
  if (status != MG_OK) {
    if (peer) peer_destroy(&peer->channel);
    return status;
  }
  *out = &peer->channel;
  return MG_OK;
}
