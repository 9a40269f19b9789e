/* Vector operations, cell by cell. Bytes per cell: 8 (fill) to 24. One thread a cell. */
#include "cuda.h"

static const dim3 block_shape(32, 8, 1);

enum vector_operation_t { FILL, SHIFT, AXPBY, MULTIPLY };

struct vector_job_t {
  vector_operation_t operation;
  int dst, x, y; /* y < 0 for none */
  double alpha, beta;
};

static __global__ void __launch_bounds__(256) combine(mg_patch_t p, vector_job_t job) {
  MG_CUDA_CELL(i, j, k, p.n);
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  const double x = p.vec[job.x][at], y = job.y < 0 ? 0.0 : p.vec[job.y][at];
  double value;
  if (job.operation == SHIFT)
    value = x + job.alpha;
  else if (job.operation == MULTIPLY)
    value = x * y;
  else
    value = job.y < 0 ? job.alpha * x : fma(job.alpha, x, job.beta * y);
  p.vec[job.dst][at] = value;
}

static mg_status_t run(const mg_view_t *v, const vector_job_t &job) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const dim3 grid = mg_cuda_grid(p.n[0], p.n[1], p.n[2], block_shape);
    combine<<<grid, block_shape, 0, mg_cuda.stream>>>(p, job);
    MG_CUDA_LAUNCHED("vector operation");
  }
  return MG_OK;
}

mg_status_t mg_cuda_shift(const mg_view_t *v, int dst, int x, double value) {
  return run(v, {SHIFT, dst, x, -1, value, 0.0});
}

mg_status_t mg_cuda_axpby(const mg_view_t *v, int dst, double alpha, int x, double beta, int y) {
  return run(v, {AXPBY, dst, x, y, alpha, beta});
}

mg_status_t mg_cuda_multiply(const mg_view_t *v, int dst, int x, int y) {
  return run(v, {MULTIPLY, dst, x, y, 0.0, 0.0});
}

/* Ghosts too: everything between the first and the last ghost of the patch, padding included. */
static __global__ void __launch_bounds__(256) fill(double *x, int64_t n, double value) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t c = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; c < n; c += stride)
    x[c] = value;
}

mg_status_t mg_cuda_fill(const mg_view_t *v, int dst, double value) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int g = v->layers;
    double *first = mg_cell(&p, dst, -g, -g, -g);
    const int64_t n = mg_cell(&p, dst, p.n[0] - 1 + g, p.n[1] - 1 + g, p.n[2] - 1 + g) - first + 1;
    const int64_t blocks = (n + 255) / 256, most = 65536;
    fill<<<(unsigned)(blocks < most ? blocks : most), 256, 0, mg_cuda.stream>>>(first, n, value);
    MG_CUDA_LAUNCHED("fill");
  }
  return MG_OK;
}
