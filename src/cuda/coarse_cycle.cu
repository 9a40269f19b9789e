/* Cycles over the coarsest levels in one launch of one block. The smooths, transfers and bottom
 * solve of four levels would otherwise take about fifty launches. Three kinds of kernels:
 *
 *     7-point operators                         paired_cycle.cu
 *     fv4, at most 8^3 cells                    block_fv4.h
 *     fv4, larger levels or a smoother's solve  block_level.h
 *
 * Only latency counts, also that of instruction fetches: most of the code runs a few times.
 * docs/performance.md ("GPU: launches") has times, and what else was tried. */
#include "cuda/block_fv4_levels.h"
#include "cuda/dependent_launch.h"
#include "cuda/paired_cycle.h"
#include <new>

typedef void (*kernel_t)(mg_fv4_args_t args, int top, mg_cycle_t cycle, bool zero_guess);

struct mg_coarse_cycle {
  mg_step_t *steps;          /**< device: steps of all levels */
  mg_paired_cycle_t *paired; /**< 7-point operators; the following is for fv4 */
  mg_fv4_args_t args;
  kernel_t kernel;
  int threads; /**< of the kernel in registers; 0 for the other one */
};

template <bool varies>
static __global__ void __launch_bounds__(MG_BLOCK_MAX_THREADS)
    fv4_global_kernel(const MG_GRID_CONSTANT mg_fv4_args_t args, int top, mg_cycle_t cycle,
                      bool zero_guess) {
  mg_cuda_wait_dependency();
  __shared__ mg_block_shared_t shared;
  const mg_fv4_global_levels_t<varies> levels = {&args, &shared};
  levels.run(top, cycle == MG_CYCLE_F, zero_guess);
}

template <bool colored, bool varies>
static __global__ void __launch_bounds__(MG_FV4_BLOCK_THREADS, 1)
    fv4_kernel(const MG_GRID_CONSTANT mg_fv4_args_t args, int top, mg_cycle_t cycle,
               bool zero_guess) {
  __shared__ mg_fv4_shared_t shared;
  mg_fv4_levels_t<colored, varies> levels(&args, &shared);
  mg_cuda_wait_dependency();
  levels.run(top, cycle == MG_CYCLE_F, zero_guess);
}

/* Whether the kernel in registers supports the levels. */
static bool fits_in_registers(const mg_coarse_cycle_job_t *job) {
  const mg_view_t *last = job->level[job->n_levels - 1].view;
  return job->n_levels <= MG_FV4_BLOCK_LEVELS && job->level[0].view->n[0] <= MG_FV4_BLOCK_SIDE &&
         last->n[0] <= MG_FV4_BLOCK_BOTTOM_SIDE && mg_brick_width(last) == last->n[0] &&
         mg_operator_order(last) == 2 && job->bottom != MG_BOTTOM_SMOOTHER;
}

static kernel_t fv4_kernel_for(const mg_coarse_cycle_job_t *job) {
  const bool colored = job->level[0].step[0].colored, varies = job->level[0].view->alpha_varies;
  if (!fits_in_registers(job)) return varies ? fv4_global_kernel<true> : fv4_global_kernel<false>;
  if (varies) return colored ? fv4_kernel<true, true> : fv4_kernel<false, true>;
  return colored ? fv4_kernel<true, false> : fv4_kernel<false, false>;
}

/* Whether a single patch covers level l, a cube without Neumann walls: the kernels interpolate with
 * Dirichlet ghosts, in a domain that is periodic in all directions or in none. */
static bool fits(const mg_coarse_cycle_job_t *job, int l) {
  const mg_view_t *v = job->level[l].view;
  const int64_t cells = (int64_t)v->n[0] * v->n[0] * v->n[0];
  return v->n_patches == 1 && !v->general && mg_is_cube(v->n) && v->cells == cells &&
         cells <= MG_BLOCK_PAIRED_CELLS && !mg_has_wall(v->side, MG_WALL_NEUMANN) &&
         !mg_is_channel(v);
}

