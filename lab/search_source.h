/* How a program is written as CUDA source, in parts: what sums and norms have of their own, and
 * what they share. In it joined(a, b) are two numbers as one, and join(value) is a block's. */
#ifndef SEARCH_SOURCE_H
#define SEARCH_SOURCE_H

#include "lab/search_plan.h"

/* What joined is, and, where blocks end in atomics, join_to(result, mine, known). */
void plan_write_sum_words(const plan_t *plan, FILE *to);
void plan_write_norm_words(const plan_t *plan, FILE *to);

/* What a thread reads, and the kernels. */
void plan_write_sum_kernels(const plan_t *plan, FILE *to);
void plan_write_norm_kernels(const plan_t *plan, FILE *to);

/** n numbers joined by halves, so that few joins wait for each other.
 *  @param[in] format  of one, with its number: first step, (first + 1) step, ... */
void plan_write_joined(FILE *to, const char *format, int first, int n, int step);

/** The head of a kernel up to its name. */
void plan_write_kernel(const plan_t *plan, FILE *to);

/** The end of a function of template T, whose block has joined `mine`. */
void plan_write_end(const plan_t *plan, FILE *to);

/** The second launch, if there is one: the kernel last_NAME. */
void plan_write_others(const plan_t *plan, FILE *to, const char *name, const char *type);

/** The kernel joins_NAME. */
void plan_write_joins(const plan_t *plan, FILE *to, const char *name, const char *type);

#endif
