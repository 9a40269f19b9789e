/* Coarse cycles of the 7-point operators: paired_cycle.cu. */
#ifndef MG_CUDA_COARSE_PAIRED_CYCLE_H
#define MG_CUDA_COARSE_PAIRED_CYCLE_H

#include "cuda/cuda.h"

typedef struct mg_paired_cycle mg_paired_cycle_t;

/** Prepare the levels of a job whose path is mg_path_cuda_cubes.
 *  @param step  device: the steps of all levels, concatenated; must outlive the result
 *  @param[out] out  free with mg_paired_cycle_free
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_INTERNAL (too little shared memory) */
mg_status_t mg_paired_cycle_create(const mg_coarse_cycle_job_t *job, const mg_step_t *step,
                                   mg_paired_cycle_t **out);
void mg_paired_cycle_free(mg_paired_cycle_t *cycle);

/** As the backend's `cycle_run`. */
mg_status_t mg_paired_cycle_run(const mg_paired_cycle_t *cycle, int top, mg_cycle_t kind,
                                bool zero_guess);

#endif
