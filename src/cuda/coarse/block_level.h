/* Operations on a whole level by a single thread block.
 *
 * A launch takes longer than the work on a level of 8^3 cells. So solves of the coarsest level and
 * cycles over the coarsest levels run in one block. Consecutive operations then need a barrier,
 * where separate launches cost microseconds. Results are bit-identical to those of the full-grid
 * kernels: same formulas, same order of sums.
 *
 * All threads of the one-dimensional block call every function. Each function ends with a barrier,
 * so its results are visible to the whole block. */
#ifndef MG_CUDA_COARSE_BLOCK_LEVEL_H
#define MG_CUDA_COARSE_BLOCK_LEVEL_H

#include "cuda/cells/stencil_load.h"
#include "cuda/cells/wall_value.h"
#include "cuda/coarse/coarse_path.h"
#include "cuda/reduction.h"
#include "cuda/runtime/dependent_launch.h"
#include "cuda/runtime/shared_value.h"

/** Threads of the block for a level of `cells` cells: full warps, at most MG_BLOCK_MAX_THREADS. On
 *  a tiny level a single warp keeps the barriers cheap. */
inline int mg_cuda_block_threads(int64_t cells) {
  const int64_t warps = (cells + 31) / 32 * 32;
  const int max = MG_BLOCK_MAX_THREADS;
  return warps < max ? (int)warps : max;
}

/* Loops over cells are not unrolled: a thread has one or two cells, and instruction fetches are
 * expensive (docs/performance.md). */

/** Factors of sums over a level with one cell per thread (krylov_cells.h): three sets. A set has a
 *  row for each i, padded to whole groups, and a group that is loaded but not added. */
enum { MG_SUM_GROUP = 25, MG_SUM_FACTORS = 8 * 75 };

/** Shared-memory scratch of the block. */
struct mg_block_shared_t {
  unsigned long long digit[MG_SUM_LIMBS];
  union {
    double lane_sum[MG_BLOCK_MAX_THREADS];
    double2 factors[3][MG_SUM_FACTORS];
  };
  mg_real_t value[2][MG_BLOCK_PAIRED_CELLS];
  double scalar;
  unsigned long long warp_max[MG_BLOCK_MAX_THREADS / 32];
};
static_assert(sizeof(mg_block_shared_t) == MG_BLOCK_SHARED_BYTES(sizeof(mg_real_t)),
              "the plan's size");

/** Division of small integers by one multiplication. Exact for c < 2^18 / n, which covers the cells
 *  and ghosts of all levels that a block processes (coarse_path.c). */
struct mg_divisor_t {
  int n;
  unsigned magic;
  __device__ explicit mg_divisor_t(int divisor)
      : n(divisor), magic(((1U << 18) + (unsigned)divisor - 1) / (unsigned)divisor) {}
  __device__ int quotient(int c) const { return (int)(((unsigned)c * magic) >> 18); }
};

/** mg_sum_value of digits in shared memory, of at most 2^20 terms. One warp calls it; the digits
 *  change. Only those in use are normalized. */
static __device__ __forceinline__ double mg_sum_value_of_warp(unsigned long long *digit) {
  const int lane = (int)threadIdx.x % 32;
  int low = MG_SUM_DIGITS, high = -1;
  for (int first = 0; first < MG_SUM_DIGITS; first += 32) {
    const int d = first + lane;
    const unsigned used = __ballot_sync(0xffffffffu, d < MG_SUM_DIGITS && digit[d] != 0);
    if (used && high < 0) low = first + __ffs((int)used) - 1;
    if (used) high = first + 31 - __clz((int)used);
  }
  if (digit[MG_SUM_NONFINITE] != 0) return NAN;
  if (high < 0) return 0.0;
  const int end = min(high + 2, (int)MG_SUM_DIGITS); /* a carry reaches one digit further */
  double sign = 1.0, value = 0.0;
  int top = low;
  if (lane == 0) {
    /* If the sum is negative, again with all digits negated. */
    for (int pass = 0; pass < 2; pass++) {
      int64_t carry = 0;
      for (int d = low; d < end; d++) {
        const int64_t all = (pass ? -1 : 1) * (int64_t)digit[d] + carry;
        digit[d] = (unsigned long long)all & 0xffffffffULL;
        carry = all >> 32;
        if (digit[d] != 0) top = d;
      }
      if (carry >= 0 || pass) break;
      sign = -1.0;
      top = low;
    }
    for (int d = max(top - 2, 0); d <= top; d++)
      value += ldexp((double)digit[d], 32 * d - 1074);
  }
  return sign * value;
}

