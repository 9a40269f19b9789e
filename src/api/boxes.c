#include "api/boxes.h"
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm.h"
#include "io/slabs.h"
#include <stdlib.h>
#include <string.h>

/* Cells travel through slabs of whole planes (io/slabs.h), which any rank may hold. In each round
 * the owner of a box and the holder of a slab exchange the planes that they have in common. */
struct mg_boxes {
  const mg_level_t *level;
  mg_slabs_t *slabs;
  mg_box_t mine, *all; /* all: of each rank */
  mg_box_t *slab;      /* of each rank in a round */
  mg_requests_t *requests;
};

int64_t mg_box_cells(const mg_box_t *b) {
  return (int64_t)b->n[0] * b->n[1] * b->n[2];
}

static mg_box_t common(const mg_box_t *a, const mg_box_t *b) {
  mg_box_t c;
  for (int d = 0; d < 3; d++) {
    const int32_t end_a = a->lo[d] + a->n[d], end_b = b->lo[d] + b->n[d],
                  end = end_a < end_b ? end_a : end_b;
    c.lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
    c.n[d] = end > c.lo[d] ? end - c.lo[d] : 0;
  }
  return c;
}

static mg_status_t check_box(const mg_boxes_t *b, int rank) {
  const mg_box_t *box = &b->all[rank];
  const int32_t *n = b->level->plan->layout.n;
  static const char axis[] = "ijk";
  for (int d = 0; d < 3; d++)
    if (box->lo[d] < 0 || box->n[d] < 0 || (int64_t)box->lo[d] + box->n[d] > n[d])
      return mg_error(MG_ERR_USAGE,
                      "the box of rank %d has %d cells from cell %d in %c; the grid has %d cells "
                      "there",
                      rank, box->n[d], box->lo[d], axis[d], n[d]);
  return MG_OK;
}

/* Ranks have the same boxes, so all come to the same result. */
static mg_status_t check_boxes(const mg_boxes_t *b) {
  const int ranks = mg_comm_size(mg_comm_world());
  const int64_t want = mg_volume(b->level->plan->layout.n);
  int64_t cells = 0;
  for (int r = 0; r < ranks; r++) {
    MG_TRY(check_box(b, r));
    cells += mg_box_cells(&b->all[r]);
    for (int q = 0; q < r; q++) {
      const mg_box_t both = common(&b->all[q], &b->all[r]);
      if (mg_box_cells(&both) > 0)
        return mg_error(MG_ERR_USAGE, "the boxes of ranks %d and %d both have cell (%d, %d, %d)", q,
                        r, both.lo[0], both.lo[1], both.lo[2]);
    }
  }
  if (cells == want) return MG_OK;
  return mg_error(MG_ERR_USAGE, "the boxes have %lld cells, but the grid has %lld",
                  (long long)cells, (long long)want);
}

static mg_status_t allocate(mg_boxes_t *b) {
  const int ranks = mg_comm_size(mg_comm_world());
  MG_TRY(mg_new(&b->all, ranks, "boxes"));
  MG_TRY(mg_new(&b->slab, ranks, "boxes"));
  return mg_requests_create(2 * ranks, &b->requests);
}

mg_status_t mg_boxes_create(const mg_level_t *level, const mg_box_t *mine, mg_boxes_t **out) {
  *out = NULL;
  MG_TRY(mg_comm_agree(mg_new(out, 1, "boxes")));
  mg_boxes_t *const b = *out;
  b->level = level;
  b->mine = *mine;
  MG_TRY(mg_comm_agree(allocate(b)));
  MG_TRY(mg_comm_gather(mg_comm_world(), mine, sizeof *mine, b->all));
  MG_TRY(mg_comm_agree(check_boxes(b)));
  return mg_slabs_create(level, mg_comm_size(mg_comm_world()), &b->slabs);
}

void mg_boxes_free(mg_boxes_t *b) {
  if (!b) return;
  if (b->slabs) mg_slabs_free(b->slabs);
  if (b->requests) mg_requests_free(b->requests);
  free(b->all), free(b->slab);
  free(b);
}

const mg_box_t *mg_boxes_mine(const mg_boxes_t *b) {
  return &b->mine;
}

/* An array whose first element is cell lo. `to` is NULL if it is only read. */
typedef struct {
  const double *from;
  double *to;
  const int32_t *lo;
  ptrdiff_t stride[3];
} array_t;

static array_t input(const double *x, const int32_t *lo, const ptrdiff_t stride[3]) {
  return (array_t){x, NULL, lo, {stride[0], stride[1], stride[2]}};
}
static array_t output(double *x, const int32_t *lo, const ptrdiff_t stride[3]) {
  return (array_t){x, x, lo, {stride[0], stride[1], stride[2]}};
}

/* Copy a part between arrays. A dense array holds the part alone, i fastest. */
static void copy(const mg_box_t *part, const array_t *from, const array_t *to) {
#pragma omp parallel for collapse(2)
  for (int32_t k = 0; k < part->n[2]; k++)
    for (int32_t j = 0; j < part->n[1]; j++) {
      const int32_t at[3] = {part->lo[0], part->lo[1] + j, part->lo[2] + k};
      const double *x = from->from;
      double *y = to->to;
      for (int d = 0; d < 3; d++) {
        x += (at[d] - from->lo[d]) * from->stride[d];
        y += (at[d] - to->lo[d]) * to->stride[d];
      }
      for (int32_t i = 0; i < part->n[0]; i++)
        y[i * to->stride[0]] = x[i * from->stride[0]];
    }
}

