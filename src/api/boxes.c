#include "api/boxes.h"
#include "api/array_memory.h"
#include "api/box_lists.h"
#include "base/alloc.h"
#include "base/log.h"
#include "formulas/walls.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE_DOUBLES = 1 << 19, MESSAGE_DOUBLES = 1 << 20 };

static mg_status_t check_box(const mg_boxes_t *b, const mg_held_t *box) {
  static const char axis[] = "ijk";
  for (int d = 0; d < 3; d++) {
    const int32_t lo = box->cells.lo[d], n = box->cells.n[d];
    if (lo < 0 || n < 0 || (int64_t)lo + n > mg_boxes_grid(b)[d])
      return mg_error(MG_ERR_USAGE,
                      "a box of rank %d has %d cells from cell %d in %c; the grid has %d cells "
                      "there",
                      box->rank, n, lo, axis[d], mg_boxes_grid(b)[d]);
  }
  return MG_OK;
}

static int by_first_plane(const void *a, const void *b) {
  const int32_t ka = ((const mg_held_t *)a)->cells.lo[2], kb = ((const mg_held_t *)b)->cells.lo[2];
  return (ka > kb) - (ka < kb);
}

/* In the order of first planes, a box can overlap only boxes that begin before its last plane. */
static mg_status_t check_overlaps(mg_held_t *box, int n) {
  qsort(box, (size_t)n, sizeof *box, by_first_plane);
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n && box[b].cells.lo[2] < box[a].cells.lo[2] + box[a].cells.n[2]; b++) {
      const mg_cuboid_t both = mg_cuboid_common(&box[a].cells, &box[b].cells);
      const int low = box[a].rank < box[b].rank ? box[a].rank : box[b].rank;
      if (mg_volume(both.n) > 0)
        return mg_error(MG_ERR_USAGE, "boxes of ranks %d and %d both have cell (%d, %d, %d)", low,
                        box[a].rank + box[b].rank - low, both.lo[0], both.lo[1], both.lo[2]);
    }
  return MG_OK;
}

/* Ranks have the same boxes, so all come to the same result. */
static mg_status_t check_boxes(const mg_boxes_t *b) {
  const int64_t want = mg_volume(mg_boxes_grid(b));
  int64_t cells = 0;
  mg_held_t *sorted;
  for (int n = 0; n < b->n; n++) {
    MG_TRY(check_box(b, &b->box[n]));
    cells += mg_volume(b->box[n].cells.n);
  }
  MG_TRY(mg_new(&sorted, b->n, "boxes"));
  memcpy(sorted, b->box, (size_t)b->n * sizeof *sorted);
  const mg_status_t status = check_overlaps(sorted, b->n);
  free(sorted);
  if (status != MG_OK || cells == want) return status;
  return mg_error(MG_ERR_USAGE, "the boxes have %lld cells, but the grid has %lld",
                  (long long)cells, (long long)want);
}

/* Every rank passes as many boxes as the one with the most. */
static mg_status_t gather_boxes(mg_boxes_t *b, const hpgmg_box_t *mine, int n) {
  typedef struct {
    int32_t n;
    hpgmg_box_t box[];
  } message_t;
  double most = n;
  MG_TRY(mg_comm_max(mg_comm_world(), &most, 1));
  const size_t bytes = sizeof(message_t) + (size_t)most * sizeof *mine;
  char *all = NULL, *own = NULL;
  mg_status_t status = mg_new(&all, (int64_t)bytes * b->ranks, "boxes");
  if (status == MG_OK) status = mg_new(&own, (int64_t)bytes, "boxes");
  if (status == MG_OK) status = mg_new(&b->box, (int64_t)most * b->ranks, "boxes");
  status = mg_comm_agree(status);
  if (status == MG_OK) {
    message_t *m = (void *)own;
    m->n = n;
    if (n > 0) memcpy(m->box, mine, (size_t)n * sizeof *mine);
    status = mg_comm_gather(mg_comm_world(), own, bytes, all);
  }
  for (int rank = 0; status == MG_OK && rank < b->ranks; rank++) {
    const message_t *m = (const void *)(all + bytes * (size_t)rank);
    for (int c = 0; c < m->n; c++) {
      mg_held_t *box = &b->box[b->n++];
      box->rank = rank;
      memcpy(&box->cells, &m->box[c], sizeof box->cells);
    }
  }
  free(all), free(own);
  return status;
}

