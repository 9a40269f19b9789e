/* Preloaded into Open MPI's launcher and ranks.
 *
 * Waiting ranks call sched_yield() again and again. Here they sleep, so that more ranks than cores,
 * or other tests, get the cores: without this, tests on several ranks take several times as long.
 *
 * For tests/fault/fault_signals.sh, which sets PATIENT_UNTIL: when mpirun is terminated, it sends
 * its ranks SIGCONT, sleeps for a fixed time, sends SIGTERM, sleeps, and sends SIGKILL. The first
 * sleep then takes no time, and the second lasts until the file named by PATIENT_UNTIL exists. */
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int sched_yield(void) {
  static _Thread_local struct timespec nap, woken;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long since = (now.tv_sec - woken.tv_sec) * 1000000000 + now.tv_nsec - woken.tv_nsec;
  const bool waits_on = since < 20000; /* has found nothing to do since it slept */
  nap.tv_nsec = !waits_on ? 20000 : nap.tv_nsec < 640000 ? 2 * nap.tv_nsec : nap.tv_nsec;
  nanosleep(&nap, NULL);
  clock_gettime(CLOCK_MONOTONIC, &woken);
  return 0;
}

unsigned sleep(unsigned seconds) {
  static int calls;
  const char *until = getenv("PATIENT_UNTIL");
  struct timespec nap = {until ? 0 : (time_t)seconds, until ? 10000000 : 0};
  if (!until) return nanosleep(&nap, &nap) == 0 ? 0 : (unsigned)nap.tv_sec + 1;
  if (calls++ > 0)
    while (access(until, F_OK) != 0)
      nanosleep(&nap, NULL);
  return 0;
}
