/* Transfer between a level and the next coarser one.
 *
 * Restriction and interpolation always use a rank's own fine patches and their coarsened patches.
 * If these are the patches of the coarse level, they are used in place.
 *
 * Otherwise boxes merge or gather onto fewer ranks, or the coarse level lives on another processor.
 * Then the coarsened patches are an image of the coarse cells. Gather sends restricted values from
 * the image to their owners. Scatter fills the image from the coarse level, with all ghosts that
 * interpolation reads. */
#ifndef MG_TRANSFER_H
#define MG_TRANSFER_H

#include "level/level.h"

/** Interpolation of an operator: for corrections (V-cycle), or for solutions on the upward leg of
 *  the F-cycle. */
mg_interpolation_t mg_interpolation_of(mg_operator_t op, mg_cycle_t cycle);

/** coarse dst = mean of 8 cells of fine src. Collective over the ranks of both levels. */
MG_MUST_CHECK mg_status_t mg_restrict(mg_hierarchy_t *h, int l, mg_vector_t src, mg_vector_t dst);

/** coarse MG_F = mean of 8 cells of MG_F - A x of level l, fused if the backend can. x is the
 *  level's iterate; of MG_U and MG_TMP, the other one may be overwritten. */
MG_MUST_CHECK mg_status_t mg_residual_restrict(mg_hierarchy_t *h, int l);

/** Smooth level l and restrict its residual: mg_pre_smooth and mg_residual_restrict, as one
 *  operation if the backend can. */
MG_MUST_CHECK mg_status_t mg_smooth_restrict(mg_hierarchy_t *h, int l, bool zero_guess);

/** Restrict the face betas of level l to level l+1, including closing faces but not the halo. */
MG_MUST_CHECK mg_status_t mg_restrict_betas(mg_hierarchy_t *h, int l);

/** Fill the ghosts of the face betas that lie inside the domain. Collective over the level. */
MG_MUST_CHECK mg_status_t mg_halo_betas(mg_hierarchy_t *h, int l);

/** x of level l = (add ? x : 0) + P MG_U of level l+1, where x is the level's iterate: MG_U except
 *  after mg_pre_smooth.
 *
 *  Fills the coarse ghosts first, at the order of `kind`. */
MG_MUST_CHECK mg_status_t mg_interpolate(mg_hierarchy_t *h, int l, mg_interpolation_t kind,
                                         bool add);

/** Fill the ghosts of MG_U of level l+1 that an interpolation to level l reads. Collective over the
 *  ranks of both levels. */
MG_MUST_CHECK mg_status_t mg_fill_coarse_ghosts(mg_hierarchy_t *h, int l, mg_interpolation_t kind);

/** mg_interpolate as the input of the next smooth of level l, which must be from a guess and come
 *  before anything else reads the iterate. If the backend can, its first sweep interpolates, and
 *  only coarse ghosts are exchanged here. Collective over the ranks of both levels.
 *  @param[in] smoothed  MG_U of level l+1 is the result of its last smooth, without a residual:
 *      nothing is exchanged if that smooth has filled its ghosts (mg_smooth_fills_ghosts) */
MG_MUST_CHECK mg_status_t mg_interpolate_to_smooth(mg_hierarchy_t *h, int l,
                                                   mg_interpolation_t kind, bool add,
                                                   bool smoothed);

#endif
