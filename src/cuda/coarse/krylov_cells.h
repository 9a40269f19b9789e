/* A coarsest level with one cell per thread, in registers, for the solvers in krylov.h.
 *
 * Only latency counts. Neighbors' values and the factors of sums go through shared memory. Each
 * warp adds all sums itself: a barrier and a load from shared memory would take longer. The test
 * of a residual's norm is part of the next barrier. */
#ifndef MG_CUDA_COARSE_KRYLOV_CELLS_H
#define MG_CUDA_COARSE_KRYLOV_CELLS_H

#include "cuda/coarse/block_level.h"

/** The vectors of one cell, in registers: the part of block_level.h's interface that reads no other
 *  cell. */
struct mg_cell_vectors_t {
  static constexpr bool shares_barriers = false;
  mg_real_t x[MG_N_VECTORS];

  __device__ __forceinline__ void axpby(mg_vector_t dst, double alpha, mg_vector_t a, double beta,
                                        mg_vector_t b) {
    x[dst] = b < 0 ? MG_REAL(alpha) * x[a] : mg_fma(MG_REAL(alpha), x[a], MG_REAL(beta) * x[b]);
  }
  __device__ __forceinline__ void multiply(mg_vector_t dst, mg_vector_t a, mg_vector_t b) {
    x[dst] = x[a] * x[b];
  }
  __device__ __forceinline__ void shift(mg_vector_t a, double value) { x[a] += MG_REAL(value); }
  __device__ __forceinline__ void clear(mg_vector_t a) { x[a] = 0.0; }
};

/** A level of a 7-point operator with one cell, or none, in the registers of each thread of the
 *  block. Same interface as block_level.h. Of the block, only the warps with cells are active. */
struct mg_thread_cell_t : mg_cell_vectors_t {
  static constexpr bool has_many_cells = false, shares_barriers = true;
  const mg_cuda_patch_t *l;
  mg_block_shared_t *s;
  int n, cells, order;
  int lane;            /**< of the warp */
  bool there;          /**< whether this thread has a cell; otherwise it computes the last one */
  bool testing, above; /**< the next barrier tests a norm; this thread's part of it */
  bool active;         /**< no test has ended the solve */
  mg_row_t row;
  mg_real_t b_h2;
  uint32_t value_at;           /**< address of the cell's value for the neighbors */
  mg_places7_t near;           /**< addresses of the neighbors' values */
  uint32_t factors_at, row_at; /**< addresses of the cell's factors and of this lane's row of
                                  factors in the first set */
  uint32_t set;                /**< bytes to the next set: 0 or SET_BYTES */

  __device__ __forceinline__ mg_thread_cell_t(const mg_block_level_t &level,
                                              const mg_row_t &coefficients, mg_real_t dinv,
                                              mg_real_t f, mg_real_t u)
      : l(level.l), s(level.s), n(level.row.n), cells(level.cells), order(level.l->order),
        lane((int)threadIdx.x % 32), there((int)threadIdx.x < level.cells), testing(false),
        above(true), active(true), row(coefficients), b_h2(MG_REAL(level.l->v.b_h2)), set(0) {
    const int number = min((int)threadIdx.x, cells - 1), bytes = (int)sizeof(mg_real_t);
    const int3 at = level.cell(number);
    const int stride[3] = {bytes, bytes * n, bytes * n * n};
    const int length = (n * n + MG_SUM_GROUP - 1) / MG_SUM_GROUP * MG_SUM_GROUP;
    /* Keeps it in a register; the compiler would read the index again, which takes longer. */
    lane = __shfl_sync(0xffffffff, lane, lane);
    value_at = mg_shared_address(&s->value[0][number]);
    near = level.places(stride, at, (int)value_at);
    factors_at = mg_shared_address(&s->factors[0][at.x * length + at.y + n * at.z]);
    row_at = mg_shared_address(&s->factors[0][min(lane % 8, n - 1) * length]);
    x[MG_DINV] = dinv;
    x[MG_F] = f;
    x[MG_U] = u;
    /* Products of zeros fill the last group. */
#pragma unroll 1
    for (int c = n * n; c < length && (int)threadIdx.x < n; c++)
#pragma unroll
      for (int q = 0; q < 3; q++)
        s->factors[q][(int)threadIdx.x * length + c] = make_double2(0.0, 0.0);
  }

  __device__ static int warps(int n_cells) {
    return (n_cells + 31) / 32;
  }

  /** Barriers of the other warps. */
  __device__ __forceinline__ static void join_barriers(void) {
    while (__syncthreads_or(0)) {
    }
  }

  /** Last barrier of this solve, unless a test has ended it. */
  __device__ __forceinline__ void release_barriers(void) {
    if (active) (void)__syncthreads_or(0);
  }

