/* f - A x, stored, as a norm, or restricted to the coarser grid.
 *
 * Bytes per cell: 48 stored, 40 as a norm, 41 restricted; 21 flops, fma counting two. One thread a
 * cell in blocks of 32 x 8; the restriction marches two planes and meets its neighbours in i by a
 * shuffle, in j through shared memory. fv4's kernel here is a simple one, the oracle of those in
 * fv4.h. */
#include "fv4.h"
#include "near.h"

static const dim3 block_shape(32, 8, 1);

/** Is this block, with `planes` cells of a thread along k, clear of walls? Never for fv4. */
template <bool fv4> static __device__ __forceinline__ bool clear(const mg_patch_t &p, int planes) {
  const int n[3] = {(int)blockDim.x, (int)blockDim.y, planes};
  const int first[3] = {(int)blockIdx.x * n[0], (int)blockIdx.y * n[1], (int)blockIdx.z * planes};
  return !fv4 && mg_clear_of_walls(p, first, n);
}

template <bool fv4, bool varies>
static __device__ __forceinline__ double residual_at(const mg_cuda_patch_t *l, int x, int f, int i,
                                                     int j, int k, bool clear) {
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  if (clear) {
    const mg_near_t near = mg_near<varies>(l, l->p.vec[x], f, at);
    const double ax = mg_near_apply(l, near);
    return f < 0 ? ax : near.f - ax;
  }
  const double ax = mg_apply<fv4, varies>(l, l->p.vec[x], i, j, k);
  return f < 0 ? ax : l->p.vec[f][at] - ax;
}

template <bool fv4, bool varies>
static __global__ void __launch_bounds__(256) residual(mg_cuda_patch_t l, int dst, int x, int f) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  l.p.vec[dst][i + j * l.p.jstride + k * l.p.kstride] =
      residual_at<fv4, varies>(&l, x, f, i, j, k, clear<fv4>(l.p, 1));
}

mg_status_t mg_cuda_simple_residual(const mg_view_t *v, int dst, int x, int f) {
  MG_TRY(mg_cuda_prepare(v, x));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], l.p.n[2], block_shape);
    const auto kernel = v->op == MG_OPERATOR_FV4
                            ? (v->varies ? residual<true, true> : residual<true, false>)
                            : (v->varies ? residual<false, true> : residual<false, false>);
    kernel<<<grid, block_shape, 0, mg_cuda.stream>>>(l, dst, x, f);
    MG_CUDA_LAUNCHED("residual");
  }
  return MG_OK;
}

mg_status_t mg_cuda_residual(const mg_view_t *v, int dst, int x, int f) {
  return v->op == MG_OPERATOR_FV4 ? mg_cuda_fv4_residual(v, dst, x, f)
                                  : mg_cuda_simple_residual(v, dst, x, f);
}

/* As many blocks as the stored residual has, if registers allow: while one joins its cells, the
 * others load theirs. */
template <bool varies>
static __global__ void __launch_bounds__(256, MG_CUDA_MOST_BLOCKS(varies ? 6 : 8, 256))
    residual_norm(mg_cuda_patch_t l, int x, int f, unsigned long long *maximum) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z;
  const unsigned long long known = mg_max_known(maximum);
  double r = 0.0;
  if (i < l.p.n[0] && j < l.p.n[1])
    r = fabs(residual_at<false, varies>(&l, x, f, i, j, k, clear<false>(l.p, 1)));
  mg_max_add(r, known, maximum);
}

mg_status_t mg_cuda_residual_norm(const mg_view_t *v, int x, int f, double *norm) {
  if (v->op == MG_OPERATOR_FV4) return mg_cuda_fv4_residual_norm(v, x, f, norm);
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], l.p.n[2], block_shape);
    const auto kernel = v->varies ? residual_norm<true> : residual_norm<false>;
    kernel<<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, f, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("residual_norm");
  }
  return mg_cuda_max_end(norm);
}

/* Fine cells (2I, 2J, 2K) to (2I+1, 2J+1, 2K+1) make coarse cell (I, J, K). A patch's sides are
 * even, so pairs never straddle its end, and a warp's 32 cells are 16 pairs. */
template <bool varies>
static __global__ void __launch_bounds__(256)
    residual_restrict(mg_cuda_patch_t l, int x, int f, mg_patch_t coarse, int dst) {
  __shared__ double pair[2][8][16];
  const int i = (int)(blockIdx.x * 32 + threadIdx.x), j = (int)(blockIdx.y * 8 + threadIdx.y);
  const int k = 2 * (int)blockIdx.z;
  const bool inside = i < l.p.n[0] && j < l.p.n[1];
  const bool away = clear<false>(l.p, 2);
#pragma unroll
  for (int dk = 0; dk < 2; dk++) {
    const double r = inside ? residual_at<false, varies>(&l, x, f, i, j, k + dk, away) : 0.0;
    const double sum = r + __shfl_xor_sync(0xffffffffu, r, 1);
    if (threadIdx.x % 2 == 0) pair[dk][threadIdx.y][threadIdx.x / 2] = sum;
  }
  __syncthreads();
  /* 16 x 4 coarse cells: the first two warps write them. */
  const int t = (int)(threadIdx.y * 32 + threadIdx.x);
  const int ci = t % 16, cj = t / 16;
  const int I = (int)blockIdx.x * 16 + ci, J = (int)blockIdx.y * 4 + cj;
  if (t >= 64 || I >= coarse.n[0] || J >= coarse.n[1]) return;
  *mg_cell(&coarse, dst, I, J, (int)blockIdx.z) = mg_mean8(
      pair[0][2 * cj][ci], pair[0][2 * cj + 1][ci], pair[1][2 * cj][ci], pair[1][2 * cj + 1][ci]);
}

mg_status_t mg_cuda_residual_restrict(const mg_view_t *fine, int x, int f, const mg_view_t *coarse,
                                      int dst) {
  if (fine->op == MG_OPERATOR_FV4) return mg_cuda_fv4_residual_restrict(fine, x, f, coarse, dst);
  for (int q = 0; q < fine->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(fine, q);
    const mg_patch_t c = coarse->patch[q];
    const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], c.n[2], block_shape);
    const auto kernel = fine->varies ? residual_restrict<true> : residual_restrict<false>;
    kernel<<<grid, block_shape, 0, mg_cuda.stream>>>(l, x, f, c, dst);
    MG_CUDA_LAUNCHED("residual_restrict");
  }
  return MG_OK;
}
