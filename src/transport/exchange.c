#include "transport/exchange.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

struct mg_exchange {
  mg_copy_plan_t plan;
  mg_end_t src, dst;
  double *crossing;
  int64_t crossing_doubles; /* staging buffer for local copies between two backends, in memory that
                               both reach */
  mg_copies_t *local, *enter; /* local: source to destination, or to `crossing`; enter: from
                                 `crossing` to destination */
  mg_channel_t *channel[MG_N_TRANSPORTS]; /* NULL if no message uses this transport */
  mg_channel_t *only; /* the sole channel, if it has `run` and does all the work; else NULL */
};

static void number_crossing(mg_exchange_t *e) {
  for (int c = 0; c < e->plan.local.n; c++) {
    mg_copy_t *copy = &e->plan.local.item[c];
    copy->buffer = e->crossing_doubles;
    e->crossing_doubles += (int64_t)copy->n[0] * copy->n[1] * copy->n[2];
  }
}

/* The host reaches any memory but a device does not, so use the device backend's shared memory. */
static const mg_backend_t *crossing_backend(const mg_exchange_t *e) {
  return e->src.backend->queue.wait ? e->src.backend : e->dst.backend;
}

static mg_status_t alloc_crossing(mg_exchange_t *e) {
  void *memory;
  if (e->crossing_doubles == 0) return MG_OK;
  MG_TRY(crossing_backend(e)->alloc((size_t)e->crossing_doubles * sizeof(double), MG_SPACE_SHARED,
                                    &memory));
  e->crossing = memory;
  return MG_OK;
}

static mg_status_t prepare(const mg_end_t *end, const mg_view_t *src, const mg_view_t *dst,
                           double *buffer, const mg_copy_list_t *list, mg_copies_t **out) {
  const mg_copy_job_t job = {src, dst, buffer, list->item, list->n};
  return list->n > 0 ? end->backend->prepare_copies(&job, out) : MG_OK;
}

/* A local copy names a patch on both sides. Split it in two: on each side, one patch is replaced by
 * the buffer. */
static mg_status_t prepare_crossing(mg_exchange_t *e) {
  mg_copy_list_t half = e->plan.local;
  if (half.n == 0) return MG_OK;
  MG_TRY(mg_new(&half.item, half.n, "copy lists"));
  mg_status_t status = MG_OK;
  for (int side = 0; side < 2 && status == MG_OK; side++) {
    for (int c = 0; c < half.n; c++) {
      half.item[c] = e->plan.local.item[c];
      *(side == 0 ? &half.item[c].dst_patch : &half.item[c].src_patch) = -1;
    }
    const mg_end_t *end = side == 0 ? &e->src : &e->dst;
    status =
        prepare(end, end->view, end->view, e->crossing, &half, side == 0 ? &e->local : &e->enter);
  }
  free(half.item);
  return status;
}

static mg_status_t prepare_local(mg_exchange_t *e) {
  /* The peer channel also does the local copies. */
  if (e->channel[MG_TRANSPORT_PEER]) return MG_OK;
  MG_TRY(alloc_crossing(e));
  if (e->crossing) return prepare_crossing(e);
  return prepare(&e->src, e->src.view, e->dst.view, NULL, &e->plan.local, &e->local);
}

/* Transport of a message. There is a choice only between two levels on devices. */
static mg_transport_t way_of(const mg_exchange_t *e, const mg_transports_t *transports,
                             const mg_message_t *message) {
  const bool chosen = e->src.backend == e->dst.backend && e->src.backend->queue.wait;
  return chosen ? mg_transports_to(transports, message->rank) : MG_TRANSPORT_HOST;
}

/* Messages of one direction that use transport `way`, and their copies, with the buffer compacted.
 */
static mg_status_t select_messages(const mg_exchange_t *e, const mg_transports_t *transports,
                                   mg_transport_t way, bool sending,
                                   mg_message_list_t *message_list) {
  const mg_copy_plan_t *p = &e->plan;
  const mg_message_t *message = sending ? p->send : p->receive;
  const mg_copy_list_t *all = sending ? &p->pack : &p->unpack;
  const int n = sending ? p->n_send : p->n_receive;
  mg_copy_list_t *list = sending ? &message_list->pack : &message_list->unpack;
  mg_message_t *kept;
  MG_TRY(mg_new(&kept, n, "message lists"));
  *(sending ? &message_list->send : &message_list->receive) = kept;
  MG_TRY(mg_new(&list->item, all->n, "copy lists"));
  int n_kept = 0, c = 0;
  int64_t doubles = 0;
  for (int m = 0; m < n; m++) {
    const int64_t end = message[m].offset + message[m].count;
    const bool keep = way_of(e, transports, &message[m]) == way;
    for (; c < all->n && all->item[c].buffer < end; c++) {
      if (!keep) continue;
      list->item[list->n] = all->item[c];
      list->item[list->n++].buffer += doubles - message[m].offset;
    }
    if (!keep) continue;
    kept[n_kept++] = (mg_message_t){message[m].rank, doubles, message[m].count};
    doubles += message[m].count;
  }
  *(sending ? &message_list->n_send : &message_list->n_receive) = n_kept;
  *(sending ? &message_list->send_doubles : &message_list->receive_doubles) = doubles;
  return MG_OK;
}

static mg_status_t open_channel(mg_exchange_t *e, mg_transports_t *transports, mg_transport_t way) {
  mg_message_list_t message_list = {.src = e->src.backend,
                                    .dst = e->dst.backend,
                                    .src_view = e->src.view,
                                    .dst_view = e->dst.view,
                                    .local = e->plan.local,
                                    .transports = transports};
  mg_status_t status = select_messages(e, transports, way, true, &message_list);
  if (status == MG_OK) status = select_messages(e, transports, way, false, &message_list);
  if (status == MG_OK && message_list.n_send + message_list.n_receive > 0)
    status = mg_channel_create(way, &message_list, &e->channel[way]);
  free(message_list.pack.item);
  free(message_list.unpack.item);
  free(message_list.send);
  free(message_list.receive);
  return status;
}

