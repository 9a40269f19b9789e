/* Timed trial solves during set-up, for choices that depend on the machine. */
#ifndef MG_TRIAL_H
#define MG_TRIAL_H

#include "level/level.h"

/** Parameters of a trial: those of the run, with a single multigrid cycle per solve. */
mg_params_t mg_trial_params(const mg_params_t *params);

/** Time solves of the built-in problem on the finest level of a plan: a warm-up solve, then the
 *  fastest of a few. The hierarchy is built, and freed again.
 *
 *  Collective over the world; all ranks get the time of the slowest.
 *  @param[in]  params      from mg_trial_params
 *  @param[in]  transports  as for mg_hierarchy_create_on
 *  @param[in]  limit       seconds of timed solves after which no further one begins
 *  @param[out] seconds     per solve
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_trial_measure(const mg_params_t *params, const mg_plan_t *plan,
                                           mg_transports_t *transports, double limit,
                                           double *seconds);

/** Index of the smallest of n times. The first one is preferred: it is replaced only by a time of
 *  less than (1 - gain) times its own. */
int mg_trial_fastest(const double *seconds, int n, double gain);

/** Seconds since `start` on the slowest rank. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_trial_elapsed(double start, double *seconds);

#endif
