/* Statistics of a plan without allocating it: bytes of a rank, useful ranks, bytes and messages of
 * all ranks, or of an evenly spaced sample if there are too many ranks to evaluate. */
#ifndef MG_PLAN_STATS_H
#define MG_PLAN_STATS_H

#include "plan/plan.h"

/** Number of ranks that hold no cell of any level. */
static inline int64_t mg_plan_idle_ranks(const mg_plan_t *plan) {
  return plan->level[0].layout.world_ranks - plan->level[0].layout.n_ranks;
}

/** Memory layout of a patch of its own, with `layers` ghost layers on all sides. */
static inline mg_patch_strides_t mg_patch_strides(const int32_t n[3], int layers) {
  const int32_t first[3] = {0, 0, 0};
  return mg_patch_strides_of(n, first, n, layers, layers);
}

/** Bytes that a rank needs for one level. */
typedef struct {
  int64_t boxes;
  int n_patches;
  int64_t vectors; /**< vectors of the patches */
  int64_t images;  /**< copy of the next coarser level's cells, if these are stored elsewhere */
  int64_t buffers; /**< message buffers: an upper bound */
  int64_t
      coarse_buffers; /**< part of the buffers on the owners of the next coarser level's cells */
} mg_level_bytes_t;

/** Bytes that a rank allocates for level l; exact for vectors and images.
 *  @return MG_OK, MG_ERR_MEMORY (for the small temporary lists) */
MG_MUST_CHECK mg_status_t mg_plan_bytes(const mg_plan_t *plan, int l, int64_t rank,
                                        mg_level_bytes_t *bytes);

/** The nearest numbers of ranks that leave no rank idle, with the same LOG2_BOX_DIM and
 *  BOXES_PER_RANK.
 *  @param[in]  plan   plan of `params`
 *  @param[out] below  with the same grid: the current number of ranks if none is idle
 *  @param[out] above  more than the current number, mostly with a larger grid; 0: none found, or
 *         the grid is fixed by a file or by params->boxes */
void mg_plan_useful_ranks(const mg_params_t *params, const mg_plan_t *plan, int64_t *below,
                          int64_t *above);

/** Bytes of the sampled ranks. */
typedef struct {
  int64_t min, max, n_ranks;
  double sum; /**< of a sample: scaled so that the mean is the estimated mean of all ranks */
} mg_tally_t;

static inline double mg_tally_mean(const mg_tally_t *tally) {
  return tally->n_ranks > 0 ? tally->sum / (double)tally->n_ranks : 0.0;
}

/** Statistics of one level, over the ranks that hold boxes of it. */
typedef struct {
  int64_t boxes_per_rank_max; /**< over all ranks */
  double imbalance;           /**< cells of the fullest rank over the mean, over all ranks */
  int patches_max;            /**< over the ranks sampled for bytes */
  mg_tally_t bytes;
  double bytes_in_all; /**< sum over all ranks */
  /** Maximum that a rank sends in one exchange of all ghosts; n_message_ranks is the sample
   *  size. */
  int64_t messages_max, message_doubles_max, n_message_ranks;
  /** Same for an exchange without edges and corners. */
  int64_t face_messages_max, face_message_doubles_max;
} mg_level_stats_t;

/** Statistics of the whole plan. */
typedef struct mg_plan_stats {
  int64_t n_ranks; /**< number of ranks of the run */
  mg_level_stats_t level[MG_MAX_LEVELS];
  mg_tally_t bytes; /**< per rank, summed over all levels; includes ranks without boxes */
} mg_plan_stats_t;

/** Collect the statistics of a plan.
 *
 *  @param[in] messages  also evaluate messages, which takes longer
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_plan_stats_collect(const mg_plan_t *plan, const mg_params_t *params,
                                                int64_t ranks, bool messages,
                                                mg_plan_stats_t *stats);

/** Total bytes of all ranks; an estimate if only a sample was evaluated. */
double mg_plan_stats_bytes(const mg_plan_stats_t *stats);

#endif
