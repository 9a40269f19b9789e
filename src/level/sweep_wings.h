/* Between schedules and smooths of single steps (schedule.c, smooth.c) and those of fused and
 * resident sweeps (fused_sweeps.c). */
#ifndef MG_SWEEP_WINGS_H
#define MG_SWEEP_WINGS_H

#include "level/level.h"

/** Append a sweep of sweep.n steps, from steps[first] on, and list the vectors whose ghosts it
 * reads. Fused sweeps also read ghosts of the right-hand side. Only the first one exchanges them.
 */
void mg_schedule_append(mg_schedule_t *s, const mg_step_t *steps, int first, mg_sweep_t sweep);

/** The exchange of ghosts that a sweep reads; and exchange those of n vectors, or with `beside` let
 *  the sweep begin with the interior. */
mg_exchange_t *mg_sweep_exchange(const mg_level_t *level, const mg_scheduled_sweep_t *s);
MG_MUST_CHECK mg_status_t mg_sweep_halo(mg_level_t *level, mg_exchange_t *exchange,
                                        const mg_vector_t *vec, int n, bool beside);

/** Run a sweep in a region. */
MG_MUST_CHECK mg_status_t mg_sweep_region(mg_level_t *level, const mg_scheduled_sweep_t *s,
                                          mg_region_t region, const mg_resident_use_t *use);

/* The functions of fused_sweeps.c: */

/** mg_schedule_create with two-iterate smoothers; s has room for all steps. */
MG_MUST_CHECK mg_status_t mg_schedule_two_iterates(const mg_step_t *steps, int n_steps,
                                                   int max_fused, bool zero_guess,
                                                   mg_schedule_t *s);

/** Schedule all steps of one smooth as one resident sweep (backend.h), in place or from zero.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_schedule_create_resident(const mg_level_t *level, bool zero_guess,
                                                      mg_schedule_t *out);

/** Decide what the sweeps of a schedule do besides their steps. Collective over the level. */
MG_MUST_CHECK mg_status_t mg_schedule_fuse(const mg_level_t *level, mg_schedule_t *s);

/** mg_sweep_region of a sweep that is resident, interpolates or uses a residual. */
MG_MUST_CHECK mg_status_t mg_sweep_fused(mg_level_t *level, const mg_scheduled_sweep_t *s,
                                         mg_region_t region, const mg_resident_use_t *use);

/** Run a sweep that overlaps with its messages. */
MG_MUST_CHECK mg_status_t mg_sweep_overlapped(mg_level_t *level, const mg_scheduled_sweep_t *s,
                                              const mg_resident_use_t *use);

#endif
