/* Sizes of caches, and of strips that fit. */
#ifndef MG_MACHINE_CACHE_H
#define MG_MACHINE_CACHE_H

#include <stdint.h>

/** Bytes of the last-level caches that `threads` threads fill, at least one whole cache; 0 if
 * unknown. A virtual machine may report the cache of its host. */
int64_t mg_machine_cache(int threads);

/** Bytes of a cache per CPU that shares it: of the second level, or of the last one; 0 if unknown.
 *
 *  At most 32 MiB, which no CPU exceeds: virtual machines may list the host's cache. */
int64_t mg_machine_second_level_per_cpu(void);
int64_t mg_machine_cache_per_cpu(void);

/** The same with /sys below the folder `root`. For tests. */
int64_t mg_machine_second_level_per_cpu_in(const char *root);
int64_t mg_machine_cache_per_cpu_in(const char *root);

/** Bytes of strips in which CPUs pass through a level (cpu/pass.h): as set, or by default half of
 *  the share of the last-level cache. All solvers of the process share the value. */
int64_t mg_machine_strip_bytes(void);
int64_t mg_machine_default_strip_bytes(void);
void mg_machine_set_strip_bytes(int64_t bytes);

#endif
