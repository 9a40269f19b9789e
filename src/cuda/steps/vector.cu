/* Cell-wise vector operations. Bytes per cell: 8 (fill) to 24. */
#include "cuda/cuda.h"

struct vector_job_t {
  mg_combination_t operation;
  mg_vector_t dst, x, y; /* y < 0: no second operand */
  double alpha, beta;
  const double *shift; /* on the device: alpha of SHIFT, beta of AXPBY; or NULL */
};

/* Cells per thread along k. All are loaded before one is stored, so that each thread has several
 * loads in flight. One H200, one, two, four and eight planes, in us:
 *   512^3: a x + b y 803, 748, 754, 767; x + a and a x 585, 517, 523, 535
 *   128^3: a x + b y 15.2, 14.0, 13.9, 14.4; x + a and a x 8.9, 8.0, 7.6, 7.4 */
enum { PLANES = 2 };

static __global__ void __launch_bounds__(256) combine(mg_patch_t p, vector_job_t job) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z * PLANES;
  if (i >= p.n[0] || j >= p.n[1]) return;
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  const bool two = job.y >= 0;
  mg_real_t x[PLANES], y[PLANES];
  const double alpha = job.shift && !two ? *job.shift : job.alpha,
               beta = job.shift && two ? *job.shift : job.beta;
#pragma unroll
  for (int q = 0; q < PLANES; q++) {
    const bool inside = k + q < p.n[2];
    x[q] = inside ? p.vec[job.x][at + q * p.kstride] : MG_REAL(0.0);
    y[q] = two && inside ? p.vec[job.y][at + q * p.kstride] : MG_REAL(0.0);
  }
#pragma unroll
  for (int q = 0; q < PLANES; q++) {
    mg_real_t value;
    if (job.operation == MG_SHIFT)
      value = x[q] + MG_REAL(alpha);
    else if (job.operation == MG_MULTIPLY)
      value = x[q] * y[q];
    else
      value = two ? mg_fma(MG_REAL(alpha), x[q], MG_REAL(beta) * y[q]) : MG_REAL(alpha) * x[q];
    if (k + q < p.n[2]) p.vec[job.dst][at + q * p.kstride] = value;
  }
}

static mg_status_t run(const mg_view_t *v, const vector_job_t &job) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int n[3] = {p.n[0], p.n[1], (p.n[2] + PLANES - 1) / PLANES};
    MG_TRY(mg_cuda_launch("vector operation", n, combine, p, job));
  }
  return MG_OK;
}

mg_status_t mg_cuda_combine(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                            mg_vector_t x, double beta, mg_vector_t y) {
  return run(v, {c, dst, x, c == MG_SHIFT ? MG_NO_VECTOR : y, alpha, beta, nullptr});
}

mg_status_t mg_cuda_add_times(const mg_view_t *v, mg_vector_t x, const double *value,
                              mg_vector_t scale) {
  if (scale < 0) return run(v, {MG_SHIFT, x, x, MG_NO_VECTOR, 0.0, 0.0, value});
  return run(v, {MG_AXPBY, x, x, scale, 1.0, 0.0, value});
}

/* Cells per thread of fill. With one, two, four and eight: 332, 285, 283 and 281 us at 512^3. */
enum { FILL_CELLS = 4 };

/* Also fills ghosts: all from the first to the last ghost of the patch, including padding. */
static __global__ void __launch_bounds__(256) fill(mg_real_t *x, int64_t n, mg_real_t value) {
  const int64_t first = (int64_t)blockIdx.x * (256 * FILL_CELLS) + threadIdx.x;
#pragma unroll
  for (int q = 0; q < FILL_CELLS; q++)
    if (first + q * 256 < n) x[first + q * 256] = value;
}

mg_status_t mg_cuda_fill(const mg_view_t *v, mg_vector_t dst, double value) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int g = v->ghost_layers;
    mg_real_t *first = mg_cell(&p, dst, -g, -g, -g);
    const int64_t n = mg_cell(&p, dst, p.n[0] - 1 + g, p.n[1] - 1 + g, p.n[2] - 1 + g) - first + 1;
    const int64_t per = 256 * FILL_CELLS;
    fill<<<(unsigned)((n + per - 1) / per), 256, 0, mg_cuda.stream>>>(first, n, MG_REAL(value));
    MG_CUDA_LAUNCHED("fill");
  }
  return MG_OK;
}
