/* Can the process have its threads, and on which CPUs? */
#define _GNU_SOURCE
#include "base/machine_checks.h"
#include "base/log.h"
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

void mg_machine_limit_threads(void) {
#ifdef _OPENMP
  const double quota = mg_machine_cpu_quota(NULL);
  if (quota > 0.0 && !getenv("OMP_NUM_THREADS") && omp_get_max_threads() > quota)
    omp_set_num_threads(quota < 2.0 ? 1 : (int)quota);
#endif
}

/* A larger request is surely a mistake. */
enum { MAX_THREADS = 4096 };

static int threads_asked_for(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* Parse a stack size variable into bytes by libgomp's rules: without a suffix, the unit is
 * kilobytes. @return 0 if it is unset or invalid */
static size_t stack_bytes(const char *variable) {
  static const char suffixes[] = "bkmg";
  const char *text = getenv(variable);
  char *end;
  if (!text) return 0;
  errno = 0;
  const unsigned long value = strtoul(text, &end, 10);
  if (errno != 0 || end == text) return 0;
  while (isspace((unsigned char)*end))
    end++;
  int shift = 10;
  if (*end != '\0') {
    const char *suffix = strchr(suffixes, tolower((unsigned char)*end++));
    if (!suffix) return 0;
    shift = 10 * (int)(suffix - suffixes);
  }
  while (isspace((unsigned char)*end))
    end++;
  return *end == '\0' && value << shift >> shift == value ? value << shift : 0;
}

/* The environment variable that sets the OpenMP stack size, NULL if none. */
static const char *stack_variable(void) {
  static const char *const variables[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
  for (int i = 0; i < 2; i++)
    if (stack_bytes(variables[i]) > 0) return variables[i];
  return NULL;
}

static void *pass_gate(void *gate) {
  if (pthread_mutex_lock(gate) == 0) (void)pthread_mutex_unlock(gate);
  return NULL;
}

/* Start n threads that all exist at the same time, then end them. @return 0, or an errno value */
static int try_threads(int n, const pthread_attr_t *attributes) {
  pthread_t *thread = calloc((size_t)n, sizeof *thread);
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  int started = 0, error = thread ? pthread_mutex_lock(&gate) : ENOMEM;
  if (error == 0) {
    while (started < n && error == 0) {
      error = pthread_create(&thread[started], attributes, pass_gate, &gate);
      if (error == 0) started++;
    }
    (void)pthread_mutex_unlock(&gate);
  }
  for (int i = 0; i < started; i++)
    (void)pthread_join(thread[i], NULL);
  free(thread);
  return error;
}

/* Start the threads once with the same stack size as libgomp, which exits with code 1 if it cannot
 * start a thread. @return 0, or an errno value */
static int try_openmp_threads(void) {
  const char *variable = stack_variable();
  pthread_attr_t attributes;
  int n = threads_asked_for();
#ifdef _OPENMP
  if (omp_get_thread_limit() < n) n = omp_get_thread_limit();
#endif
  if (n < 2) return 0;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  /* Like libgomp, keep the default if the size is below the minimum. */
  if (variable) (void)pthread_attr_setstacksize(&attributes, stack_bytes(variable));
  error = try_threads(n - 1, &attributes);
  (void)pthread_attr_destroy(&attributes);
  return error;
}

/* The result is cached. */
static int thread_error(void) {
  static int error = -1;
  if (error < 0) error = try_openmp_threads();
  return error;
}

static bool asks_too_many(void) {
  return threads_asked_for() < 1 || threads_asked_for() > MAX_THREADS;
}

bool mg_machine_has_threads(void) {
  return !asks_too_many() && thread_error() == 0;
}

mg_status_t mg_machine_check_threads(void) {
  const char *variable = stack_variable();
  if (mg_machine_has_threads()) return MG_OK;
  if (asks_too_many())
    return mg_error(MG_ERR_USAGE,
                    "OpenMP requests %d threads per rank; the allowed range is 1 to %d; set "
                    "OMP_NUM_THREADS to the number of cores per rank",
                    threads_asked_for(), MAX_THREADS);
  if (variable)
    return mg_error(MG_ERR_MEMORY,
                    "%s=%s: cannot start %d threads with this stack size: %s; reduce it (8M is "
                    "enough) or OMP_NUM_THREADS",
                    variable, getenv(variable), threads_asked_for(), strerror(thread_error()));
  return mg_error(MG_ERR_MEMORY,
                  "OpenMP cannot start %d threads: %s; reduce OMP_NUM_THREADS, or adjust the "
                  "limits on processes (ulimit -u), stack (ulimit -s) or memory (ulimit -v)",
                  threads_asked_for(), strerror(thread_error()));
}

void mg_machine_mark_processors(double *mark, int n) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  for (int p = 0; p < n; p++)
    mark[p] = known && p < CPU_SETSIZE && CPU_ISSET(p, &set) ? 1.0 : 0.0;
}
