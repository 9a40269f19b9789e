/* Preloaded into Open MPI's mpirun by tests/fault/fault_signals.sh. When mpirun is terminated, it
 * sends its ranks SIGCONT, sleeps for a fixed time, sends SIGTERM, sleeps, and sends SIGKILL.
 * Here the first sleep takes no time, and the second lasts until the file named by PATIENT_UNTIL
 * exists. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

unsigned sleep(unsigned seconds) {
  static int calls;
  const struct timespec nap = {0, 10000000};
  const char *until = getenv("PATIENT_UNTIL");
  (void)seconds;
  if (calls++ > 0 && until)
    while (access(until, F_OK) != 0)
      nanosleep(&nap, NULL);
  return 0;
}
