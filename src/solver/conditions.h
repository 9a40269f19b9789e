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

/** Make MG_F, MG_ALPHA or a beta of the finest level the one that was given, with the factors of
 *  level/metric.h: f and alpha without the shares of conditions, beta also on Robin's sides. For
 *  dumps, which can then be read as the files of a problem. Overwrites MG_TMP, which must not
 * change until mg_conditions_restore. Other vectors are not changed.
 *  @pre   the run has --dump
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_conditions_remove(mg_hierarchy_t *h, mg_vector_t vec);
MG_MUST_CHECK mg_status_t mg_conditions_restore(mg_hierarchy_t *h, mg_vector_t vec);

#endif