/* The channel that does everything, if it is the only one. */
static mg_channel_t *find_only(const mg_exchange_t *e) {
  mg_channel_t *only = e->channel[MG_TRANSPORT_PEER];
  for (int way = 0; way < MG_N_TRANSPORTS; way++)
    if (e->channel[way] && e->channel[way] != only) only = NULL;
  return only;
}

static mg_status_t prepare_all(mg_exchange_t *e, const mg_copy_spec_t *spec,
                               mg_transports_t *transports) {
  MG_TRY(mg_copy_plan_build(spec, mg_comm_rank(mg_comm_world()), &e->plan));
  if (e->src.backend != e->dst.backend) number_crossing(e);
  for (int way = 0; way < MG_N_TRANSPORTS; way++)
    MG_TRY(open_channel(e, transports, (mg_transport_t)way));
  MG_TRY(prepare_local(e));
  e->only = find_only(e);
  return MG_OK;
}

mg_status_t mg_exchange_create(const mg_copy_spec_t *spec, mg_end_t src, mg_end_t dst,
                               mg_transports_t *transports, mg_exchange_t **out) {
  mg_exchange_t *e;
  mg_status_t status = mg_new(&e, 1, "exchange plans");
  *out = NULL;
  if (e) {
    e->src = src;
    e->dst = dst;
    status = prepare_all(e, spec, transports);
  }
  if (transports) status = mg_comm_agree_or_end(status);
  if (status == MG_OK)
    *out = e;
  else
    mg_exchange_free(e);
  return status;
}

void mg_exchange_free(mg_exchange_t *e) {
  if (!e) return;
  for (int way = 0; way < MG_N_TRANSPORTS; way++)
    if (e->channel[way]) e->channel[way]->destroy(e->channel[way]);
  e->src.backend->release_copies(e->local);
  e->dst.backend->release_copies(e->enter);
  if (e->crossing)
    crossing_backend(e)->release(e->crossing, (size_t)e->crossing_doubles * sizeof(double),
                                 MG_SPACE_SHARED);
  mg_copy_plan_free(&e->plan);
  free(e);
}

int64_t mg_exchange_bytes(const mg_exchange_t *e) {
  if (!e) return 0;
  int64_t bytes = e->crossing_doubles * (int64_t)sizeof(double);
  for (int way = 0; way < MG_N_TRANSPORTS; way++)
    if (e->channel[way]) bytes += e->channel[way]->bytes;
  return bytes;
}

bool mg_exchange_has_messages(const mg_exchange_t *e) {
  for (int way = 0; e && way < MG_N_TRANSPORTS; way++)
    if (e->channel[way]) return true;
  return false;
}

bool mg_exchange_host_only(const mg_exchange_t *e) {
  for (int way = 0; e && way < MG_N_TRANSPORTS; way++)
    if (e->channel[way] && !e->channel[way]->post) return false;
  return mg_exchange_has_messages(e);
}

bool mg_exchange_needs_host(const mg_exchange_t *e) {
  bool waits = e && e->crossing;
  for (int way = 0; e && way < MG_N_TRANSPORTS; way++)
    waits = waits || (e->channel[way] && e->channel[way]->post);
  return waits;
}

static mg_status_t wait_for(const mg_backend_t *backend) {
  return backend->queue.wait ? backend->queue.wait() : MG_OK;
}

static mg_status_t copy(const mg_backend_t *backend, const mg_copies_t *copies, mg_vector_t src,
                        mg_vector_t dst) {
  return copies ? backend->copy(copies, src, dst) : MG_OK;
}

/* Copies within this rank; through the staging buffer if two backends are involved. */
static mg_status_t copy_local(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  /* The destination may still be reading the buffer from the previous run. */
  if (e->crossing) MG_TRY(wait_for(e->dst.backend));
  MG_TRY(copy(e->src.backend, e->local, src, dst));
  if (!e->crossing) return MG_OK;
  MG_TRY(wait_for(e->src.backend));
  return copy(e->dst.backend, e->enter, src, dst);
}

/* Count all messages of a channel once per run, so that counting does not show in the timings. */
static void count(const mg_channel_t *channel, mg_traffic_t *sent) {
  if (!sent) return;
  sent->messages += channel->messages;
  sent->bytes += channel->doubles * (int64_t)sizeof(double);
}

mg_status_t mg_exchange_begin(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  /* In enum order: transports that the device runs by itself are in flight before the host waits.
   */
  for (int way = 0; way < MG_N_TRANSPORTS; way++) {
    mg_channel_t *channel = e->channel[way];
    if (!channel) continue;
    MG_TRY(channel->start(channel, src, dst));
    count(channel, e->src.sent);
  }
  return MG_OK;
}

mg_status_t mg_exchange_finish(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  for (int way = 0; way < MG_N_TRANSPORTS; way++)
    if (e->channel[way] && e->channel[way]->post) MG_TRY(e->channel[way]->post(e->channel[way]));
  MG_TRY(copy_local(e, src, dst));
  for (int way = 0; way < MG_N_TRANSPORTS; way++)
    if (e->channel[way]) MG_TRY(e->channel[way]->unpack(e->channel[way], dst));
  return MG_OK;
}

mg_status_t mg_exchange_run(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  if (e->only) {
    count(e->only, e->src.sent);
    return e->only->run(e->only, src, dst);
  }
  MG_TRY(mg_exchange_begin(e, src, dst));
  return mg_exchange_finish(e, src, dst);
}
