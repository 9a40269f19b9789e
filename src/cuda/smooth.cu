/* One step of a smoother.
 *
 * Bytes per cell of the 7-point operators: GSRB and Jacobi 48, Chebyshev 56; flops, fma counting
 * two: 31 for a cell that GSRB changes, 35 for the others. The diagonal is summed from the betas;
 * fv4 reads it: 8 bytes more. One thread a cell in blocks of 32 x 8: the L1 cache serves the
 * neighbours in i and j, the L2 those in k. fv4's kernels here are simple ones, the oracle of those
 * in fv4.h.
 *
 * On large levels a thread of the 7-point operators has several cells above each other, so that it
 * finds those between them in the L1 cache. Time of all steps on 512^3 cells in an F-cycle, on an
 * H200 whose copy would move these bytes in 18.1 ms (GSRB) and 20.6 ms (Chebyshev):
 *
 *     cells, blocks on a multiprocessor     1, 6   2, 5   2, 4   3, 4   4, 3
 *     GSRB                                  20.2   18.6   18.7   18.2   18.1
 *     Chebyshev                             21.9   21.0   21.2   21.0   23.6
 *
 * Without streaming loads (near.h) Chebyshev takes 24.1 with 1 and 23.1 with 2, GSRB the same. A
 * few bytes spilled from registers cost 2 ms: hence the order of statements. Tried and slower:
 * blocks of 32 x 4 x 2 and 32 x 4 x 4 threads, 32 x 4 (half of the speed: they end too soon), slabs
 * of 32, 64 and 128 rows through all planes one after the other (2 to 5 % better for GSRB with one
 * cell a thread, no better with several, worse for Chebyshev), all loads of a thread's cells before
 * its arithmetic (21.3), 1/diagonal from memory (23.0 and 24.8 where it was 20.2 and 22.4). */
#include "chain.h"
#include "fv4.h"
#include "near.h"

static const dim3 block_shape(32, 8, 1);

/* Cells of a thread along k on large levels. */
enum { GSRB_PLANES = 3, POLYNOMIAL_PLANES = 2 };

/* Blocks of 256 threads on a multiprocessor. */
#define BLOCKS(planes) MG_CUDA_MOST_BLOCKS((planes) == 2 ? 5 : 4, 256)

/** 1 / diagonal: stored where it is l1-scaled or fv4's, else computed. */
template <bool stored, bool varies>
static __device__ __forceinline__ double dinv(const mg_cuda_patch_t *l, int i, int j, int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  if (stored) return p->vec[MG_DINV][at];
  const double a = varies ? p->vec[MG_ALPHA][at] : l->v.a;
  return 1.0 / mg_diagonal_7(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at,
                             js, ks, mg_face_weights(p, l->order, i, j, k), a, l->v.b_h2);
}

/** Is this block, with `width` cells along i and `planes` times its threads along k, clear of
 * walls? */
static __device__ __forceinline__ bool clear(const mg_patch_t &p, int width, int planes) {
  const int n[3] = {width, (int)blockDim.y, (int)blockDim.z * planes};
  const int first[3] = {(int)blockIdx.x * n[0], (int)blockIdx.y * n[1], (int)blockIdx.z * n[2]};
  return mg_clear_of_walls(p, first, n);
}

template <bool varies>
static __device__ __forceinline__ void gsrb_cell(const mg_cuda_patch_t *l, int x, int i, int j,
                                                 int k) {
  double *u = l->p.vec[x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  u[at] = mg_relax(u[at], mg_apply<false, varies>(l, u, i, j, k), l->p.vec[MG_F][at],
                   dinv<false, varies>(l, i, j, k));
}

/* In place: a thread takes the cell of the colour out of a pair and reads the other colour, which
 * nobody writes. All but the values is there before the sweep in front of this one has ended. */
template <bool varies>
static __global__ void __launch_bounds__(256, MG_CUDA_MOST_BLOCKS(4, 256))
    gsrb_7(mg_cuda_patch_t l, int x, int color) {
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z);
  const int phase = (l.p.lo[0] ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  const int i = 2 * (int)(blockIdx.x * blockDim.x + threadIdx.x) + phase;
  if (i >= l.p.n[0] || j >= l.p.n[1] || k >= l.p.n[2]) {
    mg_cuda_follow(); /* a level of one cell has none of the other colour */
    return;
  }
  const mg_row_t row = mg_row<varies>(&l, i, j, k);
  double d = mg_row_dinv<false>(&l, row, i, j, k);
  double *u = mg_cell(&l.p, x, i, j, k);
  const double *f = mg_cell(&l.p, MG_F, i, j, k);
  mg_places7_t places = mg_places7(&l, i, j, k);
  mg_cuda_have(d);
  mg_cuda_have(places);
  mg_cuda_follow();
  const double right = *f;
  const mg_values7_t near = mg_values7(places, u, l.order);
  *u = mg_relax(near.c, mg_row_apply(&l, row, near), right, d);
}

/* The same of large levels: cells in planes above each other. */
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
      const mg_near_t near =
          mg_near<varies>(&l, l.p.vec[x], MG_F,
                          2 * pair + (phase ^ (q & 1)) + j * l.p.jstride + (k + q) * l.p.kstride);
      const double ax = mg_near_apply(&l, near);
      value[q] = mg_relax(near.x.c, ax, near.f, mg_near_dinv(&l, near));
    }
