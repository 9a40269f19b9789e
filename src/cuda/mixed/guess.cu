/* Mixed precision: the guess of an F-cycle is interpolated where it is read, and not stored.
 *
 * Bytes per cell: residual to float 37 (f, three betas, an eighth of a coarse cell read; a float
 * written); correction with residual norm 45 (a float read, u written), also with the residual to
 * float 49; correction alone 13. A block of 32 x 8 threads interpolates a tile of eight planes and
 * its face neighbors to shared memory, one thread per coarse cell. Then each thread computes the
 * residuals of a column, two planes at a time. */
#include "cuda/cells/interpolate.h"
#include "cuda/cells/stencil_load.h"
#include "cuda/reduction.h"
#include "formulas/precision.h"
#include <algorithm>

namespace {
enum {
  WIDTH = 32,
  ROWS = 8,
  PLANES = 8,
  THREADS = WIDTH * ROWS,
  BLOCKS = 4, /* per SM */
  GROUP = 16, /* tiles along j that are processed plane by plane: their planes stay in L2 */
  LEFT = 2,   /* columns before the first cell, so that pairs of cells are 16-byte aligned */
  TI = WIDTH + 2 * LEFT,
  TJ = ROWS + 2,
  TK = PLANES + 2,
  /* coarse cells */
  CI = WIDTH / 2 + 2,
  CJ = ROWS / 2 + 2,
  CK = PLANES / 2 + 2
};
static_assert(THREADS == (int)MG_MAX_THREADS, "mg_max_add");

typedef double tile_t[TK][TJ][TI];

struct job_t {
  mg_cuda_patch_t l;
  mg_patch_t coarse, low;
  mg_vector_t src, e, dst, f, r; /* r < 0: only the norm of the residual is needed */
  double scale, r_scale;         /* of e and r */
  int order;                     /* as in mg_with_neighbors */
  int tiles;                     /* along i */
  unsigned long long *maximum;
};

/* Interpolate to the children of coarse cell `at`: pairs along i, as [k][j]. */
template <mg_interpolation_t kind>
__device__ __forceinline__ void interpolate_cell(const job_t &job, const int at[3],
                                                 double2 child[2][2]) {
  mg_with_neighbors(job.coarse, job.src, job.order, at[0], at[1], at[2],
                    [&](const auto &value) { mg_interpolate_pairs<kind, 2>(value, 0, child); });
}

/* x of the pair of cells that begins at (i, j, k). */
__device__ __forceinline__ double2 correct_pair(const job_t &job, double2 guess, int i, int j,
                                                int k) {
  const float2 e = *(const float2 *)mg_float_cell(&job.low, job.e, i, j, k);
  return make_double2(mg_corrected(guess.x, e.x, job.scale), mg_corrected(guess.y, e.y, job.scale));
}

/* Fill the tile whose first cell is `first`. Edges, and cells outside walls, remain undefined. */
template <mg_interpolation_t kind, bool corrects>
__device__ __forceinline__ void fill_tile(const job_t &job, const int first[3], tile_t tile) {
  const mg_patch_t &c = job.coarse;
  for (int n = (int)(threadIdx.x + WIDTH * threadIdx.y); n < CI * CJ * CK; n += THREADS) {
    const int a[3] = {n % CI, n / CI % CJ, n / (CI * CJ)}, size[3] = {CI, CJ, CK};
    int at[3], rims = 0;
    bool inside = true;
#pragma unroll
    for (int d = 0; d < 3; d++) {
      at[d] = first[d] / 2 + a[d] - 1;
      rims += a[d] == 0 || a[d] == size[d] - 1;
      inside = inside && at[d] >= 0 && at[d] < c.n[d];
    }
    if (!inside || rims > 1) continue;
    double2 child[2][2];
    interpolate_cell<kind>(job, at, child);
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
      for (int t = 0; t < 2; t++) {
        const int j = 2 * a[1] - 1 + t, k = 2 * a[2] - 1 + s;
        if (j < 0 || j >= TJ || k < 0 || k >= TK) continue;
        if (corrects)
          child[s][t] = correct_pair(job, child[s][t], 2 * at[0], 2 * at[1] + t, 2 * at[2] + s);
        *(double2 *)&tile[k][j][2 * a[0]] = child[s][t];
      }
  }
}

/* Values of a stencil in the tile. `clear`: no cell of the block is at a wall. */
template <bool clear>
__device__ __forceinline__ mg_values7_t values_of(const mg_cuda_patch_t *l, const double *x, int i,
                                                  int j, int k) {
  const int stride[3] = {1, TI, TI * TJ};
  if (!clear) return mg_values7<false>(l, mg_places7(l, stride, i, j, k), x);
  mg_values7_t v;
  v.c = *x;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    v.low[d] = x[-stride[d]];
    v.high[d] = x[stride[d]];
  }
  return v;
}

