/* All operations on one level: each does the halo exchange, times itself and calls the backend. If
 * a backend lacks an optional entry, the operation is composed from required ones.
 *
 * All are collective over the ranks that hold cells of the level. Other ranks return at once. */
#ifndef MG_OPS_H
#define MG_OPS_H

#include "level/level.h"
#include "level/profile.h"

/** Fill the ghosts of a vector that lie inside the domain.
 *  @param[in] box  also fill edges and corners, which interpolation reads */
MG_MUST_CHECK mg_status_t mg_halo(mg_level_t *level, mg_vector_t vec, bool box);

/** Fill all ghost layers of a vector inside the domain, as fused sweeps read them.
 *
 *  No-op on ranks without cells, or if A already reads all layers. */
MG_MUST_CHECK mg_status_t mg_halo_deep(mg_level_t *level, mg_vector_t vec);

/** dst = f - A x, or A x if f < 0. Refreshes the ghosts of x. */
MG_MUST_CHECK mg_status_t mg_residual(mg_level_t *level, mg_vector_t dst, mg_vector_t x,
                                      mg_vector_t f);

/** max |f - A x| over the level; valid on the level's ranks. May overwrite MG_TMP, or MG_U if x is
 *  MG_TMP. */
MG_MUST_CHECK mg_status_t mg_residual_norm(mg_level_t *level, mg_vector_t x, mg_vector_t f,
                                           double *norm);

/** mg_residual and mg_residual_norm without a halo exchange: the first layer of halo ghosts of x is
 *  valid (mg_smooth_fills_ghosts). */
MG_MUST_CHECK mg_status_t mg_residual_inside(mg_level_t *level, mg_vector_t dst, mg_vector_t x,
                                             mg_vector_t f);
MG_MUST_CHECK mg_status_t mg_residual_norm_inside(mg_level_t *level, mg_vector_t x, mg_vector_t f,
                                                  double *norm);

/** Clear the norm of a leg's result on the device before the leg (MG_TO_NORM in transfer.h), and
 *  return it afterwards. Any other operations may come between. */
MG_MUST_CHECK mg_status_t mg_residual_norm_begin(const mg_level_t *level);
MG_MUST_CHECK mg_status_t mg_residual_norm_end(mg_level_t *level, double *norm);

/** dst = value; dst = alpha x + beta y (no y term if y < 0); dst = x + value; dst = x y. */
MG_MUST_CHECK mg_status_t mg_fill(mg_level_t *level, mg_vector_t dst, double value);
MG_MUST_CHECK mg_status_t mg_axpby(mg_level_t *level, mg_vector_t dst, double alpha, mg_vector_t x,
                                   double beta, mg_vector_t y);
MG_MUST_CHECK mg_status_t mg_shift(mg_level_t *level, mg_vector_t dst, mg_vector_t x, double value);
MG_MUST_CHECK mg_status_t mg_multiply(mg_level_t *level, mg_vector_t dst, mg_vector_t x,
                                      mg_vector_t y);

/** Run a list of copies once, and wait for it. The list may be freed then. Not collective.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_copy_once(const mg_backend_t *backend, const mg_copy_job_t *job,
                                       mg_vector_t src, mg_vector_t dst);

/** max |x - y|, or max |x| if y < 0, over the level; NaN if any cell is not finite. */
MG_MUST_CHECK mg_status_t mg_max_norm(mg_level_t *level, mg_vector_t x, mg_vector_t y,
                                      double *norm);

/** mg_max_norm, also on ranks without cells of the level. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_world_norm(mg_level_t *level, mg_vector_t x, mg_vector_t y,
                                        double *norm);

/** Make a norm of the rank that of the level. */
MG_MUST_CHECK mg_status_t mg_max_over_ranks(mg_level_t *level, double *norm);

/** Sum of x y over the level; bit-identical on any decomposition. */
MG_MUST_CHECK mg_status_t mg_dot(mg_level_t *level, mg_vector_t x, mg_vector_t y, double *dot);

/** If the problem determines the solution only up to a constant, add one to x so that its mean over
 *  the domain is `mean`. On stretched axes MG_ALPHA has the volumes of the cells by their mean. */
MG_MUST_CHECK mg_status_t mg_set_mean(mg_level_t *level, mg_vector_t x, double mean);

/** Subtract from MG_F, which is stored times the volumes of cells, the constant that is its mean.
 *  Like mg_set_mean, it only enqueues where one device has all cells. */
MG_MUST_CHECK mg_status_t mg_remove_rhs_mean(mg_level_t *level);

/** Mean of x over the level. */
MG_MUST_CHECK mg_status_t mg_mean(mg_level_t *level, mg_vector_t x, double *mean);

#endif
