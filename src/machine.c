#define _GNU_SOURCE
#include "machine.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

int mg_machine_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

int mg_machine_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

/* The number in a file of one number; -1 when there is none (as "max" in a control group). */
static int64_t read_number(const char *path) {
  long long value = -1;
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  if (fscanf(file, "%lld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

static int64_t available_memory(void) {
  char line[256];
  long long kib = -1;
  FILE *file = fopen("/proc/meminfo", "r");
  if (!file) return -1;
  while (kib < 0 && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1) kib = -1;
  fclose(file);
  return kib < 0 ? -1 : kib * 1024;
}

/* Room below the control group's limit; page cache counts as used there, so this is cautious. */
static int64_t group_memory(const char *limit_path, const char *used_path) {
  const int64_t limit = read_number(limit_path), used = read_number(used_path);
  if (limit < 0 || used < 0) return -1;
  return limit > used ? limit - used : 0;
}

int64_t mg_machine_free_bytes(void) {
  const int64_t rooms[] = {
      available_memory(),
      group_memory("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
      group_memory("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                   "/sys/fs/cgroup/memory/memory.usage_in_bytes")};
  int64_t least = INT64_MAX;
  for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++)
    if (rooms[r] >= 0 && rooms[r] < least) least = rooms[r];
  return least;
}

static volatile sig_atomic_t caught;

static void remember(int signal_number) {
  caught = signal_number;
}

void mg_machine_catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | (int)SA_RESETHAND; /* a second signal ends the run at once */
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int mg_machine_signal(void) {
  return caught;
}
