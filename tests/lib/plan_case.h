/* A plan for tests: its parameters, and the plan that is built from them. */
#ifndef MG_TEST_PLAN_CASE_H
#define MG_TEST_PLAN_CASE_H

#include "plan/plan.h"
#include "plan/plan_stats.h"
#include "tests/lib/test.h"

static mg_params_t params;
static mg_plan_t plan;
static char message[1024];

/* Default parameters with this size. */
static inline void set_size(int log2_box_dim, int64_t boxes_per_rank) {
  mg_params_defaults(&params);
  params.log2_box_dim = log2_box_dim;
  params.boxes_per_rank = boxes_per_rank;
}

/* Walls on all sides, or none. */
typedef enum { WALLS, PERIODIC } boundary_t;

static inline void set_boundary(boundary_t boundary) {
  mg_side_t side = {.u = 1.0, .wall = MG_WALL_DIRICHLET};
  if (boundary == PERIODIC) side = (mg_side_t){.wall = MG_WALL_NONE};
  for (int s = 0; s < 6; s++)
    params.side[s / 2][s % 2] = side;
}

/* Build over old contents, which must not affect the result. */
static inline mg_status_t build(int64_t ranks) {
  memset(&plan, 0xa5, sizeof plan);
  memset(message, 0, sizeof message);
  return mg_plan_build(&params, ranks, &plan, message, (int)sizeof message);
}

/* Bytes of a rank on a level. */
static inline int64_t bytes_of(int l, int64_t rank) {
  mg_level_bytes_t bytes;
  CHECK_INT(mg_plan_bytes(&plan, l, rank, &bytes), MG_OK);
  return bytes.vectors + bytes.images + bytes.buffers;
}

static inline int64_t cube(int64_t n) {
  return n * n * n;
}

#endif
