/* The boxes of an application, of all ranks. */
#ifndef MG_BOX_LISTS_H
#define MG_BOX_LISTS_H

#include "comm/comm.h"
#include "level/level.h"
#include "plan/copy_plan.h"

/** Cells of a rank. */
typedef struct {
  int rank;
  mg_cuboid_t cells;
} mg_held_t;

struct mg_boxes {
  const mg_level_t *level;
  int me, ranks;
  mg_held_t *box; /**< of all ranks, ordered by rank */
  int n;
  int *first;     /**< of each rank, and n */
  int32_t planes; /**< of the grid, that a round of messages moves */
  bool is_local;  /**< no cells pass between ranks, on any rank */
  mg_requests_t *requests;
  double *stage[2]; /**< for host memory, if the level is on a device; else NULL */
  int64_t stage_doubles;
  double *message[2]; /**< to send and received, for host and device; or NULL */
  int64_t message_doubles;
};

/** Plan the copies between the boxes and the level's patches.
 *  @param[in]  part    as mg_boxes_store
 *  @param[in]  planes  of the grid: the first, and one past the last
 *  @param[out] cells   of all boxes in these planes; empty ones have n = 0 in all directions */
MG_MUST_CHECK mg_status_t mg_boxes_plan(const struct mg_boxes *b, int part, const int32_t planes[2],
                                        bool storing, mg_cuboid_t *cells, mg_copy_plan_t *plan);

/** Make room for messages. */
MG_MUST_CHECK mg_status_t mg_boxes_reserve(struct mg_boxes *b, int64_t doubles);

/** Elements of a part of any rank's box. As mg_boxes_part, without the upper faces. */
mg_cuboid_t mg_boxes_cells(const struct mg_boxes *b, const mg_held_t *box, int part);

/** Cells of the grid. */
static inline const int32_t *mg_boxes_grid(const struct mg_boxes *b) {
  return b->level->plan->layout.n;
}

#endif
