/* Coarse cycles of the 7-point operators in one launch of one block, with the levels in shared
 * memory. The coarsest level is solved in registers if it has one cell and the bottom solver is
 * not the smoother, otherwise in global memory.
 *
 * Only latency counts: that of dependent operations, of shared memory and of barriers. Coefficients
 * are loaded before the preceding launch has completed. Below the first level one warp works, so
 * its steps need no barrier of the block. */
#include "cuda/coarse/paired_levels.h"
#include "cuda/runtime/dependent_launch.h"
#include <cstdlib>

typedef void (*kernel_t)(mg_paired_args_t args, int top, mg_cycle_t cycle, bool zero_guess);

struct mg_paired_cycle {
  mg_paired_args_t args;
  kernel_t kernel;     /**< for launches of several levels */
  size_t shared_bytes; /**< of the kernel */
};

/* One block per SM: the compiler may use all registers. */
template <bool one_cell, bool colored, bool stores_a, mg_interpolation_t v_kind,
          mg_interpolation_t f_kind>
static __global__ void __launch_bounds__(MG_PAIRED_MAX_THREADS, 1)
    cycle_kernel(const MG_GRID_CONSTANT mg_paired_args_t args, int top, mg_cycle_t cycle,
                 bool zero_guess) {
  extern __shared__ __align__(16) mg_real_t values[];
  const mg_paired_levels_t<one_cell, colored, stores_a, v_kind, f_kind> levels = {
      &args, values, top, args.n_levels - 1};
  levels.load_constants();
  mg_cuda_wait_dependency();
  levels.load_cells(cycle != MG_CYCLE_F && !zero_guess);
  __syncthreads();
  levels.run(cycle == MG_CYCLE_F, zero_guess);
  levels.store_cells();
}

/* Whether the last level has one cell and is solved in registers. */
static bool ends_with_cell(const mg_coarse_cycle_job_t *job) {
  return job->level[job->n_levels - 1].view->n[0] == 1 && job->bottom != MG_BOTTOM_SMOOTHER;
}

template <bool one_cell, bool colored, bool stores_a>
static kernel_t kernel_of(const mg_coarse_cycle_job_t *job) {
  if (job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V2)
    return cycle_kernel<one_cell, colored, stores_a, MG_INTERPOLATE_V2, MG_INTERPOLATE_V2>;
  if (job->v == MG_INTERPOLATE_P0 && job->f == MG_INTERPOLATE_P1)
    return cycle_kernel<one_cell, colored, stores_a, MG_INTERPOLATE_P0, MG_INTERPOLATE_P1>;
  return nullptr;
}

/* Only the commonest kernels know that alpha is constant. */
static kernel_t kernel_for(const mg_coarse_cycle_job_t *job) {
  const bool colored = job->level[0].step[0].colored;
  if (!ends_with_cell(job))
    return colored ? kernel_of<false, true, true>(job) : kernel_of<false, false, true>(job);
  if (!colored) return kernel_of<true, false, true>(job);
  return job->level[0].view->alpha_varies ? kernel_of<true, true, true>(job)
                                          : kernel_of<true, true, false>(job);
}

static mg_paired_level_t level_of(const mg_view_t *v, mg_interpolation_t kind,
                                  const mg_step_t *step, int n_steps) {
  const mg_patch_t *p = &v->patch[0];
  mg_paired_level_t l = {};
  l.u = p->vec[MG_U];
  l.f = p->vec[MG_F];
  for (int d = 0; d < 3; d++)
    l.beta[d] = p->vec[MG_BETA_I + d];
  l.dinv = p->vec[MG_DINV];
  l.alpha = v->alpha_varies ? p->vec[MG_ALPHA] : nullptr;
  l.jstride = (int)p->jstride;
  l.kstride = (int)p->kstride;
  l.n = v->n[0];
  l.pairs = l.n * l.n * (l.n / 2);
  l.by_half = mg_magic_of(l.n > 1 ? l.n / 2 : 1);
  l.by_n = mg_magic_of(l.n);
  l.by_padded = mg_magic_of(l.n + 2);
  l.order = mg_operator_orders(v).along[0];
  l.ghost_order = mg_wall_orders(v, kind == MG_INTERPOLATE_V2 ? 2 : 1).along[0];
  l.periodic = v->periodic;
  l.a = MG_REAL(v->a);
  l.b_h2 = MG_REAL(v->b_h2);
  const mg_block_steps_t steps = mg_cuda_block_steps(step, n_steps, nullptr);
  l.n_steps = n_steps;
  l.same = steps.same;
  l.c2 = MG_REAL(steps.c2);
  if (step[0].colored) l.phase = (mg_parity(p, 0, 0, 0) ^ steps.color) & 1;
  return l;
}

