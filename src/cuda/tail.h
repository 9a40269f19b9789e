/* The kernels of the tail. With an alpha that varies they are others, in a file of their own
 * (tail_alpha.cu): they take a minute to compile, and a question at run time would cost all
 * problems up to 1.1 % (F-cycles at 32^3 and 64^3 on an H200). */
#ifndef MG_CUDA_TAIL_H
#define MG_CUDA_TAIL_H

#include "krylov.h"

enum { MG_TAIL_MOST_LEVELS = 6 };

struct mg_tail_level_t {
  mg_cuda_patch_t l;
  const mg_step_t *step;
  int n_steps;
};

/** What the kernel gets; the coarsest level is the last. */
struct mg_tail_args_t {
  mg_tail_level_t level[MG_TAIL_MOST_LEVELS];
  int n_levels;
  mg_bottom_job_t bottom;
};

typedef void (*mg_tail_kernel_t)(mg_tail_args_t args, int top, mg_cycle_t cycle, bool zero_guess);

/** The two kinds of cycle; levels are numbered from the tail's first on. */
template <bool fv4, bool varies, mg_interpolation_t v_kind, mg_interpolation_t f_kind>
struct mg_tail_cycles_t {
  const mg_tail_args_t *args;
  mg_block_shared_t *shared;

  __device__ mg_block_level_t level(int l) const {
    return mg_block_level_t(&args->level[l].l, shared);
  }

  __device__ void smooth(int l, bool zero_guess) const {
    level(l).template smooth<fv4, varies>(args->level[l].step, args->level[l].n_steps, zero_guess);
  }

  __device__ void solve_bottom(bool zero_guess) const {
    mg_krylov_t<fv4, varies> solver(level(args->n_levels - 1), args->bottom.reduction);
    solver.solve(args->bottom, zero_guess);
    __syncthreads();
  }

  /** A V-cycle, or an F-cycle: V-cycles from every level upwards, each from the solution below it.
   *  One loop for both: code for each would be three times as much, and as long to compile. */
  __device__ void run(int top, bool f_cycle, bool zero_guess) const {
    const int bottom = args->n_levels - 1;
    for (int l = top; f_cycle && l < bottom; l++)
      level(l).restrict_cells(MG_F, level(l + 1), MG_F);
    bool zero = f_cycle || zero_guess;
    for (int start = f_cycle ? bottom : top; start >= top; start--, zero = false) {
      if (f_cycle && start < bottom)
        level(start).template interpolate<f_kind, false>(level(start + 1));
      for (int l = start; l < bottom; l++) {
        const mg_block_level_t here = level(l);
        smooth(l, zero || l > start);
        here.template residual<fv4, varies>(MG_TMP, MG_U, MG_F);
        here.restrict_cells(MG_TMP, level(l + 1), MG_F);
      }
      solve_bottom(zero || bottom > start);
      for (int l = bottom - 1; l >= start; l--) {
        level(l).template interpolate<v_kind, true>(level(l + 1));
        smooth(l, false);
      }
    }
  }
};

template <bool fv4, bool varies, mg_interpolation_t v_kind, mg_interpolation_t f_kind>
static __global__ void __launch_bounds__(MG_BLOCK_MOST_THREADS)
    mg_tail_cycle(const MG_GRID_CONSTANT mg_tail_args_t args, int top, mg_cycle_t cycle,
                  bool zero_guess) {
  __shared__ mg_block_shared_t shared;
  const mg_tail_cycles_t<fv4, varies, v_kind, f_kind> cycles = {&args, &shared};
  cycles.run(top, cycle == MG_CYCLE_F, zero_guess);
}

/** The kernel for a job's operator and transfers, of which there are the combinations that the
 *  operators use; nullptr: none. */
template <bool varies> mg_tail_kernel_t mg_tail_kernel(const mg_tail_job_t *job) {
  const bool fv4 = job->level[0].view->op == MG_OPERATOR_FV4;
  if (fv4 && job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V4)
    return mg_tail_cycle<true, varies, MG_INTERPOLATE_V2, MG_INTERPOLATE_V4>;
  if (!fv4 && job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V2)
    return mg_tail_cycle<false, varies, MG_INTERPOLATE_V2, MG_INTERPOLATE_V2>;
  if (!fv4 && job->v == MG_INTERPOLATE_P0 && job->f == MG_INTERPOLATE_P1)
    return mg_tail_cycle<false, varies, MG_INTERPOLATE_P0, MG_INTERPOLATE_P1>;
  return nullptr;
}

extern template mg_tail_kernel_t mg_tail_kernel<true>(const mg_tail_job_t *job);
#endif