/* Copy the steps of all levels, concatenated, to the device. */
static mg_status_t copy_steps(const mg_coarse_cycle_job_t *job, mg_step_t **out) {
  int n = 0;
  for (int l = 0; l < job->n_levels; l++)
    n += job->level[l].n_steps;
  MG_CUDA_TRY(cudaMalloc((void **)out, (size_t)n * sizeof **out));
  mg_step_t *to = *out;
  for (int l = 0; l < job->n_levels; to += job->level[l].n_steps, l++) {
    const cudaError_t error =
        cudaMemcpyAsync(to, job->level[l].step, (size_t)job->level[l].n_steps * sizeof *to,
                        cudaMemcpyHostToDevice, mg_cuda.stream);
    if (error != cudaSuccess)
      return mg_cuda_failed(error, "upload of smoother steps", __FILE__, __LINE__);
  }
  MG_CUDA_TRY(cudaStreamSynchronize(mg_cuda.stream)); /* the caller may free its steps */
  return MG_OK;
}

/* Set the levels of fv4, and the places of those in registers.
 * @return threads of the kernel in registers */
static int set_args(const mg_coarse_cycle_job_t *job, const mg_step_t *step, mg_fv4_args_t *args) {
  int n[MG_COARSE_LEVELS], n_steps[MG_COARSE_LEVELS];
  mg_fv4_place_t place[MG_COARSE_LEVELS] = {};
  for (int l = 0; l < job->n_levels; l++) {
    n[l] = job->level[l].view->n[0];
    n_steps[l] = job->level[l].n_steps;
  }
  const bool registers = fits_in_registers(job);
  const int threads = registers ? mg_fv4_place_levels(job->n_levels, n, n_steps, place) : 0;
  for (int l = 0; l < job->n_levels; step += n_steps[l], l++)
    args->level[l] = {mg_cuda_patch(job->level[l].view, 0),
                      mg_cuda_block_steps(job->level[l].step, n_steps[l], step), place[l]};
  args->n_levels = job->n_levels;
  args->bottom = {job->bottom, job->max_iterations, job->reduction,
                  args->level[job->n_levels - 1].steps};
  return threads;
}

/* Whether any kernel supports the job. */
static bool supports(const mg_coarse_cycle_job_t *job) {
  if (job->n_levels > MG_COARSE_LEVELS) return false;
  for (int l = 0; l < job->n_levels; l++)
    if (!fits(job, l) || job->level[l].n_steps > MG_BLOCK_MAX_STEPS) return false;
  return job->level[0].view->op != MG_OPERATOR_FV4 ||
         (job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V4);
}

mg_status_t mg_cuda_coarse_cycle_create(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out) {
  *out = nullptr;
  if (!supports(job)) return MG_OK;
  const bool fv4 = job->level[0].view->op == MG_OPERATOR_FV4;
  mg_coarse_cycle_t *coarse_cycle = new (std::nothrow) mg_coarse_cycle_t();
  if (!coarse_cycle) return mg_out_of_memory(sizeof *coarse_cycle, "the coarse cycle");
  mg_status_t status = copy_steps(job, &coarse_cycle->steps);
  if (status == MG_OK && !fv4)
    status = mg_paired_cycle_create(job, coarse_cycle->steps, &coarse_cycle->paired);
  if (status != MG_OK || (!fv4 && !coarse_cycle->paired)) {
    mg_cuda_coarse_cycle_free(coarse_cycle);
    return status;
  }
  if (fv4) {
    coarse_cycle->kernel = fv4_kernel_for(job);
    coarse_cycle->threads = set_args(job, coarse_cycle->steps, &coarse_cycle->args);
  }
  *out = coarse_cycle;
  return MG_OK;
}

void mg_cuda_coarse_cycle_free(mg_coarse_cycle_t *coarse_cycle) {
  if (!coarse_cycle) return;
  mg_paired_cycle_free(coarse_cycle->paired);
  (void)cudaFree(coarse_cycle->steps);
  delete coarse_cycle;
}

mg_status_t mg_cuda_coarse_cycle_run(const mg_coarse_cycle_t *t, int top, mg_cycle_t cycle,
                                     bool zero_guess) {
  if (t->paired) return mg_paired_cycle_run(t->paired, top, cycle, zero_guess);
  const int threads = t->threads ? t->threads : mg_cuda_block_threads(t->args.level[top].l.v.cells);
  mg_cuda_launch_dependent(t->kernel, 1, threads, t->args, top, cycle, zero_guess);
  MG_CUDA_LAUNCHED("coarse_cycle");
  return MG_OK;
}
