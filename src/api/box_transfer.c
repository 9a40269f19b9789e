#include "api/box_lists.h"
#include "api/boxes.h"
#include "base/alloc.h"
#include "transport/transport.h"
#include <stdlib.h>
#include <string.h>

/* A copy plan between the boxes and the level's patches, for arrays of any strides. Cells that pass
 * between ranks travel in rounds of a few planes of the grid. */

/* Values of a vector on their way between arrays and patches, in a round. */
typedef struct {
  mg_boxes_t *b;
  const hpgmg_array_t *array;
  int part; /* direction of faces, MG_CELLS or mg_cells_at */
  mg_vector_t vec;
  bool storing;
  mg_cuboid_t *cells; /* of all boxes */
  mg_copy_plan_t plan;
} transfer_t;

/* The place of a copy in an array, a patch or a buffer. */
typedef struct {
  mg_strided_t at;
  bool on_device; /* only the backend accesses it */
} side_t;

static mg_strided_t strided(double *x, const ptrdiff_t stride[3], const int32_t lo[3]) {
  mg_strided_t s = {x, {stride[0], stride[1], stride[2]}};
  for (int d = 0; d < 3; d++)
    s.x += lo[d] * stride[d];
  return s;
}

static side_t in_buffer(double *x, const mg_copy_t *c) {
  return (side_t){{x, {1, c->n[0], (ptrdiff_t)c->n[0] * c->n[1]}}, false};
}

static int box_of(const transfer_t *t, const mg_copy_t *c) {
  return t->storing ? c->src_patch : c->dst_patch;
}

static side_t in_array(const transfer_t *t, const mg_copy_t *c) {
  const int box = box_of(t, c), n = t->b->first[t->b->me] + box;
  const hpgmg_array_t *a = &t->array[box];
  const mg_cuboid_t all = mg_boxes_cells(t->b, &t->b->box[n], t->part);
  int32_t lo[3];
  for (int d = 0; d < 3; d++)
    lo[d] = (t->storing ? c->src_lo : c->dst_lo)[d] + t->cells[n].lo[d] - all.lo[d];
  return (side_t){strided(a->data, a->stride, lo), mg_boxes_on_device(t->b, a)};
}

static side_t in_patch(const transfer_t *t, const mg_copy_t *c) {
  const mg_patch_t *p = &t->b->level->store.view.patch[t->storing ? c->dst_patch : c->src_patch];
  const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
  return (side_t){strided(p->vec[t->vec], stride, t->storing ? c->dst_lo : c->src_lo),
                  t->b->level->backend->queue.wait != NULL};
}

static mg_status_t copy(const transfer_t *t, const int32_t n[3], const side_t *from,
                        const side_t *to) {
  const mg_backend_t *backend = t->b->level->backend;
  if (backend->queue.wait && !from->on_device && !to->on_device) backend = &mg_backend_cpu;
  return backend->arrays->copy(n, &from->at, &to->at);
}

/* Copy between host memory and the device through two stages: while the device copies one, the host
 * copies the other. */
static mg_status_t copy_staged(const transfer_t *t, const mg_copy_t *all) {
  const mg_backend_t *backend = t->b->level->backend;
  const int64_t rows = t->b->stage_doubles / all->n[0], planes = rows / all->n[1];
  const int32_t nj = planes > 0 ? all->n[1] : (int32_t)rows, nk = planes > 0 ? (int32_t)planes : 1;
  mg_copy_t last = {.n = {0, 0, 0}};
  int s = 0;
  for (int32_t k = 0; k < all->n[2]; k += nk)
    for (int32_t j = 0; j < all->n[1]; j += nj, s = !s) {
      mg_copy_t c = *all;
      c.src_lo[1] += j, c.dst_lo[1] += j;
      c.src_lo[2] += k, c.dst_lo[2] += k;
      c.n[1] = j + nj > all->n[1] ? all->n[1] - j : nj;
      c.n[2] = k + nk > all->n[2] ? all->n[2] - k : nk;
      const side_t host = in_array(t, &c), device = in_patch(t, &c),
                   stage = in_buffer(t->b->stage[s], &c);
      if (t->storing) MG_TRY(copy(t, c.n, &host, &stage));
      if (last.n[0] > 0) MG_TRY(backend->queue.event_wait()); /* for the other stage */
      MG_TRY(t->storing ? copy(t, c.n, &stage, &device) : copy(t, c.n, &device, &stage));
      MG_TRY(backend->queue.event_record());
      if (!t->storing && last.n[0] > 0) {
        const side_t to = in_array(t, &last), from = in_buffer(t->b->stage[!s], &last);
        MG_TRY(copy(t, last.n, &from, &to));
      }
      last = c;
    }
  MG_TRY(backend->queue.wait());
  if (t->storing) return MG_OK;
  const side_t to = in_array(t, &last), from = in_buffer(t->b->stage[!s], &last);
  return copy(t, last.n, &from, &to);
}

