/* Cells outside of the problem, and pockets.
 *
 * A cell without an open face (beta > 0) is outside: its u is not changed, its f and alpha are not
 * used. A mask closes the faces of solid cells. Cells whose u is given are outside too: an open
 * face between a given cell and a solved one, with coupling T, adds T to the solved cell's alpha
 * and T u_given to its f.
 *
 * A pocket is a set of solved cells that open faces connect. Without
 * alpha, a given cell and an open face on a Dirichlet side it is singular by itself: the mean of f
 * is removed in it, and u gets the mean of --mean.
 *
 * All of that is done on the host, with copies of the vectors of level 0, so it has the same bits
 * on CPUs and GPUs and on any ranks. The levels' operations see only an alpha that varies. */
#ifndef MG_SOLIDS_H
#define MG_SOLIDS_H

#include "level/level.h"
#include "wings.h"

/** Values of a mask. */
enum { MG_MASK_SOLID, MG_MASK_SOLVED, MG_MASK_GIVEN, MG_N_MASKS };

/** Whether betas may be 0, and a mask be given. */
static inline bool mg_may_close_faces(const mg_params_t *params) {
  return !MG_WING_SOLIDS && mg_traits_of(params->op)->closes_faces;
}

/** All functions are collective over the world, and return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE or
 *  MG_ERR_COMM unless they say more.
 *
 *  Take MG_U of level 0, without ghosts, as the mask: close the faces of solid cells, before betas
 *  have factors, and set MG_U to 0. If not all cells are solved, h->params.closes_cells becomes
 *  true. */
MG_MUST_CHECK mg_status_t mg_solids_take_mask(mg_hierarchy_t *h);

/** Take MG_U of level 0 as the values of u in cells outside, for mg_solids_set_rhs and
 *  mg_solids_finish; without this call they are 0.
 *  @param[in] of_solids  in solid cells too
 *  @return also MG_ERR_USAGE (one of a given cell is not finite or above 1e60; logged) */
MG_MUST_CHECK mg_status_t mg_solids_take_values(mg_hierarchy_t *h, bool of_solids);

/** Find the cells outside and the pockets of level 0, once its alpha and betas have factors and
 *  Neumann walls are closed. Sets alpha outside to 0, and MG_U to 0.
 *  @param[in] sets_rhs  call mg_solids_set_rhs too */
MG_MUST_CHECK mg_status_t mg_solids_set(mg_hierarchy_t *h, bool sets_rhs);

/** Give rows without entries a diagonal, on all levels, after alpha and betas were restricted. */
MG_MUST_CHECK mg_status_t mg_solids_set_rows(mg_hierarchy_t *h);

/** Set MG_F of level 0, which has factors: 0 outside, with the shares of given cells and without
 *  the means of singular pockets. */
MG_MUST_CHECK mg_status_t mg_solids_set_rhs(mg_hierarchy_t *h);

/** Set a vector of level 0 to 0 outside. No effect without solids. */
MG_MUST_CHECK mg_status_t mg_solids_clear(mg_hierarchy_t *h, mg_vector_t vec);

/** Add to MG_U of level 0, a correction for the residual MG_F, the best constant in each pocket
 * that only alpha fixes. Coarse levels connect cells of different pockets, so cycles hardly see
 * these constants, whose A u is small. No effect with fewer than two such pockets, or without
 * solids. */
MG_MUST_CHECK mg_status_t mg_solids_correct(mg_hierarchy_t *h);

/** Set the means of MG_U in singular pockets, and its values outside. No effect without solids. */
MG_MUST_CHECK mg_status_t mg_solids_finish(mg_hierarchy_t *h);

/** For dumps: make MG_F, MG_ALPHA or a beta of level 0 what it was without given cells, and MG_U
 * what mg_solids_finish would, or the mask, with MG_MASK_SOLID in all cells outside that are not
 * given. Only mg_solids_restore may change the vector then, which undoes it. Not collective. */
MG_MUST_CHECK mg_status_t mg_solids_show(mg_hierarchy_t *h, mg_vector_t vec, bool mask);
MG_MUST_CHECK mg_status_t mg_solids_restore(mg_hierarchy_t *h, mg_vector_t vec);

/** Whether u of some cell is given. Collective. */
MG_MUST_CHECK mg_status_t mg_solids_find_given(const mg_hierarchy_t *h, bool *found);

#endif
