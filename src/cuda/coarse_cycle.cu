/* Cycles over the coarsest levels in one launch of one block. The smooths, transfers and bottom
 * solve of four levels would otherwise take about fifty launches.
 *
 * F-cycles of fv2 on an H200, GDOF/s, GSRB and Chebyshev, all as captured graphs:
 *
 *     coarse cycle       64^3             128^3
 *     none               0.331  0.331     1.40  1.31
 *     from 8^3 down      0.448  0.430     1.65  1.49
 *     from 16^3 down     0.398  0.306     1.53  1.21
 *
 * From 16^3 the cache and arithmetic of one SM are too slow (1024 threads: 0.334 and 0.285 at
 * 64^3). A coarse cycle from 10^3 made 160^3 and 320^3 on two GPUs 1.5 and 0.5 % faster.
 *
 * Most of the code runs only a few times, so code size costs time: with a third of the
 * instructions, an F-cycle of 64^3 took 3.6 % less. Latency of dependent instructions also counts:
 * a half sweep of 2^3 cells took as long as one of 8^3. Hence block_smoother.h, and a thread per
 * pair of cells in the interpolation. Placing the 3 KB of arguments in shared memory was no faster;
 * docs/performance.md has what else was tried. */
#include "cuda/block_fv4_cycle.h"
#include "cuda/dependent_launch.h"
#include <cstdlib>
#include <new>

enum { MAX_LEVELS = 6, MAX_CELLS = MG_BLOCK_PAIRED_CELLS };

struct coarse_level_t {
  mg_cuda_patch_t l;
  mg_block_steps_t steps;
  mg_fv4_place_t place; /**< for fv4_kernel */
};

/** Kernel arguments; the coarsest level is the last. */
struct coarse_args_t {
  coarse_level_t level[MAX_LEVELS];
  int n_levels;
  mg_bottom_job_t bottom;
};

typedef void (*kernel_t)(coarse_args_t args, int top, mg_cycle_t cycle, bool zero_guess);

struct mg_coarse_cycle {
  coarse_args_t args;
  kernel_t kernel;
  int fv4_threads;  /**< if the kernel is fv4_kernel */
  mg_step_t *steps; /**< device: steps of all levels */
};

/** Where a smooth takes its first iterate from. */
enum guess_t { ZERO, STORED, CORRECTED, INTERPOLATED };

/** V-cycle and F-cycle; level 0 is the finest level of the coarse cycle. */
template <bool fv4, bool colored, bool varies, mg_interpolation_t v_kind, mg_interpolation_t f_kind>
struct cycles_t {
  const coarse_args_t *args;
  mg_block_shared_t *shared;

  __device__ mg_block_level_t level(int l) const {
    return mg_block_level_t(&args->level[l].l, shared);
  }

  /* First iterate of this thread's cells. */
  __device__ mg_real2_t first_iterate(const mg_block_level_t &cells, const mg_block_level_t &coarse,
                                      guess_t guess) const {
    const mg_block_pair_t pair = cells.pair();
    const mg_real2_t zero = {0.0, 0.0},
                     u = guess == STORED || guess == CORRECTED ? cells.load(MG_U, pair) : zero;
    mg_real2_t p = zero;
    if (guess == CORRECTED || (guess == INTERPOLATED && v_kind == f_kind))
      p = cells.template interpolate_pair<v_kind>(coarse, pair);
    else if (guess == INTERPOLATED)
      p = cells.template interpolate_pair<f_kind>(coarse, pair);
    return guess == CORRECTED ? mg_make_real2(u.x + p.x, u.y + p.y) : guess == STORED ? u : p;
  }

  /** Visit a level above the coarsest: smooth, and on the way down restrict the residual to the
   *  next level. One function for both directions keeps the code small. */
  __device__ void visit(int l, bool down, guess_t guess) const {
    const coarse_level_t &here = args->level[l];
    const mg_block_level_t cells = level(l), coarse = level(l + 1);
    if constexpr (fv4) {
      if (guess == CORRECTED) cells.template interpolate<v_kind, true>(coarse);
      if (guess == INTERPOLATED) cells.template interpolate<f_kind, false>(coarse);
      cells.template smooth_fv4<varies>(here.steps.step, here.steps.n, guess == ZERO);
      if (down) cells.template residual<true, varies>(MG_TMP, MG_U, MG_F);
      if (down) cells.restrict_cells(MG_TMP, coarse, MG_F);
    } else {
      mg_block_smoother_t<colored, varies, false> pairs(cells, here.steps,
                                                        first_iterate(cells, coarse, guess));
      pairs.smooth();
      if (down) pairs.restrict_residual(coarse);
    }
    __syncthreads();
  }

