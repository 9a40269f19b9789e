/* Cycles over the coarsest levels in one launch of one block: the smooths, transfers and the bottom
 * solve of four levels, which would be some fifty launches.
 *
 * F-cycles of fv2 GSRB and Chebyshev on an H200, GDOF/s, all replayed as graphs: without a tail
 * 0.331 and 0.331 at 64^3, 1.40 and 1.31 at 128^3; from 8^3 on 0.448 and 0.430, 1.65 and 1.49; from
 * 16^3 on 0.398 and 0.306, 1.53 and 1.21, for one multiprocessor's cache and arithmetic no longer
 * keep up (1024 threads: 0.334 and 0.285). 10^3 was tried as part of 160^3 and 320^3 on two
 * GPUs: 1.5 and 0.5 % faster with it. */
#include "tail.h"
#include <cstdlib>
#include <new>

enum { MOST_CELLS = 10 * 10 * 10 };

struct mg_tail {
  mg_tail_args_t args;
  mg_tail_kernel_t kernel;
  mg_step_t *steps; /**< of all levels, on the device */
};

/* One patch that is the whole level, and whose halves are the next one. */
static bool fits(const mg_tail_job_t *job, int l) {
  const mg_view_t *v = job->level[l].view;
  const int64_t cells = (int64_t)v->dim * v->dim * v->dim;
  return v->n_patches == 1 && v->cells == cells && cells <= MOST_CELLS;
}

/* The steps of every level, one after the other. */
static mg_status_t copy_steps(const mg_tail_job_t *job, mg_step_t **out) {
  int n = 0;
  for (int l = 0; l < job->n_levels; l++)
    n += job->level[l].n_steps;
  MG_CUDA_TRY(cudaMalloc((void **)out, (size_t)n * sizeof **out));
  mg_step_t *to = *out;
  for (int l = 0; l < job->n_levels; to += job->level[l].n_steps, l++) {
    const cudaError_t error =
        cudaMemcpyAsync(to, job->level[l].step, (size_t)job->level[l].n_steps * sizeof *to,
                        cudaMemcpyHostToDevice, mg_cuda.stream);
    if (error != cudaSuccess) return mg_cuda_failed(error, "copying steps", __FILE__, __LINE__);
  }
  return MG_OK;
}

mg_status_t mg_cuda_prepare_tail(const mg_tail_job_t *job, mg_tail_t **out) {
  *out = nullptr;
  const mg_tail_kernel_t kernel =
      job->level[0].view->varies ? mg_tail_kernel<true>(job) : mg_tail_kernel<false>(job);
  if (job->n_levels > MG_TAIL_MOST_LEVELS || !kernel) return MG_OK;
  for (int l = 0; l < job->n_levels; l++)
    if (!fits(job, l)) return MG_OK;
  mg_tail_t *tail = new (std::nothrow) mg_tail_t();
  if (!tail) return mg_error(MG_ERR_MEMORY, "no memory for the coarsest levels' kernel");
  const mg_status_t status = copy_steps(job, &tail->steps);
  if (status != MG_OK) {
    mg_cuda_release_tail(tail);
    return status;
  }
  const mg_step_t *step = tail->steps;
  for (int l = 0; l < job->n_levels; l++) {
    tail->args.level[l] = {mg_cuda_patch(job->level[l].view, 0), step, job->level[l].n_steps};
    step += job->level[l].n_steps;
  }
  const mg_tail_level_t &last = tail->args.level[job->n_levels - 1];
  tail->kernel = kernel;
  tail->args.n_levels = job->n_levels;
  tail->args.bottom = {job->bottom, job->most, job->reduction, last.step, last.n_steps};
  *out = tail;
  return MG_OK;
}

void mg_cuda_release_tail(mg_tail_t *tail) {
  if (!tail) return;
  (void)cudaFree(tail->steps);
  delete tail;
}

mg_status_t mg_cuda_run_tail(const mg_tail_t *t, int top, mg_cycle_t cycle, bool zero_guess) {
  const int threads = mg_cuda_block_threads(t->args.level[top].l.v.cells);
  t->kernel<<<1, threads, 0, mg_cuda.stream>>>(t->args, top, cycle, zero_guess);
  MG_CUDA_LAUNCHED("tail");
  return MG_OK;
}
