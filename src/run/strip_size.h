/* Size of the strips of a CPU's pass through a level (cpu/pass.h), measured at set-up.
 *
 * Caches that a machine reports need not be its own: a virtual machine may list all of the host's
 * last-level cache. So passes over a part of the run's own level are timed with strips from the
 * size of the second-level cache up to half of the reported share. */
#ifndef MG_STRIP_SIZE_H
#define MG_STRIP_SIZE_H

#include "level/level.h"

enum { MG_MAX_STRIP_SIZES = 8 };

/** Why strips have their size. */
typedef enum { MG_STRIPS_NONE, MG_STRIPS_GIVEN, MG_STRIPS_MEASURED, MG_STRIPS_CACHE } mg_strips_t;

/** "none", "given", "measured", "cache". */
static inline const char *mg_strips_name(mg_strips_t source) {
  static const char *const names[] = {"none", "given", "measured", "cache"};
  return names[source];
}

/** The same on every rank. */
typedef struct {
  mg_strips_t source; /**< MG_STRIPS_NONE: no level has strips. MG_STRIPS_CACHE: half of the share
                           of the last-level cache, as no size was worth measuring */
  int64_t bytes;      /**< of strips */
  int n;              /**< sizes timed in this run; 0: none */
  int64_t size[MG_MAX_STRIP_SIZES]; /**< ascending */
  double time[MG_MAX_STRIP_SIZES];  /**< seconds of a pass on the slowest rank, the least of some */
  double seconds;                   /**< total time of the measurement */
} mg_strip_size_t;

/** Sizes to time: about twice as large from one to the next, from 3/4 of a CPU's share of the
 *  second-level cache up to `most`, which is included.
 *  @param[in] second_level  bytes; 0: unknown
 *  @return number of sizes, at most MG_MAX_STRIP_SIZES */
int mg_strip_sizes(int64_t second_level, int64_t most, int64_t size[MG_MAX_STRIP_SIZES]);

/** Index of the largest size whose time is within 5 % of the least: noise must not choose narrow
 *  strips, which read the rows at their edges twice. */
int mg_strip_fastest(const double *seconds, int n);

/** Time the found->n sizes by passes through the finest level that has strips, on all ranks and
 *  threads at the same time, and set the best one. Nothing happens if no level has strips.
 *
 *  Collective over the world.
 *  @param[in,out] h  MG_U and MG_TMP of that level are 0 afterwards
 *  @pre mg_problem_set
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_strip_size_measure(mg_hierarchy_t *h, mg_strip_size_t *found);

/** Set the size of strips: the value of --strip-bytes or, once per process, a measured one.
 *
 *  Levels of less than 2^18 cells per rank, and levels whose strips are the same for all sizes, are
 *  not measured. Otherwise as mg_strip_size_measure. */
MG_MUST_CHECK mg_status_t mg_strip_size_choose(const mg_params_t *params, mg_hierarchy_t *h,
                                               mg_strip_size_t *found);

#endif
