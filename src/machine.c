#define _GNU_SOURCE
#include "machine.h"
#include "log.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

int mg_machine_threads(void) {
  static int known = 0;
  if (known > 0) return known;
  known = 1;
#ifdef _OPENMP
  /* A limit (OMP_THREAD_LIMIT) may leave fewer than are asked for. */
#pragma omp parallel
#pragma omp single
  known = omp_get_num_threads();
#endif
  return known;
}

/* Whoever asks for more has made a mistake. */
enum { MOST_THREADS = 4096 };

static int threads_asked_for(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

bool mg_machine_has_threads(void) {
  const int asked = threads_asked_for();
  return asked >= 1 && asked <= MOST_THREADS;
}

mg_status_t mg_machine_check_threads(void) {
  if (mg_machine_has_threads()) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "OpenMP is asked for %d threads where 1 to %d can be had; set OMP_NUM_THREADS to "
                  "the cores of a rank",
                  threads_asked_for(), MOST_THREADS);
}

void mg_machine_mark_processors(double *mark, int n) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  for (int p = 0; p < n; p++)
    mark[p] = known && p < CPU_SETSIZE && CPU_ISSET(p, &set) ? 1.0 : 0.0;
}

/* Open MPI's launcher passes on what its ranks write to a pipe. On its own host it is the parent of
 * a rank, and its stderr is what the user sees. */
static bool launcher_has_terminal(void) {
  char path[64];
  struct stat s;
  if (!getenv("OMPI_COMM_WORLD_RANK")) return false;
  if (fstat(STDERR_FILENO, &s) != 0 || !S_ISFIFO(s.st_mode)) return false;
  snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)getppid());
  const int descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool is_terminal = isatty(descriptor) != 0;
  close(descriptor);
  return is_terminal;
}

bool mg_machine_stderr_is_terminal(void) {
  return isatty(STDERR_FILENO) || launcher_has_terminal();
}

static volatile sig_atomic_t caught;

/* A second signal of a kind ends the run at once, but for one that comes with the first: timeout(1)
 * sends its own to a process and then to its group. */
static void remember(int signal_number) {
  static struct timespec first[2]; /* of SIGINT, of SIGTERM */
  const double one_request = 0.1;  /* seconds */
  struct timespec now, *since = &first[signal_number == SIGTERM];
  caught = signal_number;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (since->tv_sec == 0 && since->tv_nsec == 0) *since = now;
  if ((double)(now.tv_sec - since->tv_sec) + 1e-9 * (double)(now.tv_nsec - since->tv_nsec) <
      one_request)
    return;
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void mg_machine_catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int mg_machine_signal(void) {
  return caught;
}
