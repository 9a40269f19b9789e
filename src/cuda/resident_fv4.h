/* Resident smooths of fv4, and the choice between them and those of the 7-point operators. */
#ifndef MG_CUDA_RESIDENT_FV4_H
#define MG_CUDA_RESIDENT_FV4_H

#include "cuda/cuda.h"

/** The entries can_reside and smooth_resident of the table, for all operators. */
bool mg_cuda_operator_can_reside(const mg_view_t *v, int n);
mg_status_t mg_cuda_operator_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                             const mg_resident_use_t *use);

#endif
