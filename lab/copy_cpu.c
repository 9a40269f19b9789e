/* Ladder 1 on a CPU: how a copy reaches the full bandwidth. One core is limited by the number of
 * cache lines in flight. Wide, independent loads keep more lines in flight. Non-temporal stores do
 * not read the lines that they overwrite. Threads add the lines of their cores. */
#include "base/log.h"
#include "base/machine.h"
#include "base/machine_cache.h"
#include "base/machine_checks.h"
#include "lab/lab_cpu.h"
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Copy n numbers. */
typedef void (*copy_fn)(double *to, const double *from, int64_t n);

static void one_at_a_time(double *to, const double *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &from[i], sizeof bits);
    LAB_OPAQUE(bits);
    memcpy(&to[i], &bits, sizeof bits);
  }
}

/* Eight loads, then eight stores: eight lines in flight at once, each from a different eighth. */
static void eight_streams(double *to, const double *from, int64_t n) {
  enum { N = 8 };
  const int64_t each = n / N;
  for (int64_t i = 0; i < each; i++) {
    uint64_t bits[N];
    for (int u = 0; u < N; u++) {
      memcpy(&bits[u], &from[u * each + i], sizeof bits[u]);
      LAB_OPAQUE(bits[u]);
    }
    for (int u = 0; u < N; u++)
      memcpy(&to[u * each + i], &bits[u], sizeof bits[u]);
  }
  one_at_a_time(to + N * each, from + N * each, n - N * each);
}

static void vectors(double *to, const double *from, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    to[i] = from[i];
}

static void library(double *to, const double *from, int64_t n) {
  memcpy(to, from, (size_t)n * sizeof *to);
}

#ifdef __SSE2__
/* Each thread's numbers start at a cache line. */
static void past_the_cache(double *to, const double *from, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int u = 0; u < 8; u += 2)
      _mm_stream_pd(&to[i + u], _mm_loadu_pd(&from[i + u]));
  for (; i < n; i++)
    to[i] = from[i];
  _mm_sfence();
}
#endif

static const struct {
  const char *name;
  copy_fn copy;
  bool limit; /* candidate for the fastest variant */
} variants[] = {
    {"one double at a time", one_at_a_time, false},
    {"8 streams, loads batched", eight_streams, false},
    {"vectors", vectors, false},
    {"memcpy", library, true},
#ifdef __SSE2__
    {"vectors, non-temporal stores", past_the_cache, true},
#endif
};
enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

typedef struct {
  double *to;
  const double *from;
  int64_t n;
  int threads;
  copy_fn copy;
} work_t;

static void run(void *arg) {
  const work_t *w = arg;
#pragma omp parallel num_threads(w->threads)
  {
    int64_t first, last;
    lab_share(w->n, 8, &first, &last);
    w->copy(w->to + first, w->from + first, last - first);
  }
}

static double copied(const void *arg, int64_t i) {
  (void)arg;
  return lab_value(i);
}

/* The baseline of all rows: the faster of memcpy and non-temporal stores. */
static mg_status_t measure_copy(lab_t *lab, work_t *w) {
  lab_t runs = *lab;
  if (w->n > lab->bytes / 8 && runs.min_runs > 9) runs.min_runs = 9;
  w->threads = lab->threads;
  for (int v = 0; v < N_VARIANTS; v++) {
    if (!variants[v].limit) continue;
    w->copy = variants[v].copy;
    const double gb_per_s = 16e-9 * (double)w->n / lab_seconds(&runs, run, w);
    if (lab_wrong(w->to, w->n, copied, NULL) > 0.0)
      return mg_error(MG_ERR_INTERNAL, "copy: '%s' gives a wrong result", variants[v].name);
    if (gb_per_s > lab->copy_gb_per_s) lab->copy_gb_per_s = gb_per_s;
  }
  return MG_OK;
}

/* Call `work` with two arrays. */
static mg_status_t with_arrays(lab_t *lab, int64_t bytes, mg_status_t (*work)(lab_t *, work_t *)) {
  const int64_t n = bytes / 8;
  double *from = lab_values(n), *to = from ? lab_doubles(n) : NULL;
  work_t w = {to, from, n, 1, NULL};
  const mg_status_t status = to ? work(lab, &w) : MG_ERR_MEMORY;
  free(to);
  free(from);
  return status;
}

mg_status_t lab_open_cpu(lab_t *lab) {
  snprintf(lab->machine, sizeof lab->machine, "%s", mg_machine_cpu());
  lab->threads = mg_machine_threads();
  lab->cache_bytes = mg_machine_cache(lab->threads);
  /* The baseline is a speed of memory: its arrays are twice the size of the cache, if that leaves
   * half of the memory free. */
  const int64_t wanted = lab->cache_bytes / 64 * 64, free = mg_host_memory_available();
  return with_arrays(lab, wanted > lab->bytes && wanted < free / 4 ? wanted : lab->bytes,
                     measure_copy);
}

static mg_status_t add(lab_t *lab, work_t *w, const char *name) {
  lab_row_t row = {.threads = w->threads, .elements = w->n, .useful = 16.0};
  row.seconds = lab_seconds(lab, run, w);
  row.error = lab_wrong(w->to, w->n, copied, NULL);
  return lab_add(lab, &row, "%s", name);
}

static mg_status_t tables(lab_t *lab, work_t *w) {
  const double mib = (double)lab->bytes / 1048576.0;
  lab_table(lab, "copy", "one thread, %.4g MiB to %.4g MiB", mib, mib);
  for (int v = 0; v < N_VARIANTS; v++) {
    w->copy = variants[v].copy;
    w->threads = 1;
    MG_TRY(add(lab, w, variants[v].name));
  }
  for (int v = 0; v < N_VARIANTS && lab->threads > 1; v++) {
    lab_table(lab, "copy", "threads, %s", variants[v].name);
    w->copy = variants[v].copy;
    for (int threads = 1, last = 0; !last; threads *= 2) {
      last = threads >= lab->threads;
      char name[LAB_NAME];
      w->threads = last ? lab->threads : threads;
      snprintf(name, sizeof name, "%d thread%s", w->threads, w->threads == 1 ? "" : "s");
      MG_TRY(add(lab, w, name));
    }
  }
  return MG_OK;
}

mg_status_t lab_copy_cpu(lab_t *lab) {
  return with_arrays(lab, lab->bytes, tables);
}
