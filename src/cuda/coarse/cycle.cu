/* Cycles over the coarsest levels in one launch of one block. The smooths, transfers and bottom
 * solve of four levels would otherwise take about fifty launches. Three kinds of kernels:
 *
 *     7-point operators, cubes                  paired_cycle.cu
 *     7-point operators, other levels           box_levels.h; resident smooths are up to a tenth
 *                                               faster, where they are to be had
 *     fv4, at most 8^3 cells                    block_fv4.h
 *
 * Only latency counts, also that of instruction fetches: most of the code runs a few times.
 * docs/performance.md ("GPU: launches") has times, and what else was tried. */
#include "cuda/coarse/box_levels.h"
#include "cuda/coarse/paired_cycle.h"
#include "cuda/runtime/dependent_launch.h"
#include <new>

typedef void (*kernel_t)(mg_block_args_t args, int top, mg_cycle_t cycle, bool zero_guess);

struct mg_coarse_cycle {
  mg_step_t *steps;          /**< device: steps of all levels */
  mg_paired_cycle_t *paired; /**< of cubes; otherwise null, and the following holds */
  mg_block_args_t args;
  kernel_t kernel;
  int threads; /**< of the kernel of fv4; 0: depend on the first level */
};

template <bool colored>
static __global__ void __launch_bounds__(MG_BLOCK_MAX_THREADS)
    box_kernel(const MG_GRID_CONSTANT mg_block_args_t args, int top, mg_cycle_t cycle,
               bool zero_guess) {
  mg_cuda_wait_dependency();
  __shared__ mg_block_shared_t shared;
  const mg_box_levels_t<colored> levels = {&args, &shared};
  levels.run(top, cycle == MG_CYCLE_F, zero_guess);
}

template <bool colored>
static __global__ void __launch_bounds__(MG_FV4_BLOCK_THREADS, 1)
    fv4_kernel(const MG_GRID_CONSTANT mg_block_args_t args, int top, mg_cycle_t cycle,
               bool zero_guess) {
  __shared__ mg_fv4_shared_t shared;
  mg_fv4_levels_t<colored> levels(&args, &shared);
  mg_cuda_wait_dependency();
  levels.run(top, cycle == MG_CYCLE_F, zero_guess);
}

/* Whether fv4's kernel supports the levels. */
static bool fv4_fits(const mg_coarse_cycle_job_t *job) {
  const mg_view_t *last = job->level[job->n_levels - 1].view;
  return job->n_levels <= MG_FV4_BLOCK_LEVELS && job->level[0].view->n[0] <= MG_FV4_BLOCK_SIDE &&
         last->n[0] <= MG_FV4_BLOCK_BOTTOM_SIDE && mg_brick_width(last) == last->n[0] &&
         mg_operator_orders(last).along[0] == 2 && job->bottom != MG_BOTTOM_SMOOTHER;
}

/* Whether a single patch covers the level, a cube without Neumann walls: the kernels for cubes
 * interpolate with Dirichlet ghosts, in a domain that is periodic in all directions or in none. */
static bool cube_fits(const mg_view_t *v) {
  return !v->general && mg_is_cube(v->n) && mg_block_divides(v) &&
         v->cells <= MG_BLOCK_PAIRED_CELLS && !mg_has_wall(v->side, MG_WALL_NEUMANN) &&
         !mg_is_channel(v);
}

