/* Factors that stored values hold because of the widths of the cells. With them, the operators need
 * no widths: all levels look like grids of whole cells of width h[0].
 *
 * V is the volume of a cell, and of a whole one (the product of the h[d]) with 0; A and D are the
 * area of a face and the distance between the centers of its two cells. alpha, f and residuals are
 * stored times V / V0, betas times A h[0]^2 / (D V0). At a wall, D is the width of the cell. */
#ifndef MG_METRIC_H
#define MG_METRIC_H

#include "level/level.h"

/** One factor for each direction: n + 1 values. */
typedef struct {
  double *factor[3];
  bool is_one; /**< all factors are 1 */
} mg_metric_t;

/** Distance between the centers of the two cells at a face in direction d of level l. At a wall,
 *  the width of its cell. */
double mg_center_distance(const mg_hierarchy_t *h, int l, int d, int32_t face);

/** Factors of a vector of level l. For u they are 1; for Dinv, those by which f is divided.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_metric_create(const mg_hierarchy_t *h, int l, mg_vector_t vec,
                                           mg_metric_t *metric);
void mg_metric_free(mg_metric_t *metric);

/** Multiply the cells and faces of a vector of level l by its factors. Ghosts become invalid. */
MG_MUST_CHECK mg_status_t mg_metric_apply(mg_hierarchy_t *h, int l, mg_vector_t vec);

/** Multiply a vector by the factors of another one. */
MG_MUST_CHECK mg_status_t mg_metric_apply_as(mg_hierarchy_t *h, int l, mg_vector_t vec,
                                             mg_vector_t as);

/** The same for f of level 0 and each right-hand side of a solver: the factors are prepared once,
 * so that applying them only enqueues. They belong to the hierarchy. */
MG_MUST_CHECK mg_status_t mg_metric_prepare_rhs(mg_hierarchy_t *h);
MG_MUST_CHECK mg_status_t mg_metric_apply_rhs(mg_hierarchy_t *h);

/** Set a vector of level l to V / V0. */
MG_MUST_CHECK mg_status_t mg_metric_volumes(mg_hierarchy_t *h, int l, mg_vector_t vec);

#endif
