#define _GNU_SOURCE
#include "base/machine.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* True under nohup(1). */
static bool ignores_hangup;

void mg_machine_open_streams(void) {
  struct sigaction hangup;
  ignores_hangup = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
  /* open() returns the lowest free descriptor, so the order matters. */
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) != fd)
      _exit(3);
}

int mg_machine_threads(void) {
  static int known = 0;
  if (known > 0) return known;
  known = 1;
#ifdef _OPENMP
  /* OMP_THREAD_LIMIT may allow fewer threads than requested. */
#pragma omp parallel
#pragma omp single
  known = omp_get_num_threads();
#endif
  return known;
}

static volatile sig_atomic_t caught;

/* A second signal of the same kind ends the run immediately, unless it arrives with the first:
 * timeout(1) signals the process and then its group. SIGPIPE repeats with each write. */
static void remember(int signal_number) {
  static struct timespec first_of[3];
  const double one_request = 0.1; /* seconds */
  const int error = errno;
  struct timespec now, *first = &first_of[signal_number == SIGTERM  ? 1
                                          : signal_number == SIGHUP ? 2
                                                                    : 0];
  caught = signal_number;
  if (signal_number == SIGPIPE) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (first->tv_sec == 0 && first->tv_nsec == 0) *first = now;
  if ((double)(now.tv_sec - first->tv_sec) + 1e-9 * (double)(now.tv_nsec - first->tv_nsec) >=
      one_request) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
  }
  errno = error;
}

static void catch_signal(int signal_number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGHUP);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(signal_number, &action, NULL);
}

void mg_machine_catch_broken_pipes(void) {
  catch_signal(SIGPIPE);
}

void mg_machine_catch_signals(void) {
  catch_signal(SIGINT);
  catch_signal(SIGTERM);
  /* MPI libraries load UCX, which installs a SIGHUP handler. */
  if (ignores_hangup)
    (void)signal(SIGHUP, SIG_IGN);
  else
    catch_signal(SIGHUP);
  mg_machine_catch_broken_pipes();
}

int mg_machine_signal(void) {
  return caught;
}
