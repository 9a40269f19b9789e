/* The steps of each smoother. */
#ifndef MG_SMOOTHER_STEPS_H
#define MG_SMOOTHER_STEPS_H

#include "base/status.h"
#include "formulas/smoother.h"
#include "params/params.h"

/** Steps of the smoother that a smooth repeats.
 *  @param[in]  lambda_max  as below
 *  @param[out] step        the first elements are set
 *  @return the number of steps, at least 1 */
int mg_smoother_steps_once(const mg_params_t *params, double lambda_max,
                           mg_step_t step[MG_MAX_DEGREE]);

/** Number of steps of a smooth. */
int mg_smoother_n_steps(const mg_params_t *params);

/** Steps of one smooth: those of the smoother, --smooths times.
 *  @param[in]  lambda_max  upper bound of the eigenvalues of Dinv A; only Chebyshev uses it
 *  @param[out] steps       to be freed by the caller; NULL on failure
 *  @param[out] n_steps     at least 1
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_smoother_steps(const mg_params_t *params, double lambda_max,
                                            mg_step_t **steps, int *n_steps);

/** Whether the steps form fused sweeps: none uses the l1-scaled diagonal, and all update all cells
 *  or the two colors alternately. */
bool mg_steps_fuse(const mg_step_t *steps, int n_steps);

/** Whether any step reads two iterates (c1 != 0). */
bool mg_steps_look_back(const mg_step_t *steps, int n_steps);

/** Maximum number of steps in a fused sweep: the operator's, or a smaller steps_per_pass. */
int mg_max_steps_per_pass(const mg_params_t *params);

#endif