  template <bool fv4>
  __device__ __forceinline__ void residual(mg_vector_t dst, mg_vector_t a, mg_vector_t f) {
    if (there) mg_shared_store(value_at, x[a]);
    barrier();
    const mg_values7_t v = mg_shared_values7({{order, order, order}}, near, 0, x[a]);
    const mg_real_t ax =
        mg_apply_values7(v, row.beta[0], row.beta[1], row.beta[2], 1, 1, row.a, b_h2);
    x[dst] = f < 0 ? ax : x[f] - ax;
  }

  /** Once per solve. */
  __device__ __forceinline__ double max_norm(mg_vector_t a) {
    const unsigned long long bits = mg_max_of_warp(mg_max_bits((double)x[a]));
    if (lane == 0) s->warp_max[threadIdx.x / 32] = bits;
    barrier();
    const double norm = __longlong_as_double(
        (long long)mg_max_of_warp(lane < warps(cells) ? s->warp_max[lane] : 0));
    return isfinite(norm) ? norm : NAN;
  }

  /** Test with the next barrier whether the norm of a is at least `least`, and not 0. A value that
   *  is not finite does not end the iteration here. It makes the next sum NaN, which does, before u
   *  changes. */
  __device__ __forceinline__ void test_later(mg_vector_t a, double least) {
    const double size = fabs((double)x[a]);
    above = size >= least && size > 0.0;
    testing = true;
  }
  __device__ __forceinline__ bool test_ended(void) const {
    return !active;
  }

  /** As in block_level.h for a single brick: rows of j and k, then i. */
  __device__ __forceinline__ double dot(mg_vector_t a, mg_vector_t b) {
    store_factors(set, a, b);
    return sum(0);
  }

  /** a b and a a: lanes 0-7 and 8-15 of each warp add rows. */
  __device__ __forceinline__ double2 dots(mg_vector_t a, mg_vector_t b) {
    store_factors(set, a, b);
    store_factors(2 * SET_BYTES, a, a);
    const double mine = sum(lane & 8), other = __shfl_xor_sync(0xffffffff, mine, 8);
    return lane & 8 ? make_double2(other, mine) : make_double2(mine, other);
  }

  /** a / b * (c / d): half of the lanes compute each quotient. */
  __device__ __forceinline__ double product_of_quotients(double a, double b, double c,
                                                         double d) const {
    const bool second = lane & 16;
    const double quotient = (second ? c : a) / (second ? d : b);
    return __shfl_sync(0xffffffff, quotient, 0) * __shfl_sync(0xffffffff, quotient, 16);
  }

private:
  enum : uint32_t { SET_BYTES = MG_SUM_FACTORS * sizeof(double2) };

  /** The block's barrier, also for warps without cells: compute-sanitizer does not follow barriers
   *  of a part of the block. */
  __device__ __forceinline__ void barrier(void) {
    const bool any = __syncthreads_or(above);
    if (testing) active = any;
    above = true;
    testing = false;
  }

  __device__ __forceinline__ void store_factors(uint32_t to, mg_vector_t a, mg_vector_t b) const {
    /* 1 x: fma(x, 1, sum) is sum + x. */
    if (there) mg_shared_store_double2(factors_at + to, (double)x[a], b < 0 ? 1.0 : (double)x[b]);
  }

  /** Sum of the stored factors' products. Consecutive sums use the first two sets alternately, so
   *  that one barrier is enough. Lanes from `first` = 8 on use the third set. */
  __device__ __forceinline__ double sum(int first) {
    barrier();
    const double total = sum_of_rows(row_at + (first ? 2 * SET_BYTES : set),
                                     lane < first + 8 && lane % 8 < n ? n * n : 0, first, n);
    set = SET_BYTES - set;
    return total;
  }

  /* Add the products of a row in each lane, then the rows of lanes first to first + n - 1. A
   * group's factors are loaded while the previous group is added. Not inlined: the solver has
   * several sums, and instruction fetches are expensive.
   * @param length  of this lane's row; 0: none */
  static __device__ __noinline__ double sum_of_rows(uint32_t at, int length, int first, int n) {
    double row = 0.0;
#pragma unroll 1
    for (; length > 0; length -= MG_SUM_GROUP) {
#pragma unroll
      for (int c = 0; c < MG_SUM_GROUP; c++, at += (uint32_t)sizeof(double2)) {
        const double2 factor = mg_shared_load_double2(at);
        row = fma(factor.x, factor.y, row);
      }
    }
    /* Further rows of 0 change nothing, since + 0.0 keeps the total from being -0. */
    double total = __shfl_sync(0xffffffff, row, first) + 0.0;
#pragma unroll
    for (int i = 1; i < 5; i++)
      total += __shfl_sync(0xffffffff, row, first + i);
#pragma unroll 1
    for (int i = 5; i < n; i++)
      total += __shfl_sync(0xffffffff, row, first + i);
    return isfinite(total) ? total : NAN;
  }
};

#endif