mg_cuboid_t mg_boxes_cells(const mg_boxes_t *b, const mg_held_t *box, int part) {
  mg_cuboid_t c = box->cells;
  const int d = (part - mg_cells_at(0, 0)) / 2, side = (part - mg_cells_at(0, 0)) % 2;
  if (part < mg_cells_at(0, 0)) return c;
  const int32_t at = side == 0 ? 0 : mg_boxes_grid(b)[d] - 1;
  c.n[d] = at >= c.lo[d] && at < c.lo[d] + c.n[d];
  c.lo[d] = at;
  return c;
}

mg_status_t mg_boxes_plan(const mg_boxes_t *b, int part, const int32_t planes[2], bool storing,
                          mg_cuboid_t *cells, mg_copy_plan_t *plan) {
  const mg_view_t *v = &b->level->store.view;
  const mg_cuboid_t within = {{0, 0, planes[0]}, {v->n[0], v->n[1], planes[1] - planes[0]}};
  const mg_distribution_t patches = {.layout = &b->level->plan->layout},
                          boxes = {.layout = patches.layout, .cuboid = cells, .first = b->first};
  const mg_copy_spec_t spec = {
      .src = storing ? boxes : patches,
      .dst = storing ? patches : boxes,
      .interior = true,
      .face_dir = part < 3 ? part : MG_CELLS,
      .periodic = {mg_is_periodic(v, 0), mg_is_periodic(v, 1), mg_is_periodic(v, 2)}};
  for (int n = 0; n < b->n; n++) {
    const mg_cuboid_t all = mg_boxes_cells(b, &b->box[n], part);
    cells[n] = mg_cuboid_common(&all, &within);
    if (mg_volume(cells[n].n) == 0) cells[n] = (mg_cuboid_t){{0, 0, 0}, {0, 0, 0}};
  }
  return mg_copy_plan_build(&spec, b->me, plan);
}

/* Cells that the copies of a list may have in one plane. */
static int64_t plane_of(const mg_copy_list_t *list) {
  int64_t cells = 0;
  for (int c = 0; c < list->n; c++)
    cells += (int64_t)list->item[c].n[0] * list->item[c].n[1];
  return cells;
}

/* A round moves about MESSAGE_DOUBLES at most, but at least a plane. */
static mg_status_t plan_rounds(mg_boxes_t *b) {
  const int32_t all[2] = {0, mg_boxes_grid(b)[2]};
  mg_copy_plan_t plan;
  mg_cuboid_t *cells;
  double widest = 0.0;
  mg_status_t status = mg_new(&cells, b->n, "boxes");
  if (status == MG_OK) status = mg_boxes_plan(b, MG_CELLS, all, true, cells, &plan);
  free(cells);
  if (status == MG_OK) {
    widest = fmax((double)plane_of(&plan.pack), (double)plane_of(&plan.unpack));
    mg_copy_plan_free(&plan);
  }
  MG_TRY(mg_comm_agree(status));
  MG_TRY(mg_comm_max(mg_comm_world(), &widest, 1));
  b->is_local = widest == 0.0;
  b->planes = (int32_t)fmin(all[1], fmax(1.0, MESSAGE_DOUBLES / fmax(1.0, widest)));
  return MG_OK;
}

/* Staging memory holds whole rows. */
static mg_status_t allocate_stages(mg_boxes_t *b) {
  const mg_backend_t *backend = b->level->backend;
  if (!backend->queue.wait) return MG_OK;
  b->stage_doubles =
      mg_boxes_grid(b)[0] + 1 > STAGE_DOUBLES ? mg_boxes_grid(b)[0] + 1 : STAGE_DOUBLES;
  for (int s = 0; s < 2; s++) {
    void *memory;
    MG_TRY(backend->alloc((size_t)b->stage_doubles * sizeof(double), MG_SPACE_SHARED, &memory));
    b->stage[s] = memory;
  }
  return MG_OK;
}

