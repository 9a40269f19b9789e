/* Shared by the CPU ladders: memory and timing. */
#ifndef LAB_CPU_H
#define LAB_CPU_H

#include "lab/lab.h"
#include <stddef.h>

/** Work to be timed. */
typedef void (*lab_work_t)(void *arg);

/** Median time of a run: one warm-up, then as many timed runs as the lab requests. */
double lab_seconds(const lab_t *lab, lab_work_t work, void *arg);

/** Cache-line-aligned doubles, first touched by the threads that will use them.
 *  @return NULL if out of memory (logged); release with free */
double *lab_doubles(int64_t n);

/** Same with at[i] = lab_value(i). */
double *lab_values(int64_t n);

/** Count the at[i] that differ from want(arg, i); overwrites all of them. */
double lab_wrong(double *at, int64_t n, double (*want)(const void *arg, int64_t i),
                 const void *arg);

/** Number of the calling thread, and number of threads, within a parallel region. */
void lab_thread(int64_t *me, int64_t *threads);

/** The calling thread's share of n elements, in multiples of `unit`, within a parallel region. */
void lab_share(int64_t n, int64_t unit, int64_t *first, int64_t *last);

/** Bytes loaded and stored by counted kernels (lab/access.h) since they were set to 0. Such kernels
 *  must run on one thread. */
extern int64_t lab_bytes_loaded, lab_bytes_stored;

/** If set, counted kernels call it for every access and use the address that it returns. */
extern void *(*lab_watch)(const void *at, size_t bytes, bool is_store);

static inline void *lab_count_load(const void *at, size_t bytes) {
  lab_bytes_loaded += (int64_t)bytes;
  return lab_watch ? lab_watch(at, bytes, false) : (void *)(uintptr_t)at;
}
static inline void *lab_count_store(void *at, size_t bytes) {
  lab_bytes_stored += (int64_t)bytes;
  return lab_watch ? lab_watch(at, bytes, true) : at;
}

/** Bytes per element that a counted kernel loads and stores; `work` runs it on one thread. */
double lab_requested(lab_work_t work, void *arg, int64_t elements);

/** Force this value into a register and hide its origin from the compiler. A loop that contains it
 *  is neither vectorized nor replaced by a library call. */
#define LAB_OPAQUE(value) __asm__ volatile("" : "+r"(value))

#endif
