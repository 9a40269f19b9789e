#include "lab/lab_cpu.h"
#include "base/log.h"
#include "base/timers.h"
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MAX_RUNS = 1000 };

double lab_seconds(const lab_t *lab, lab_work_t work, void *arg) {
  double took[MAX_RUNS], all = 0.0;
  int n = 0;
  work(arg);
  while (n < MAX_RUNS && (n < lab->min_runs || all < lab->min_seconds)) {
    const double start = mg_now();
    work(arg);
    took[n] = mg_now() - start;
    all += took[n++];
  }
  return lab_median(took, n);
}

int64_t lab_bytes_loaded, lab_bytes_stored;
void *(*lab_watch)(const void *at, size_t bytes, bool is_store);

double lab_requested(lab_work_t work, void *arg, int64_t elements) {
  lab_bytes_loaded = lab_bytes_stored = 0;
  work(arg);
  return (double)(lab_bytes_loaded + lab_bytes_stored) / (double)elements;
}

void lab_thread(int64_t *me, int64_t *threads) {
#ifdef _OPENMP
  *me = omp_get_thread_num();
  *threads = omp_get_num_threads();
#else
  *me = 0;
  *threads = 1;
#endif
}

void lab_share(int64_t n, int64_t unit, int64_t *first, int64_t *last) {
  int64_t me, threads;
  lab_thread(&me, &threads);
  const int64_t units = (n + unit - 1) / unit;
  *first = units * me / threads * unit;
  *last = units * (me + 1) / threads * unit;
  if (*last > n) *last = n;
}

double *lab_doubles(int64_t n) {
  const size_t bytes = ((size_t)n * sizeof(double) + 4095) / 4096 * 4096;
  double *memory = aligned_alloc(4096, bytes);
  if (!memory) {
    (void)mg_error(MG_ERR_MEMORY, "no memory for an array of %s; reduce --mib",
                   mg_bytes((double)bytes).text);
    return NULL;
  }
#pragma omp parallel
  {
    int64_t first, last;
    lab_share((int64_t)(bytes / sizeof(double)), 8, &first, &last);
    memset(memory + first, 0, (size_t)(last - first) * sizeof(double));
  }
  return memory;
}

double *lab_values(int64_t n) {
  double *at = lab_doubles(n);
#pragma omp parallel for
  for (int64_t i = 0; i < (at ? n : 0); i++)
    at[i] = lab_value(i);
  return at;
}

double lab_wrong(double *at, int64_t n, double (*want)(const void *arg, int64_t i),
                 const void *arg) {
  int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int64_t i = 0; i < n; i++) {
    wrong += at[i] != want(arg, i);
    at[i] = -1.0;
  }
  return (double)wrong;
}
