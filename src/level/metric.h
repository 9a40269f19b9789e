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

/** Factors of a vector of level l. For u they are 1; for Dinv, those by which f is divided.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_metric_create(const mg_hierarchy_t *h, int l, mg_vector_t vec,
                                           mg_metric_t *metric);
void mg_metric_free(mg_metric_t *metric);

/** Narrow a range of stored values of a vector of level 0 to that of values without factors.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_metric_narrow(const mg_hierarchy_t *h, mg_vector_t vec, double *least,
                                           double *most);

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

/** Average betas of cells, in MG_U, onto the faces of the finest level. MG_U becomes 0. */
MG_MUST_CHECK mg_status_t mg_metric_average_betas(mg_hierarchy_t *h);

/** Factors of the stored betas of level l on the faces of level l + 1 that are normal to d.
 *  @param[out] factor  n + 1 values; the caller frees them
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_metric_of_faces(const mg_hierarchy_t *h, int l, int d,
                                             mg_face_factor_t **factor);

#endif
