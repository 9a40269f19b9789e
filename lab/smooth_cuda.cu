/* Ladder 4 on a CUDA device: a smoother of the 7-point operator with variable coefficients. First a
 * Chebyshev step, rung by rung (lab/rungs/smooth_cuda_*.h). Then fused steps (smooth_fused.cu), the
 * fourth-order operator, and legs of a cycle (legs.c).
 *
 * Bytes per cell that a step must move:
 *   64  reads x, the previous iterate, f, 1/diagonal and three betas, and writes one vector;
 *   56  with the diagonal summed from the betas.
 *
 * The fourth-order operator has 25 values and 30 betas per cell and a higher arithmetic intensity.
 * A step moves 64 bytes per cell and needs 119 flops. The number of cache accesses decides its
 * speed. The solver's kernel (src/cuda/fv4/march.cu) stages planes in shared memory. */
#include "cuda/cells/stencil_load.h"
#include "lab/count_cuda.h"
#include "lab/smooth_cuda.h"
extern "C" {
#include "lab/roofline.h"
}

namespace {
#include "lab/access.h"
#include "lab/rungs/smooth_cuda.h"
#define LAB_COUNTED
#include "lab/access.h"
#include "lab/rungs/smooth_cuda.h"

__device__ __forceinline__ double update_fv4(const smooth_level_t &l, ptrdiff_t at) {
  const double ax = mg_apply_25(l.x + at, l.beta[0] + at, l.beta[1] + at, l.beta[2] + at, l.js,
                                l.ks, l.a, l.b_h2);
  return mg_update(l.x[at], l.previous[at], ax, l.f[at], l.dinv[at], l.c1, l.c2);
}

/* fv4: one cell per thread; blocks extend along i and j. */
template <int WIDTH, int HEIGHT>
__global__ void __launch_bounds__(WIDTH *HEIGHT) fv4_cells(smooth_level_t l) {
  const int i = (int)blockIdx.x * WIDTH + (int)threadIdx.x % WIDTH;
  const int j = (int)blockIdx.y * HEIGHT + (int)threadIdx.x / WIDTH, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  l.to[at] = update_fv4(l, at);
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
  const void *kernel, *counted; /* counted: NULL if there is none */
  double bytes;                 /* that a step must move per cell */
  int width, height, planes;    /* cells per block */
  int threads;
};

#define RUNG_OF(name, number, ...)                                                                 \
  { name, (const void *)smooth_##number, (const void *)smooth_##number##_counted, __VA_ARGS__ }
const variant_t chebyshev[] = {
    RUNG_OF("one cell per thread along k", 1, 64.0, 1, 8, 32, 256),
    RUNG_OF("blocks of 8 x 4 cells", 2, 64.0, 8, 4, 1, 32),
    RUNG_OF("rows of 32 cells", 3, 64.0, 32, 8, 1, 256),
    RUNG_OF("loads that are not cached", 4, 64.0, 32, 8, 1, 256),
    RUNG_OF("1/diagonal from the betas", 5, 56.0, 32, 8, 1, 256),
};
const variant_t fourth_order[] = {
    {"blocks of 8 x 4 cells", (const void *)fv4_cells<8, 4>, nullptr, 64.0, 8, 4, 1, 32},
    {"rows of 32, 32 x 4", (const void *)fv4_cells<32, 4>, nullptr, 64.0, 32, 4, 1, 128},
    {"marching 16 planes", (const void *)fv4_columns<16>, nullptr, 64.0, 32, 8, 16, 256},
};

/* Flops per step, with fma as two: A x 20, the diagonal and its inverse 8, the update 7. */
double flops_of(mg_operator_t op, double bytes) {
  return mg_traits_of(op)->points == 25 ? 119.0 : bytes < 64.0 ? 35.0 : 27.0;
}

/* A counted rung on a level. */
struct counted_t {
  lab_launch_t launch;
  smooth_level_t level;
};

mg_status_t enqueue_counted(void *arg, cudaStream_t stream) {
  counted_t *c = (counted_t *)arg;
  void *args[] = {&c->level};
  return lab_cuda_launch(c->launch, args, stream);
}

mg_status_t add(lab_t *lab, smooth_data_t *d, mg_operator_t op, const variant_t &v) {
  const int n = d->level.n;
  lab_launch_t launch = {v.kernel, 0, v.threads, 0};
  launch.rows = (n + v.height - 1) / v.height;
  launch.planes = (n + v.planes - 1) / v.planes;
  launch.blocks = (int64_t)((n + v.width - 1) / v.width) * launch.rows * launch.planes;
  smooth_row_t row = {v.name, 1, v.bytes, flops_of(op, v.bytes), 0.0};
  if (v.counted) {
    counted_t c = {launch, d->level};
    c.launch.kernel = v.counted;
    MG_TRY(lab_cuda_requested(enqueue_counted, &c, d->view.cells, &row.requested));
  }
  return smooth_add(lab, d, launch, row);
}

/* One Chebyshev step of the solver on the same arrays, called as in a solve. */
struct solver_t {
  smooth_data_t *d;
  mg_step_t step;
};

mg_status_t enqueue_solver(void *arg, cudaStream_t) {
  const solver_t *s = (const solver_t *)arg;
  const mg_sweep_t sweep = {&s->step, 1, MG_U, MG_TMP, MG_TMP, MG_NO_VECTOR};
  return mg_backend_cuda.smooth(&s->d->view, &sweep, MG_REGION_ALL);
}

/* Variants of a step, then the solver's kernel. */
template <int N>
mg_status_t table(lab_t *lab, smooth_data_t *d, mg_operator_t op, const variant_t (&variants)[N]) {
  solver_t s = {d, {}};
  s.step.c1 = d->level.c1;
  s.step.c2 = d->level.c2;
  MG_TRY(d->expect(op, &s.step, 1, false));
  for (const variant_t &v : variants)
    MG_TRY(add(lab, d, op, v));
  const double bytes = variants[N - 1].bytes;
  return smooth_add_solver(lab, d, enqueue_solver, &s, SMOOTH_PREVIOUS,
                           {"the solver's kernel", 1, bytes, flops_of(op, bytes), 0.0});
}

mg_status_t tables(lab_t *lab, smooth_data_t *d) {
  const int n = d->level.n;
  lab_table(lab, "smooth", "a Chebyshev step, double, %d^3 cells", n);
  MG_TRY(table(lab, d, MG_OPERATOR_FV2, chebyshev));
  MG_TRY(smooth_fused(lab, d));
  lab_table(lab, "smooth", "a Chebyshev step of fourth order, double, %d^3 cells", n);
  return table(lab, d, MG_OPERATOR_FV4, fourth_order);
}

mg_status_t variants(lab_t *lab) {
  smooth_data_t d = {};
  int device;
  mg_device_facts_t facts;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_TRY(mg_cuda_device.open(device, &facts));
  mg_status_t status = d.make(smooth_cells(lab->bytes));
  if (status == MG_OK) status = tables(lab, &d);
  mg_cuda_device.close();
  return status;
}
} // namespace

extern "C" mg_status_t lab_smooth_cuda(lab_t *lab) {
  MG_TRY(variants(lab));
  return lab_legs(lab, &roofline_on_cuda);
}
