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

/* A rank's boxes while they are merged: a stretch of the curve, and the cuboids of boxes that were
 * cut out of it so far. Boxes are never listed one by one, since there may be billions. */
typedef struct {
  int32_t boxes;
  int64_t first, last;
  mg_cuboid_t *cut;
  int n_cut, capacity;
} share_t;

static bool overlap(const mg_cuboid_t *a, const mg_cuboid_t *b) {
  for (int d = 0; d < 3; d++)
    if (a->lo[d] >= b->lo[d] + b->n[d] || b->lo[d] >= a->lo[d] + a->n[d]) return false;
  return true;
}

/* Is all of a cuboid in the share and still uncut? Positions grow with each coordinate, so its two
 * extreme corners have the extreme positions. */
static bool all_free(const share_t *share, const mg_cuboid_t *c) {
  const int32_t top[3] = {c->lo[0] + c->n[0] - 1, c->lo[1] + c->n[1] - 1, c->lo[2] + c->n[2] - 1};
  if (mg_morton_position(share->boxes, c->lo) < share->first) return false;
  if (mg_morton_position(share->boxes, top) >= share->last) return false;
  for (int p = 0; p < share->n_cut; p++)
    if (overlap(c, &share->cut[p])) return false;
  return true;
}

/* Grow from one box along the axes in the given order, a whole layer at a time. */
static mg_cuboid_t grow(const share_t *share, const int32_t start[3], const int order[3]) {
  mg_cuboid_t c = {{start[0], start[1], start[2]}, {1, 1, 1}};
  for (int a = 0; a < 3; a++) {
    const int d = order[a];
    for (;;) {
      mg_cuboid_t layer = c;
      layer.lo[d] += c.n[d];
      layer.n[d] = 1;
      if (layer.lo[d] >= share->boxes || !all_free(share, &layer)) break;
      c.n[d]++;
    }
  }
  return c;
}

/* The position behind the largest octant that begins at `box` and lies within the cuboid. */
static int64_t skip_octant(const share_t *share, const mg_cuboid_t *c, const int32_t box[3],
                           int64_t position) {
  int32_t width = 1;
  for (int32_t w = 2; w < 2 * share->boxes; w *= 2) {
    for (int d = 0; d < 3; d++) {
      const int32_t end = box[d] + w < share->boxes ? box[d] + w : share->boxes;
      if (box[d] % w != 0 || end > c->lo[d] + c->n[d])
        return position + clipped_volume(share->boxes, box, width);
    }
    width = w;
  }
  return position + clipped_volume(share->boxes, box, width);
}

/* The next position from `position` on whose box is uncut, and that box. */
static int64_t next_free(const share_t *share, int64_t position, int32_t box[3]) {
  while (position < share->last) {
    mg_morton_box(share->boxes, position, box);
    const mg_cuboid_t here = {{box[0], box[1], box[2]}, {1, 1, 1}};
    int p = 0;
    while (p < share->n_cut && !overlap(&here, &share->cut[p]))
      p++;
    if (p == share->n_cut) break;
    position = skip_octant(share, &share->cut[p], box, position);
  }
  return position;
}

static mg_status_t append(share_t *share, const mg_cuboid_t *c) {
  if (share->n_cut == share->capacity) {
    const int capacity = 2 * share->capacity + 8;
    mg_cuboid_t *cut = realloc(share->cut, (size_t)capacity * sizeof *cut);
    if (!cut) return MG_ERR_MEMORY;
    share->cut = cut;
    share->capacity = capacity;
  }
  share->cut[share->n_cut++] = *c;
  return MG_OK;
}

/* Cut the whole share into cuboids. */
static mg_status_t merge(share_t *share, const int order[3]) {
  int32_t box[3];
  share->n_cut = 0;
  for (int64_t p = next_free(share, share->first, box); p < share->last;
       p = next_free(share, p, box)) {
    const mg_cuboid_t c = grow(share, box, order);
    MG_TRY(append(share, &c));
  }
  return MG_OK;
}

/* The order of axes that needs the fewest cuboids, into `best`; the caller frees both lists. */
static mg_status_t merge_well(share_t *best, share_t *tried) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                   {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
  MG_TRY(merge(best, orders[0]));
  for (int o = 1; o < 6 && best->n_cut != 1; o++) {
    MG_TRY(merge(tried, orders[o]));
    if (tried->n_cut >= best->n_cut) continue;
    const share_t swap = *best;
    *best = *tried;
    *tried = swap;
  }
  return MG_OK;
}

mg_status_t mg_layout_patches(const mg_layout_t *layout, int64_t rank, mg_cuboid_t **patches,
                              int *n_patches) {
  share_t best = {.boxes = layout->boxes};
  *patches = NULL;
  *n_patches = 0;
  mg_layout_range(layout, rank, &best.first, &best.last);
  if (best.first == best.last) return MG_OK;
  share_t tried = best;
  const mg_status_t status = merge_well(&best, &tried);
  free(tried.cut);
  if (status != MG_OK) {
    free(best.cut);
    return status;
  }
  for (int p = 0; p < best.n_cut; p++)
    for (int d = 0; d < 3; d++) {
      best.cut[p].lo[d] *= layout->box_dim;
      best.cut[p].n[d] *= layout->box_dim;
    }
  *patches = best.cut;
  *n_patches = best.n_cut;
  return MG_OK;
}

bool mg_layouts_nest(const mg_layout_t *fine, const mg_layout_t *coarse) {
  if (fine->n != 2 * coarse->n || fine->n_ranks != coarse->n_ranks) return false;
  if (coarse->n_ranks == 1) return true;
  if (fine->boxes == coarse->boxes) return true;
  /* Eight boxes become one: ranks keep their cells when each holds whole octants. */
  return fine->boxes == 2 * coarse->boxes && mg_layout_n_boxes(coarse) % coarse->n_ranks == 0;
}
