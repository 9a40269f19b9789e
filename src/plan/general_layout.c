/* Layouts of grids of any size: where ranks may be separated, and the same on coarser levels. */
#include "plan/domain_plan.h"

enum {
  WIDEST_BOX = 32 /* cells; a multiple of 16, so that several levels have the same parts */
};

static int32_t even(int32_t n) {
  return n + n % 2;
}

static int32_t min32(int32_t a, int32_t b) {
  return a < b ? a : b;
}

/* Set the width of the narrowest part of a rank.
 * @return cells of the largest part; 0 if some rank has none */
static int64_t measure_parts(mg_layout_t *layout) {
  int64_t largest = 0;
  layout->box_dim = INT32_MAX;
  if (mg_cuboids_largest(layout) == 0) return 0;
  for (int64_t r = 0; r < layout->n_ranks; r++) {
    const mg_cuboid_t boxes = mg_cuboids_part(layout, r), part = mg_layout_cells(layout, &boxes);
    const int64_t cells = mg_volume(part.n);
    largest = cells > largest ? cells : largest;
    for (int d = 0; d < 3; d++)
      layout->box_dim = min32(layout->box_dim, part.n[d]);
  }
  return largest;
}

/* Set boxes of at most `width` cells per side. */
static void set_boxes(mg_layout_t *layout, int32_t width) {
  for (int d = 0; d < 3; d++) {
    const int32_t all = even(layout->n[d]);
    layout->box[d] = layout->n_ranks > 1 ? min32(width, all) : all;
    layout->boxes[d] = (layout->n[d] + layout->box[d] - 1) / layout->box[d];
  }
}

mg_layout_t mg_cuboids_layout(const int32_t n[3], int64_t ranks, int64_t world_ranks) {
  mg_layout_t layout = {.general = true, .cuboids = true, .world_ranks = world_ranks};
  for (int d = 0; d < 3; d++)
    layout.n[d] = n[d];
  const int64_t cells = mg_volume(n);
  for (layout.n_ranks = ranks < cells ? ranks : cells; layout.n_ranks > 1; layout.n_ranks /= 2) {
    int64_t largest = 0;
    for (int32_t width = WIDEST_BOX; width >= 2; width /= 2) {
      set_boxes(&layout, width);
      largest = measure_parts(&layout);
      if (largest > 0 && (__int128)largest * layout.n_ranks * 10 <= (__int128)cells * 11)
        return layout;
    }
    if (largest > 0 && (__int128)largest * layout.n_ranks < (__int128)cells * 2) return layout;
  }
  layout.n_ranks = 1;
  set_boxes(&layout, 0);
  (void)measure_parts(&layout);
  return layout;
}

mg_layout_t mg_cuboids_coarse(const mg_layout_t *fine, int64_t ranks) {
  mg_layout_t coarse = {
      .general = true, .cuboids = true, .n_ranks = fine->n_ranks, .world_ranks = fine->world_ranks};
  bool same = ranks >= fine->n_ranks;
  for (int d = 0; d < 3; d++) {
    coarse.n[d] = mg_layout_coarse_n(fine, d);
    coarse.boxes[d] = fine->boxes[d];
    coarse.box[d] = mg_cuboids_coarse_box(fine, d);
    same = same && coarse.box[d] > 0 && coarse.box[d] % 2 == 0;
  }
  if (!same) return mg_cuboids_layout(coarse.n, ranks, fine->world_ranks);
  (void)measure_parts(&coarse);
  return coarse;
}
