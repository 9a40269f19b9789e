/* Products of a dense matrix, the inverse of A on the coarsest level, with a vector. A warp
 * computes a row: lane l adds the products of columns l, l + 32 and so on, in the order of
 * solver/direct.c. It loads the row before the preceding launch has completed. */
#include "cuda/coarse/levels.h"
#include "cuda/runtime/dependent_launch.h"
#include <cstdlib>

enum {
  WARPS = 4,                                                           /* of a block */
  MOST = (MG_DIRECT_MAX_CELLS + MG_MATRIX_LANES - 1) / MG_MATRIX_LANES /* values of a lane */
};

struct mg_matrix {
  double *value; /**< device */
  size_t bytes;
  int n, pitch;
};

/* Place of cell c in a vector of the patch, which has all cells. */
static __device__ __forceinline__ ptrdiff_t offset_of(const mg_patch_t &p, int c) {
  const int row = c / p.n[0], plane = row / p.n[1];
  return c - row * p.n[0] + (row - plane * p.n[1]) * p.jstride + plane * p.kstride;
}

static __global__ void __launch_bounds__(WARPS * 32)
    multiply(const MG_GRID_CONSTANT mg_patch_t p, const double *matrix, int n, int pitch,
             mg_vector_t dst, mg_vector_t src) {
  __shared__ double x[MOST * MG_MATRIX_LANES];
  const int lane = (int)threadIdx.x % 32, row = (int)(blockIdx.x * WARPS + threadIdx.x / 32);
  double a[MOST];
#pragma unroll
  for (int q = 0; q < MOST; q++)
    a[q] = row < n && q * 32 < pitch ? matrix[row * pitch + q * 32 + lane] : 0.0;
  mg_cuda_wait_dependency();
  for (int c = (int)threadIdx.x; c < MOST * MG_MATRIX_LANES; c += WARPS * 32)
    x[c] = c < n ? (double)p.vec[src][offset_of(p, c)] : 0.0;
  __syncthreads();
  double sum = 0.0;
#pragma unroll
  for (int q = 0; q < MOST; q++)
    sum += a[q] * x[q * 32 + lane];
#pragma unroll
  for (int half = 16; half > 0; half /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (lane == 0 && row < n) p.vec[dst][offset_of(p, row)] = (mg_real_t)sum;
}

static mg_status_t create(int n, int pitch, mg_matrix_t *m) {
  m->n = n;
  m->pitch = pitch;
  m->bytes = (size_t)n * (size_t)pitch * sizeof *m->value;
  if (pitch > MOST * MG_MATRIX_LANES)
    return mg_error(MG_ERR_INTERNAL, "a matrix of %d columns, limit %d", n,
                    (int)MG_DIRECT_MAX_CELLS);
  return mg_cuda_alloc(m->bytes, MG_SPACE_LEVEL, (void **)&m->value);
}

mg_status_t mg_matrix_set(const double *matrix, int n, int pitch, mg_matrix_t **out) {
  if (!*out) MG_TRY(mg_new(out, 1, "the inverse of the coarsest level"));
  mg_matrix_t *const m = *out;
  if (!m->value) MG_TRY(create(n, pitch, m));
  MG_TRY(mg_cuda_upload(m->value, matrix, m->bytes));
  return mg_cuda_finish(); /* the caller may change its matrix */
}

void mg_matrix_free(mg_matrix_t *m) {
  if (!m) return;
  mg_cuda_release(m->value, m->bytes, MG_SPACE_LEVEL);
  free(m);
}

mg_status_t mg_matrix_multiply(const mg_matrix_t *m, const mg_view_t *v, mg_vector_t dst,
                               mg_vector_t src) {
  return mg_cuda_launch_dependent("multiply", multiply, (m->n + WARPS - 1) / WARPS, WARPS * 32,
                                  v->patch[0], (const double *)m->value, m->n, m->pitch, dst, src);
}
