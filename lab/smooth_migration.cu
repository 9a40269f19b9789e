/* Ladder 4: location of a kernel's data when it starts. Two jobs: a step of a level, and an
 * interpolation from a coarser level just solved on the CPU. The data are
 *   - copied from pageable or pinned host memory;
 *   - read from host memory by the kernel itself; or
 *   - in managed memory, migrated by page faults or prefetched.
 * Before each run, untimed, the data move back to the CPU.
 *
 * Managed memory is at most 1.3 GB here, far below the capacity of any GPU. */
#include "lab/smooth_cuda.h"
#include <cstdlib>
#include <vector>

namespace {
/* In row order. */
enum place_t { DEVICE, PAGEABLE, PINNED, MAPPED, FAULTS, PREFETCH, RESIDENT, N_PLACES };
const char *const name_of[] = {
    "in device memory",           "copied, pageable",   "copied, pinned",
    "pinned, read by the kernel", "managed, by faults", "managed, prefetched",
    "managed, there since before"};

bool is_managed(place_t place) {
  return place == FAULTS || place == PREFETCH || place == RESIDENT;
}

bool is_copied(place_t place) {
  return place == PAGEABLE || place == PINNED;
}

/* Host-side memory of one of these kinds. */
struct elsewhere_t {
  place_t place;
  void *at;
  size_t bytes;

  elsewhere_t(place_t where) : place(where), at(nullptr), bytes(0) {}
  ~elsewhere_t() {
    if (place == PAGEABLE)
      free(at);
    else if (place == PINNED || place == MAPPED)
      (void)cudaFreeHost(at);
    else if (at)
      (void)cudaFree(at);
  }
  mg_status_t make(size_t n) {
    bytes = n;
    if (place == PAGEABLE) {
      at = malloc(n);
      if (!at) return mg_error(MG_ERR_MEMORY, "no memory for %zu bytes", n);
    } else if (place == PINNED || place == MAPPED) {
      MG_CUDA_TRY(cudaHostAlloc(&at, n, cudaHostAllocMapped));
    } else if (is_managed(place)) {
      MG_CUDA_TRY(cudaMallocManaged(&at, n, cudaMemAttachGlobal));
    }
    return MG_OK;
  }
};

/* Move managed memory to the device or to the CPU. */
mg_status_t move(const elsewhere_t &memory, bool to_device, cudaStream_t stream) {
  int device;
  MG_CUDA_TRY(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
  const cudaMemLocation where = {to_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost,
                                 to_device ? device : 0};
  MG_CUDA_TRY(cudaMemPrefetchAsync(memory.at, memory.bytes, where, 0, stream));
#else
  MG_CUDA_TRY(
      cudaMemPrefetchAsync(memory.at, memory.bytes, to_device ? device : cudaCpuDeviceId, stream));
#endif
  return MG_OK;
}

/* A kernel whose input starts elsewhere. */
struct job_t {
  elsewhere_t *memory;
  void *staged; /* destination of the copy on the device */
  mg_status_t (*launch)(const job_t *job, cudaStream_t stream);
  smooth_level_t<double> level; /* step: the level as the kernel reads it */
  double *to, *result;          /* step: result is where `to` is copied back, or NULL */
  size_t result_bytes;
  mg_view_t coarse, fine; /* interpolation: the levels as the kernel reads and writes them */
  double *fine_memory;
  const double *guess; /* initial values of the fine level */
  size_t fine_bytes;
};

mg_status_t prepare(void *arg, cudaStream_t stream) {
  const job_t *j = (const job_t *)arg;
  const elsewhere_t &m = *j->memory;
  if (is_managed(m.place)) {
    MG_TRY(move(m, m.place == RESIDENT, stream));
    MG_CUDA_TRY(cudaStreamSynchronize(stream));
  }
  /* Set the staging memory to NaN, so missing data are detected. */
  if (is_copied(m.place)) MG_CUDA_TRY(cudaMemsetAsync(j->staged, 0xff, m.bytes, stream));
  if (j->guess)
    MG_CUDA_TRY(
        cudaMemcpyAsync(j->fine_memory, j->guess, j->fine_bytes, cudaMemcpyDeviceToDevice, stream));
  return MG_OK;
}

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  const job_t *j = (const job_t *)arg;
  const elsewhere_t &m = *j->memory;
  if (is_copied(m.place))
    MG_CUDA_TRY(cudaMemcpyAsync(j->staged, m.at, m.bytes, cudaMemcpyHostToDevice, stream));
  if (m.place == PREFETCH) MG_TRY(move(m, true, stream));
  MG_TRY(j->launch(j, stream));
  if (is_copied(m.place) && j->result)
    MG_CUDA_TRY(cudaMemcpyAsync(j->result, j->to, j->result_bytes, cudaMemcpyDeviceToHost, stream));
  return MG_OK;
}

/* Some rows take a second, so a few runs of each suffice. */
mg_status_t time_few(const lab_t *lab, job_t *j, lab_row_t *row) {
  lab_t few = *lab;
  few.least_runs = lab->least_runs < 5 ? lab->least_runs : 5;
  few.least_seconds = 0.0;
  MG_TRY(lab_cuda_time(&few, enqueue, j, &row->seconds, prepare));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return lab_cuda_launched(row);
}

mg_status_t has(place_t place, bool *can) {
  int device, concurrent, mapped;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&mapped, cudaDevAttrCanMapHostMemory, device));
  *can = !(is_managed(place) && !concurrent) && !(place == MAPPED && !mapped);
  return MG_OK;
}

