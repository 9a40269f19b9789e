/* Ladder 3 on a CPU: to[p] = max over k of big(p, k) + small(k), where a point's terms are
 * contiguous, at p TERMS + k. A chain of dependent maxima exposes the latency of each; a vector of
 * them hides it. */
#include "lab/lab_cpu.h"
#include <stdlib.h>

enum { TERMS = 32 };

typedef struct {
  double *restrict to;
  const double *restrict big, *restrict small;
  int64_t n;
} work_t;

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* A dependent chain, opaque to the compiler. */
static void in_turn(const work_t *w, int64_t first, int64_t last) {
  for (int64_t p = first; p < last; p++) {
    const double *row = w->big + p * TERMS;
    double largest = -1.0;
    for (int64_t k = 0; k < TERMS; k++) {
      LAB_OPAQUE(k);
      largest = larger(largest, row[k] + w->small[k]);
    }
    w->to[p] = largest;
  }
}

/* Vectors of a point's terms. */
static void vectors(const work_t *w, int64_t first, int64_t last) {
  const double *restrict small = w->small;
  for (int64_t p = first; p < last; p++) {
    const double *restrict row = w->big + p * TERMS;
    double largest = -1.0;
#pragma omp simd reduction(max : largest)
    for (int k = 0; k < TERMS; k++)
      largest = larger(largest, row[k] + small[k]);
    w->to[p] = largest;
  }
}

typedef void (*part_fn)(const work_t *w, int64_t first, int64_t last);
static const struct {
  const char *name;
  part_fn part;
} variants[] = {
    {"one term at a time", in_turn},
    {"vectors of terms", vectors},
};

typedef struct {
  work_t work;
  part_fn part;
} run_t;

static void run(void *arg) {
  const run_t *r = arg;
#pragma omp parallel
  {
    int64_t first, last;
    lab_share(r->work.n, 8, &first, &last);
    r->part(&r->work, first, last);
  }
}

static double maximum(const void *arg, int64_t p) {
  (void)arg;
  double largest = -1.0;
  for (int k = 0; k < TERMS; k++)
    largest = larger(largest, lab_value(p * TERMS + k) + lab_small(k));
  return largest;
}

mg_status_t lab_wide_cpu(lab_t *lab) {
  const int64_t n = lab->bytes / 8 / TERMS;
  double small[TERMS];
  double *big = lab_values(n * TERMS), *to = big ? lab_doubles(n) : NULL;
  mg_status_t status = to ? MG_OK : MG_ERR_MEMORY;
  for (int k = 0; k < TERMS; k++)
    small[k] = lab_small(k);
  lab_table(lab, "wide", "maximum of %d sums", TERMS);
  for (size_t v = 0; v < sizeof variants / sizeof variants[0] && status == MG_OK; v++) {
    run_t r = {{to, big, small, n}, variants[v].part};
    lab_row_t row = {.threads = lab->threads, .elements = n};
    row.useful = 8.0 * (TERMS + 1);
    row.flops = 2.0 * TERMS;
    row.seconds = lab_seconds(lab, run, &r);
    row.error = lab_wrong(to, n, maximum, NULL);
    status = lab_add(lab, &row, "%s", variants[v].name);
  }
  free(to);
  free(big);
  return status;
}
