/* Plan of a run, in integers: grids, boxes, ranks and backend of every level. */
#ifndef MG_PLAN_H
#define MG_PLAN_H

#include "params/params.h"
#include "plan/path.h"

enum {
  MG_MAX_LEVELS = 24,
  MG_MAX_LOG2_DIM = 20, /**< log2 of the maximum cells per direction: n^3 fits in 64 bits */
  MG_MAX_DIM = 1 << MG_MAX_LOG2_DIM,
  MG_MAX_LOG2_SHARE = 53, /**< log2 of the maximum cells per rank: their bytes fit in 64 bits */
  MG_MIN_BOX_DIM = 16,
  MG_MAX_BOX_DIM = 1024,
  MG_MAX_ODD_PART = 11, /**< maximum odd factor of the cells per side: the coarsest grid is at
                           most 11^3 */
  MG_ROW_VALUES = 16,   /**< rows are aligned to 16 values: 128 bytes of doubles */
  MG_MAX_OUTER = 3      /**< solves start at h, 2h and 4h */
};

/** Set the paths of MG_PLACE_GUARD (tests/guard). */
void mg_plan_provide_guard(const mg_place_paths_t *paths);

/** Static name of a place, as reports print it. */
const char *mg_place_name(mg_place_t place);

/** Cells per rank below which --agglomerate-below=auto gathers a level if nothing was measured:
 * with fewer, a level is not worth its messages. */
int64_t mg_plan_min_cells_per_rank(mg_place_t place);

/** The hierarchy, finest level first. */
typedef struct mg_plan {
  int n_levels;
  int radius;          /**< ghost layers that the operator reads: 1, or 2 for fv4 */
  int64_t boxes_asked; /**< boxes per rank times ranks; the grid may use fewer */
  mg_level_plan_t level[MG_MAX_LEVELS];
  /** With --precision=mixed, `level` has the float levels, and `outer` the double cells of the
   *  levels where solves start. Otherwise n_outer is 0. */
  int n_outer;
  mg_level_plan_t outer[MG_MAX_OUTER];
} mg_plan_t;

/** Number of levels whose cells can be inspected: those of double cells. */
static inline int mg_plan_n_double_levels(const mg_plan_t *plan) {
  return plan->n_outer > 0 ? plan->n_outer : plan->n_levels;
}

/** Strides and sizes of a patch's arrays, in values. */
typedef struct {
  int64_t jstride, kstride; /**< from row to row, and from plane to plane */
  int64_t origin;           /**< offset of cell (0,0,0) in a vector's array */
  int64_t size;             /**< one vector, including padding */
} mg_patch_strides_t;

/** Boxes per side of a cube as the finest grid: the largest b with b^3 <= boxes_per_rank * ranks
 * such that the odd part of b * 2^log2_box_dim cells per side is at most MG_MAX_ODD_PART. */
int32_t mg_plan_boxes_a_side(int log2_box_dim, int64_t boxes_per_rank, int64_t ranks);

/** Build the layout of every level.
 *
 *  @param[in]  ranks    number of ranks of the whole run
 *  @param[out] message  on error, one line that names the limit and the nearest size that works;
 *      NULL with message_size 0: not needed
 *  @return MG_OK, MG_ERR_USAGE if the grid has more than MG_MAX_DIM cells in a direction or a rank
 *      has more than 2^MG_MAX_LOG2_SHARE cells
 *  @ref problem statement in docs/algorithm.md, "Levels" */
MG_MUST_CHECK mg_status_t mg_plan_build(const mg_params_t *params, int64_t ranks, mg_plan_t *plan,
                                        char *message, int message_size);

/** The finest grid, of `boxes` or --cells, on at most one rank per box and at most
 *  params->finest_ranks. */
mg_layout_t mg_plan_finest(const mg_params_t *params, const int32_t boxes[3], int64_t ranks);

/** Add a level to a plan: its layout and place. */
mg_level_plan_t *mg_plan_add_level(mg_plan_t *plan, const mg_params_t *params,
                                   const mg_layout_t *layout);

/** Ranks of a coarse level: a few cells on many ranks are bound by latency, so a level keeps only
 * as many ranks as have enough work, and at most `cap`. */
int64_t mg_plan_coarse_ranks(const mg_layout_t *coarse, int64_t fine_ranks, int64_t cap,
                             const mg_params_t *params);

/** Solver of the coarsest level: for --method=auto BiCGStab, if an inverse would be too large. */
static inline mg_bottom_t mg_plan_bottom(const mg_params_t *params, const mg_layout_t *coarsest) {
  const bool direct = params->bottom == MG_BOTTOM_DIRECT && params->chooses.bottom;
  return direct && mg_layout_n_cells(coarsest) > MG_DIRECT_MAX_CELLS ? MG_BOTTOM_BICGSTAB
                                                                     : params->bottom;
}

/** Set the properties of the levels that follow from their layouts and places: vectors, ghost
 *  layers, fused and resident sweeps, and with --precision=mixed the outer levels. mg_plan_build
 *  and mg_plan_coarse_part (run/agglomeration.h) call it. */
void mg_plan_set_levels(mg_plan_t *plan, const mg_params_t *params);

/** With --krylov=kcycle, choose the levels with CG steps, of n.
 *  @return the first level after all of them */
int mg_plan_inner_cg(mg_level_plan_t *level, int n, const mg_params_t *params);

/** Memory layout of a patch of n[0] x n[1] x n[2] cells with `layers` ghost layers, whose first
 * cell is `lo`, of a level of level_n cells, with `wall_layers` ghost layers outside the domain. */
mg_patch_strides_t mg_patch_strides_of(const int32_t n[3], const int32_t lo[3],
                                       const int32_t level_n[3], int layers, int wall_layers);

#endif
