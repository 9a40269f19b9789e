/* Parts of the CUDA source of a program: those specific to sums or norms, and the shared ones. In
 * the source, joined(a, b) combines two numbers and join(value) reduces a block. */
#ifndef SEARCH_SOURCE_H
#define SEARCH_SOURCE_H

#include "lab/search_plan.h"

/* Define joined, and, if blocks end in atomics, join_to(result, mine, known). */
void plan_write_sum_words(const plan_t *plan, FILE *to);
void plan_write_norm_words(const plan_t *plan, FILE *to);

/* The thread's loads, and the kernels. */
void plan_write_sum_kernels(const plan_t *plan, FILE *to);
void plan_write_norm_kernels(const plan_t *plan, FILE *to);

/** Write a balanced tree of joined() over n numbers, to keep the dependency chain short.
 *  @param[in] format  text of one number, given its index: first step, (first + 1) step, ... */
void plan_write_joined(FILE *to, const char *format, int first, int n, int step);

/** Write the head of a kernel up to its name. */
void plan_write_kernel(const plan_t *plan, FILE *to);

/** Write the end of a function template over T whose block has reduced `mine`. */
void plan_write_end(const plan_t *plan, FILE *to);

/** Write the kernel last_NAME of the second launch, if there is one. */
void plan_write_others(const plan_t *plan, FILE *to, const char *name, const char *type);

/** Write the kernel joins_NAME. */
void plan_write_joins(const plan_t *plan, FILE *to, const char *name, const char *type);

#endif
