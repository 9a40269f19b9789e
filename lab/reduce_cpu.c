/* Ladder 5 on a CPU: a sum. An addition has a latency of some four cycles, which a dependent chain
 * exposes. Independent sums (in vector lanes, and in several vectors) hide it until cache or memory
 * is the limit. All numbers are small integers, whose sums are exact in any order. */
#include "base/log.h"
#include "lab/lab_cpu.h"
#include <math.h>
#include <stdlib.h>

/* Input of a sum. */
typedef struct {
  const double *at; /* NULL: generate the numbers from their index */
  int64_t n;
} source_t;

typedef double (*sum_fn)(const source_t *s, int64_t first, int64_t last);

static double made(int64_t i) {
  return (double)(i & 1023);
}

static double in_turn(const source_t *s, int64_t first, int64_t last) {
  double sum = 0.0;
  for (int64_t i = first; i < last; i++) {
    LAB_OPAQUE(i);
    sum += s->at[i];
  }
  return sum;
}

static double four_sums(const source_t *s, int64_t first, int64_t last) {
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  int64_t i = first;
  for (; i + 4 <= last; i += 4) {
    LAB_OPAQUE(i);
    for (int u = 0; u < 4; u++)
      sum[u] += s->at[i + u];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]) + in_turn(s, i, last);
}

static double vectors(const source_t *s, int64_t first, int64_t last) {
  const double *at = s->at;
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = first; i < last; i++)
    sum += at[i];
  return sum;
}

/* Number of independent sums: several vectors. */
enum { WIDE = 32 };

static double wide_vectors(const source_t *s, int64_t first, int64_t last) {
  double sum[WIDE] = {0.0}, all = 0.0;
  int64_t i = first;
  for (; i + WIDE <= last; i += WIDE) {
    const double *at = s->at + i;
#pragma omp simd
    for (int u = 0; u < WIDE; u++)
      sum[u] += at[u];
  }
  for (int u = 0; u < WIDE; u++)
    all += sum[u];
  return all + in_turn(s, i, last);
}

static double made_in_turn(const source_t *s, int64_t first, int64_t last) {
  (void)s;
  double sum = 0.0;
  for (int64_t i = first; i < last; i++) {
    LAB_OPAQUE(i);
    sum += made(i);
  }
  return sum;
}

static double made_in_vectors(const source_t *s, int64_t first, int64_t last) {
  (void)s;
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = first; i < last; i++)
    sum += made(i);
  return sum;
}

typedef struct {
  source_t source;
  sum_fn sum;
  int threads;
  double result;
} run_t;

static void run(void *arg) {
  run_t *r = arg;
  double sum = 0.0;
#pragma omp parallel num_threads(r->threads) reduction(+ : sum)
  {
    int64_t first, last;
    lab_share(r->source.n, 8, &first, &last);
    sum += r->sum(&r->source, first, last);
  }
  r->result = sum;
}

static mg_status_t add(lab_t *lab, const source_t *source, sum_fn sum, int threads, double expected,
                       const char *name) {
  run_t r = {*source, sum, threads, -1.0};
  lab_row_t row = {.threads = threads, .elements = source->n, .flops = 1.0};
  row.useful = source->at ? 8.0 : 0.0;
  snprintf(row.variant, sizeof row.variant, "%s", name);
  row.seconds = lab_seconds(lab, run, &r);
  row.error = fabs(r.result - expected);
  return lab_add(lab, &row);
}

static const struct {
  const char *name;
  sum_fn array, made;
} variants[] = {
    {"one after the other", in_turn, made_in_turn},
    {"four sums side by side", four_sums, NULL},
    {"a vector of sums", vectors, made_in_vectors},
    {"32 sums in vectors", wide_vectors, NULL},
};

static mg_status_t table(lab_t *lab, const source_t *source, const char *format, int threads) {
  double expected = 0.0;
  for (int64_t i = 0; i < source->n; i++)
    expected += source->at ? source->at[i] : made(i);
  lab_table(lab, "reduce", format, (long long)source->n, threads, threads == 1 ? "" : "s");
  for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
    const sum_fn sum = source->at ? variants[v].array : variants[v].made;
    if (sum) MG_TRY(add(lab, source, sum, threads, expected, variants[v].name));
  }
  return MG_OK;
}

static mg_status_t tables(lab_t *lab, const double *at, int64_t n) {
  const int64_t small = n < 1 << 14 ? n : 1 << 14; /* 128 KiB: fits in the cache of one core */
  const source_t large = {at, n}, cached = {at, small}, generated = {NULL, n};
  const char *read = "sum of %lld numbers, %d thread%s";
  MG_TRY(table(lab, &cached, read, 1));
  MG_TRY(table(lab, &large, read, 1));
  if (lab->threads > 1) MG_TRY(table(lab, &large, read, lab->threads));
  return table(lab, &generated, "sum of %lld numbers that are made, not read, %d thread%s",
               lab->threads);
}

mg_status_t lab_reduce_cpu(lab_t *lab) {
  const int64_t n = lab->bytes / 8;
  double *at = lab_doubles(n);
  if (!at) return mg_error(MG_ERR_MEMORY, "no memory for arrays; ask for less with --mib");
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    at[i] = lab_value(i);
  const mg_status_t status = tables(lab, at, n);
  free(at);
  return status;
}
