/* Layouts for unit tests of the decomposition. */
#ifndef MG_TEST_LAYOUTS_H
#define MG_TEST_LAYOUTS_H

#include "plan/decomp.h"
#include "tests/lib/test.h"

/** A layout of boxes[0] x boxes[1] x boxes[2] boxes, cut along the Morton curve. */
static inline mg_layout_t layout_of(const int32_t boxes[3], int32_t box_dim, int64_t n_ranks,
                                    int64_t world) {
  mg_layout_t y = {.box_dim = box_dim, .n_ranks = n_ranks, .world_ranks = world};
  for (int d = 0; d < 3; d++) {
    y.boxes[d] = boxes[d];
    y.box[d] = box_dim;
    y.n[d] = boxes[d] * box_dim;
  }
  return y;
}

/** layout_of a cube. */
static inline mg_layout_t cube_of(int32_t boxes, int32_t box_dim, int64_t n_ranks, int64_t world) {
  return layout_of((int32_t[3]){boxes, boxes, boxes}, box_dim, n_ranks, world);
}

static inline int64_t cube(int64_t n) {
  return n * n * n;
}

/** Inverse of mg_morton_position: descend into the last octant that does not begin after it. */
static inline void morton_box(const int32_t boxes[3], int64_t position, int32_t box[3]) {
  box[0] = box[1] = box[2] = 0;
  for (int32_t half = 1 << 20; half > 0; half /= 2)
    for (int octant = 7; octant > 0; octant--) {
      int32_t corner[3];
      bool there = true;
      for (int d = 0; d < 3; d++) {
        corner[d] = box[d] + (octant >> d & 1) * half;
        there = there && corner[d] < boxes[d];
      }
      if (!there || mg_morton_position(boxes, corner) > position) continue;
      memcpy(box, corner, sizeof corner);
      break;
    }
}

/** True if every rank's coarse patches are exactly its fine patches coarsened by two. */
static inline bool patches_nest(const mg_layout_t *fine, const mg_layout_t *coarse) {
  bool nest = mg_doubles(fine->n, coarse->n);
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

#endif
