/* The cycle of paired_cycle.cu as seen by one thread. */
#ifndef MG_CUDA_COARSE_PAIRED_LEVELS_H
#define MG_CUDA_COARSE_PAIRED_LEVELS_H

#include "cuda/coarse/krylov.h"
#include "cuda/coarse/levels.h"
#include "cuda/coarse/paired_smoother.h"

/** Kernel argument; the coarsest level is the last. Places are indices in shared memory. */
struct mg_paired_args_t {
  mg_paired_level_t level[MG_COARSE_LEVELS];
  int n_levels;
  int n_steps, step_at, spare_at, sum_at, padded_at, block_at;
  const mg_step_t *step; /**< device: n_steps steps of all levels */
  mg_cuda_patch_t last;
  mg_bottom_job_t bottom;
};

/** Solve the coarsest level in global memory. Not inlined: it is large and rarely used. */
template <bool colored>
static __device__ __noinline__ void
mg_paired_solve_last(const mg_paired_args_t *args, mg_block_shared_t *shared, bool zero_guess) {
  mg_solve_in_memory<false, colored>({&args->last, shared}, args->bottom, zero_guess);
  __syncthreads();
}

/** Solve a level of one cell from u = 0. Not inlined, so that its registers do not add to those of
 *  the cycle. */
static __device__ __noinline__ mg_real_t mg_paired_solve_cell(mg_one_cell_level_t cell, mg_real_t f,
                                                              mg_bottom_t method,
                                                              int max_iterations,
                                                              double reduction) {
  const mg_bottom_job_t job = {method, max_iterations, reduction, {}};
  return mg_solve_one_cell(cell, f, MG_REAL(0.0), job, true);
}

/** V-cycle and F-cycle; level 0 is the finest level of the coarse cycle.
 *  @tparam one_cell  the coarsest level has one cell and is solved in registers; a parameter
 * because the other solver limits the registers of the whole kernel */
template <bool one_cell, bool colored, bool stores_a, mg_interpolation_t v_kind,
          mg_interpolation_t f_kind>
struct mg_paired_levels_t {
  typedef mg_paired_row_t<stores_a> row_t;
  const mg_paired_args_t *args;
  mg_real_t *shared;
  int top, bottom; /**< first level of the launch; coarsest level */

  __device__ __forceinline__ static int thread(void) { return (int)threadIdx.x; }
  __device__ __forceinline__ static bool in_first_warp(void) { return thread() < 32; }

  /** The threads that run level l. */
  __device__ __forceinline__ mg_team_t team_of(int l) const {
    return {l != top, l == top ? (int)blockDim.x : 32};
  }

  __device__ __forceinline__ mg_real2_t *at_pair(int vector_at, int place) const {
    return (mg_real2_t *)(shared + vector_at + place);
  }

  /** Load what no kernel of a cycle writes: coefficients and steps. Each warp loads its pairs of
   *  the first level, and one of the lower levels meanwhile. */
  __device__ __forceinline__ void load_constants(void) const {
    row_t first[2];
    const mg_paired_level_t &finest = args->level[top];
    const mg_pair_t pair = mg_pair(finest, thread());
    mg_paired_load(finest, pair, first);
    const int warps = (int)blockDim.x / 32, lane = thread() % 32;
#pragma unroll 1
    for (int l = top + 1 + thread() / 32; l <= bottom; l += warps) {
      const mg_paired_level_t &level = args->level[l];
      if (l < bottom) {
        row_t row[2];
        const mg_pair_t p = mg_pair(level, lane);
        mg_paired_load(level, p, row);
        mg_paired_store<colored>(level, p, row, shared);
      } else if (one_cell && lane == 0) {
        const row_t row = {mg_row(&args->last, 0, 0, 0), level.dinv[0]};
        row.store(shared + level.record_at, 1);
      }
    }
    if constexpr (!one_cell) load_last();
    mg_paired_store<colored>(finest, pair, first, shared);
#pragma unroll 1
    for (int n = thread(); !colored && n < args->n_steps; n += (int)blockDim.x) {
      shared[args->step_at + 2 * n] = MG_REAL(args->step[n].c1);
      shared[args->step_at + 2 * n + 1] = MG_REAL(args->step[n].c2);
    }
  }