#pragma unroll
    for (int q = 0; q < planes; q++)
      u[2 * pair + (phase ^ (q & 1)) + q * l.p.kstride] = value[q];
    return;
  }
  for (int q = 0; q < planes; q++) {
    const int i = 2 * pair + (phase ^ (q & 1));
    if (i < l.p.n[0] && j < l.p.n[1] && k + q < l.p.n[2]) gsrb_cell<varies>(&l, x, i, j, k + q);
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
                     dinv<true, varies>(&l, i, j, k));
  l.p.vec[dst][at] = value;
}

/* Chebyshev and Jacobi; previous < 0: the iterate before x is zero, or c1 is. */
template <bool fv4, bool stored, bool varies>
static __device__ __forceinline__ void polynomial_cell(const mg_cuda_patch_t *l, int x,
                                                       int previous, int dst, double c1, double c2,
                                                       int i, int j, int k) {
  const double *u = l->p.vec[x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  const double before = previous < 0 ? 0.0 : l->p.vec[previous][at];
  l->p.vec[dst][at] = mg_polynomial(u[at], before, mg_apply<fv4, varies>(l, u, i, j, k),
                                    l->p.vec[MG_F][at], dinv<stored, varies>(l, i, j, k), c1, c2);
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
  mg_cuda_follow();
  const double f = l.p.vec[MG_F][at], before = previous < 0 ? 0.0 : l.p.vec[previous][at];
  const mg_values7_t near = mg_values7(places, l.p.vec[x] + at, l.order);
  l.p.vec[dst][at] = mg_polynomial(near.c, before, mg_row_apply(&l, row, near), f, d, c1, c2);
}

/* The same of large levels: cells above each other. */
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
      const mg_near_t near = mg_near<varies>(&l, l.p.vec[x], MG_F, at + q * ks);
      /* A x first: then fewer values wait in registers for the division. */
      const double ax = mg_near_apply(&l, near);
      const double d = stored ? __ldcs(l.p.vec[MG_DINV] + at + q * ks) : mg_near_dinv(&l, near);
      value[q] = mg_polynomial(near.x.c, before, ax, near.f, d, c1, c2);
    }
#pragma unroll
    for (int q = 0; q < planes; q++)
      l.p.vec[dst][at + q * ks] = value[q];
    return;
  }
  for (int q = 0; q < planes; q++)
    if (i < l.p.n[0] && j < l.p.n[1] && k + q < l.p.n[2])
      polynomial_cell<false, stored, varies>(&l, x, previous, dst, c1, c2, i, j, k + q);
}

template <bool varies>
static __global__ void __launch_bounds__(256)
    polynomial_fv4(mg_cuda_patch_t l, int x, int previous, int dst, double c1, double c2) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  polynomial_cell<true, true, varies>(&l, x, previous, dst, c1, c2, i, j, k);
}

/* From zero, where A x is zero too: the cells with phase & mask == 0 change. */
template <bool stored, bool varies>
static __global__ void __launch_bounds__(256)
    first(mg_cuda_patch_t l, int dst, double c2, int color, int mask) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = ((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & mask;
  double d = phase == 0 ? dinv<stored, varies>(&l, i, j, k) : 0.0;
  mg_cuda_have(d);
  mg_cuda_follow();
  double value = 0.0;
  if (phase == 0) value = mg_polynomial(0.0, 0.0, 0.0, l.p.vec[MG_F][at], d, 0.0, c2);
  l.p.vec[dst][at] = value;
}

template <bool varies> static void launch_gsrb_7(const mg_cuda_patch_t &l, int x, int color) {
  const int *n = l.p.n, pairs = (n[0] + 1) / 2;
  const int planes = mg_is_large(l.p) ? GSRB_PLANES : 1;
  const dim3 grid = mg_cuda_grid(pairs, n[1], (n[2] + planes - 1) / planes, block_shape);
  if (planes > 1)
    gsrb_7_planes<GSRB_PLANES, varies><<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, color);
  else
    mg_cuda_chain(gsrb_7<varies>, grid, block_shape, l, x, color);
}

