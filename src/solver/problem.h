/* Coefficients, right-hand side and smoother of every level. */
#ifndef MG_PROBLEM_H
#define MG_PROBLEM_H

#include "level/level.h"

/** Set up the problem on all levels. Finest level: betas, f, and alpha = 1 if it varies. Coarser
 *  levels: alpha and betas by restriction. All levels: Dinv, lambda_max and the smoother steps.
 *
 *  Collective over the world.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM, MG_ERR_DEVICE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_problem_set(mg_hierarchy_t *h);

/** Fields of level 0 that replace the built-in ones (domain.h). */
typedef struct mg_problem_source mg_problem_source_t;

/** Like mg_problem_set, with a source; NULL for none.
 *  @return status of mg_problem_set or of `load` */
MG_MUST_CHECK mg_status_t mg_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source);

/** The built-in beta and f of the finest level, without factors. */
MG_MUST_CHECK mg_status_t mg_problem_set_built_in(mg_hierarchy_t *h);

/** Copy the betas of a patch's faces at its low or high wall normal to d from another vector. */
MG_MUST_CHECK mg_status_t mg_copy_wall_betas(const mg_level_t *level, int patch, int d, int side,
                                             mg_vector_t src);

/** No flux passes a Neumann wall: its betas become 0. Restriction keeps them 0. */
MG_MUST_CHECK mg_status_t mg_close_neumann_walls(mg_level_t *level);

/** Restrict MG_F of the finest level down to level l, for a solve that starts there.
 *  @param[out] f_norm  max |MG_F| of level l, on every rank */
MG_MUST_CHECK mg_status_t mg_problem_restrict_rhs(mg_hierarchy_t *h, int l, double *f_norm);

#endif