/** Values of a stencil in shared memory. All loads are issued first, and ghosts are computed also
 *  where no wall is: branches of a few instructions take longer, one after the other.
 *  @param at  addresses of the neighbors, less `shift`
 *  @param c   value of the cell */
static __device__ __forceinline__ mg_values7_t mg_shared_values7(const mg_wall_orders_t &order,
                                                                 const mg_places7_t &at,
                                                                 uint32_t shift, mg_real_t c) {
  mg_values7_t v = {c, {}, {}};
#pragma unroll
  for (int d = 0; d < 3; d++) {
    v.high[d] = mg_shared_load((uint32_t)at.high[d] + shift);
    v.low[d] = mg_shared_load((uint32_t)at.low[d] + shift);
  }
#pragma unroll
  for (int d = 0; d < 3; d++) {
    mg_real_t high = mg_ghost(MG_WALL_DIRICHLET, order.along[d], c, v.high[d]),
              low = mg_ghost(MG_WALL_DIRICHLET, order.along[d], c, v.low[d]);
    mg_cuda_force(high);
    mg_cuda_force(low);
    if (at.wall_high[d]) v.high[d] = high;
    if (at.wall_low[d]) v.low[d] = low;
  }
  return v;
}

/** Two adjacent cells (i, j, k) and (i + 1, j, k), i even, of a level of at most
 *  MG_BLOCK_PAIRED_CELLS cells. If n is odd, the last pair of a row has one cell. */
struct mg_block_pair_t {
  bool there; /**< whether this thread has a pair */
  int i, j, k;
};

/** Per-thread view of a level that consists of one patch; with fv4 and in the functions that say
 * so, a cube. */
struct mg_block_level_t {
  static constexpr bool has_many_cells = true; /* a thread may have several cells */
  static constexpr bool shares_barriers = false;
  const mg_cuda_patch_t *l;
  mg_block_shared_t *s;
  mg_divisor_t row, column; /* cells along i and j */
  int cells, unit;          /* cells of the level; width of a brick in sums */

  __device__ mg_block_level_t(const mg_cuda_patch_t *level, mg_block_shared_t *shared)
      : l(level), s(shared), row(level->p.n[0]), column(level->p.n[1]),
        cells(row.n * column.n * level->p.n[2]), unit(mg_brick_width(&level->v)) {}

  __device__ mg_real_t *vec(mg_vector_t x) const { return l->p.vec[x]; }

  /** Orders of the operator's wall formula; those of interpolation are equal (cycle.cu). */
  __device__ __forceinline__ mg_wall_orders_t orders(void) const {
    return {
        {l->inward[0] ? l->order : 1, l->inward[1] ? l->order : 1, l->inward[2] ? l->order : 1}};
  }

  /** Indices of cell number c, i fastest. */
  __device__ int3 cell(int c) const {
    const int q = row.quotient(c), k = column.quotient(q);
    return make_int3(c - q * row.n, q - k * column.n, k);
  }
  __device__ ptrdiff_t offset(int3 at) const {
    return at.x + at.y * l->p.jstride + at.z * l->p.kstride;
  }
  __device__ ptrdiff_t offset(int c) const { return offset(cell(c)); }

  /** The pair of this thread; the last one if there are fewer pairs. */
  __device__ __forceinline__ mg_block_pair_t pair(void) const {
    const mg_divisor_t half((row.n + 1) / 2);
    const int pairs = half.n * column.n * l->p.n[2], t = min((int)threadIdx.x, pairs - 1),
              q = half.quotient(t), k = column.quotient(q);
    return {(int)threadIdx.x < pairs, 2 * (t - q * half.n), q - k * column.n, k};
  }