/* ---- a step: all its vectors arrive, one returns ---- */

mg_status_t launch_step(const job_t *j, cudaStream_t stream) {
  return smooth_launch_plain(j->level, stream);
}

mg_status_t add_step(lab_t *lab, smooth_data_t<double> *d, place_t place) {
  const int64_t n = d->level.n;
  const size_t array = (size_t)d->array_cells * sizeof(double);
  elsewhere_t memory(place);
  job_t j = {};
  lab_row_t row = {};
  MG_TRY(memory.make(SMOOTH_TO * array + array));
  memory.bytes -= array; /* the input arrives; `to` is output */
  j.memory = &memory;
  j.staged = d->memory;
  j.launch = launch_step;
  j.level = d->level;
  j.to = d->memory + SMOOTH_TO * d->array_cells;
  if (place != DEVICE) {
    j.result = (double *)memory.at + SMOOTH_TO * d->array_cells;
    j.result_bytes = array;
    MG_CUDA_TRY(cudaMemcpy(memory.at, d->memory, memory.bytes + array, cudaMemcpyDeviceToHost));
  }
  if (place == MAPPED || is_managed(place)) {
    j.level = d->level_in((double *)memory.at);
    memory.bytes += array; /* the kernel uses all of it */
  }
  snprintf(row.variant, sizeof row.variant, "%s", name_of[place]);
  row.elements = n * n * n;
  row.useful = 64.0;
  row.flops = 27.0;
  MG_TRY(time_few(lab, &j, &row));
  if (place != DEVICE)
    MG_CUDA_TRY(cudaMemcpy(j.to, j.result, array, cudaMemcpyDefault)); /* the returned copy */
  MG_TRY(d->differ(&row.error));
  return lab_add(lab, &row);
}

/* ---- an interpolation: the fine level is resident, the coarse level arrives ----
 *
 * The solver's own interpolation of corrections for fv2, on levels in the solver's layout. */

/* A level of one patch with one ghost layer and walls on all sides, in memory of patch_doubles. */
enum { PAD = 16 }; /* doubles before the first cell of a row, so that rows are 128-byte aligned */

int64_t row_doubles(int n) {
  return (PAD + n + 1 + PAD - 1) / PAD * PAD;
}

int64_t patch_doubles(int n) {
  return row_doubles(n) * (n + 2) * (n + 2) + PAD;
}

double *first_cell(double *memory, int n) {
  return memory + PAD + row_doubles(n) * (n + 3);
}

mg_patch_t patch_in(double *memory, int n) {
  mg_patch_t p = {};
  p.jstride = row_doubles(n);
  p.kstride = p.jstride * (n + 2);
  for (int d = 0; d < 3; d++) {
    p.n[d] = n;
    p.wall[d][0] = p.wall[d][1] = true;
  }
  p.vec[MG_U] = first_cell(memory, n);
  return p;
}

mg_view_t view_of(mg_patch_t *p) {
  mg_view_t v = {};
  v.patch = p;
  v.n_patches = 1;
  v.dim = v.box_dim = p->n[0];
  v.ghosts = v.layers = 1;
  v.cells = (int64_t)p->n[0] * p->n[1] * p->n[2];
  v.op = MG_OPERATOR_FV2;
  return v;
}

mg_status_t launch_interpolation(const job_t *j, cudaStream_t stream) {
  const cudaStream_t solver = mg_cuda.stream;
  mg_cuda.stream = stream;
  const mg_status_t status =
      mg_cuda_interpolate(&j->coarse, MG_U, &j->fine, MG_U, MG_INTERPOLATE_V2, true);
  mg_cuda.stream = solver;
  return status;
}

/* Values of both levels, including ghosts, and the reference result of the CPU. */
struct levels_t {
  int n;
  std::vector<double> coarse, guess, want;
};

