/* fv4 on patches of any size and shape: a block owns 16 x 4 x 4 cells, one cell per thread.
 *
 * Designed for small levels, where only latency counts. Every thread first requests its betas.
 * Then all threads load u and its ghosts into shared memory; ghosts outside walls are evaluated
 * from interior cells. This takes one or two memory round trips and one barrier. A half sweep on
 * an H200 takes 6.1 us at 16^3 and 6.4 us at 32^3. With the march at 32^3, an F-cycle at 64^3
 * reaches 0.234 GDOF/s instead of 0.247 (docs/performance.md). */
#include "cuda/cells/wall_value.h"
#include "cuda/fv4/job.h"
#include "cuda/runtime/dependent_launch.h"

enum { BI = 16, BJ = 4, BK = 4, THREADS = BI * BJ * BK, UI = BI + 4, UJ = BJ + 4, UK = BK + 4 };

/** Distance of index i from the range [first, end). */
static __device__ __forceinline__ int distance(int i, int first, int end) {
  return i < first ? first - i : i >= end ? i - end + 1 : 0;
}

/** Fill the tile: the block's cells, plus two more along the axes and one on edges. A warp has
 *  one j and each lane a column. All values in memory are loaded first, together; then the wall
 *  formulas are applied. */
static __device__ __forceinline__ void fill_tile(const mg_fv4_job_t *job, mg_real_t *tile) {
  static_assert(THREADS == 32 * UJ && UI <= 32, "one warp per row");
  const mg_patch_t *p = &job->l.p;
  const int i0 = (int)blockIdx.x * BI, j0 = (int)blockIdx.y * BJ, k0 = (int)blockIdx.z * BK;
  const int k_end = min(k0 + BK, p->n[2]);
  const int ti = (int)threadIdx.x % 32, tj = (int)threadIdx.x / 32;
  const int i = i0 + ti - 2, j = j0 + tj - 2;
  if (ti >= UI) return;
  const int ij_distance =
      distance(i, i0, min(i0 + BI, p->n[0])) + distance(j, j0, min(j0 + BJ, p->n[1]));
  mg_ghost_axis_t r[3] = {mg_ghost_axis(p, 0, i), mg_ghost_axis(p, 1, j), {false, 0, 0, 0}};
  /* The second ghost of the lower-order formulas is zero in memory. */
  const int max_depth = job->l.order == 4 ? 2 : 1;
  const bool column_outside = r[0].outside || r[1].outside;
  const bool column_stored = r[0].depth > max_depth || r[1].depth > max_depth;
  const mg_real_t *x = job->x + i + j * p->jstride + (k0 - 2) * p->kstride;
  mg_real_t *to = tile + tj * UI + ti;
  mg_real_t value[UK];
#pragma unroll
  for (int t = 0; t < UK; t++) {
    const int k = k0 + t - 2;
    const mg_ghost_axis_t r_k = mg_ghost_axis(p, 2, k);
    const bool needed = ij_distance + distance(k, k0, k_end) <= 2;
    const bool stored = !(column_outside || r_k.outside) || column_stored || r_k.depth > max_depth;
    value[t] = needed && stored ? x[t * p->kstride] : MG_REAL(0.0);
  }
#pragma unroll
  for (int t = 0; t < UK; t++)
    to[t * UI * UJ] = value[t];
#pragma unroll 1
  for (int t = 0; t < UK; t++) {
    const int k = k0 + t - 2;
    if (ij_distance + distance(k, k0, k_end) > 2 || column_stored) continue;
    r[2] = mg_ghost_axis(p, 2, k);
    if ((column_outside || r[2].outside) && r[2].depth <= max_depth)
      to[t * UI * UJ] = mg_wall_value<2>(p, job->x, r, job->l.order);
  }
}

