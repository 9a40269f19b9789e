/* One step of a smoother.
 *
 * Bytes per cell of the 7-point operators: GSRB and Jacobi 48, Chebyshev 56. Flops, with an fma
 * counted as two: 31 per cell that GSRB changes, 35 per cell of the others. The diagonal is summed
 * from the betas; fv4 reads it, which adds 8 bytes. One thread per cell in blocks of 32 x 8: the L1
 * serves the neighbours in i and j, the L2 those in k. The fv4 kernels here are simple; they are
 * the oracle of those in fv4.h.
 *
 * On large levels a thread of the 7-point operators has several cells stacked in k, so the values
 * they share hit the L1. Time of all steps at 512^3 in an F-cycle on an H200, ms. A copy moves
 * these bytes in 18.1 ms (GSRB) and 20.6 ms (Chebyshev):
 *
 *     cells per thread, blocks per SM       1, 6   2, 5   2, 4   3, 4   4, 3
 *     GSRB                                  20.2   18.6   18.7   18.2   18.1
 *     Chebyshev                             21.9   21.0   21.2   21.0   23.6
 *
 * Without streaming loads (stencil_load.h) Chebyshev takes 24.1 ms with one cell and 23.1 with two;
 * GSRB is unchanged. Spilling a few bytes of registers costs 2 ms, hence the order of statements.
 *
 * Tried and slower:
 *   - blocks of 32 x 4 x 2 and 32 x 4 x 4 threads, and of 32 x 4 (half the speed: the blocks are
 *     too short-lived);
 *   - slabs of 32, 64 and 128 rows, each through all planes, one after the other (GSRB: 2 to 5 %
 *     faster with one cell per thread, no faster with several; Chebyshev: slower);
 *   - issuing all loads of a thread's cells before its arithmetic (21.3);
 *   - 1 / diagonal from memory (23.0 and 24.8 instead of 20.2 and 22.4). */
#include "cuda/dependent_launch.h"
#include "cuda/fv4.h"
#include "cuda/smooth_cells.h"
#include "cuda/stencil_load.h"

/* Cells per thread along k on large levels. */
enum { GSRB_PLANES = 3, POLYNOMIAL_PLANES = 2 };

/* Blocks of 256 threads per SM. */
#define BLOCKS(planes) MG_CUDA_MOST_BLOCKS((planes) == 2 ? 5 : 4, 256)

/** Whether no cell of this block is at a wall. The block has `width` cells along i and `planes`
 *  cells per thread along k. */
static __device__ __forceinline__ bool clear(const mg_patch_t &p, int width, int planes) {
  const int n[3] = {width, (int)blockDim.y, (int)blockDim.z * planes};
  const int first[3] = {(int)blockIdx.x * n[0], (int)blockIdx.y * n[1], (int)blockIdx.z * n[2]};
  return mg_clear_of_walls(p, first, n);
}

/* In place: a thread updates the cell of the colour in a pair. It reads the other colour, which no
 * thread writes. All but the values of x and f is loaded or computed while the previous sweep
 * runs. */
template <bool varies>
static __global__ void __launch_bounds__(256, MG_CUDA_MOST_BLOCKS(4, 256))
    gsrb_7(mg_cuda_patch_t l, int x, int color) {
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z);
  const int phase = (l.p.lo[0] ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  const int i = 2 * (int)(blockIdx.x * blockDim.x + threadIdx.x) + phase;
  if (i >= l.p.n[0] || j >= l.p.n[1] || k >= l.p.n[2]) {
    mg_cuda_wait_dependency(); /* a level of one cell has none of the other colour */
    return;
  }
  const mg_row_t row = mg_row<varies>(&l, i, j, k);
  double d = mg_row_dinv<false>(&l, row, i, j, k);
  double *u = mg_cell(&l.p, x, i, j, k);
  const double *f = mg_cell(&l.p, MG_F, i, j, k);
  mg_places7_t places = mg_places7(&l, i, j, k);
  mg_cuda_have(d);
  mg_cuda_have(places);
  mg_cuda_wait_dependency();
  const double right = *f;
  const mg_values7_t near = mg_values7(places, u, l.order);
  *u = mg_relax(near.c, mg_row_apply(&l, row, near), right, d);
}

