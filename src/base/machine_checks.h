/* What the process may use: threads, CPUs and host memory; and its arithmetic. */
#ifndef MG_MACHINE_CHECKS_H
#define MG_MACHINE_CHECKS_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

/** Can OpenMP start the requested number of threads with the requested stack size?
 *
 *  If it cannot, libgomp ends the process. The first call therefore starts and ends the threads
 *  itself. Call it before the first parallel region. */
bool mg_machine_has_threads(void);

/** mg_machine_has_threads that logs an error.
 *  @return MG_OK, MG_ERR_USAGE (too many), MG_ERR_MEMORY (they cannot be started) */
MG_MUST_CHECK mg_status_t mg_machine_check_threads(void);

/** Do the compiler's flags compute as IEEE 754 says? configure refuses flags that do not, but some
 *  may be given to make later. Values flushed to zero, which any library of the process can switch
 *  on, are a warning.
 *  @return MG_OK, MG_ERR_UNAVAILABLE */
MG_MUST_CHECK mg_status_t mg_machine_check_arithmetic(void);

/** Set mark[p] to 1 for each CPU p < n that this process may run on, else 0; all 0 if unknown. */
void mg_machine_mark_processors(double *mark, int n);

/** CPUs whose time the control groups of this process grant it (cgroup v2 cpu.max, v1
 *  cpu.cfs_quota_us); 0 if unlimited. HPGMG_CONTROL_GROUPS is the folder of /proc and /sys.
 *  @param[out] group  number of the control group that has the quota, the same for all processes of
 *                     this host in it; 0 if unlimited. NULL: not needed */
double mg_machine_cpu_quota(uint64_t *group);

/** mg_machine_cpu_quota with /proc and /sys below the folder `root`. For tests. */
double mg_machine_cpu_quota_in(const char *root, uint64_t *group);

/** Unless OMP_NUM_THREADS is set, use no more threads than the quota has whole CPUs, and at least
 *  one: threads beyond it wait for the next period. Call it before the first parallel region. */
void mg_machine_limit_threads(void);

/** Bytes of memory available on this host; INT64_MAX if unknown.
 *
 *  The minimum of the kernel's estimate (MemAvailable) and the room left in this process's control
 *  group and its ancestors. Supports cgroup v1 and v2. */
int64_t mg_host_memory_available(void);

/** mg_host_memory_available with /proc and /sys below the folder `root`. For tests. */
int64_t mg_host_memory_available_in(const char *root);

/** Bytes that this process may still allocate by its limits (ulimit -v, -d), or INT64_MAX. */
int64_t mg_host_memory_process_limit(void);

#endif
