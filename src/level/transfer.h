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

/** Interpolation of an operator: for corrections (V-cycle), or for solutions of the F-cycle. */
mg_interpolation_t mg_interpolation_of(mg_operator_t op, mg_cycle_t cycle);

/** coarse dst = mean of 8 cells of fine src. Collective over the ranks of both levels. */
MG_MUST_CHECK mg_status_t mg_restrict(mg_hierarchy_t *h, int l, mg_vector_t src, mg_vector_t dst);

/** coarse MG_F = mean of the children's MG_F - A x of level l, fused if the backend can. Overwrites
 *  mg_other_vector(x) if it cannot.
 *  @param[in] has_halo  the ghosts of x are valid */
MG_MUST_CHECK mg_status_t mg_residual_restrict(mg_hierarchy_t *h, int l, mg_vector_t x,
                                               bool has_halo);

/** Restrict the face betas of level l to level l+1, including closing faces but not the halo. */
MG_MUST_CHECK mg_status_t mg_restrict_betas(mg_hierarchy_t *h, int l);

/** Fill the ghosts of the face betas that lie inside the domain. Collective over the level. */
MG_MUST_CHECK mg_status_t mg_halo_betas(mg_hierarchy_t *h, int l);

/** dst of level l = (add ? dst : 0) + P MG_U of level l+1, after mg_fill_coarse_ghosts. */
MG_MUST_CHECK mg_status_t mg_interpolate(mg_hierarchy_t *h, int l, mg_interpolation_t kind,
                                         mg_vector_t dst, bool add, bool has_ghosts);

/** Fill the ghosts of MG_U of level l+1 that an interpolation to level l reads. Collective over the
 *  ranks of both levels.
 *  @param[in] has_ghosts  those inside the domain are valid */
MG_MUST_CHECK mg_status_t mg_fill_coarse_ghosts(mg_hierarchy_t *h, int l, mg_interpolation_t kind,
                                                bool has_ghosts);

/** Whether one operation computes and restricts the residual. */
bool mg_level_restricts_residual(const mg_level_t *level);

/** What a leg leaves. */
typedef enum {
  MG_TO_SOLUTION, /**< an ascent: MG_U */
  MG_TO_NORM,     /**< MG_U, and the maximum norm of its residual on the device, between
                       mg_residual_norm_begin and mg_residual_norm_end (ops.h). Only if
                       mg_smooth_has_residual */
  MG_TO_COARSE    /**< a descent: level->descended, and the next level's MG_F: its residual */
} mg_leg_end_t;

/** The part of a cycle between two levels: interpolation, smooth, residual. */
typedef struct {
  mg_start_t start;
  mg_leg_end_t end;
  mg_interpolation_t kind; /**< of MG_FROM_COARSE and MG_FROM_CORRECTION */
  bool coarse_is_smoothed; /**< MG_U of the next coarser level is the result of its last leg,
                                without a norm: its ghosts need no exchange if that smooth has
                                filled them (mg_smooth_fills_ghosts) */
} mg_leg_t;

/** Run a leg on level l, in as few operations as the backend can.
 *
 *  MG_U and MG_TMP are both in use between a descent and the ascent (MG_FROM_CORRECTION) that ends
 *  it. Collective over the ranks of level l, and with an interpolation or a restriction of both
 *  levels. */
MG_MUST_CHECK mg_status_t mg_leg_run(mg_hierarchy_t *h, int l, const mg_leg_t *leg);

#endif
