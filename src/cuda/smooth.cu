/* One step of a smoother.
 *
 * Bytes and flops per cell of the 7-point operators: GSRB 48 and 22, Jacobi 56 and 23, Chebyshev 56
 * and 25; the diagonal is summed from the betas. fv4 reads it: 8 bytes more. One thread a cell in
 * blocks of 32 x 8: the L1 cache serves the neighbours in i and j, the L2 those in k. fv4's kernels
 * here are simple ones, the oracle of those in fv4.h.
 *
 * Most blocks touch no wall and take a path without a look at them. With that, and registers for
 * six blocks on a multiprocessor, variants of these kernels took 20.2 ms instead of 20.5 (GSRB) and
 * 22.4 instead of 23.9 (Chebyshev) for the steps of an F-cycle on 512^3 cells of an H200; registers
 * for eight 20.2 and 23.9, 1/diagonal from memory 23.0 and 24.8, blocks of 32 x 4 20.6 and 22.9, of
 * 64 x 4 20.6 and 23.7. */
#include "fv4.h"

static const dim3 block_shape(32, 8, 1);

/* Blocks of 256 threads on a multiprocessor; before sm_80 it holds no more than 4. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BLOCKS 4
#else
#define BLOCKS 6
#endif

/** 1 / diagonal: stored where it is l1-scaled or fv4's, else computed. */
template <bool stored, bool walls = true>
static __device__ __forceinline__ double dinv(const mg_cuda_patch_t *l, int i, int j, int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  if (stored) return p->vec[MG_DINV][at];
  const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  return 1.0 / mg_diagonal_7(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at,
                             js, ks, walls ? mg_face_weights(p, l->order, i, j, k) : one, l->v.a,
                             l->v.b_h2);
}

/** Is no cell of this block, `width` of them along i, at a wall? The answer is the whole block's.
 */
static __device__ __forceinline__ bool clear_of_walls(const mg_patch_t &p, int width) {
  const int first[3] = {(int)blockIdx.x * width, (int)(blockIdx.y * blockDim.y), (int)blockIdx.z};
  const int cells[3] = {width, (int)blockDim.y, 1};
  bool clear = true;
  for (int d = 0; d < 3; d++)
    clear = clear && !(p.wall[d][0] && first[d] == 0) &&
            !(p.wall[d][1] && first[d] + cells[d] >= p.n[d]);
  return clear;
}