/* Is the array the vector itself? */
static bool is_storage(const transfer_t *t, const mg_copy_t *c) {
  const hpgmg_array_t *a = &t->array[box_of(t, c)],
                      own = mg_boxes_storage(t->b, box_of(t, c), t->vec);
  return t->part == MG_CELLS && a->data == own.data &&
         memcmp(a->stride, own.stride, sizeof own.stride) == 0;
}

static mg_status_t copy_own(const transfer_t *t) {
  for (int n = 0; n < t->plan.local.n; n++) {
    const mg_copy_t *c = &t->plan.local.item[n];
    if (is_storage(t, c)) continue;
    const side_t array = in_array(t, c), patch = in_patch(t, c);
    if (patch.on_device && !array.on_device)
      MG_TRY(copy_staged(t, c));
    else
      MG_TRY(t->storing ? copy(t, c->n, &array, &patch) : copy(t, c->n, &patch, &array));
  }
  return MG_OK;
}

/* Copy between messages and arrays or patches, and wait. */
static mg_status_t copy_messages(const transfer_t *t, bool packing) {
  const mg_backend_t *backend = t->b->level->backend;
  const mg_copy_list_t *list = packing ? &t->plan.pack : &t->plan.unpack;
  for (int n = 0; n < list->n; n++) {
    const mg_copy_t *c = &list->item[n];
    const side_t message = in_buffer(t->b->message[!packing] + c->buffer, c);
    const side_t other = packing == t->storing ? in_array(t, c) : in_patch(t, c);
    MG_TRY(packing ? copy(t, c->n, &other, &message) : copy(t, c->n, &message, &other));
  }
  return backend->queue.wait ? backend->queue.wait() : MG_OK;
}

static mg_status_t exchange(const transfer_t *t) {
  mg_requests_t *requests = t->b->requests;
  const mg_copy_plan_t *p = &t->plan;
  double *const *message = t->b->message;
  const int bytes = sizeof **message;
  MG_TRY(mg_messages_receive(requests, p->receive, p->n_receive, message[1], bytes));
  MG_TRY(copy_messages(t, true));
  MG_TRY(mg_messages_send(requests, p->send, p->n_send, message[0], bytes));
  MG_TRY(mg_requests_wait(requests));
  return copy_messages(t, false);
}

static mg_status_t plan_round(transfer_t *t, const int32_t planes[2]) {
  mg_copy_plan_t *p = &t->plan;
  mg_copy_plan_free(p);
  MG_TRY(mg_boxes_plan(t->b, t->part, planes, t->storing, t->cells, p));
  return mg_boxes_reserve(t->b,
                          p->send_values > p->receive_values ? p->send_values : p->receive_values);
}

static mg_status_t move(transfer_t t) {
  const int32_t n = mg_boxes_grid(t.b)[2];
  int32_t planes[2] = {0, 0};
  mg_status_t status = mg_comm_agree(mg_new(&t.cells, t.b->n, "parts of boxes"));
  for (; status == MG_OK && planes[0] < n; planes[0] = planes[1]) {
    planes[1] = n - planes[0] < t.b->planes ? n : planes[0] + t.b->planes;
    status = mg_comm_agree(plan_round(&t, planes));
    if (status == MG_OK) status = copy_own(&t);
    if (status == MG_OK && !t.b->is_local) status = exchange(&t);
  }
  mg_copy_plan_free(&t.plan);
  free(t.cells);
  return status;
}

mg_status_t mg_boxes_store(mg_boxes_t *b, const hpgmg_array_t *array, int part, mg_vector_t vec) {
  return move((transfer_t){.b = b, .array = array, .part = part, .vec = vec, .storing = true});
}

mg_status_t mg_boxes_fetch(mg_boxes_t *b, mg_vector_t vec, const hpgmg_array_t *array) {
  return move((transfer_t){.b = b, .array = array, .part = MG_CELLS, .vec = vec});
}
