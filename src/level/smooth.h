/* Smoothing of one level: the schedule of its sweeps (schedule.c), decided at set-up, and the loop
 * over it (smooth.c). */
#ifndef MG_LEVEL_SMOOTH_H
#define MG_LEVEL_SMOOTH_H

#include "level/level.h"

/** Schedule the steps of one smooth as sweeps over memory.
 *
 *  With two-iterate smoothers, steps between the first and the last fused sweep are single. Needs
 * no backend. Earlier contents of *out are not freed.
 *  @param[in]  max_fused   maximum number of fused steps per sweep; 1: none
 *  @param[in]  in_place    single steps update their vector in place
 *  @param[in]  zero_guess  the first iterate is zero instead of MG_U
 *  @param[out] out         refers to `steps`; free with mg_schedule_free
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_schedule_create(const mg_step_t *steps, int n_steps, int max_fused,
                                             bool in_place, bool zero_guess, mg_schedule_t *out);
/** Schedule all steps of one smooth as one resident sweep (backend.h), in place or from zero.
 *  Arguments and errors as for mg_schedule_create.
 *  @param[in] has_halo  ghosts are exchanged first, for all steps */
MG_MUST_CHECK mg_status_t mg_schedule_create_resident(const mg_step_t *steps, int n_steps,
                                                      bool zero_guess, bool has_halo,
                                                      mg_schedule_t *out);
void mg_schedule_free(mg_schedule_t *schedule);

/** Set the smoother of a level: its steps and their schedules.
 *
 *  All ranks use the same sweeps, because they exchange ghosts before each. Each rank decides on
 *  its own which sweeps overlap with messages.
 *  Collective over the level. Replaces an earlier smoother.
 *  @param[in] lambda_max  upper bound of the eigenvalues of Dinv A
 *  @param[in] max_fused   maximum number of fused steps per sweep, if the backend can fuse them
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_smoother_set(mg_level_t *level, const mg_params_t *params,
                                          double lambda_max, int max_fused);

/** The sweeps over memory of a smooth that starts from a guess, for reports. */
typedef struct {
  int steps, sweeps;
  int strip_rows; /**< rows at once, if a sweep passes through a CPU's caches; otherwise 0 */
} mg_smoothing_t;

/** All zero on ranks without cells of the level. */
mg_smoothing_t mg_smoothing_of(const mg_level_t *level);

/** Whether the level's smooths exchange ghosts only once, at their beginning, and leave the first
 *  layer of ghosts of the result valid, edges and corners included. Each sweep also computes the
 *  ghosts that later ones read, by the same formulas as the ranks that own these cells. A smooth
 *  that computes a residual leaves no valid ghosts. False on ranks without cells of the level. */
bool mg_smooth_fills_ghosts(const mg_level_t *level);

/** Apply the level's smoother steps to MG_U with right-hand side MG_F.
 *
 *  Overwrites MG_TMP (out-of-place smoothers) and MG_PREVIOUS.
 *  @param[in] zero_guess  start from zero and ignore MG_U
 *  @pre collective over the ranks that hold cells of the level; other ranks return at once */
MG_MUST_CHECK mg_status_t mg_smooth(mg_level_t *level, bool zero_guess);

/** mg_smooth before the correction from the coarser level. The result is the level's `iterate`,
 *  MG_U or MG_TMP: an odd number of vector swaps needs no copy, since the next smooth swaps back.
 *  Until then, MG_U and MG_TMP are both in use. Collective like mg_smooth. */
MG_MUST_CHECK mg_status_t mg_pre_smooth(mg_level_t *level, bool zero_guess);

/** Whether the last sweep of a smooth can also compute the residual, as mg_smooth_residual_to and
 *  mg_smooth_norm_begin require. The same on all ranks that hold cells of the level; false on
 *  others. */
bool mg_smooth_has_residual(const mg_level_t *level, bool zero_guess);

/** Whether the first sweep of a smooth from a guess can also interpolate that guess
 *  (mg_interpolate_to_smooth in transfer.h). The same on all ranks that hold cells of the level;
 *  false on others. */
bool mg_smooth_interpolates(const mg_level_t *level);

/** Whether a smooth is one resident sweep (backend.h), which reads no ghosts, not even of the
 *  coarser level if it interpolates. False on ranks without cells of the level. */
bool mg_smooth_is_resident(const mg_level_t *level);

/** mg_pre_smooth, then coarse dst = restricted residual of the iterate, by the last sweep.
 *  @param[in] coarse  view of the coarsened patches (mg_level_coarse_view)
 *  @pre mg_smooth_has_residual */
MG_MUST_CHECK mg_status_t mg_smooth_residual_to(mg_level_t *level, bool zero_guess,
                                                const mg_view_t *coarse, mg_vector_t dst);

/** mg_smooth_same_rhs that also reduces the residual of its result to the maximum norm, on the
 *  device. mg_residual_norm_end (ops.h) returns it; no other reduction may run in between.
 *  @pre mg_smooth_has_residual */
MG_MUST_CHECK mg_status_t mg_smooth_norm_begin(mg_level_t *level);

/** Smooth the level's iterate like mg_smooth(level, false), without exchanging the ghosts of MG_F.
 *  MG_U gets the result.
 *  @pre MG_F is unchanged since this level's last mg_smooth or mg_pre_smooth, so that its ghosts
 * are still valid */
MG_MUST_CHECK mg_status_t mg_smooth_same_rhs(mg_level_t *level);

#endif
