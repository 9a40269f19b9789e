/* What the channels of all transports share. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#include "transport/transport_wings.h"
#endif
#include "transport/transport_impl.h"
#include "wings.h"

mg_status_t mg_channel_prepare_copies(const mg_channel_job_t *p, bool sending, void *buffer,
                                      mg_copies_t **out) {
  const mg_copy_list_t *list = sending ? &p->pack : &p->unpack;
  const mg_view_t *view = sending ? p->src_view : p->dst_view;
  const mg_copy_job_t job = {view, view, buffer, list->item, list->n};
  if (list->n == 0) return MG_OK;
  return (sending ? p->src : p->dst)->prepare_copies(&job, out);
}

static mg_status_t channel_of(mg_transport_t transport, const mg_channel_job_t *job,
                              mg_channel_t **out) {
#ifdef HAVE_CUDA
  MG_IF_EXCHANGE(if (transport == MG_TRANSPORT_PEER) return mg_channel_peer(job, out));
#endif
  return mg_channel_buffered(transport, job, out);
}

mg_status_t mg_channel_create(mg_transport_t transport, const mg_channel_job_t *job,
                              mg_channel_t **out) {
  MG_TRY(channel_of(transport, job, out));
  (*out)->messages = job->n_send;
  (*out)->bytes_sent = job->send_values * job->src->value_bytes;
  return MG_OK;
}
