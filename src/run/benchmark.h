/* Phases of a run: warm-up, timed solves at h, 2h and 4h, Richardson error and order. */
#ifndef MG_BENCHMARK_H
#define MG_BENCHMARK_H

#include "run/energy.h"
#include "solver/solve.h"

enum { MG_N_SIZES = 3 };

/** Results of one grid size. */
typedef struct {
  int32_t n[3]; /**< cells; h = 1/n[0] */
  double f_norm;
  mg_history_t history; /**< history of a complete solve (all are identical); until one completes,
                           of an interrupted one */
  bool is_solved;       /**< at least one solve has completed */
  int n_solves;         /**< timed solves; 0 with --verify-only */
  double seconds_min, seconds_mean; /**< per solve, on the slowest rank; NaN if none was timed */
} mg_size_result_t;

/** Results of a run. */
typedef struct {
  int n_sizes; /**< sizes solved: 3, fewer if interrupted or if there are fewer levels */
  int n_sizes_planned;
  mg_size_result_t size[MG_N_SIZES];
  double error; /**< max |u_2h - R u_h|; NaN if not computed */
  double order; /**< log2 of error(2h) / error(h); NaN if not computed */
  /** With --precision=mixed, for each size: how much the solution depends on how float cells round
   *  (rounding.h). NAN: not measured. */
  double rounding[MG_N_SIZES];
  /** From these, bounds on how far error and order are from those of a run in double: relative to
   *  the error, and absolute (set by mg_verify). */
  double error_rounding, order_rounding;
  mg_energy_t energy;   /**< of the timed solves of the finest grid */
  double seconds_setup; /**< from the first allocation to coefficients and f of all levels */
  int n_profiled; /**< solves of the finest grid in the per-level times; 0: no per-level times */
  double seconds_profiled; /**< per profiled solve, the mean on the slowest rank */
  bool extra; /**< the profiled solves are extra solves with event timers, after the timed ones */
  int n_cycles_at_h; /**< cycles that made the solution on the finest level; fewer than in
                        size[0].history if a signal ended a later solve */
  bool interrupted;  /**< the run was interrupted before all was done */
  char where[64];    /**< ", after cycle N at M^3" if a first solve was interrupted, else "" */
  bool diverged;     /**< the solve of the last size diverged; its history shows where */
  bool passed;
  char why[256];  /**< reason if not passed */
  char note[128]; /**< checks that were skipped; "" if none */
} mg_result_t;

/** Run all phases. Collective over the world.
 *
 *  @param[in] start  history of the cycles that made the solution at h, if the finest level
 *         holds one: the solve at h continues from there. NULL: start from zero
 *  @param[in,out] result  seconds_setup is kept; energy is as mg_energy_open left it; the members
 *      listed in verify.h are left to mg_verify; all others are set, identically on all ranks
 *  @return MG_OK (complete, interrupted or diverged), MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_benchmark(mg_hierarchy_t *h, const mg_history_t *start,
                                       mg_result_t *result);

/** The `poll_stop` of a watch (solve.h): stop if any rank has caught a signal (machine.h).
 *  Collective over the world.
 *  @param[in]  no_data  ignored
 *  @param[out] stop     the same on all ranks
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_benchmark_poll_stop(void *no_data, bool *stop);

/** One solve at size s, timed on every rank from a common start; all ranks get the time of the
 *  slowest. A signal ends the solve after the current cycle: result->interrupted is set, and the
 *  time is meaningless.
 *  @param[in] start  as in mg_benchmark */
MG_MUST_CHECK mg_status_t mg_benchmark_solve(mg_hierarchy_t *h, int s, const mg_history_t *start,
                                             mg_result_t *result, double *seconds);
/** Log a solve of a phase with --verbose. */
void mg_benchmark_log(const char *phase, const mg_size_result_t *size, double seconds);

/** One solve that continues an earlier run, of the wing files (continue.c). It cannot be repeated,
 *  so it is not timed. */
MG_MUST_CHECK mg_status_t mg_benchmark_continue(mg_hierarchy_t *h, const mg_history_t *start,
                                                mg_result_t *result);

/** Show what runs next: a warm-up or timed solve after `done` ones, each of about `estimate`
 * seconds (show_solves.c, of the wing console). */
void mg_benchmark_show(const mg_params_t *p, int s, bool timed, int done, double estimate);

/* What mg_benchmark calls of the wing profile (profile_solves.c): */

/** If operations are only enqueued, per-level times come from separate solves, so that profiling
 *  does not affect the timed solves. */
MG_MUST_CHECK mg_status_t mg_benchmark_profile(mg_hierarchy_t *h, mg_result_t *result);
/** Clear the timers of all levels; save them; set them to the saved ones. */
void mg_timers_clear(mg_hierarchy_t *h);
void mg_timers_save(const mg_hierarchy_t *h);
void mg_timers_restore(mg_hierarchy_t *h);

#endif
