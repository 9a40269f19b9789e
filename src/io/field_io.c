#include "io/field_io.h"
#include "base/alloc.h"
#include "base/log.h"
#include "io/checksum.h"
#include "io/stored_sums.h"
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Values in the file's precision, and the checksums of all planes. */
typedef struct {
  float *floats; /* current slab; NULL in double precision */
  float *other;  /* previous slab, which may still be being written */
  uint64_t *checksum;
  double largest, smallest; /* magnitudes that became floats, except 0 */
} buffers_t;

static int64_t plane_cells(const mg_field_io_t *io) {
  return (int64_t)io->n[0] * io->n[1];
}

static void release(buffers_t *b) {
  free(b->floats), free(b->other), free(b->checksum);
}

static mg_status_t allocate(const mg_field_io_t *io, buffers_t *b) {
  const int64_t doubles = mg_slabs_planes(io->slabs, 0).n * plane_cells(io);
  *b = (buffers_t){.smallest = INFINITY};
  MG_TRY(mg_new(&b->checksum, io->n[2], "checksums"));
  if (io->precision != MG_PRECISION_FLOAT || doubles == 0) return MG_OK;
  MG_TRY(mg_new(&b->floats, doubles, "dump buffers"));
  return mg_new(&b->other, doubles, "dump buffers");
}

static mg_h5_type_t type_of(const mg_field_io_t *io) {
  return io->precision == MG_PRECISION_FLOAT ? MG_H5_FLOAT
         : io->any_number                    ? MG_H5_NUMBER
                                             : MG_H5_DOUBLE;
}

static void *values_of(const buffers_t *b, const mg_slab_t *slab) {
  return b->floats ? (void *)b->floats : (void *)slab->cells;
}

static void to_doubles(const mg_field_io_t *io, const buffers_t *b, const mg_slab_t *slab) {
  const int64_t n = slab->n * plane_cells(io);
  if (!b->floats) return;
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; i++)
    slab->cells[i] = (double)b->floats[i];
}

/* A value out of range may become anything. */
static void to_floats(const mg_field_io_t *io, buffers_t *b, const mg_slab_t *slab) {
  const int64_t n = slab->n * plane_cells(io);
  double largest = b->largest, smallest = b->smallest;
  if (!b->floats) return;
#pragma omp parallel for simd reduction(max : largest) reduction(min : smallest)
  for (int64_t i = 0; i < n; i++) {
    const double size = fabs(slab->cells[i]);
    largest = size > largest ? size : largest;
    smallest = size < smallest && size > 0.0 ? size : smallest;
    b->floats[i] = size <= FLT_MAX ? (float)slab->cells[i] : 0.0F;
  }
  b->largest = largest;
  b->smallest = smallest;
}

static mg_status_t find_beyond(const mg_field_io_t *io, const buffers_t *b, double *beyond) {
  double largest = b->largest, smallest = b->smallest;
  MG_TRY(mg_comm_max(mg_comm_world(), &largest, 1));
  MG_TRY(mg_comm_min(mg_comm_world(), &smallest, 1));
  const double least = io->is_coefficient ? smallest : largest;
  *beyond = largest > FLT_MAX ? largest : least < FLT_MIN ? least : 0.0;
  return MG_OK;
}

static uint64_t checksum_of(const mg_field_io_t *io, const buffers_t *b, const mg_slab_t *slab,
                            int32_t plane) {
  const int64_t n = plane_cells(io), at = plane * n;
  const uint64_t first = (uint64_t)((slab->first + plane) * n);
  return b->floats ? mg_checksum_floats(b->floats + at, n, first)
                   : mg_checksum_doubles(slab->cells + at, n, first);
}

/* Write or read a small dataset as a whole, on rank 0. */
static mg_status_t move_dataset(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                                const int32_t n[], bool write, void *values) {
  const int32_t rows = mg_comm_is_root() ? n[rank - 1] : 0;
  mg_h5_data_t data;
  MG_TRY(mg_comm_agree(write ? mg_h5_data_create(file, path, type, rank, n, 0, &data)
                             : mg_h5_data_open(file, path, type, rank, n, &data)));
  const mg_status_t status = mg_comm_agree(write ? mg_h5_write_planes(file, &data, 0, rows, values)
                                                 : mg_h5_read_planes(file, &data, 0, rows, values));
  return mg_status_worst(status, mg_comm_agree(mg_h5_data_close(file, &data)));
}

mg_status_t mg_rows_create(int64_t most, mg_rows_t *rows) {
  *rows = (mg_rows_t){0};
  mg_status_t status = mg_new(&rows->values, 2 * most, "rows of a dataset");
  if (status == MG_OK) status = mg_new(&rows->sums, 2 * most, "rows of a dataset");
  MG_TRY(mg_comm_agree(status));
  rows->stored = rows->values + most;
  rows->stored_sums = rows->sums + most;
  return MG_OK;
}

void mg_rows_free(mg_rows_t *rows) {
  free(rows->values);
  free(rows->sums);
}