  /** Load the coefficients of the coarsest level's cells. */
  __device__ __forceinline__ void load_last(void) const {
    const mg_paired_level_t &l = args->level[bottom];
    const int cells = l.n * l.n * l.n;
#pragma unroll 1
    for (int c = thread(); c < cells; c += (int)blockDim.x) {
      const int q = mg_quotient(c, l.by_n), k = mg_quotient(q, l.by_n), j = q - k * l.n,
                i = c - q * l.n;
      const row_t cell = {mg_row(&args->last, i, j, k), l.dinv[i + j * l.jstride + k * l.kstride]};
      cell.store(shared + l.record_at + c, cells);
    }
  }

  /** Load f, and u if it is the guess, of the first level. Each thread uses its own pair only. */
  __device__ __forceinline__ void load_cells(bool with_u) const {
    const mg_paired_level_t &l = args->level[top];
    const mg_pair_t pair = mg_pair(l, thread());
    const int at = mg_pair_offset(l, pair), place = mg_pair_place(l, pair);
    const mg_real2_t zero = {0.0, 0.0}, f = *(const mg_real2_t *)(l.f + at),
                     u = with_u ? *(const mg_real2_t *)(l.u + at) : zero;
    *at_pair(l.f_at, place) = f;
    *at_pair(l.u_at, place) = u;
  }

  /** Store u of the first level. */
  __device__ __forceinline__ void store_cells(void) const {
    const mg_paired_level_t &l = args->level[top];
    const mg_pair_t pair = mg_pair(l, thread());
    *(mg_real2_t *)(l.u + mg_pair_offset(l, pair)) = *at_pair(l.u_at, mg_pair_place(l, pair));
  }

  /** Restriction to a pair of level l, from the sums of the level above's pairs. */
  __device__ __forceinline__ mg_real2_t restricted(const mg_paired_level_t &l,
                                                   const mg_pair_t &p) const {
    const mg_real_t *sums = shared + args->sum_at;
    return mg_make_real2(mg_mean_of_pairs(sums, l.n, p.i, p.j, p.k),
                         mg_mean_of_pairs(sums, l.n, p.i + 1, p.j, p.k));
  }

  /** f of all levels of an F-cycle; the coarsest level takes it from the sums. */
  __device__ __forceinline__ void restrict_f(void) const {
#pragma unroll 1
    for (int l = top; l < bottom; l++) {
      if (l > top && !in_first_warp()) break;
      const mg_team_t team = team_of(l);
      const mg_paired_level_t &level = args->level[l];
      const mg_pair_t pair = mg_pair(level, thread());
      mg_real2_t *f = at_pair(level.f_at, mg_pair_place(level, pair));
      mg_real2_t x;
      if (l > top) {
        x = restricted(level, pair);
        team.barrier();
        *f = x;
      } else {
        x = *f;
      }
      shared[args->sum_at + pair.number] = x.x + x.y;
      team.barrier();
    }
  }

  /** P (u of level l + 1) at a pair of level l; `padded` holds it with ghosts, except for P0. */
  template <mg_interpolation_t kind>
  __device__ __forceinline__ mg_real2_t interpolated(int l, const mg_pair_t &p) const {
    const mg_paired_level_t &coarse = args->level[l + 1];
    if constexpr (kind == MG_INTERPOLATE_P0) {
      const mg_real_t u =
          shared[coarse.u_at + p.i / 2 + coarse.n * (p.j / 2 + coarse.n * (p.k / 2))];
      return mg_make_real2(u, u);
    } else {
      return mg_paired_interpolate<kind>(shared + args->padded_at, coarse.n + 2, p);
    }
  }

  /** u of level l with a layer of ghosts, by `threads` threads. */
  __device__ __forceinline__ void pad(int l, int threads) const {
    const mg_paired_level_t &level = args->level[l];
    const int w = level.n + 2;
#pragma unroll 1
    for (int c = thread(); c < w * w * w; c += threads)
      shared[args->padded_at + c] = mg_padded_value(level, shared + level.u_at, c);
  }

