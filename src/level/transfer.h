/* Between a level and the next coarser one.
 *
 * Restriction and interpolation always run on a rank's own fine patches and their halves. Where
 * the coarse level's patches are those halves, they are used in place. Elsewhere (boxes merge, or
 * gather onto fewer ranks, or the coarse level lives on another processor) the halves are an
 * image of the coarse cells: restricted values go from it to their owners (gather), and coarse
 * values come to it with all the ghosts that interpolation reads (scatter). */
#ifndef MG_TRANSFER_H
#define MG_TRANSFER_H

#include "level/level.h"

/** The interpolation of an operator: of a V-cycle's corrections, or of the solutions on the way up
 *  an F-cycle. */
mg_interpolation_t mg_interpolation_of(mg_operator_t op, mg_cycle_t cycle);

/** coarse dst = mean of 8 of fine src. Collective over the ranks of both levels. */
MG_MUST_CHECK mg_status_t mg_restrict(mg_hierarchy_t *h, int l, int src, int dst);

/** coarse MG_F = mean of 8 of MG_F - A MG_U of level l, fused where the backend can. */
MG_MUST_CHECK mg_status_t mg_restrict_residual(mg_hierarchy_t *h, int l);

/** Face betas of level l onto level l+1, closing faces included, halo not. */
MG_MUST_CHECK mg_status_t mg_restrict_betas(mg_hierarchy_t *h, int l);

/** Fill the ghosts of the face betas that lie inside the domain. Collective over the level. */
MG_MUST_CHECK mg_status_t mg_halo_betas(mg_hierarchy_t *h, int l);

/** MG_U of level l = (add ? MG_U : 0) + P MG_U of level l+1.
 *
 *  The coarse ghosts are filled first, at the order of `kind`. */
MG_MUST_CHECK mg_status_t mg_interpolate(mg_hierarchy_t *h, int l, mg_interpolation_t kind,
                                         bool add);

#endif