  /** Run a V-cycle, or an F-cycle: a V-cycle from every level, coarsest first, each starting from
   *  the interpolated solution of the next coarser level. One loop serves both: separate code would
   *  triple the code size and the compile time. */
  __device__ void run(int top, bool f_cycle, bool zero_guess) const {
    const int bottom = args->n_levels - 1;
    for (int l = top; f_cycle && l < bottom; l++)
      level(l).restrict_cells(MG_F, level(l + 1), MG_F);
    const guess_t first = f_cycle ? INTERPOLATED : zero_guess ? ZERO : STORED;
    for (int start = f_cycle ? bottom : top; start >= top; start--) {
      bool down = true;
      for (int l = start; l >= start; l += down ? 1 : -1) {
        if (l < bottom) {
          visit(l, down, !down ? CORRECTED : l > start ? ZERO : first);
        } else {
          mg_block_solve<fv4, colored, varies>(&args->level[bottom].l, shared, args->bottom,
                                               f_cycle || zero_guess || bottom > start);
          down = false;
        }
      }
    }
  }
};

template <bool fv4, bool colored, bool varies, mg_interpolation_t v_kind, mg_interpolation_t f_kind>
static __global__ void __launch_bounds__(MG_BLOCK_MAX_THREADS)
    coarse_cycle_kernel(const MG_GRID_CONSTANT coarse_args_t args, int top, mg_cycle_t cycle,
                        bool zero_guess) {
  mg_cuda_wait_dependency();
  __shared__ mg_block_shared_t shared;
  const cycles_t<fv4, colored, varies, v_kind, f_kind> cycles = {&args, &shared};
  cycles.run(top, cycle == MG_CYCLE_F, zero_guess);
}