template <bool walls>
static __device__ __forceinline__ void gsrb_cell(const mg_cuda_patch_t *l, int x, int i, int j,
                                                 int k) {
  double *u = l->p.vec[x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  const double ax = mg_apply<false, walls>(l, u, i, j, k);
  u[at] = mg_relax(u[at], ax, l->p.vec[MG_F][at], dinv<false, walls>(l, i, j, k));
}

/* In place: a thread takes the one cell of the colour out of a pair, and reads the other colour,
 * which nobody writes. */
static __global__ void __launch_bounds__(256, BLOCKS) gsrb_7(mg_cuda_patch_t l, int x, int color) {
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z;
  const int phase = (l.p.lo[0] ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  const int i = 2 * (int)(blockIdx.x * blockDim.x + threadIdx.x) + phase;
  if (i >= l.p.n[0] || j >= l.p.n[1]) return;
  if (clear_of_walls(l.p, 2 * (int)blockDim.x))
    gsrb_cell<false>(&l, x, i, j, k);
  else
    gsrb_cell<true>(&l, x, i, j, k);
}

static __global__ void __launch_bounds__(256)
    gsrb_fv4(mg_cuda_patch_t l, int x, int dst, int color) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const double *u = l.p.vec[x];
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = ((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  double value = u[at];
  if (phase == 0)
    value =
        mg_relax(value, mg_apply<true>(&l, u, i, j, k), l.p.vec[MG_F][at], dinv<true>(&l, i, j, k));
  l.p.vec[dst][at] = value;
}

/* Chebyshev and Jacobi; previous < 0: the iterate before x is zero, or c1 is. */
template <bool fv4, bool stored, bool walls = true>
static __device__ __forceinline__ void polynomial_cell(const mg_cuda_patch_t *l, int x,
                                                       int previous, int dst, double c1, double c2,
                                                       int i, int j, int k) {
  const double *u = l->p.vec[x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  const double before = previous < 0 ? 0.0 : l->p.vec[previous][at];
  l->p.vec[dst][at] = mg_polynomial(u[at], before, mg_apply<fv4, walls>(l, u, i, j, k),
                                    l->p.vec[MG_F][at], dinv<stored, walls>(l, i, j, k), c1, c2);
}

template <bool fv4, bool stored>
static __global__ void __launch_bounds__(256, fv4 ? 1 : BLOCKS)
    polynomial(mg_cuda_patch_t l, int x, int previous, int dst, double c1, double c2) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  if (!fv4 && clear_of_walls(l.p, (int)blockDim.x))
    polynomial_cell<fv4, stored, false>(&l, x, previous, dst, c1, c2, i, j, k);
  else
    polynomial_cell<fv4, stored>(&l, x, previous, dst, c1, c2, i, j, k);
}

/* From zero, where A x is zero too: the cells with phase & mask == 0 change. */
template <bool stored>
static __global__ void __launch_bounds__(256)
    first(mg_cuda_patch_t l, int dst, double c2, int color, int mask) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = ((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & mask;
  double value = 0.0;
  if (phase == 0)
    value = mg_polynomial(0.0, 0.0, 0.0, l.p.vec[MG_F][at], dinv<stored>(&l, i, j, k), 0.0, c2);
  l.p.vec[dst][at] = value;
}

static void launch_polynomial(const mg_cuda_patch_t &l, dim3 grid, bool stored, int x, int previous,
                              int dst, double c1, double c2) {
  if (l.v.op == MG_OPERATOR_FV4)
    polynomial<true, true><<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
  else if (stored)
    polynomial<false, true><<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
  else
    polynomial<false, false><<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, previous, dst, c1, c2);
}

static void launch(const mg_cuda_patch_t &l, int x, int previous, int dst, const mg_step_t *step) {
  const bool gsrb = step->kind == MG_STEP_GSRB, fv4 = l.v.op == MG_OPERATOR_FV4;
  const bool stored = fv4 || step->l1;
  const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], l.p.n[2], block_shape);
  if (x < 0) {
    const double c2 = gsrb ? 1.0 : step->c2;
    if (stored)
      first<true><<<grid, block_shape, 0, mg_cuda.stream>>>(l, dst, c2, step->color, gsrb);
    else
      first<false><<<grid, block_shape, 0, mg_cuda.stream>>>(l, dst, c2, step->color, gsrb);
  } else if (gsrb && fv4) {
    gsrb_fv4<<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, dst, step->color);
  } else if (gsrb) {
    const dim3 half = mg_cuda_grid((l.p.n[0] + 1) / 2, l.p.n[1], l.p.n[2], block_shape);
    gsrb_7<<<half, block_shape, 0, mg_cuda.stream>>>(l, x, step->color);
  } else if (step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0) {
    launch_polynomial(l, grid, stored, x, previous, dst, step->c1, step->c2);
  } else {
    /* The previous iterate does not count: x itself is at hand. */
    launch_polynomial(l, grid, stored, x, x, dst, 0.0, step->c2);
  }
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
  return v->op == MG_OPERATOR_FV4 && x >= 0 ? mg_cuda_fv4_smooth(v, x, previous, dst, step)
                                            : mg_cuda_simple_smooth(v, x, previous, dst, step);
}

/* Cells along a side whose ghosts come by copies or messages: whole blocks of threads, so that the
 * rim costs no more than the same cells within a sweep. */
static const int rim_width[3] = {32, 8, 1};

/* Below this many cells along the first direction a patch is all rim. */
enum { SHORTEST = 128 };

bool mg_cuda_smooths_parts(const mg_view_t *v) {
  bool fits = v->op != MG_OPERATOR_FV4;
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

template <bool gsrb, bool stored>
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
    polynomial_cell<false, stored>(&l, x, previous, dst, c1, c2, i, j, k);
  else if ((((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1) == 0)
    gsrb_cell<true>(&l, x, i, j, k);
}

static void launch_rim(const mg_cuda_patch_t &l, const rim_t &rim, int blocks, int x, int previous,
                       int dst, const mg_step_t *step) {
  const bool second = step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0;
  const int before = second ? previous : x;
  const double c1 = second ? step->c1 : 0.0;
  const unsigned grid = (unsigned)blocks;
  if (step->kind == MG_STEP_GSRB)
    smooth_rim<true, false><<<grid, block_shape, 0, mg_cuda.stream>>>(l, rim, x, before, dst, c1,
                                                                      step->c2, step->color);
  else if (step->l1)
    smooth_rim<false, true><<<grid, block_shape, 0, mg_cuda.stream>>>(l, rim, x, before, dst, c1,
                                                                      step->c2, step->color);
  else
    smooth_rim<false, false><<<grid, block_shape, 0, mg_cuda.stream>>>(l, rim, x, before, dst, c1,
                                                                       step->c2, step->color);
}

mg_status_t mg_cuda_smooth_part(const mg_view_t *v, int x, int previous, int dst,
                                const mg_step_t *step, mg_part_t part) {
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
