/* How a block of threads joins its numbers to their sum or their maximum, as a small program: one
 * that can be spelt, proven on the host, changed at random, and written as CUDA source.
 *
 * Every thread has a value. A step is one for all warps that are active, in the order of the
 * program; the result is thread 0's value in the end. */
#ifndef SEARCH_PLAN_H
#define SEARCH_PLAN_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PLAN_WARP = 32, PLAN_MOST_THREADS = 1024, PLAN_MOST_STEPS = 32, PLAN_TEXT = 192 };
enum { PLAN_AT_A_TIME = 2048 /* threads of a multiprocessor, at most */ };

/** Of what: a long array's numbers, or the cells of a patch with ghosts, their absolute values, as
 *  the solver's norm is. */
typedef enum { PLAN_SUM, PLAN_NORM, N_PLAN_GOALS } plan_goal_t;

typedef enum {
  STEP_XOR,    /**< value joins those of the lanes that differ by m `by`, 0 < m < radix, side by
                *   side */
  STEP_DOWN,   /**< the same of the lanes m `by` further on; beyond the warp a lane meets itself */
  STEP_STORE,  /**< of the threads that are active those divisible by `by` write part[me / by] */
  STEP_WARP,   /**< a barrier of each active warp */
  STEP_BLOCK,  /**< a barrier of the block */
  STEP_LOAD,   /**< threads below `by` are active from now on: value = part[me + m by] joined,
                *   m < radix; the other lanes of their warps have 0 */
  STEP_PACKED, /**< the same of part[me radix + m] */
  STEP_MAX,    /**< value = the largest of the warp, by an instruction; there is none for sums */
  N_STEP_KINDS
} plan_kind_t;

typedef struct {
  plan_kind_t kind;
  int radix, by; /**< 0 where the kind has none */
} plan_step_t;

/** How the blocks' results meet: by atomics, in the block that ends last, in a second launch. */
typedef enum { GRID_ATOMICS, GRID_LAST_BLOCK, GRID_TWO_LAUNCHES, N_GRIDS } plan_grid_t;

typedef struct {
  plan_goal_t goal;
  int threads; /**< a block */
  int blocks;  /**< that a multiprocessor has at a time; 0: as many as it holds */
  int loads;   /**< under way at a time, a thread */
  int width;   /**< of a load, bytes: 8 or 16 */
  int sums;    /**< of a thread, side by side; or maxima */
  plan_grid_t grid;
  int n_steps;
  plan_step_t step[PLAN_MOST_STEPS];
} plan_t;

/** Why a program is wrong. */
typedef enum {
  PLAN_RIGHT,
  PLAN_SHAPE,         /**< a number that no step can have, a shuffle beyond its warp */
  PLAN_UNWRITTEN,     /**< a load of what nobody has stored */
  PLAN_BLOCK_BARRIER, /**< two warps meet in shared memory with no barrier of the block between */
  PLAN_WARP_BARRIER,  /**< two lanes of a warp do with no barrier at all */
  PLAN_TWICE,         /**< some thread's number counts more than once, in a sum */
  PLAN_LEFT_OUT,      /**< some thread's number does not count */
  PLAN_MEMORY,        /**< none for the proof */
  N_VERDICTS
} plan_verdict_t;

/** In words, for people. */
const char *plan_verdict_name(plan_verdict_t verdict);

/** Run the steps of a program with a vector of n numbers in place of each value.
 *  @param[in,out] value  [threads][n]; out: value[0] is the result
 *  @return PLAN_RIGHT unless steps have an impossible shape or race */
plan_verdict_t plan_run(const plan_t *plan, int n, int32_t *value);

/** Prove it: run with unit vectors, so that a value counts whose numbers are in it, and see that
 *  the result has each: a sum once, a maximum at all. */
plan_verdict_t plan_prove(const plan_t *plan);