static __global__ void __launch_bounds__(THREADS, MG_CUDA_MIN_BLOCKS(2, THREADS))
    small(const MG_GRID_CONSTANT mg_fv4_job_t job) {
  __shared__ mg_real_t tile[UI * UJ * UK];
  __shared__ mg_real_t pair[BK][BJ][BI / 2];
  const mg_fv4_operation_t op = job.operation;
  const mg_patch_t *p = &job.l.p;
  const int t = (int)threadIdx.x, ti = t % BI, tj = t / BI % BJ, tk = t / (BI * BJ);
  const int i = (int)blockIdx.x * BI + ti, j = (int)blockIdx.y * BJ + tj,
            k = (int)blockIdx.z * BK + tk;
  const bool inside = i < p->n[0] && j < p->n[1] && k < p->n[2];
  const ptrdiff_t at = i + j * p->jstride + k * p->kstride;
  mg_betas30_t b = {};
  mg_real_t a = 0.0, f = 0.0, dinv = 0.0, previous = 0.0, result = 0.0;
  if (inside) {
    b = mg_load_betas30(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at,
                        p->jstride, p->kstride);
    a = mg_a_at(&job.l.v, p, at);
    if (op == MG_FV4_COLORED || op == MG_FV4_ALL) dinv = job.dinv[at];
  }
  mg_cuda_wait_dependency();
  /* Only after the dependency: until the preceding clear has completed, an older maximum may be
   * stored. If it were larger than the new one, the maximum would not be raised. */
  const unsigned long long known = op == MG_FV4_NORM ? mg_max_known(job.maximum) : 0;
  if (inside) {
    if (job.f) f = job.f[at];
    if (op == MG_FV4_ALL && job.previous) previous = job.previous[at];
  }
  fill_tile(&job, tile);
  __syncthreads();
  if (inside) {
    const mg_real_t *x = tile + ti + 2 + (tj + 2) * UI + (tk + 2) * (UI * UJ);
    const mg_values25_t v = mg_load_values25(x, UI, UI * UJ);
    const mg_real_t ax = mg_apply_values25(&v, &b, a, job.l.v.b_h2);
    const int phase = (mg_parity(p, i, j, k) ^ job.color) & 1;
    result = mg_fv4_result(job, op, v.c, ax, f, dinv, previous);
    if (op == MG_FV4_COLORED && phase) result = v.c;
  }
  if (op == MG_FV4_NORM) {
    static_assert(THREADS == MG_MAX_THREADS, "mg_max_add requires it");
    mg_max_add(mg_max_bits(result), known, job.maximum);
  } else if (op == MG_FV4_RESTRICT) {
    const mg_real_t sum = result + __shfl_xor_sync(0xffffffffu, result, 1);
    if (t % 2 == 0) pair[tk][tj][ti / 2] = sum;
    __syncthreads();
    const int ci = t % (BI / 2), cj = t / (BI / 2) % (BJ / 2), ck = t / (BI / 2) / (BJ / 2);
    const int I = (int)blockIdx.x * (BI / 2) + ci, J = (int)blockIdx.y * (BJ / 2) + cj,
              K = (int)blockIdx.z * (BK / 2) + ck;
    const mg_patch_t *c = &job.coarse;
    if (ck >= BK / 2 || I >= c->n[0] || J >= c->n[1] || K >= c->n[2]) return;
    job.dst[I + J * c->jstride + K * c->kstride] =
        mg_mean8(pair[2 * ck][2 * cj][ci], pair[2 * ck][2 * cj + 1][ci],
                 pair[2 * ck + 1][2 * cj][ci], pair[2 * ck + 1][2 * cj + 1][ci]);
  } else if (inside) {
    job.dst[at] = result;
  }
}

mg_status_t mg_cuda_fv4_small(const mg_fv4_job_t *job) {
  const int32_t *n = job->l.p.n;
  const dim3 grid((unsigned)((n[0] + BI - 1) / BI), (unsigned)((n[1] + BJ - 1) / BJ),
                  (unsigned)((n[2] + BK - 1) / BK));
  return mg_cuda_launch_dependent("fv4 small", small, grid, THREADS, *job);
}
