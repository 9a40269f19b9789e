/* Resident smooths: all steps of a smooth in one launch whose blocks run at the same time. */
#ifndef MG_CUDA_RESIDENT_H
#define MG_CUDA_RESIDENT_H

#include "cuda/cuda.h"

/** Allocate and free the mailboxes of the process, mg_cuda.mailboxes.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuda_resident_open(void);
void mg_cuda_resident_close(void);

/** The entries can_reside and smooth_resident of the table. */
bool mg_cuda_can_reside(const mg_view_t *v, int n);
mg_status_t mg_cuda_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                    const mg_resident_use_t *use);

#endif
