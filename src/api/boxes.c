#include "api/boxes.h"
#include "api/array_memory.h"
#include "base/alloc.h"
#include "base/log.h"
#include "transport/redistribute.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_DOUBLES = 1 << 20 };

/* Cells of a rank. */
typedef struct {
  int rank;
  mg_cuboid_t cells;
} box_t;

struct mg_boxes {
  const mg_level_t *level;
  int me, ranks;
  box_t *box; /* of all ranks, ordered by rank */
  int n;
  int32_t planes; /* of the grid, that a round moves */
  bool is_local;  /* no cells pass between ranks, on any rank */
  mg_redistribution_t cells;
  mg_held_t *held; /* this rank's arrays in a round */
};

/* Cells of the grid. */
static const int32_t *grid_of(const mg_boxes_t *b) {
  return b->level->plan->layout.n;
}

static mg_status_t check_box(const mg_boxes_t *b, const box_t *box) {
  static const char axis[] = "ijk";
  for (int d = 0; d < 3; d++) {
    const int32_t lo = box->cells.lo[d], n = box->cells.n[d];
    if (lo < 0 || n < 0 || (int64_t)lo + n > grid_of(b)[d])
      return mg_error(MG_ERR_USAGE,
                      "a box of rank %d has %d cells from cell %d in %c; the grid has %d cells "
                      "there",
                      box->rank, n, lo, axis[d], grid_of(b)[d]);
  }
  return MG_OK;
}

static int by_first_plane(const void *a, const void *b) {
  const int32_t ka = ((const box_t *)a)->cells.lo[2], kb = ((const box_t *)b)->cells.lo[2];
  return (ka > kb) - (ka < kb);
}

/* In the order of first planes, a box can overlap only boxes that begin before its last plane. */
static mg_status_t check_overlaps(box_t *box, int n) {
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
  const int64_t want = mg_volume(grid_of(b));
  int64_t cells = 0;
  box_t *sorted;
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
  int32_t *count, most = 0;
  hpgmg_box_t *all = NULL, *own = NULL;
  MG_TRY(mg_comm_agree(mg_new(&count, b->ranks, "boxes")));
  mg_status_t status = mg_comm_gather(mg_comm_world(), &n, sizeof n, count);
  for (int rank = 0; rank < b->ranks; rank++)
    most = count[rank] > most ? count[rank] : most;
  if (status == MG_OK) status = mg_new(&all, (int64_t)most * b->ranks, "boxes");
  if (status == MG_OK) status = mg_new(&own, most, "boxes");
  if (status == MG_OK) status = mg_new(&b->box, (int64_t)most * b->ranks, "boxes");
  status = mg_comm_agree(status);
  if (status == MG_OK && n > 0) memcpy(own, mine, (size_t)n * sizeof *own);
  if (status == MG_OK)
    status = mg_comm_gather(mg_comm_world(), own, (size_t)most * sizeof *own, all);
  for (int rank = 0; status == MG_OK && rank < b->ranks; rank++)
    for (int c = 0; c < count[rank]; c++) {
      box_t *box = &b->box[b->n++];
      box->rank = rank;
      memcpy(&box->cells, &all[(int64_t)rank * most + c], sizeof box->cells);
    }
  free(count), free(all), free(own);
  return status;
}

/* Elements of a part of any rank's box. As mg_boxes_part, without the upper faces. */
static mg_cuboid_t cells_of(const mg_boxes_t *b, const box_t *box, int part) {
  mg_cuboid_t c = box->cells;
  const int d = (part - mg_cells_at(0, 0)) / 2, side = (part - mg_cells_at(0, 0)) % 2;
  if (part < mg_cells_at(0, 0)) return c;
  const int32_t at = side == 0 ? 0 : grid_of(b)[d] - 1;
  c.n[d] = at >= c.lo[d] && at < c.lo[d] + c.n[d];
  c.lo[d] = at;
  return c;
}

/* Restrict a round to a part, and to the planes of the grid from the first one to before `end`. */
static void set_planes(mg_boxes_t *b, int part, int32_t first, int32_t end) {
  const mg_cuboid_t within = {{0, 0, first}, {grid_of(b)[0], grid_of(b)[1], end - first}};
  for (int n = 0; n < b->n; n++) {
    const mg_cuboid_t all = cells_of(b, &b->box[n], part), cells = mg_cuboid_common(&all, &within);
    b->cells.cuboid[n] = mg_volume(cells.n) > 0 ? cells : (mg_cuboid_t){{0, 0, 0}, {0, 0, 0}};
  }
  b->cells.face_dir = part < 3 ? part : MG_CELLS;
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
  const mg_copy_plan_t *p = &b->cells.plan;
  const int32_t all = grid_of(b)[2];
  set_planes(b, MG_CELLS, 0, all);
  MG_TRY(mg_comm_agree(mg_redistribution_plan(&b->cells)));
  double widest = fmax((double)plane_of(&p->pack), (double)plane_of(&p->unpack));
  MG_TRY(mg_comm_max(mg_comm_world(), &widest, 1));
  b->is_local = widest == 0.0;
  b->planes = (int32_t)fmin(all, fmax(1.0, MESSAGE_DOUBLES / fmax(1.0, widest)));
  return MG_OK;
}

