#include "transport/exchange.h"
#include "base/alloc.h"
#include <stdlib.h>

struct mg_exchange {
  mg_copy_plan_t plan;
  mg_end_t src, dst;
  void *staging; /* buffer for local copies between two backends, in memory that both access;
                      NULL: one backend */
  int64_t staging_values;
  mg_copies_t *local;                     /* source to destination, or to `staging` */
  mg_copies_t *unstaged;                  /* `staging` to destination */
  mg_channel_t *channel[MG_N_TRANSPORTS]; /* NULL if no message uses this transport */
  mg_channel_t *sole; /* the only channel, if it also does the local copies (PEER); else NULL */
};

static void set_staging_offsets(mg_exchange_t *e) {
  for (int c = 0; c < e->plan.local.n; c++) {
    mg_copy_t *copy = &e->plan.local.item[c];
    copy->buffer = e->staging_values;
    e->staging_values += (int64_t)copy->n[0] * copy->n[1] * copy->n[2];
  }
}

/* The host can access any memory but a device cannot, so use the device backend's shared memory. */
static const mg_backend_t *staging_backend(const mg_exchange_t *e) {
  return e->src.backend->queue.wait ? e->src.backend : e->dst.backend;
}

static int64_t staging_bytes(const mg_exchange_t *e) {
  return e->staging_values * e->src.backend->value_bytes;
}

static mg_status_t alloc_staging(mg_exchange_t *e) {
  if (e->staging_values == 0) return MG_OK;
  return staging_backend(e)->alloc((size_t)staging_bytes(e), MG_SPACE_SHARED, &e->staging);
}

static mg_status_t prepare(const mg_end_t *end, const mg_view_t *src, const mg_view_t *dst,
                           void *buffer, const mg_copy_list_t *list, mg_copies_t **out) {
  const mg_copy_job_t job = {src, dst, buffer, list->item, list->n};
  return list->n > 0 ? end->backend->prepare_copies(&job, out) : MG_OK;
}

/* A local copy names a patch on both sides. Split it in two: on each side, one patch is replaced by
 * the buffer. */
static mg_status_t prepare_staged(mg_exchange_t *e) {
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
        prepare(end, end->view, end->view, e->staging, &half, side == 0 ? &e->local : &e->unstaged);
  }
  free(half.item);
  return status;
}

static mg_status_t prepare_local(mg_exchange_t *e) {
  /* The peer channel also does the local copies. */
  if (e->channel[MG_TRANSPORT_PEER]) return MG_OK;
  MG_TRY(alloc_staging(e));
  if (e->staging) return prepare_staged(e);
  return prepare(&e->src, e->src.view, e->dst.view, NULL, &e->plan.local, &e->local);
}

/* Transport of a message. There is a choice only between two levels on devices. */
static mg_transport_t transport_of(const mg_exchange_t *e, const mg_transports_t *transports,
                                   const mg_message_t *message) {
  const bool has_choice = e->src.backend == e->dst.backend && e->src.backend->queue.wait;
  return has_choice ? mg_transports_to(transports, message->rank) : MG_TRANSPORT_HOST;
}

/* Messages of one direction that use a transport, and their copies, with the buffer compacted. */
static mg_status_t select_messages(const mg_exchange_t *e, const mg_transports_t *transports,
                                   mg_transport_t transport, bool sending, mg_channel_job_t *job) {
  const mg_copy_plan_t *p = &e->plan;
  const mg_message_t *message = sending ? p->send : p->receive;
  const mg_copy_list_t *all = sending ? &p->pack : &p->unpack;
  const int n = sending ? p->n_send : p->n_receive;
  mg_copy_list_t *list = sending ? &job->pack : &job->unpack;
  mg_message_t *kept;
  MG_TRY(mg_new(&kept, n, "message lists"));
  *(sending ? &job->send : &job->receive) = kept;
  MG_TRY(mg_new(&list->item, all->n, "copy lists"));
  int n_kept = 0, c = 0;
  int64_t values = 0;
  for (int m = 0; m < n; m++) {
    const int64_t end = message[m].offset + message[m].count;
    const bool keep = transport_of(e, transports, &message[m]) == transport;
    for (; c < all->n && all->item[c].buffer < end; c++) {
      if (!keep) continue;
      list->item[list->n] = all->item[c];
      list->item[list->n++].buffer += values - message[m].offset;
    }
    if (!keep) continue;
    kept[n_kept++] = (mg_message_t){message[m].rank, values, message[m].count};
    values += message[m].count;
  }
  *(sending ? &job->n_send : &job->n_receive) = n_kept;
  *(sending ? &job->send_values : &job->receive_values) = values;
  return MG_OK;
}