template <bool stored, bool varies>
static void launch_polynomial_7(const mg_cuda_patch_t &l, int x, int previous, int dst, double c1,
                                double c2) {
  const int *n = l.p.n, planes = mg_is_large(l.p) ? POLYNOMIAL_PLANES : 1;
  const dim3 grid = mg_cuda_grid(n[0], n[1], (n[2] + planes - 1) / planes, block_shape);
  if (planes > 1)
    polynomial_7_planes<stored, POLYNOMIAL_PLANES, varies>
        <<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
  else
    mg_cuda_chain(polynomial_7<stored, varies>, grid, block_shape, l, x, previous, dst, c1, c2);
}

template <bool varies>
static void launch_polynomial(const mg_cuda_patch_t &l, dim3 grid, bool stored, int x, int previous,
                              int dst, double c1, double c2) {
  if (l.v.op == MG_OPERATOR_FV4)
    polynomial_fv4<varies><<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
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
  const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], l.p.n[2], block_shape);
  if (x < 0) {
    const double c2 = gsrb ? 1.0 : step->c2;
    if (stored)
      mg_cuda_chain(first<true, varies>, grid, block_shape, l, dst, c2, step->color, gsrb);
    else
      mg_cuda_chain(first<false, varies>, grid, block_shape, l, dst, c2, step->color, gsrb);
  } else if (gsrb && fv4) {
    gsrb_fv4<varies><<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, dst, step->color);
  } else if (gsrb) {
    launch_gsrb_7<varies>(l, x, step->color);
  } else if (step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0) {
    launch_polynomial<varies>(l, grid, stored, x, previous, dst, step->c1, step->c2);
  } else {
    /* The previous iterate does not count: x itself is at hand. */
    launch_polynomial<varies>(l, grid, stored, x, x, dst, 0.0, step->c2);
  }
}

static void launch(const mg_cuda_patch_t &l, int x, int previous, int dst, const mg_step_t *step) {
  if (l.v.varies)
    launch_for<true>(l, x, previous, dst, step);
  else
    launch_for<false>(l, x, previous, dst, step);
}

mg_status_t mg_cuda_simple_smooth(const mg_view_t *v, int x, int previous, int dst,
                                  const mg_step_t *step) {
  if (x >= 0) MG_TRY(mg_cuda_prepare(v, x));
  for (int q = 0; q < v->n_patches; q++) {
    launch(mg_cuda_patch(v, q), x, previous, dst, step);
    MG_CUDA_LAUNCHED("smooth");
  }
  return MG_OK;
}

mg_status_t mg_cuda_smooth(const mg_view_t *v, int x, int previous, int dst,
                           const mg_step_t *step) {
  return v->op == MG_OPERATOR_FV4 && x >= 0
             ? mg_cuda_fv4_smooth(v, x, previous, dst, step, MG_PART_ALL)
             : mg_cuda_simple_smooth(v, x, previous, dst, step);
}

/* Cells along a side whose ghosts come by copies or messages: whole blocks of threads, so that the
 * rim costs no more than the same cells within a sweep. */
static const int rim_width[3] = {32, 8, 1};

/* Below this many cells along the first direction a patch is all rim. */
enum { SHORTEST = 128 };

/* What devices send by themselves is faster in front of one launch than beside two sweeps that each
 * fill and drain it: two H200s, 512^3 cells, GDOF/s without parts and with them, by peer
 * stores 6.59 and 6.51, through the host 4.18 and 5.16; 640^3 in several patches by NCCL 5.94
 * and 5.71. */
bool mg_cuda_step_has_parts(const mg_view_t *v, bool host) {
  if (v->op == MG_OPERATOR_FV4) return mg_cuda_fv4_step_has_parts(v, host);
  bool fits = host;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      fits = fits && v->patch[q].n[d] >= SHORTEST;
  return fits;
}

/** The rim as cuboids, each of blocks of 32 x 8 cells: sides of k, then of j, then of i. */
struct rim_t {
  int lo[6][3], n[6][3];
  int blocks[6];
  int n_cuboids;
};

static int blocks_of(const int n[3]) {
  return (n[0] + 31) / 32 * ((n[1] + 7) / 8) * n[2];
}

