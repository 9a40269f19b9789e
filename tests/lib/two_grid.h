/* Convergence factor of a two-grid cycle by local Fourier analysis. */
#ifndef MG_TEST_TWO_GRID_H
#define MG_TEST_TWO_GRID_H

#include "params/params.h"

/** Two-grid convergence factor by local Fourier analysis.
 *
 *  Spectral radius of smooth, exact coarse-grid correction, smooth, for beta = 1, a = 0 and no
 *  boundary: the maximum over the frequencies of a periodic grid of `n` cells per side. Restriction
 *  is the mean of 8 children; interpolation is that of a V-cycle.
 *  @param params  smoother, sweeps and degree
 *  @ref Trottenberg, Oosterlee, Schueller, Multigrid (2001), sections 4.4 and 4.5 */
double two_grid_factor(const mg_params_t *params, int n);

#endif