mg_status_t mg_rows_move(mg_h5_t *file, const char *path, bool has_sums, int rank,
                         const int32_t n[], bool write, const mg_rows_t *rows) {
  const int32_t n_rows = n[rank - 1], length = rank == 1 ? 1 : n[0];
  const size_t bytes = (size_t)n_rows * (size_t)length * sizeof *rows->values;
  MG_TRY(
      move_dataset(file, path, MG_H5_DOUBLE, rank, n, write, write ? rows->values : rows->stored));
  if (has_sums) {
    char sums[MG_H5_NAME_MAX];
    mg_sums_path(path, sums);
    mg_sums_of_rows(rows->values, n_rows, length, rows->sums);
    MG_TRY(move_dataset(file, sums, MG_H5_UINT64, 1, &n_rows, write,
                        write ? rows->sums : rows->stored_sums));
  }
  const bool same = write || (memcmp(rows->values, rows->stored, bytes) == 0 &&
                              (!has_sums || memcmp(rows->sums, rows->stored_sums,
                                                   (size_t)n_rows * sizeof *rows->sums) == 0));
  return MG_ON_ROOT(
      same ? MG_OK : mg_error(MG_ERR_IO, "%s reads back different values; check the disk", path));
}

/* --- writing --------------------------------------------------------------------------- */

/* Remove the factors. */
static void unscale(const mg_field_io_t *io, const mg_slab_t *slab) {
  const double *const *factor = (const double *const *)io->metric->factor;
  const int64_t plane = plane_cells(io);
  if (io->metric->is_one) return;
#pragma omp parallel for
  for (int32_t k = 0; k < slab->n; k++)
    for (int32_t j = 0; j < io->n[1]; j++)
      for (int32_t i = 0; i < io->n[0]; i++)
        slab->cells[k * plane + (int64_t)j * io->n[0] + i] /=
            factor[0][i] * factor[1][j] * factor[2][slab->first + k];
}

static void prepare(const mg_field_io_t *io, buffers_t *b, const mg_slab_t *slab) {
  unscale(io, slab);
  to_floats(io, b, slab);
  for (int32_t k = 0; k < slab->n; k++)
    b->checksum[slab->first + k] = checksum_of(io, b, slab, k);
}

/* Fetch a round's slab. If fetches are asynchronous, also start fetching the next one. */
static mg_status_t fetch(const mg_field_io_t *io, mg_vector_t vec, int round, mg_slab_t *slab) {
  const bool ahead = mg_slabs_fetch_goes_on(io->slabs);
  if (!ahead || round == 0) MG_TRY(mg_slabs_fetch_begin(io->slabs, vec, round));
  MG_TRY(mg_comm_agree_or_end(mg_slabs_fetch_end(io->slabs, round, slab)));
  if (!ahead || round + 1 == mg_slabs_rounds(io->slabs)) return MG_OK;
  return mg_slabs_fetch_begin(io->slabs, vec, round + 1);
}

/* A thread that writes a slab while its owner fetches the next one. */
typedef struct {
  const mg_field_io_t *io;
  const mg_h5_data_t *data;
  mg_slab_t slab;
  const void *values;
  pthread_t thread; /* one per write: a slab takes far longer than its start */
  bool runs;
  mg_status_t status; /* of the last write */
} writer_t;

static void *write_planes(void *arg) {
  writer_t *w = arg;
  w->status = mg_h5_write_planes(w->io->file, w->data, w->slab.first, w->slab.n, w->values);
  return NULL;
}

static mg_status_t join(writer_t *w) {
  if (w->runs && pthread_join(w->thread, NULL) != 0) abort();
  w->runs = false;
  return w->status;
}

/* Until it is joined, the values must not change and no function of h5.h may be called. Signals are
 * blocked in the thread, so that its owner handles them. */
static void start(writer_t *w) {
  sigset_t all, before;
  if (!w->io->file) return;
  (void)sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) abort(); /* cannot fail */
  w->runs = pthread_create(&w->thread, NULL, write_planes, w) == 0;
  if (pthread_sigmask(SIG_SETMASK, &before, NULL) != 0) abort();
  if (!w->runs) w->status = mg_error(MG_ERR_MEMORY, "the writer thread cannot be started");
}

/* If one rank owns the file, a thread writes a slab while this one fetches the next, also from
 * other ranks, and computes its checksums. If ranks share the file, file access sends MPI messages,
 * which only this thread may do. */
static mg_status_t write_rounds(writer_t *w, buffers_t *b, mg_vector_t vec) {
  const bool shared = mg_h5_ranks() > 1;
  for (int round = 0; round < mg_slabs_rounds(w->io->slabs); round++) {
    mg_slab_t slab;
    MG_TRY(fetch(w->io, vec, round, &slab));
    prepare(w->io, b, &slab);
    /* The next fetch to start reuses the memory of slab round - 1, so its write must finish
     * first. */
    MG_TRY(mg_comm_agree(join(w)));
    w->slab = slab;
    w->values = values_of(b, &slab);
    if (shared)
      (void)write_planes(w);
    else
      start(w);
    float *const swap = b->floats;
    b->floats = b->other;
    b->other = swap;
  }
  return mg_comm_agree(join(w));
}

