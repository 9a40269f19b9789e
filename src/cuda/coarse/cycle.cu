/* Cycles over the coarsest levels in one launch of one block. The smooths, transfers and bottom
 * solve of four levels would otherwise take about fifty launches. Two kinds of kernels for cubes,
 * each a path of its own (coarse_path.c):
 *
 *     7-point operators         paired_cycle.cu
 *     fv4, at most 8^3 cells    block_fv4.h
 *
 * Only latency counts, also that of instruction fetches: most of the code runs a few times.
 * docs/performance.md ("GPU: launches") has times, and what else was tried. */
#include "cuda/coarse/block_fv4_cycle.h"
#include "cuda/runtime/dependent_launch.h"
#include <cstdlib>

typedef void (*kernel_t)(mg_block_args_t args, int top, mg_cycle_t cycle, bool zero_guess);

struct mg_coarse_cycle {
  mg_step_t *steps;          /**< device: steps of all levels */
  mg_paired_cycle_t *paired; /**< of cubes; otherwise null, and the following holds */
  mg_block_args_t args;
  kernel_t kernel;
  int threads; /**< of the kernel */
};

template <bool colored>
static __global__ void __launch_bounds__(MG_FV4_BLOCK_THREADS, 1)
    fv4_kernel(const MG_GRID_CONSTANT mg_block_args_t args, int top, mg_cycle_t cycle,
               bool zero_guess) {
  __shared__ mg_fv4_shared_t shared;
  mg_fv4_levels_t<colored> levels(&args, &shared);
  mg_cuda_wait_dependency();
  levels.run(top, cycle == MG_CYCLE_F, zero_guess);
}

/* Copy the steps of all levels, concatenated, to the device. */
static mg_status_t copy_steps(const mg_coarse_cycle_job_t *job, mg_step_t **out) {
  int n = 0;
  for (int l = 0; l < job->n_levels; l++)
    n += job->level[l].n_steps;
  MG_TRY(mg_cuda_alloc((size_t)n * sizeof **out, MG_SPACE_LEVEL, (void **)out));
  mg_step_t *to = *out;
  for (int l = 0; l < job->n_levels; to += job->level[l].n_steps, l++)
    MG_TRY(mg_cuda_upload(to, job->level[l].step, (size_t)job->level[l].n_steps * sizeof *to));
  return mg_cuda_finish(); /* the caller may free its steps */
}

/* Set the levels and their places.
 * @return threads of the kernel */
static int set_args(const mg_coarse_cycle_job_t *job, const mg_step_t *step,
                    mg_block_args_t *args) {
  int n[MG_COARSE_LEVELS], n_steps[MG_COARSE_LEVELS];
  mg_fv4_place_t place[MG_COARSE_LEVELS] = {};
  for (int l = 0; l < job->n_levels; l++) {
    n[l] = job->level[l].view->n[0];
    n_steps[l] = job->level[l].n_steps;
  }
  const int threads = mg_fv4_place_levels(job->n_levels, n, n_steps, place);
  for (int l = 0; l < job->n_levels; step += n_steps[l], l++)
    args->level[l] = {mg_cuda_patch(job->level[l].view, 0),
                      mg_cuda_block_steps(job->level[l].step, n_steps[l], step), place[l]};
  args->n_levels = job->n_levels;
  args->v = job->v;
  args->f = job->f;
  args->bottom = {job->bottom, job->max_iterations, job->reduction,
                  args->level[job->n_levels - 1].steps};
  return threads;
}

static mg_status_t set_up(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t *cycle) {
  MG_TRY(copy_steps(job, &cycle->steps));
  if (job->path == &mg_path_cuda_cubes)
    return mg_paired_cycle_create(job, cycle->steps, &cycle->paired);
  cycle->kernel = job->level[0].step[0].colored ? fv4_kernel<true> : fv4_kernel<false>;
  cycle->threads = set_args(job, cycle->steps, &cycle->args);
  return MG_OK;
}

static void release(mg_coarse_cycle_t *cycle) {
  if (!cycle) return;
  mg_paired_cycle_free(cycle->paired);
  mg_cuda_release(cycle->steps, 0, MG_SPACE_LEVEL);
  free(cycle);
}

static mg_status_t create(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out) {
  MG_TRY(mg_new(out, 1, "the coarse cycle"));
  const mg_status_t status = set_up(job, *out);
  if (status == MG_OK) return MG_OK;
  release(*out);
  *out = nullptr;
  return status;
}

static mg_status_t run(const mg_coarse_cycle_t *t, int top, mg_cycle_t cycle, bool zero_guess) {
  if (t->paired) return mg_paired_cycle_run(t->paired, top, cycle, zero_guess);
  return mg_cuda_launch_dependent("coarse_cycle", t->kernel, 1, t->threads, t->args, top, cycle,
                                  zero_guess);
}

const mg_backend_coarse_t mg_cuda_coarse = {.create = create,
                                            .free = release,
                                            .run = run,
                                            .matrix_set = mg_matrix_set,
                                            .matrix_free = mg_matrix_free,
                                            .matrix_multiply = mg_matrix_multiply};
