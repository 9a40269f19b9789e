/* Block reductions to a sum or a maximum, as small programs. A program can be spelt as text, proven
 * on the host, drawn and mutated at random, and written as CUDA source.
 *
 * Every thread holds a value. All active warps execute each step, in program order. The result is
 * the final value of thread 0. */
#ifndef SEARCH_PLAN_H
#define SEARCH_PLAN_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PLAN_WARP = 32, PLAN_MAX_THREADS = 1024, PLAN_MAX_STEPS = 32, PLAN_TEXT = 192 };
enum { PLAN_AT_A_TIME = 2048 /* most resident threads per SM */ };

/** The input: the numbers of a long array (sum), or the absolute values of the cells of a
 * patch with ghosts (norm, as in the solver). */
typedef enum { PLAN_SUM, PLAN_NORM, N_PLAN_GOALS } plan_goal_t;

typedef enum {
  STEP_XOR,    /**< combine the value with the lanes that differ by m `by`, 0 < m < radix,
                *   as independent shuffles */
  STEP_DOWN,   /**< same with the lanes m `by` further up; past the warp's end a lane gets its
                *   own value */
  STEP_STORE,  /**< active threads divisible by `by` write part[me / by] */
  STEP_WARP,   /**< barrier within each active warp */
  STEP_BLOCK,  /**< block barrier */
  STEP_LOAD,   /**< only threads below `by` stay active: value = part[me + m by] combined,
                *   m < radix; the other lanes of their warps hold 0 */
  STEP_PACKED, /**< same with part[me radix + m] */
  STEP_MAX,    /**< value = maximum of the warp, by one instruction; not available for sums */
  N_STEP_KINDS
} plan_kind_t;

typedef struct {
  plan_kind_t kind;
  int radix, by; /**< 0 if the kind does not use it */
} plan_step_t;

/** How block results are combined: by atomics, in the last block to end, or in a second launch. */
typedef enum { GRID_ATOMICS, GRID_LAST_BLOCK, GRID_TWO_LAUNCHES, N_GRIDS } plan_grid_t;

typedef struct {
  plan_goal_t goal;
  int threads; /**< per block */
  int blocks;  /**< resident blocks per SM; 0: as many as fit */
  int loads;   /**< loads in flight per thread */
  int width;   /**< bytes per load: 8 or 16 */
  int sums;    /**< independent sums (or maxima) per thread */
  plan_grid_t grid;
  int n_steps;
  plan_step_t step[PLAN_MAX_STEPS];
} plan_t;

/** Why a program is invalid. */
typedef enum {
  PLAN_RIGHT,
  PLAN_SHAPE,         /**< an impossible parameter, or a shuffle beyond the warp */
  PLAN_UNWRITTEN,     /**< a load of a value that no thread stored */
  PLAN_BLOCK_BARRIER, /**< two warps communicate through shared memory without a block barrier */
  PLAN_WARP_BARRIER,  /**< two lanes of a warp communicate without any barrier */
  PLAN_TWICE,         /**< a thread's value counts more than once in a sum */
  PLAN_LEFT_OUT,      /**< a thread's value does not count */
  PLAN_MEMORY,        /**< out of memory for the proof */
  N_VERDICTS
} plan_verdict_t;

/** Description for display. */
const char *plan_verdict_name(plan_verdict_t verdict);

/** Run the steps of a program with a vector of n numbers in place of each value.
 *  @param[in,out] value  [threads][n]; out: value[0] is the result
 *  @return PLAN_RIGHT unless a step has an impossible shape or a race */
plan_verdict_t plan_run(const plan_t *plan, int n, int32_t *value);

/** Prove a program correct: run it on unit vectors, so the result shows which values contributed. A
 *  sum must contain each value exactly once, a maximum at least once. */
plan_verdict_t plan_prove(const plan_t *plan);

/** Spell a program as text; equal text means equal programs.
 *
 *  Example: "256 4x16/2 x4.1x8.4w32Br8.1 two"
 *    256      threads per block
 *    4x16/2   4 loads of 16 bytes, 2 sums per thread
 *    x4.1x8.4 xor shuffles of radix 4 and distance 1, then radix 8 and distance 4
 *    w32      every 32nd thread stores
 *    B        block barrier (b: warp barrier)
 *    r8.1     one thread adds 8 values (p8.1: packed)
 *    two      two launches (alternatives: atomics; last, for the last block)
 *  d is a shuffle down, m the warp maximum instruction. "max 256@4 ..." is a norm with four
 *  resident blocks per SM. */
void plan_spell(const plan_t *plan, char text[PLAN_TEXT]);

/** Parse the text that plan_spell writes.
 *  @return false if the text is not a program */
bool plan_parse(const char *text, plan_t *plan);

/** The baseline: a binary tree in shared memory, a block barrier after each step, two launches. */
plan_t plan_tree(plan_goal_t goal, int threads);

/** Random number generator with the same sequence on every machine. */
typedef struct {
  uint64_t state;
} plan_random_t;

/** Draw a program whose block alternates shuffles and exchanges through shared memory.
 *
 *  Within warps: radices 2, 4 and 8 in any order, with each kind of shuffle, or the instruction.
 *  Between: loads of radix 1 to 32, once or twice. Also trees in shared memory of a single radix.
 *  The grid and the loads are those of plan_tree, with 16-byte loads of 4 rows. */
plan_t plan_draw(plan_goal_t goal, int threads, plan_random_t *random);

/** Apply one random change to a program; it may become invalid. */
void plan_mutate(plan_t *plan, plan_random_t *random);

/** Set of distinct, proven programs, with counts of rejections by reason and of duplicates. */
typedef struct {
  plan_t *plan;
  int n;
  int verdicts[N_VERDICTS], repeated;
} plan_set_t;

/** Number of shapes that a search starts from, without the tree: those of the reduction ladder, and
 * for norms also the solver's own. */
enum { PLAN_KNOWN = 8 };

/** Collect the tree, the known shapes, then `tries` random programs.
 *
 *  Random programs are drawn for several block sizes, preferring short ones; half of them are
 *  mutated one to three times. Equal seeds give equal sets.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t plan_collect(plan_goal_t goal, uint64_t seed, int tries, plan_set_t *set);
void plan_set_free(plan_set_t *set);

/** Write a program as CUDA source: the templates of search_candidate.h with its shape. Its kernels:
 *
 *    first_launch(partial, result, ended, input): first or only launch;
 *    last_launch(partial, result, n): second launch, of n partial results;
 *    all_joins(result, expected, times): `times` successive block reductions of 0, 1, 2, ...
 *
 *  @return text that the caller frees; NULL if out of memory */
char *plan_source(const plan_t *plan);

/** True if programs can be compiled here. */
bool plan_can_compile(void);

/** Compile source for a compute capability, such as 90.
 *  @param[out] cubin  machine code, which the caller frees
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_INTERNAL if compilation fails (logged with the compiler's
 *          output), MG_ERR_USAGE if the build has no compiler */
MG_MUST_CHECK mg_status_t plan_compile(const char *source, int capability, char **cubin,
                                       size_t *bytes);

/** Compile all programs of a set in parallel: cubin[i] from set->plan[i]. Existing
 *  entries are kept.
 *  @return the worst status of plan_compile */
MG_MUST_CHECK mg_status_t plan_compile_all(const plan_set_t *set, int capability, char **cubin,
                                           size_t *bytes);

#endif
