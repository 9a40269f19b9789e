/* --steps-per-pass: the user's value, and what runs. */
#ifndef MG_FUSED_STEPS_H
#define MG_FUSED_STEPS_H

#include "params/params.h"

/** Limit steps_per_pass to what the device, the operator and the smoother can fuse. If that is not
 *  what the user chose, one line names what runs and why.
 *  @param[in] can_fuse  the GPUs of all ranks can fuse steps */
void mg_fused_steps_settle(mg_params_t *params, bool can_fuse);

#endif
