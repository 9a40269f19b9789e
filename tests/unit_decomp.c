/* Boxes on the Morton curve, ranks on the boxes, patches out of a rank's boxes. */
#include "decomp.h"
#include "random.h"
#include "test.h"
#include <stdlib.h>

/* Morton code in the enclosing cube of 2^21 boxes a side: the bits of i, j, k interleaved. */
static int64_t morton_code(const int32_t box[3]) {
  int64_t code = 0;
  for (int bit = 20; bit >= 0; bit--)
    for (int d = 2; d >= 0; d--)
      code = 2 * code + (box[d] >> bit & 1);
  return code;
}

static int64_t cube(int64_t n) {
  return n * n * n;
}

/* Positions number the boxes in the order of their Morton codes, none twice, none left out. */
static void test_curve(void) {
  for (int32_t boxes = 1; boxes <= 24; boxes++) {
    int64_t code_before = -1;
    for (int64_t position = 0; position < cube(boxes); position++) {
      int32_t box[3];
      mg_morton_box(boxes, position, box);
      for (int d = 0; d < 3; d++)
        CHECK(box[d] >= 0 && box[d] < boxes);
      CHECK_INT(mg_morton_position(boxes, box), position);
      CHECK(morton_code(box) > code_before);
      code_before = morton_code(box);
    }
  }
}

static void test_curve_of_largest_grids(void) {
  static const int32_t boxes[] = {65536, 65535, 57344, 36864, 1024, 896};
  random_t r = {1};
  for (int i = 0; i < 600; i++) {
    const int32_t m = boxes[i % 6];
    const int64_t position = i < 6 ? cube(m) - 1 : random_int(&r, 0, cube(m) - 2);
    int32_t box[3], next[3], parent[3];
    mg_morton_box(m, position, box);
    CHECK_INT(mg_morton_position(m, box), position);
    if (i < 6) continue;
    mg_morton_box(m, position + 1, next);
    CHECK(morton_code(next) > morton_code(box));
    for (int d = 0; d < 3; d++)
      parent[d] = box[d] / 2;
    if (m % 2 == 0) CHECK_INT(mg_morton_position(m / 2, parent), position / 8);
  }
}

static mg_layout_t layout_of(int32_t boxes, int32_t box_dim, int64_t n_ranks, int64_t world) {
  return (mg_layout_t){.n = boxes * box_dim,
                       .box_dim = box_dim,
                       .boxes = boxes,
                       .n_ranks = n_ranks,
                       .world_ranks = world};
}

/* Ranks, in the order of the curve, share the boxes: every box has one owner, shares differ by at
 * most one, and n_ranks of the world have one. */
