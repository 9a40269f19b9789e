/* Smoothing of one level: the schedule of its sweeps (schedule.c), decided at set-up, and the loop
 * over it (smooth.c). */
#ifndef MG_LEVEL_SMOOTH_H
#define MG_LEVEL_SMOOTH_H

#include "backend/sweeps.h"
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
/** A copy to be changed by the functions below. `grown` views belong to the original, which must
 *  outlive it.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_schedule_copy(const mg_schedule_t *schedule, mg_schedule_t *copy);
void mg_schedule_free(mg_schedule_t *schedule);

/** The vector that replaces `vec` if MG_U and MG_TMP change places; and let them do so in all
 *  sweeps of a schedule. */
mg_vector_t mg_other_vector(mg_vector_t vec);
void mg_schedule_exchange_vectors(mg_schedule_t *schedule);
/** Let a sweep exchange no ghosts of a vector. */
void mg_schedule_drop_halo(mg_scheduled_sweep_t *sweep, mg_vector_t vec);
/** Let the first sweep read no iterate: the interpolation replaces it. */
void mg_schedule_drop_iterate(mg_schedule_t *schedule);

/** Set the smoother of a level: its steps and their schedules.
 *
 *  All ranks use the same sweeps, because they exchange ghosts before each. Each rank decides on
 *  its own which sweeps overlap with messages.
 *  Collective over the level. Replaces an earlier smoother.
 *  @param[in] lambda_max  upper bound of the eigenvalues of Dinv A
 *  @param[in] fused       use the planned path, if all ranks can; otherwise single steps
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_smoother_set(mg_level_t *level, const mg_params_t *params,
                                          double lambda_max, bool fused);

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

/** The smooth of a leg (transfer.h).
 *
 *  Collective like mg_smooth.
 *  @param[in] use  what the first and the last sweep do besides: interpolate the first iterate if
 *      mg_smooth_interpolates, use the residual of the result if mg_smooth_has_residual. Without a
 *      source, MG_FROM_COARSE reads MG_U and MG_FROM_CORRECTION level->descended
 *  @param[in] to   vector of the result: MG_U, or level->descended, which needs no copy */
MG_MUST_CHECK mg_status_t mg_smooth_from(mg_level_t *level, mg_start_t start,
                                         const mg_resident_use_t *use, mg_vector_t to);

/** Whether the last sweep of a smooth can also compute the residual. The same on all ranks that
 *  hold cells of the level; false on others. */
bool mg_smooth_has_residual(const mg_level_t *level, mg_start_t start);

/** Whether the first sweep of a smooth can also interpolate its first iterate, or the correction
 *  to it. The same on all ranks that hold cells of the level; false on others. */
bool mg_smooth_interpolates(const mg_level_t *level);

/** Whether a smooth is one resident sweep (backend.h), which reads no ghosts, not even of the
 *  coarser level if it interpolates. False on ranks without cells of the level. */
bool mg_smooth_is_resident(const mg_level_t *level);

#endif
