#include "exchange.h"
#include "log.h"
#include <stdlib.h>

struct mg_exchange {
  mg_copyplan_t plan;
  mg_end_t src, dst;
  double *send, *receive, *crossing;
  int64_t crossing_doubles; /* local copies between two backends go through memory of both */
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
  if (status == MG_OK) status = alloc_buffer(src.backend, e->crossing_doubles, &e->crossing);
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
  release_buffer(e->src.backend, e->plan.send_doubles, e->send);
  release_buffer(e->dst.backend, e->plan.receive_doubles, e->receive);
  release_buffer(e->src.backend, e->crossing_doubles, e->crossing);
  mg_requests_free(e->requests);
  mg_copyplan_free(&e->plan);
  free(e);
}

int64_t mg_exchange_bytes(const mg_exchange_t *e) {
  if (!e) return 0;
  return (e->plan.send_doubles + e->plan.receive_doubles + e->crossing_doubles) *
         (int64_t)sizeof(double);
}

/* Copies within this rank, through the crossing buffer when two backends are involved. */
static mg_status_t copy_local(mg_exchange_t *e, int src, int dst) {
  const mg_copy_list_t *local = &e->plan.local;
  if (local->n == 0) return MG_OK;
  if (!e->crossing)
    return e->src.backend->copy(e->src.view, src, e->dst.view, dst, NULL, local->item, local->n);
  for (int side = 0; side < 2; side++) {
    const mg_backend_t *backend = side == 0 ? e->src.backend : e->dst.backend;
    for (int c = 0; c < local->n; c++) {
      mg_copy_t copy = local->item[c];
      *(side == 0 ? &copy.dst_patch : &copy.src_patch) = -1;
      const mg_view_t *view = side == 0 ? e->src.view : e->dst.view;
      MG_TRY(backend->copy(view, src, view, dst, e->crossing, &copy, 1));
    }
  }
  return MG_OK;
}

mg_status_t mg_exchange_run(mg_exchange_t *e, int src, int dst) {
  const mg_copyplan_t *p = &e->plan;
  for (int m = 0; m < p->n_receive; m++)
    MG_TRY(mg_comm_receive(e->requests, p->receive[m].rank, e->receive + p->receive[m].offset,
                           p->receive[m].count));
  if (p->pack.n > 0)
    MG_TRY(
        e->src.backend->copy(e->src.view, src, e->src.view, src, e->send, p->pack.item, p->pack.n));
  for (int m = 0; m < p->n_send; m++)
    MG_TRY(
        mg_comm_send(e->requests, p->send[m].rank, e->send + p->send[m].offset, p->send[m].count));
  MG_TRY(copy_local(e, src, dst));
  if (p->n_send + p->n_receive > 0) MG_TRY(mg_requests_wait(e->requests));
  if (p->unpack.n > 0)
    MG_TRY(e->dst.backend->copy(e->dst.view, dst, e->dst.view, dst, e->receive, p->unpack.item,
                                p->unpack.n));
  return MG_OK;
}
