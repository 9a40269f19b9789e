/* One step of a smoother.
 *
 * Bytes and flops per cell of the 7-point operators: GSRB 48 and 22, Jacobi 56 and 23, Chebyshev 56
 * and 25; the diagonal is summed from the betas. fv4 reads it: 8 bytes more. One thread a cell in
 * blocks of 32 x 8: the L1 cache serves the neighbours in i and j, the L2 those in k. */
#include "cuda.h"

static const dim3 block_shape(32, 8, 1);

/** 1 / diagonal: stored where it is l1-scaled or fv4's, else computed. */
template <bool stored>
static __device__ __forceinline__ double dinv(const mg_cuda_patch_t *l, int i, int j, int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  if (stored) return p->vec[MG_DINV][at];
  return 1.0 / mg_diagonal_7(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at,
                             js, ks, mg_face_weights(p, l->order, i, j, k), l->v.a, l->v.b_h2);
}

/* In place: a thread takes the one cell of the colour out of a pair, and reads the other colour,
 * which nobody writes. */
static __global__ void __launch_bounds__(256) gsrb_7(mg_cuda_patch_t l, int x, int color) {
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z;
  const int phase = (l.p.lo[0] ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1;
  const int i = 2 * (int)(blockIdx.x * blockDim.x + threadIdx.x) + phase;
  if (i >= l.p.n[0] || j >= l.p.n[1]) return;
  double *u = l.p.vec[x];
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const double ax = mg_apply<false>(&l, u, i, j, k);
  u[at] = mg_relax(u[at], ax, l.p.vec[MG_F][at], dinv<false>(&l, i, j, k));
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
template <bool fv4, bool stored>
static __global__ void __launch_bounds__(256)
    polynomial(mg_cuda_patch_t l, int x, int previous, int dst, double c1, double c2) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const double *u = l.p.vec[x];
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const double before = previous < 0 ? 0.0 : l.p.vec[previous][at];
  l.p.vec[dst][at] = mg_polynomial(u[at], before, mg_apply<fv4>(&l, u, i, j, k), l.p.vec[MG_F][at],
                                   dinv<stored>(&l, i, j, k), c1, c2);
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

mg_status_t mg_cuda_smooth(const mg_view_t *v, int x, int previous, int dst,
                           const mg_step_t *step) {
  if (x >= 0) MG_TRY(mg_cuda_prepare(v, x));
  for (int q = 0; q < v->n_patches; q++) {
    launch(mg_cuda_patch(v, q), x, previous, dst, step);
    MG_CUDA_LAUNCHED("smooth");
  }
  return MG_OK;
}
