/* Ladder 4 on a CUDA device: a smoother of the 7-point operator with variable coefficients. First a
 * Chebyshev step, with one cell per thread and in other forms. Then fused steps
 * (smooth_fused.cu), the fourth-order operator, and legs of a cycle (legs.c).
 *
 * Bytes per cell that a step must move:
 *   64  reads x, the previous iterate, f, 1/diagonal and three betas, and writes one vector;
 *   56  with the diagonal summed from the betas.
 *
 * The fourth-order operator has 25 values and 30 betas per cell and a higher arithmetic intensity.
 * A step moves 64 bytes per cell and needs 119 flops. The number of cache accesses decides its
 * speed. The solver's kernel (src/cuda/fv4_march.cu) stages planes in shared memory. */
#include "cuda/stencil_load.h"
#include "lab/smooth_cuda.h"
extern "C" {
#include "cuda/device.h"
#include "lab/roofline.h"
}

namespace {
enum { CHEBYSHEV = 64, NO_DINV = 56, FV4 = 65 /* as CHEBYSHEV */ };
enum { PLAIN, STREAMS };

/* STREAMS: data not read again bypass the caches. */
template <int PATH> __device__ __forceinline__ double get_once(const double *p) {
  return PATH == STREAMS ? __ldcs(p) : *p;
}

template <int PATH>
__device__ __forceinline__ mg_stencil_values_t load_near(const smooth_level_t &l, ptrdiff_t at) {
  const double *x = l.x + at, *bi = l.beta[0] + at, *bj = l.beta[1] + at, *bk = l.beta[2] + at;
  return {{x[0], {x[-1], x[-l.js], get_once<PATH>(x - l.ks)}, {x[1], x[l.js], x[l.ks]}},
          {{bi[0], bi[1]}, {bj[0], bj[l.js]}, {get_once<PATH>(bk), bk[l.ks]}},
          l.a,
          0.0};
}

/* New value of a cell, given its neighborhood. */
template <int FORM, int PATH>
__device__ __forceinline__ double update(const smooth_level_t &l, const mg_stencil_values_t &v,
                                         ptrdiff_t at) {
  const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  const double f = get_once<PATH>(l.f + at), previous = get_once<PATH>(l.previous + at);
  const double ax = mg_apply_values7(v.x, v.beta[0], v.beta[1], v.beta[2], 1, 1, l.a, l.b_h2);
  const double dinv = FORM == CHEBYSHEV ? get_once<PATH>(l.dinv + at)
                                        : 1.0 / mg_diagonal_7(v.beta[0], v.beta[1], v.beta[2], 1, 1,
                                                              one, l.a, l.b_h2);
  return mg_update(v.x.c, previous, ax, f, dinv, l.c1, l.c2);
}

__device__ __forceinline__ double update_fv4(const smooth_level_t &l, ptrdiff_t at) {
  const double ax = mg_apply_fv4(l.x + at, l.beta[0] + at, l.beta[1] + at, l.beta[2] + at, l.js,
                                 l.ks, l.a, l.b_h2);
  return mg_update(l.x[at], l.previous[at], ax, l.f[at], l.dinv[at], l.c1, l.c2);
}

/* One cell per thread; blocks extend along i and j. */
template <int FORM, int PATH, int WIDTH, int HEIGHT>
__global__ void __launch_bounds__(WIDTH *HEIGHT) cells(smooth_level_t l) {
  const int i = (int)blockIdx.x * WIDTH + (int)threadIdx.x % WIDTH;
  const int j = (int)blockIdx.y * HEIGHT + (int)threadIdx.x / WIDTH, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  if constexpr (FORM == FV4)
    l.to[at] = update_fv4(l, at);
  else
    l.to[at] = update<FORM, PATH>(l, load_near<PATH>(l, at), at);
}

/* CELLS cells per thread along k, with shared values served by L1: the form of the solver
 * (src/cuda/smooth.cu). */
template <int FORM, int PATH, int CELLS, int BLOCKS>
__global__ void __launch_bounds__(256, MG_CUDA_MIN_BLOCKS(BLOCKS, 256)) stacks(smooth_level_t l) {
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
template <int FORM, int PLANES> __global__ void __launch_bounds__(256) march(smooth_level_t l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z * PLANES;
  ptrdiff_t at = i + j * l.js + k * l.ks;
  mg_stencil_values_t v;
  v.x.c = l.x[at - l.ks];
  v.x.high[2] = l.x[at];
  v.beta[2][1] = l.beta[2][at];
  for (int q = 0; q < PLANES && k + q < l.n; q++, at += l.ks) {
    v.x.low[2] = v.x.c;
    v.x.c = v.x.high[2];
    v.x.high[2] = l.x[at + l.ks];
    v.beta[2][0] = v.beta[2][1];
    v.beta[2][1] = l.beta[2][at + l.ks];
    v.x.low[0] = l.x[at - 1];
    v.x.high[0] = l.x[at + 1];
    v.x.low[1] = l.x[at - l.js];
    v.x.high[1] = l.x[at + l.js];
    v.beta[0][0] = l.beta[0][at];
    v.beta[0][1] = l.beta[0][at + 1];
    v.beta[1][0] = l.beta[1][at];
    v.beta[1][1] = l.beta[1][at + l.js];
    l.to[at] = update<FORM, PLAIN>(l, v, at);
  }
}

/* fv4: a thread marches up a column. Loads of planes shared by successive cells soon hit in L1. */
template <int PLANES> __global__ void __launch_bounds__(256) fv4_columns(smooth_level_t l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z * PLANES;
  ptrdiff_t at = i + j * l.js + k * l.ks;
  for (int q = 0; q < PLANES && k + q < l.n; q++, at += l.ks)
    l.to[at] = update_fv4(l, at);
}

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
#define COLUMNS(name, form, planes, ...)                                                           \
  { name, (const void *)__VA_ARGS__, form, 32, 8, planes, 256 }
const variant_t chebyshev[] = {
    CELLS("one cell per thread, 8 x 4", CHEBYSHEV, PLAIN, 8, 4),
    CELLS("rows of 32, 32 x 4", CHEBYSHEV, PLAIN, 32, 4),
    CELLS("32 x 8", CHEBYSHEV, PLAIN, 32, 8),
    CELLS("32 x 8, streaming loads", CHEBYSHEV, STREAMS, 32, 8),
    COLUMNS("marching 64 planes", CHEBYSHEV, 64, march<CHEBYSHEV, 64>),
    COLUMNS("two cells along k", CHEBYSHEV, 2, stacks<CHEBYSHEV, STREAMS, 2, 5>),
    CELLS("1/diagonal from betas, 32 x 8", NO_DINV, STREAMS, 32, 8),
    COLUMNS("the same, two cells along k", NO_DINV, 2, stacks<NO_DINV, STREAMS, 2, 5>),
    COLUMNS("the same, three cells", NO_DINV, 3, stacks<NO_DINV, STREAMS, 3, 4>),
};
const variant_t fourth_order[] = {
    CELLS("one cell per thread, 8 x 4", FV4, PLAIN, 8, 4),
    CELLS("32 x 4", FV4, PLAIN, 32, 4),
    COLUMNS("marching 16 planes", FV4, 16, fv4_columns<16>),
};

/* Bytes per cell, and flops per step, with fma as two: A x 20, the diagonal and its inverse 8, the
 * update 7. */
smooth_row_t row_of(const char *name, int form) {
  const double flops = form == FV4 ? 119.0 : form == CHEBYSHEV ? 27.0 : 35.0;
  return {name, 1, form == FV4 ? 64.0 : form, flops};
}

mg_status_t add(lab_t *lab, smooth_data_t *d, const variant_t &v) {
  const int n = d->level.n;
  lab_launch_t launch = {v.kernel, 0, v.threads, 0};
  launch.rows = (n + v.height - 1) / v.height;
  launch.planes = (n + v.planes - 1) / v.planes;
  launch.blocks = (int64_t)((n + v.width - 1) / v.width) * launch.rows * launch.planes;
  return smooth_add(lab, d, launch, row_of(v.name, v.form));
}

/* One Chebyshev step of the solver on the same arrays, called as in a solve. */
struct solver_t {
  smooth_data_t *d;
  mg_step_t step;
};

mg_status_t enqueue_solver(void *arg, cudaStream_t) {
  const solver_t *s = (const solver_t *)arg;
  const mg_sweep_t sweep = {&s->step, 1, MG_U, MG_TMP, MG_TMP, MG_NO_VECTOR};
  return mg_cuda_smooth(&s->d->view, &sweep, MG_REGION_ALL);
}

/* Variants of a step, then the solver's kernel. */
template <int N>
mg_status_t table(lab_t *lab, smooth_data_t *d, mg_operator_t op, const variant_t (&variants)[N],
                  int form) {
  solver_t s = {d, {}};
  s.step.c1 = d->level.c1;
  s.step.c2 = d->level.c2;
  MG_TRY(d->expect(op, &s.step, 1, false));
  for (const variant_t &v : variants)
    MG_TRY(add(lab, d, v));
  return smooth_add_solver(lab, d, enqueue_solver, &s, SMOOTH_PREVIOUS,
                           row_of("the solver's kernel", form));
}

mg_status_t tables(lab_t *lab, smooth_data_t *d) {
  const int n = d->level.n;
  lab_table(lab, "smooth", "a Chebyshev step, double, %d^3 cells", n);
  MG_TRY(table(lab, d, MG_OPERATOR_FV2, chebyshev, NO_DINV));
  MG_TRY(smooth_fused(lab, d));
  lab_table(lab, "smooth", "a Chebyshev step of fourth order, double, %d^3 cells", n);
  return table(lab, d, MG_OPERATOR_FV4, fourth_order, FV4);
}

mg_status_t variants(lab_t *lab) {
  smooth_data_t d = {};
  int device;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_TRY(mg_cuda_open(device));
  mg_status_t status = d.make(smooth_cells(lab->bytes));
  if (status == MG_OK) status = tables(lab, &d);
  mg_cuda_close();
  return status;
}
} // namespace

extern "C" mg_status_t lab_smooth_cuda(lab_t *lab) {
  MG_TRY(variants(lab));
  return lab_legs(lab, &roofline_on_cuda);
}
