/* What the conditions on sides add to the finest level, and its fields without it. */
#ifndef MG_CONDITIONS_H
#define MG_CONDITIONS_H

#include "level/level.h"

/** Loads the values of the condition on a side into MG_U of the cells next to it (problem.h). */
typedef mg_status_t mg_wall_loader_t(void *data, mg_hierarchy_t *h, int d, int side);

/** Add the shares of all conditions to MG_F, and with `with_alpha` to MG_ALPHA if alpha varies.
 *  The betas on walls must have no factors, and not be closed.
 *  @param[in] load  for values that differ from face to face; NULL: the saved values are used */
MG_MUST_CHECK mg_status_t mg_conditions_add(mg_hierarchy_t *h, mg_wall_loader_t *load, void *data,
                                            bool with_alpha);

/** Add the share of one side.
 *  @param[in] values  as for set_wall (backend.h) */
MG_MUST_CHECK mg_status_t mg_conditions_add_side(mg_hierarchy_t *h, int d, int side,
                                                 const mg_side_t *condition, bool with_alpha,
                                                 mg_vector_t values);

#endif
