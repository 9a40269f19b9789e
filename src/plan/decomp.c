#include "plan/decomp.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/* a * b / c without overflow; boxes * ranks can exceed 2^63. */
static int64_t mul_div(int64_t a, int64_t b, int64_t c) {
  return (int64_t)((__int128)a * b / c);
}

static int64_t mul_div_up(int64_t a, int64_t b, int64_t c) {
  return (int64_t)(((__int128)a * b + c - 1) / c);
}

static int32_t enclosing_power_of_two(const int32_t n[3]) {
  int32_t p = 1;
  while (p < n[0] || p < n[1] || p < n[2])
    p *= 2;
  return p;
}

/* Number of boxes of the octant [lo, lo + half)^3 that exist in the grid. */
static int64_t clipped_volume(const int32_t boxes[3], const int32_t lo[3], int32_t half) {
  const mg_cuboid_t octant = {{lo[0], lo[1], lo[2]}, {half, half, half}},
                    grid = {{0, 0, 0}, {boxes[0], boxes[1], boxes[2]}};
  return mg_volume(mg_cuboid_common(&octant, &grid).n);
}

static void octant_corner(const int32_t lo[3], int32_t half, int octant, int32_t corner[3]) {
  for (int d = 0; d < 3; d++)
    corner[d] = lo[d] + ((octant >> d) & 1) * half;
}

int64_t mg_morton_position(const int32_t boxes[3], const int32_t box[3]) {
  int64_t position = 0;
  int32_t lo[3] = {0, 0, 0};
  for (int32_t half = enclosing_power_of_two(boxes) / 2; half > 0; half /= 2) {
    int64_t below[3], own[3], all[3]; /* boxes per side: lower octant, the box's own octant, both */
    for (int d = 0; d < 3; d++) {
      const int32_t rest = boxes[d] - lo[d];
      all[d] = rest < 2 * half ? rest : 2 * half;
      below[d] = rest < half ? rest : half;
      const bool upper = box[d] >= lo[d] + half;
      own[d] = upper ? all[d] - below[d] : below[d];
      if (upper)
        lo[d] += half;
      else
        below[d] = 0;
    }
    /* The octants before this one: all lower in k; those equal in k and lower in j; and so on. */
    position +=
        all[0] * all[1] * below[2] + all[0] * below[1] * own[2] + below[0] * own[1] * own[2];
  }
  return position;
}

int64_t mg_layout_rank(const mg_layout_t *layout, int64_t index) {
  return mul_div(index, layout->world_ranks, layout->n_ranks);
}

/* Inverse of mg_layout_rank; -1 on ranks without boxes. */
static int64_t index_of(const mg_layout_t *layout, int64_t rank) {
  const int64_t index = mul_div_up(rank, layout->n_ranks, layout->world_ranks);
  return index < layout->n_ranks && mg_layout_rank(layout, index) == rank ? index : -1;
}

int64_t mg_layout_owner(const mg_layout_t *layout, const int32_t box[3]) {
  if (layout->cuboids) return mg_layout_rank(layout, mg_cuboids_index(layout, box));
  const int64_t position = mg_morton_position(layout->boxes, box);
  return mg_layout_rank(layout, mul_div(layout->n_ranks, position, mg_layout_n_boxes(layout)));
}

void mg_layout_range(const mg_layout_t *layout, int64_t rank, int64_t *first, int64_t *last) {
  const int64_t n_boxes = mg_layout_n_boxes(layout), index = index_of(layout, rank);
  *first = *last = 0;
  if (index < 0) return;
  *first = mul_div_up(index, n_boxes, layout->n_ranks);
  *last = mul_div_up(index + 1, n_boxes, layout->n_ranks);
}

int64_t mg_layout_share(const mg_layout_t *layout, int64_t rank) {
  int64_t first, last;
  if (!layout->cuboids) {
    mg_layout_range(layout, rank, &first, &last);
    return last - first;
  }
  const int64_t index = index_of(layout, rank);
  if (index < 0) return 0;
  const mg_cuboid_t part = mg_cuboids_part(layout, index);
  return mg_volume(part.n);
}

int64_t mg_layout_largest_share(const mg_layout_t *layout) {
  if (layout->cuboids) return mg_cuboids_largest(layout);
  return mul_div_up(1, mg_layout_n_boxes(layout), layout->n_ranks);
}

/* Boxes of a rank while they are merged: a segment of the curve, and the cuboids cut out of it
 * so far. Boxes are never listed individually, since there may be billions. */
typedef struct {
  const int32_t *boxes; /* of the grid, in i, j, k */
  int64_t first, last;
  mg_cuboid_t *cut;
  int n_cut, capacity;
} share_t;

/* True if the whole cuboid is in the share and still uncut. Positions increase with each
 * coordinate, so its two extreme corners have the extreme positions. */
static bool all_free(const share_t *share, const mg_cuboid_t *c) {
  const int32_t top[3] = {c->lo[0] + c->n[0] - 1, c->lo[1] + c->n[1] - 1, c->lo[2] + c->n[2] - 1};
  if (mg_morton_position(share->boxes, c->lo) < share->first) return false;
  if (mg_morton_position(share->boxes, top) >= share->last) return false;
  for (int p = 0; p < share->n_cut; p++)
    if (mg_volume(mg_cuboid_common(c, &share->cut[p]).n) > 0) return false;
  return true;
}

