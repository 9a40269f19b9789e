/* What this process runs on. */
#ifndef MG_MACHINE_H
#define MG_MACHINE_H

#include "status.h"
#include <stdbool.h>
#include <stdint.h>

/** Threads that parallel regions have, counted in one at the first call; 1 without OpenMP. */
int mg_machine_threads(void);

/** Can OpenMP start as many threads as it is asked for? It would crash where it cannot. */
bool mg_machine_has_threads(void);

/** The same as an error, which is logged.
 *  @return MG_OK, MG_ERR_USAGE */
MG_MUST_CHECK mg_status_t mg_machine_check_threads(void);

/** mark[p] = 1 for each processor p < n that this process may run on, else 0; all 0 when unknown.
 */
void mg_machine_mark_processors(double *mark, int n);

/** Bytes that this host can still give to processes: the kernel's estimate of available memory,
 *  or what is left below the limit of this process's control group, or of one around it, when that
 *  is less. Both interfaces of control groups, v1 and v2. INT64_MAX when unknown. */
int64_t mg_machine_free_bytes(void);

/** The same on a machine whose /proc and /sys lie below the folder `root`: for tests. */
int64_t mg_machine_free_bytes_in(const char *root);

/** Bytes that this process may still take under its own limits (ulimit -v, -d). INT64_MAX when
 *  there are none. */
int64_t mg_machine_process_bytes(void);

/** Does what this process writes to stderr appear on a terminal, directly or through a launcher? */
bool mg_machine_stderr_is_terminal(void);

/** Make SIGINT and SIGTERM end the run after the current solve instead of at once. A second one of
 *  its kind, a tenth of a second later or more, ends it at once. */
void mg_machine_catch_signals(void);

/** The signal that was caught, 0 for none. */
int mg_machine_signal(void);

#endif
