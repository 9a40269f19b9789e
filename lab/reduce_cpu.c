/* Ladder 5 on a CPU: a sum (lab/rungs/sum_cpu_*.h). An addition has a latency of some four cycles,
 * which a dependent chain exposes. Independent sums (in vector lanes, and in several vectors) hide
 * it until cache or memory is the limit. All numbers are small integers, whose sums are exact in
 * any order. */
#include "lab/lab_cpu.h"
#include <math.h>
#include <stdlib.h>

#include "lab/access.h"
#include "lab/rungs/sum_cpu.h"
#define LAB_COUNTED
#include "lab/access.h"
#include "lab/rungs/sum_cpu.h"

typedef double (*sum_fn)(const double *from, int64_t n);

typedef struct {
  const double *at;
  int64_t n;
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
    lab_share(r->n, 8, &first, &last);
    sum += r->sum(r->at + first, last - first);
  }
  r->result = sum;
}

static const struct {
  const char *name;
  sum_fn sum, counted;
} rungs[] = {
    {"one sum", sum_1, sum_1_counted},
    {"four sums", sum_2, sum_2_counted},
    {"a vector of sums", sum_3, sum_3_counted},
    {"32 sums in vectors", sum_4, sum_4_counted},
};

static mg_status_t table(lab_t *lab, const double *at, int64_t n, int threads) {
  double expected = 0.0;
  for (int64_t i = 0; i < n; i++)
    expected += at[i];
  lab_table(lab, "reduce", "sum of %lld numbers, %d thread%s", (long long)n, threads,
            threads == 1 ? "" : "s");
  for (size_t v = 0; v < sizeof rungs / sizeof rungs[0]; v++) {
    run_t r = {at, n, rungs[v].sum, threads, -1.0}, counted = {at, n, rungs[v].counted, 1, -1.0};
    lab_row_t row = {.threads = threads, .elements = n, .useful = 8.0, .flops = 1.0};
    row.requested = lab_requested(run, &counted, n);
    row.seconds = lab_seconds(lab, run, &r);
    row.error = fabs(r.result - expected);
    MG_TRY(lab_add(lab, &row, "%s", rungs[v].name));
  }
  return MG_OK;
}

mg_status_t lab_reduce_cpu(lab_t *lab) {
  const int64_t n = lab->bytes / 8;
  const int64_t small = n < 1 << 14 ? n : 1 << 14; /* 128 KiB: fits in the cache of one core */
  double *at = lab_values(n);
  mg_status_t status = at ? table(lab, at, small, 1) : MG_ERR_MEMORY;
  if (status == MG_OK) status = table(lab, at, n, 1);
  if (status == MG_OK && lab->threads > 1) status = table(lab, at, n, lab->threads);
  free(at);
  return status;
}