/* Number of free layers next to the upper end of a cuboid in direction d. */
static int32_t free_layers(const share_t *share, const mg_cuboid_t *c, int d) {
  mg_cuboid_t slab = *c;
  slab.lo[d] += c->n[d];
  int32_t fit = 0, too_many = share->boxes[d] - slab.lo[d] + 1;
  while (too_many - fit > 1) {
    slab.n[d] = fit + (too_many - fit) / 2;
    if (all_free(share, &slab))
      fit = slab.n[d];
    else
      too_many = slab.n[d];
  }
  return fit;
}

/* Grow from one box along j, i and k, as long as whole layers are free. Of the six orders, this one
 * gives the fewest cuboids on average. */
static mg_cuboid_t grow(const share_t *share, const int32_t start[3]) {
  static const int order[3] = {1, 0, 2};
  mg_cuboid_t c = {{start[0], start[1], start[2]}, {1, 1, 1}};
  for (int a = 0; a < 3; a++)
    c.n[order[a]] += free_layers(share, &c, order[a]);
  return c;
}

/* True if any box of the share is uncut in the octant [lo, lo + width)^3, which begins at
 * `position`. */
static bool has_free(const share_t *share, const int32_t lo[3], int32_t width, int64_t position) {
  const int64_t end = position + clipped_volume(share->boxes, lo, width);
  const int64_t from = position > share->first ? position : share->first;
  const int64_t to = end < share->last ? end : share->last;
  const mg_cuboid_t octant = {{lo[0], lo[1], lo[2]}, {width, width, width}};
  int64_t n_free = to - from;
  for (int p = 0; p < share->n_cut && n_free > 0; p++)
    n_free -= mg_volume(mg_cuboid_common(&octant, &share->cut[p]).n);
  return n_free > 0;
}

/* Find the first uncut box of the share; false if there is none. */
static bool first_free(const share_t *share, int32_t box[3]) {
  const int32_t whole = enclosing_power_of_two(share->boxes);
  int64_t position = 0;
  box[0] = box[1] = box[2] = 0;
  if (!has_free(share, box, whole, 0)) return false;
  for (int32_t half = whole / 2; half > 0; half /= 2) {
    int32_t corner[3];
    for (int octant = 0; octant < 8; octant++) {
      octant_corner(box, half, octant, corner);
      if (has_free(share, corner, half, position)) break;
      position += clipped_volume(share->boxes, corner, half);
    }
    memcpy(box, corner, sizeof corner);
  }
  return true;
}

static mg_status_t append(share_t *share, const mg_cuboid_t *c) {
  if (share->n_cut == share->capacity) {
    const int capacity = 2 * share->capacity + 8;
    MG_TRY(mg_grow(&share->cut, capacity, "patch lists"));
    share->capacity = capacity;
  }
  share->cut[share->n_cut++] = *c;
  return MG_OK;
}

/* Cut the whole share into cuboids. */
static mg_status_t cut_share(share_t *share) {
  int32_t box[3];
  while (first_free(share, box)) {
    const mg_cuboid_t c = grow(share, box);
    MG_TRY(append(share, &c));
  }
  return MG_OK;
}

/* Merge a segment of the curve into cuboids, in units of boxes. */
static mg_status_t merge_segment(const mg_layout_t *layout, int64_t rank, mg_cuboid_t **cut,
                                 int *n_cut) {
  share_t share = {.boxes = layout->boxes};
  mg_layout_range(layout, rank, &share.first, &share.last);
  const mg_status_t status = cut_share(&share);
  if (status != MG_OK) {
    free(share.cut);
    return status;
  }
  *cut = share.cut;
  *n_cut = share.n_cut;
  return MG_OK;
}

static mg_status_t cuboid_of_rank(const mg_layout_t *layout, int64_t rank, mg_cuboid_t **cut,
                                  int *n_cut) {
  const int64_t index = index_of(layout, rank);
  if (index < 0) return MG_OK;
  MG_TRY(mg_new(cut, 1, "patch lists"));
  **cut = mg_cuboids_part(layout, index);
  *n_cut = 1;
  return MG_OK;
}

mg_status_t mg_layout_patches(const mg_layout_t *layout, int64_t rank, mg_cuboid_t **patches,
                              int *n_patches) {
  *patches = NULL;
  *n_patches = 0;
  if (layout->cuboids)
    MG_TRY(cuboid_of_rank(layout, rank, patches, n_patches));
  else
    MG_TRY(merge_segment(layout, rank, patches, n_patches));
  for (int p = 0; p < *n_patches; p++)
    (*patches)[p] = mg_layout_cells(layout, &(*patches)[p]);
  return MG_OK;
}

/* Equal numbers of boxes are cut equally. */
static bool have_same_boxes(const mg_layout_t *fine, const mg_layout_t *coarse) {
  bool same = true;
  for (int d = 0; d < 3; d++)
    same = same && fine->boxes[d] == coarse->boxes[d] &&
           (fine->boxes[d] == 1 || coarse->box[d] == mg_cuboids_coarse_box(fine, d));
  return same;
}

bool mg_layouts_nest(const mg_layout_t *fine, const mg_layout_t *coarse) {
  for (int d = 0; d < 3; d++)
    if (coarse->n[d] != mg_layout_coarse_n(fine, d)) return false;
  if (fine->n_ranks != coarse->n_ranks) return false;
  if (coarse->n_ranks == 1) return true;
  if (fine->cuboids != coarse->cuboids) return false;
  if (have_same_boxes(fine, coarse)) return true;
  if (fine->general || fine->box_dim != coarse->box_dim) return false;
  if (fine->cuboids) return mg_cuboids_double(fine, coarse);
  /* Eight boxes become one: ranks keep their cells if each holds whole octants. */
  return mg_layout_n_boxes(coarse) % coarse->n_ranks == 0;
}
