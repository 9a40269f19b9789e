/* Chooses by measurement which coarse levels of a GPU run are computed on the CPU. */
#ifndef MG_GPU_CUTOFF_H
#define MG_GPU_CUTOFF_H

#include "plan/plan.h"

enum { MG_MAX_CUTOFFS = 8 };

/** One choice of the first level on the CPU, and the solve time with it. */
typedef struct {
  int32_t n;         /**< cells per side of the finest level on the CPU; 0: no level is */
  int64_t cpu_below; /**< equivalent value of --cpu-below */
  double seconds;    /**< per solve, the fastest of a few */
} mg_gpu_cutoff_row_t;

/** Measurements, the same on every rank. */
typedef struct {
  int32_t n; /**< cells per side of the grid solved; 0: nothing was measured */
  int n_rows;
  mg_gpu_cutoff_row_t row[MG_MAX_CUTOFFS]; /**< the first row has all levels on the GPU */
  int best;                                /**< the row that was chosen */
  double seconds;                          /**< total time of the measurement */
} mg_gpu_cutoff_t;

/** Solve small problems with the run's operator, boundary, smoother and cycle on its device, for
 *  one first level on the CPU after another. One rank solves, as on the coarse levels of a run.
 *  Collective over the world; all ranks get the same result.
 *
 *  @param[in]  plan   plan of the run, as far as it is known
 *  @param[out] found  measurements; no rows if the grid is too small
 *  @pre the device is open, and there is memory for a grid of 64^3 cells
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_gpu_cutoff_measure(const mg_params_t *params, const mg_plan_t *plan,
                                                mg_gpu_cutoff_t *found);

/** Resolve --cpu-below=auto: 0 if no level is on a GPU, otherwise the fastest measured value.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  cpu_below is a number afterwards
 *  @return as mg_gpu_cutoff_measure */
MG_MUST_CHECK mg_status_t mg_gpu_cutoff_choose(mg_params_t *params, const mg_plan_t *plan,
                                               mg_gpu_cutoff_t *found);

#endif