static mg_status_t allocate(mg_boxes_t *b) {
  MG_TRY(mg_new(&b->first, b->ranks + 1, "boxes"));
  for (int n = 0; n < b->n; n++)
    b->first[b->box[n].rank + 1] = n + 1;
  for (int rank = 0; rank < b->ranks; rank++)
    if (b->first[rank + 1] == 0) b->first[rank + 1] = b->first[rank];
  MG_TRY(allocate_stages(b));
  return mg_requests_create(2 * b->ranks, &b->requests);
}

mg_status_t mg_boxes_create(const mg_level_t *level, const hpgmg_box_t *mine, int n,
                            mg_boxes_t **out) {
  *out = NULL;
  MG_TRY(mg_comm_agree(mg_new(out, 1, "boxes")));
  mg_boxes_t *const b = *out;
  b->level = level;
  b->me = mg_comm_rank(mg_comm_world());
  b->ranks = mg_comm_size(mg_comm_world());
  MG_TRY(gather_boxes(b, mine, n));
  MG_TRY(mg_comm_agree(check_boxes(b)));
  MG_TRY(mg_comm_agree(allocate(b)));
  return plan_rounds(b);
}

static void free_messages(mg_boxes_t *b) {
  const size_t bytes = (size_t)b->message_doubles * sizeof(double);
  for (int e = 0; e < 2; e++) {
    if (b->message[e]) b->level->backend->release(b->message[e], bytes, MG_SPACE_SHARED);
    b->message[e] = NULL;
  }
  b->message_doubles = 0;
}

/* Memory of messages is kept, because pinning it on a device takes longer than a message. */
mg_status_t mg_boxes_reserve(mg_boxes_t *b, int64_t doubles) {
  if (doubles <= b->message_doubles) return MG_OK;
  free_messages(b);
  b->message_doubles = doubles;
  for (int e = 0; e < 2; e++) {
    void *memory;
    const mg_status_t status =
        b->level->backend->alloc((size_t)doubles * sizeof(double), MG_SPACE_SHARED, &memory);
    if (status != MG_OK) {
      free_messages(b);
      return status;
    }
    b->message[e] = memory;
  }
  return MG_OK;
}

void mg_boxes_free(mg_boxes_t *b) {
  if (!b) return;
  free_messages(b);
  for (int s = 0; s < 2; s++)
    if (b->stage[s])
      b->level->backend->release(b->stage[s], (size_t)b->stage_doubles * sizeof(double),
                                 MG_SPACE_SHARED);
  mg_requests_free(b->requests);
  free(b->box), free(b->first);
  free(b);
}

int mg_boxes_count(const mg_boxes_t *b) {
  return b->first[b->me + 1] - b->first[b->me];
}

mg_cuboid_t mg_boxes_part(const mg_boxes_t *b, int n, int part) {
  mg_cuboid_t c = mg_boxes_cells(b, &b->box[b->first[b->me] + n], part);
  if (part >= 0 && part < 3 && mg_volume(c.n) > 0) c.n[part]++;
  return c;
}

bool mg_boxes_are_local(const mg_boxes_t *b) {
  return b->is_local;
}

hpgmg_array_t mg_boxes_storage(const mg_boxes_t *b, int n, mg_vector_t vec) {
  const mg_cuboid_t *box = &b->box[b->first[b->me] + n].cells;
  const mg_view_t *v = &b->level->store.view;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    if (memcmp(p->lo, box->lo, sizeof p->lo) != 0 || memcmp(p->n, box->n, sizeof p->n) != 0)
      continue;
    return (hpgmg_array_t){p->vec[vec], {1, p->jstride, p->kstride}, {p->n[0], p->n[1], p->n[2]}};
  }
  return (hpgmg_array_t){.data = NULL};
}

bool mg_boxes_on_device(const mg_boxes_t *b, const hpgmg_array_t *array) {
  int device;
  return b->level->backend->queue.wait && mg_array_memory(array->data, &device) != MG_ARRAY_ON_HOST;
}