static void check_shares(const mg_layout_t *y) {
  const int64_t n_boxes = mg_layout_n_boxes(y);
  int64_t next = 0, holders = 0, least = n_boxes, most = 0, gap_least = y->world_ranks,
          gap_most = 0;
  int64_t holder_before = -1;
  for (int64_t rank = 0; rank < y->world_ranks; rank++) {
    int64_t first, last;
    mg_layout_range(y, rank, &first, &last);
    if (first == last) continue;
    CHECK_INT(first, next);
    next = last;
    for (int64_t position = first; position < last; position++)
      CHECK_INT(mg_layout_owner(y, position), rank);
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
  /* Spread over the world evenly: nodes share the memory of the coarse levels. */
  if (holders > 1) CHECK(gap_most - gap_least <= 1);
}

static void test_shares(void) {
  static const int64_t worlds[] = {1, 2, 3, 5, 7, 8, 16, 27, 60, 64, 100, 1000};
  for (int32_t boxes = 1; boxes <= 12; boxes++)
    for (int w = 0; w < 12; w++) {
      const int64_t most = worlds[w] < cube(boxes) ? worlds[w] : cube(boxes);
      for (int64_t n_ranks = 1; n_ranks <= most; n_ranks += n_ranks < 20 ? 1 : most / 7 + 1) {
        const mg_layout_t y = layout_of(boxes, 4, n_ranks, worlds[w]);
        check_shares(&y);
      }
    }
}

/* A million ranks and more; boxes * ranks passes 2^63. */
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
    const mg_layout_t y = layout_of(runs[i].boxes, 16, runs[i].n_ranks, runs[i].world);
    const int64_t n_boxes = mg_layout_n_boxes(&y), floor = n_boxes / y.n_ranks;
    CHECK_INT(n_boxes, cube(runs[i].boxes));
    CHECK_INT(mg_layout_owner(&y, 0), 0);
    for (int probe = 0; probe < 1000; probe++) {
      const int64_t position = probe == 0 ? n_boxes - 1 : random_int(&r, 0, n_boxes - 1);
      const int64_t rank = mg_layout_owner(&y, position);
      int64_t first, last;
      CHECK(rank >= 0 && rank < y.world_ranks);
      mg_layout_range(&y, rank, &first, &last);
      CHECK(first <= position && position < last);
      CHECK(last - first == floor || last - first == floor + 1);
      CHECK(first == 0 || mg_layout_owner(&y, first - 1) < rank);
      CHECK(last == n_boxes || mg_layout_owner(&y, last) > rank);
    }
  }
}

/* Patches are whole boxes, and hold every box of the rank once and no other. */
static void check_patches(const mg_layout_t *y, int64_t rank) {
  mg_cuboid_t *patch;
  int n_patches;
  int64_t first, last, n_held = 0;
  mg_layout_range(y, rank, &first, &last);
  CHECK_INT(mg_layout_patches(y, rank, &patch, &n_patches), MG_OK);
  CHECK((n_patches == 0) == (first == last) && (patch == NULL) == (n_patches == 0));
  bool *held = calloc((size_t)(last - first) + 1, sizeof *held);
  for (int p = 0; p < n_patches; p++) {
    int32_t lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
      CHECK(patch[p].n[d] > 0 && patch[p].lo[d] % y->box_dim == 0);
      CHECK_INT(patch[p].n[d] % y->box_dim, 0);
      lo[d] = patch[p].lo[d] / y->box_dim;
      hi[d] = lo[d] + patch[p].n[d] / y->box_dim;
      CHECK(lo[d] >= 0 && hi[d] <= y->boxes);
    }
    for (int32_t k = lo[2]; k < hi[2]; k++)
      for (int32_t j = lo[1]; j < hi[1]; j++)
        for (int32_t i = lo[0]; i < hi[0]; i++) {
          const int32_t box[3] = {i, j, k};
          const int64_t at = mg_morton_position(y->boxes, box) - first;
          const bool fits = at >= 0 && at < last - first && !held[at];
          CHECK(fits);
          if (!fits) continue;
          held[at] = true;
          n_held++;
        }
  }
  CHECK_INT(n_held, last - first);
  free(held);
  free(patch);
}

static void test_patches(void) {
  static const int64_t worlds[] = {1, 2, 3, 5, 8, 13, 27, 40};
  for (int32_t boxes = 1; boxes <= 9; boxes++)
    for (int w = 0; w < 8; w++)
      for (int64_t n_ranks = 1; n_ranks <= worlds[w] && n_ranks <= cube(boxes); n_ranks += 2) {
        const mg_layout_t y = layout_of(boxes, w % 2 ? 2 : 16, n_ranks, worlds[w]);
        for (int64_t rank = 0; rank < worlds[w]; rank++)
          check_patches(&y, rank);
      }
}

