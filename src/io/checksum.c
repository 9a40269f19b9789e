#include "io/checksum.h"
#include "base/machine.h"
#include "level/ops.h"
#include <string.h>

/* Product of two 32-bit words, each with its own key derived from the index. The product has 64
 * bits, so a change of one word changes it, unless the other sum is 0. The low word of round
 * numbers is 0, so no index that occurs may have 0 as its first key. */
static inline uint64_t term(uint32_t low, uint32_t high, uint32_t index) {
  const uint32_t a = low + (index + 1) * 0x9e3779b1u,
                 b = high + (index * 0x85ebca6bu ^ 0x7feb352du);
  return (uint64_t)a * b;
}

/* At most one thread per 65536 values: beyond that, the barrier costs more than threads save. */
static int threads_for(int64_t n) {
  const int64_t useful = n >> 16, max = mg_machine_threads();
  return useful < 1 ? 1 : (int)(useful < max ? useful : max);
}

uint64_t mg_checksum_doubles(const double *value, int64_t n, uint64_t first) {
  const uint32_t start = (uint32_t)first;
  const int threads = threads_for(n);
  uint64_t sum = 0;
  (void)threads; /* a build without OpenMP */
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    sum += term((uint32_t)bits, (uint32_t)(bits >> 32), start + (uint32_t)i);
  }
  return sum;
}

/* The second factor is that of a zero word. */
uint64_t mg_checksum_floats(const float *value, int64_t n, uint64_t first) {
  const uint32_t start = (uint32_t)first;
  const int threads = threads_for(n);
  uint64_t sum = 0;
  (void)threads; /* a build without OpenMP */
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, &value[i], sizeof bits);
    sum += term(bits, 0, start + (uint32_t)i);
  }
  return sum;
}

/* Sums of 32-bit halves are exact for up to 2^21 ranks. */
mg_status_t mg_checksum_sum(uint64_t *sums, int64_t n) {
  enum { MOST = 512 };
  double halves[2 * MOST];
  for (int64_t done = 0; done < n; done += MOST) {
    const int count = (int)(n - done < MOST ? n - done : MOST);
    for (int i = 0; i < count; i++) {
      halves[2 * i] = (double)(sums[done + i] >> 32);
      halves[2 * i + 1] = (double)(sums[done + i] & 0xffffffffu);
    }
    MG_TRY(mg_comm_sum(mg_comm_world(), halves, 2 * count));
    for (int i = 0; i < count; i++)
      sums[done + i] = ((uint64_t)halves[2 * i] << 32) + (uint64_t)halves[2 * i + 1];
  }
  return MG_OK;
}

/* --- fields in memory ---------------------------------------------------------------------- */

enum { BUFFER_BYTES = 2 << 20 };

/* Planes of a patch that are copied at a time. */
static int32_t planes_of(const mg_patch_t *p) {
  const int64_t fit = BUFFER_BYTES / ((int64_t)p->n[0] * p->n[1] * (int64_t)sizeof(double));
  return fit < 1 ? 1 : fit < p->n[2] ? (int32_t)fit : p->n[2];
}

static mg_status_t sum_patch(const mg_level_t *level, mg_vector_t vec, int q, double *buffer,
                             uint64_t *sum) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[q];
  const int32_t planes = planes_of(p);
  for (int32_t k = 0; k < p->n[2]; k += planes) {
    const int32_t n = p->n[2] - k < planes ? p->n[2] - k : planes;
    const mg_copy_t item = {
        .src_patch = q, .dst_patch = -1, .src_lo = {0, 0, k}, .n = {p->n[0], p->n[1], n}};
    const mg_copy_job_t job = {v, v, buffer, &item, 1};
    MG_TRY(mg_copy_once(level->backend, &job, vec, vec));
    for (int64_t j = 0; j < (int64_t)n * p->n[1]; j++) {
      const int64_t row = (p->lo[2] + k + j / p->n[1]) * v->n[1] + p->lo[1] + j % p->n[1];
      *sum +=
          mg_checksum_doubles(buffer + j * p->n[0], p->n[0], (uint64_t)(row * v->n[0] + p->lo[0]));
    }
  }
  return MG_OK;
}

static mg_status_t sum_patches(const mg_level_t *level, mg_vector_t vec, uint64_t *sum) {
  const mg_view_t *v = &level->store.view;
  size_t bytes = 0;
  void *buffer;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    const size_t needed = (size_t)p->n[0] * (size_t)p->n[1] * (size_t)planes_of(p) * sizeof(double);
    bytes = needed > bytes ? needed : bytes;
  }
  if (bytes == 0) return MG_OK;
  MG_TRY(level->backend->alloc(bytes, MG_SPACE_SHARED, &buffer));
  mg_status_t status = MG_OK;
  for (int q = 0; q < v->n_patches && status == MG_OK; q++)
    status = sum_patch(level, vec, q, buffer, sum);
  level->backend->release(buffer, bytes, MG_SPACE_SHARED);
  return status;
}

mg_status_t mg_field_checksum(const mg_level_t *level, mg_vector_t vec, uint64_t *checksum) {
  *checksum = 0;
  MG_TRY(mg_comm_agree(sum_patches(level, vec, checksum)));
  return mg_checksum_sum(checksum, 1);
}