  /** Visit a level above the coarsest: smooth, and on the way down sum the residual over pairs, for
   *  the next level. One function for both directions keeps the code small.
   *  @param from_sums  f is restricted; otherwise it is in shared memory */
  __device__ __forceinline__ void visit(int l, bool down, mg_coarse_guess_t guess,
                                        bool from_sums) const {
    if (l > top && !in_first_warp()) return;
    const mg_team_t team = team_of(l);
    const mg_paired_level_t &level = args->level[l];
    const mg_pair_t pair = mg_pair(level, thread());
    const int place = mg_pair_place(level, pair);
    const bool interpolates = guess == MG_COARSE_PLUS_P || guess == MG_COARSE_P;
    if (interpolates) {
      if (l == top)
        __syncthreads(); /* the other warps have waited here */
      else
        __syncwarp();
      if (v_kind != MG_INTERPOLATE_P0 || guess == MG_COARSE_P) pad(l + 1, team.threads);
    }
    mg_real2_t *const f_at = at_pair(level.f_at, place);
    const mg_real2_t f = from_sums ? restricted(level, pair) : *f_at;
    if (from_sums) *f_at = f;
    mg_real2_t u = {0.0, 0.0};
    if (guess == MG_COARSE_STORED || guess == MG_COARSE_PLUS_P) u = *at_pair(level.u_at, place);
    __syncwarp(); /* lanes without a pair store u, too */
    if (interpolates) {
      team.barrier();
      const mg_real2_t p = v_kind == f_kind || guess == MG_COARSE_PLUS_P
                               ? interpolated<v_kind>(l, pair)
                               : interpolated<f_kind>(l, pair);
      u = guess == MG_COARSE_P ? p : mg_make_real2(u.x + p.x, u.y + p.y);
    }
    /* After the interpolation: together they would take too many registers. */
    const uint32_t u_at = mg_shared_address(shared + level.u_at),
                   spare = mg_shared_address(shared + args->spare_at) - u_at;
    mg_paired_smoother_t<colored, v_kind == MG_INTERPOLATE_P0, stores_a> cells(level, pair, team,
                                                                               u_at);
    cells.load(shared);
    cells.start(f, u);
    cells.smooth(spare, shared + args->step_at + 2 * level.first_step);
    if (!down) return;
    const mg_real_t sum = cells.residual_sum();
    shared[args->sum_at + pair.number] = sum;
    team.barrier();
  }

  /** Solve the coarsest level, from u = 0. */
  __device__ __forceinline__ void solve(bool) const {
    if constexpr (one_cell)
      solve_cell();
    else
      solve_last();
  }

  /** Solve the coarsest level, which has one cell, from u = 0. */
  __device__ __forceinline__ void solve_cell(void) const {
    if (thread() != 0) return;
    const mg_paired_level_t &l = args->level[bottom];
    row_t c;
    c.load(shared + l.record_at, 1, l.a);
    const mg_one_cell_level_t cell = {
        c.row, c.dinv, l.b_h2, {l.periodic, l.periodic, l.periodic}, args->last.singular};
    shared[l.u_at] = mg_paired_solve_cell(cell, mg_mean_of_pairs(shared + args->sum_at, 1, 0, 0, 0),
                                          args->bottom.method, args->bottom.max_iterations,
                                          args->bottom.reduction);
  }

  /** Solve the coarsest level, from u = 0, by all threads of the block: in registers if there is a
   *  thread for each cell, else in global memory. */
  __device__ __forceinline__ void solve_last(void) const {
    const mg_block_level_t cells(&args->last, (mg_block_shared_t *)(shared + args->block_at));
    __syncthreads();
    if (mg_has_thread_per_cell(cells, args->bottom)) {
      const int c = min(thread(), cells.cells - 1);
      const int3 i = cells.cell(c);
      const mg_real_t f = mg_mean_of_pairs(shared + args->sum_at, cells.row.n, i.x, i.y, i.z);
      row_t cell;
      cell.load(shared + args->level[bottom].record_at + c, cells.cells, args->level[bottom].a);
      const mg_real_t u =
          mg_solve_thread_cells(cells, cell.row, cell.dinv, f, MG_REAL(0.0), args->bottom, true);
      if (thread() < cells.cells) shared[args->level[bottom].u_at + c] = u;
      __syncthreads();
      return;
    }
    cells.for_cells([&](int3 i, ptrdiff_t at) {
      cells.vec(MG_F)[at] = mg_mean_of_pairs(shared + args->sum_at, cells.row.n, i.x, i.y, i.z);
    });
    mg_paired_solve_last<colored>(args, cells.s, true);
#pragma unroll 1
    for (int c = thread(); c < cells.cells; c += (int)blockDim.x)
      shared[args->level[bottom].u_at + c] = cells.vec(MG_U)[cells.offset(c)];
    __syncthreads();
  }

  __device__ __forceinline__ void run(bool f_cycle, bool zero_guess) const {
    if (f_cycle) restrict_f();
    mg_coarse_run(*this, top, bottom, f_cycle, zero_guess);
  }
};

#endif
