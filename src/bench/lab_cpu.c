#include "lab_cpu.h"
#include "log.h"
#include "machine.h"
#include "timers.h"
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_RUNS = 1000 };

double lab_seconds(const lab_t *lab, lab_work_t work, void *arg) {
  double took[MOST_RUNS], all = 0.0;
  int n = 0;
  work(arg);
  while (n < MOST_RUNS && (n < lab->least_runs || all < lab->least_seconds)) {
    const double start = mg_now();
    work(arg);
    took[n] = mg_now() - start;
    all += took[n++];
  }
  return lab_median(took, n);
}

void lab_share(int64_t n, int64_t unit, int64_t *first, int64_t *last) {
#ifdef _OPENMP
  const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
#else
  const int64_t threads = 1, me = 0;
#endif
  const int64_t units = (n + unit - 1) / unit;
  *first = units * me / threads * unit;
  *last = units * (me + 1) / threads * unit;
  if (*last > n) *last = n;
}

double *lab_doubles(int64_t n) {
  const size_t bytes = ((size_t)n * sizeof(double) + 4095) / 4096 * 4096;
  double *memory = aligned_alloc(4096, bytes);
  if (!memory) {
    (void)mg_error(MG_ERR_MEMORY, "no memory for an array of %.3g MB; take a smaller --mib",
                   1e-6 * (double)bytes);
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

/* "model name : ..." of Linux; else the place alone. */
static void name_machine(char *name, size_t size) {
  char line[256];
  snprintf(name, size, "CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "model name", 10) != 0) continue;
    const char *value = strchr(line, ':');
    if (value) snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    break;
  }
  fclose(file);
}

typedef struct {
  double *to;
  const double *from;
  int64_t n;
} arrays_t;

static void copy_all(void *arg) {
  const arrays_t *a = arg;
#pragma omp parallel
  {
    int64_t first, last;
    lab_share(a->n, 8, &first, &last);
    memcpy(a->to + first, a->from + first, (size_t)(last - first) * sizeof(double));
  }
}

mg_status_t lab_open_cpu(lab_t *lab) {
  name_machine(lab->machine, sizeof lab->machine);
  lab->threads = mg_machine_threads();
  const int64_t n = lab->bytes / 8;
  double *from = lab_doubles(n), *to = from ? lab_doubles(n) : NULL;
  mg_status_t status =
      to ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for arrays; ask for less with --mib");
  if (status == MG_OK) {
    arrays_t arrays = {to, from, n};
    lab->copy_gb_per_s = 16e-9 * (double)n / lab_seconds(lab, copy_all, &arrays);
  }
  free(to);
  free(from);
  return status;
}
