#include "api/box_lists.h"
#include "api/boxes.h"
#include "base/alloc.h"
#include "formulas/walls.h"
#include <stdlib.h>
#include <string.h>

/* Cells that a box of one rank and a patch of the level on another have in common travel in
 * messages, in rounds of a few planes of the grid; those of the same rank are copied. */

enum { MESSAGE_DOUBLES = 1 << 20 };

/* What a box and a patch have in common. */
typedef struct {
  int rank, box, patch; /* rank: of the one that is not this rank's; numbers in the lists */
  mg_cuboid_t cells;
} part_t;

/* --- parts ---------------------------------------------------------------------------------------
 */

/* Values of a vector on their way between arrays and patches. */
typedef struct {
  mg_boxes_t *b;
  const hpgmg_array_t *array;
  int part_of; /* direction of faces, MG_CELLS or mg_cells_at */
  mg_vector_t vec;
  bool storing;
  part_t *part; /* of this rank's boxes and any patch, then of its patches and others' boxes */
  int n_boxed, n_parts;
  int32_t planes; /* of a round */
} transfer_t;

/* Cells, or faces: those at the upper side of the grid belong to the last cell. */
static mg_cuboid_t elements(const transfer_t *t, const mg_held_t *held) {
  mg_cuboid_t c = held->cells;
  const int d = t->part_of;
  if (d >= mg_cells_at(0, 0)) return mg_boxes_at_side(t->b, &c, d);
  const bool last = d != MG_CELLS && mg_volume(c.n) > 0 &&
                    c.lo[d] + c.n[d] == mg_boxes_grid(t->b)[d] &&
                    !mg_is_periodic(&t->b->level->store.view, d);
  if (last) c.n[d]++;
  return c;
}

/* List the parts of the patches [patch, patch_end) and boxes [box, box_end); count them if there
 * is no list. */
static void list_common(transfer_t *t, int rank, const int patch[2], const int box[2]) {
  for (int p = patch[0]; p < patch[1]; p++) {
    const mg_cuboid_t of_patch = elements(t, &t->b->patch.item[p]);
    for (int q = box[0]; q < box[1]; q++) {
      const mg_cuboid_t of_box = elements(t, &t->b->box.item[q]),
                        both = mg_cuboid_common(&of_patch, &of_box);
      if (mg_volume(both.n) == 0) continue;
      if (t->part) t->part[t->n_parts] = (part_t){rank, q, p, both};
      t->n_parts++;
    }
  }
}

static void list_all(transfer_t *t) {
  const mg_boxes_t *b = t->b;
  const int *patch = b->patch.first, *box = b->box.first;
  t->n_parts = 0;
  for (int rank = 0; rank < b->ranks; rank++)
    list_common(t, rank, &patch[rank], &box[b->me]);
  t->n_boxed = t->n_parts;
  for (int rank = 0; rank < b->ranks; rank++)
    if (rank != b->me) list_common(t, rank, &patch[b->me], &box[rank]);
}

static mg_status_t list_parts(transfer_t *t) {
  list_all(t);
  MG_TRY(mg_new(&t->part, t->n_parts, "parts of boxes"));
  list_all(t);
  return MG_OK;
}

/* --- copies --------------------------------------------------------------------------------------
 */

/* The place of a part in an array, a patch or a message. */
typedef struct {
  mg_strided_t at;
  bool on_device; /* only the backend accesses it */
} side_t;

static mg_strided_t strided(double *x, const ptrdiff_t stride[3], const int32_t lo[3],
                            const mg_cuboid_t *part) {
  mg_strided_t s = {x, {stride[0], stride[1], stride[2]}};
  for (int d = 0; d < 3; d++)
    s.x += (part->lo[d] - lo[d]) * stride[d];
  return s;
}

static mg_strided_t dense(double *x, const mg_cuboid_t *part) {
  const ptrdiff_t row = part->n[0], stride[3] = {1, row, row * part->n[1]};
  return strided(x, stride, part->lo, part);
}

static side_t in_array(const transfer_t *t, const part_t *p, const mg_cuboid_t *cells) {
  const hpgmg_array_t *a = &t->array[p->box - t->b->box.first[t->b->me]];
  const mg_cuboid_t all = elements(t, &t->b->box.item[p->box]);
  return (side_t){strided(a->data, a->stride, all.lo, cells), mg_boxes_on_device(t->b, a)};
}

static side_t in_patch(const transfer_t *t, const part_t *p, const mg_cuboid_t *cells) {
  const mg_patch_t *patch = &t->b->level->store.view.patch[p->patch - t->b->patch.first[t->b->me]];
  const ptrdiff_t stride[3] = {1, patch->jstride, patch->kstride};
  return (side_t){strided(patch->vec[t->vec], stride, patch->lo, cells),
                  t->b->level->backend->queue.wait != NULL};
}

