/* Which grids, in which boxes, on how many ranks, on which backend: the whole run in integers. */
#ifndef MG_PLAN_H
#define MG_PLAN_H

#include "params/params.h"
#include "plan/decomp.h"

enum {
  MG_MAX_LEVELS = 24,
  MG_MAX_LOG2_DIM = 20, /**< of the cells a side: n^3 fits 64 bits */
  MG_MAX_DIM = 1 << MG_MAX_LOG2_DIM,
  MG_MAX_LOG2_SHARE = 53, /**< of a rank's cells: their bytes fit 64 bits */
  MG_MIN_BOX_DIM = 16,
  MG_MAX_BOX_DIM = 1024,
  MG_PASS_CELLS = 1 << 19, /**< of a rank, from which on a device makes several steps in a pass */
  MG_MAX_ODD_PART = 11,    /**< of the cells a side: the coarsest grid is at most 11^3 */
  MG_ROW_DOUBLES = 16      /**< rows start on 128-byte lines */
};

/** Where a level lives. */
typedef enum {
  MG_PLACE_CPU,
  MG_PLACE_CUDA,
  MG_PLACE_CUDA_SIMPLE,
  MG_PLACE_GUARD,
  MG_N_PLACES
} mg_place_t;

static inline bool mg_place_is_cuda(mg_place_t place) {
  return place == MG_PLACE_CUDA || place == MG_PLACE_CUDA_SIMPLE;
}

/** Static name of a place, as reports print it. */
const char *mg_place_name(mg_place_t place);

/** One level of the hierarchy. */
typedef struct {
  mg_layout_t layout;
  mg_place_t place;
  unsigned vectors;   /**< stored for each patch: 1 << mg_vector_t of each */
  bool nests_coarse;  /**< the next coarser level's patches are the halves of this one's */
  bool shared;        /**< in memory that the next finer level's processor reaches as well */
  int layers;         /**< of ghosts of every patch: plan.ghosts, or as many as a pass has steps */
  int steps_per_pass; /**< of the smoother, at the most; 1: no passes of several steps */
} mg_level_plan_t;

/** The hierarchy, finest level first. */
typedef struct {
  int n_levels;
  int ghosts;          /**< ghost layers that the operator reads: 1, or 2 for fv4 */
  int64_t boxes_asked; /**< boxes per rank times ranks; the grid may use fewer */
  mg_level_plan_t level[MG_MAX_LEVELS];
} mg_plan_t;

/** Strides and sizes of a patch's arrays, in doubles. */
typedef struct {
  int64_t jstride, kstride; /**< from a row to the next, from a plane to the next */
  int64_t origin;           /**< offset of cell (0,0,0) in a vector's array */
  int64_t size;             /**< one vector, padding included */
} mg_shape_t;

/** Bytes that a rank needs for one level. */
typedef struct {
  int64_t boxes;
  int n_patches;
  int64_t vectors;       /**< the patches' vectors */
  int64_t images;        /**< the copy of the next coarser level's cells, where it lies elsewhere */
  int64_t buffers;       /**< messages: bound from above */
  int64_t at_coarse_end; /**< of these, what the owner of the next coarser level's cells has */
} mg_level_bytes_t;

/** Boxes a side of the finest grid: the largest b with b^3 <= boxes_per_rank * ranks whose cells
 *  a side, b * 2^log2_box_dim, have an odd part of at most MG_MAX_ODD_PART. */
int32_t mg_plan_boxes_a_side(int log2_box_dim, int64_t boxes_per_rank, int64_t ranks);

/** What to ask for so that the grid has so many cells a side: boxes of box_cells, or smaller ones
 *  where there are so many ranks that these would make a larger grid.
 *
 *  @param[in] box_cells  a side: a power of two that divides `cells`
 *  @return false where no boxes make this grid */
bool mg_plan_size_of(int64_t cells, int64_t box_cells, int64_t ranks, int *log2_box_dim,
                     int64_t *boxes_per_rank);

/** The next sizes below and above so many cells a side that a grid may have; the same twice for a
 *  size that it may have.
 *  @param[out] below  0 for none */
void mg_plan_nearest_sizes(int64_t cells, int64_t *below, int64_t *above);

/** Lay out every level.
 *
 *  @param[in]  ranks    of the whole run
 *  @param[out] message  on an error one line that names the limit and the nearest size that works
 *  @return MG_OK, MG_ERR_USAGE when the grid has more than MG_MAX_DIM cells a side or a rank more
 *          than 2^MG_MAX_LOG2_SHARE cells
 *  @ref problem statement in docs/algorithm.md, "Levels" */
MG_MUST_CHECK mg_status_t mg_plan_build(const mg_params_t *params, int64_t ranks, mg_plan_t *plan,
                                        char *message, int message_size);

/** Ranks of the run that hold no cell of any level. */
static inline int64_t mg_plan_idle_ranks(const mg_plan_t *plan) {
  return plan->level[0].layout.world_ranks - plan->level[0].layout.n_ranks;
}

/** The nearest numbers of ranks of which none is idle, with the same LOG2_BOX_DIM and
 * BOXES_PER_RANK.
 *  @param[in]  plan   of `params`
 *  @param[out] below  with the same grid: the run's own ranks if none of them is idle
 *  @param[out] above  more than the run's, mostly with a larger grid; 0: none found, or the grid is
 * a file's */
void mg_plan_useful_ranks(const mg_params_t *params, const mg_plan_t *plan, int64_t *below,
                          int64_t *above);

/** Memory layout of a patch of n[0] x n[1] x n[2] cells with so many layers of ghosts. */
mg_shape_t mg_shape(const int32_t n[3], int layers);

/** What a rank allocates for level l; exact for vectors and images.
 *  @return MG_OK, MG_ERR_MEMORY (of the small lists used on the way) */
MG_MUST_CHECK mg_status_t mg_plan_bytes(const mg_plan_t *plan, int l, int64_t rank,
                                        mg_level_bytes_t *bytes);

#endif