mg_status_t make_levels(levels_t *l) {
  l->coarse.resize((size_t)patch_doubles(l->n / 2));
  l->guess.resize((size_t)patch_doubles(l->n));
  for (size_t c = 0; c < l->coarse.size(); c++)
    l->coarse[c] = lab_value((int64_t)c);
  for (size_t c = 0; c < l->guess.size(); c++)
    l->guess[c] = lab_value((int64_t)c + 1);
  l->want = l->guess;
  std::vector<double> copy = l->coarse; /* only the CPU writes ghosts outside walls */
  mg_patch_t coarse = patch_in(copy.data(), l->n / 2), fine = patch_in(l->want.data(), l->n);
  const mg_view_t c = view_of(&coarse), f = view_of(&fine);
  MG_TRY(mg_backend_cpu.boundary(&c, MG_U, 2));
  return mg_backend_cpu.interpolate(&c, MG_U, &f, MG_U, MG_INTERPOLATE_V2, true);
}

/* Largest difference over all cells. */
double differ(const levels_t &l, const std::vector<double> &got) {
  double most = 0.0;
  const int64_t js = row_doubles(l.n), ks = js * (l.n + 2);
  for (int k = 0; k < l.n; k++)
    for (int j = 0; j < l.n; j++)
      for (int i = 0; i < l.n; i++) {
        const size_t at = (size_t)(PAD + js + ks + i + j * js + k * ks);
        const double error = fabs(got[at] - l.want[at]);
        if (!(error <= most)) most = std::isnan(error) ? INFINITY : error;
      }
  return most;
}

mg_status_t add_interpolation(lab_t *lab, const levels_t &l, const double *guess, double *fine,
                              double *staged, place_t place) {
  const int64_t m = l.n / 2;
  const size_t coarse_bytes = l.coarse.size() * sizeof(double);
  elsewhere_t memory(place);
  job_t j = {};
  lab_row_t row = {};
  MG_TRY(memory.make(coarse_bytes));
  if (place != DEVICE) memcpy(memory.at, l.coarse.data(), coarse_bytes);
  const bool there = place == MAPPED || is_managed(place);
  mg_patch_t coarse_patch = patch_in(there ? (double *)memory.at : staged, l.n / 2),
             fine_patch = patch_in(fine, l.n);
  j.memory = &memory;
  j.staged = staged;
  j.launch = launch_interpolation;
  j.coarse = view_of(&coarse_patch);
  j.fine = view_of(&fine_patch);
  j.fine_memory = fine;
  j.guess = guess;
  j.fine_bytes = l.guess.size() * sizeof(double);
  if (place == DEVICE)
    MG_CUDA_TRY(cudaMemcpy(staged, l.coarse.data(), coarse_bytes, cudaMemcpyHostToDevice));
  snprintf(row.variant, sizeof row.variant, "%s", name_of[place]);
  row.elements = m * m * m * 8;
  row.useful = 17.0;
  row.flops = 7.75;
  MG_TRY(time_few(lab, &j, &row));
  std::vector<double> got(l.guess.size());
  MG_CUDA_TRY(cudaMemcpy(got.data(), fine, j.fine_bytes, cudaMemcpyDeviceToHost));
  row.error = differ(l, got);
  return lab_add(lab, &row);
}

mg_status_t interpolations(lab_t *lab, int n) {
  levels_t l = {n, {}, {}, {}};
  lab_array_t guess, fine, staged;
  MG_TRY(make_levels(&l));
  MG_TRY(guess.make((int64_t)l.guess.size()));
  MG_TRY(fine.make((int64_t)l.guess.size()));
  MG_TRY(staged.make((int64_t)l.coarse.size()));
  MG_CUDA_TRY(cudaMemcpy(guess.at, l.guess.data(), l.guess.size() * sizeof(double),
                         cudaMemcpyHostToDevice));
  lab_table(lab, "smooth", "corrections V2 for %d^3 cells, by where %d^3 coarse ones are", n,
            n / 2);
  for (int p = 0; p < N_PLACES; p++) {
    bool can = false;
    MG_TRY(has((place_t)p, &can));
    if (can) MG_TRY(add_interpolation(lab, l, guess.at, fine.at, staged.at, (place_t)p));
  }
  return MG_OK;
}
} // namespace

mg_status_t smooth_migration(lab_t *lab) {
  const int wanted = smooth_cells(lab->bytes),
            n = wanted < SMOOTH_MOST_MOVED ? wanted : SMOOTH_MOST_MOVED;
  {
    smooth_data_t<double> d;
    MG_TRY(d.make(n));
    MG_TRY(d.expect_chebyshev());
    lab_table(lab, "smooth", "a Chebyshev step, %d^3 cells, by where its vectors are", n);
    for (int p = 0; p < N_PLACES; p++) {
      bool can = false;
      MG_TRY(has((place_t)p, &can));
      if (can) MG_TRY(add_step(lab, &d, (place_t)p));
    }
  }
  MG_TRY(interpolations(lab, 64));
  return n > 64 ? interpolations(lab, n) : MG_OK;
}
