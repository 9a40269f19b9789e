/* Ladder 5 on a CUDA device, part: the solver's maximum norm and dot product of a patch of n^3
 * cells. Ghosts are NaN and must not be read. The solver's kernels are in src/cuda/reduce.h.
 *
 * The maximum is taken over bit patterns, in which NaN exceeds every number. Variants differ in the
 * block reduction and the number of blocks. A dot product sums bricks of 8^3 cells in a fixed
 * order, and adds the brick sums exactly, as integers. All variants must be bit-identical to
 * src/base/sum.h. */
#include "cuda/reduce.h"
#include "lab/lab_cuda.h"
extern "C" {
#include "plan/plan.h"
}

namespace {
typedef unsigned long long bits_t;
enum { X, Y, BRICK = 8 };

struct patch_t {
  mg_patch_t p;
  mg_shape_t shape;
  lab_array_t memory, result;
  mg_sum_t expected; /* dot product, with normalized limbs */
  double bytes;      /* useful bytes per cell */
  bool dot;
};

/* Values whose sums are never exact in double precision; one of them is the largest. */
__host__ __device__ double value_of(int vec, int64_t cell, int64_t peak) {
  if (cell == peak) return -5000.0;
  return (lab_value(cell + 77 * vec) - 510.0) / 3.0;
}

__global__ void fill_cells(mg_patch_t p, int64_t peak) {
  MG_CUDA_CELL(i, j, k, p.n);
  const int64_t cell = i + (int64_t)p.n[0] * (j + (int64_t)p.n[1] * k);
  for (int vec = X; vec <= Y; vec++)
    *mg_cell(&p, vec, i, j, k) = value_of(vec, cell, peak);
}

/* ---- maxima ---- */

/** Naive maximum of a block: five shuffles, then one thread loops over the warps and reads the
 * current maximum before updating it. */
__device__ __forceinline__ void join_and_look(double value, bits_t *maximum) {
  __shared__ bits_t warp_max[8];
  const int t = (int)(threadIdx.y * 32 + threadIdx.x);
  bits_t bits = (bits_t)__double_as_longlong(value);
  for (int step = 16; step > 0; step /= 2)
    bits = max(bits, (bits_t)__shfl_xor_sync(0xffffffffu, bits, step));
  if (t % 32 == 0) warp_max[t / 32] = bits;
  __syncthreads();
  if (t != 0) return;
#pragma unroll 1
  for (int w = 1; w < 8; w++)
    bits = max(bits, warp_max[w]);
  if (bits > *(volatile bits_t *)maximum) atomicMax(maximum, bits);
}

/** One cell per thread. */
template <bool looks_early>
__global__ void __launch_bounds__(256) norm_of_cells(mg_patch_t p, int x, int y, bits_t *maximum) {
  (void)y;
  const bits_t known = looks_early ? mg_max_known(maximum) : 0;
  const int i = (int)(blockIdx.x * 32 + threadIdx.x), j = (int)(blockIdx.y * 8 + threadIdx.y);
  double r = 0.0;
  if (i < p.n[0] && j < p.n[1]) r = fabs(*mg_cell(&p, x, i, j, (int)blockIdx.z));
  if (looks_early)
    mg_max_add(mg_max_bits(r), known, maximum);
  else
    join_and_look(r, maximum);
}

/** The solver's loads, with its block reduction from before the search: the instruction within each
 *  warp, then again over the warps. */
__global__ void __launch_bounds__(256, MG_NORM_BLOCKS)
    norm_by_warps(mg_patch_t p, int x, int y, bits_t *maximum) {
  __shared__ bits_t warp_max[8];
  const bits_t known = mg_max_known(maximum);
  bits_t bits = mg_max_of_warp(mg_largest_of_thread<MG_NORM_ROWS, true, false>(p, x, y));
  if (threadIdx.x == 0) warp_max[threadIdx.y] = bits;
  __syncthreads();
  if (threadIdx.y > 0) return;
  bits = mg_max_of_warp(threadIdx.x < 8 ? warp_max[threadIdx.x] : 0);
  if (threadIdx.x == 0 && bits > known && bits > *(volatile bits_t *)maximum)
    atomicMax(maximum, bits);
}

/* ---- dot products ---- */

/** One lane's part of a brick: one or two columns of cells along j and k. */
template <int WIDTH>
__device__ __forceinline__ void lane_sums(const mg_patch_t &p, int64_t brick, int lane, double *s) {
  const int64_t ni = p.n[0] / BRICK, nj = p.n[1] / BRICK;
  const int64_t bi = brick % ni * BRICK, bj = brick / ni % nj * BRICK, bk = brick / ni / nj * BRICK;
  const double *a = mg_cell(&p, X, bi + lane * WIDTH, bj, bk),
               *b = mg_cell(&p, Y, bi + lane * WIDTH, bj, bk);
#pragma unroll 1
  for (int k = 0; k < BRICK; k++)
#pragma unroll
    for (int j = 0; j < BRICK; j++) {
      const ptrdiff_t at = j * p.jstride + k * p.kstride;
      if (WIDTH == 2) {
        const double2 v = *(const double2 *)(a + at), w = *(const double2 *)(b + at);
        s[0] = fma(v.x, w.x, s[0]);
        s[WIDTH - 1] = fma(v.y, w.y, s[WIDTH - 1]);
      } else {
        s[0] = fma(a[at], b[at], s[0]);
      }
    }
}

/** Add the lanes of a brick in order, by shuffles; lane 0 gets the sum. */
template <int WIDTH> __device__ __forceinline__ double in_order(const double *s) {
  double sum = s[0];
  if (WIDTH == 2) sum += s[1];
#pragma unroll
  for (int lane = 1; lane < BRICK / WIDTH; lane++)
#pragma unroll
    for (int w = 0; w < WIDTH; w++)
      sum += __shfl_down_sync(0xffffffffu, s[w], lane);
  return sum;
}

/** Blocks loop over the bricks and add their limbs at the end. */
template <int WIDTH>
__global__ void __launch_bounds__(256) dot_of_bricks(mg_patch_t p, bits_t *sum) {
  __shared__ bits_t digit[MG_SUM_LIMBS];
  constexpr int LANES = BRICK / WIDTH, PER_BLOCK = 256 / LANES;
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += 256)
    digit[d] = 0;
  __syncthreads();
  const int lane = (int)threadIdx.x % LANES;
  const int64_t bricks = (int64_t)(p.n[0] / BRICK) * (p.n[1] / BRICK) * (p.n[2] / BRICK);
  /* All threads must take part in the shuffles of the last iteration. */
  for (int64_t first = (int64_t)blockIdx.x * PER_BLOCK; first < bricks;
       first += (int64_t)gridDim.x * PER_BLOCK) {
    const int64_t brick = first + (int)threadIdx.x / LANES;
    double s[WIDTH] = {};
    if (brick < bricks) lane_sums<WIDTH>(p, brick, lane, s);
    const double all = in_order<WIDTH>(s);
    if (lane == 0 && brick < bricks) mg_sum_add_atomic(digit, all);
  }
  __syncthreads();
  for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += 256)
    if (digit[d]) atomicAdd(&sum[d], digit[d]);
}