/* OpenMP regions use one thread fewer, so that the thread that writes has a core. */
static mg_status_t write_slabs(const mg_field_io_t *io, const mg_h5_data_t *data, buffers_t *b,
                               mg_vector_t vec) {
  writer_t w = {.io = io, .data = data};
#ifdef _OPENMP
  const int threads = omp_get_max_threads();
  if (io->file && mg_h5_ranks() == 1 && threads > 1) omp_set_num_threads(threads - 1);
#endif
  const mg_status_t status = write_rounds(&w, b, vec);
  (void)join(&w);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  return status;
}

/* Sum the checksums of all ranks; rank 0 writes them. */
static mg_status_t write_checksums(const mg_field_io_t *io, const buffers_t *b, const char *path) {
  char name[MG_H5_NAME_MAX];
  mg_sums_path(path, name);
  MG_TRY(mg_checksum_sum(b->checksum, io->n[2]));
  return move_dataset(io->file, name, MG_H5_UINT64, 1, &io->n[2], true, b->checksum);
}

mg_status_t mg_field_write(const mg_field_io_t *io, const char *path, mg_vector_t vec,
                           double *beyond) {
  buffers_t b;
  mg_h5_data_t data = {.id = -1};
  mg_status_t status = mg_comm_agree(allocate(io, &b));
  if (status == MG_OK)
    status = mg_comm_agree(
        mg_h5_data_create(io->file, path, type_of(io), 3, io->n, io->compress, &data));
  if (status == MG_OK) status = write_slabs(io, &data, &b, vec);
  status = mg_status_worst(status, mg_comm_agree(mg_h5_data_close(io->file, &data)));
  if (status == MG_OK) status = write_checksums(io, &b, path);
  if (status == MG_OK) status = find_beyond(io, &b, beyond);
  release(&b);
  return status;
}

/* --- reading --------------------------------------------------------------------------- */

/* Report one line, from the rank with the first plane whose checksum differs. */
static mg_status_t compare(const mg_field_io_t *io, const char *path, const buffers_t *b,
                           const mg_slab_t *slab) {
  int32_t bad = io->n[2];
  for (int32_t k = slab->n - 1; io->file && k >= 0; k--)
    if (checksum_of(io, b, slab, k) != b->checksum[k]) bad = slab->first + k;
  double first = bad;
  MG_TRY(mg_comm_min(mg_comm_world(), &first, 1));
  if (first >= io->n[2]) return MG_OK;
  if (first != bad) return MG_ERR_IO;
  return mg_error(MG_ERR_IO, "%s: plane %d of %s is damaged: its checksum does not match",
                  mg_h5_file_name(io->file), bad, path);
}

static mg_status_t read_slabs(const mg_field_io_t *io, const char *path, const mg_h5_data_t *data,
                              const mg_h5_data_t *sums, const buffers_t *b, mg_vector_t vec) {
  for (int round = 0; round < mg_slabs_rounds(io->slabs); round++) {
    const mg_slab_t slab = mg_slabs_planes(io->slabs, round);
    MG_TRY(
        mg_comm_agree(mg_h5_read_planes(io->file, data, slab.first, slab.n, values_of(b, &slab))));
    if (!io->has_no_sums) {
      MG_TRY(mg_comm_agree(mg_h5_read_planes(io->file, sums, slab.first, slab.n, b->checksum)));
      MG_TRY(compare(io, path, b, &slab));
    }
    if (vec < 0 && !io->take) continue;
    to_doubles(io, b, &slab);
    MG_TRY(io->take ? io->take(io->data, &slab, round)
                    : mg_comm_agree_or_end(mg_slabs_store(io->slabs, vec, round)));
  }
  return MG_OK;
}

mg_status_t mg_field_read(const mg_field_io_t *io, const char *path, mg_vector_t vec) {
  buffers_t b;
  char name[MG_H5_NAME_MAX];
  mg_h5_data_t data = {.id = -1}, sums = {.id = -1};
  mg_status_t status = mg_comm_agree(allocate(io, &b));
  mg_sums_path(path, name);
  if (status == MG_OK)
    status = mg_comm_agree(mg_h5_data_open(io->file, path, type_of(io), 3, io->n, &data));
  if (status == MG_OK && !io->has_no_sums)
    status = mg_comm_agree(mg_h5_data_open(io->file, name, MG_H5_UINT64, 1, &io->n[2], &sums));
  if (status == MG_OK) status = read_slabs(io, path, &data, &sums, &b, vec);
  status = mg_status_worst(status, mg_comm_agree(mg_h5_data_close(io->file, &data)));
  status = mg_status_worst(status, mg_comm_agree(mg_h5_data_close(io->file, &sums)));
  release(&b);
  return status;
}
