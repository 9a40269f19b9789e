/* Ladder 4: the fourth-order operator, with 25 values and 30 betas per cell and a higher arithmetic
 * intensity. A step moves 64 bytes per cell, like a Chebyshev step of the 7-point operator, and
 * needs 119 flops. The number of cache accesses decides its speed. The solver's kernel
 * (src/cuda/fv4_march.cu) stages planes in shared memory; here it is compared with plain ones. */
#include "lab/smooth_cuda.h"
extern "C" {
#include "cuda/device.h"
}

namespace {
enum { BYTES = 64, FLOPS = 119 };

template <int WIDTH, int HEIGHT>
__global__ void __launch_bounds__(WIDTH *HEIGHT) cells(smooth_level_t<double> l) {
  const int i = (int)blockIdx.x * WIDTH + (int)threadIdx.x % WIDTH;
  const int j = (int)blockIdx.y * HEIGHT + (int)threadIdx.x / WIDTH, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const double ax = mg_apply_fv4(l.x + at, l.beta[0] + at, l.beta[1] + at, l.beta[2] + at, l.js,
                                 l.ks, l.a, l.b_h2);
  l.to[at] = mg_update(l.x[at], l.previous[at], ax, l.f[at], l.dinv[at], l.c1, l.c2);
}

/* A thread marches up a column. Loads of planes shared by successive cells soon hit in L1. */
template <int PLANES> __global__ void __launch_bounds__(256) columns(smooth_level_t<double> l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z * PLANES;
  if (i >= l.n || j >= l.n) return;
  ptrdiff_t at = i + j * l.js + k * l.ks;
  for (int q = 0; q < PLANES && k + q < l.n; q++, at += l.ks) {
    const double ax = mg_apply_fv4(l.x + at, l.beta[0] + at, l.beta[1] + at, l.beta[2] + at, l.js,
                                   l.ks, l.a, l.b_h2);
    l.to[at] = mg_update(l.x[at], l.previous[at], ax, l.f[at], l.dinv[at], l.c1, l.c2);
  }
}

const struct {
  const char *name;
  const void *kernel;
  int width, height, planes;
} variants[] = {
    {"a cell a thread, 8 x 4", (const void *)cells<8, 4>, 8, 4, 1},
    {"32 x 4", (const void *)cells<32, 4>, 32, 4, 1},
    {"32 x 8", (const void *)cells<32, 8>, 32, 8, 1},
    {"32 x 16", (const void *)cells<32, 16>, 32, 16, 1},
    {"marching 16 planes, 32 x 8", (const void *)columns<16>, 32, 8, 16},
};

/* The level in the solver's form: a patch with neighbours on all sides. */
struct solver_t {
  mg_view_t view;
  mg_patch_t patch;
  mg_step_t step;
};

mg_status_t enqueue_solver(void *arg, cudaStream_t stream) {
  const solver_t *s = (const solver_t *)arg;
  const cudaStream_t before = mg_cuda.stream;
  mg_cuda.stream = stream;
  const mg_sweep_t sweep = {&s->step, 1, MG_U, MG_TMP, MG_TMP, -1};
  const mg_status_t status = mg_cuda_smooth(&s->view, &sweep, MG_REGION_ALL);
  mg_cuda.stream = before;
  return status;
}

mg_status_t add_solver(lab_t *lab, smooth_data_t<double> *d, mg_operator_t op, double bytes,
                       double flops) {
  const smooth_level_t<double> &l = d->level;
  const int64_t n = l.n;
  solver_t s = {};
  for (int e = 0; e < 3; e++) {
    s.patch.n[e] = l.n;
    s.patch.vec[MG_BETA_I + e] = const_cast<double *>(l.beta[e]);
  }
  s.patch.jstride = l.js;
  s.patch.kstride = l.ks;
  s.patch.vec[MG_U] = const_cast<double *>(l.x);
  s.patch.vec[MG_F] = const_cast<double *>(l.f);
  s.patch.vec[MG_DINV] = const_cast<double *>(l.dinv);
  s.patch.vec[MG_TMP] = l.to; /* the previous iterate, overwritten by the next one */
  s.view.patch = &s.patch;
  s.view.n_patches = 1;
  s.view.dim = s.view.box_dim = l.n;
  s.view.ghosts = SMOOTH_GHOSTS;
  s.view.cells = n * n * n;
  s.view.op = op;
  s.view.h = 1.0;
  s.view.a = l.a;
  s.view.b_h2 = l.b_h2;
  s.step.c1 = l.c1;
  s.step.c2 = l.c2;
  lab_row_t row = {};
  snprintf(row.variant, sizeof row.variant, "the solver's kernel");
  row.elements = n * n * n;
  row.useful = bytes;
  row.flops = flops;
  MG_TRY(lab_cuda_time(lab, enqueue_solver, &s, &row.seconds));
  MG_TRY(lab_cuda_launched(&row));
  /* It overwrites the previous iterate: restore that and run once more. */
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_CUDA_TRY(cudaMemcpy(d->memory + SMOOTH_TO * d->array_cells,
                         d->memory + SMOOTH_PREVIOUS * d->array_cells,
                         (size_t)d->array_cells * sizeof(double), cudaMemcpyDeviceToDevice));
  MG_TRY(enqueue_solver(&s, nullptr));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_TRY(d->differ(&row.error));
  return lab_add(lab, &row);
}
} // namespace

mg_status_t smooth_add_solver(lab_t *lab, smooth_data_t<double> *d, mg_operator_t op, double bytes,
                              double flops) {
  int device;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_TRY(mg_cuda_open(device));
  const mg_status_t status = add_solver(lab, d, op, bytes, flops);
  mg_cuda_close();
  return status;
}

mg_status_t smooth_fv4(lab_t *lab, smooth_data_t<double> *d) {
  const int n = d->level.n;
  lab_table(lab, "smooth", "a Chebyshev step of fourth order, double, %d^3 cells", n);
  MG_TRY(d->expect_fv4());
  for (const auto &v : variants) {
    lab_launch_t launch = {v.kernel, 0, v.width * v.height, 0};
    launch.rows = (n + v.height - 1) / v.height;
    launch.planes = (n + v.planes - 1) / v.planes;
    launch.blocks = (int64_t)((n + v.width - 1) / v.width) * launch.rows * launch.planes;
    void *args[] = {&d->level};
    MG_TRY(smooth_add(lab, d, launch, args, 1, BYTES, FLOPS, v.name));
  }
  return smooth_add_solver(lab, d, MG_OPERATOR_FV4, BYTES, FLOPS);
}
