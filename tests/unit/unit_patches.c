/* Patches: a rank's boxes are merged into few cuboids. Also tests when the patches of two levels
 * nest. */
#include "tests/lib/cells.h"
#include "tests/lib/layouts.h"
#include "tests/lib/test.h"
#include <stdlib.h>

/* Patches consist of whole boxes and hold every box of the rank exactly once, and no other box. */
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
      CHECK(lo[d] >= 0 && hi[d] <= y->boxes[d]);
    }
    EACH_CELL_FROM(box, lo, hi) {
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
        const mg_layout_t y = cube_of(boxes, w % 2 ? 2 : 16, n_ranks, worlds[w]);
        for (int64_t rank = 0; rank < worlds[w]; rank++)
          check_patches(&y, rank);
      }
}

static const int32_t bricks[][3] = {{3, 2, 5}, {1, 4, 7}, {6, 1, 1}, {2, 6, 4}};
enum { N_BRICKS = sizeof bricks / sizeof bricks[0] };

static void test_patches_of_bricks(void) {
  for (int b = 0; b < N_BRICKS; b++)
    for (int64_t ranks = 1; ranks <= mg_volume(bricks[b]); ranks++) {
      const mg_layout_t y = layout_of(bricks[b], 2, ranks, ranks);
      for (int64_t rank = 0; rank < ranks; rank++)
        check_patches(&y, rank);
    }
}

/* The algorithm of the header, with a mark on every box: start at the first remaining box and grow
 * along j, i and k.
 * @return the number of cuboids, which are written to `out` */
static int cut_greedily(const mg_layout_t *y, int64_t first, int64_t last, mg_cuboid_t *out) {
  static const int order[3] = {1, 0, 2};
  bool mine[6][6][6] = {{{false}}};
  int n = 0;
  for (int64_t p = first; p < last; p++) {
    int32_t box[3];
    morton_box(y->boxes, p, box);
    mine[box[2]][box[1]][box[0]] = true;
  }
  for (int64_t p = first; p < last; p++) {
    int32_t lo[3], hi[3];
    morton_box(y->boxes, p, lo);
    if (!mine[lo[2]][lo[1]][lo[0]]) continue;
    for (int d = 0; d < 3; d++)
      hi[d] = lo[d] + 1;
    for (int a = 0; a < 3; a++) {
      int32_t from[3] = {lo[0], lo[1], lo[2]};
      for (bool free = true; free; hi[order[a]] += free) {
        from[order[a]] = hi[order[a]];
        free = hi[order[a]] < y->boxes[order[a]];
        int32_t to[3] = {hi[0], hi[1], hi[2]};
        to[order[a]] += free;
        EACH_CELL_FROM(at, from, to) {
          free = free && mine[at[2]][at[1]][at[0]];
        }
      }
    }
    EACH_CELL_FROM(at, lo, hi) {
      mine[at[2]][at[1]][at[0]] = false;
    }
    for (int d = 0; d < 3; d++) {
      out[n].lo[d] = lo[d] * y->box_dim;
      out[n].n[d] = (hi[d] - lo[d]) * y->box_dim;
    }
    n++;
  }
  return n;
}

/* The patches are those of the algorithm; some are no single boxes. */
static void test_greedy_patches(void) {
  static mg_cuboid_t cut[216];
  int merged = 0;
  for (int32_t boxes = 1; boxes <= 6; boxes++)
    for (int64_t ranks = 1; ranks <= cube(boxes) && ranks <= 40; ranks++) {
      const mg_layout_t y = cube_of(boxes, 8, ranks, ranks);
      for (int64_t rank = 0; rank < ranks; rank++) {
        int64_t first, last;
        mg_cuboid_t *patch;
        int n_patches;
        mg_layout_range(&y, rank, &first, &last);
        CHECK_INT(mg_layout_patches(&y, rank, &patch, &n_patches), MG_OK);
        CHECK_INT(n_patches, cut_greedily(&y, first, last, cut));
        CHECK(memcmp(patch, cut, (size_t)n_patches * sizeof *patch) == 0);
        merged += n_patches < last - first;
        free(patch);
      }
    }
  CHECK(merged > 100);
}

