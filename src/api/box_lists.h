/* The boxes of an application and the patches of a level, of all ranks. */
#ifndef MG_BOX_LISTS_H
#define MG_BOX_LISTS_H

#include "comm/comm.h"
#include "level/level.h"

/** Cells of a rank. */
typedef struct {
  int rank;
  mg_cuboid_t cells;
} mg_held_t;

typedef struct {
  mg_held_t *item; /**< ordered by rank */
  int n;
  int *first; /**< of each rank, and n */
} mg_held_list_t;

struct mg_boxes {
  const mg_level_t *level;
  int me, ranks;
  mg_held_list_t box, patch;
  mg_requests_t *requests;
  double *stage[2]; /**< for host memory, if the level is on a device; else NULL */
  int64_t stage_doubles;
  double *message[2]; /**< of the boxes' and of the patches' parts, for host and device; or NULL */
  int64_t message_doubles;
};

void mg_boxes_free_messages(struct mg_boxes *boxes);

/** The cells next to a side of the grid; part: mg_cells_at. */
mg_cuboid_t mg_boxes_at_side(const struct mg_boxes *b, const mg_cuboid_t *cells, int part);

/** Cells of both cuboids. */
mg_cuboid_t mg_cuboid_common(const mg_cuboid_t *a, const mg_cuboid_t *b);

/** Cells of the grid. */
static inline const int32_t *mg_boxes_grid(const struct mg_boxes *b) {
  return b->level->plan->layout.n;
}

#endif
