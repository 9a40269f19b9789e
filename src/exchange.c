#include "exchange.h"
#include "log.h"
#include <stdlib.h>

struct mg_exchange {
  mg_copyplan_t plan;
  mg_end_t src, dst;
  double *send, *receive, *crossing;
  int64_t crossing_doubles; /* local copies between two backends go through memory of both */
  mg_copies_t *pack, *unpack;
  mg_copies_t *local, *enter; /* source to destination, or to the crossing and from there */
  mg_requests_t *requests;
};

static mg_status_t alloc_buffer(const mg_backend_t *backend, int64_t doubles, double **out) {
  void *memory = NULL;
  *out = NULL;
  if (doubles == 0) return MG_OK;
  MG_TRY(backend->alloc((size_t)doubles * sizeof(double), MG_SPACE_SHARED, &memory));
  *out = memory;
  return MG_OK;
}

static void release_buffer(const mg_backend_t *backend, int64_t doubles, double *buffer) {
  if (buffer) backend->release(buffer, (size_t)doubles * sizeof(double), MG_SPACE_SHARED);
}

static void number_crossing(mg_exchange_t *e) {
  for (int c = 0; c < e->plan.local.n; c++) {
    mg_copy_t *copy = &e->plan.local.item[c];
    copy->buffer = e->crossing_doubles;
    e->crossing_doubles += (int64_t)copy->n[0] * copy->n[1] * copy->n[2];
  }
}

/* Any memory is within the host's reach, not within a device's: its shared memory serves both. */
static const mg_backend_t *crossing_backend(const mg_exchange_t *e) {
  return e->src.backend->wait ? e->src.backend : e->dst.backend;
}

static mg_status_t prepare(const mg_end_t *end, const mg_view_t *src, const mg_view_t *dst,
                           double *buffer, const mg_copy_list_t *list, mg_copies_t **out) {
  const mg_copy_job_t job = {src, dst, buffer, list->item, list->n};
  return list->n > 0 ? end->backend->prepare_copies(&job, out) : MG_OK;
}

/* Local copies name a patch on both sides; through the crossing, one of the two is the buffer. */
static mg_status_t prepare_crossing(mg_exchange_t *e) {
  mg_copy_list_t half = e->plan.local;
  if (half.n == 0) return MG_OK;
  half.item = malloc((size_t)half.n * sizeof *half.item);
  if (!half.item) return MG_ERR_MEMORY;
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

static mg_status_t prepare_all(mg_exchange_t *e) {
  const mg_view_t *src = e->src.view, *dst = e->dst.view;
  MG_TRY(prepare(&e->src, src, src, e->send, &e->plan.pack, &e->pack));
  MG_TRY(prepare(&e->dst, dst, dst, e->receive, &e->plan.unpack, &e->unpack));
  if (e->crossing) return prepare_crossing(e);
  return prepare(&e->src, src, dst, NULL, &e->plan.local, &e->local);
}

mg_status_t mg_exchange_create(const mg_copy_spec_t *spec, mg_end_t src, mg_end_t dst,
                               mg_exchange_t **out) {
  mg_exchange_t *e = calloc(1, sizeof *e);
  *out = NULL;
  if (!e) return mg_error(MG_ERR_MEMORY, "no memory for an exchange plan");
  e->src = src;
  e->dst = dst;
  mg_status_t status = mg_copyplan_build(spec, mg_comm_rank(mg_comm_world()), &e->plan);
  if (status == MG_OK && src.backend != dst.backend) number_crossing(e);
  if (status == MG_OK) status = alloc_buffer(src.backend, e->plan.send_doubles, &e->send);
  if (status == MG_OK) status = alloc_buffer(dst.backend, e->plan.receive_doubles, &e->receive);
  if (status == MG_OK)
    status = alloc_buffer(crossing_backend(e), e->crossing_doubles, &e->crossing);
  if (status == MG_OK) status = prepare_all(e);
  if (status == MG_OK)
    status = mg_requests_create(e->plan.n_send + e->plan.n_receive, &e->requests);
  if (status != MG_OK) {
    mg_exchange_free(e);
    return mg_error(status, "no memory for the buffers of a halo exchange");
  }
  *out = e;
  return MG_OK;
}

void mg_exchange_free(mg_exchange_t *e) {
  if (!e) return;
  e->src.backend->release_copies(e->pack);
  e->src.backend->release_copies(e->local);
  e->dst.backend->release_copies(e->enter);
  e->dst.backend->release_copies(e->unpack);
  release_buffer(e->src.backend, e->plan.send_doubles, e->send);
  release_buffer(e->dst.backend, e->plan.receive_doubles, e->receive);
  release_buffer(crossing_backend(e), e->crossing_doubles, e->crossing);
  mg_requests_free(e->requests);
  mg_copyplan_free(&e->plan);
  free(e);
}

int64_t mg_exchange_bytes(const mg_exchange_t *e) {
  if (!e) return 0;
  return (e->plan.send_doubles + e->plan.receive_doubles + e->crossing_doubles) *
         (int64_t)sizeof(double);
}

static mg_status_t wait_for(const mg_backend_t *backend) {
  return backend->wait ? backend->wait() : MG_OK;
}

static mg_status_t copy(const mg_backend_t *backend, const mg_copies_t *copies, int src, int dst) {
  return copies ? backend->copy(copies, src, dst) : MG_OK;
}

/* Copies within this rank, through the crossing buffer when two backends are involved. */
static mg_status_t copy_local(mg_exchange_t *e, int src, int dst) {
  /* The last run's cells may not have left the crossing yet. */
  if (e->crossing) MG_TRY(wait_for(e->dst.backend));
  MG_TRY(copy(e->src.backend, e->local, src, dst));
  if (!e->crossing) return MG_OK;
  MG_TRY(wait_for(e->src.backend));
  return copy(e->dst.backend, e->enter, src, dst);
}

mg_status_t mg_exchange_run(mg_exchange_t *e, int src, int dst) {
  const mg_copyplan_t *p = &e->plan;
  MG_TRY(copy(e->src.backend, e->pack, src, src));
  /* Before the host touches message buffers: this run's pack is done, and the last one's unpack. */
  if (p->n_send > 0) MG_TRY(wait_for(e->src.backend));
  if (p->n_receive > 0) MG_TRY(wait_for(e->dst.backend));
  for (int m = 0; m < p->n_receive; m++)
    MG_TRY(mg_comm_receive(e->requests, p->receive[m].rank, e->receive + p->receive[m].offset,
                           p->receive[m].count));
  for (int m = 0; m < p->n_send; m++)
    MG_TRY(
        mg_comm_send(e->requests, p->send[m].rank, e->send + p->send[m].offset, p->send[m].count));
  MG_TRY(copy_local(e, src, dst));
  if (p->n_send + p->n_receive > 0) MG_TRY(mg_requests_wait(e->requests));
  return copy(e->dst.backend, e->unpack, dst, dst);
}