/** The cycles of cycles_t for fv4 on small levels (block_fv4.h), as seen by one thread. */
template <bool colored, bool varies> struct fv4_cycles_t {
  const coarse_args_t *args;
  mg_fv4_block_t<colored, varies> block;

  /* Loads coefficients only. */
  __device__ __forceinline__ fv4_cycles_t(const coarse_args_t *a, mg_fv4_shared_t *shared)
      : args(a), block(shared) {
    const int t = (int)threadIdx.x, bottom = args->n_levels - 1;
    int l = 0;
    for (int next = 1; next <= bottom; next++)
      if (t >= args->level[next].place.thread) l = next;
    const coarse_level_t &own = args->level[l];
    block.open(l, l == bottom, &own.l, own.place, MG_REAL(own.steps.c2));
#pragma unroll
    for (int q = 0; q < mg_fv4_bottom_t<varies>::FILLERS; q++) {
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

  __device__ __forceinline__ void visit(int l, bool down, guess_t guess) {
    const coarse_level_t &here = args->level[l], &coarse = args->level[l + 1];
    if (guess == ZERO && block.level == l) block.u = 0.0;
    if (guess == CORRECTED)
      block.template interpolate<MG_INTERPOLATE_V2>(l, &coarse.l, coarse.place, true);
    if (guess == INTERPOLATED)
      block.template interpolate<MG_INTERPOLATE_V4>(l, &coarse.l, coarse.place, false);
    if (guess != ZERO) block.store(l, here.place, block.u);
    block.smooth(l, &here.l, here.place, here.steps, guess == ZERO);
    if (down) block.restrict_residual(l, &here.l, here.place);
  }

  __device__ __forceinline__ void solve_coarsest(bool zero_guess) {
    typedef mg_fv4_bottom_t<varies> bottom_t;
    const int l = args->n_levels - 1;
    const coarse_level_t &here = args->level[l];
    if (block.level == l) {
      mg_krylov_t<bottom_t, true, colored, varies> solver(
          bottom_t(&here.l, here.place, block.shared, block.cell, block.ghosts, block.f, block.u),
          args->bottom.reduction);
      solver.solve(args->bottom, zero_guess);
      solver.store(MG_U);
      block.u = solver.x[MG_U];
    }
    __syncthreads();
  }

  /** As cycles_t::run. */
  __device__ __forceinline__ void run(int top, bool f_cycle, bool zero_guess) {
    const int bottom = args->n_levels - 1;
    const mg_cuda_patch_t *l = &args->level[top].l;
    if (block.mine(top)) {
      const ptrdiff_t at = block.cell.offset(l);
      block.f = l->p.vec[MG_F][at];
      if (!f_cycle && !zero_guess) block.u = l->p.vec[MG_U][at];
    }
    if (f_cycle) restrict_f(top);
    const guess_t first = f_cycle ? INTERPOLATED : zero_guess ? ZERO : STORED;
#pragma unroll 1
    for (int start = f_cycle ? bottom : top; start >= top; start--) {
      bool down = true;
#pragma unroll 1
      for (int n = start; n >= start; n += down ? 1 : -1) {
        if (n < bottom) {
          visit(n, down, !down ? CORRECTED : n > start ? ZERO : first);
        } else {
          solve_coarsest(f_cycle || zero_guess || bottom > start);
          down = false;
        }
      }
    }
    if (block.mine(top)) l->p.vec[MG_U][block.cell.offset(l)] = block.u;
  }
};

template <bool colored, bool varies>
static __global__ void __launch_bounds__(MG_FV4_BLOCK_THREADS, 1)
    fv4_kernel(const MG_GRID_CONSTANT coarse_args_t args, int top, mg_cycle_t cycle,
               bool zero_guess) {
  __shared__ mg_fv4_shared_t shared;
  fv4_cycles_t<colored, varies> cycles(&args, &shared);
  mg_cuda_wait_dependency();
  cycles.run(top, cycle == MG_CYCLE_F, zero_guess);
}

/* Kernel for the interpolations of the job; null if no operator uses that combination. */
template <bool colored, bool varies> static kernel_t kernel_of(const mg_coarse_cycle_job_t *job) {
  const bool fv4 = job->level[0].view->op == MG_OPERATOR_FV4;
  if (fv4 && job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V4)
    return coarse_cycle_kernel<true, true, varies, MG_INTERPOLATE_V2, MG_INTERPOLATE_V4>;
  if (!fv4 && job->v == MG_INTERPOLATE_V2 && job->f == MG_INTERPOLATE_V2)
    return coarse_cycle_kernel<false, colored, varies, MG_INTERPOLATE_V2, MG_INTERPOLATE_V2>;
  if (!fv4 && job->v == MG_INTERPOLATE_P0 && job->f == MG_INTERPOLATE_P1)
    return coarse_cycle_kernel<false, colored, varies, MG_INTERPOLATE_P0, MG_INTERPOLATE_P1>;
  return nullptr;
}

static kernel_t kernel_for(const mg_coarse_cycle_job_t *job) {
  if (job->level[0].step[0].colored)
    return job->level[0].view->alpha_varies ? kernel_of<true, true>(job)
                                            : kernel_of<true, false>(job);
  return job->level[0].view->alpha_varies ? kernel_of<false, true>(job)
                                          : kernel_of<false, false>(job);
}

/* Kernel for fv4 on levels that block_fv4.h supports; null for others. */
static kernel_t fv4_kernel_for(const mg_coarse_cycle_job_t *job) {
  const mg_view_t *top = job->level[0].view, *last = job->level[job->n_levels - 1].view;
  if (top->op != MG_OPERATOR_FV4 || job->v != MG_INTERPOLATE_V2 || job->f != MG_INTERPOLATE_V4 ||
      job->n_levels > MG_FV4_BLOCK_LEVELS || top->n[0] > MG_FV4_BLOCK_SIDE ||
      last->n[0] > MG_FV4_BLOCK_BOTTOM_SIDE || mg_brick_width(last) != last->n[0] ||
      mg_operator_order(last) != 2 || job->bottom == MG_BOTTOM_SMOOTHER)
    return nullptr;
  const bool colored = job->level[0].step[0].colored;
  if (top->alpha_varies) return colored ? fv4_kernel<true, true> : fv4_kernel<false, true>;
  return colored ? fv4_kernel<true, false> : fv4_kernel<false, false>;
}

/* Whether a single patch covers level l, a cube of at most MAX_CELLS cells without Neumann walls:
 * the kernel interpolates with Dirichlet ghosts. */
static bool fits(const mg_coarse_cycle_job_t *job, int l) {
  const mg_view_t *v = job->level[l].view;
  const int64_t cells = (int64_t)v->n[0] * v->n[0] * v->n[0];
  return v->n_patches == 1 && mg_is_cube(v->n) && v->cells == cells && cells <= MAX_CELLS &&
         !mg_has_wall(v->side, MG_WALL_NEUMANN);
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

static void use_fv4_kernel(mg_coarse_cycle_t *coarse_cycle, const mg_coarse_cycle_job_t *job,
                           kernel_t kernel) {
  int n[MG_FV4_BLOCK_LEVELS], n_steps[MG_FV4_BLOCK_LEVELS];
  mg_fv4_place_t place[MG_FV4_BLOCK_LEVELS];
  for (int l = 0; l < job->n_levels; l++) {
    n[l] = job->level[l].view->n[0];
    n_steps[l] = job->level[l].n_steps;
  }
  coarse_cycle->kernel = kernel;
  coarse_cycle->fv4_threads = mg_fv4_place_levels(job->n_levels, n, n_steps, place);
  for (int l = 0; l < job->n_levels; l++)
    coarse_cycle->args.level[l].place = place[l];
}

mg_status_t mg_cuda_coarse_cycle_create(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out) {
  *out = nullptr;
  const kernel_t kernel = kernel_for(job);
  if (job->n_levels > MAX_LEVELS || !kernel) return MG_OK;
  for (int l = 0; l < job->n_levels; l++)
    if (!fits(job, l) || job->level[l].n_steps > MG_BLOCK_MAX_STEPS) return MG_OK;
  mg_coarse_cycle_t *coarse_cycle = new (std::nothrow) mg_coarse_cycle_t();
  if (!coarse_cycle) return mg_out_of_memory(sizeof *coarse_cycle, "the coarse cycle");
  const mg_status_t status = copy_steps(job, &coarse_cycle->steps);
  if (status != MG_OK) {
    mg_cuda_coarse_cycle_free(coarse_cycle);
    return status;
  }
  const mg_step_t *step = coarse_cycle->steps;
  for (int l = 0; l < job->n_levels; l++) {
    coarse_cycle->args.level[l] = {
        mg_cuda_patch(job->level[l].view, 0),
        mg_cuda_block_steps(job->level[l].step, job->level[l].n_steps, step)};
    step += job->level[l].n_steps;
  }
  const coarse_level_t &last = coarse_cycle->args.level[job->n_levels - 1];
  coarse_cycle->kernel = kernel;
  if (const kernel_t fv4 = fv4_kernel_for(job)) use_fv4_kernel(coarse_cycle, job, fv4);
  coarse_cycle->args.n_levels = job->n_levels;
  coarse_cycle->args.bottom = {job->bottom, job->max_iterations, job->reduction, last.steps};
  *out = coarse_cycle;
  return MG_OK;
}

void mg_cuda_coarse_cycle_free(mg_coarse_cycle_t *coarse_cycle) {
  if (!coarse_cycle) return;
  (void)cudaFree(coarse_cycle->steps);
  delete coarse_cycle;
}

/* Threads of the block: one for each pair of cells (fv4: for each cell) of the finest level. */
static int threads_for(const mg_view_t *v) {
  const int64_t rows = (int64_t)v->n[0] * v->n[0];
  return mg_cuda_block_threads(v->op == MG_OPERATOR_FV4 ? v->cells : rows * ((v->n[0] + 1) / 2));
}

mg_status_t mg_cuda_coarse_cycle_run(const mg_coarse_cycle_t *t, int top, mg_cycle_t cycle,
                                     bool zero_guess) {
  const int threads = t->fv4_threads ? t->fv4_threads : threads_for(&t->args.level[top].l.v);
  mg_cuda_launch_dependent(t->kernel, 1, threads, t->args, top, cycle, zero_guess);
  MG_CUDA_LAUNCHED("coarse_cycle");
  return MG_OK;
}