static mg_status_t copy(const transfer_t *t, const int32_t n[3], const side_t *from,
                        const side_t *to) {
  const mg_backend_t *backend = t->b->level->backend;
  if (backend->queue.wait && !from->on_device && !to->on_device) backend = &mg_backend_cpu;
  return backend->arrays.copy(n, &from->at, &to->at);
}

/* Copy between host memory and the device through two stages: while the device copies one, the host
 * copies the other. */
static mg_status_t copy_staged(const transfer_t *t, const part_t *p) {
  const mg_backend_t *backend = t->b->level->backend;
  const mg_cuboid_t *all = &p->cells;
  const int64_t rows = t->b->stage_doubles / all->n[0], planes = rows / all->n[1];
  const int32_t nj = planes > 0 ? all->n[1] : (int32_t)rows, nk = planes > 0 ? (int32_t)planes : 1;
  mg_cuboid_t last = {{0, 0, 0}, {0, 0, 0}};
  int s = 0;
  for (int32_t k = 0; k < all->n[2]; k += nk)
    for (int32_t j = 0; j < all->n[1]; j += nj, s = !s) {
      mg_cuboid_t c = {{all->lo[0], all->lo[1] + j, all->lo[2] + k}, {all->n[0], nj, nk}};
      if (j + nj > all->n[1]) c.n[1] = all->n[1] - j;
      if (k + nk > all->n[2]) c.n[2] = all->n[2] - k;
      const side_t host = in_array(t, p, &c), device = in_patch(t, p, &c),
                   stage = {dense(t->b->stage[s], &c), false};
      if (t->storing) MG_TRY(copy(t, c.n, &host, &stage));
      if (last.n[0] > 0) MG_TRY(backend->queue.event_wait()); /* for the other stage */
      MG_TRY(t->storing ? copy(t, c.n, &stage, &device) : copy(t, c.n, &device, &stage));
      MG_TRY(backend->queue.event_record());
      if (!t->storing && last.n[0] > 0) {
        const side_t to = in_array(t, p, &last), from = {dense(t->b->stage[!s], &last), false};
        MG_TRY(copy(t, last.n, &from, &to));
      }
      last = c;
    }
  MG_TRY(backend->queue.wait());
  if (t->storing) return MG_OK;
  const side_t to = in_array(t, p, &last), from = {dense(t->b->stage[!s], &last), false};
  return copy(t, last.n, &from, &to);
}

/* Is the array the vector itself? */
static bool is_storage(const transfer_t *t, const part_t *p) {
  const hpgmg_array_t *a = &t->array[p->box - t->b->box.first[t->b->me]],
                      own = mg_boxes_storage(t->b, p->box - t->b->box.first[t->b->me], t->vec);
  return t->part_of == MG_CELLS && a->data == own.data &&
         memcmp(a->stride, own.stride, sizeof own.stride) == 0;
}

static mg_status_t copy_own(const transfer_t *t) {
  for (int n = 0; n < t->n_boxed; n++) {
    const part_t *p = &t->part[n];
    if (p->rank != t->b->me || is_storage(t, p)) continue;
    const side_t array = in_array(t, p, &p->cells), patch = in_patch(t, p, &p->cells);
    if (patch.on_device && !array.on_device)
      MG_TRY(copy_staged(t, p));
    else
      MG_TRY(t->storing ? copy(t, p->cells.n, &array, &patch)
                        : copy(t, p->cells.n, &patch, &array));
  }
  return MG_OK;
}

/* --- messages ------------------------------------------------------------------------------------
 */

/* The parts of boxes, or of patches. */
typedef struct {
  const part_t *part;
  int n;
  double *buffer;
  bool boxed;
} end_t;

static end_t end_of(const transfer_t *t, bool boxed) {
  return boxed ? (end_t){t->part, t->n_boxed, t->b->message[0], true}
               : (end_t){t->part + t->n_boxed, t->n_parts - t->n_boxed, t->b->message[1], false};
}

/* What a round moves of a part; n[2] <= 0: nothing. */
static mg_cuboid_t in_round(const transfer_t *t, const part_t *p, int32_t first) {
  mg_cuboid_t c = p->cells;
  const int32_t end = c.lo[2] + c.n[2], after = first + t->planes;
  c.lo[2] = c.lo[2] > first ? c.lo[2] : first;
  c.n[2] = (end < after ? end : after) - c.lo[2];
  return c;
}

