/* Operations of a cycle of fv4 in one block (block_fv4.h). */
#ifndef MG_CUDA_COARSE_BLOCK_FV4_CYCLE_H
#define MG_CUDA_COARSE_BLOCK_FV4_CYCLE_H

#include "cuda/cells/interpolate.h"
#include "cuda/coarse/block_fv4.h"
#include "cuda/coarse/levels.h"

/** Interpolation to the cell of a thread of the finer level.
 *  @param x   the coarse cell that contains it, in shared memory with ghosts
 *  @param ks  stride of the coarse planes */
template <mg_interpolation_t kind>
static __device__ __forceinline__ mg_real_t mg_fv4_interpolate(const mg_fv4_cell_t &cell,
                                                               const mg_real_t *x, int ks) {
  constexpr int radius = mg_interpolation_radius<kind>();
  const int side_i = cell.i % 2 ? 1 : -1, side_j = cell.j % 2 ? 1 : -1,
            side_k = cell.k % 2 ? 1 : -1;
  mg_real_t row[5];
  /* Not unrolled with five values per direction: see block_level.h. */
#pragma unroll(kind == MG_INTERPOLATE_V4 ? 1 : 3)
  for (int di = -radius; di <= radius; di++) {
    mg_real_t column[5];
#pragma unroll
    for (int dj = -radius; dj <= radius; dj++) {
      mg_real_t line[5];
#pragma unroll
      for (int dk = -radius; dk <= radius; dk++)
        line[2 + dk] = x[di + MG_FV4_JS * dj + ks * dk];
      column[2 + dj] = mg_interpolate_5(kind, line, side_k);
    }
    /* Indices must be constants, so that `row` is in registers. */
#pragma unroll
    for (int c = 2 - radius; c < 2 + radius; c++)
      row[c] = row[c + 1];
    row[2 + radius] = mg_interpolate_5(kind, column, side_j);
  }
  return mg_interpolate_5(kind, row, side_i);
}