static mg_status_t allocate(mg_boxes_t *b) {
  MG_TRY(mg_redistribution_create(b->n, &b->cells));
  int *const first = b->cells.first;
  for (int n = 0; n < b->n; n++)
    first[b->box[n].rank + 1] = n + 1;
  for (int rank = 0; rank < b->ranks; rank++)
    if (first[rank + 1] == 0) first[rank + 1] = first[rank];
  return mg_new(&b->held, mg_boxes_count(b), "boxes");
}

mg_status_t mg_boxes_create(const mg_level_t *level, const hpgmg_box_t *mine, int n,
                            mg_boxes_t **out) {
  *out = NULL;
  MG_TRY(mg_comm_agree(mg_new(out, 1, "boxes")));
  mg_boxes_t *const b = *out;
  b->level = level;
  b->cells = (mg_redistribution_t){
      .backend = level->backend, .view = &level->store.view, .layout = &level->plan->layout};
  b->me = mg_comm_rank(mg_comm_world());
  b->ranks = mg_comm_size(mg_comm_world());
  MG_TRY(gather_boxes(b, mine, n));
  MG_TRY(mg_comm_agree(check_boxes(b)));
  MG_TRY(mg_comm_agree(allocate(b)));
  return plan_rounds(b);
}

void mg_boxes_free(mg_boxes_t *b) {
  if (!b) return;
  mg_redistribution_free(&b->cells);
  free(b->box), free(b->held);
  free(b);
}

/* This rank's box number n. */
static const box_t *own_box(const mg_boxes_t *b, int n) {
  return &b->box[b->cells.first[b->me] + n];
}

int mg_boxes_count(const mg_boxes_t *b) {
  return b->cells.first[b->me + 1] - b->cells.first[b->me];
}

mg_cuboid_t mg_boxes_part(const mg_boxes_t *b, int n, int part) {
  mg_cuboid_t c = cells_of(b, own_box(b, n), part);
  if (part >= 0 && part < 3 && mg_volume(c.n) > 0) c.n[part]++;
  return c;
}

bool mg_boxes_are_local(const mg_boxes_t *b) {
  return b->is_local;
}

hpgmg_array_t mg_boxes_storage(const mg_boxes_t *b, int n, mg_vector_t vec) {
  const mg_cuboid_t *box = &own_box(b, n)->cells;
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

/* Where an array has the first cell of its box in the current round. */
static mg_held_t held_of(const mg_boxes_t *b, int n, const hpgmg_array_t *a, int part,
                         mg_vector_t vec) {
  const mg_cuboid_t all = cells_of(b, own_box(b, n), part),
                    *cells = &b->cells.cuboid[b->cells.first[b->me] + n];
  const hpgmg_array_t own = mg_boxes_storage(b, n, vec);
  const bool is_storage = part == MG_CELLS && a->data == own.data &&
                          memcmp(a->stride, own.stride, sizeof own.stride) == 0;
  if (is_storage || mg_volume(cells->n) == 0) return (mg_held_t){.on_device = false};
  mg_held_t h = {{a->data, {0, 0, 0}}, mg_boxes_on_device(b, a)};
  for (int d = 0; d < 3; d++) {
    h.at.stride[d] = a->stride[d];
    h.at.x += (cells->lo[d] - all.lo[d]) * a->stride[d];
  }
  return h;
}

static mg_status_t move(mg_boxes_t *b, const hpgmg_array_t *array, int part, mg_vector_t vec,
                        bool storing) {
  const int32_t n = grid_of(b)[2];
  b->cells.storing = storing;
  for (int32_t first = 0, end; first < n; first = end) {
    end = n - first < b->planes ? n : first + b->planes;
    set_planes(b, part, first, end);
    for (int box = 0; box < mg_boxes_count(b); box++)
      b->held[box] = held_of(b, box, &array[box], part, vec);
    MG_TRY(mg_redistribution_begin(&b->cells, b->held, vec));
    MG_TRY(mg_redistribution_finish(&b->cells));
  }
  return MG_OK;
}

mg_status_t mg_boxes_store(mg_boxes_t *b, const hpgmg_array_t *array, int part, mg_vector_t vec) {
  return move(b, array, part, vec, true);
}

mg_status_t mg_boxes_fetch(mg_boxes_t *b, mg_vector_t vec, const hpgmg_array_t *array) {
  return move(b, array, MG_CELLS, vec, false);
}
