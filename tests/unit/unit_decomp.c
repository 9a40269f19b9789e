/* Boxes on the Morton curve, and distribution of boxes to ranks. */
#include "tests/lib/layouts.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"

/* Morton code in the enclosing cube of 2^21 boxes per side: interleaved bits of i, j, k. */
static int64_t morton_code(const int32_t box[3]) {
  int64_t code = 0;
  for (int bit = 20; bit >= 0; bit--)
    for (int d = 2; d >= 0; d--)
      code = 2 * code + (box[d] >> bit & 1);
  return code;
}

/* Positions number the boxes in Morton order without duplicates or gaps. */
static void check_curve(const int32_t boxes[3]) {
  int64_t code_before = -1;
  for (int64_t position = 0; position < mg_volume(boxes); position++) {
    int32_t box[3];
    morton_box(boxes, position, box);
    for (int d = 0; d < 3; d++)
      CHECK(box[d] >= 0 && box[d] < boxes[d]);
    CHECK_INT(mg_morton_position(boxes, box), position);
    CHECK(morton_code(box) > code_before);
    code_before = morton_code(box);
  }
}

static void test_curve(void) {
  random_t r = {3};
  for (int32_t m = 1; m <= 24; m++)
    check_curve((int32_t[3]){m, m, m});
  for (int round = 0; round < 60; round++)
    check_curve((int32_t[3]){(int32_t)random_int(&r, 1, 20), (int32_t)random_int(&r, 1, 20),
                             (int32_t)random_int(&r, 1, 20)});
}

static void test_curve_of_largest_grids(void) {
  static const int32_t boxes[] = {65536, 65535, 57344, 36864, 1024, 896};
  random_t r = {1};
  for (int i = 0; i < 600; i++) {
    const int32_t m = boxes[i % 6];
    const int64_t position = i < 6 ? cube(m) - 1 : random_int(&r, 0, cube(m) - 2);
    const int32_t all[3] = {m, m, m}, half[3] = {m / 2, m / 2, m / 2};
    int32_t box[3], next[3], parent[3];
    morton_box(all, position, box);
    CHECK_INT(mg_morton_position(all, box), position);
    if (i < 6) continue;
    morton_box(all, position + 1, next);
    CHECK(morton_code(next) > morton_code(box));
    for (int d = 0; d < 3; d++)
      parent[d] = box[d] / 2;
    if (m % 2 == 0) CHECK_INT(mg_morton_position(half, parent), position / 8);
  }
}

/* World rank that owns the box at a position of the curve. */
static int64_t owner_at(const mg_layout_t *y, int64_t position) {
  int32_t box[3];
  morton_box(y->boxes, position, box);
  return mg_layout_owner(y, box);
}

/* Ranks divide the boxes in curve order. Every box has one owner, shares differ by at most one,
 * and n_ranks ranks of the world have a share. */
static void check_shares(const mg_layout_t *y) {
  const int64_t n_boxes = mg_layout_n_boxes(y);
  int64_t next = 0, holders = 0, least = n_boxes, most = 0, gap_least = y->world_ranks,
          gap_most = 0;
  int64_t holder_before = -1;
  for (int64_t rank = 0; rank < y->world_ranks; rank++) {
    int64_t first, last;
    mg_layout_range(y, rank, &first, &last);
    CHECK_INT(mg_layout_share(y, rank), last - first);
    if (first == last) continue;
    CHECK_INT(mg_layout_rank(y, holders), rank);
    CHECK_INT(first, next);
    next = last;
    for (int64_t position = first; position < last; position++)
      CHECK_INT(owner_at(y, position), rank);
    holders++;
    least = last - first < least ? last - first : least;
    most = last - first > most ? last - first : most;
    if (holder_before >= 0) {
      const int64_t gap = rank - holder_before;
      gap_least = gap < gap_least ? gap : gap_least;
      gap_most = gap > gap_most ? gap : gap_most;
    }
    holder_before = rank;
  }
  CHECK_INT(next, n_boxes);
  CHECK_INT(holders, y->n_ranks);
  CHECK(most - least <= 1);
  CHECK_INT(mg_layout_largest_share(y), most);
  /* Owners are spread evenly over the world, so nodes share the memory of the coarse levels. */
  if (holders > 1) CHECK(gap_most - gap_least <= 1);
}

static void test_shares(void) {
  static const int64_t worlds[] = {1, 2, 3, 5, 7, 8, 16, 27, 60, 64, 100, 1000};
  for (int32_t boxes = 1; boxes <= 12; boxes++)
    for (int w = 0; w < 12; w++) {
      const int64_t most = worlds[w] < cube(boxes) ? worlds[w] : cube(boxes);
      for (int64_t n_ranks = 1; n_ranks <= most; n_ranks += n_ranks < 20 ? 1 : most / 7 + 1) {
        const mg_layout_t y = cube_of(boxes, 4, n_ranks, worlds[w]);
        check_shares(&y);
      }
    }
  for (int w = 0; w < 12; w++) {
    const int64_t n_ranks = worlds[w] < 30 ? worlds[w] : 30;
    const mg_layout_t y = layout_of((int32_t[3]){3, 2, 5}, 4, n_ranks, worlds[w]);
    check_shares(&y);
  }
}

/* A million ranks and more; boxes * ranks exceeds 2^63. */
static void test_shares_of_largest_runs(void) {
  static const struct {
    int32_t boxes;
    int64_t n_ranks, world;
  } runs[] = {{192, 1000000, 1000000},
              {96, 884736, 1000000},
              {1024, 1000000000, 1000000000},
              {896, 719323136, 1000000000},
              {65536, 999999937, 1000000000},
              {65536, 3, 1000000007},
              {8, 500, 1000003}};
  random_t r = {2};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    const mg_layout_t y = cube_of(runs[i].boxes, 16, runs[i].n_ranks, runs[i].world);
    const int64_t n_boxes = mg_layout_n_boxes(&y), floor = n_boxes / y.n_ranks;
    CHECK_INT(n_boxes, cube(runs[i].boxes));
    CHECK_INT(owner_at(&y, 0), 0);
    for (int probe = 0; probe < 1000; probe++) {
      const int64_t position = probe == 0 ? n_boxes - 1 : random_int(&r, 0, n_boxes - 1);
      const int64_t rank = owner_at(&y, position);
      int64_t first, last;
      CHECK(rank >= 0 && rank < y.world_ranks);
      mg_layout_range(&y, rank, &first, &last);
      CHECK(first <= position && position < last);
      CHECK(last - first == floor || last - first == floor + 1);
      CHECK(first == 0 || owner_at(&y, first - 1) < rank);
      CHECK(last == n_boxes || owner_at(&y, last) > rank);
    }
  }
}

int main(void) {
  test_curve();
  test_curve_of_largest_grids();
  test_shares();
  test_shares_of_largest_runs();
  return TEST_RESULT();
}
