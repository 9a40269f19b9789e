/* Between a level of double cells and the float level of the same cells (--precision=mixed).
 *
 * Bytes per cell: lower 12, raise 20, residual 44. One thread per cell, in blocks of 32 x 8. */
#include "cuda/cells/stencil_load.h"
#include "cuda/reduction.h"
#include "formulas/precision.h"

/* Of the cells and the first layer of ghosts. */
static __global__ void __launch_bounds__(256)
    lower_kernel(mg_patch_t p, mg_vector_t src, mg_patch_t low, mg_vector_t dst, double scale) {
  const int n[3] = {p.n[0] + 2, p.n[1] + 2, p.n[2] + 2};
  MG_CUDA_CELL(i, j, k, n);
  *mg_float_cell(&low, dst, i - 1, j - 1, k - 1) =
      mg_lowered(*mg_cell(&p, src, i - 1, j - 1, k - 1), scale);
}

static mg_status_t lower(const mg_view_t *v, mg_vector_t src, const mg_view_t *low, mg_vector_t dst,
                         double scale) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int n[3] = {p.n[0] + 2, p.n[1] + 2, p.n[2] + 2};
    MG_TRY(mg_cuda_launch("lower", n, lower_kernel, p, src, low->patch[q], dst, scale));
  }
  return MG_OK;
}

static __global__ void __launch_bounds__(256)
    raise_kernel(mg_patch_t p, mg_vector_t dst, mg_patch_t low, mg_vector_t src, double scale,
                 bool add) {
  MG_CUDA_CELL(i, j, k, p.n);
  double *x = mg_cell(&p, dst, i, j, k);
  *x = mg_corrected(add ? *x : 0.0, *mg_float_cell(&low, src, i, j, k), scale);
}

static mg_status_t raise(const mg_view_t *v, mg_vector_t dst, const mg_view_t *low, mg_vector_t src,
                         double scale, bool add) {
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_launch("raise", v->patch[q].n, raise_kernel, v->patch[q], dst, low->patch[q],
                          src, scale, add));
  return MG_OK;
}

/* f - A x of a cell. */
template <int points>
static __device__ __forceinline__ double residual_at(const mg_cuda_patch_t *l, mg_vector_t x,
                                                     mg_vector_t f, bool clear, int i, int j,
                                                     int k) {
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  if (points == 7 && clear) {
    const mg_stencil_values_t near = mg_stencil_load(l, l->p.vec[x], f, at);
    return near.f - mg_row_apply(l, near.row, near.x);
  }
  const double ax = mg_apply<points>(l, l->p.vec[x], i, j, k);
  return l->p.vec[f][at] - ax;
}

/* `maximum`: raised to the largest |f - A x|; null: not needed. */
template <int points>
static __global__ void __launch_bounds__(MG_MAX_THREADS)
    residual_kernel(mg_cuda_patch_t l, mg_vector_t x, mg_vector_t f, mg_patch_t low,
                    mg_vector_t dst, double scale, unsigned long long *maximum) {
  const int first[3] = {(int)(blockIdx.x * 32), (int)(blockIdx.y * 8), (int)blockIdx.z};
  const int n[3] = {32, 8, 1};
  const int i = first[0] + (int)threadIdx.x, j = first[1] + (int)threadIdx.y, k = first[2];
  const unsigned long long known = maximum ? mg_max_known(maximum) : 0;
  unsigned long long bits = 0;
  if (i < l.p.n[0] && j < l.p.n[1]) {
    const bool clear = points == 7 && mg_clear_of_walls(l.p, first, n);
    const double r = residual_at<points>(&l, x, f, clear, i, j, k);
    *mg_float_cell(&low, dst, i, j, k) = mg_lowered(r, scale);
    bits = mg_max_bits(r);
  }
  if (maximum) mg_max_add(bits, known, maximum);
}

static mg_status_t residual(const mg_view_t *v, mg_vector_t x, mg_vector_t f, const mg_view_t *low,
                            mg_vector_t dst, double scale, double *norm) {
  const mg_operator_traits_t *t = mg_traits_of(v->op);
#define CHOOSE(n) t->points == n ? residual_kernel<n>:
  const auto kernel = MG_OTHER_STENCILS(CHOOSE) residual_kernel<7>;
  if (t->edges) MG_TRY(mg_cuda_fill_wall_ghosts(v, x, mg_operator_order(v)));
  if (norm) MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_launch("residual in mixed precision", v->patch[q].n, kernel, mg_cuda_patch(v, q),
                          x, f, low->patch[q], dst, scale, norm ? mg_cuda.reduction : nullptr));
  return norm ? mg_cuda_max_end(norm) : MG_OK;
}

const mg_backend_mixed_t mg_cuda_mixed = {.lower = lower,
                                          .raise = raise,
                                          .residual = residual,
                                          .guess_residual = mg_cuda_guess_residual,
                                          .guess_correct = mg_cuda_guess_correct,
                                          .guess_correct_residual = mg_cuda_guess_correct_residual};
const mg_backend_mixed_t mg_cuda_simple_mixed = {
    .lower = lower, .raise = raise, .residual = residual};