/* ---- tables ---- */

/** The launch of a row; the maximum or the limbs are 0 before it. */
struct run_t {
  patch_t *w;
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

/* Count the positions of the largest value for which the result is wrong. */
mg_status_t check_places(run_t *r, double *error) {
  const patch_t *w = r->w;
  const int n = (int)w->p.n[0], places = lab_places(n);
  for (int q = 0; q < places; q++) {
    const double value = 6000.0 + places - q; /* values decrease, so a stale maximum is detected */
    double got, kept;
    int at[3];
    lab_place(q, n, at);
    double *cell = mg_cell(&w->p, X, at[0], at[1], at[2]);
    MG_CUDA_TRY(cudaMemcpy(&kept, cell, sizeof kept, cudaMemcpyDeviceToHost));
    MG_CUDA_TRY(cudaMemcpy(cell, &value, sizeof value, cudaMemcpyHostToDevice));
    MG_TRY(run_once(r, &got, sizeof got));
    MG_CUDA_TRY(cudaMemcpy(cell, &kept, sizeof kept, cudaMemcpyHostToDevice));
    if (got != value) *error += 1.0;
  }
  return MG_OK;
}

/* Check |peak|, the largest value at other positions, and NaN if a cell is NaN. */
mg_status_t check_norm(run_t *r, double *error) {
  patch_t *w = r->w;
  double *last = mg_cell(&w->p, X, w->p.n[0] - 1, w->p.n[1] - 1, w->p.n[2] - 1);
  double got, kept;
  const double nan = NAN;
  MG_TRY(run_once(r, &got, sizeof got));
  *error = got == 5000.0 ? 0.0 : 1.0;
  MG_TRY(check_places(r, error));
  MG_CUDA_TRY(cudaMemcpy(&kept, last, sizeof kept, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaMemcpy(last, &nan, sizeof nan, cudaMemcpyHostToDevice));
  MG_TRY(run_once(r, &got, sizeof got));
  MG_CUDA_TRY(cudaMemcpy(last, &kept, sizeof kept, cudaMemcpyHostToDevice));
  if (!std::isnan(got)) *error += 1.0;
  return MG_OK;
}

/* Count the limbs that differ from the host. */
mg_status_t check_dot(run_t *r, double *error) {
  mg_sum_t got;
  MG_TRY(run_once(r, &got, sizeof got));
  mg_sum_normalize(&got);
  *error = 0.0;
  for (int d = 0; d < MG_SUM_LIMBS; d++)
    *error += got.digit[d] != r->w->expected.digit[d];
  return MG_OK;
}

mg_status_t add(lab_t *lab, run_t *r, const char *name) {
  const patch_t *w = r->w;
  const lab_launch_t launch = {r->kernel, (int64_t)r->grid.x * r->grid.y * r->grid.z,
                               (int)(r->block.x * r->block.y), 0};
  lab_row_t row = {};
  MG_TRY(lab_cuda_describe(launch, &row));
  MG_TRY(lab_cuda_time(lab, enqueue, r, &row.seconds));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_TRY(w->dot ? check_dot(r, &row.error) : check_norm(r, &row.error));
  snprintf(row.variant, sizeof row.variant, "%s", name);
  row.elements = (int64_t)w->p.n[0] * w->p.n[1] * w->p.n[2];
  row.useful = w->bytes;
  row.flops = w->dot ? 2.0 : 1.0;
  return lab_add(lab, &row);
}

template <int rows, bool pairs> mg_status_t add_rows(lab_t *lab, patch_t *w, const char *name) {
  int x = X, y = -1;
  void *args[] = {&w->p, &x, &y, &w->result.at};
  run_t r = {w, (const void *)mg_max_norm_kernel<rows, pairs, false>,
             mg_max_norm_grid(w->p, pairs, lab_card().processors), dim3(32, 8), args};
  return add(lab, &r, name);
}

mg_status_t norms(lab_t *lab, patch_t *w) {
  lab_table(lab, "reduce", "the solver's maximum norm, %d^3 cells", (int)w->p.n[0]);
  w->bytes = 8.0;
  w->dot = false;
  int x = X, y = -1;
  void *args[] = {&w->p, &x, &y, &w->result.at};
  const dim3 block(32, 8), grid = mg_cuda_grid(w->p.n[0], w->p.n[1], w->p.n[2], block);
  run_t late = {w, (const void *)norm_of_cells<false>, grid, block, args},
        early = {w, (const void *)norm_of_cells<true>, grid, block, args};
  MG_TRY(add(lab, &late, "a cell a thread, shuffles"));
  MG_TRY(add(lab, &early, "the same, the solver's join"));
  MG_TRY((add_rows<1, false>(lab, w, "blocks that fit")));
  MG_TRY((add_rows<MG_NORM_ROWS, false>(lab, w, "four rows loaded first")));
  MG_TRY((add_rows<1, true>(lab, w, "16-byte loads")));
  MG_TRY((add_rows<2, true>(lab, w, "16 bytes, two rows first")));
  MG_TRY((add_rows<MG_NORM_ROWS, true>(lab, w, "16 bytes, four: the solver")));
  run_t warps = {w, (const void *)norm_by_warps,
                 mg_max_norm_grid(w->p, true, lab_card().processors), dim3(32, 8), args};
  MG_TRY(add(lab, &warps, "the same, joined by warps"));
  return add_rows<8, true>(lab, w, "16 bytes, eight rows first");
}

template <int WIDTH> mg_status_t add_bricks(lab_t *lab, patch_t *w, bool fit, const char *name) {
  constexpr int PER_BLOCK = 256 / (BRICK / WIDTH);
  const lab_launch_t launch = {(const void *)dot_of_bricks<WIDTH>, 1, 256, 0};
  int resident;
  MG_TRY(lab_cuda_resident(launch, &resident));
  const int64_t bricks = (int64_t)(w->p.n[0] / BRICK) * (w->p.n[1] / BRICK) * (w->p.n[2] / BRICK),
                wanted = (bricks + PER_BLOCK - 1) / PER_BLOCK,
                full = (int64_t)resident * lab_card().processors;
  void *args[] = {&w->p, &w->result.at};
  run_t r = {w, launch.kernel, dim3((unsigned)(fit && full < wanted ? full : wanted)), dim3(256),
             args};
  return add(lab, &r, name);
}

template <int planes> mg_status_t add_planes(lab_t *lab, patch_t *w, int threads) {
  static const char *const first[] = {"cells in turn", "a plane first", "two planes first"};
  int x = X, y = Y, u = BRICK;
  void *args[] = {&w->p, &x, &y, &u, &w->result.at};
  const int64_t lanes = (int64_t)w->p.n[0] * w->p.n[1] * w->p.n[2] / (BRICK * BRICK);
  const bool chosen =
      planes == MG_DOT_PLANES && threads == mg_dot_threads(lanes, lab_card().processors);
  run_t run = {w, (const void *)mg_dot_kernel<true, planes>,
               dim3((unsigned)((lanes + threads - 1) / threads)), dim3((unsigned)threads), args};
  char name[64];
  snprintf(name, sizeof name, "%d threads, %s%s", threads, first[planes],
           chosen ? ": the solver" : "");
  return add(lab, &run, name);
}

mg_status_t dot_rows(lab_t *lab, patch_t *w) {
  lab_table(lab, "reduce", "the solver's dot product, %d^3 cells", (int)w->p.n[0]);
  w->bytes = 16.0;
  w->dot = true;
  MG_TRY(add_planes<0>(lab, w, 256));
  for (int threads = 256; threads >= 32; threads /= 2)
    MG_TRY(add_planes<1>(lab, w, threads));
  MG_TRY(add_planes<2>(lab, w, 256));
  MG_TRY(add_planes<2>(lab, w, 32));
  MG_TRY(add_bricks<1>(lab, w, false, "256 threads, as the compiler likes"));
  MG_TRY(add_bricks<1>(lab, w, true, "the same, blocks that fit"));
  MG_TRY(add_bricks<2>(lab, w, false, "16-byte loads"));
  return add_bricks<2>(lab, w, true, "the same, blocks that fit");
}

mg_status_t dots(lab_t *lab, patch_t *w) {
  lab->name_width = 38;
  const mg_status_t status = dot_rows(lab, w);
  lab->name_width = 0;
  return status;
}

/* The dot product computed on the host by src/base/sum.h. */
void expect_dot(patch_t *w, int64_t peak) {
  const int64_t n = w->p.n[0];
  w->expected = {};
  for (int64_t bk = 0; bk < n; bk += BRICK)
    for (int64_t bj = 0; bj < n; bj += BRICK)
      for (int64_t bi = 0; bi < n; bi += BRICK) {
        double s[BRICK] = {};
        for (int64_t k = bk; k < bk + BRICK; k++)
          for (int64_t j = bj; j < bj + BRICK; j++)
            for (int i = 0; i < BRICK; i++) {
              const int64_t cell = bi + i + n * (j + n * k);
              s[i] = fma(value_of(X, cell, peak), value_of(Y, cell, peak), s[i]);
            }
        for (int i = 1; i < BRICK; i++)
          s[0] += s[i];
        mg_sum_add(&w->expected, s[0]);
      }
  mg_sum_normalize(&w->expected);
}

mg_status_t tables(lab_t *lab, int n) {
  patch_t w = {};
  for (int d = 0; d < 3; d++)
    w.p.n[d] = n;
  w.shape = mg_shape(w.p.n, 1);
  w.p.jstride = w.shape.jstride;
  w.p.kstride = w.shape.kstride;
  MG_TRY(w.memory.make(2 * w.shape.size));
  MG_TRY(w.result.make(sizeof(mg_sum_t) / sizeof(double)));
  w.p.vec[X] = w.memory.at + w.shape.origin;
  w.p.vec[Y] = w.p.vec[X] + w.shape.size;
  /* All bits set: NaN. */
  MG_CUDA_TRY(cudaMemset(w.memory.at, 0xff, (size_t)(2 * w.shape.size) * sizeof(double)));
  const int64_t peak = n - 2 + (int64_t)n * (n - 3 + (int64_t)n * (n / 2));
  const dim3 block(32, 8);
  fill_cells<<<mg_cuda_grid(n, n, n, block), block>>>(w.p, peak);
  MG_CUDA_LAUNCHED("fill_cells");
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_TRY(norms(lab, &w));
  expect_dot(&w, peak);
  return dots(lab, &w);
}
} // namespace

mg_status_t lab_reduce_solver(lab_t *lab) {
  const int small = 64;
  int n = small;
  /* As in the roofline ladder: vectors of at most twice an array. */
  while (8ll * (2 * n) * (2 * n) * (2 * n) <= 2 * lab->bytes && n < 512)
    n *= 2;
  MG_TRY(tables(lab, n));
  return n > small ? tables(lab, small) : MG_OK;
}
