#define _GNU_SOURCE
#include "machine.h"
#include <sched.h>
#include <signal.h>
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