/* Residuals of a thread's column of `end` cells.
 * @return the largest one as bits */
template <bool corrects, bool clear>
__device__ __forceinline__ unsigned long long use_tile(const job_t &job, const int first[3],
                                                       const tile_t tile, int end) {
  const mg_cuda_patch_t *const l = &job.l;
  const int i = first[0] + (int)threadIdx.x, j = first[1] + (int)threadIdx.y;
  unsigned long long largest = 0;
#pragma unroll 1
  for (int q = 0; q < end; q += 2) {
    const double *const x = &tile[q + 1][threadIdx.y + 1][threadIdx.x + LEFT];
    mg_row_t row[2];
    double f[2], r[2];
#pragma unroll
    for (int s = 0; s < 2; s++) {
      row[s] = mg_row(l, i, j, first[2] + q + s);
      f[s] = __ldcs(mg_cell(&l->p, job.f, i, j, first[2] + q + s));
    }
#pragma unroll
    for (int s = 0; s < 2; s++)
      r[s] = f[s] -
             mg_row_apply(l, row[s], values_of<clear>(l, x + s * TI * TJ, i, j, first[2] + q + s));
#pragma unroll
    for (int s = 0; s < 2; s++) {
      const int k = first[2] + q + s;
      if (corrects) *mg_cell(&l->p, job.dst, i, j, k) = x[s * TI * TJ];
      if (corrects) largest = max(largest, mg_max_bits(r[s]));
      if (!corrects || job.r >= 0)
        *mg_float_cell(&job.low, job.r, i, j, k) = mg_lowered(r[s], job.r_scale);
    }
  }
  return largest;
}

/* Residuals of x = P src, or with `corrects` of x = P src + scale e, which is stored. */
template <mg_interpolation_t kind, bool corrects>
__global__ void __launch_bounds__(THREADS, BLOCKS) residual(const MG_GRID_CONSTANT job_t job) {
  __shared__ __align__(16) tile_t tile;
  const int *const n = job.l.p.n, size[3] = {WIDTH, ROWS, PLANES};
  const int row = (int)blockIdx.x / job.tiles + (int)blockIdx.z * GROUP;
  const int first[3] = {(int)blockIdx.x % job.tiles * WIDTH, row * ROWS, (int)blockIdx.y * PLANES};
  const unsigned long long known = corrects ? mg_max_known(job.maximum) : 0;
  fill_tile<kind, corrects>(job, first, tile);
  __syncthreads();
  unsigned long long largest = 0;
  if (mg_clear_of_walls(job.l.p, first, size))
    largest = use_tile<corrects, true>(job, first, tile, PLANES);
  else if (first[0] + (int)threadIdx.x < n[0] && first[1] + (int)threadIdx.y < n[1])
    largest = use_tile<corrects, false>(job, first, tile, min((int)PLANES, n[2] - first[2]));
  if (corrects) mg_max_add(largest, known, job.maximum);
}

