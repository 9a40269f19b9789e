/* Solvers for the coarsest level in one launch of one block, so that a cycle does not return to the
 * host for scalars. */
#include "cuda/coarse/krylov.h"
#include "cuda/runtime/dependent_launch.h"

template <bool fv4, bool colored>
static __global__ void __launch_bounds__(MG_BLOCK_MAX_THREADS)
    bottom(const MG_GRID_CONSTANT mg_cuda_patch_t l, mg_bottom_job_t job, bool zero_guess) {
  mg_cuda_wait_dependency();
  __shared__ mg_block_shared_t shared;
  mg_block_solve<fv4, colored>(&l, &shared, job, zero_guess);
}

mg_status_t mg_bottom_run(const mg_cuda_patch_t &l, const mg_bottom_job_t &job, bool zero_guess) {
  const bool all = job.method == MG_BOTTOM_SMOOTHER && !job.steps.colored;
  const auto kernel = mg_traits_of(l.v.op)->points == 25 ? bottom<true, true>
                      : all                              ? bottom<false, false>
                                                         : bottom<false, true>;
  return mg_cuda_launch_dependent("bottom", kernel, 1, mg_cuda_block_threads(l.v.cells), l, job,
                                  zero_guess);
}

mg_status_t mg_cuda_bottom(const mg_view_t *v, mg_bottom_t method, bool zero_guess,
                           int max_iterations, double reduction) {
  return mg_bottom_run(mg_cuda_patch(v, 0), {method, max_iterations, reduction, {}}, zero_guess);
}
