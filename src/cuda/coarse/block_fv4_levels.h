/* Cycles of fv4 in one block, as seen by one thread. */
#ifndef MG_CUDA_COARSE_BLOCK_FV4_LEVELS_H
#define MG_CUDA_COARSE_BLOCK_FV4_LEVELS_H

#include "cuda/coarse/block_fv4_cycle.h"
#include "cuda/coarse/levels.h"

struct mg_block_cycle_level_t {
  mg_cuda_patch_t l;
  mg_block_steps_t steps;
  mg_fv4_place_t place; /**< of fv4's levels */
};

/** Kernel argument; the coarsest level is the last. */
struct mg_block_args_t {
  mg_block_cycle_level_t level[MG_COARSE_LEVELS];
  int n_levels;
  mg_interpolation_t v, f; /**< of V-cycles, and of an F-cycle's first iterates */
  mg_bottom_job_t bottom;
};

/** V-cycle and F-cycle of fv4 in registers (block_fv4.h); level 0 is the finest level of the coarse
 *  cycle. */
template <bool colored> struct mg_fv4_levels_t {
  const mg_block_args_t *args;
  mg_fv4_block_t<colored> block;

  /* Loads coefficients only. */
  __device__ __forceinline__ mg_fv4_levels_t(const mg_block_args_t *a, mg_fv4_shared_t *shared)
      : args(a), block(shared) {
    const int t = (int)threadIdx.x, bottom = args->n_levels - 1;
    int l = 0;
    for (int next = 1; next <= bottom; next++)
      if (t >= args->level[next].place.thread) l = next;
    const mg_block_cycle_level_t &own = args->level[l];
    block.open(l, l == bottom, &own.l, own.place, MG_REAL(own.steps.c2));
#pragma unroll
    for (int q = 0; q < mg_fv4_bottom_t::FILLERS; q++) {
      const bool coarsest = l == bottom;
      block.ghosts[q] = mg_fv4_ghosts(args->level[coarsest || q > bottom ? bottom : q].place,
                                      coarsest ? t - own.place.thread + 32 * q : t);
    }
    __syncthreads();
  }

  /* f of all levels from that of level `top`. */
  __device__ __forceinline__ void restrict_f(int top) {
    for (int l = top; l + 1 < args->n_levels; l++) {
      block.store(l, args->level[l].place, block.f);
      block.restrict_from(args->level[l].place, 0, l + 1);
    }
  }

  __device__ __forceinline__ void visit(int l, bool down, mg_coarse_guess_t guess, bool) {
    const mg_block_cycle_level_t &here = args->level[l], &coarse = args->level[l + 1];
    if (guess == MG_COARSE_ZERO && block.level == l) block.u = 0.0;
    if (guess == MG_COARSE_PLUS_P)
      block.template interpolate<MG_INTERPOLATE_V2>(l, &coarse.l, coarse.place, true);
    if (guess == MG_COARSE_P)
      block.template interpolate<MG_INTERPOLATE_V4>(l, &coarse.l, coarse.place, false);
    if (guess != MG_COARSE_ZERO) block.store(l, here.place, block.u);
    block.smooth(l, &here.l, here.place, here.steps, guess == MG_COARSE_ZERO);
    if (down) block.restrict_residual(l, &here.l, here.place);
  }

  __device__ __forceinline__ void solve(bool zero_guess) {
    typedef mg_fv4_bottom_t bottom_t;
    const int l = args->n_levels - 1;
    const mg_block_cycle_level_t &here = args->level[l];
    if (block.level == l) {
      mg_krylov_t<bottom_t, true, colored> solver(
          bottom_t(&here.l, here.place, block.shared, block.cell, block.ghosts, block.f, block.u),
          args->bottom.reduction);
      solver.solve(args->bottom, zero_guess);
      solver.store(MG_U);
      block.u = solver.x[MG_U];
    }
    __syncthreads();
  }

  __device__ __forceinline__ void run(int top, bool f_cycle, bool zero_guess) {
    const int bottom = args->n_levels - 1;
    const mg_cuda_patch_t *l = &args->level[top].l;
    if (block.mine(top)) {
      const ptrdiff_t at = block.cell.offset(l);
      block.f = l->p.vec[MG_F][at];
      if (!f_cycle && !zero_guess) block.u = l->p.vec[MG_U][at];
    }
    if (f_cycle) restrict_f(top);
    mg_coarse_run(*this, top, bottom, f_cycle, zero_guess);
    if (block.mine(top)) l->p.vec[MG_U][block.cell.offset(l)] = block.u;
  }
};

#endif
