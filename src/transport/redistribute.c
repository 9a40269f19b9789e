#include "transport/redistribute.h"
#include "base/alloc.h"
#include "formulas/walls.h"
#include "transport/transport.h"
#include <stdlib.h>
#include <string.h>

enum { STAGE_DOUBLES = 1 << 19 };

static void release_pair(const mg_redistribution_t *r, int64_t doubles, double *pair[2]) {
  for (int e = 0; e < 2; e++) {
    if (pair[e]) r->backend->release(pair[e], (size_t)doubles * sizeof(double), MG_SPACE_SHARED);
    pair[e] = NULL;
  }
}

/* Memory is kept for later rounds, because pinning it on a device takes longer than a message. */
static mg_status_t reserve_pair(const mg_redistribution_t *r, int64_t least, int64_t *doubles,
                                double *pair[2]) {
  if (least <= *doubles) return MG_OK;
  release_pair(r, *doubles, pair);
  *doubles = 0;
  mg_status_t status = MG_OK;
  for (int e = 0; status == MG_OK && e < 2; e++) {
    void *memory;
    status = r->backend->alloc((size_t)least * sizeof(double), MG_SPACE_SHARED, &memory);
    if (status == MG_OK) pair[e] = memory;
  }
  if (status == MG_OK)
    *doubles = least;
  else
    release_pair(r, least, pair);
  return status;
}

mg_status_t mg_redistribution_create(int n, mg_redistribution_t *r) {
  const int ranks = mg_comm_size(mg_comm_world());
  MG_TRY(mg_new(&r->cuboid, n, "cuboids of ranks"));
  MG_TRY(mg_new(&r->first, ranks + 1, "cuboids of ranks"));
  MG_TRY(mg_requests_create(2 * ranks, &r->requests));
  if (!r->backend->queue.wait || r->is_shared) return MG_OK;
  const int32_t row = r->view->n[0] + 1; /* a stage holds whole rows */
  return reserve_pair(r, row > STAGE_DOUBLES ? row : STAGE_DOUBLES, &r->stage_doubles, r->stage);
}

void mg_redistribution_free(mg_redistribution_t *r) {
  if (r->held && r->backend->queue.wait) (void)r->backend->queue.wait();
  release_pair(r, r->message_doubles, r->message);
  release_pair(r, r->stage_doubles, r->stage);
  mg_requests_free(r->requests);
  mg_copy_plan_free(&r->plan);
  free(r->cuboid), free(r->first);
}

mg_status_t mg_redistribution_plan(mg_redistribution_t *r) {
  const mg_view_t *v = r->view;
  const mg_distribution_t patches = {.layout = r->layout},
                          arrays = {.layout = r->layout, .cuboid = r->cuboid, .first = r->first};
  const mg_copy_spec_t spec = {
      .src = r->storing ? arrays : patches,
      .dst = r->storing ? patches : arrays,
      .interior = true,
      .face_dir = r->face_dir,
      .periodic = {mg_is_periodic(v, 0), mg_is_periodic(v, 1), mg_is_periodic(v, 2)}};
  mg_copy_plan_free(&r->plan);
  return mg_copy_plan_build(&spec, mg_comm_rank(mg_comm_world()), &r->plan);
}

static mg_held_t in_buffer(double *x, const int32_t n[3]) {
  return (mg_held_t){{x, {1, n[0], (ptrdiff_t)n[0] * n[1]}}, false};
}

static mg_held_t offset(mg_held_t h, const int32_t lo[3]) {
  for (int d = 0; h.at.x && d < 3; d++)
    h.at.x += lo[d] * h.at.stride[d];
  return h;
}

/* One end of a copy: a buffer, an array or a patch. */
static mg_held_t end_of(const mg_redistribution_t *r, double *buffer, const mg_copy_t *c,
                        bool source) {
  const int32_t patch = source ? c->src_patch : c->dst_patch, *lo = source ? c->src_lo : c->dst_lo;
  if (patch < 0) return in_buffer(buffer + c->buffer, c->n);
  if (source == r->storing) return offset(r->held[patch], lo);
  const mg_patch_t *p = &r->view->patch[patch];
  const mg_strided_t cells = {p->vec[r->vec], {1, p->jstride, p->kstride}};
  return offset((mg_held_t){cells, r->backend->queue.wait != NULL}, lo);
}

