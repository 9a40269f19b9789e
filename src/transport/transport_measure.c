/* Measure message time: each rank sends one message to the next in a ring. */
#include "base/log.h"
#include "base/timers.h"
#include "transport/transport_impl.h"
#include "transport/transport_wings.h"

/* A patch of one vector without ghosts, sent whole as one message. */
typedef struct {
  mg_patch_t patch;
  mg_view_t view;
  mg_copy_t out, in;
  mg_message_t send, receive;
  mg_channel_job_t job;
} ring_t;

static void set_ring(ring_t *r, mg_transports_t *transports, double *memory, int64_t doubles) {
  const int rank = mg_comm_rank(mg_comm_world()), size = mg_comm_size(mg_comm_world());
  const mg_backend_t *backend = &mg_backend_cuda;
  *r = (ring_t){.patch = {.n = {(int32_t)doubles, 1, 1}, .jstride = doubles, .kstride = doubles}};
  r->patch.vec[0] = memory;
  r->view = (mg_view_t){.patch = &r->patch, .n_patches = 1, .cells = doubles};
  r->out = (mg_copy_t){.dst_patch = -1, .n = {(int32_t)doubles, 1, 1}};
  r->in = (mg_copy_t){.src_patch = -1, .n = {(int32_t)doubles, 1, 1}};
  r->send = (mg_message_t){(rank + 1) % size, 0, doubles};
  r->receive = (mg_message_t){(rank + size - 1) % size, 0, doubles};
  r->job = (mg_channel_job_t){.src = backend,
                              .dst = backend,
                              .src_view = &r->view,
                              .dst_view = &r->view,
                              .pack = {&r->out, 1, 1},
                              .unpack = {&r->in, 1, 1},
                              .send = &r->send,
                              .receive = &r->receive,
                              .n_send = 1,
                              .n_receive = 1,
                              .send_values = doubles,
                              .receive_values = doubles,
                              .transports = transports};
}

static mg_status_t send_around(mg_channel_t *c, int times) {
  for (int n = 0; n < times; n++) {
    if (c->run) {
      MG_TRY(c->run(c, &(mg_vector_t){0}, &(mg_vector_t){0}, 1, false));
      continue;
    }
    MG_TRY(c->start(c, 0, 0));
    if (c->post) MG_TRY(c->post(c));
    MG_TRY(c->unpack(c, 0));
  }
  return mg_backend_cuda.queue.wait();
}

static mg_status_t time_ring(mg_channel_t *c, int times, double *seconds) {
  enum { WARM = 3 };
  MG_TRY(send_around(c, WARM));
  MG_TRY(mg_comm_barrier(mg_comm_world()));
  const double start = mg_now();
  MG_TRY(send_around(c, times));
  *seconds = (mg_now() - start) / times;
  return MG_OK;
}

mg_status_t mg_transport_measure(mg_transport_t transport, mg_transports_t *transports,
                                 int64_t doubles, int times, double *seconds) {
  const size_t bytes = (size_t)doubles * sizeof(double);
  ring_t ring;
  void *memory = NULL;
  mg_channel_t *channel = NULL;
  *seconds = 0.0;
  mg_status_t status = mg_backend_cuda.alloc(bytes, MG_SPACE_LEVEL, &memory);
  status = mg_comm_agree(status);
  if (status == MG_OK) {
    set_ring(&ring, transports, memory, doubles);
    status = mg_comm_agree_or_end(mg_channel_create(transport, &ring.job, &channel));
  }
  if (status == MG_OK) status = mg_comm_agree_or_end(time_ring(channel, times, seconds));
  if (channel) channel->destroy(channel);
  if (memory) mg_backend_cuda.release(memory, bytes, MG_SPACE_LEVEL);
  return status == MG_OK ? mg_comm_max(mg_comm_world(), seconds, 1) : status;
}
