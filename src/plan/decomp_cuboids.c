#include "plan/decomp_cuboids.h"
#include <string.h>

/* Part of the grid during recursive cutting down to single ranks. */
typedef struct {
  mg_cuboid_t boxes;
  int64_t first, n_ranks;
} part_t;

static part_t whole(const mg_layout_t *layout) {
  const int32_t *n = layout->boxes;
  return (part_t){{{0, 0, 0}, {n[0], n[1], n[2]}}, 0, layout->n_ranks};
}

/* Rows are cut last: the inner loops run along them. */
static int longest_side(const int32_t n[3]) {
  int d = 2;
  for (int e = 1; e >= 0; e--)
    if (n[e] > n[d]) d = e;
  return d;
}

/* A cut into `ways` parts of `layers` layers and `ranks` ranks each; the last one gets the rest. */
typedef struct {
  int direction, ways;
  int32_t layers;
  int64_t ranks;
} cut_t;

static cut_t cut_of(const part_t *part) {
  static const int primes[] = {11, 7, 5, 3, 2};
  const int d = longest_side(part->boxes.n);
  const int64_t side = part->boxes.n[d], n = part->n_ranks, half = n / 2;
  for (size_t p = 0; p < sizeof primes / sizeof primes[0]; p++)
    if (side % primes[p] == 0 && n % primes[p] == 0)
      return (cut_t){d, primes[p], (int32_t)(side / primes[p]), n / primes[p]};
  return (cut_t){d, 2, (int32_t)((2 * side * half + n) / (2 * n)), half};
}

/* Part number `way` of a cut. */
static part_t part_at(const part_t *part, const cut_t *cut, int way) {
  part_t p = *part;
  const bool last = way == cut->ways - 1;
  const int32_t below = way * cut->layers;
  p.boxes.lo[cut->direction] += below;
  p.boxes.n[cut->direction] = last ? part->boxes.n[cut->direction] - below : cut->layers;
  p.first += way * cut->ranks;
  p.n_ranks = last ? part->n_ranks - way * cut->ranks : cut->ranks;
  return p;
}

static int way_containing(int64_t at, int64_t width, int ways) {
  const int64_t way = width > 0 ? at / width : ways;
  return way < ways ? (int)way : ways - 1;
}

mg_cuboid_t mg_cuboids_part(const mg_layout_t *layout, int64_t index) {
  part_t part = whole(layout);
  while (part.n_ranks > 1) {
    const cut_t cut = cut_of(&part);
    part = part_at(&part, &cut, way_containing(index - part.first, cut.ranks, cut.ways));
  }
  return part.boxes;
}

int64_t mg_cuboids_index(const mg_layout_t *layout, const int32_t box[3]) {
  part_t part = whole(layout);
  while (part.n_ranks > 1) {
    const cut_t cut = cut_of(&part);
    const int d = cut.direction;
    part = part_at(&part, &cut, way_containing(box[d] - part.boxes.lo[d], cut.layers, cut.ways));
  }
  return part.first;
}

/* Parts of equal shape and number of ranks are cut identically, wherever they are. There are
 * few different ones, and a result for one holds for all of them. */
enum { MAX_SHAPES = 1024 };
typedef struct {
  part_t part[MAX_SHAPES]; /* one of each shape */
  int n;
} shapes_t;

/* Add the shape of a part unless present; false if the list is full. */
static bool add_shape(shapes_t *all, const part_t *part) {
  const int32_t *n = part->boxes.n;
  for (int i = 0; i < all->n; i++)
    if (all->part[i].n_ranks == part->n_ranks &&
        memcmp(all->part[i].boxes.n, n, sizeof part->boxes.n) == 0)
      return true;
  if (all->n == MAX_SHAPES) return false;
  all->part[all->n++] = *part;
  return true;
}

/* Add the shapes of the parts of a cut; all but the last are equal. */
static bool add_parts(shapes_t *all, const part_t *part, const cut_t *cut) {
  const part_t first = part_at(part, cut, 0), last = part_at(part, cut, cut->ways - 1);
  return add_shape(all, &first) && add_shape(all, &last);
}

int64_t mg_cuboids_largest(const mg_layout_t *layout) {
  int64_t largest = 0;
  shapes_t shapes = {{whole(layout)}, 1};
  for (int i = 0; i < shapes.n; i++) {
    const part_t part = shapes.part[i];
    const int32_t *n = part.boxes.n;
    const int64_t share = mg_volume(n);
    if (share < part.n_ranks) return 0;
    if (part.n_ranks == 1) {
      largest = share > largest ? share : largest;
      continue;
    }
    const cut_t cut = cut_of(&part);
    if (!add_parts(&shapes, &part, &cut)) return 0;
  }
  return largest;
}

bool mg_cuboids_are_even(const mg_layout_t *layout) {
  const __int128 largest = mg_cuboids_largest(layout), boxes = mg_layout_n_boxes(layout);
  return largest > 0 && largest * layout->n_ranks * 20 <= boxes * 21;
}

bool mg_cuboids_double(const mg_layout_t *fine, const mg_layout_t *coarse) {
  if (fine->n_ranks != coarse->n_ranks || !mg_doubles(fine->boxes, coarse->boxes)) return false;
  shapes_t shapes = {{whole(coarse)}, 1};
  for (int i = 0; i < shapes.n; i++) {
    const part_t part = shapes.part[i];
    if (part.n_ranks == 1) continue;
    part_t wide = part;
    for (int d = 0; d < 3; d++)
      wide.boxes.n[d] *= 2;
    const cut_t cut = cut_of(&part), wide_cut = cut_of(&wide);
    if (wide_cut.direction != cut.direction || wide_cut.ways != cut.ways ||
        wide_cut.ranks != cut.ranks || wide_cut.layers != 2 * cut.layers)
      return false;
    if (!add_parts(&shapes, &part, &cut)) return false;
  }
  return true;
}

int32_t mg_cuboids_coarse_box(const mg_layout_t *fine, int d) {
  const int32_t n = mg_layout_coarse_n(fine, d), box = fine->box[d];
  if (fine->boxes[d] == 1) return n + n % 2;
  if (n == fine->n[d]) return box;
  return n == fine->n[d] / 2 + fine->n[d] % 2 ? box / 2 : 0;
}
