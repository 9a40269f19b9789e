/* Shared by the CPU's ladders: memory, time. */
#ifndef LAB_CPU_H
#define LAB_CPU_H

#include "lab/lab.h"
#include <stddef.h>

/** Work that is timed. */
typedef void (*lab_work_t)(void *arg);

/** The median time of a run: one that warms up, then as many as the lab asks for. */
double lab_seconds(const lab_t *lab, lab_work_t work, void *arg);

/** Doubles on a line of their own, touched by the threads that will use them.
 *  @return NULL when there is no memory (logged); free with free */
double *lab_doubles(int64_t n);

/** The thread's share of n elements in multiples of `unit`, of all threads of a parallel region. */
void lab_share(int64_t n, int64_t unit, int64_t *first, int64_t *last);

/** The compiler must have this value in a register here, and may not see where it comes from: a
 *  loop with it is neither vectorized nor replaced by a call. */
#define LAB_OPAQUE(value) __asm__ volatile("" : "+r"(value))

#endif
