/* Fused sweeps (temporal blocking) of the 7-point smoothers: temporal.cu. */
#ifndef MG_CUDA_TEMPORAL_H
#define MG_CUDA_TEMPORAL_H

#include "cuda/cuda.h"

/** Backend entry `smooth` for sweeps of several steps. With `residual`: entry `smooth_residual`. */
mg_status_t mg_cuda_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                 bool residual, const mg_view_t *coarse, mg_vector_t dst);

/** `sweep_overlaps` of the backend table for n > 1. */
bool mg_cuda_fused_overlaps(const mg_view_t *v, int n, bool host);

#endif