/* gsrb_7 for large levels: several cells per thread, stacked in k. */
template <int planes, bool varies>
static __global__ void __launch_bounds__(256, BLOCKS(planes))
    gsrb_7_planes(mg_cuda_patch_t l, int x, int color) {
  const int pair = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z) * planes;
  const int phase = (l.p.lo[0] ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  if (clear(l.p, 2 * (int)blockDim.x, planes)) {
    double *u = l.p.vec[x] + j * l.p.jstride + k * l.p.kstride;
    double value[planes];
#pragma unroll
    for (int q = 0; q < planes; q++) {
      const mg_stencil_values_t near = mg_stencil_load<varies>(
          &l, l.p.vec[x], MG_F,
          2 * pair + (phase ^ (q & 1)) + j * l.p.jstride + (k + q) * l.p.kstride);
      const double ax = mg_stencil_apply(&l, near);
      value[q] = mg_relax(near.x.c, ax, near.f, mg_stencil_dinv(&l, near));
    }
#pragma unroll
    for (int q = 0; q < planes; q++)
      u[2 * pair + (phase ^ (q & 1)) + q * l.p.kstride] = value[q];
    return;
  }
  for (int q = 0; q < planes; q++) {
    const int i = 2 * pair + (phase ^ (q & 1));
    if (i < l.p.n[0] && j < l.p.n[1] && k + q < l.p.n[2]) mg_gsrb_cell<varies>(&l, x, i, j, k + q);
  }
}

template <bool varies>
static __global__ void __launch_bounds__(256)
    gsrb_fv4(mg_cuda_patch_t l, int x, int dst, int color) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const double *u = l.p.vec[x];
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = ((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  double value = u[at];
  if (phase == 0)
    value = mg_relax(value, mg_apply<true, varies>(&l, u, i, j, k), l.p.vec[MG_F][at],
                     mg_smooth_dinv<true, varies>(&l, i, j, k));
  l.p.vec[dst][at] = value;
}

template <bool stored, bool varies>
static __global__ void __launch_bounds__(256, MG_CUDA_MOST_BLOCKS(4, 256))
    polynomial_7(mg_cuda_patch_t l, int x, int previous, int dst, double c1, double c2) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const mg_row_t row = mg_row<varies>(&l, i, j, k);
  double d = mg_row_dinv<stored>(&l, row, i, j, k);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  mg_places7_t places = mg_places7(&l, i, j, k);
  mg_cuda_have(d);
  mg_cuda_have(places);
  mg_cuda_wait_dependency();
  const double f = l.p.vec[MG_F][at], before = previous < 0 ? 0.0 : l.p.vec[previous][at];
  const mg_values7_t near = mg_values7(places, l.p.vec[x] + at, l.order);
  l.p.vec[dst][at] = mg_polynomial(near.c, before, mg_row_apply(&l, row, near), f, d, c1, c2);
}

/* polynomial_7 for large levels: several cells per thread, stacked in k. */
template <bool stored, int planes, bool varies>
static __global__ void __launch_bounds__(256, BLOCKS(planes))
    polynomial_7_planes(mg_cuda_patch_t l, int x, int previous, int dst, double c1, double c2) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z) * planes;
  if (clear(l.p, (int)blockDim.x, planes)) {
    const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride, ks = l.p.kstride;
    double value[planes];
#pragma unroll
    for (int q = 0; q < planes; q++) {
      const double before = previous < 0 ? 0.0 : __ldcs(l.p.vec[previous] + at + q * ks);
      const mg_stencil_values_t near = mg_stencil_load<varies>(&l, l.p.vec[x], MG_F, at + q * ks);
      /* A x first: fewer values then occupy registers during the division. */
      const double ax = mg_stencil_apply(&l, near);
      const double d = stored ? __ldcs(l.p.vec[MG_DINV] + at + q * ks) : mg_stencil_dinv(&l, near);
      value[q] = mg_polynomial(near.x.c, before, ax, near.f, d, c1, c2);
    }
#pragma unroll
    for (int q = 0; q < planes; q++)
      l.p.vec[dst][at + q * ks] = value[q];
    return;
  }
  for (int q = 0; q < planes; q++)
    if (i < l.p.n[0] && j < l.p.n[1] && k + q < l.p.n[2])
      mg_polynomial_cell<false, stored, varies>(&l, x, previous, dst, c1, c2, i, j, k + q);
}

template <bool varies>
static __global__ void __launch_bounds__(256)
    polynomial_fv4(mg_cuda_patch_t l, int x, int previous, int dst, double c1, double c2) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  mg_polynomial_cell<true, true, varies>(&l, x, previous, dst, c1, c2, i, j, k);
}

/* First step from a zero guess, where A x is zero too. Cells whose masked phase is 0 are updated;
 * the others are set to zero. */