/* Assign places in shared memory. An even number of values each, so that pairs are aligned.
 * @return bytes, without block_at's */
static size_t assign_places(mg_paired_args_t *args) {
  const int last = args->n_levels - 1;
  const int values = MG_PAIRED_VALUES;
  int at = 0, most_padded = 0, first_step = 0;
  for (int l = 0; l <= last; l++) {
    mg_paired_level_t *level = &args->level[l];
    const int cells = (level->n * level->n * level->n + 1) / 2 * 2, w = level->n + 2;
    level->record_at = at;
    at += values * (l < last ? 2 * level->pairs : cells);
    level->f_at = at;
    level->u_at = at + cells;
    at += 2 * cells;
    if (l > 0 && w > most_padded) most_padded = w;
    level->first_step = first_step;
    first_step += level->n_steps;
  }
  args->n_steps = first_step;
  args->step_at = at;
  args->spare_at = args->step_at + 2 * args->n_steps;
  args->sum_at = args->spare_at + 2 * args->level[0].pairs;
  args->padded_at = args->sum_at + (args->level[0].pairs + 1) / 2 * 2;
  at = args->padded_at + most_padded * most_padded * most_padded;
  const int align = 16 / (int)sizeof(mg_real_t);
  args->block_at = (at + align - 1) / align * align;
  return (size_t)args->block_at * sizeof(mg_real_t);
}

static void set_args(const mg_coarse_cycle_job_t *job, const mg_step_t *step,
                     mg_paired_args_t *args) {
  const int last = job->n_levels - 1;
  args->n_levels = job->n_levels;
  args->step = step;
  args->last = mg_cuda_patch(job->level[last].view, 0);
  for (int l = 0; l <= last; l++) {
    args->level[l] =
        level_of(job->level[l].view, job->f, job->level[l].step, job->level[l].n_steps);
    if (l < last) step += job->level[l].n_steps;
  }
  args->bottom = {job->bottom, job->max_iterations, job->reduction,
                  mg_cuda_block_steps(job->level[last].step, job->level[last].n_steps, step)};
}

mg_status_t mg_paired_cycle_create(const mg_coarse_cycle_job_t *job, const mg_step_t *step,
                                   mg_paired_cycle_t **out) {
  mg_paired_cycle_t *cycle;
  MG_TRY(mg_new(&cycle, 1, "the coarse cycle"));
  cycle->kernel = kernel_for(job);
  set_args(job, step, &cycle->args);
  cycle->shared_bytes =
      assign_places(&cycle->args) + (ends_with_cell(job) ? 0 : sizeof(mg_block_shared_t));
  *out = cycle;
  if (!cycle->kernel || cycle->shared_bytes > (size_t)mg_cuda.shared_bytes)
    return mg_error(MG_ERR_INTERNAL, "coarse cycle with %d bytes of shared memory, limit %d",
                    (int)cycle->shared_bytes, mg_cuda.shared_bytes);
  return mg_cuda_allow_shared((const void *)cycle->kernel, (size_t)mg_cuda.shared_bytes);
}

void mg_paired_cycle_free(mg_paired_cycle_t *cycle) {
  free(cycle);
}

mg_status_t mg_paired_cycle_run(const mg_paired_cycle_t *t, int top, mg_cycle_t cycle,
                                bool zero_guess) {
  const mg_paired_args_t &args = t->args;
  if (top + 1 == args.n_levels)
    return mg_bottom_run(args.last, args.bottom, cycle == MG_CYCLE_F || zero_guess);
  const int threads = mg_cuda_block_threads(args.level[top].pairs);
  mg_cuda_launch_dependent_shared(t->kernel, 1, threads, t->shared_bytes, args, top, cycle,
                                  zero_guess);
  MG_CUDA_LAUNCHED("paired_cycle");
  return MG_OK;
}
