/* Which level diverged, and the error that names it. */
#ifndef MG_DIVERGENCE_H
#define MG_DIVERGENCE_H

#include "solver/cycle.h"

/** Find the level on which a diverged solve went wrong, and log one line that names it.
 *
 *  Repeats the solve's cycles with a check after each change of a level: at the end a NaN has
 *  reached every level. After a restart, earlier cycles cannot be repeated, and the level is `top`.
 *  @param[in,out] history  sets diverged_level
 *  @return MG_ERR_DIVERGED, or the error that ended the search */
MG_MUST_CHECK mg_status_t mg_divergence_report(mg_hierarchy_t *h, int top, double f_norm,
                                               mg_history_t *history);

/** Log that plain cycles raise the residual, and what to do.
 *  @param[in] factor  of the last cycle
 *  @param[in,out] history  sets diverged_level to `top`
 *  @return MG_ERR_DIVERGED */
MG_MUST_CHECK mg_status_t mg_divergence_report_growth(const mg_hierarchy_t *h, int top,
                                                      double factor, mg_history_t *history);

#endif
