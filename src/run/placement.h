/* Choices that a run makes by measurement, the first two before it builds its levels. */
#ifndef MG_PLACEMENT_H
#define MG_PLACEMENT_H

#include "run/agglomeration.h"
#include "run/gpu_cutoff.h"
#include "run/strip_size.h"

/** Where the levels live, and why; the same on every rank. */
typedef struct {
  mg_trials_t gpu_cutoff;    /**< which coarse levels are on the CPU */
  mg_trials_t agglomeration; /**< how many ranks have cells of each level */
  mg_strip_size_t strips;    /**< how CPUs pass through a level; set after set-up */
} mg_placement_t;

/** Resolve --cpu-below=auto, then --agglomerate-below=auto, and plan again.
 *
 *  Collective over the world. Failures of single ranks end the run (mg_comm_agree_or_end).
 *  @param[in,out] params  as mg_gpu_cutoff_choose and mg_agglomeration_choose leave them
 *  @param[in,out] plan    plan of `params`
 *  @return as these two */
MG_MUST_CHECK mg_status_t mg_placement_choose(mg_params_t *params, mg_plan_t *plan,
                                              mg_placement_t *placement);

#endif