/* Counts worked out by hand from the picture of the curve; a digit for each rank. */
static void test_patch_counts(void) {
  static const struct {
    int32_t boxes;
    int64_t ranks;
    const char *patches;
  } cases[] = {
      {1, 1, "1"},
      {2, 1, "1"},
      {2, 2, "11"},       /* slabs of 2x2x1 */
      {2, 3, "221"},      /* an L of 3 boxes; a pair and one; a pair */
      {2, 4, "1111"},     /* rows of 2 */
      {2, 8, "11111111"}, /* a box each */
      {4, 1, "1"},
      {4, 2, "11"},       /* slabs of 4x4x2 */
      {4, 4, "1111"},     /* bars of 4x2x2 */
      {4, 8, "11111111"}, /* cubes of 2^3: 8 boxes in a cube are one patch */
      {4, 64, "1111111111111111111111111111111111111111111111111111111111111111"},
      {3, 1, "1"},
      {3, 27, "111111111111111111111111111"},
      /* 3^3 lie on the curve as 2^3, then 1x2x2, 2x1x2, 1x1x2, 2x2x1, 1x2x1, 2x1x1 and one box:
       * the cube and the first of 1x2x2; 3x1x2, a pair and one; the plane on top */
      {3, 3, "231"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const mg_layout_t y = layout_of(cases[i].boxes, 16, cases[i].ranks, cases[i].ranks);
    for (int64_t rank = 0; rank < cases[i].ranks; rank++) {
      mg_cuboid_t *patch;
      int n_patches;
      CHECK_INT(mg_layout_patches(&y, rank, &patch, &n_patches), MG_OK);
      CHECK_INT(n_patches, cases[i].patches[rank] - '0');
      free(patch);
    }
  }
}

/* Are every rank's patches on the coarse layout the halves of its patches on the fine one? */
static bool patches_nest(const mg_layout_t *fine, const mg_layout_t *coarse) {
  bool nest = fine->n == 2 * coarse->n;
  for (int64_t rank = 0; rank < fine->world_ranks; rank++) {
    mg_cuboid_t *f, *c;
    int n_f, n_c;
    CHECK_INT(mg_layout_patches(fine, rank, &f, &n_f), MG_OK);
    CHECK_INT(mg_layout_patches(coarse, rank, &c, &n_c), MG_OK);
    nest = nest && n_f == n_c;
    for (int p = 0; nest && p < n_f; p++)
      for (int d = 0; d < 3; d++)
        nest = nest && f[p].lo[d] == 2 * c[p].lo[d] && f[p].n[d] == 2 * c[p].n[d];
    free(f);
    free(c);
  }
  return nest;
}

/* The answer is yes where patches nest, and no where they do not. */
static void test_nesting(void) {
  int n_yes = 0, n_no = 0;
  for (int32_t boxes = 1; boxes <= 6; boxes++)
    for (int64_t world = 1; world <= 30; world += world < 9 ? 1 : 7)
      for (int64_t n_c = 1; n_c <= world && n_c <= cube(boxes); n_c++)
        for (int64_t n_f = n_c; n_f <= world && n_f <= n_c + 1; n_f++)
          for (int merged = 0; merged < 2; merged++) {
            /* boxes halve their width, or eight become one */
            const mg_layout_t coarse = layout_of(boxes, 4, n_c, world);
            const mg_layout_t fine =
                merged ? layout_of(2 * boxes, 4, n_f, world) : layout_of(boxes, 8, n_f, world);
            if (n_f > mg_layout_n_boxes(&fine)) continue;
            const bool nest = mg_layouts_nest(&fine, &coarse);
            CHECK_INT(nest, patches_nest(&fine, &coarse));
            n_yes += nest;
            n_no += !nest;
          }
  CHECK(n_yes > 100 && n_no > 100);
  const mg_layout_t same = layout_of(4, 8, 2, 2), other = layout_of(4, 8, 2, 2);
  CHECK(!mg_layouts_nest(&same, &other));
}

int main(void) {
  test_curve();
  test_curve_of_largest_grids();
  test_shares();
  test_shares_of_largest_runs();
  test_patches();
  test_patch_counts();
  test_nesting();
  return TEST_RESULT();
}
