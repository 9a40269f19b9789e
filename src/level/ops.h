/* The front door of every operation on one level: halo exchange, time, the backend's entry, and
 * the composition of optional entries that a backend lacks.
 *
 * All are collective over the ranks that hold cells of the level and return at once on others. */
#ifndef MG_OPS_H
#define MG_OPS_H

#include "level/level.h"
#include "level/profile.h"

/** Fill the ghosts of a vector that lie inside the domain.
 *  @param[in] box  edges and corners too, as interpolation reads them */
MG_MUST_CHECK mg_status_t mg_halo(mg_level_t *level, int vec, bool box);

/** Fill all layers of ghosts of a vector inside the domain, as a pass of several steps reads them.
 *  Nothing where there are no more layers than A reads, and on ranks without cells. */
MG_MUST_CHECK mg_status_t mg_halo_deep(mg_level_t *level, int vec);

/** Improve MG_U for right-hand side MG_F by the level's steps, several of them in one pass over
 *  memory where the backend can. Uses MG_TMP out of place, and MG_BEFORE.
 *  @param[in] zero_guess  start from zero whatever MG_U holds */
MG_MUST_CHECK mg_status_t mg_smooth(mg_level_t *level, bool zero_guess);

/** The same from MG_U on, where MG_F is what it was at this level's last mg_smooth: its ghosts are
 *  there already. */
MG_MUST_CHECK mg_status_t mg_smooth_again(mg_level_t *level);

/** dst = f - A x, or A x when f < 0. Ghosts of x are refreshed. */
MG_MUST_CHECK mg_status_t mg_residual(mg_level_t *level, int dst, int x, int f);

/** max |f - A x| over the level; valid on the level's ranks. */
MG_MUST_CHECK mg_status_t mg_residual_norm(mg_level_t *level, int x, int f, double *norm);

/** dst = value, dst = alpha x + beta y (y < 0: none), dst = x + value, dst = x y. */
MG_MUST_CHECK mg_status_t mg_fill(mg_level_t *level, int dst, double value);
MG_MUST_CHECK mg_status_t mg_axpby(mg_level_t *level, int dst, double alpha, int x, double beta,
                                   int y);
MG_MUST_CHECK mg_status_t mg_shift(mg_level_t *level, int dst, int x, double value);
MG_MUST_CHECK mg_status_t mg_multiply(mg_level_t *level, int dst, int x, int y);

/** max |x - y| (y < 0: max |x|) over the level; NaN if any cell is not finite. */
MG_MUST_CHECK mg_status_t mg_max_norm(mg_level_t *level, int x, int y, double *norm);

/** Sum of x y over the level, the same digits on any decomposition. */
MG_MUST_CHECK mg_status_t mg_dot(mg_level_t *level, int x, int y, double *dot);

/** Mean of x over the level. */
MG_MUST_CHECK mg_status_t mg_mean(mg_level_t *level, int x, double *mean);

#endif