/* dst = P src + scale e: one thread per coarse cell. */
template <mg_interpolation_t kind>
__global__ void __launch_bounds__(128) correct(const MG_GRID_CONSTANT job_t job) {
  MG_CUDA_CELL(i, j, k, job.coarse.n);
  const int at[3] = {i, j, k};
  double2 child[2][2];
  interpolate_cell<kind>(job, at, child);
#pragma unroll
  for (int s = 0; s < 2; s++)
#pragma unroll
    for (int t = 0; t < 2; t++)
      child[s][t] = correct_pair(job, child[s][t], 2 * i, 2 * j + t, 2 * k + s);
#pragma unroll
  for (int s = 0; s < 2; s++)
#pragma unroll
    for (int t = 0; t < 2; t++)
      *(double2 *)mg_cell(&job.l.p, job.dst, 2 * i, 2 * j + t, 2 * k + s) = child[s][t];
}

template <mg_interpolation_t kind> void launch_correct(job_t &job) {
  const dim3 block(32, 4, 1);
  const int *n = job.coarse.n;
  correct<kind><<<mg_cuda_grid(n[0], n[1], n[2], block), block, 0, mg_cuda.stream>>>(job);
}

/* Blocks follow each other along i, along j within a group, along k, and from group to group. */
template <mg_interpolation_t kind, bool corrects> void launch_residual(job_t &job) {
  const dim3 tiles =
      mg_cuda_grid(job.l.p.n[0], job.l.p.n[1], job.l.p.n[2], dim3(WIDTH, ROWS, PLANES));
  const unsigned rows = std::min(tiles.y, (unsigned)GROUP);
  job.tiles = (int)tiles.x;
  residual<kind, corrects><<<dim3(tiles.x * rows, tiles.z, (tiles.y + rows - 1) / rows),
                             dim3(WIDTH, ROWS), 0, mg_cuda.stream>>>(job);
}

job_t job_of(const mg_view_t *v, const mg_guess_t *guess, const mg_view_t *low) {
  job_t job = {};
  job.l = mg_cuda_patch(v, 0);
  job.coarse = guess->coarse->patch[0];
  job.low = low->patch[0];
  job.src = guess->src;
  if (mg_cuda_folds_walls(guess->coarse, guess->kind))
    job.order = mg_wall_orders(guess->coarse, guess->kind == MG_INTERPOLATE_V2 ? 2 : 1).along[0];
  job.maximum = mg_cuda.smooth_norm;
  return job;
}
} // namespace

static mg_status_t launch(const mg_guess_t *guess, void (*v2)(job_t &), void (*p1)(job_t &),
                          job_t job) {
  (guess->kind == MG_INTERPOLATE_V2 ? v2 : p1)(job);
  MG_CUDA_LAUNCHED("guess");
  return MG_OK;
}

mg_status_t mg_cuda_guess_residual(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                   const mg_view_t *low, mg_vector_t dst, double scale) {
  job_t job = job_of(v, guess, low);
  job.f = f;
  job.r = dst;
  job.r_scale = scale;
  return launch(guess, launch_residual<MG_INTERPOLATE_V2, false>,
                launch_residual<MG_INTERPOLATE_P1, false>, job);
}

mg_status_t mg_cuda_guess_correct(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                                  const mg_view_t *low, mg_vector_t e, double scale) {
  job_t job = job_of(v, guess, low);
  job.dst = dst;
  job.e = e;
  job.scale = scale;
  return launch(guess, launch_correct<MG_INTERPOLATE_V2>, launch_correct<MG_INTERPOLATE_P1>, job);
}

mg_status_t mg_cuda_guess_correct_residual(const mg_view_t *v, mg_vector_t dst,
                                           const mg_guess_t *guess, const mg_view_t *low,
                                           mg_vector_t e, double scale, mg_vector_t f,
                                           mg_vector_t r, double r_scale) {
  job_t job = job_of(v, guess, low);
  job.dst = dst;
  job.e = e;
  job.scale = scale;
  job.f = f;
  job.r = r;
  job.r_scale = r_scale;
  return launch(guess, launch_residual<MG_INTERPOLATE_V2, true>,
                launch_residual<MG_INTERPOLATE_P1, true>, job);
}