/** The block as seen by one thread. All threads of the block call every function. */
template <bool colored> struct mg_fv4_block_t {
  mg_fv4_shared_t *shared;
  int level; /**< of this thread's cell */
  mg_fv4_cell_t cell;
  int color; /**< of the cell */
  mg_real_t f, u;
  /** Of levels 0, 1; for a thread of the coarsest level, all of them on that level. */
  mg_fv4_ghosts_t ghosts[mg_fv4_bottom_t::FILLERS];

  __device__ __forceinline__ explicit mg_fv4_block_t(mg_fv4_shared_t *s)
      : shared(s), level(0), color(0), f(0.0), u(0.0) {
    for (int c = (int)threadIdx.x; c < MG_FV4_BLOCK_VALUES; c += (int)blockDim.x)
      shared->value[c] = 0.0;
  }

  /** Load the coefficients of this thread's cell of level `number`. */
  __device__ __forceinline__ void open(int number, bool coarsest, const mg_cuda_patch_t *l,
                                       const mg_fv4_place_t &place, mg_real_t c2) {
    const int q = (int)threadIdx.x - place.thread, n = place.n;
    level = number;
    color = !coarsest && q >= place.color_threads;
    /* Cells of a color: pairs along i, one cell of each. */
    const int width = coarsest ? n : n / 2, c = q - color * place.color_threads;
    const mg_divisor_t by_width(width), by_n(n);
    const int row = by_width.quotient(c), i = c - row * width;
    cell.k = by_n.quotient(row);
    cell.j = row - cell.k * n;
    cell.there = cell.k < n;
    const mg_patch_t *p = &l->p;
    const int odd = (mg_parity(p, 0, cell.j, cell.k) ^ color) & 1;
    cell.i = coarsest ? i : 2 * i + odd;
    cell.load(l, place.ks);
    if (colored && !coarsest) cell.dinv *= c2; /* here, off the path from step to step */
  }

  __device__ __forceinline__ bool mine(int l) const { return l == level && cell.there; }

  __device__ __forceinline__ mg_real_t *half(const mg_fv4_place_t &place, int number) const {
    return shared->value + place.values + number * place.size;
  }

  /** Store u of the level in its first half. */
  __device__ __forceinline__ void store(int l, const mg_fv4_place_t &place, mg_real_t x) const {
    if (mine(l)) half(place, 0)[cell.at] = x;
    __syncthreads();
  }

  /** Fill the ghosts of a half that A reads. */
  __device__ __forceinline__ void fill_ghosts(int l, const mg_cuda_patch_t *patch,
                                              const mg_fv4_place_t &place, mg_real_t *x) const {
    const mg_fv4_ghosts_t g = {l == 0 ? ghosts[0].packed : ghosts[1].packed,
                               l == 0 ? ghosts[0].across : ghosts[1].across};
    if ((int)threadIdx.x < mg_fv4_fillers(place.n)) mg_fv4_fill<4>(patch, x, g, place.n);
    __syncthreads();
  }

  /** All steps on u of the level. Its first half holds u unless that is zero. */
  __device__ __forceinline__ void smooth(int l, const mg_cuda_patch_t *patch,
                                         const mg_fv4_place_t &place, const mg_block_steps_t &steps,
                                         bool zero_guess) {
    mg_real_t *x = half(place, 0), *next = half(place, 1);
    mg_real_t previous = u;
    uint64_t same = steps.same;
    /* Before the loop, so that only predicates stay in use. */
    const bool here = mine(l), first = color == steps.color;
#pragma unroll 1
    for (int n = 0; n < steps.n; n++, same >>= 1) {
      const bool zero = zero_guess && n == 0;
      if (!zero) fill_ghosts(l, patch, place, x);
      if (here) {
        if (!colored || first == (bool)(same & 1)) {
          const mg_real_t ax = zero ? MG_REAL(0.0) : cell.apply(x), old = u;
          if constexpr (colored) {
            u = mg_relax(u, ax, f, cell.dinv, MG_REAL(1.0));
          } else {
            const mg_real_t c1 = MG_REAL(steps.step[n].c1), c2 = MG_REAL(steps.step[n].c2);
            u = mg_update(u, c1 == MG_REAL(0.0) ? u : previous, ax, f, cell.dinv, c1, c2);
            previous = old;
          }
        }
        next[cell.at] = u;
      }
      __syncthreads();
      mg_real_t *const swap = x;
      x = next;
      next = swap;
    }
  }

  /** f of the coarser level = mean of the 8 child cells in a half of the finer level. */
  __device__ __forceinline__ void restrict_from(const mg_fv4_place_t &fine, int number,
                                                int coarse) {
    if (!mine(coarse)) return;
    const mg_real_t *x = half(fine, number) + 2 * (1 + MG_FV4_JS + fine.ks) +
                         2 * (cell.i + MG_FV4_JS * cell.j + fine.ks * cell.k);
    const int js = MG_FV4_JS, ks = fine.ks;
    f = mg_mean8(x[0] + x[1], x[js] + x[js + 1], x[ks] + x[ks + 1], x[js + ks] + x[js + ks + 1]);
  }

  /** f of the next level = restriction of f - A u. */
  __device__ __forceinline__ void restrict_residual(int l, const mg_cuda_patch_t *patch,
                                                    const mg_fv4_place_t &place) {
    mg_real_t *x = half(place, place.result), *r = half(place, 1 - place.result);
    fill_ghosts(l, patch, place, x);
    if (mine(l)) r[cell.at] = f - cell.apply(x);
    __syncthreads();
    restrict_from(place, 1 - place.result, l + 1);
  }

  /** Fill all ghosts of u of a level, one direction after the other, by the formula of the given
   *  order: two layers, or the inner one for walls of order 2, where the outer one is zero. */
  __device__ __forceinline__ void fill_all_ghosts(const mg_cuda_patch_t *patch,
                                                  const mg_fv4_place_t &place, int order) const {
    const int n = place.n, w = n + 4, t = (int)threadIdx.x;
    const mg_divisor_t by_w(w);
    const int row = by_w.quotient(t), high = row >= w, a = t - row * w, b = row - high * w;
#pragma unroll 1
    for (int d = 0; d < 3; d++) {
      const int stride = d == 0 ? 1 : d == 1 ? MG_FV4_JS : place.ks, in = high ? -stride : stride;
      if (t < 2 * w * w) {
        mg_real_t *x = half(place, place.result) + a * (d == 0 ? MG_FV4_JS : 1) +
                       b * (d == 2 ? MG_FV4_JS : place.ks) + (high ? n + 1 : 2) * stride;
        __builtin_assume(n > 1);
        mg_fill_line(x, in, n - 1, patch->v.periodic ? MG_WALL_NONE : MG_WALL_DIRICHLET,
                     order == 4 ? 4 : 2);
      }
      __syncthreads();
    }
  }

  /** u of level l = its interpolation from the next coarser level, or u plus that. */
  template <mg_interpolation_t kind>
  __device__ __forceinline__ void interpolate(int l, const mg_cuda_patch_t *coarse,
                                              const mg_fv4_place_t &place, bool add) {
    fill_all_ghosts(coarse, place,
                    mg_wall_orders(&coarse->v, kind == MG_INTERPOLATE_V4 ? 4 : 2).along[0]);
    if (!mine(l)) return;
    const mg_real_t *x = half(place, place.result) + 2 * (1 + MG_FV4_JS + place.ks) + cell.i / 2 +
                         MG_FV4_JS * (cell.j / 2) + place.ks * (cell.k / 2);
    const mg_real_t p = mg_fv4_interpolate<kind>(cell, x, place.ks);
    u = add ? u + p : p;
  }
};

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
