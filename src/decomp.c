#include "decomp.h"
#include <stdlib.h>
#include <string.h>

/* a * b / c without overflow; boxes * ranks can pass 2^63. */
static int64_t mul_div(int64_t a, int64_t b, int64_t c) {
  return (int64_t)((__int128)a * b / c);
}

static int64_t mul_div_up(int64_t a, int64_t b, int64_t c) {
  return (int64_t)(((__int128)a * b + c - 1) / c);
}

int64_t mg_layout_n_boxes(const mg_layout_t *layout) {
  return (int64_t)layout->boxes * layout->boxes * layout->boxes;
}

static int32_t enclosing_power_of_two(int32_t n) {
  int32_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

/* Boxes of the octant [lo, lo + half)^3 that exist in the grid. */
static int64_t clipped_volume(int32_t boxes, const int32_t lo[3], int32_t half) {
  int64_t volume = 1;
  for (int d = 0; d < 3; d++) {
    const int32_t hi = lo[d] + half < boxes ? lo[d] + half : boxes;
    if (hi <= lo[d]) return 0;
    volume *= hi - lo[d];
  }
  return volume;
}

static void octant_corner(const int32_t lo[3], int32_t half, int octant, int32_t corner[3]) {
  for (int d = 0; d < 3; d++)
    corner[d] = lo[d] + ((octant >> d) & 1) * half;
}

int64_t mg_morton_position(int32_t boxes, const int32_t box[3]) {
  int64_t position = 0;
  int32_t lo[3] = {0, 0, 0};
  for (int32_t half = enclosing_power_of_two(boxes) / 2; half > 0; half /= 2) {
    int own = 0;
    for (int d = 0; d < 3; d++)
      own |= (box[d] >= lo[d] + half) << d;
    for (int octant = 0; octant < own; octant++) {
      int32_t corner[3];
      octant_corner(lo, half, octant, corner);
      position += clipped_volume(boxes, corner, half);
    }
    octant_corner(lo, half, own, lo);
  }
  return position;
}

void mg_morton_box(int32_t boxes, int64_t position, int32_t box[3]) {
  int32_t lo[3] = {0, 0, 0};
  for (int32_t half = enclosing_power_of_two(boxes) / 2; half > 0; half /= 2) {
    int octant = 0;
    for (; octant < 7; octant++) {
      int32_t corner[3];
      octant_corner(lo, half, octant, corner);
      const int64_t volume = clipped_volume(boxes, corner, half);
      if (position < volume) break;
      position -= volume;
    }
    octant_corner(lo, half, octant, lo);
  }
  memcpy(box, lo, sizeof lo);
}

int64_t mg_layout_owner(const mg_layout_t *layout, int64_t position) {
  const int64_t index = mul_div(layout->n_ranks, position, mg_layout_n_boxes(layout));
  return mul_div(index, layout->world_ranks, layout->n_ranks);
}

void mg_layout_range(const mg_layout_t *layout, int64_t rank, int64_t *first, int64_t *last) {
  const int64_t n_boxes = mg_layout_n_boxes(layout);
  const int64_t index = mul_div_up(rank, layout->n_ranks, layout->world_ranks);
  *first = *last = 0;
  if (index >= layout->n_ranks || mul_div(index, layout->world_ranks, layout->n_ranks) != rank)
    return;
  *first = mul_div_up(index, n_boxes, layout->n_ranks);
  *last = mul_div_up(index + 1, n_boxes, layout->n_ranks);
}

/* A rank's boxes while they are merged: a stretch of the curve, and which of it is taken. */
typedef struct {
  int32_t boxes;
  int64_t first, last;
  bool *taken;
} share_t;

static bool all_free(const share_t *share, const int32_t lo[3], const int32_t n[3]) {
  for (int32_t k = lo[2]; k < lo[2] + n[2]; k++)
    for (int32_t j = lo[1]; j < lo[1] + n[1]; j++)
      for (int32_t i = lo[0]; i < lo[0] + n[0]; i++) {
        const int32_t box[3] = {i, j, k};
        const int64_t position = mg_morton_position(share->boxes, box);
        if (position < share->first || position >= share->last) return false;
        if (share->taken[position - share->first]) return false;
      }
  return true;
}

static void take(share_t *share, const mg_cuboid_t *c) {
  for (int32_t k = c->lo[2]; k < c->lo[2] + c->n[2]; k++)
    for (int32_t j = c->lo[1]; j < c->lo[1] + c->n[1]; j++)
      for (int32_t i = c->lo[0]; i < c->lo[0] + c->n[0]; i++) {
        const int32_t box[3] = {i, j, k};
        share->taken[mg_morton_position(share->boxes, box) - share->first] = true;
      }
}

/* Grow from one box along the axes in the given order, a whole layer at a time. */
static mg_cuboid_t grow(const share_t *share, const int32_t start[3], const int order[3]) {
  mg_cuboid_t c = {{start[0], start[1], start[2]}, {1, 1, 1}};
  for (int a = 0; a < 3; a++) {
    const int d = order[a];
    for (;;) {
      int32_t lo[3], n[3];
      memcpy(lo, c.lo, sizeof lo);
      memcpy(n, c.n, sizeof n);
      lo[d] += n[d];
      n[d] = 1;
      if (lo[d] >= share->boxes || !all_free(share, lo, n)) break;
      c.n[d]++;
    }
  }
  return c;
}

/* Cuboids of boxes, at most last - first of them, into `out`. */
static int merge(share_t *share, const int order[3], mg_cuboid_t *out) {
  int count = 0;
  memset(share->taken, 0, (size_t)(share->last - share->first) * sizeof *share->taken);
  for (int64_t p = share->first; p < share->last; p++) {
    if (share->taken[p - share->first]) continue;
    int32_t box[3];
    mg_morton_box(share->boxes, p, box);
    out[count] = grow(share, box, order);
    take(share, &out[count]);
    count++;
  }
  return count;
}

mg_status_t mg_layout_patches(const mg_layout_t *layout, int64_t rank, mg_cuboid_t **patches,
                              int *n_patches) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                   {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
  share_t share = {.boxes = layout->boxes};
  *patches = NULL;
  *n_patches = 0;
  mg_layout_range(layout, rank, &share.first, &share.last);
  const size_t count = (size_t)(share.last - share.first);
  if (count == 0) return MG_OK;

  if (layout->n_ranks == 1) { /* the whole grid: no search */
    mg_cuboid_t *whole = calloc(1, sizeof *whole);
    if (!whole) return MG_ERR_MEMORY;
    whole->n[0] = whole->n[1] = whole->n[2] = layout->n;
    *patches = whole;
    *n_patches = 1;
    return MG_OK;
  }

  mg_cuboid_t *best = malloc(count * sizeof *best), *tried = malloc(count * sizeof *tried);
  share.taken = malloc(count * sizeof *share.taken);
  if (!best || !tried || !share.taken) {
    free(best);
    free(tried);
    free(share.taken);
    return MG_ERR_MEMORY;
  }
  int n_best = 0;
  for (int o = 0; o < 6 && n_best != 1; o++) {
    const int n_tried = merge(&share, orders[o], tried);
    if (o > 0 && n_tried >= n_best) continue;
    mg_cuboid_t *swap = best;
    best = tried;
    tried = swap;
    n_best = n_tried;
  }
  for (int p = 0; p < n_best; p++)
    for (int d = 0; d < 3; d++) {
      best[p].lo[d] *= layout->box_dim;
      best[p].n[d] *= layout->box_dim;
    }
  free(tried);
  free(share.taken);
  *patches = best;
  *n_patches = n_best;
  return MG_OK;
}

bool mg_layouts_nest(const mg_layout_t *fine, const mg_layout_t *coarse) {
  if (fine->n != 2 * coarse->n || fine->n_ranks != coarse->n_ranks) return false;
  if (coarse->n_ranks == 1) return true;
  if (fine->boxes == coarse->boxes) return true;
  /* Eight boxes become one: ranks keep their cells when each holds whole octants. */
  return fine->boxes == 2 * coarse->boxes && mg_layout_n_boxes(coarse) % coarse->n_ranks == 0;
}