static mg_status_t copy(const mg_redistribution_t *r, const int32_t n[3], const mg_held_t *from,
                        const mg_held_t *to) {
  const mg_backend_t *backend = r->backend;
  if (backend->queue.wait && !from->on_device && !to->on_device) backend = &mg_backend_cpu;
  return backend->arrays->copy(n, &from->at, &to->at);
}

/* Copy between host memory and the device through two stages: while the device copies one, the host
 * copies the other. */
static mg_status_t copy_staged(const mg_redistribution_t *r, const int32_t n[3],
                               const mg_held_t *from, const mg_held_t *to) {
  const mg_backend_t *backend = r->backend;
  const int64_t rows = r->stage_doubles / n[0], planes = rows / n[1];
  const int32_t nj = planes > 0 ? n[1] : (int32_t)rows, nk = planes > 0 ? (int32_t)planes : 1;
  int32_t last[3] = {0};
  mg_held_t last_to = *to;
  int s = 0;
  for (int32_t k = 0; k < n[2]; k += nk)
    for (int32_t j = 0; j < n[1]; j += nj, s = !s) {
      const int32_t lo[3] = {0, j, k},
                    part[3] = {n[0], j + nj > n[1] ? n[1] - j : nj, k + nk > n[2] ? n[2] - k : nk};
      const mg_held_t x = offset(*from, lo), y = offset(*to, lo),
                      stage = in_buffer(r->stage[s], part);
      if (to->on_device) MG_TRY(copy(r, part, &x, &stage));
      if (last[0] > 0) MG_TRY(backend->queue.event_wait()); /* for the other stage */
      MG_TRY(to->on_device ? copy(r, part, &stage, &y) : copy(r, part, &x, &stage));
      MG_TRY(backend->queue.event_record());
      const mg_held_t other = in_buffer(r->stage[!s], last);
      if (!to->on_device && last[0] > 0) MG_TRY(copy(r, last, &other, &last_to));
      memcpy(last, part, sizeof last);
      last_to = y;
    }
  MG_TRY(backend->queue.wait());
  const mg_held_t other = in_buffer(r->stage[!s], last);
  return to->on_device ? MG_OK : copy(r, last, &other, &last_to);
}

/* Run the copies of a list. Messages are in memory that both access. */
static mg_status_t copy_all(const mg_redistribution_t *r, const mg_copy_list_t *list,
                            double *message) {
  for (int n = 0; n < list->n; n++) {
    const mg_copy_t *c = &list->item[n];
    const mg_held_t from = end_of(r, message, c, true), to = end_of(r, message, c, false);
    if (!from.at.x || !to.at.x) continue;
    const bool staged = r->stage[0] && !message && from.on_device != to.on_device;
    MG_TRY(staged ? copy_staged(r, c->n, &from, &to) : copy(r, c->n, &from, &to));
  }
  return MG_OK;
}

/* Does the host use what the device has copied, or release it? */
static bool waits(const mg_redistribution_t *r) {
  return r->backend->queue.wait && (r->is_shared || r->plan.n_send + r->plan.n_receive > 0);
}

static mg_status_t start(mg_redistribution_t *r) {
  const mg_copy_plan_t *p = &r->plan;
  MG_TRY(mg_redistribution_plan(r));
  MG_TRY(reserve_pair(r, p->send_values > p->receive_values ? p->send_values : p->receive_values,
                      &r->message_doubles, r->message));
  MG_TRY(copy_all(r, &p->local, NULL));
  MG_TRY(copy_all(r, &p->pack, r->message[0]));
  return waits(r) ? r->backend->queue.event_record() : MG_OK;
}

mg_status_t mg_redistribution_begin(mg_redistribution_t *r, const mg_held_t *held,
                                    mg_vector_t vec) {
  r->held = held;
  r->vec = vec;
  return mg_comm_agree(start(r));
}

mg_status_t mg_redistribution_finish(mg_redistribution_t *r) {
  const mg_copy_plan_t *p = &r->plan;
  const int bytes = sizeof(double);
  if (waits(r)) MG_TRY(r->backend->queue.event_wait());
  MG_TRY(mg_messages_receive(r->requests, p->receive, p->n_receive, r->message[1], bytes));
  MG_TRY(mg_messages_send(r->requests, p->send, p->n_send, r->message[0], bytes));
  MG_TRY(mg_requests_wait(r->requests));
  MG_TRY(copy_all(r, &p->unpack, r->message[1]));
  if (waits(r)) MG_TRY(r->backend->queue.wait());
  r->held = NULL;
  return MG_OK;
}
