/* Coarse cycles: what the kernels of coarse/cycle.cu and paired_cycle.cu share. */
#ifndef MG_CUDA_COARSE_LEVELS_H
#define MG_CUDA_COARSE_LEVELS_H

#include "cuda/coarse/coarse_path.h"
#include "cuda/cuda.h"

/** Where a smooth takes its first iterate from: zero, u, u + P (coarse u), or P (coarse u). */
enum mg_coarse_guess_t { MG_COARSE_ZERO, MG_COARSE_STORED, MG_COARSE_PLUS_P, MG_COARSE_P };

/** Run a V-cycle, or an F-cycle: a V-cycle from every level, coarsest first, each starting from the
 *  interpolated solution of the next coarser level. One loop serves both: separate code would
 *  triple the code size and the compile time. `levels` has the functions
 *
 *      visit(l, down, guess, restricted)  smooth level l; if `down`, restrict its residual to level
 *                                         l + 1; `restricted`: f of level l is such a residual
 *      solve(zero_guess)                  solve the coarsest level */
template <typename levels_t>
static __device__ __forceinline__ void mg_coarse_run(levels_t &levels, int top, int bottom,
                                                     bool f_cycle, bool zero_guess) {
  const mg_coarse_guess_t first = f_cycle      ? MG_COARSE_P
                                  : zero_guess ? MG_COARSE_ZERO
                                               : MG_COARSE_STORED;
#pragma unroll 1
  for (int start = f_cycle ? bottom : top; start >= top; start--) {
    bool down = true;
#pragma unroll 1
    for (int l = start; l >= start; l += down ? 1 : -1) {
      if (l < bottom) {
        const bool restricted = down && l > start;
        levels.visit(l, down,
                     !down        ? MG_COARSE_PLUS_P
                     : restricted ? MG_COARSE_ZERO
                                  : first,
                     restricted);
      } else {
        levels.solve(f_cycle || zero_guess || bottom > start);
        down = false;
      }
    }
  }
}

#endif
