/* The program, paused at a point of the run until a test lets it continue.
 *
 * HOLD_AT names the point. "signal N": the Nth time the benchmark checks for a caught signal, which
 * it does after each cycle that another may follow and after each solve. "solve N": the start of
 * the Nth solve. "write N": the Nth time planes are written to a dump.
 *
 * HOLD_FOLDER is the folder of the files through which program and test communicate:
 *
 *   held.R    rank R is paused; contains the process ids of the rank and its parent
 *   caught.R  rank R has caught a signal since then
 *   later     from the test: advance the clock, which otherwise stands still, by one second
 *   go        from the test: continue
 *
 * tests/mocks/hpgmg-fv-paused is linked with --wrap. */
#include "base/machine.h"
#include "comm/comm.h"
#include "io/hdf5/h5.h"
#include "run/benchmark.h"
#include "solver/solve.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int __real_mg_machine_signal(void);
int __wrap_mg_machine_signal(void);
mg_status_t __real_mg_benchmark(mg_hierarchy_t *h, const mg_history_t *start, mg_result_t *result);
mg_status_t __wrap_mg_benchmark(mg_hierarchy_t *h, const mg_history_t *start, mg_result_t *result);
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
mg_status_t __real_mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm,
                                    const mg_watch_t *watch, mg_history_t *history);
mg_status_t __wrap_mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm,
                                    const mg_watch_t *watch, mg_history_t *history);
mg_status_t __real_mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                      int32_t count, const void *values);
mg_status_t __wrap_mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                      int32_t count, const void *values);

static atomic_bool is_held;
static struct timespec held_since;
static char later[PATH_MAX];

/* Also called by the signal handler. */
int __wrap_clock_gettime(clockid_t id, struct timespec *now) {
  if (!atomic_load(&is_held)) return __real_clock_gettime(id, now);
  *now = held_since;
  if (access(later, F_OK) == 0) now->tv_sec++;
  return 0;
}

static const char *setting(const char *name) {
  const char *text = getenv(name);
  if (text) return text;
  fprintf(stderr, "tests/mocks/paused: %s is not set\n", name);
  abort();
}

static void path_of(const char *name, bool of_rank, char path[PATH_MAX]) {
  if (of_rank)
    snprintf(path, PATH_MAX, "%s/%s.%d", setting("HOLD_FOLDER"), name,
             mg_comm_rank(mg_comm_world()));
  else
    snprintf(path, PATH_MAX, "%s/%s", setting("HOLD_FOLDER"), name);
}

/* Create a file that is complete as soon as it exists. */
static void tell(const char *name) {
  char path[PATH_MAX], part[PATH_MAX + 8];
  path_of(name, true, path);
  snprintf(part, sizeof part, "%s.part", path);
  FILE *file = fopen(part, "w");
  if (!file || fprintf(file, "%ld %ld\n", (long)getpid(), (long)getppid()) < 0 ||
      fclose(file) != 0 || rename(part, path) != 0) {
    perror(path);
    abort();
  }
}

/* Wait until the test sends "go", or its shell or launcher is gone. */
static void hold(void) {
  const struct timespec nap = {0, 10000000};
  const pid_t parent = getppid();
  bool caught = false;
  char go[PATH_MAX];
  path_of("go", false, go);
  path_of("later", false, later);
  __real_clock_gettime(CLOCK_MONOTONIC, &held_since);
  atomic_store(&is_held, true);
  tell("held");
  while (access(go, F_OK) != 0 && getppid() == parent) {
    if (!caught && __real_mg_machine_signal() != 0) {
      caught = true;
      tell("caught");
    }
    nanosleep(&nap, NULL);
  }
  atomic_store(&is_held, false);
}

/* Count the calls of a kind from 1; pause at the Nth. */
static void pass(const char *kind, int call) {
  char wanted[16] = "";
  int number = 0;
  if (sscanf(setting("HOLD_AT"), "%15s %d", wanted, &number) != 2) abort();
  if (strcmp(wanted, kind) == 0 && number == call) hold();
}

static bool is_in_benchmark;

mg_status_t __wrap_mg_benchmark(mg_hierarchy_t *h, const mg_history_t *start, mg_result_t *result) {
  is_in_benchmark = true;
  const mg_status_t status = __real_mg_benchmark(h, start, result);
  is_in_benchmark = false;
  return status;
}

int __wrap_mg_machine_signal(void) {
  static int calls;
  if (is_in_benchmark) pass("signal", ++calls);
  return __real_mg_machine_signal();
}

mg_status_t __wrap_mg_solve_watched(mg_hierarchy_t *h, int top, double f_norm,
                                    const mg_watch_t *watch, mg_history_t *history) {
  static atomic_int calls;
  pass("solve", atomic_fetch_add(&calls, 1) + 1);
  return __real_mg_solve_watched(h, top, f_norm, watch, history);
}

mg_status_t __wrap_mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                                      int32_t count, const void *values) {
  static atomic_int calls;
  pass("write", atomic_fetch_add(&calls, 1) + 1);
  return __real_mg_h5_write_planes(file, data, first, count, values);
}