  /** Values of a pair; 0 where there is no cell. */
  __device__ __forceinline__ mg_real2_t load(mg_vector_t x, const mg_block_pair_t &p) const {
    const mg_real_t *from = vec(x) + offset(make_int3(p.i, p.j, p.k));
    return mg_make_real2(p.there ? from[0] : MG_REAL(0.0),
                         p.there && p.i + 1 < row.n ? from[1] : MG_REAL(0.0));
  }

  /** Call body(indices, offset) for all cells, then wait for the block. */
  template <typename body_t> __device__ __forceinline__ void for_cells(const body_t &body) const {
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < cells; c += (int)blockDim.x) {
      const int3 i = cell(c);
      body(i, offset(i));
    }
    __syncthreads();
  }

  __device__ void axpby(mg_vector_t dst, double alpha, mg_vector_t x, double beta,
                        mg_vector_t y) const {
    const mg_real_t a = MG_REAL(alpha), b = MG_REAL(beta);
    for_cells([=](int3, ptrdiff_t at) {
      vec(dst)[at] = y < 0 ? a * vec(x)[at] : mg_fma(a, vec(x)[at], b * vec(y)[at]);
    });
  }

  __device__ void multiply(mg_vector_t dst, mg_vector_t x, mg_vector_t y) const {
    for_cells([=](int3, ptrdiff_t at) { vec(dst)[at] = vec(x)[at] * vec(y)[at]; });
  }

  __device__ void shift(mg_vector_t x, double value) const {
    for_cells([=](int3, ptrdiff_t at) { vec(x)[at] += MG_REAL(value); });
  }

  /** Set x to zero, including its ghosts. */
  __device__ void clear(mg_vector_t x) const {
    const int g = l->v.radius, depth = l->p.n[2] + 2 * g;
    const mg_divisor_t w(row.n + 2 * g), h(column.n + 2 * g);
#pragma unroll 1
    for (int c = (int)threadIdx.x; c < w.n * h.n * depth; c += (int)blockDim.x) {
      const int q = w.quotient(c), k = h.quotient(q);
      *mg_cell(&l->p, x, c - q * w.n - g, q - k * h.n - g, k - g) = 0.0;
    }
    __syncthreads();
  }

  /** Fill ghosts of a vector: copies in periodic directions, wall formulas in others. One direction
   *  after the other; lines of later ones include ghosts of earlier ones. The second ghost of
   *  formulas of an order below 4 is always zero, and left as it is. */
  __device__ __forceinline__ void fill_ghosts(mg_vector_t vector) const {
    constexpr int layers = 2; /* of fv4 */
    const mg_patch_t *p = &l->p;
    const int js = (int)p->jstride, ks = (int)p->kstride;
#pragma unroll 1
    for (int d = 0; d < 3; d++) {
      const int a = d == 0, b = d == 2 ? 1 : 2, order = l->inward[d] ? l->order : 1;
      const int step = d == 0 ? 1 : (d == 1 ? js : ks), step_a = d == 0 ? js : 1,
                step_b = d == 2 ? js : ks;
      const int before_a = a < d ? layers : 0, before_b = b < d ? layers : 0;
      const mg_divisor_t w(p->n[a] + 2 * before_a);
      const int rows = p->n[b] + 2 * before_b, last = p->n[d] - 1;
#pragma unroll 1
      for (int c = (int)threadIdx.x; c < 2 * rows * w.n; c += (int)blockDim.x) {
        const int q = w.quotient(c), high = q >= rows, in = high ? -step : step;
        mg_real_t *const x = vec(vector) + (c - q * w.n - before_a) * step_a +
                             (q - high * rows - before_b) * step_b + high * last * step;
        mg_fill_line(x, in, last, p->wall[d][high], order);
      }
      __syncthreads();
    }
  }

  /** Places of the values that a 7-point stencil reads, if the cell's is `from`. In periodic
   *  directions they wrap around, so ghosts are not read. Next to Neumann walls any value will do
   *  (walls.h). */
  __device__ __forceinline__ mg_places7_t places(const int stride[3], int3 i, int from) const {
    const int at[3] = {i.x, i.y, i.z};
    mg_places7_t near = mg_places7(l, stride, i.x, i.y, i.z);
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const int last = l->p.n[d] - 1, across = last * stride[d];
      if ((!l->p.wall[d][0] || last == 0) && at[d] == 0) near.low[d] = across;
      if ((!l->p.wall[d][1] || last == 0) && at[d] == last) near.high[d] = -across;
      near.low[d] += from;
      near.high[d] += from;
    }
    return near;
  }

  /** A x at a cell. With fv4 the ghosts of x must be valid. */
  template <bool fv4> __device__ __forceinline__ mg_real_t apply(mg_vector_t x, int3 i) const {
    if constexpr (fv4) return mg_apply<25>(l, vec(x), i.x, i.y, i.z);
    const int stride[3] = {1, (int)l->p.jstride, (int)l->p.kstride};
    const mg_values7_t near = mg_values7(orders(), places(stride, i, 0), vec(x) + offset(i));
    return mg_row_apply(l, mg_row(l, i.x, i.y, i.z), near);
  }

  /** dst = f - A x, or A x for f < 0. */
  template <bool fv4>
  __device__ void residual(mg_vector_t dst, mg_vector_t x, mg_vector_t f) const {
    if (fv4) fill_ghosts(x);
    for_cells([=](int3 i, ptrdiff_t at) {
      const mg_real_t ax = apply<fv4>(x, i);
      vec(dst)[at] = f < 0 ? ax : vec(f)[at] - ax;
    });
  }

  /** max |x|; NaN if any value is not finite. */
  __device__ double max_norm(mg_vector_t x) const {
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

  /* Partial sum of this lane over a brick. */
  __device__ double lane_of_brick(int brick, int lane, mg_vector_t x, mg_vector_t y) const {
    const mg_patch_t *p = &l->p;
    const int u = unit, ni = row.n / u, nj = column.n / u;
    const int bi = brick % ni * u, bj = brick / ni % nj * u, bk = brick / ni / nj * u;
    const mg_real_t *a = mg_cell(p, x, bi + lane, bj, bk);
    const mg_real_t *b = y < 0 ? nullptr : mg_cell(p, y, bi + lane, bj, bk);
    double sum = 0.0;
    for (int k = 0; k < u; k++)
      for (int j = 0; j < u; j++) {
        const ptrdiff_t at = j * p->jstride + k * p->kstride;
        sum = b ? fma((double)a[at], (double)b[at], sum) : sum + a[at];
      }
    return sum;
  }

  /** Sum of x y, or of x if y < 0, in the order defined in sum.h. */
  __device__ double dot(mg_vector_t x, mg_vector_t y) const {
    const int bricks = row.n / unit * (column.n / unit) * (l->p.n[2] / unit);
    return bricks == 1 ? dot_of_brick(x, y) : dot_of_bricks(l, s, x, y, bricks);
  }

  /* Dot product for a single brick: the exact sum of one term is the term itself. -0 becomes 0. */
  __device__ double dot_of_brick(mg_vector_t x, mg_vector_t y) const {
    const int lane = (int)threadIdx.x;
    if (lane < unit) s->lane_sum[lane] = lane_of_brick(0, lane, x, y);
    __syncthreads();
    double sum = s->lane_sum[0];
    for (int i = 1; i < unit; i++)
      sum += s->lane_sum[i];
    __syncthreads();
    return isfinite(sum) ? sum + 0.0 : NAN;
  }

  /* Not inlined: few coarsest levels have several bricks. Inlined, it was 5,000 instructions at
   * each of nine dot products, two thirds of the coarse-cycle kernel. */
  __device__ __noinline__ static double dot_of_bricks(const mg_cuda_patch_t *l,
                                                      mg_block_shared_t *s, mg_vector_t x,
                                                      mg_vector_t y, int bricks) {
    return mg_block_level_t(l, s).add_bricks(x, y, bricks);
  }

  __device__ double add_bricks(mg_vector_t x, mg_vector_t y, int bricks) const {
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
      if (mine && lane == 0)
        for (int i = 1; i < unit; i++)
          sum += s->lane_sum[threadIdx.x + i];
      double term[1] = {lane == 0 ? sum : 0.0};
      mg_sum_add_warp(s->digit, term);
      __syncthreads();
    }
    if (threadIdx.x < 32) {
      const double sum = mg_sum_value_of_warp(s->digit);
      if (threadIdx.x == 0) s->scalar = sum;
    }
    __syncthreads();
    const double value = s->scalar;
    __syncthreads();
    return value;
  }
};

#endif
