/* What this process runs on. */
#ifndef MG_MACHINE_H
#define MG_MACHINE_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

/** Open closed descriptors 0, 1 and 2 on /dev/null: stdin is then empty, and what goes to stdout or
 *  stderr is dropped. Otherwise the next file or socket would get their number. Also note whether
 *  SIGHUP is ignored, before a library sets a handler. Call it first in main(). The process ends
 *  with exit code 3 if there is no /dev/null. */
void mg_machine_open_streams(void);

/** Threads that parallel regions have, counted in one at the first call; 1 without OpenMP. */
int mg_machine_threads(void);

/** Can OpenMP start the requested number of threads, with the requested stack size? If not, it
 *  would end the process. The threads are started and ended once. Call it before the first
 *  parallel region. */
bool mg_machine_has_threads(void);

/** The same as an error, which is logged.
 *  @return MG_OK, MG_ERR_USAGE (too many), MG_ERR_MEMORY (they cannot be started) */
MG_MUST_CHECK mg_status_t mg_machine_check_threads(void);

/** mark[p] = 1 for each processor p < n that this process may run on, else 0; all 0 when unknown.
 */
void mg_machine_mark_processors(double *mark, int n);

/** Bytes that this host can still give to processes: the kernel's estimate of available memory,
 *  or what is left below the limit of this process's control group, or of one around it, when that
 *  is less. Both interfaces of control groups, v1 and v2. INT64_MAX when unknown. */
int64_t mg_host_memory_available(void);

/** The same on a machine whose /proc and /sys lie below the folder `root`: for tests. */
int64_t mg_host_memory_available_in(const char *root);

/** Bytes that this process may still take under its own limits (ulimit -v, -d). INT64_MAX when
 *  there are none. */
int64_t mg_host_memory_process_limit(void);

/** Does what this process writes to stderr appear on a terminal, directly or through a launcher? */
bool mg_machine_stderr_is_terminal(void);

/** Make SIGHUP (unless it is ignored, as by nohup), SIGINT, SIGTERM and SIGPIPE end the run after
 * the current cycle instead of at once. A second one of its kind, a tenth of a second later or
 * more, ends it at once, except SIGPIPE. */
void mg_machine_catch_signals(void);

/** Of these SIGPIPE alone. */
void mg_machine_catch_broken_pipes(void);

/** The signal that was caught, 0 for none. */
int mg_machine_signal(void);

#endif
