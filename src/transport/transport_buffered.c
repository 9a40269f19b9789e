/* Channels that pack into a buffer of this rank and pass it to MPI in host memory, to MPI in device
 * memory if it accepts that, or to NCCL. */
#include "backend/peer.h"
#include "base/alloc.h"
#include "transport/transport_impl.h"
#include <stdlib.h>

typedef struct {
  mg_channel_t channel;
  const mg_backend_t *src, *dst;
  mg_space_t space;
  mg_message_t *send, *receive;
  int n_send, n_receive;
  int64_t send_bytes, receive_bytes;
  char *outgoing, *incoming;
  mg_copies_t *pack, *unpack;
  mg_requests_t *requests; /* MPI requests */
  struct mg_nccl *nccl;
} buffered_t;

static mg_status_t alloc_buffer(const mg_backend_t *backend, mg_space_t space, int64_t bytes,
                                char **out) {
  void *memory = NULL;
  *out = NULL;
  if (bytes == 0) return MG_OK;
  MG_TRY(backend->alloc((size_t)bytes, space, &memory));
  *out = memory;
  return MG_OK;
}

static void release_buffer(const mg_backend_t *backend, mg_space_t space, int64_t bytes,
                           char *buffer) {
  if (buffer) backend->release(buffer, (size_t)bytes, space);
}

static void buffered_destroy(mg_channel_t *channel) {
  buffered_t *s = (buffered_t *)channel;
  s->src->release_copies(s->pack);
  s->dst->release_copies(s->unpack);
  release_buffer(s->src, s->space, s->send_bytes, s->outgoing);
  release_buffer(s->dst, s->space, s->receive_bytes, s->incoming);
  mg_requests_free(s->requests);
  free(s->send);
  free(s->receive);
  free(s);
}

static mg_status_t wait_for(const mg_backend_t *backend) {
  return backend->queue.wait ? backend->queue.wait() : MG_OK;
}

/* True if one event suffices. On a single device, an event after this run's pack also follows the
 * previous run's unpack. */
static bool uses_events(const buffered_t *s) {
  return s->src == s->dst && s->src->queue.event_record && !s->nccl;
}

static mg_status_t buffered_start(mg_channel_t *channel, mg_vector_t src, mg_vector_t dst) {
  (void)dst;
  buffered_t *s = (buffered_t *)channel;
  if (s->pack) MG_TRY(s->src->copy(s->pack, src, src));
  return uses_events(s) ? s->src->queue.event_record() : MG_OK;
}

mg_status_t mg_messages_receive(mg_requests_t *requests, const mg_message_t *message, int n,
                                void *buffer, int value_bytes) {
  for (int m = 0; m < n; m++)
    MG_TRY(mg_comm_receive(requests, message[m].rank,
                           (char *)buffer + message[m].offset * value_bytes,
                           message[m].count * value_bytes));
  return MG_OK;
}

mg_status_t mg_messages_send(mg_requests_t *requests, const mg_message_t *message, int n,
                             const void *buffer, int value_bytes) {
  for (int m = 0; m < n; m++)
    MG_TRY(mg_comm_send(requests, message[m].rank,
                        (const char *)buffer + message[m].offset * value_bytes,
                        message[m].count * value_bytes));
  return MG_OK;
}

static mg_status_t mpi_post(mg_channel_t *channel) {
  buffered_t *s = (buffered_t *)channel;
  /* Before MPI accesses the buffers, this run's pack and the previous run's unpack must be done. */
  if (uses_events(s)) {
    MG_TRY(s->src->queue.event_wait());
  } else {
    if (s->n_send > 0) MG_TRY(wait_for(s->src));
    if (s->n_receive > 0) MG_TRY(wait_for(s->dst));
  }
  MG_TRY(
      mg_messages_receive(s->requests, s->receive, s->n_receive, s->incoming, s->src->value_bytes));
  return mg_messages_send(s->requests, s->send, s->n_send, s->outgoing, s->src->value_bytes);
}

static mg_status_t buffered_unpack(mg_channel_t *channel, mg_vector_t dst) {
  buffered_t *s = (buffered_t *)channel;
  if (!s->nccl) MG_TRY(mg_requests_wait(s->requests));
  return s->unpack ? s->dst->copy(s->unpack, dst, dst) : MG_OK;
}

static mg_status_t nccl_start(mg_channel_t *channel, mg_vector_t src, mg_vector_t dst) {
  buffered_t *s = (buffered_t *)channel;
  MG_TRY(buffered_start(channel, src, dst));
  return s->src->device->nccl->exchange(s->nccl, s->receive, s->n_receive, s->incoming, s->send,
                                        s->n_send, s->outgoing, s->src->value_bytes);
}

static mg_status_t copy_messages(const mg_message_t *from, int n, mg_message_t **to) {
  MG_TRY(mg_new(to, n, "message lists"));
  for (int m = 0; m < n; m++)
    (*to)[m] = from[m];
  return MG_OK;
}

static mg_status_t set_up(buffered_t *s, const mg_channel_job_t *p) {
  s->n_send = p->n_send;
  s->n_receive = p->n_receive;
  MG_TRY(copy_messages(p->send, p->n_send, &s->send));
  MG_TRY(copy_messages(p->receive, p->n_receive, &s->receive));
  s->send_bytes = p->send_values * p->src->value_bytes;
  s->receive_bytes = p->receive_values * p->dst->value_bytes;
  s->channel.bytes = s->send_bytes + s->receive_bytes;
  MG_TRY(alloc_buffer(p->src, s->space, s->send_bytes, &s->outgoing));
  MG_TRY(alloc_buffer(p->dst, s->space, s->receive_bytes, &s->incoming));
  MG_TRY(mg_channel_prepare_copies(p, true, s->outgoing, &s->pack));
  MG_TRY(mg_channel_prepare_copies(p, false, s->incoming, &s->unpack));
  return mg_requests_create(p->n_send + p->n_receive, &s->requests);
}

mg_status_t mg_channel_buffered(mg_transport_t transport, const mg_channel_job_t *job,
                                mg_channel_t **out) {
  buffered_t *s;
  *out = NULL;
  MG_TRY(mg_new(&s, 1, "message channels"));
  s->channel = (mg_channel_t){.start = buffered_start,
                              .post = mpi_post,
                              .unpack = buffered_unpack,
                              .destroy = buffered_destroy};
  if (transport == MG_TRANSPORT_NCCL) {
    s->nccl = mg_transports_nccl(job->transports);
    s->channel.start = nccl_start;
    s->channel.post = NULL;
  }
  s->src = job->src;
  s->dst = job->dst;
  s->space = transport == MG_TRANSPORT_HOST ? MG_SPACE_SHARED : MG_SPACE_LEVEL;
  const mg_status_t status = set_up(s, job);
  if (status != MG_OK) {
    buffered_destroy(&s->channel);
    return status;
  }
  *out = &s->channel;
  return MG_OK;
}
