/* Convergence factor of a two-grid cycle by local Fourier analysis. */
#ifndef MG_TEST_TWO_GRID_H
#define MG_TEST_TWO_GRID_H

#include "params/params.h"

/** The spectral radius of smooth, exact coarse-grid correction, smooth, with beta = 1, a = 0 and no
 *  boundary: the largest over the frequencies of a periodic grid of `n` cells a side. Smoother,
 *  sweeps and degree as in params; restriction by the mean of 8, interpolation of a V-cycle.
 *  @ref Trottenberg, Oosterlee, Schueller, Multigrid (2001), sections 4.4 and 4.5 */
double two_grid_factor(const mg_params_t *params, int n);

#endif