static mg_status_t open_channel(mg_exchange_t *e, mg_transports_t *transports,
                                mg_transport_t transport) {
  mg_channel_job_t job = {.src = e->src.backend,
                          .dst = e->dst.backend,
                          .src_view = e->src.view,
                          .dst_view = e->dst.view,
                          .local = e->plan.local,
                          .transports = transports};
  mg_status_t status = select_messages(e, transports, transport, true, &job);
  if (status == MG_OK) status = select_messages(e, transports, transport, false, &job);
  if (status == MG_OK && job.n_send + job.n_receive > 0)
    status = mg_channel_create(transport, &job, &e->channel[transport]);
  free(job.pack.item);
  free(job.unpack.item);
  free(job.send);
  free(job.receive);
  return status;
}

/* The peer channel, if it is the only one. It also does the local copies. */
static mg_channel_t *find_sole(const mg_exchange_t *e) {
  mg_channel_t *sole = e->channel[MG_TRANSPORT_PEER];
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    if (e->channel[t] && e->channel[t] != sole) sole = NULL;
  return sole;
}

static mg_status_t prepare_all(mg_exchange_t *e, const mg_copy_spec_t *spec,
                               mg_transports_t *transports) {
  MG_TRY(mg_copy_plan_build(spec, mg_comm_rank(mg_comm_world()), &e->plan));
  if (e->src.backend != e->dst.backend) set_staging_offsets(e);
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    MG_TRY(open_channel(e, transports, (mg_transport_t)t));
  MG_TRY(prepare_local(e));
  e->sole = find_sole(e);
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
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    if (e->channel[t]) e->channel[t]->destroy(e->channel[t]);
  e->src.backend->release_copies(e->local);
  e->dst.backend->release_copies(e->unstaged);
  if (e->staging)
    staging_backend(e)->release(e->staging, (size_t)staging_bytes(e), MG_SPACE_SHARED);
  mg_copy_plan_free(&e->plan);
  free(e);
}

int64_t mg_exchange_bytes(const mg_exchange_t *e) {
  if (!e) return 0;
  int64_t bytes = staging_bytes(e);
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    if (e->channel[t]) bytes += e->channel[t]->bytes;
  return bytes;
}

unsigned mg_exchange_by(const mg_exchange_t *e) {
  unsigned by = !e ? 0u : (e->staging ? MG_BY_STAGING : 0u) | (e->sole ? MG_BY_ONE_KERNEL : 0u);
  for (int t = 0; e && t < MG_N_TRANSPORTS; t++)
    if (e->channel[t]) by |= e->channel[t]->post ? MG_BY_HOST : MG_BY_DEVICE;
  return by;
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
  if (e->staging) MG_TRY(wait_for(e->dst.backend));
  MG_TRY(copy(e->src.backend, e->local, src, dst));
  if (!e->staging) return MG_OK;
  MG_TRY(wait_for(e->src.backend));
  return copy(e->dst.backend, e->unstaged, src, dst);
}

/* Count all messages of a channel once per run, so that counting does not show in the timings. */
static void count(const mg_channel_t *channel, int n, mg_traffic_t *sent) {
  if (!sent) return;
  sent->messages += n * channel->messages;
  sent->bytes += n * channel->bytes_sent;
}

mg_status_t mg_exchange_begin(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  /* In enum order: transports that the device runs by itself go before the host waits. */
  for (int t = 0; t < MG_N_TRANSPORTS; t++) {
    mg_channel_t *channel = e->channel[t];
    if (!channel) continue;
    MG_TRY(channel->start(channel, src, dst));
    count(channel, 1, e->src.sent);
  }
  return MG_OK;
}

mg_status_t mg_exchange_finish(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    if (e->channel[t] && e->channel[t]->post) MG_TRY(e->channel[t]->post(e->channel[t]));
  MG_TRY(copy_local(e, src, dst));
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    if (e->channel[t]) MG_TRY(e->channel[t]->unpack(e->channel[t], dst));
  return MG_OK;
}

mg_status_t mg_exchange_run(mg_exchange_t *e, mg_vector_t src, mg_vector_t dst) {
  if (e->sole) {
    count(e->sole, 1, e->src.sent);
    return e->sole->run(e->sole, &src, &dst, 1, false);
  }
  MG_TRY(mg_exchange_begin(e, src, dst));
  return mg_exchange_finish(e, src, dst);
}

mg_status_t mg_exchange_halo(mg_exchange_t *e, const mg_vector_t *vec, int n, bool beside) {
  if (e->sole) {
    count(e->sole, n, e->src.sent);
    return e->sole->run(e->sole, vec, vec, n, beside);
  }
  for (int v = 0; v < n; v++)
    MG_TRY(mg_exchange_run(e, vec[v], vec[v]));
  return MG_OK;
}
