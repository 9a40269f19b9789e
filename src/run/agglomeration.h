/* Chooses by measurement onto how many ranks the levels of a GPU run are gathered. */
#ifndef MG_AGGLOMERATION_H
#define MG_AGGLOMERATION_H

#include "run/trial.h"

enum {
  /** The finest level is tried on fewer ranks up to this many cells per rank: 256^3. Above, more
   *  GPUs pay, and trials would need much time and memory: two H100s solve 256^3 1.4 times and
   *  512^3 1.7 times as fast as one. */
  MG_GATHERED_FINEST_MAX_CELLS = 1 << 24
};

/** Whether auto is measured: if several ranks have cells of the finest level on GPUs. The guard
 *  device stands for a GPU, for tests. */
bool mg_agglomeration_is_measured(const mg_plan_t *plan);

/** Solve with the run's levels gathered in several ways: with the fixed figure
 *  (mg_plan_min_cells_per_rank), with larger ones, and then with the finest level on fewer ranks.
 *  Hierarchies are built one after the other. Of a grid whose finest level stays on all ranks, only
 *  the coarse levels that the choice affects, and the next finer one, are built and solved.
 *  Collective over the world; all ranks get the same result.
 *
 *  @param[in]  params  cpu_below is a number
 *  @param[in]  plan    plan of the run
 *  @param[out] found   no rows unless mg_agglomeration_is_measured and there is a choice
 *  @pre the device is open, and no hierarchy exists
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, MG_ERR_UNAVAILABLE
 *      (the requested transport) */
MG_MUST_CHECK mg_status_t mg_agglomeration_measure(const mg_params_t *params, const mg_plan_t *plan,
                                                   mg_trials_t *found);

/** Resolve --agglomerate-below=auto where mg_agglomeration_is_measured. Otherwise, and if a value
 *  was given, params are unchanged.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  agglomerate_below and finest_ranks are set if there was a choice
 *  @return as mg_agglomeration_measure */
MG_MUST_CHECK mg_status_t mg_agglomeration_choose(mg_params_t *params, const mg_plan_t *plan,
                                                  mg_trials_t *found);

/** The levels of a plan from level `first` on, as a plan whose finest level is that level.
 *
 *  @param[in]  params  those of `plan`
 *  @param[out] part    not `plan`
 *  @pre 0 <= first < plan->n_levels; the level is not on the CPU below a level on a device */
void mg_plan_coarse_part(const mg_plan_t *plan, const mg_params_t *params, int first,
                         mg_plan_t *part);

#endif