/* Millions of boxes per rank: patches are disjoint, and their number of boxes is the rank's. */
static void test_patches_of_large_shares(void) {
  static const struct {
    int32_t boxes;
    int64_t ranks;
  } runs[] = {{4096, 1}, {256, 3}, {192, 7}, {384, 5}, {896, 64}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    const mg_layout_t y = cube_of(runs[i].boxes, 16, runs[i].ranks, runs[i].ranks);
    for (int64_t rank = 0; rank < runs[i].ranks; rank += 3) {
      int64_t first, last, n_boxes = 0;
      mg_cuboid_t *patch;
      int n_patches;
      mg_layout_range(&y, rank, &first, &last);
      CHECK_INT(mg_layout_patches(&y, rank, &patch, &n_patches), MG_OK);
      for (int p = 0; p < n_patches; p++) {
        n_boxes += (int64_t)(patch[p].n[0] / 16) * (patch[p].n[1] / 16) * (patch[p].n[2] / 16);
        for (int q = 0; q < p; q++) {
          bool apart = false;
          for (int d = 0; d < 3; d++)
            apart |= patch[p].lo[d] >= patch[q].lo[d] + patch[q].n[d] ||
                     patch[q].lo[d] >= patch[p].lo[d] + patch[p].n[d];
          CHECK(apart);
        }
      }
      CHECK_INT(n_boxes, last - first);
      free(patch);
    }
  }
}

/* Counts worked out by hand from the picture of the curve; one digit per rank. */
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
      {2, 8, "11111111"}, /* one box per rank */
      {4, 1, "1"},
      {4, 2, "11"},       /* slabs of 4x4x2 */
      {4, 4, "1111"},     /* bars of 4x2x2 */
      {4, 8, "11111111"}, /* cubes of 2^3: 8 boxes in a cube are one patch */
      {4, 64, "1111111111111111111111111111111111111111111111111111111111111111"},
      {3, 1, "1"},
      {3, 27, "111111111111111111111111111"},
      /* The curve visits 3^3 boxes as 2^3, then 1x2x2, 2x1x2, 1x1x2, 2x2x1, 1x2x1, 2x1x1 and one
       * box. The ranks hold the cube and the first of 1x2x2; 3x1x2, a pair and one; and the top
       * plane. */
      {3, 3, "231"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const mg_layout_t y = cube_of(cases[i].boxes, 16, cases[i].ranks, cases[i].ranks);
    for (int64_t rank = 0; rank < cases[i].ranks; rank++) {
      mg_cuboid_t *patch;
      int n_patches;
      CHECK_INT(mg_layout_patches(&y, rank, &patch, &n_patches), MG_OK);
      CHECK_INT(n_patches, cases[i].patches[rank] - '0');
      free(patch);
    }
  }
}

/* Reports true exactly if the patches nest. */
static void test_nesting(void) {
  int n_yes = 0, n_no = 0;
  for (int32_t boxes = 1; boxes <= 6; boxes++)
    for (int64_t world = 1; world <= 30; world += world < 9 ? 1 : 7)
      for (int64_t n_c = 1; n_c <= world && n_c <= cube(boxes); n_c++)
        for (int64_t n_f = n_c; n_f <= world && n_f <= n_c + 1; n_f++)
          for (int merged = 0; merged < 2; merged++) {
            /* boxes halve their width, or eight become one */
            const mg_layout_t coarse = cube_of(boxes, 4, n_c, world);
            const mg_layout_t fine =
                merged ? cube_of(2 * boxes, 4, n_f, world) : cube_of(boxes, 8, n_f, world);
            if (n_f > mg_layout_n_boxes(&fine)) continue;
            const bool nest = mg_layouts_nest(&fine, &coarse);
            CHECK_INT(nest, patches_nest(&fine, &coarse));
            n_yes += nest;
            n_no += !nest;
          }
  CHECK(n_yes > 100 && n_no > 100);
  for (int b = 0; b < N_BRICKS; b++)
    for (int64_t ranks = 1; ranks <= mg_volume(bricks[b]); ranks++) {
      const int32_t *m = bricks[b], twice[3] = {2 * m[0], 2 * m[1], 2 * m[2]};
      const mg_layout_t coarse = layout_of(m, 4, ranks, ranks + 1),
                        wide = layout_of(m, 8, ranks, ranks + 1),
                        many = layout_of(twice, 4, ranks, ranks + 1);
      CHECK_INT(mg_layouts_nest(&wide, &coarse), patches_nest(&wide, &coarse));
      CHECK_INT(mg_layouts_nest(&many, &coarse), patches_nest(&many, &coarse));
    }
  const mg_layout_t same = cube_of(4, 8, 2, 2), other = cube_of(4, 8, 2, 2);
  CHECK(!mg_layouts_nest(&same, &other));
}

int main(void) {
  test_patches();
  test_patches_of_bricks();
  test_greedy_patches();
  test_patches_of_large_shares();
  test_patch_counts();
  test_nesting();
  return TEST_RESULT();
}