/* Start one message to or from each rank. */
static mg_status_t start_messages(const transfer_t *t, const end_t *e, int32_t first, bool sends) {
  double *start = e->buffer;
  for (int n = 0; n < e->n;) {
    const int rank = e->part[n].rank;
    int64_t count = 0;
    for (; n < e->n && e->part[n].rank == rank; n++) {
      const mg_cuboid_t c = in_round(t, &e->part[n], first);
      if (rank != t->b->me && c.n[2] > 0) count += mg_volume(c.n);
    }
    const int64_t bytes = count * (int64_t)sizeof *start;
    if (count > 0)
      MG_TRY(sends ? mg_comm_send(t->b->requests, rank, start, bytes)
                   : mg_comm_receive(t->b->requests, rank, start, bytes));
    start += count;
  }
  return MG_OK;
}

/* Copy between messages and arrays or patches, and wait. */
static mg_status_t copy_messages(const transfer_t *t, const end_t *e, int32_t first, bool packing) {
  const mg_backend_t *backend = t->b->level->backend;
  double *at = e->buffer;
  for (int n = 0; n < e->n; n++) {
    const part_t *p = &e->part[n];
    const mg_cuboid_t c = in_round(t, p, first);
    if (p->rank == t->b->me || c.n[2] <= 0) continue;
    const side_t message = {dense(at, &c), false};
    const side_t other = e->boxed ? in_array(t, p, &c) : in_patch(t, p, &c);
    MG_TRY(packing ? copy(t, c.n, &other, &message) : copy(t, c.n, &message, &other));
    at += mg_volume(c.n);
  }
  return backend->queue.wait ? backend->queue.wait() : MG_OK;
}

static mg_status_t exchange(const transfer_t *t, int32_t first) {
  const end_t from = end_of(t, t->storing), to = end_of(t, !t->storing);
  MG_TRY(start_messages(t, &to, first, false));
  MG_TRY(copy_messages(t, &from, first, true));
  MG_TRY(start_messages(t, &from, first, true));
  MG_TRY(mg_requests_wait(t->b->requests));
  return copy_messages(t, &to, first, false);
}

/* The largest number of elements of any plane in this rank's messages. */
static mg_status_t widest_plane(const transfer_t *t, int32_t planes, double *widest) {
  int64_t *cells;
  MG_TRY(mg_new(&cells, 2 * (int64_t)planes, "parts of boxes"));
  for (int n = 0; n < t->n_parts; n++) {
    const part_t *p = &t->part[n];
    for (int32_t k = 0; p->rank != t->b->me && k < p->cells.n[2]; k++)
      cells[(n < t->n_boxed ? 0 : planes) + p->cells.lo[2] + k] +=
          (int64_t)p->cells.n[0] * p->cells.n[1];
  }
  for (int32_t k = 0; k < 2 * planes; k++)
    *widest = (double)cells[k] > *widest ? (double)cells[k] : *widest;
  free(cells);
  return MG_OK;
}

/* Memory of messages is kept, because pinning it on a device takes longer than a message. */
static mg_status_t allocate_messages(mg_boxes_t *b, int64_t doubles) {
  if (doubles <= b->message_doubles) return MG_OK;
  mg_boxes_free_messages(b);
  b->message_doubles = doubles;
  for (int e = 0; e < 2; e++) {
    void *memory;
    MG_TRY(b->level->backend->alloc((size_t)doubles * sizeof(double), MG_SPACE_SHARED, &memory));
    b->message[e] = memory;
  }
  return MG_OK;
}

static mg_status_t exchange_all(transfer_t *t) {
  const int32_t planes = mg_boxes_grid(t->b)[2] + (t->part_of == 2);
  double widest = 0.0;
  if (t->b->ranks == 1) return MG_OK;
  MG_TRY(mg_comm_agree(widest_plane(t, planes, &widest)));
  MG_TRY(mg_comm_max(mg_comm_world(), &widest, 1));
  if (widest == 0.0) return MG_OK;
  t->planes = widest < MESSAGE_DOUBLES ? (int32_t)(MESSAGE_DOUBLES / widest) : 1;
  if (t->planes > planes) t->planes = planes;
  MG_TRY(mg_comm_agree(allocate_messages(t->b, (int64_t)widest * t->planes)));
  for (int32_t first = 0; first < planes; first += t->planes)
    MG_TRY(exchange(t, first));
  return MG_OK;
}

static mg_status_t move(transfer_t *t) {
  MG_TRY(mg_comm_agree(list_parts(t)));
  MG_TRY(copy_own(t));
  return exchange_all(t);
}

mg_status_t mg_boxes_store(mg_boxes_t *b, const hpgmg_array_t *array, int part, mg_vector_t vec) {
  transfer_t t = {.b = b, .array = array, .part_of = part, .vec = vec, .storing = true};
  const mg_status_t status = move(&t);
  free(t.part);
  return status;
}

mg_status_t mg_boxes_fetch(mg_boxes_t *b, mg_vector_t vec, const hpgmg_array_t *array) {
  transfer_t t = {.b = b, .array = array, .part_of = MG_CELLS, .vec = vec};
  const mg_status_t status = move(&t);
  free(t.part);
  return status;
}
