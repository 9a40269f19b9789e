/* Chooses by measurement which coarse levels of a GPU run are computed on the CPU. */
#ifndef MG_GPU_CUTOFF_H
#define MG_GPU_CUTOFF_H

#include "run/trial.h"

/** Solve small problems with the run's operator, boundary, smoother and cycle on its device, for
 *  one first level on the CPU after another. One rank solves, as on the coarse levels of a run.
 *  Collective over the world; all ranks get the same result.
 *
 *  @param[in]  plan   plan of the run, as far as it is known
 *  @param[out] found  no rows if the grid is too small; the first one has all levels on the GPU
 *  @pre the device is open, and there is memory for a grid of 64^3 cells
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_gpu_cutoff_measure(const mg_params_t *params, const mg_plan_t *plan,
                                                mg_trials_t *found);

/** Resolve --cpu-below=auto: 0 if no level is on a GPU, otherwise the fastest measured value.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  cpu_below is a number afterwards
 *  @return as mg_gpu_cutoff_measure */
MG_MUST_CHECK mg_status_t mg_gpu_cutoff_choose(mg_params_t *params, const mg_plan_t *plan,
                                               mg_trials_t *found);

#endif
