/* Ladder 5 on a CUDA device, part: the solver's maximum norm and dot product of a patch of n^3
 * cells. Ghosts are NaN and must not be read. The solver's kernels are in src/cuda/steps/reduce.h.
 *
 * The maximum is taken over bit patterns, in which NaN exceeds every number. A dot product sums
 * bricks of 8^3 cells in a fixed order, and adds the brick sums exactly, as integers; or, as on
 * grids of any size, single cells. All variants must be bit-identical to src/base/sum.h. */
#include "cuda/steps/reduce.h"
#include "lab/search_cuda.h"

namespace {
typedef unsigned long long bits_t;
enum { X, Y, BRICK = 8 };

struct work_t {
  search_patch_t patch; /* vectors X and Y */
  lab_array_t result;
  mg_sum_t of_bricks, of_cells; /* dot products, with normalized limbs */
  const mg_sum_t *expected;     /* one of them */
  bool dot;
};

/* One cell per thread, with the solver's block reduction. */
__global__ void __launch_bounds__(256) norm_of_cells(mg_patch_t p, int x, int, bits_t *maximum) {
  const bits_t known = mg_max_known(maximum);
  const int i = (int)(blockIdx.x * 32 + threadIdx.x), j = (int)(blockIdx.y * 8 + threadIdx.y);
  double r = 0.0;
  if (i < p.n[0] && j < p.n[1]) r = fabs(*mg_cell(&p, x, i, j, (int)blockIdx.z));
  mg_max_add(mg_max_bits(r), known, maximum);
}

/** The launch of a row; the maximum or the limbs are 0 before it. */
struct run_t {
  work_t *w;
  const void *kernel;
  dim3 grid, block;
  void **args;
};

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  const run_t *r = (const run_t *)arg;
  MG_CUDA_TRY(cudaMemsetAsync(r->w->result.at, 0, sizeof(mg_sum_t), stream));
  MG_CUDA_TRY(cudaLaunchKernel(r->kernel, r->grid, r->block, r->args, 0, stream));
  return MG_OK;
}

mg_status_t run_once(run_t *r, void *result, size_t bytes) {
  MG_TRY(enqueue(r, nullptr));
  MG_CUDA_TRY(cudaMemcpy(result, r->w->result.at, bytes, cudaMemcpyDeviceToHost));
  return MG_OK;
}

/* Count the places at which a cell larger than all others, or NaN, is not found. */
mg_status_t check_norm(run_t *r, double *error) {
  search_patch_t *w = &r->w->patch;
  const int64_t n = w->p.n[0];
  const int places = lab_places((int)n);
  for (int q = 0; q <= places; q++) {
    /* Values decrease, so a stale maximum is detected. The last one is NaN. */
    const double value = q == places ? NAN : 6000.0 + places - q;
    double got;
    int at[3] = {(int)n - 1, (int)n - 1, (int)n - 1};
    if (q < places) lab_place(q, (int)n, at);
    const int64_t cell = at[0] + n * (at[1] + n * at[2]);
    MG_TRY(w->set(cell, value));
    MG_TRY(run_once(r, &got, sizeof got));
    MG_TRY(w->set(cell, search_cell_value(X, cell)));
    *error += std::isnan(value) ? !std::isnan(got) : got != value;
  }
  return MG_OK;
}

/* Count the limbs that differ from the host. */
mg_status_t check_dot(run_t *r, double *error) {
  mg_sum_t got;
  MG_TRY(run_once(r, &got, sizeof got));
  mg_sum_normalize(&got);
  for (int d = 0; d < MG_SUM_LIMBS; d++)
    *error += got.digit[d] != r->w->expected->digit[d];
  return MG_OK;
}

mg_status_t add(lab_t *lab, run_t *r, const char *name) {
  const work_t *w = r->w;
  const lab_launch_t launch = {r->kernel, (int64_t)r->grid.x * r->grid.y * r->grid.z,
                               (int)(r->block.x * r->block.y), 0};
  lab_row_t row = {};
  MG_TRY(lab_cuda_describe(launch, &row));
  MG_TRY(lab_cuda_time(lab, enqueue, r, &row.seconds));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_TRY(w->dot ? check_dot(r, &row.error) : check_norm(r, &row.error));
  row.elements = w->patch.cells();
  row.useful = w->dot ? 16.0 : 8.0;
  row.flops = w->dot ? 2.0 : 1.0;
  return lab_add(lab, &row, "%s", name);
}

template <int rows, bool pairs> mg_status_t add_rows(lab_t *lab, work_t *w, const char *name) {
  int x = X, y = -1;
  void *args[] = {&w->patch.p, &x, &y, &w->result.at};
  run_t r = {w, (const void *)mg_max_norm_kernel<rows, pairs>,
             mg_max_norm_grid(w->patch.p, pairs, lab_card().processors), dim3(32, 8), args};
  return add(lab, &r, name);
}

