/* The phases of a run: warm-up, timed solves at h, 2h and 4h, Richardson error and order. */
#ifndef MG_BENCHMARK_H
#define MG_BENCHMARK_H

#include "solver/solve.h"

enum { MG_N_SIZES = 3 };

/** One grid size of the run. */
typedef struct {
  int32_t n; /**< cells a side; h = 1/n */
  double f_norm;
  mg_history_t history; /**< of a complete solve, which are all the same; before there is one, of
                             one that a signal ended */
  bool is_solved;       /**< there has been a complete one */
  int n_solves;         /**< timed ones; 0 with --verify-only */
  double seconds_min, seconds_mean; /**< of one solve, the slowest rank's; NaN without any */
} mg_size_result_t;

/** What a run found out. */
typedef struct {
  int n_sizes; /**< that were solved: 3, fewer when interrupted or when there are fewer levels */
  int n_sizes_planned;
  mg_size_result_t size[MG_N_SIZES];
  double error;         /**< max |u_2h - R u_h|; NaN when not computed */
  double order;         /**< log2 of error(2h) / error(h); NaN when not computed */
  double seconds_setup; /**< from the first allocation to coefficients and f of all levels */
  int n_profiled; /**< solves of the finest grid in the accounts of its levels; 0: no accounts */
  double seconds_profiled; /**< of one of these, the slowest rank's mean */
  bool extra;              /**< these solves came after the timed ones, with stamps */
  int n_cycles_at_h; /**< that made the solution on the finest level: fewer than size[0].history has
                          where a signal ended a later solve */
  bool interrupted;  /**< before all was done */
  char where[64];    /**< ", after cycle N at M^3" of a first solve, else "" */
  bool diverged;     /**< the last size's solve did; its history tells where */
  bool passed;
  char why[256];  /**< the reason when not passed */
  char note[128]; /**< what was not judged, "" for nothing */
} mg_result_t;

/** Run all phases and judge them (verify.h). Collective over the world.
 *
 *  @param[in] start  with a solution at h on the finest level, the cycles that made it: the solve
 * at h goes on from there. NULL: from zero
 *  @param[in,out] result  seconds_setup is kept; everything else is filled, the same everywhere
 *  @return MG_OK (passed, failed, interrupted or diverged), MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_benchmark(mg_hierarchy_t *h, const mg_history_t *start,
                                       mg_result_t *result);

/** The `poll_stop` of a watch (solve.h): stop if a rank has caught a signal (machine.h). Collective
 *  over the world.
 *  @param[in]  no_data  ignored
 *  @param[out] stop     the same on all ranks
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_benchmark_poll_stop(void *no_data, bool *stop);

#endif
