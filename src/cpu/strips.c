#include "cpu/cpu.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* Sized so that three planes of one vector's strip stay in a core's L2 beside the streams. */
static const int64_t strip_bytes = 170 * 1024;
int mg_cpu_threads(const mg_view_t *v) {
#ifdef _OPENMP
  /* With fewer cells, starting threads costs more than it saves. */
  const int64_t serial_cells = 8192;
  return v->cells < serial_cells ? 1 : omp_get_max_threads();
#else
  (void)v;
  return 1;
#endif
}

int mg_cpu_thread(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

static int clamp(int64_t value, int low, int high) {
  return value < low ? low : value > high ? high : (int)value;
}

/* Rows per strip, and strips per plane. The last strip never has just one row. */
static int strip_rows(const mg_patch_t *p, int64_t rows) {
  return clamp(rows, p->n[1] < 2 ? 1 : 2, p->n[1]);
}

static int strip_count(const mg_patch_t *p, int rows) {
  const int count = p->n[1] / rows;
  return count > 0 ? count : 1;
}

static int strip_first(const mg_patch_t *p, int count, int s) {
  return (int)((int64_t)p->n[1] * s / count);
}

/* Thread t's share of a patch. If there are enough planes, each thread gets a slab of planes of
 * each strip. Otherwise it gets a contiguous part of the list of all strips of all planes. */
static void patch_share(const mg_view_t *v, int patch, int t, int threads, mg_strip_fn fn,
                        void *arg) {
  const mg_patch_t *p = &v->patch[patch];
  const int nk = p->n[2];
  const int by_cache = strip_rows(p, strip_bytes / (p->jstride * (int64_t)sizeof(mg_real_t)));
  if (nk >= 4 * threads || nk % threads == 0) {
    const int count = strip_count(p, by_cache);
    const int k0 = (int)((int64_t)nk * t / threads), k1 = (int)((int64_t)nk * (t + 1) / threads);
    for (int s = 0; s < count; s++)
      for (int k = k0; k < k1; k++)
        fn(v, patch, k, strip_first(p, count, s), strip_first(p, count, s + 1), arg);
    return;
  }
  const int by_threads = strip_rows(p, (int64_t)nk * p->n[1] / (2 * threads));
  const int count = strip_count(p, by_threads < by_cache ? by_threads : by_cache);
  const int64_t items = (int64_t)count * nk;
  for (int64_t item = items * t / threads; item < items * (t + 1) / threads; item++) {
    const int s = (int)(item % count), k = (int)(item / count);
    fn(v, patch, k, strip_first(p, count, s), strip_first(p, count, s + 1), arg);
  }
}

void mg_cpu_strips(const mg_view_t *v, mg_strip_fn fn, void *arg) {
  const int threads = mg_cpu_threads(v);
  if (threads == 1) {
    for (int patch = 0; patch < v->n_patches; patch++)
      patch_share(v, patch, 0, 1, fn, arg);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  {
    /* The runtime may provide fewer threads than requested. */
    const int given = omp_get_num_threads();
    for (int patch = 0; patch < v->n_patches; patch++)
      patch_share(v, patch, omp_get_thread_num(), given, fn, arg);
  }
#endif
}
