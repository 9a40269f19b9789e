/* Grids with cells of different widths, and walls with values. */
#ifndef MG_BACKEND_DOMAINS_H
#define MG_BACKEND_DOMAINS_H

#include "backend/backend.h"

/** Factors of cells in each direction, in a backend-specific form. */
typedef struct mg_factors mg_factors_t;

/** Set-up of level 0, in tables for double. */
typedef struct mg_backend_domains {
  /** Add to f, and to alpha if the level stores it, what the condition on a side requires
   *  (mg_wall_share). Betas have no factors yet.
   *  @param[in] width   of the cells next to the wall
   *  @param[in] values  values of the condition, in these cells; MG_NO_VECTOR: condition->value */
  mg_status_t (*set_wall)(const mg_view_t *v, int d, int side, const mg_side_t *condition,
                          double width, mg_vector_t values);
  /** Copy n + 1 factors for each direction of the level.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*prepare_factors)(const mg_view_t *v, const double *const factor[3],
                                 mg_factors_t **out);
  /** Waits until no operation uses them. */
  void (*release_factors)(mg_factors_t *factors);
  /** Multiply cells and faces (i, j, k) of vec, up to index n, by factor[0][i] factor[1][j]
   *  factor[2][k]. */
  mg_status_t (*multiply_axes)(const mg_view_t *v, mg_vector_t vec, const mg_factors_t *factors);
  /** Add the betas of this rank's faces to the sums of planes of cells of level 0: each times
   *  `scale`, without its fraction. A face belongs to the cell above it; faces on walls do not
   *  count. They have no factors yet.
   *  @param[in,out] sum  for each direction and each plane across it the sums of the faces normal
   *      to i, j, k
   *  @param[in,out] least  becomes the least beta above 0 of each direction's faces, if that is
   * less; least[3] becomes 0 if the beta of a face is 0
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*sum_planes)(const mg_view_t *v, double scale, int64_t *sum, double least[4]);
} mg_backend_domains_t;

#endif
