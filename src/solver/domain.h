/* Problems other than that of the benchmark: given fields, grids that are no cubes, and boundary
 * values. */
#ifndef MG_DOMAIN_H
#define MG_DOMAIN_H

#include "level/level.h"

/** Limits of a user's values: beta and alpha are within both, but alpha may be 0; the magnitude of
 * f is at most the larger one. Products and sums of such values neither overflow nor underflow. */
#define MG_MIN_VALUE 1e-60
#define MG_MAX_VALUE 1e60

/** Limit of the ratio of two betas if u is determined only up to a constant. Subtracting the mean
 * of f leaves its rounding everywhere, which in a solid of small betas makes a u of about
 * eps ratio max|u|. Cycles round that in turn: at 1e22, eps^2 ratio is above the default --rtol of
 * 1e-8 on 32^3 and 64^3 cells. */
#define MG_MAX_RATIO 1e20

/** Alternative source of the finest level's coefficients and right-hand side. `load` is called on
 *  every rank after the built-in ones are set, and once more if its betas replaced the levels
 *  (method.h). It may change MG_ALPHA (if alpha varies), the face
 *  betas of cells and the faces that close patches, and MG_F; all without the factors of
 *  level/metric.h. `load_wall` sets MG_U of the cells next to a side to the values of the side's
 *  condition, if params->side[d][side].varies. */
typedef struct mg_problem_source {
  mg_status_t (*load)(void *data, mg_hierarchy_t *h);
  void *data;
  mg_status_t (*load_wall)(void *data, mg_hierarchy_t *h, int d, int side);
  bool sets_f; /**< `load` sets MG_F */
  /** `load` sets all betas, and mg_problem_set_rhs is called afterwards. The built-in problem is
   * not filled in. Without `load_wall`, values of conditions are those of mg_wall_values_save. */
  bool sets_coefficients;
} mg_problem_source_t;

/** Replace only the right-hand side of a problem that was set with sets_coefficients.
 *  @param[in] load      sets MG_F, without factors
 *  @param[in] enqueued  do not wait for the device; pre: it holds all cells
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE, or the status of `load`, the same on every rank */
MG_MUST_CHECK mg_status_t mg_problem_set_rhs(mg_hierarchy_t *h,
                                             mg_status_t (*load)(void *data, mg_hierarchy_t *h),
                                             void *data, bool enqueued);

/** Tables of the built-in problem in one direction: n + 1 values at faces, n in cells. */
typedef struct {
  double *face, *center, *beta_face, *beta_center, *f, *f_xx;
} mg_axis_table_t;

/** Set f[i] = sin^7(2 pi x), and its second derivative times ratio2, from sin and cos
 *  (problem.c). */
void mg_axis_table_rhs(const mg_axis_table_t *t, int32_t i, double s, double c, double ratio2);

/** Replace the table of equal cells in direction d, if the widths of cells differ or there is only
 *  one.
 *  @param[in]     h0          width of an equal cell along i
 *  @param[in,out] beta_scale  mg_tables_t */
void mg_domain_stretch(const mg_params_t *params, int d, int32_t n, double h0, mg_axis_table_t *t,
                       double *beta_scale);

/** The only cell of a periodic direction is its own neighbor: no flux passes. With a beta of 0 the
 *  diagonal, which is computed from the betas, is that of A. */
MG_MUST_CHECK mg_status_t mg_domain_close_single_cells(mg_level_t *level);

/** Set f, alpha and beta of the finest level as they are stored, unless they are those of the
 *  benchmark's cube.
 *  @param[out] done  they are set */
MG_MUST_CHECK mg_status_t mg_domain_set_fields(mg_hierarchy_t *h, const mg_problem_source_t *source,
                                               bool *done);

#endif
