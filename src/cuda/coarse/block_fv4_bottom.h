/* The coarsest level of fv4 in one warp (block_fv4.h), for the solvers in krylov.h. */
#ifndef MG_CUDA_COARSE_BLOCK_FV4_BOTTOM_H
#define MG_CUDA_COARSE_BLOCK_FV4_BOTTOM_H

#include "cuda/coarse/block_fv4.h"
#include "cuda/coarse/krylov.h"

/** The coarsest level as seen by one lane of its warp, which has one cell or none: a level type of
 *  mg_krylov_t. */
struct mg_fv4_bottom_t : mg_cell_vectors_t {
  static constexpr bool has_many_cells = false;
  enum { FILLERS = 3 /* per lane */, SIDE = MG_FV4_BLOCK_BOTTOM_SIDE };
  const mg_cuda_patch_t *l;
  mg_fv4_shared_t *shared;
  mg_fv4_cell_t cell;
  mg_fv4_ghosts_t ghosts[FILLERS];
  mg_real_t *value; /**< of the level */
  int n, cells, lane;

  __device__ __forceinline__ mg_fv4_bottom_t(const mg_cuda_patch_t *level,
                                             const mg_fv4_place_t &place, mg_fv4_shared_t *s,
                                             const mg_fv4_cell_t &c,
                                             const mg_fv4_ghosts_t g[FILLERS], mg_real_t f,
                                             mg_real_t u)
      : l(level), shared(s), cell(c), ghosts{g[0], g[1], g[2]}, value(s->value + place.values),
        n(place.n), cells(n * n * n), lane((int)threadIdx.x % 32) {
    x[MG_F] = f;
    x[MG_U] = u;
    x[MG_DINV] = cell.dinv;
  }

  __device__ __forceinline__ void store(mg_vector_t a) const {
    if (cell.there) value[cell.at] = x[a];
  }

  template <bool fv4>
  __device__ __forceinline__ void residual(mg_vector_t dst, mg_vector_t a, mg_vector_t f) {
    __syncwarp();
    store(a);
    __syncwarp();
#pragma unroll
    for (int q = 0; q < FILLERS; q++)
      if (lane + 32 * q < mg_fv4_fillers(n)) mg_fv4_fill<2>(l, value, ghosts[q], n);
    __syncwarp();
    const mg_real_t ax = cell.apply(value);
    x[dst] = f < 0 ? ax : x[f] - ax;
  }

  __device__ __forceinline__ double max_norm(mg_vector_t a) const {
    const double norm = __longlong_as_double(
        (long long)mg_max_of_warp(cell.there ? mg_max_bits((double)x[a]) : 0ULL));
    return isfinite(norm) ? norm : NAN;
  }

  /** As in block_level.h for a single brick: rows of j and k, then i. */
  __device__ __forceinline__ double dot(mg_vector_t a, mg_vector_t b) const {
    __syncwarp();
    /* 1 x: fma(x, 1, sum) is sum + x. */
    if (cell.there) shared->pair[lane] = {(double)x[a], b < 0 ? 1.0 : (double)x[b]};
    __syncwarp();
    const double sum = n == 2 ? sum_of<2>() : sum_of<SIDE>();
    return isfinite(sum) ? sum + 0.0 : NAN;
  }

private:
  template <int side> __device__ __forceinline__ double sum_of(void) const {
    double sum[side];
#pragma unroll
    for (int i = 0; i < side; i++) {
      sum[i] = 0.0;
#pragma unroll
      for (int jk = 0; jk < side * side; jk++) {
        const double2 p = shared->pair[i + side * jk];
        sum[i] = fma(p.x, p.y, sum[i]);
      }
    }
    double total = sum[0];
#pragma unroll
    for (int i = 1; i < side; i++)
      total += sum[i];
    return total;
  }
};

#endif
