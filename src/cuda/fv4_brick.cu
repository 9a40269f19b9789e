/* fv4 on patches of any size and shape: a block owns 16 x 4 x 4 cells, a thread one of them.
 *
 * Made for the small levels, where latency alone counts: every thread asks for its betas first,
 * then all share in bringing u and its ghosts to shared memory; those outside walls are evaluated
 * from the cells inside. So there are one or two trips to memory and one barrier. */
#include "fv4.h"
#include "wall_value.h"

enum { BI = 16, BJ = 4, BK = 4, THREADS = BI * BJ * BK, UI = BI + 4, UJ = BJ + 4, UK = BK + 4 };

/** Steps from the cells first .. end-1 to index i. */
static __device__ __forceinline__ int distance(int i, int first, int end) {
  return i < first ? first - i : i >= end ? i - end + 1 : 0;
}

/** A place of the tile: is it needed, and how does it lie to the walls? Needed are the block's
 * cells, two more along the axes and one on edges. */
struct place_t {
  int i, j, k;
  bool needed, stored;
  mg_reach_t reach[3];
};

static __device__ __forceinline__ place_t place_of(const mg_fv4_job_t *job, int q) {
  const mg_patch_t *p = &job->l.p;
  const int i0 = (int)blockIdx.x * BI, j0 = (int)blockIdx.y * BJ, k0 = (int)blockIdx.z * BK;
  const int i = i0 + q % UI - 2, j = j0 + q / UI % UJ - 2, k = k0 + q / (UI * UJ) - 2;
  place_t a = {i,     j,     k,
               false, false, {mg_reach_of(p, 0, i), mg_reach_of(p, 1, j), mg_reach_of(p, 2, k)}};
  a.needed = distance(i, i0, min(i0 + BI, p->n[0])) + distance(j, j0, min(j0 + BJ, p->n[1])) +
                 distance(k, k0, min(k0 + BK, p->n[2])) <=
             2;
  /* The second ghost of the lower-order formulas is zero, in memory. */
  const bool second = a.reach[0].depth > 1 || a.reach[1].depth > 1 || a.reach[2].depth > 1;
  a.stored = (!a.reach[0].beyond && !a.reach[1].beyond && !a.reach[2].beyond) ||
             (second && job->l.order < 4);
  return a;
}

/** What is in memory first, all of it at once; then what the walls' formulas make of that. */
static __device__ __forceinline__ void fill_tile(const mg_fv4_job_t *job, double *tile) {
  const mg_patch_t *p = &job->l.p;
  const int turns = (UI * UJ * UK + THREADS - 1) / THREADS;
  double value[turns];
#pragma unroll
  for (int turn = 0; turn < turns; turn++) {
    const place_t a = place_of(job, (int)threadIdx.x + turn * THREADS);
    value[turn] = 0.0;
    if (a.needed && a.stored) value[turn] = job->x[a.i + a.j * p->jstride + a.k * p->kstride];
  }
#pragma unroll
  for (int turn = 0; turn < turns; turn++)
    tile[(int)threadIdx.x + turn * THREADS] = value[turn];
#pragma unroll 1
  for (int q = (int)threadIdx.x; q < UI * UJ * UK; q += THREADS) {
    const place_t a = place_of(job, q);
    if (!a.needed || a.stored) continue;
    tile[q] = job->l.order == 4   ? mg_wall_value<4, 2>(p, job->x, a.reach)
              : job->l.order == 2 ? mg_wall_value<2, 2>(p, job->x, a.reach)
                                  : mg_wall_value<1, 2>(p, job->x, a.reach);
  }
}

static_assert(UI * UJ * UK % THREADS == 0, "every thread fills as many places");

template <mg_fv4_operation_t op>
static __global__ void __launch_bounds__(THREADS) brick(const __grid_constant__ mg_fv4_job_t job) {
  __shared__ double tile[UI * UJ * UK];
  __shared__ double pair[BK][BJ][BI / 2];
  const mg_patch_t *p = &job.l.p;
  const int t = (int)threadIdx.x, ti = t % BI, tj = t / BI % BJ, tk = t / (BI * BJ);
  const int i = (int)blockIdx.x * BI + ti, j = (int)blockIdx.y * BJ + tj,
            k = (int)blockIdx.z * BK + tk;
  const bool mine = i < p->n[0] && j < p->n[1] && k < p->n[2];
  const ptrdiff_t at = i + j * p->jstride + k * p->kstride;
  mg_betas30_t b = {};
  double f = 0.0, dinv = 0.0, previous = 0.0, result = 0.0;
  if (mine) {
    b = mg_load_betas30(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at,
                        p->jstride, p->kstride);
    if (job.f) f = job.f[at];
    if (op == MG_FV4_GSRB || op == MG_FV4_POLYNOMIAL) dinv = job.dinv[at];
    if (op == MG_FV4_POLYNOMIAL && job.previous) previous = job.previous[at];
  }
  fill_tile(&job, tile);
  __syncthreads();
  if (mine) {
    const double *x = tile + ti + 2 + (tj + 2) * UI + (tk + 2) * (UI * UJ);
    const mg_values25_t v = mg_load_values25(x, UI, UI * UJ);
    const double ax = mg_apply_values25(&v, &b, job.l.v.a, job.l.v.b_h2);
    const int phase = ((p->lo[0] + i) ^ (p->lo[1] + j) ^ (p->lo[2] + k) ^ job.color) & 1;
    result = mg_fv4_result<op>(job, v.c, ax, f, dinv, previous);
    if (op == MG_FV4_GSRB && phase) result = v.c;
  }
  if (op == MG_FV4_NORM) {
    mg_max_add(fabs(result), job.maximum);
  } else if (op == MG_FV4_RESTRICT) {
    const double sum = result + __shfl_xor_sync(0xffffffffu, result, 1);
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
  } else if (mine) {
    job.dst[at] = result;
  }
}

typedef void (*kernel_t)(mg_fv4_job_t job);
static const kernel_t kernels[] = {brick<MG_FV4_GSRB>, brick<MG_FV4_POLYNOMIAL>,
                                   brick<MG_FV4_RESIDUAL>, brick<MG_FV4_NORM>,
                                   brick<MG_FV4_RESTRICT>};

mg_status_t mg_cuda_fv4_brick(mg_fv4_operation_t op, const mg_fv4_job_t *job) {
  const int32_t *n = job->l.p.n;
  const dim3 grid((unsigned)((n[0] + BI - 1) / BI), (unsigned)((n[1] + BJ - 1) / BJ),
                  (unsigned)((n[2] + BK - 1) / BK));
  kernels[op]<<<grid, THREADS, 0, mg_cuda.stream>>>(*job);
  MG_CUDA_LAUNCHED("fv4 brick");
  return MG_OK;
}