/** Spell it: "256 4x16/2 x4.1x8.4w32Br8.1 two" are 256 threads, 4 loads of 16 bytes, 2 sums a
 *  thread; shuffles by xor of radix 4 and distance 1, 8 and 4; every 32nd thread stores; a barrier
 *  of the block (b: of the warp); one thread adds 8 (p8.1: packed); two launches (atomics, last:
 *  the last block). d is a shuffle down. "max 256@4 ..." is a norm, and a multiprocessor has four
 *  blocks at a time; m is the instruction. Two programs that are spelt alike are the same. */
void plan_spell(const plan_t *plan, char text[PLAN_TEXT]);

/** The other way.
 *  @return false where the text is no program */
bool plan_parse(const char *text, plan_t *plan);

/** In sentences, a line a step. */
void plan_explain(const plan_t *plan, FILE *to);

/** The tree that others are compared with: halves by halves in shared memory, a barrier of the
 *  block after each, two launches. */
plan_t plan_tree(plan_goal_t goal, int threads);

/** What a caller does with a program; false ends the enumeration. */
typedef bool (*plan_sink_t)(const plan_t *plan, void *arg);

/** All programs of a block that alternate shuffles and shared memory: every order of radices 2, 4
 *  and 8 in the warps by each kind of shuffle, or the instruction, loads of radix 1 to 32 between,
 *  one or two times; and trees in shared memory of one radix.
 *  @return how many there were */
int plan_enumerate(plan_goal_t goal, int threads, plan_sink_t sink, void *arg);

/** A generator of numbers that is the same everywhere. */
typedef struct {
  uint64_t state;
} plan_random_t;
int plan_random(plan_random_t *r, int below);

/** Change one thing of a program, for better or worse. */
void plan_mutate(plan_t *plan, plan_random_t *random);

/** A set of different programs, all of them proven; how many were not, by reason, and how many had
 *  been there before. */
typedef struct {
  plan_t *plan;
  int n;
  int verdicts[N_VERDICTS], repeated;
} plan_set_t;

/** Shapes that a search begins with, the tree left out: of the ladder of sums; for norms the
 *  solver's own, too. */
enum { PLAN_KNOWN = 8 };

/** The tree, those, and then `tries` programs at random from the enumerated ones of several sizes
 * of a block, half of them mutated one to three times. The same for the same seed.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t plan_collect(plan_goal_t goal, uint64_t seed, int tries, plan_set_t *set);
void plan_set_free(plan_set_t *set);

/** Write it as CUDA source. A sum has the kernels
 *
 *    sum_double, sum_integer(partial, result, ended, from, n): the first launch, or the only one;
 *    last_double, last_integer(partial, result, n): the second, of n partial sums;
 *    joins_double(result, expected, times): that many joins behind each other of 0, 1, 2, ...
 *
 *  and integer is long long; a norm, whose result is its bits in an unsigned long long,
 *
 *    norm_double(partial, result, ended, from, n0, n1, n2, jstride, kstride), with from at cell
 *      0, 0, 0; n0 is even and rows are aligned where loads have 16 bytes; blocks side by side have
 *      32 loads of a row each, those above each other as many rows as warps;
 *    last_double, joins_double: as above.
 *
 *  partial has room for a result of each block; result is 0 before atomics; *ended is 0 before the
 *  first launch, and after each. */
void plan_write_source(const plan_t *plan, FILE *to);

/** The same in memory that the caller frees; NULL: none. */
char *plan_source(const plan_t *plan);

/** Can programs be compiled here? */
bool plan_can_compile(void);

/** Compile source for a compute capability, such as 90.
 *  @param[out] cubin  machine code, which the caller frees
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_INTERNAL where it is refused (logged with the compiler's
 *          words), MG_ERR_USAGE where the build has no compiler */
MG_MUST_CHECK mg_status_t plan_compile(const char *source, int capability, char **cubin,
                                       size_t *bytes);

/** All programs of a set, several at a time: cubin[i] of set->plan[i]. What is there already stays.
 *  @return the worst of plan_compile */
MG_MUST_CHECK mg_status_t plan_compile_all(const plan_set_t *set, int capability, char **cubin,
                                           size_t *bytes);

#endif
