/* Operations between a level of double cells and its float level (--precision=mixed). */
#ifndef MG_LEVEL_MIXED_H
#define MG_LEVEL_MIXED_H

#include "backend/mixed.h"
#include "level/ops.h"

/** Between a level of double cells and its float level `low` (mg_hierarchy_t.low):
 *
 *  mg_lower: low dst = scale src, rounded; also the first layer of ghosts.
 *  mg_raise: MG_U = (add ? MG_U : 0) + scale low MG_U.
 *  mg_lower_residual: low MG_F = scale (MG_F - A MG_U), rounded; norm: max |MG_F - A MG_U| over the
 *  level, or NULL. Refreshes the ghosts of MG_U. */
MG_MUST_CHECK mg_status_t mg_lower(mg_level_t *level, mg_level_t *low, mg_vector_t src,
                                   mg_vector_t dst, double scale);
MG_MUST_CHECK mg_status_t mg_raise(mg_level_t *level, mg_level_t *low, double scale, bool add);
MG_MUST_CHECK mg_status_t mg_lower_residual(mg_level_t *level, mg_level_t *low, double scale,
                                            double *norm);

/** The same with a guess, interpolated where it is read, in place of MG_U, if the plan has it:
 *
 *  mg_lower_guess_residual: low MG_F = scale (MG_F - A guess), rounded.
 *  mg_correct_guess: MG_U = guess + scale low MG_U.
 *  mg_correct_guess_norm: also begins max |MG_F - A MG_U| on the device, which mg_residual_norm_end
 *  returns, and if residual_scale is not 0, low MG_F = residual_scale (MG_F - A MG_U), rounded.
 *
 *  No ghosts are exchanged: mg_fill_coarse_ghosts (transfer.h) fills those of the guess. */
MG_MUST_CHECK mg_status_t mg_lower_guess_residual(mg_level_t *level, mg_level_t *low,
                                                  const mg_guess_t *guess, double scale);
MG_MUST_CHECK mg_status_t mg_correct_guess(mg_level_t *level, mg_level_t *low,
                                           const mg_guess_t *guess, double scale);
MG_MUST_CHECK mg_status_t mg_correct_guess_norm(mg_level_t *level, mg_level_t *low,
                                                const mg_guess_t *guess, double scale,
                                                double residual_scale);

#endif