mg_status_t norms(lab_t *lab, work_t *w) {
  const int n = w->patch.p.n[0];
  lab_table(lab, "reduce", "the solver's maximum norm, %d^3 cells", n);
  int x = X, y = -1;
  void *args[] = {&w->patch.p, &x, &y, &w->result.at};
  const dim3 block(32, 8);
  run_t cells = {w, (const void *)norm_of_cells, mg_cuda_grid(n, n, n, block), block, args};
  w->dot = false;
  MG_TRY(add(lab, &cells, "one cell per thread"));
  MG_TRY((add_rows<1, false>(lab, w, "resident blocks only")));
  MG_TRY((add_rows<MG_NORM_ROWS, false>(lab, w, "loads of four rows first")));
  MG_TRY((add_rows<1, true>(lab, w, "16-byte loads")));
  MG_TRY((add_rows<2, true>(lab, w, "16-byte loads of two rows")));
  MG_TRY((add_rows<MG_NORM_ROWS, true>(lab, w, "of four rows: the solver")));
  return add_rows<8, true>(lab, w, "of eight rows");
}

template <int planes> mg_status_t add_planes(lab_t *lab, work_t *w, int threads) {
  int x = X, y = Y;
  void *args[] = {&w->patch.p, &x, &y, &w->result.at};
  const int64_t lanes = w->patch.cells() / (BRICK * BRICK);
  const bool chosen =
      planes == MG_DOT_PLANES && threads == mg_dot_threads(lanes, lab_card().processors);
  run_t run = {w, (const void *)mg_dot_kernel<planes>,
               dim3((unsigned)((lanes + threads - 1) / threads)), dim3((unsigned)threads), args};
  char name[64];
  snprintf(name, sizeof name, "%d threads, %s first%s", threads,
           planes == 1 ? "one plane" : "two planes", chosen ? ": the solver" : "");
  return add(lab, &run, name);
}

template <int rows> mg_status_t add_cells(lab_t *lab, work_t *w, const char *name) {
  int x = X, y = Y;
  void *args[] = {&w->patch.p, &x, &y, &w->result.at};
  run_t run = {w, (const void *)mg_sum_cells_kernel<rows>,
               mg_sum_cells_grid(w->patch.p, rows, lab_card().processors), dim3(32, 8), args};
  return add(lab, &run, name);
}

mg_status_t dots(lab_t *lab, work_t *w) {
  lab_table(lab, "reduce", "the solver's dot product, %d^3 cells", (int)w->patch.p.n[0]);
  w->dot = true;
  w->expected = &w->of_cells;
  MG_TRY(add_cells<MG_SUM_ROWS / 2>(lab, w, "single cells, four rows first"));
  MG_TRY(add_cells<MG_SUM_ROWS>(lab, w, "single cells, eight rows: the solver"));
  w->expected = &w->of_bricks;
  for (int threads = 256; threads >= 32; threads /= 2)
    MG_TRY(add_planes<1>(lab, w, threads));
  MG_TRY(add_planes<2>(lab, w, 256));
  return add_planes<2>(lab, w, 32);
}

/* The dot products computed on the host by src/base/sum.h. */
void expect_dots(work_t *w) {
  const int64_t n = w->patch.p.n[0];
  w->of_bricks = w->of_cells = {};
  for (int64_t bk = 0; bk < n; bk += BRICK)
    for (int64_t bj = 0; bj < n; bj += BRICK)
      for (int64_t bi = 0; bi < n; bi += BRICK) {
        double s[BRICK] = {};
        for (int64_t k = bk; k < bk + BRICK; k++)
          for (int64_t j = bj; j < bj + BRICK; j++)
            for (int i = 0; i < BRICK; i++) {
              const int64_t cell = bi + i + n * (j + n * k);
              const double x = search_cell_value(X, cell), y = search_cell_value(Y, cell);
              s[i] = fma(x, y, s[i]);
              mg_sum_add(&w->of_cells, x * y);
            }
        for (int i = 1; i < BRICK; i++)
          s[0] += s[i];
        mg_sum_add(&w->of_bricks, s[0]);
      }
  mg_sum_normalize(&w->of_bricks);
  mg_sum_normalize(&w->of_cells);
}

mg_status_t tables(lab_t *lab, int n) {
  work_t w = {};
  MG_TRY(w.patch.make(n, n, n, 2));
  MG_TRY(w.result.make(sizeof(mg_sum_t) / sizeof(double)));
  expect_dots(&w);
  lab->name_width = 38;
  mg_status_t status = norms(lab, &w);
  if (status == MG_OK) status = dots(lab, &w);
  lab->name_width = 0;
  return status;
}
} // namespace

mg_status_t lab_reduce_solver(lab_t *lab) {
  const int n = search_patch_cells(lab), small = 64;
  MG_TRY(tables(lab, n));
  return n > small ? tables(lab, small) : MG_OK;
}