/* Whether `fits` holds for all levels. */
static bool all_fit(const mg_coarse_cycle_job_t *job, bool (*fits)(const mg_view_t *v)) {
  bool all = job->n_levels <= MG_COARSE_LEVELS;
  for (int l = 0; l < job->n_levels && all; l++)
    all = fits(job->level[l].view) && job->level[l].n_steps <= MG_BLOCK_MAX_STEPS;
  return all;
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

/* Whether threads compute pairs of cells. */
static bool has_pairs(const mg_coarse_cycle_job_t *job) {
  return mg_has_path(job->level[0].view->op, MG_PATH_PAIRS);
}

/* Set the levels, and the places of those of fv4.
 * @return threads of fv4's kernel */
static int set_args(const mg_coarse_cycle_job_t *job, const mg_step_t *step,
                    mg_block_args_t *args) {
  int n[MG_COARSE_LEVELS], n_steps[MG_COARSE_LEVELS];
  mg_fv4_place_t place[MG_COARSE_LEVELS] = {};
  for (int l = 0; l < job->n_levels; l++) {
    n[l] = job->level[l].view->n[0];
    n_steps[l] = job->level[l].n_steps;
  }
  const int threads = has_pairs(job) ? 0 : mg_fv4_place_levels(job->n_levels, n, n_steps, place);
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

/* Whether separate launches are faster: resident smooths in a graph, which needs the bottom solve
 * in one launch. */
static bool launches_win(const mg_coarse_cycle_job_t *job) {
  return job->level[0].resident &&
         mg_cuda_bottom_fits(job->level[job->n_levels - 1].view, job->bottom);
}

/* Whether interpolation's wall formulas have the orders of the operator's. */
static bool orders_match(const mg_coarse_cycle_job_t *job) {
  if (mg_traits_of(job->level[0].view->op)->wall_order == 1)
    return job->v == MG_INTERPOLATE_P0 && job->f == MG_INTERPOLATE_P1;
  return job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V2;
}

/* The kernel for a job whose levels are no cubes, or of fv4; null: none. */
static kernel_t kernel_for(const mg_coarse_cycle_job_t *job) {
  if (!mg_has_path(job->level[0].view->op, MG_PATH_BLOCK)) return nullptr;
  const bool colored = job->level[0].step[0].colored,
             v4 = job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V4;
  if (has_pairs(job)) {
    if (!orders_match(job) || !all_fit(job, mg_box_fits) || launches_win(job)) return nullptr;
    return colored ? box_kernel<true> : box_kernel<false>;
  }
  if (!v4 || !all_fit(job, cube_fits) || !fv4_fits(job)) return nullptr;
  return colored ? fv4_kernel<true> : fv4_kernel<false>;
}

static mg_status_t create(const mg_coarse_cycle_job_t *job, bool paired, mg_coarse_cycle_t *cycle) {
  MG_TRY(copy_steps(job, &cycle->steps));
  if (paired) return mg_paired_cycle_create(job, cycle->steps, &cycle->paired);
  cycle->kernel = kernel_for(job);
  cycle->threads = set_args(job, cycle->steps, &cycle->args);
  return MG_OK;
}

mg_status_t mg_cuda_coarse_cycle_create(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out) {
  const bool paired = has_pairs(job) && all_fit(job, cube_fits);
  *out = nullptr;
  if (!paired && !kernel_for(job)) return MG_OK;
  mg_coarse_cycle_t *cycle = new (std::nothrow) mg_coarse_cycle_t();
  if (!cycle) return mg_out_of_memory(sizeof *cycle, "the coarse cycle");
  const mg_status_t status = create(job, paired, cycle);
  if (status != MG_OK || (paired && !cycle->paired))
    mg_cuda_coarse_cycle_free(cycle);
  else
    *out = cycle;
  return status;
}

void mg_cuda_coarse_cycle_free(mg_coarse_cycle_t *cycle) {
  if (!cycle) return;
  mg_paired_cycle_free(cycle->paired);
  mg_cuda_release(cycle->steps, 0, MG_SPACE_LEVEL);
  delete cycle;
}

mg_status_t mg_cuda_coarse_cycle_run(const mg_coarse_cycle_t *t, int top, mg_cycle_t cycle,
                                     bool zero_guess) {
  if (t->paired) return mg_paired_cycle_run(t->paired, top, cycle, zero_guess);
  const int threads =
      t->threads ? t->threads : mg_cuda_block_threads(mg_box_pairs(&t->args.level[top].l.v));
  mg_cuda_launch_dependent(t->kernel, 1, threads, t->args, top, cycle, zero_guess);
  MG_CUDA_LAUNCHED("coarse_cycle");
  return MG_OK;
}
