/* Ladder 4: where a kernel's data are when it starts. The step of a level, and an interpolation
 * from a coarser level that the CPU has just solved: copied from the CPU's memory or from pages
 * that stay, read there by the kernel itself, or in managed memory, which comes page by page as it
 * is missed or is asked for before. Before each run, and not timed, the data are the CPU's again.
 *
 * Managed memory here is 1.3 GB at most, far from what any card has. */
#include "smooth_cuda.h"
#include <cstdlib>

namespace {
/* In the order of the rows. */
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

/* Memory of the CPU's side, in one of these ways. */
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

/* Let managed memory be the device's, or the CPU's. */
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

/* A kernel whose input is elsewhere. */
struct job_t {
  elsewhere_t *memory;
  void *staged; /* where it is copied to on the device */
  mg_status_t (*launch)(const job_t *job, cudaStream_t stream);
  smooth_level_t<double> level; /* of a step: as the kernel reads it */
  const double *coarse;         /* of an interpolation: as the kernel reads it */
  const double *from;
  double *to, *result; /* result: where `to` is brought back to, or nothing */
  size_t result_bytes;
  int n;
};

mg_status_t prepare(void *arg, cudaStream_t stream) {
  const job_t *j = (const job_t *)arg;
  const elsewhere_t &m = *j->memory;
  if (is_managed(m.place)) {
    MG_TRY(move(m, m.place == RESIDENT, stream));
    MG_CUDA_TRY(cudaStreamSynchronize(stream));
  }
  /* What a copy does not bring is no number. */
  if (is_copied(m.place)) MG_CUDA_TRY(cudaMemsetAsync(j->staged, 0xff, m.bytes, stream));
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

/* Some rows take a second: a few runs of each will do. */
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

/* --- a step: all its vectors come, one goes back --------------------------------------------- */

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
  memory.bytes -= array; /* what comes; `to` goes */
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
    memory.bytes += array; /* all of it is the kernel's */
  }
  snprintf(row.variant, sizeof row.variant, "%s", name_of[place]);
  row.elements = n * n * n;
  row.useful = 64.0;
  row.flops = 27.0;
  MG_TRY(time_few(lab, &j, &row));
  if (place != DEVICE)
    MG_CUDA_TRY(cudaMemcpy(j.to, j.result, array, cudaMemcpyDefault)); /* what arrived there */
  MG_TRY(d->differ(&row.error));
  return lab_add(lab, &row);
}

/* --- an interpolation: a fine level is here, the coarse one comes ------------------------------
 */

__global__ void __launch_bounds__(256)
    interpolate(double *to, const double *from, const double *coarse, int n) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x % 32), k = (int)blockIdx.z;
  const int j = (int)(blockIdx.y * 8 + threadIdx.x / 32);
  if (i >= n || j >= n) return;
  const int64_t m = n / 2, at = i + n * (j + (int64_t)n * k);
  to[at] = from[at] + coarse[i / 2 + m * (j / 2 + m * (k / 2))];
}

__global__ void count_wrong(double *to, int n, unsigned long long *wrong) {
  const int i = (int)(blockIdx.x * 32 + threadIdx.x % 32), k = (int)blockIdx.z;
  const int j = (int)(blockIdx.y * 8 + threadIdx.x / 32);
  if (i >= n || j >= n) return;
  const int64_t m = n / 2, at = i + n * (j + (int64_t)n * k);
  if (to[at] != lab_value(at) + lab_value(i / 2 + m * (j / 2 + m * (k / 2))))
    atomicAdd(wrong, 1ull);
  to[at] = -1.0;
}

dim3 grid_of(int n) {
  return dim3((unsigned)(n + 31) / 32, (unsigned)(n + 7) / 8, (unsigned)n);
}

mg_status_t launch_interpolation(const job_t *j, cudaStream_t stream) {
  interpolate<<<grid_of(j->n), 256, 0, stream>>>(j->to, j->from, j->coarse, j->n);
  MG_CUDA_LAUNCHED("interpolate");
  return MG_OK;
}

mg_status_t add_interpolation(lab_t *lab, double *to, const double *from, double *staged, int n,
                              place_t place) {
  const int64_t m = n / 2, coarse_cells = m * m * m;
  elsewhere_t memory(place);
  job_t j = {};
  lab_row_t row = {};
  unsigned long long wrong = 0, *count;
  MG_TRY(memory.make((size_t)coarse_cells * sizeof(double)));
  if (place != DEVICE)
    for (int64_t c = 0; c < coarse_cells; c++)
      ((double *)memory.at)[c] = lab_value(c);
  j.memory = &memory;
  j.staged = staged;
  j.launch = launch_interpolation;
  j.coarse = place == MAPPED || is_managed(place) ? (const double *)memory.at : staged;
  j.from = from;
  j.to = to;
  j.n = n;
  snprintf(row.variant, sizeof row.variant, "%s", name_of[place]);
  row.elements = coarse_cells * 8;
  row.useful = 17.0;
  row.flops = 1.0;
  MG_TRY(time_few(lab, &j, &row));
  MG_CUDA_TRY(cudaMalloc((void **)&count, sizeof *count));
  MG_CUDA_TRY(cudaMemset(count, 0, sizeof *count));
  count_wrong<<<grid_of(n), 256>>>(to, n, count);
  MG_CUDA_LAUNCHED("count_wrong");
  MG_CUDA_TRY(cudaMemcpy(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaFree(count));
  row.error = (double)wrong;
  return lab_add(lab, &row);
}

mg_status_t interpolations(lab_t *lab, int n) {
  const int64_t cells = (int64_t)n * n * n;
  lab_array_t to, from, staged;
  MG_TRY(to.make(cells));
  MG_TRY(from.make(cells));
  MG_TRY(staged.make(cells / 8));
  MG_TRY(lab_cuda_fill(from.at, cells));
  MG_TRY(lab_cuda_fill(staged.at, cells / 8));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  lab_table(lab, "smooth", "interpolation to %d^3 cells, where %d^3 coarse ones are", n, n / 2);
  for (int p = 0; p < N_PLACES; p++) {
    bool can = false;
    MG_TRY(has((place_t)p, &can));
    if (can) MG_TRY(add_interpolation(lab, to.at, from.at, staged.at, n, (place_t)p));
  }
  return MG_OK;
}
} // namespace

mg_status_t smooth_migration(lab_t *lab) {
  const int wanted = smooth_cells(lab), n = wanted < 256 ? wanted : 256;
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
