/* Which coarse levels a run on a GPU leaves to the CPU: found by trying. */
#ifndef MG_GPU_CUTOFF_H
#define MG_GPU_CUTOFF_H

#include "plan/plan.h"

enum { MG_MAX_CROSSOVERS = 8 };

/** One place of the crossover and what a solve took with it. */
typedef struct {
  int32_t n;         /**< cells a side of the finest level on the CPU; 0: none is there */
  int64_t cpu_below; /**< the value of --cpu-below that means it */
  double seconds;    /**< of one solve, the fastest of a few */
} mg_gpu_cutoff_row_t;

/** What was measured, the same on every rank. */
typedef struct {
  int32_t n; /**< cells a side of the grid of the solves; 0: nothing was measured */
  int n_rows;
  mg_gpu_cutoff_row_t row[MG_MAX_CROSSOVERS]; /**< the first is all levels on the GPU */
  int best;                                   /**< the row that was taken */
  double seconds;                             /**< of the measuring in all */
} mg_gpu_cutoff_t;

/** Solve small problems with the run's own operator, boundary, smoother and cycle on its device,
 * the crossover to the CPU at one level after the other. One rank solves, as on the coarse levels
 * of a run. Collective over the world; all ranks get the same.
 *
 *  @param[in]  plan   of the run as far as it is known
 *  @param[out] found  what was measured; no rows where the grid is too small
 *  @pre the device is open, and there is memory for a grid of 64^3 cells
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, MG_ERR_DIVERGED */
MG_MUST_CHECK mg_status_t mg_gpu_cutoff_measure(const mg_params_t *params, const mg_plan_t *plan,
                                                mg_gpu_cutoff_t *found);

/** Settle --cpu-below=auto: 0 where no level is on a GPU; else the fastest of what was measured.
 *
 *  Collective over the world; all ranks agree.
 *  @param[in,out] params  cpu_below is a number afterwards
 *  @return as mg_gpu_cutoff_measure */
MG_MUST_CHECK mg_status_t mg_gpu_cutoff_choose(mg_params_t *params, const mg_plan_t *plan,
                                               mg_gpu_cutoff_t *found);

#endif