void mg_box_copy(const mg_box_t *box, const double *from, const ptrdiff_t from_stride[3],
                 double *to, const ptrdiff_t to_stride[3]) {
  const array_t a = input(from, box->lo, from_stride), b = output(to, box->lo, to_stride);
  copy(box, &a, &b);
}

static array_t dense(double *x, const mg_box_t *part) {
  const ptrdiff_t row = part->n[0];
  return (array_t){x, x, part->lo, {1, row, row * part->n[1]}};
}

/* Exchange parts: what `mine` and the boxes of other ranks in `theirs` have in common. Each rank
 * sends from `from`, which covers from_box, to the ranks' to_boxes. */
static mg_status_t exchange(mg_boxes_t *b, const mg_box_t *from_boxes, const array_t *from,
                            const mg_box_t *to_boxes, const array_t *to, double *out, double *in) {
  const int ranks = mg_comm_size(mg_comm_world()), me = mg_comm_rank(mg_comm_world());
  double *next = in;
  for (int r = 0; r < ranks; r++) {
    const mg_box_t part = common(&from_boxes[r], &to_boxes[me]);
    const int64_t cells = mg_box_cells(&part);
    if (r == me && cells > 0) copy(&part, from, to);
    if (r == me || cells == 0) continue;
    MG_TRY(mg_comm_receive(b->requests, r, next, cells * (int64_t)sizeof *next));
    next += cells;
  }
  next = out;
  for (int r = 0; r < ranks; r++) {
    const mg_box_t part = common(&from_boxes[me], &to_boxes[r]);
    const int64_t cells = mg_box_cells(&part);
    if (r == me || cells == 0) continue;
    const array_t packed = dense(next, &part);
    copy(&part, from, &packed);
    MG_TRY(mg_comm_send(b->requests, r, next, cells * (int64_t)sizeof *next));
    next += cells;
  }
  MG_TRY(mg_requests_wait(b->requests));
  next = in;
  for (int r = 0; r < ranks; r++) {
    const mg_box_t part = common(&from_boxes[r], &to_boxes[me]);
    if (r == me || mg_box_cells(&part) == 0) continue;
    const array_t packed = dense(next, &part);
    copy(&part, &packed, to);
    next += mg_box_cells(&part);
  }
  return MG_OK;
}

/* Set slab[] of a round, and allocate messages: cells of this rank's slab, and of its box in other
 * slabs. */
static mg_status_t begin_round(mg_boxes_t *b, const mg_slab_t *slab, double **slab_part,
                               double **box_part) {
  const int32_t *n = b->level->plan->layout.n;
  const mg_box_t mine = {{0, 0, slab->first}, {n[0], n[1], slab->n}};
  MG_TRY(mg_comm_gather(mg_comm_world(), &mine, sizeof mine, b->slab));
  int64_t cells = 0;
  for (int r = 0; r < mg_comm_size(mg_comm_world()); r++) {
    const mg_box_t part = common(&b->mine, &b->slab[r]);
    cells += mg_box_cells(&part);
  }
  const bool alone = mg_comm_size(mg_comm_world()) == 1;
  *slab_part = *box_part = NULL;
  mg_status_t status = alone ? MG_OK : mg_new(slab_part, mg_box_cells(&mine), "messages");
  if (status == MG_OK && !alone) status = mg_new(box_part, cells, "messages");
  return mg_comm_agree(status);
}

static array_t slab_array(const mg_boxes_t *b, const mg_slab_t *slab) {
  const int32_t *n = b->level->plan->layout.n;
  const int me = mg_comm_rank(mg_comm_world());
  return (array_t){slab->cells, slab->cells, b->slab[me].lo, {1, n[0], (ptrdiff_t)n[0] * n[1]}};
}

mg_status_t mg_boxes_store(mg_boxes_t *b, const double *x, const ptrdiff_t stride[3],
                           mg_vector_t vec) {
  const array_t box = input(x, b->mine.lo, stride);
  for (int round = 0; round < mg_slabs_rounds(b->slabs); round++) {
    const mg_slab_t slab = mg_slabs_planes(b->slabs, round);
    double *in, *out;
    mg_status_t status = begin_round(b, &slab, &in, &out);
    const array_t to = slab_array(b, &slab);
    if (status == MG_OK) status = exchange(b, b->all, &box, b->slab, &to, out, in);
    if (status < MG_ERR_COMM) free(in), free(out); /* else messages may be in flight */
    if (status == MG_OK) status = mg_slabs_store(b->slabs, vec, round);
    MG_TRY(status);
  }
  return MG_OK;
}

mg_status_t mg_boxes_fetch(mg_boxes_t *b, mg_vector_t vec, double *x, const ptrdiff_t stride[3]) {
  const array_t box = output(x, b->mine.lo, stride);
  for (int round = 0; round < mg_slabs_rounds(b->slabs); round++) {
    mg_slab_t slab;
    double *in, *out;
    MG_TRY(mg_slabs_fetch_begin(b->slabs, vec, round));
    MG_TRY(mg_slabs_fetch_end(b->slabs, round, &slab));
    mg_status_t status = begin_round(b, &slab, &out, &in);
    const array_t from = slab_array(b, &slab);
    if (status == MG_OK) status = exchange(b, b->slab, &from, b->all, &box, out, in);
    if (status < MG_ERR_COMM) free(in), free(out);
    MG_TRY(status);
  }
  return MG_OK;
}
