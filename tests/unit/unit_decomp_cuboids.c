/* One cuboid of boxes per rank: which grids are divided this way, and into which cuboids. */
#include "tests/lib/cells.h"
#include "tests/lib/layouts.h"
#include "tests/lib/test.h"
#include <stdlib.h>

/* The layout of these boxes. */
static mg_layout_t chosen(const int32_t boxes[3], int32_t box_dim, int64_t n_ranks, int64_t world) {
  mg_layout_t y = layout_of(boxes, box_dim, n_ranks, world);
  y.cuboids = mg_cuboids_are_even(&y);
  return y;
}

static mg_layout_t chosen_cube(int32_t boxes, int32_t box_dim, int64_t n_ranks, int64_t world) {
  return chosen((int32_t[3]){boxes, boxes, boxes}, box_dim, n_ranks, world);
}

static mg_cuboid_t only_patch(const mg_layout_t *y, int64_t rank) {
  mg_cuboid_t *patch, c = {{0, 0, 0}, {0, 0, 0}};
  int n;
  CHECK_INT(mg_layout_patches(y, rank, &patch, &n), MG_OK);
  CHECK(n == (mg_layout_share(y, rank) > 0 ? 1 : 0));
  if (n == 1) c = *patch;
  free(patch);
  return c;
}

/* Worked out by hand: cells of the parts for grids of boxes of 2^3 cells; "" if boxes follow the
 * curve. */
static void test_cases(void) {
  static const struct {
    int32_t boxes;
    int64_t ranks;
    bool cuboids;
    int32_t first[3], last[3]; /* cells of the first and the last rank's part */
  } cases[] = {
      {1, 1, true, {2, 2, 2}, {2, 2, 2}},
      {2, 2, true, {4, 4, 2}, {4, 4, 2}},
      {2, 3, false, {0, 0, 0}, {0, 0, 0}}, /* 4 boxes against a mean of 2.7 */
      {2, 8, true, {2, 2, 2}, {2, 2, 2}},
      {3, 27, true, {2, 2, 2}, {2, 2, 2}},
      {5, 2, false, {0, 0, 0}, {0, 0, 0}}, /* 75 boxes, mean 62.5 */
      {10, 2, true, {20, 20, 10}, {20, 20, 10}},
      {12, 4, true, {24, 12, 12}, {24, 12, 12}},
      {12, 3, true, {24, 24, 8}, {24, 24, 8}},
      {8, 3, false, {0, 0, 0}, {0, 0, 0}}, /* 3 of 8 layers are not a third */
      {20, 2, true, {40, 40, 20}, {40, 40, 20}},
      {41, 2, true, {82, 82, 42}, {82, 82, 40}}, /* 21 of 41 layers: 2.4 % above the mean */
      {6, 27, true, {4, 4, 4}, {4, 4, 4}},
      {15, 5, true, {30, 30, 6}, {30, 30, 6}}, /* fifths of k, not repeated halving */
      {65536, 1073741824, true, {128, 128, 128}, {128, 128, 128}},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const mg_layout_t y = chosen_cube(cases[c].boxes, 2, cases[c].ranks, cases[c].ranks);
    CHECK_INT(y.cuboids, cases[c].cuboids);
    if (!y.cuboids || !cases[c].cuboids) continue;
    const mg_cuboid_t first = only_patch(&y, 0), last = only_patch(&y, cases[c].ranks - 1);
    for (int d = 0; d < 3; d++) {
      CHECK_INT(first.n[d], cases[c].first[d]);
      CHECK_INT(last.n[d], cases[c].last[d]);
      CHECK_INT(first.lo[d], 0);
      CHECK_INT(last.lo[d] + last.n[d], y.n[d]);
    }
  }
}

/* Every box lies in its owner's cuboid; no rank exceeds the mean by more than a twentieth. */
static void check_owners(const mg_layout_t *y) {
  int64_t held = 0, most = 0;
  for (int64_t rank = 0; rank < y->world_ranks; rank++) {
    const int64_t share = mg_layout_share(y, rank);
    held += share;
    most = share > most ? share : most;
    CHECK(20 * share * y->n_ranks <= 21 * mg_layout_n_boxes(y));
    const mg_cuboid_t part = only_patch(y, rank);
    const int32_t w = y->box_dim;
    CHECK_INT((int64_t)(part.n[0] / w) * (part.n[1] / w) * (part.n[2] / w), share);
    EACH_CELL(at, ((const int32_t[3]){part.n[0] / w, part.n[1] / w, part.n[2] / w})) {
      const int32_t box[3] = {part.lo[0] / w + at[0], part.lo[1] / w + at[1],
                              part.lo[2] / w + at[2]};
      CHECK_INT(mg_layout_owner(y, box), rank);
    }
  }
  CHECK_INT(held, mg_layout_n_boxes(y));
  CHECK_INT(mg_layout_largest_share(y), most);
}

static void test_owners(void) {
  int n_cuboids = 0, n_curve = 0;
  for (int32_t boxes = 1; boxes <= 14; boxes++)
    for (int64_t n_ranks = 1; n_ranks <= 40 && n_ranks <= boxes * boxes * boxes; n_ranks++) {
      const mg_layout_t y = chosen_cube(boxes, 4, n_ranks, n_ranks + boxes % 3);
      n_cuboids += y.cuboids;
      n_curve += !y.cuboids;
      if (y.cuboids) check_owners(&y);
    }
  CHECK(n_cuboids > 50 && n_curve > 50);
  /* 24 x 16 x 40 cells: two halves of the longest side on 2 ranks are uneven, fifths are not. */
  const int32_t brick[3] = {3, 2, 5}, twice[3] = {6, 4, 10};
  const mg_layout_t halves = chosen(brick, 8, 2, 2), fifths = chosen(brick, 8, 5, 5);
  CHECK(!halves.cuboids && fifths.cuboids);
  for (int64_t n_ranks = 1; n_ranks <= 240; n_ranks++) {
    const mg_layout_t y = chosen(twice, 4, n_ranks, n_ranks + 1);
    if (y.cuboids) check_owners(&y);
  }
}

static void test_nesting(void) {
  int n_yes = 0, n_no = 0, n_mixed = 0;
  for (int32_t boxes = 1; boxes <= 24; boxes++)
    for (int64_t ranks = 1; ranks <= 40 && ranks <= boxes * boxes * boxes; ranks++)
      for (int merged = 0; merged < 2; merged++) {
        const mg_layout_t coarse = chosen_cube(boxes, 4, ranks, ranks + 1);
        const mg_layout_t fine = chosen_cube(boxes << merged, 8 >> merged, ranks, ranks + 1);
        const bool nest = mg_layouts_nest(&fine, &coarse);
        if (fine.cuboids != coarse.cuboids) {
          CHECK(!nest);
          n_mixed++;
        } else if (fine.cuboids) {
          CHECK_INT(nest, patches_nest(&fine, &coarse));
          for (int64_t rank = 0; rank <= ranks; rank++) {
            (void)only_patch(&fine, rank);
            (void)only_patch(&coarse, rank);
          }
          n_yes += nest;
          n_no += !nest;
        }
      }
  CHECK(n_yes > 50 && n_no > 0 && n_mixed > 10);
}

int main(void) {
  test_cases();
  test_owners();
  test_nesting();
  return TEST_RESULT();
}
