/* Statistics of a plan without allocating it: bytes and messages of all ranks, or of an evenly
 * spaced sample if there are too many ranks to evaluate. */
#ifndef MG_PLAN_STATS_H
#define MG_PLAN_STATS_H

#include "plan/plan.h"

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
typedef struct {
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
