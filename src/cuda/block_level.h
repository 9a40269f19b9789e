/* Operations on a whole level by one block of threads.
 *
 * A launch takes longer than the work of a level of 8^3 cells, so whole solves of the coarsest
 * level and whole cycles over the coarsest ones run in one block, which needs a barrier between two
 * operations where separate launches cost microseconds. Digit for digit what the kernels of whole
 * grids compute: the same formulas, the same order of sums.
 *
 * Every function is called by all threads of the block, which is one-dimensional, and ends with a
 * barrier: everybody's results are in sight. */
#ifndef MG_CUDA_BLOCK_LEVEL_H
#define MG_CUDA_BLOCK_LEVEL_H

#include "cuda/interpolate.h"
#include "cuda/stencil_load.h"
#include "cuda/wall_value.h"

/* 1024 threads are slower: with a tail from 16^3 on 0.334 GDOF/s at 64^3 (GSRB) and 0.285
 * (Chebyshev) where 512 have 0.398 and 0.306 (coarse_cycle.cu). */
enum { MG_BLOCK_MOST_THREADS = 512, MG_BLOCK_MOST_CELLS = 4096 };

/** What block_smoother.h takes. */
enum { MG_BLOCK_PAIRED_CELLS = 10 * 10 * 10 };

/** Threads of a block for a level: a warp at the least, so that a barrier of a tiny level is one.
 */
inline int mg_cuda_block_threads(int64_t cells) {
  const int64_t warps = (cells + 31) / 32 * 32;
  const int most = MG_BLOCK_MOST_THREADS;
  return warps < most ? (int)warps : most;
}

/* Loops over cells are not unrolled: a thread has one cell or two, and instructions are fetched
 * from far away (docs/performance.md). */

/** Scratch of the block. */
struct mg_block_shared_t {
  unsigned long long digit[MG_SUM_LIMBS];
  double lane_sum[MG_BLOCK_MOST_THREADS];
  double value[2][MG_BLOCK_PAIRED_CELLS];
  double scalar;
  unsigned long long warp_max[MG_BLOCK_MOST_THREADS / 32];
};

/** Quotients of small numbers by one multiplication: exact for c < 2^18 / n, c below n^3 of a level
 *  and of its rim, 20^3. */
struct mg_divisor_t {
  int n;
  unsigned magic;
  __device__ explicit mg_divisor_t(int divisor)
      : n(divisor), magic(((1U << 18) + (unsigned)divisor - 1) / (unsigned)divisor) {}
  __device__ int quotient(int c) const { return (int)(((unsigned)c * magic) >> 18); }
};

/** A level of one patch as one thread of the block sees it. */
struct mg_block_level_t {
  static constexpr bool cells_are_many = true; /* or may be */
  const mg_cuda_patch_t *l;
  mg_block_shared_t *s;
  mg_divisor_t row; /* cells a side */
  int cells, unit;  /* of the level; width of a brick of the sums */

  __device__ mg_block_level_t(const mg_cuda_patch_t *level, mg_block_shared_t *shared)
      : l(level), s(shared), row(level->p.n[0]), cells(row.n * row.n * row.n),
        unit(mg_brick_width(&level->v)) {}

  __device__ double *vec(int x) const { return l->p.vec[x]; }

  /** Cell number c, i fastest. */
  __device__ int3 cell(int c) const {
    const int q = row.quotient(c), k = row.quotient(q);
    return make_int3(c - q * row.n, q - k * row.n, k);
  }
  __device__ ptrdiff_t offset(int3 at) const {
    return at.x + at.y * l->p.jstride + at.z * l->p.kstride;
  }
  __device__ ptrdiff_t offset(int c) const { return offset(cell(c)); }