/* Take the sides off a patch; what is left are its inner cells. Returns the number of blocks. */
static int cut_rim(const mg_patch_t *p, int lo[3], int hi[3], rim_t *rim) {
  int blocks = 0;
  rim->n_cuboids = 0;
  for (int d = 0; d < 3; d++) {
    lo[d] = 0;
    hi[d] = p->n[d];
  }
  for (int d = 2; d >= 0; d--)
    for (int side = 0; side < 2; side++) {
      if (p->wall[d][side]) continue;
      int *from = rim->lo[rim->n_cuboids], *n = rim->n[rim->n_cuboids];
      for (int e = 0; e < 3; e++) {
        from[e] = lo[e];
        n[e] = hi[e] - lo[e];
      }
      n[d] = rim_width[d];
      if (side == 0) lo[d] += rim_width[d];
      if (side == 1) from[d] = hi[d] -= rim_width[d];
      blocks += rim->blocks[rim->n_cuboids++] = blocks_of(n);
    }
  return blocks;
}

/* The inner cells as a patch of their own: no side of it is a wall that was not one before. */
static mg_patch_t inner_patch(const mg_patch_t *p, const int lo[3], const int hi[3]) {
  mg_patch_t inner = *p;
  const ptrdiff_t shift = lo[0] + lo[1] * p->jstride + lo[2] * p->kstride;
  for (int d = 0; d < 3; d++) {
    inner.lo[d] += lo[d];
    inner.n[d] = hi[d] - lo[d];
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (inner.vec[vec]) inner.vec[vec] += shift;
  return inner;
}

template <bool gsrb, bool stored, bool varies>
static __global__ void __launch_bounds__(256)
    smooth_rim(mg_cuda_patch_t l, rim_t rim, int x, int previous, int dst, double c1, double c2,
               int color) {
  int block = (int)blockIdx.x, c = 0;
  while (block >= rim.blocks[c])
    block -= rim.blocks[c++];
  const int *lo = rim.lo[c], *n = rim.n[c];
  const int ni = (n[0] + 31) / 32, nj = (n[1] + 7) / 8;
  const int at[3] = {block % ni * 32 + (int)threadIdx.x, block / ni % nj * 8 + (int)threadIdx.y,
                     block / ni / nj};
  if (at[0] >= n[0] || at[1] >= n[1]) return;
  const int i = lo[0] + at[0], j = lo[1] + at[1], k = lo[2] + at[2];
  if (!gsrb)
    polynomial_cell<false, stored, varies>(&l, x, previous, dst, c1, c2, i, j, k);
  else if ((((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1) == 0)
    gsrb_cell<varies>(&l, x, i, j, k);
}

template <bool varies>
static void launch_rim_for(const mg_cuda_patch_t &l, const rim_t &rim, int blocks, int x,
                           int previous, int dst, const mg_step_t *step) {
  const bool second = step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0;
  const int before = second ? previous : x;
  const double c1 = second ? step->c1 : 0.0;
  const unsigned grid = (unsigned)blocks;
  if (step->kind == MG_STEP_GSRB)
    smooth_rim<true, false, varies><<<grid, block_shape, 0, mg_cuda.stream>>>(
        l, rim, x, before, dst, c1, step->c2, step->color);
  else if (step->l1)
    smooth_rim<false, true, varies><<<grid, block_shape, 0, mg_cuda.stream>>>(
        l, rim, x, before, dst, c1, step->c2, step->color);
  else
    smooth_rim<false, false, varies><<<grid, block_shape, 0, mg_cuda.stream>>>(
        l, rim, x, before, dst, c1, step->c2, step->color);
}

static void launch_rim(const mg_cuda_patch_t &l, const rim_t &rim, int blocks, int x, int previous,
                       int dst, const mg_step_t *step) {
  if (l.v.varies)
    launch_rim_for<true>(l, rim, blocks, x, previous, dst, step);
  else
    launch_rim_for<false>(l, rim, blocks, x, previous, dst, step);
}

mg_status_t mg_cuda_smooth_part(const mg_view_t *v, int x, int previous, int dst,
                                const mg_step_t *step, mg_part_t part) {
  if (v->op == MG_OPERATOR_FV4) return mg_cuda_fv4_smooth(v, x, previous, dst, step, part);
  for (int q = 0; q < v->n_patches; q++) {
    mg_cuda_patch_t l = mg_cuda_patch(v, q);
    int lo[3], hi[3];
    rim_t rim;
    const int blocks = cut_rim(&v->patch[q], lo, hi, &rim);
    if (part == MG_PART_INNER) {
      l.p = inner_patch(&v->patch[q], lo, hi);
      launch(l, x, previous, dst, step);
    } else if (blocks > 0) {
      launch_rim(l, rim, blocks, x, previous, dst, step);
    }
    MG_CUDA_LAUNCHED("smooth_part");
  }
  return MG_OK;
}