template <bool stored, bool varies>
static __global__ void __launch_bounds__(256)
    first(mg_cuda_patch_t l, int dst, double c2, int color, int mask) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = ((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & mask;
  double d = phase == 0 ? mg_smooth_dinv<stored, varies>(&l, i, j, k) : 0.0;
  mg_cuda_have(d);
  mg_cuda_wait_dependency();
  double value = 0.0;
  if (phase == 0) value = mg_polynomial(0.0, 0.0, 0.0, l.p.vec[MG_F][at], d, 0.0, c2);
  l.p.vec[dst][at] = value;
}

template <bool varies> static void launch_gsrb_7(const mg_cuda_patch_t &l, int x, int color) {
  const int *n = l.p.n, pairs = (n[0] + 1) / 2;
  const int planes = mg_is_large(l.p) ? GSRB_PLANES : 1;
  const dim3 grid = mg_cuda_grid(pairs, n[1], (n[2] + planes - 1) / planes, mg_smooth_block);
  if (planes > 1)
    gsrb_7_planes<GSRB_PLANES, varies><<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(l, x, color);
  else
    mg_cuda_launch_dependent(gsrb_7<varies>, grid, mg_smooth_block, l, x, color);
}

template <bool stored, bool varies>
static void launch_polynomial_7(const mg_cuda_patch_t &l, int x, int previous, int dst, double c1,
                                double c2) {
  const int *n = l.p.n, planes = mg_is_large(l.p) ? POLYNOMIAL_PLANES : 1;
  const dim3 grid = mg_cuda_grid(n[0], n[1], (n[2] + planes - 1) / planes, mg_smooth_block);
  if (planes > 1)
    polynomial_7_planes<stored, POLYNOMIAL_PLANES, varies>
        <<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
  else
    mg_cuda_launch_dependent(polynomial_7<stored, varies>, grid, mg_smooth_block, l, x, previous,
                             dst, c1, c2);
}

template <bool varies>
static void launch_polynomial(const mg_cuda_patch_t &l, dim3 grid, bool stored, int x, int previous,
                              int dst, double c1, double c2) {
  if (l.v.op == MG_OPERATOR_FV4)
    polynomial_fv4<varies>
        <<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
  else if (stored)
    launch_polynomial_7<true, varies>(l, x, previous, dst, c1, c2);
  else
    launch_polynomial_7<false, varies>(l, x, previous, dst, c1, c2);
}

template <bool varies>
static void launch_for(const mg_cuda_patch_t &l, int x, int previous, int dst,
                       const mg_step_t *step) {
  const bool gsrb = step->kind == MG_STEP_GSRB, fv4 = l.v.op == MG_OPERATOR_FV4;
  const bool stored = fv4 || step->l1;
  const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], l.p.n[2], mg_smooth_block);
  if (x < 0) {
    const double c2 = gsrb ? 1.0 : step->c2;
    if (stored)
      mg_cuda_launch_dependent(first<true, varies>, grid, mg_smooth_block, l, dst, c2, step->color,
                               gsrb);
    else
      mg_cuda_launch_dependent(first<false, varies>, grid, mg_smooth_block, l, dst, c2, step->color,
                               gsrb);
  } else if (gsrb && fv4) {
    gsrb_fv4<varies><<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(l, x, dst, step->color);
  } else if (gsrb) {
    launch_gsrb_7<varies>(l, x, step->color);
  } else if (step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0) {
    launch_polynomial<varies>(l, grid, stored, x, previous, dst, step->c1, step->c2);
  } else {
    /* The previous iterate has weight zero: pass x in its place. */
    launch_polynomial<varies>(l, grid, stored, x, x, dst, 0.0, step->c2);
  }
}

void mg_cuda_smooth_patch(const mg_cuda_patch_t &l, int x, int previous, int dst,
                          const mg_step_t *step) {
  if (l.v.varies)
    launch_for<true>(l, x, previous, dst, step);
  else
    launch_for<false>(l, x, previous, dst, step);
}

mg_status_t mg_cuda_simple_smooth(const mg_view_t *v, int x, int previous, int dst,
                                  const mg_step_t *step) {
  if (x >= 0) MG_TRY(mg_cuda_prepare(v, x));
  for (int q = 0; q < v->n_patches; q++) {
    mg_cuda_smooth_patch(mg_cuda_patch(v, q), x, previous, dst, step);
    MG_CUDA_LAUNCHED("smooth");
  }
  return MG_OK;
}

mg_status_t mg_cuda_smooth(const mg_view_t *v, int x, int previous, int dst,
                           const mg_step_t *step) {
  return v->op == MG_OPERATOR_FV4 && x >= 0
             ? mg_cuda_fv4_smooth(v, x, previous, dst, step, MG_REGION_ALL)
             : mg_cuda_simple_smooth(v, x, previous, dst, step);
}
