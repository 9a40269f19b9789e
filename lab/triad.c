/* Memory bandwidth that CPU runs are compared with: a(i) = b(i) + s c(i) with all threads, as in
 * McCalpin's STREAM (1995), counting 24 bytes per element (no write-allocate).
 *
 *   triad BYTES [SECONDS]   BYTES for the three arrays in total; prints the median GB/s */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(double *x, long n, double value) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; i++)
    x[i] = value;
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, long n) {
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; i++)
    a[i] = b[i] + 3.0 * c[i];
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  enum { MAX_RUNS = 100000 };
  static double seconds[MAX_RUNS];
  const long n = argc > 1 ? (long)(strtod(argv[1], NULL) / 24.0) / 8 * 8 : 0;
  const double limit = argc > 2 ? strtod(argv[2], NULL) : 1.0;
  if (argc > 3 || n < 8 || n > (1L << 40) || !(limit > 0.0)) {
    fprintf(stderr, "usage: triad BYTES [SECONDS]; at least 192 BYTES for the three arrays\n");
    return 2;
  }
  double *x[3];
  for (int v = 0; v < 3; v++) {
    x[v] = aligned_alloc(64, (size_t)n * sizeof(double));
    if (!x[v]) {
      fprintf(stderr, "triad: no memory for %ld bytes\n", 24 * n);
      return 4;
    }
    fill(x[v], n, v);
  }
  int runs = 0;
  for (const double end = now() + limit; runs < 3 || (runs < MAX_RUNS && now() < end); runs++) {
    const double start = now();
    triad(x[0], x[1], x[2], n);
    seconds[runs] = now() - start;
  }
  qsort(seconds, (size_t)runs, sizeof *seconds, ascending);
  printf("%.3f\n", 24e-9 * (double)n / seconds[runs / 2]);
  const int right = x[0][n - 1] == 7.0;
  for (int v = 0; v < 3; v++)
    free(x[v]);
  return right ? 0 : 5;
}