  __device__ void axpby(int dst, double alpha, int x, double beta, int y) const {
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x) {
      const ptrdiff_t at = offset(c);
      vec(dst)[at] = y < 0 ? alpha * vec(x)[at] : fma(alpha, vec(x)[at], beta * vec(y)[at]);
    }
    __syncthreads();
  }

  __device__ void multiply(int dst, int x, int y) const {
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x) {
      const ptrdiff_t at = offset(c);
      vec(dst)[at] = vec(x)[at] * vec(y)[at];
    }
    __syncthreads();
  }

  __device__ void shift(int x, double value) const {
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x)
      vec(x)[offset(c)] += value;
    __syncthreads();
  }

  /** Ghosts too. */
  __device__ void clear(int x) const {
    const int g = l->v.ghosts;
    const mg_divisor_t w(row.n + 2 * g);
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < w.n * w.n * w.n; c += (int)blockDim.x) {
      const int q = w.quotient(c), k = w.quotient(q);
      *mg_cell(&l->p, x, c - q * w.n - g, q - k * w.n - g, k - g) = 0.0;
    }
    __syncthreads();
  }

  /** All ghosts of x: wrapped where the domain is periodic, else the wall formula of an order. */
  __device__ void fill_rim(int x, int order) const {
    const mg_patch_t *p = &l->p;
    const int g = l->v.ghosts, n = row.n;
    const mg_divisor_t w(n + 2 * g);
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < w.n * w.n * w.n; c += (int)blockDim.x) {
      const int q = w.quotient(c), k = w.quotient(q);
      const int at[3] = {c - q * w.n - g, q - k * w.n - g, k - g};
      bool outside = false;
      for (int d = 0; d < 3; d++)
        outside = outside || at[d] < 0 || at[d] >= n;
      if (!outside) continue;
      if (l->v.periodic)
        *mg_cell(p, x, at[0], at[1], at[2]) =
            *mg_cell(p, x, (at[0] + n) % n, (at[1] + n) % n, (at[2] + n) % n);
      else
        mg_wall_fill(p, x, at, order);
    }
    __syncthreads();
  }

  /** The ghosts that fv4's A reads: all layers beside faces, the first beside edges. Face after
   * face and edge after edge, so that the threads of a warp do the same. */
  __device__ void fill_rim_of_fv4(int x) const {
    const mg_patch_t *p = &l->p;
    const int n = row.n, faces = 6 * l->v.ghosts * n * n, all = faces + 12 * n;
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < all; c += (int)blockDim.x) {
      int at[3];
      if (c < faces) {
        const int q = row.quotient(c), side = row.quotient(q), d = side % 3, layer = side / 6;
        const int a = c - q * n, b = q - side * n;
        const int out = side / 3 % 2 == 0 ? -1 - layer : n + layer;
        at[0] = d == 0 ? out : a;
        at[1] = d == 1 ? out : d == 0 ? a : b;
        at[2] = d == 2 ? out : b;
      } else {
        const int edge = row.quotient(c - faces), d = edge % 3, a = c - faces - edge * n;
        const int low = edge / 3 % 2 == 0 ? -1 : n, high = edge / 6 == 0 ? -1 : n;
        at[0] = d == 0 ? a : low;
        at[1] = d == 1 ? a : d == 0 ? low : high;
        at[2] = d == 2 ? a : high;
      }
      if (l->v.periodic)
        *mg_cell(p, x, at[0], at[1], at[2]) =
            *mg_cell(p, x, (at[0] + n) % n, (at[1] + n) % n, (at[2] + n) % n);
      else
        mg_wall_fill(p, x, at, l->order);
    }
    __syncthreads();
  }

  /** Where a 7-point stencil finds its values: where the domain is periodic, the neighbours of the
   *  first cells are the last, and ghosts are not read. */
  __device__ __forceinline__ mg_places7_t places(const int stride[3], int3 i) const {
    const int at[3] = {i.x, i.y, i.z};
    mg_places7_t near = mg_places7(l, stride, i.x, i.y, i.z);
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const int across = (row.n - 1) * stride[d];
      if (l->v.periodic && at[d] == 0) near.low[d] = across;
      if (l->v.periodic && at[d] == row.n - 1) near.high[d] = -across;
    }
    return near;
  }

  /** A x at a cell. Of fv4 the ghosts of x are valid. What has A in it has one more parameter:
   *  whether alpha varies. */
  template <bool fv4, bool varies> __device__ __forceinline__ double apply(int x, int3 i) const {
    if constexpr (fv4) return mg_apply<true, varies>(l, vec(x), i.x, i.y, i.z);
    const int stride[3] = {1, (int)l->p.jstride, (int)l->p.kstride};
    const mg_values7_t near = mg_values7(places(stride, i), vec(x) + offset(i), l->order);
    return mg_row_apply(l, mg_row<varies>(l, i.x, i.y, i.z), near);
  }

  /** dst = f - A x, or A x for f < 0. */
  template <bool fv4, bool varies> __device__ void residual(int dst, int x, int f) const {
    if (fv4) fill_rim_of_fv4(x);
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x) {
      const int3 i = cell(c);
      const ptrdiff_t at = offset(i);
      const double ax = apply<fv4, varies>(x, i);
      vec(dst)[at] = f < 0 ? ax : vec(f)[at] - ax;
    }
    __syncthreads();
  }

  /** One step of fv4's smoothers, as the seam has it; 1 / diagonal is read. */
  template <bool varies>
  __device__ void step_fv4(const mg_step_t &s, int x, int previous, int dst) const {
    if (x >= 0) fill_rim_of_fv4(x);
    const mg_patch_t *p = &l->p;
    const bool gsrb = s.kind == MG_STEP_GSRB;
    const bool looks_back = s.kind == MG_STEP_CHEBYSHEV && s.c1 != 0.0;
    const double c1 = looks_back ? s.c1 : 0.0, c2 = gsrb ? 1.0 : s.c2;
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x) {
      const int3 i = cell(c);
      const ptrdiff_t at = offset(i);
      const int phase = ((p->lo[0] + i.x) ^ (p->lo[1] + i.y) ^ (p->lo[2] + i.z) ^ s.color) & gsrb;
      const double u = x < 0 ? 0.0 : vec(x)[at];
      double value = u;
      if (phase == 0) {
        const double ax = x < 0 ? 0.0 : apply<true, varies>(x, i);
        const double f = vec(MG_F)[at], dinv = vec(MG_DINV)[at];
        const double before = !looks_back ? u : previous < 0 ? 0.0 : vec(previous)[at];
        value = gsrb && x >= 0 ? mg_relax(u, ax, f, dinv)
                               : mg_polynomial(u, before, ax, f, dinv, c1, c2);
      }
      vec(dst)[at] = value;
    }
    __syncthreads();
  }

  /** A whole smooth of MG_U, as ops.c composes it, with fv4. */
  template <bool varies>
  __device__ void smooth_fv4(const mg_step_t *steps, int n_steps, bool zero_guess) const {
    int from = MG_U, to = MG_TMP;
    for (int n = 0; n < n_steps; n++) {
      step_fv4<varies>(steps[n], zero_guess && n == 0 ? -1 : from, zero_guess && n <= 1 ? -1 : to,
                       to);
      const int swap = from;
      from = to;
      to = swap;
    }
    if (from != MG_U) axpby(MG_U, 1.0, from, 0.0, -1);
  }

  /** coarse dst = mean of 8 of src. */
  __device__ void restrict_cells(int src, const mg_block_level_t &coarse, int dst) const {
    const ptrdiff_t js = l->p.jstride, ks = l->p.kstride;
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < coarse.cells; c += (int)blockDim.x) {
      const int3 i = coarse.cell(c);
      const double *x = vec(src) + offset(make_int3(2 * i.x, 2 * i.y, 2 * i.z));
      coarse.vec(dst)[coarse.offset(i)] =
          mg_mean8(x[0] + x[1], x[js] + x[js + 1], x[ks] + x[ks + 1], x[js + ks] + x[js + ks + 1]);
    }
    __syncthreads();
  }

  /** MG_U = (add ? MG_U : 0) + P MG_U of the coarser level. */
  template <mg_interpolation_t kind, bool add>
  __device__ void interpolate(const mg_block_level_t &coarse) const {
    const int order = mg_wall_order(&coarse.l->v, kind == MG_INTERPOLATE_V4   ? 4
                                                  : kind == MG_INTERPOLATE_V2 ? 2
                                                                              : 1);
    if (kind != MG_INTERPOLATE_P0 && (coarse.l->v.periodic || !mg_folds_walls(kind)))
      coarse.fill_rim(MG_U, order);
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < coarse.cells; c += (int)blockDim.x) {
      const int3 i = coarse.cell(c);
      if constexpr (mg_folds_walls(kind))
        mg_interpolate_folded<kind, add>(coarse.l->p, MG_U, l->p, MG_U, order, i.x, i.y, i.z);
      else
        mg_interpolate_cell<kind, add>(coarse.l->p, MG_U, l->p, MG_U, i.x, i.y, i.z);
    }
    __syncthreads();
  }

  /** max |x|, NaN when any is not finite. */
  __device__ double max_norm(int x) const {
    unsigned long long bits = 0;
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x) {
      const unsigned long long b = mg_max_bits(vec(x)[offset(c)]);
      bits = b > bits ? b : bits;
    }
    bits = mg_max_of_block(bits, (int)threadIdx.x, (int)blockDim.x / 32, s->warp_max);
    __syncthreads();
    const double norm = __longlong_as_double((long long)bits);
    return isfinite(norm) ? norm : NAN;
  }

  /* This lane's part of the sum over a brick. */
  __device__ double lane_of_brick(int brick, int lane, int x, int y) const {
    const mg_patch_t *p = &l->p;
    const int u = unit, side = row.n / u;
    const int bi = brick % side * u, bj = brick / side % side * u, bk = brick / side / side * u;
    const double *a = mg_cell(p, x, bi + lane, bj, bk);
    const double *b = y < 0 ? nullptr : mg_cell(p, y, bi + lane, bj, bk);
    double sum = 0.0;
    for (int k = 0; k < u; k++)
      for (int j = 0; j < u; j++) {
        const ptrdiff_t at = j * p->jstride + k * p->kstride;
        sum = b ? fma(a[at], b[at], sum) : sum + a[at];
      }
    return sum;
  }

  /** Sum x y, y < 0 for x alone, in the order of sum.h. */
  __device__ double dot(int x, int y) const {
    const int side = row.n / unit, bricks = side * side * side;
    return bricks == 1 ? dot_of_brick(x, y) : dot_of_bricks(l, s, x, y, bricks);
  }

  /* The exact sum of one term is the term; -0 counts as 0. */
  __device__ double dot_of_brick(int x, int y) const {
    const int lane = (int)threadIdx.x;
    if (lane < unit) s->lane_sum[lane] = lane_of_brick(0, lane, x, y);
    __syncthreads();
    double sum = s->lane_sum[0];
    for (int i = 1; i < unit; i++)
      sum += s->lane_sum[i];
    __syncthreads();
    return isfinite(sum) ? sum + 0.0 : NAN;
  }

  /* A call, since few coarsest levels have several bricks: inline it was 5,000 instructions at each
   * of nine dot products, two thirds of a cycle's kernel. */
  __device__ __noinline__ static double
  dot_of_bricks(const mg_cuda_patch_t *l, mg_block_shared_t *s, int x, int y, int bricks) {
    return mg_block_level_t(l, s).add_bricks(x, y, bricks);
  }

  __device__ double add_bricks(int x, int y, int bricks) const {
    const int per_pass = (int)blockDim.x / unit;
    const int lane = (int)threadIdx.x % unit, local = (int)threadIdx.x / unit;
#pragma unroll 1
    for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += (int)blockDim.x)
      s->digit[d] = 0;
    __syncthreads();
    for (int first = 0; first < bricks; first += per_pass) {
      const int brick = first + local;
      const bool mine = local < per_pass && brick < bricks;
      double sum = mine ? lane_of_brick(brick, lane, x, y) : 0.0;
      s->lane_sum[threadIdx.x] = sum;
      __syncthreads();
      if (mine && lane == 0) {
        for (int i = 1; i < unit; i++)
          sum += s->lane_sum[threadIdx.x + i];
        mg_sum_add_atomic(s->digit, sum);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      mg_sum_t exact;
      for (int d = 0; d < MG_SUM_LIMBS; d++)
        exact.digit[d] = (int64_t)s->digit[d];
      s->scalar = mg_sum_value(&exact);
    }
    __syncthreads();
    const double value = s->scalar;
    __syncthreads();
    return value;
  }
};

#endif
