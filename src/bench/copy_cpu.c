/* Ladder 1 on a CPU: how a copy comes to use the whole bandwidth. One core alone is held up by the
 * lines that it can have under way; wide and independent loads have more of them, stores past the
 * cache do not read what they overwrite, and threads add their cores' lines. */
#include "lab_cpu.h"
#include "log.h"
#include "machine.h"
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct {
  double *restrict to;
  const double *restrict from;
  int64_t first, last;
} part_t;

typedef void (*copy_fn)(const part_t *part);

static void one_at_a_time(const part_t *p) {
  for (int64_t i = p->first; i < p->last; i++) {
    uint64_t bits;
    memcpy(&bits, &p->from[i], sizeof bits);
    LAB_OPAQUE(bits);
    memcpy(&p->to[i], &bits, sizeof bits);
  }
}

/* N loads, then N stores: N lines may be on their way at a time, each from its own eighth. */
#define BATCHED(name, N)                                                                           \
  static void name(const part_t *p) {                                                              \
    const int64_t each = (p->last - p->first) / N;                                                 \
    const double *from = p->from + p->first;                                                       \
    double *to = p->to + p->first;                                                                 \
    for (int64_t i = 0; i < each; i++) {                                                           \
      uint64_t bits[N];                                                                            \
      for (int u = 0; u < N; u++) {                                                                \
        memcpy(&bits[u], &from[u * each + i], sizeof bits[u]);                                     \
        LAB_OPAQUE(bits[u]);                                                                       \
      }                                                                                            \
      for (int u = 0; u < N; u++)                                                                  \
        memcpy(&to[u * each + i], &bits[u], sizeof bits[u]);                                       \
    }                                                                                              \
    const part_t rest = {p->to, p->from, p->first + N * each, p->last};                            \
    one_at_a_time(&rest);                                                                          \
  }
BATCHED(four_streams, 4)
BATCHED(eight_streams, 8)

static void vectors(const part_t *p) {
  double *restrict to = p->to;
  const double *restrict from = p->from;
#pragma omp simd
  for (int64_t i = p->first; i < p->last; i++)
    to[i] = from[i];
}

static void library(const part_t *p) {
  memcpy(p->to + p->first, p->from + p->first, (size_t)(p->last - p->first) * sizeof(double));
}

#ifdef __SSE2__
/* Parts begin on lines. */
static void past_the_cache(const part_t *p) {
  int64_t i = p->first;
  for (; i + 8 <= p->last; i += 8)
    for (int u = 0; u < 8; u += 2)
      _mm_stream_pd(&p->to[i + u], _mm_loadu_pd(&p->from[i + u]));
  for (; i < p->last; i++)
    p->to[i] = p->from[i];
  _mm_sfence();
}
#endif

static const struct {
  const char *name;
  copy_fn copy;
} variants[] = {
    {"a double at a time", one_at_a_time},
    {"4 streams, loads first", four_streams},
    {"8 streams, loads first", eight_streams},
    {"vectors", vectors},
    {"memcpy", library},
#ifdef __SSE2__
    {"vectors, past the cache", past_the_cache},
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
    const part_t part = {w->to, w->from, first, last};
    w->copy(&part);
  }
}

/* Elements that are not what they should be; the target is spoilt for the next one. */
static double check(const work_t *w) {
  int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int64_t i = 0; i < w->n; i++) {
    wrong += w->to[i] != lab_value(i);
    w->to[i] = -1.0;
  }
  return (double)wrong;
}

static mg_status_t add(lab_t *lab, work_t *w, const char *name) {
  lab_row_t row = {.threads = w->threads, .elements = w->n, .useful = 16.0};
  snprintf(row.variant, sizeof row.variant, "%s", name);
  row.seconds = lab_seconds(lab, run, w);
  row.error = check(w);
  return lab_add(lab, &row);
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
  const int64_t n = lab->bytes / 8;
  double *from = lab_doubles(n), *to = from ? lab_doubles(n) : NULL;
  mg_status_t status =
      to ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for arrays; ask for less with --mib");
  if (status == MG_OK) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
      from[i] = lab_value(i);
    work_t w = {to, from, n, 1, NULL};
    status = tables(lab, &w);
  }
  free(to);
  free(from);
  return status;
}
