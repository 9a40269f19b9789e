/* Timed trial solves during set-up, for choices that depend on the machine. */
#ifndef MG_TRIAL_H
#define MG_TRIAL_H

#include "level/level.h"

/** Parameters of a trial: those of the run, with a single multigrid cycle per solve. */
mg_params_t mg_trial_params(const mg_params_t *params);

enum { MG_MAX_TRIALS = 8 };

/** One choice, and the solve time with it. */
typedef struct {
  int64_t below;        /**< value of --cpu-below or --agglomerate-below */
  int64_t finest_ranks; /**< limit on the ranks of the finest level; 0: none */
  int64_t ranks;        /**< number of ranks with cells of the finest level */
  double seconds;       /**< per solve, the fastest of a few */
} mg_trial_row_t;

/** Measurements, the same on every rank. */
typedef struct {
  int32_t n[3];                      /**< cells of the grid solved */
  int n_rows;                        /**< 0: nothing was measured */
  mg_trial_row_t row[MG_MAX_TRIALS]; /**< the first row is preferred */
  int best;                          /**< the row that was chosen */
  double seconds;                    /**< total time of the measurement */
} mg_trials_t;

/** How a choice is measured. */
typedef struct {
  double start; /**< when the measurement began (mg_now) */
  double limit; /**< seconds of timed solves of a row after which no further one begins */
  double gain;  /**< fraction of the time that another row must save to replace the first one */
} mg_trial_rules_t;

/** Add a row: time solves of the built-in problem on the finest level of a plan, a warm-up solve,
 *  then the fastest of a few. The hierarchy is built, and freed again.
 *
 *  Collective over the world; all ranks get the time of the slowest.
 *  @param[in]     params      from mg_trial_params
 *  @param[in]     transports  as for mg_hierarchy_create
 *  @param[in]     row         all but its seconds
 *  @param[in,out] found       best and seconds are those with the row
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_trial_add(const mg_params_t *params, const mg_plan_t *plan,
                                       mg_transports_t *transports, const mg_trial_rules_t *rules,
                                       mg_trial_row_t row, mg_trials_t *found);

/** Index of the fastest of n rows. The first one is preferred: it is replaced only by a time of
 * less than (1 - gain) times its own. */
int mg_trial_fastest(const mg_trial_row_t *row, int n, double gain);

/** Log all rows with --verbose. */
void mg_trial_log(const mg_trials_t *found, const char *title, const char *option);

#endif
