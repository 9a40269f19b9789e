/* Data and references of the CUDA smooth ladder. */
#include "lab/smooth_cuda.h"
#include <vector>

namespace {
/* A value in [0, 1) from an index, identical in every precision: 20 bits. */
__host__ __device__ inline double scatter(int64_t i, int salt) {
  uint64_t h = ((uint64_t)i + (uint64_t)salt * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 29;
  h *= 0x94d049bb133111ebu;
  return (double)(h >> 44) / 1048576.0;
}

template <typename T>
__global__ void fill(T *at, int64_t n, int n_side, ptrdiff_t js, ptrdiff_t ks, ptrdiff_t origin,
                     int array) {
  const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const int k = (int)(p / ks) - SMOOTH_GHOSTS, j = (int)(p % ks / js) - SMOOTH_GHOSTS,
            i = (int)(p % js) - (int)(origin % js);
  const bool inside = i >= 0 && j >= 0 && k >= 0 && i < n_side && j < n_side && k < n_side;
  if (array >= SMOOTH_BETA && array < SMOOTH_TO)
    at[p] = (T)(0.5 + scatter(p, array)); /* ghosts included */
  else
    at[p] = inside && array <= SMOOTH_F ? (T)(scatter(p, array) - 0.5) : T(0);
}

template <typename T>
__device__ smooth_near_t<T> load_near(const smooth_level_t<T> &l, const T *x, ptrdiff_t at) {
  smooth_near_t<T> v;
  const ptrdiff_t step[3] = {1, l.js, l.ks};
  v.c = x[at];
  for (int d = 0; d < 3; d++) {
    v.low[d] = x[at - step[d]];
    v.high[d] = x[at + step[d]];
    v.beta[d][0] = l.beta[d][at];
    v.beta[d][1] = l.beta[d][at + step[d]];
  }
  return v;
}

template <typename T> __global__ void set_dinv(smooth_level_t<T> l, T *dinv) {
  MG_CUDA_CELL(i, j, k, ((const int[3]){l.n, l.n, l.n}));
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  dinv[at] = smooth_dinv(load_near(l, l.x, at).beta, l.a, l.b_h2);
}

/* The reference kernel. weight < 0: a Chebyshev step. */
template <typename T> __global__ void plain_step(smooth_level_t<T> l, const T *x, T *to, T weight) {
  MG_CUDA_CELL(i, j, k, ((const int[3]){l.n, l.n, l.n}));
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const T ax = smooth_apply(load_near(l, x, at), l.a, l.b_h2);
  to[at] = weight < T(0)
               ? fma(l.c2 * l.dinv[at], l.f[at] - ax, fma(l.c1, x[at] - l.previous[at], x[at]))
               : smooth_step(x[at], ax, l.f[at], l.dinv[at], weight);
}

/* Non-negative floating-point numbers order like their bits; NaN is above all. */
template <typename T>
__global__ void compare(smooth_level_t<T> l, const T *want, unsigned long long *largest) {
  MG_CUDA_CELL(i, j, k, ((const int[3]){l.n, l.n, l.n}));
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const double difference = fabs((double)l.to[at] - (double)want[at]);
  if (!(difference == 0.0))
    atomicMax(largest, (unsigned long long)__double_as_longlong(difference));
  l.to[at] = T(-1e30);
}

dim3 grid_of(int n) {
  return dim3((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8, (unsigned)n);
}
const dim3 block(32, 8, 1);

__global__ void plain_fv4(smooth_level_t<double> l, double *to) {
  MG_CUDA_CELL(i, j, k, ((const int[3]){l.n, l.n, l.n}));
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const double ax = mg_apply_fv4(l.x + at, l.beta[0] + at, l.beta[1] + at, l.beta[2] + at, l.js,
                                 l.ks, l.a, l.b_h2);
  to[at] = mg_update(l.x[at], l.previous[at], ax, l.f[at], l.dinv[at], l.c1, l.c2);
}

/* Planes k - 2 to k + 2 of an array on the host, in double; at(i, j) is a cell of plane k. */
struct planes_t {
  std::vector<double> value;
  ptrdiff_t lead, plane;
  template <typename T> mg_status_t fetch(const smooth_level_t<T> &l, const T *from, int k) {
    const ptrdiff_t pad = 128 / (ptrdiff_t)sizeof(T); /* in front of a row's first cell */
    lead = SMOOTH_GHOSTS * l.js + pad;
    plane = l.ks;
    std::vector<T> raw((size_t)(5 * plane));
    MG_CUDA_TRY(cudaMemcpy(raw.data(), from - lead + (k - 2) * plane, raw.size() * sizeof(T),
                           cudaMemcpyDeviceToHost));
    value.assign(raw.begin(), raw.end());
    return MG_OK;
  }
  const double *at(ptrdiff_t cell) const { return &value[(size_t)(2 * plane + lead + cell)]; }
};

/* A step of the reference kernel, which wrote `got`. */
template <typename T> struct step_t {
  const T *got;
  bool fv4;
  T weight; /* of the Jacobi form; < 0: Chebyshev */
};

/* For float, up to rounding: a sum of six terms of both signs, and the update. */
template <typename T> bool is_near(double got, double want, double size) {
  return sizeof(T) == sizeof(double) ? got == want : fabs(got - want) <= 1e-5 * size;
}

/* Compare one plane of a step from x with the solver's formulas on the host: bit-identical. */
template <typename T>
mg_status_t check_plane(const smooth_level_t<T> &l, const step_t<T> &step, int k) {
  planes_t x, previous, f, stored, beta[3], got;
  MG_TRY(x.fetch(l, l.x, k));
  MG_TRY(previous.fetch(l, l.previous, k));
  MG_TRY(f.fetch(l, l.f, k));
  MG_TRY(stored.fetch(l, l.dinv, k));
  MG_TRY(got.fetch(l, step.got, k));
  for (int e = 0; e < 3; e++)
    MG_TRY(beta[e].fetch(l, l.beta[e], k));
  const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  for (int j = 0; j < l.n; j++)
    for (int i = 0; i < l.n; i++) {
      const ptrdiff_t cell = i + j * l.js;
      const double *const b[3] = {beta[0].at(cell), beta[1].at(cell), beta[2].at(cell)};
      const double *const c = x.at(cell);
      const double ax = step.fv4 ? mg_apply_fv4(c, b[0], b[1], b[2], l.js, l.ks, l.a, l.b_h2)
                                 : mg_apply_7(c, b[0], b[1], b[2], l.js, l.ks, l.a, l.b_h2);
      const double dinv = 1.0 / mg_diagonal_7(b[0], b[1], b[2], l.js, l.ks, one, l.a, l.b_h2);
      const bool jacobi = step.weight >= T(0);
      const double before = jacobi ? *c : *previous.at(cell);
      const double want = mg_update(*c, before, ax, *f.at(cell), dinv, jacobi ? 0.0 : l.c1,
                                    jacobi ? step.weight : l.c2);
      if (!is_near<T>(*stored.at(cell), dinv, dinv) ||
          !is_near<T>(*got.at(cell), want, 1.0 + fabs(*c) + fabs(dinv * *f.at(cell))))
        return mg_error(MG_ERR_INTERNAL, "smooth: the oracle's cell (%d, %d, %d) is wrong", i, j,
                        k);
    }
  return MG_OK;
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

/* Bytes per array as in make(), in double. */
static double array_bytes(int n) {
  const double pad = 128.0 / sizeof(double), rows = n + 2.0 * SMOOTH_GHOSTS;
  return sizeof(double) * (n + 2.0 * pad) * rows * rows;
}

double lab_smooth_needs(int64_t bytes) {
  const int n = smooth_cells(bytes), moved = n < SMOOTH_MOST_MOVED ? n : SMOOTH_MOST_MOVED;
  /* The migration table holds the vectors on the device once more, except `want`. */
  return fmax(SMOOTH_ARRAYS * array_bytes(n), (SMOOTH_ARRAYS + SMOOTH_TO + 1) * array_bytes(moved));
}

template <typename T> smooth_level_t<T> smooth_data_t<T>::level_in(T *other) const {
  smooth_level_t<T> l = level;
  T *const first =
      other + 128 / (ptrdiff_t)sizeof(T) + SMOOTH_GHOSTS * (level.js + level.ks); /* cell (0,0,0) */
  l.x = first + SMOOTH_X * array_cells;
  l.previous = first + SMOOTH_PREVIOUS * array_cells;
  l.f = first + SMOOTH_F * array_cells;
  l.dinv = first + SMOOTH_DINV * array_cells;
  for (int d = 0; d < 3; d++)
    l.beta[d] = first + (SMOOTH_BETA + d) * array_cells;
  l.to = first + SMOOTH_TO * array_cells;
  return l;
}

template <typename T> mg_status_t smooth_data_t<T>::make(int n) {
  const ptrdiff_t pad = 128 / (ptrdiff_t)sizeof(T), rows = n + 2 * SMOOTH_GHOSTS;
  level.n = n;
  level.js = n + 2 * pad;
  level.ks = level.js * rows;
  level.a = T(0.25);
  level.b_h2 = T(1.5);
  level.c1 = T(0.375);
  level.c2 = T(0.75);
  for (int s = 0; s < SMOOTH_MOST_STEPS; s++)
    level.weight[s] = T(0.5 + 0.125 * s);
  array_cells = level.ks * rows;
  MG_TRY(lab_cuda_alloc((size_t)(SMOOTH_ARRAYS * array_cells) * sizeof(T), (void **)&memory));
  const ptrdiff_t origin = pad + SMOOTH_GHOSTS * (level.js + level.ks);
  for (int v = 0; v < SMOOTH_ARRAYS; v++) {
    fill<<<(unsigned)((array_cells + 255) / 256), 256>>>(memory + v * array_cells, array_cells, n,
                                                         level.js, level.ks, origin, v);
    MG_CUDA_LAUNCHED("fill");
  }
  level = level_in(memory);
  want = memory + SMOOTH_WANT * array_cells + origin;
  set_dinv<<<grid_of(n), block>>>(level, const_cast<T *>(level.dinv));
  MG_CUDA_LAUNCHED("set_dinv");
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t smooth_launch_plain(const smooth_level_t<double> &level, cudaStream_t stream) {
  plain_step<<<grid_of(level.n), block, 0, stream>>>(level, level.x, level.to, -1.0);
  MG_CUDA_LAUNCHED("plain_step");
  return MG_OK;
}

/* The first, the middle and the last plane. */
template <typename T>
static mg_status_t check_planes(const smooth_level_t<T> &level, const step_t<T> &step) {
  MG_CUDA_TRY(cudaDeviceSynchronize());
  for (int k : {0, level.n / 2, level.n - 1})
    MG_TRY(check_plane(level, step, k));
  return MG_OK;
}

template <typename T> mg_status_t smooth_data_t<T>::expect_chebyshev() {
  plain_step<<<grid_of(level.n), block>>>(level, level.x, want, T(-1));
  MG_CUDA_LAUNCHED("plain_step");
  return check_planes(level, step_t<T>{want, false, T(-1)});
}

template <> mg_status_t smooth_data_t<double>::expect_fv4() {
  plain_fv4<<<grid_of(level.n), block>>>(level, want);
  MG_CUDA_LAUNCHED("plain_fv4");
  return check_planes(level, step_t<double>{want, true, -1.0});
}

template <typename T> mg_status_t smooth_data_t<T>::expect_steps(int steps) {
  /* Alternate between buffers, so that the last step writes `want`. */
  const T *from = level.x;
  for (int s = 0; s < steps; s++) {
    T *const to = (steps - s) % 2 ? want : level.to;
    plain_step<<<grid_of(level.n), block>>>(level, from, to, level.weight[s]);
    MG_CUDA_LAUNCHED("plain_step");
    /* Later steps use the same kernel on its own output. */
    if (s == 0) MG_TRY(check_planes(level, step_t<T>{to, false, level.weight[0]}));
    from = to;
  }
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

template <typename T> mg_status_t smooth_data_t<T>::differ(double *error) {
  unsigned long long *largest;
  MG_CUDA_TRY(cudaMalloc((void **)&largest, sizeof *largest));
  MG_CUDA_TRY(cudaMemset(largest, 0, sizeof *largest));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  compare<<<grid_of(level.n), block>>>(level, want, largest);
  MG_CUDA_LAUNCHED("compare");
  MG_CUDA_TRY(cudaMemcpy(error, largest, sizeof *error, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaFree(largest));
  return MG_OK;
}

template <typename T>
mg_status_t smooth_add(lab_t *lab, smooth_data_t<T> *d, const lab_launch_t &launch, void **args,
                       int steps, double bytes, double flops, const char *name) {
  lab_row_t row = {};
  const int64_t n = d->level.n;
  snprintf(row.variant, sizeof row.variant, "%s", name);
  row.elements = n * n * n * steps;
  row.useful = bytes;
  row.flops = flops;
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(d->differ(&row.error));
  return lab_add(lab, &row);
}

template mg_status_t smooth_data_t<double>::make(int);
template smooth_level_t<double> smooth_data_t<double>::level_in(double *) const;
template mg_status_t smooth_data_t<double>::expect_chebyshev();
template mg_status_t smooth_data_t<double>::expect_steps(int);
template mg_status_t smooth_data_t<double>::differ(double *);
template mg_status_t smooth_data_t<float>::make(int);
template mg_status_t smooth_data_t<float>::expect_steps(int);
template mg_status_t smooth_data_t<float>::differ(double *);
template mg_status_t smooth_add<double>(lab_t *, smooth_data_t<double> *, const lab_launch_t &,
                                        void **, int, double, double, const char *);
template mg_status_t smooth_add<float>(lab_t *, smooth_data_t<float> *, const lab_launch_t &,
                                       void **, int, double, double, const char *);
