/* Ladder 4 on a CUDA device: a smoother of the 7-point operator with variable coefficients. First a
 * Chebyshev step, with one cell per thread and in other forms. Then fused steps (smooth_fused.cu),
 * the fourth-order operator, and the location of the data (smooth_migration.cu).
 *
 * Bytes per cell that a step must move:
 *   64  reads x, the previous iterate, f, 1/diagonal and three betas, and writes one vector;
 *   56  with the diagonal summed from the betas;
 *   48  in Jacobi form: the polynomial is factored by its roots and needs no previous iterate. */
#include "lab/smooth_cuda.h"

namespace {
enum { CHEBYSHEV = 64, NO_DINV = 56, ROOTS = 48 };
enum { PLAIN, READ_ONLY, STREAMS };

/* PLAIN: ordinary load. READ_ONLY: data that no thread writes during the kernel. STREAMS: data not
 * read again, so it bypasses the caches. */
template <int PATH, typename T> __device__ __forceinline__ T get(const T *p) {
  return PATH == READ_ONLY ? __ldg(p) : *p;
}
template <int PATH, typename T> __device__ __forceinline__ T get_once(const T *p) {
  return PATH == STREAMS ? __ldcs(p) : get<PATH>(p);
}

template <int PATH, typename T>
__device__ __forceinline__ smooth_near_t<T> load_near(const smooth_level_t<T> &l, ptrdiff_t at) {
  const T *x = l.x + at, *bi = l.beta[0] + at, *bj = l.beta[1] + at, *bk = l.beta[2] + at;
  smooth_near_t<T> v;
  v.c = get<PATH>(x);
  v.low[0] = get<PATH>(x - 1);
  v.high[0] = get<PATH>(x + 1);
  v.low[1] = get<PATH>(x - l.js);
  v.high[1] = get<PATH>(x + l.js);
  v.low[2] = get_once<PATH>(x - l.ks);
  v.high[2] = get<PATH>(x + l.ks);
  v.beta[0][0] = get<PATH>(bi);
  v.beta[0][1] = get<PATH>(bi + 1);
  v.beta[1][0] = get<PATH>(bj);
  v.beta[1][1] = get<PATH>(bj + l.js);
  v.beta[2][0] = get_once<PATH>(bk);
  v.beta[2][1] = get<PATH>(bk + l.ks);
  return v;
}

/* New value of a cell, given its neighbourhood. */
template <int FORM, int PATH, typename T>
__device__ __forceinline__ T update(const smooth_level_t<T> &l, const smooth_near_t<T> &v,
                                    ptrdiff_t at) {
  const T f = get_once<PATH>(l.f + at);
  const T before = FORM == ROOTS ? T(0) : get_once<PATH>(l.previous + at);
  const T ax = smooth_apply(v, l.a, l.b_h2);
  const T dinv = FORM == CHEBYSHEV ? get_once<PATH>(l.dinv + at) : smooth_dinv(v.beta, l.a, l.b_h2);
  if (FORM == ROOTS) return smooth_step(v.c, ax, f, dinv, l.weight[0]);
  return fma(l.c2 * dinv, f - ax, fma(l.c1, v.c - before, v.c));
}

/* One cell per thread; blocks extend along i and j. */
template <int FORM, int PATH, int WIDTH, int HEIGHT>
__global__ void __launch_bounds__(WIDTH *HEIGHT) cells(smooth_level_t<double> l) {
  const int i = (int)blockIdx.x * WIDTH + (int)threadIdx.x % WIDTH;
  const int j = (int)blockIdx.y * HEIGHT + (int)threadIdx.x / WIDTH, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  l.to[at] = update<FORM, PATH>(l, load_near<PATH>(l, at), at);
}

/* CELLS cells per thread along k, with shared values served by L1: the form of the solver
 * (src/cuda/smooth.cu). */
template <int FORM, int PATH, int CELLS, int BLOCKS>
__global__ void __launch_bounds__(256, MG_CUDA_MOST_BLOCKS(BLOCKS, 256))
    stacks(smooth_level_t<double> l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z * CELLS;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  double value[CELLS];
#pragma unroll
  for (int q = 0; q < CELLS; q++)
    if (k + q < l.n)
      value[q] = update<FORM, PATH>(l, load_near<PATH>(l, at + q * l.ks), at + q * l.ks);
#pragma unroll
  for (int q = 0; q < CELLS; q++)
    if (k + q < l.n) l.to[at + q * l.ks] = value[q];
}

/* One column of PLANES cells per thread. Values below, here and above, and the beta between cells,
 * stay in registers. */
template <int FORM, int PLANES>
__global__ void __launch_bounds__(256) march(smooth_level_t<double> l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z * PLANES;
  ptrdiff_t at = i + j * l.js + k * l.ks;
  smooth_near_t<double> v;
  v.c = l.x[at - l.ks];
  v.high[2] = l.x[at];
  v.beta[2][1] = l.beta[2][at];
  for (int q = 0; q < PLANES && k + q < l.n; q++, at += l.ks) {
    v.low[2] = v.c;
    v.c = v.high[2];
    v.high[2] = l.x[at + l.ks];
    v.beta[2][0] = v.beta[2][1];
    v.beta[2][1] = l.beta[2][at + l.ks];
    v.low[0] = l.x[at - 1];
    v.high[0] = l.x[at + 1];
    v.low[1] = l.x[at - l.js];
    v.high[1] = l.x[at + l.js];
    v.beta[0][0] = l.beta[0][at];
    v.beta[0][1] = l.beta[0][at + 1];
    v.beta[1][0] = l.beta[1][at];
    v.beta[1][1] = l.beta[1][at + l.js];
    l.to[at] = update<FORM, PLAIN>(l, v, at);
  }
}

/* Same with neighbours from shared memory: a plane of the block's cells with a halo. Two planes are
 * used alternately, so one barrier per plane suffices. */
template <int FORM, int PLANES>
__global__ void __launch_bounds__(256) shared_march(smooth_level_t<double> l) {
  __shared__ double plane[2][10][34];
  const int ti = (int)threadIdx.x % 32, tj = (int)threadIdx.x / 32;
  const int i = (int)blockIdx.x * 32 + ti, j = (int)blockIdx.y * 8 + tj,
            k = (int)blockIdx.z * PLANES;
  ptrdiff_t at = i + j * l.js + k * l.ks;
  smooth_near_t<double> v;
  v.c = l.x[at - l.ks];
  v.high[2] = l.x[at];
  v.beta[2][1] = l.beta[2][at];
  for (int q = 0; q < PLANES && k + q < l.n; q++, at += l.ks) {
    double(*const p)[34] = plane[q % 2];
    v.low[2] = v.c;
    v.c = v.high[2];
    p[tj + 1][ti + 1] = v.c;
    if (ti == 0) p[tj + 1][0] = l.x[at - 1];
    if (ti == 31) p[tj + 1][33] = l.x[at + 1];
    if (tj == 0) p[0][ti + 1] = l.x[at - l.js];
    if (tj == 7) p[9][ti + 1] = l.x[at + l.js];
    v.high[2] = l.x[at + l.ks]; /* one plane ahead */
    v.beta[2][0] = v.beta[2][1];
    v.beta[2][1] = l.beta[2][at + l.ks];
    v.beta[0][0] = l.beta[0][at];
    v.beta[0][1] = l.beta[0][at + 1];
    v.beta[1][0] = l.beta[1][at];
    v.beta[1][1] = l.beta[1][at + l.js];
    __syncthreads();
    v.low[0] = p[tj + 1][ti];
    v.high[0] = p[tj + 1][ti + 2];
    v.low[1] = p[tj][ti + 1];
    v.high[1] = p[tj + 2][ti + 1];
    l.to[at] = update<FORM, PLAIN>(l, v, at);
  }
}

/* Two cells of a row per thread, with 16-byte loads and stores. */
__device__ __forceinline__ double2 two(const double *p) {
  return *reinterpret_cast<const double2 *>(p);
}
template <int FORM> __global__ void __launch_bounds__(256) pairs(smooth_level_t<double> l) {
  const int i = 2 * ((int)blockIdx.x * 32 + (int)threadIdx.x % 32);
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const double *x = l.x + at, *bi = l.beta[0] + at, *bj = l.beta[1] + at, *bk = l.beta[2] + at;
  const double2 c = two(x), below = two(x - l.ks), above = two(x + l.ks), front = two(x - l.js),
                back = two(x + l.js), i0 = two(bi), j0 = two(bj), j1 = two(bj + l.js), k0 = two(bk),
                k1 = two(bk + l.ks), f = two(l.f + at);
  const double2 before = FORM == ROOTS ? double2{0.0, 0.0} : two(l.previous + at);
  const double i1 = bi[2];
  const smooth_near_t<double> first = {c.x,
                                       {x[-1], front.x, below.x},
                                       {c.y, back.x, above.x},
                                       {{i0.x, i0.y}, {j0.x, j1.x}, {k0.x, k1.x}}};
  const smooth_near_t<double> second = {c.y,
                                        {c.x, front.y, below.y},
                                        {x[2], back.y, above.y},
                                        {{i0.y, i1}, {j0.y, j1.y}, {k0.y, k1.y}}};
  const double ax[2] = {smooth_apply(first, l.a, l.b_h2), smooth_apply(second, l.a, l.b_h2)};
  const double2 stored = FORM == CHEBYSHEV ? two(l.dinv + at) : double2{0.0, 0.0};
  const double d[2] = {FORM == CHEBYSHEV ? stored.x : smooth_dinv(first.beta, l.a, l.b_h2),
                       FORM == CHEBYSHEV ? stored.y : smooth_dinv(second.beta, l.a, l.b_h2)};
  double2 to;
  if (FORM == ROOTS) {
    to.x = smooth_step(c.x, ax[0], f.x, d[0], l.weight[0]);
    to.y = smooth_step(c.y, ax[1], f.y, d[1], l.weight[0]);
  } else {
    to.x = fma(l.c2 * d[0], f.x - ax[0], fma(l.c1, c.x - before.x, c.x));
    to.y = fma(l.c2 * d[1], f.y - ax[1], fma(l.c1, c.y - before.y, c.y));
  }
  *reinterpret_cast<double2 *>(l.to + at) = to;
}

/* Flops per step, with fma as two: A x 20, the diagonal and its inverse 8, the update 7 or 4. */
enum { FLOPS_CHEBYSHEV = 27, FLOPS_NO_DINV = 35, FLOPS_ROOTS = 32 };

struct variant_t {
  const char *name;
  const void *kernel;
  int form;
  int width, height, planes; /* cells per block */
  int threads;
};

#define CELLS(name, form, path, width, height)                                                     \
  {                                                                                                \
    name, (const void *)cells<form, path, width, height>, form, width, height, 1,                  \
        (width) * (height)                                                                         \
  }
const variant_t variants[] = {
    CELLS("a cell a thread, 8 x 4", CHEBYSHEV, PLAIN, 8, 4),
    CELLS("16 x 8", CHEBYSHEV, PLAIN, 16, 8),
    CELLS("rows of 32, 32 x 4", CHEBYSHEV, PLAIN, 32, 4),
    CELLS("32 x 8", CHEBYSHEV, PLAIN, 32, 8),
    CELLS("32 x 16", CHEBYSHEV, PLAIN, 32, 16),
    CELLS("32 x 32", CHEBYSHEV, PLAIN, 32, 32),
    CELLS("64 x 4", CHEBYSHEV, PLAIN, 64, 4),
    CELLS("128 x 2", CHEBYSHEV, PLAIN, 128, 2),
    CELLS("32 x 8, read-only path", CHEBYSHEV, READ_ONLY, 32, 8),
    CELLS("32 x 8, streaming loads", CHEBYSHEV, STREAMS, 32, 8),
    {"16-byte loads, 2 cells", (const void *)pairs<CHEBYSHEV>, CHEBYSHEV, 64, 8, 1, 256},
    {"marching 16 planes", (const void *)march<CHEBYSHEV, 16>, CHEBYSHEV, 32, 8, 16, 256},
    {"marching 64 planes", (const void *)march<CHEBYSHEV, 64>, CHEBYSHEV, 32, 8, 64, 256},
    {"shared memory, 16 planes", (const void *)shared_march<CHEBYSHEV, 16>, CHEBYSHEV, 32, 8, 16,
     256},
    {"shared memory, 64 planes", (const void *)shared_march<CHEBYSHEV, 64>, CHEBYSHEV, 32, 8, 64,
     256},
    {"2 cells above each other", (const void *)stacks<CHEBYSHEV, STREAMS, 2, 5>, CHEBYSHEV, 32, 8,
     2, 256},
    CELLS("1/diagonal from betas, 32 x 8", NO_DINV, STREAMS, 32, 8),
    {"the same, 2 cells", (const void *)stacks<NO_DINV, STREAMS, 2, 5>, NO_DINV, 32, 8, 2, 256},
    {"the same, 3 cells", (const void *)stacks<NO_DINV, STREAMS, 3, 4>, NO_DINV, 32, 8, 3, 256},
};

const variant_t by_roots[] = {
    CELLS("a cell a thread, 32 x 8", ROOTS, STREAMS, 32, 8),
    {"2 cells above each other", (const void *)stacks<ROOTS, STREAMS, 2, 5>, ROOTS, 32, 8, 2, 256},
    {"3 cells above each other", (const void *)stacks<ROOTS, STREAMS, 3, 4>, ROOTS, 32, 8, 3, 256},
    {"16-byte loads, 2 cells", (const void *)pairs<ROOTS>, ROOTS, 64, 8, 1, 256},
    {"marching 16 planes", (const void *)march<ROOTS, 16>, ROOTS, 32, 8, 16, 256},
    {"shared memory, 16 planes", (const void *)shared_march<ROOTS, 16>, ROOTS, 32, 8, 16, 256},
};

int flops_of(int form) {
  return form == CHEBYSHEV ? FLOPS_CHEBYSHEV : form == NO_DINV ? FLOPS_NO_DINV : FLOPS_ROOTS;
}

mg_status_t add(lab_t *lab, smooth_data_t<double> *d, const variant_t &v) {
  const int n = d->level.n;
  lab_launch_t launch = {v.kernel, 0, v.threads, 0};
  launch.rows = (n + v.height - 1) / v.height;
  launch.planes = (n + v.planes - 1) / v.planes;
  launch.blocks = (int64_t)((n + v.width - 1) / v.width) * launch.rows * launch.planes;
  void *args[] = {&d->level};
  return smooth_add(lab, d, launch, args, 1, v.form, flops_of(v.form), v.name);
}

mg_status_t one_step(lab_t *lab, smooth_data_t<double> *d) {
  lab_table(lab, "smooth", "a Chebyshev step, double, %d^3 cells", d->level.n);
  MG_TRY(d->expect_chebyshev());
  for (const variant_t &v : variants)
    MG_TRY(add(lab, d, v));
  MG_TRY(smooth_add_solver(lab, d, MG_OPERATOR_FV2, NO_DINV, FLOPS_NO_DINV));
  lab_table(lab, "smooth", "a step of Jacobi's form, 1/diagonal from betas, double, %d^3 cells",
            d->level.n);
  MG_TRY(d->expect_steps(1));
  for (const variant_t &v : by_roots)
    MG_TRY(add(lab, d, v));
  return MG_OK;
}
} // namespace

extern "C" mg_status_t lab_smooth_cuda(lab_t *lab) {
  const int n = smooth_cells(lab->bytes);
  {
    smooth_data_t<double> d;
    MG_TRY(d.make(n));
    MG_TRY(one_step(lab, &d));
    MG_TRY(smooth_fused(lab, &d));
    MG_TRY(smooth_fv4(lab, &d));
  }
  {
    smooth_data_t<float> d;
    MG_TRY(d.make(n));
    MG_TRY(smooth_fused(lab, &d));
  }
  return smooth_migration(lab);
}
