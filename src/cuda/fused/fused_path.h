/* The path of fused sweeps on a GPU. The guard of the tests has the same path with other limits. */
#ifndef MG_FUSED_PATH_H
#define MG_FUSED_PATH_H

#include "plan/path.h"

/** From which levels on fused sweeps pay. */
typedef struct {
  int64_t min_cells; /**< per rank */
  /** Bytes of a vector per rank from which the last sweep computes the residual, and the first one
   *  interpolates: [0] steps on all cells, [1] colored steps. */
  int64_t residual_min_bytes[2], interpolation_min_bytes[2];
  int64_t one_exchange_max_cells; /**< per rank */
  int64_t one_exchange_min_ranks;
} mg_fused_limits_t;

bool mg_fused_can(const mg_level_facts_t *level, const mg_fused_limits_t *limits);
void mg_fused_needs(const mg_level_facts_t *level, const mg_fused_limits_t *limits,
                    mg_level_plan_t *plan);

#endif
