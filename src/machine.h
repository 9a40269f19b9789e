/* What this process runs on. */
#ifndef MG_MACHINE_H
#define MG_MACHINE_H

#include <stdint.h>

/** Threads that parallel regions use; 1 without OpenMP. */
int mg_machine_threads(void);

/** Processors that this process may run on. */
int mg_machine_processors(void);

/** Bytes that this host can still give to processes: the kernel's estimate of available memory,
 *  or what is left below the control group's limit when that is less. INT64_MAX when unknown. */
int64_t mg_machine_free_bytes(void);

/** Make SIGINT and SIGTERM end the run after the current solve instead of at once. */
void mg_machine_catch_signals(void);

/** The signal that was caught, 0 for none. */
int mg_machine_signal(void);

#endif
