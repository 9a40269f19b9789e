/* What the ranks of a plan have, without allocating it: bytes and messages of all, or of an even
 * sample where there are more of them than one can wait for. */
#ifndef MG_PLAN_STATS_H
#define MG_PLAN_STATS_H

#include "plan/plan.h"

/** Bytes of the ranks that were looked at. */
typedef struct {
  int64_t min, max, n_ranks;
  double sum; /**< where not all were looked at: so that the mean is that of all, as estimated */
} mg_tally_t;

static inline double mg_tally_mean(const mg_tally_t *tally) {
  return tally->n_ranks > 0 ? tally->sum / (double)tally->n_ranks : 0.0;
}

/** One level, of those ranks that hold boxes of it. */
typedef struct {
  int64_t boxes_per_rank_max; /**< of all ranks */
  double imbalance;           /**< cells of the fullest rank over the mean, of all ranks */
  int patches_max;            /**< of those that were looked at for their bytes */
  mg_tally_t bytes;
  double bytes_in_all; /**< of all ranks */
  /** What a rank sends in one exchange of all ghosts, at the most; of so many ranks. */
  int64_t messages_max, message_doubles_max, n_message_ranks;
  /** The same of an exchange without edges and corners. */
  int64_t face_messages_max, face_message_doubles_max;
} mg_level_stats_t;

/** The whole plan. */
typedef struct {
  int64_t n_ranks; /**< of the run */
  mg_level_stats_t level[MG_MAX_LEVELS];
  mg_tally_t bytes; /**< of a rank on all levels; over ranks without boxes too */
} mg_plan_stats_t;

/** Look at the ranks of a plan.
 *
 *  @param[in] messages  whether to look at them, which takes longer
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_plan_stats_collect(const mg_plan_t *plan, const mg_params_t *params,
                                                int64_t ranks, bool messages,
                                                mg_plan_stats_t *stats);

/** Bytes of all ranks: estimated where not all were looked at. */
double mg_plan_stats_bytes(const mg_plan_stats_t *stats);

#endif
