/* Layouts for unit tests of the decomposition. */
#ifndef MG_TEST_LAYOUTS_H
#define MG_TEST_LAYOUTS_H

#include "plan/decomp.h"

/** A layout of boxes[0] x boxes[1] x boxes[2] boxes, cut along the Morton curve. */
static inline mg_layout_t layout_of(const int32_t boxes[3], int32_t box_dim, int64_t n_ranks,
                                    int64_t world) {
  mg_layout_t y = {.box_dim = box_dim, .n_ranks = n_ranks, .world_ranks = world};
  for (int d = 0; d < 3; d++) {
    y.boxes[d] = boxes[d];
    y.n[d] = boxes[d] * box_dim;
  }
  return y;
}

/** layout_of a cube. */
static inline mg_layout_t cube_of(int32_t boxes, int32_t box_dim, int64_t n_ranks, int64_t world) {
  return layout_of((int32_t[3]){boxes, boxes, boxes}, box_dim, n_ranks, world);
}

#endif
