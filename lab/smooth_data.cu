/* Data and expected results of the CUDA smooth ladder. */
#include "lab/smooth_cuda.h"

namespace {
enum { PAD = 128 / sizeof(double) }; /* before the first cell of a row */

__global__ void fill(double *at, int64_t n, int n_side, ptrdiff_t js, ptrdiff_t ks, int array) {
  const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const int k = (int)(p / ks) - SMOOTH_GHOSTS, j = (int)(p % ks / js) - SMOOTH_GHOSTS,
            i = (int)(p % js) - PAD;
  const bool inside = i >= 0 && j >= 0 && k >= 0 && i < n_side && j < n_side && k < n_side;
  if (array >= SMOOTH_BETA && array < SMOOTH_TO)
    at[p] = 0.5 + lab_value(p + 77 * array) / 1024.0; /* ghosts included */
  else
    at[p] = inside && array <= SMOOTH_F ? lab_value(p + 77 * array) / 1024.0 - 0.5 : 0.0;
}

__global__ void set_dinv(smooth_level_t l, double *dinv) {
  MG_CUDA_CELL(i, j, k, ((const int[3]){l.n, l.n, l.n}));
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  dinv[at] = 1.0 / mg_diagonal_7(l.beta[0] + at, l.beta[1] + at, l.beta[2] + at, l.js, l.ks, one,
                                 l.a, l.b_h2);
}

/* Non-negative floating-point numbers order like their bits; NaN is above all. */
__global__ void compare(smooth_level_t l, const double *want, unsigned long long *largest) {
  MG_CUDA_CELL(i, j, k, ((const int[3]){l.n, l.n, l.n}));
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const double difference = fabs(l.to[at] - want[at]);
  if (!(difference == 0.0))
    atomicMax(largest, (unsigned long long)__double_as_longlong(difference));
  l.to[at] = -1e30;
}

dim3 grid_of(int n) {
  return dim3((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8, (unsigned)n);
}
const dim3 block(32, 8, 1);

double *first_cell(const smooth_data_t *d, int array) {
  return d->memory.at + array * d->array_cells + PAD + SMOOTH_GHOSTS * (d->level.js + d->level.ks);
}

/* The level in the solver's form. */
void make_view(smooth_data_t *d) {
  const smooth_level_t &l = d->level;
  static const struct {
    int vec, array;
  } vectors[] = {{MG_U, SMOOTH_X},
                 {MG_F, SMOOTH_F},
                 {MG_TMP, SMOOTH_TO},
                 {MG_PREVIOUS, SMOOTH_WANT},
                 {MG_DINV, SMOOTH_DINV},
                 {MG_BETA_I, SMOOTH_BETA},
                 {MG_BETA_J, SMOOTH_BETA + 1},
                 {MG_BETA_K, SMOOTH_BETA + 2}};
  d->patch = {};
  d->patch.n[0] = d->patch.n[1] = d->patch.n[2] = l.n;
  d->patch.jstride = l.js;
  d->patch.kstride = l.ks;
  for (const auto &v : vectors)
    d->patch.vec[v.vec] = first_cell(d, v.array);
  d->view = {};
  d->view.patch = &d->patch;
  d->view.n_patches = 1;
  d->view.n[0] = d->view.n[1] = d->view.n[2] = d->view.box_dim = l.n;
  d->view.radius = d->view.ghost_layers = SMOOTH_GHOSTS;
  d->view.cells = (int64_t)l.n * l.n * l.n;
  d->view.h[0] = d->view.h[1] = d->view.h[2] = 1.0;
  d->view.a = l.a;
  d->view.b_h2 = l.b_h2;
}
} // namespace

int smooth_cells(int64_t bytes) {
  int n = 32;
  /* Choose the nearest power of two: double n while (n sqrt(2))^3 cells are
   * fewer than an array holds. */
  while (8.0 * n * n * n * 2.8284271247461903 < (double)bytes)
    n *= 2;
  return n;
}

double lab_smooth_needs(int64_t bytes) {
  const double n = smooth_cells(bytes), rows = n + 2.0 * SMOOTH_GHOSTS;
  return SMOOTH_ARRAYS * sizeof(double) * (n + 2.0 * PAD) * rows * rows;
}

mg_status_t smooth_data_t::make(int n) {
  const ptrdiff_t rows = n + 2 * SMOOTH_GHOSTS, js = n + 2 * PAD, ks = js * rows;
  array_cells = ks * rows;
  MG_TRY(memory.make(SMOOTH_ARRAYS * array_cells));
  for (int a = 0; a < SMOOTH_ARRAYS; a++) {
    fill<<<(unsigned)((array_cells + 255) / 256), 256>>>(memory.at + a * array_cells, array_cells,
                                                         n, js, ks, a);
    MG_CUDA_LAUNCHED("fill");
  }
  level = {n, js, ks, 0.25, 1.5, 0.375, 0.75, nullptr, nullptr, nullptr, nullptr, {}, nullptr};
  level.x = first_cell(this, SMOOTH_X);
  level.previous = first_cell(this, SMOOTH_PREVIOUS);
  level.f = first_cell(this, SMOOTH_F);
  level.dinv = first_cell(this, SMOOTH_DINV);
  for (int d = 0; d < 3; d++)
    level.beta[d] = first_cell(this, SMOOTH_BETA + d);
  level.to = first_cell(this, SMOOTH_TO);
  make_view(this);
  set_dinv<<<grid_of(n), block>>>(level, patch.vec[MG_DINV]);
  MG_CUDA_LAUNCHED("set_dinv");
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t smooth_data_t::copy(int to, int from) {
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_CUDA_TRY(cudaMemcpy(memory.at + to * array_cells, memory.at + from * array_cells,
                         (size_t)array_cells * sizeof(double), cudaMemcpyDeviceToDevice));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t smooth_data_t::expect(mg_operator_t op, const mg_step_t *steps, int n, bool walls) {
  const bool in_place = steps[0].colored;
  view.op = op;
  for (int d = 0; d < 3; d++)
    patch.wall[d][0] = patch.wall[d][1] = walls;
  MG_TRY(copy(SMOOTH_WANT, in_place ? SMOOTH_X : SMOOTH_PREVIOUS));
  mg_vector_t from = in_place ? MG_PREVIOUS : MG_U;
  for (int s = 0; s < n; s++) {
    const mg_vector_t to =
        in_place || (n - s) % 2 ? MG_PREVIOUS : MG_TMP; /* the last step writes `want` */
    const mg_sweep_t sweep = {&steps[s], 1, from, to, to, MG_NO_VECTOR};
    MG_TRY(mg_backend_cuda.smooth(&view, &sweep, MG_REGION_ALL));
    from = to;
  }
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t smooth_data_t::differ(double *error) {
  lab_array_t largest;
  MG_TRY(largest.make(1));
  MG_CUDA_TRY(cudaMemset(largest.at, 0, sizeof(double)));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  compare<<<grid_of(level.n), block>>>(level, patch.vec[MG_PREVIOUS],
                                       (unsigned long long *)largest.at);
  MG_CUDA_LAUNCHED("compare");
  MG_CUDA_TRY(cudaMemcpy(error, largest.at, sizeof *error, cudaMemcpyDeviceToHost));
  return MG_OK;
}

static lab_row_t row_of(const smooth_data_t *d, const smooth_row_t &r) {
  lab_row_t row = {};
  row.elements = d->view.cells * r.steps;
  row.useful = r.bytes;
  row.requested = r.requested;
  row.flops = r.flops;
  return row;
}

mg_status_t smooth_add(lab_t *lab, smooth_data_t *d, const lab_launch_t &launch,
                       const smooth_row_t &r) {
  lab_row_t row = row_of(d, r);
  void *args[] = {&d->level};
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(d->differ(&row.error));
  return lab_add(lab, &row, "%s", r.name);
}

mg_status_t smooth_add_solver(lab_t *lab, smooth_data_t *d, lab_enqueue_t enqueue, void *arg,
                              int before, const smooth_row_t &r) {
  lab_row_t row = row_of(d, r);
  MG_TRY(lab_cuda_time(lab, enqueue, arg, &row.seconds, mg_cuda.stream));
  MG_TRY(lab_cuda_launched(&row));
  MG_TRY(d->copy(SMOOTH_TO, before)); /* the timed runs have overwritten it */
  MG_TRY(enqueue(arg, mg_cuda.stream));
  MG_TRY(d->differ(&row.error));
  return lab_add(lab, &row, "%s", r.name);
}
