/* Results, for people and for programs. Rank 0 writes; functions are not collective unless they say
 * so. */
#ifndef MG_REPORT_H
#define MG_REPORT_H

#include "io/dump.h"
#include "io/input.h"
#include "plan/plan_stats.h"
#include "run/benchmark.h"
#include "run/gpu_cutoff.h"
#include <stdio.h>

/** A count over the ranks that hold cells of a level. */
typedef struct {
  int64_t min, max;
  double mean;
} mg_count_t;

/** Everything that a report may print; gathered beforehand. */
typedef struct {
  const mg_params_t *params;
  const mg_plan_t *plan;
  const mg_gpu_cutoff_t *gpu_cutoff;
  const mg_result_t *result;
  const mg_input_t *input;
  int ranks, threads;
  const char *host;
  const char *device; /**< rank 0's, in words */
  const char *command_line;
  const char *transport, *transport_text; /**< of messages between devices: ways in use, and why */
  int64_t level_bytes[MG_MAX_LEVELS];     /**< over all ranks */
  int64_t bytes_per_rank_max;
  double lambda_max[MG_MAX_LEVELS];
  /** seconds of one timed solve of the finest grid, and their spread over ranks */
  double time_min[MG_MAX_LEVELS][MG_N_TIMES], time_mean[MG_MAX_LEVELS][MG_N_TIMES],
      time_max[MG_MAX_LEVELS][MG_N_TIMES];
  /** the mean without time inside another operation of the level: sums count nothing twice */
  double time_own[MG_MAX_LEVELS][MG_N_TIMES];
  /** of one such solve, as sent by a rank */
  mg_count_t messages[MG_MAX_LEVELS], message_bytes[MG_MAX_LEVELS], reductions[MG_MAX_LEVELS];
} mg_report_t;

/** A line on ranks without cells and what to start instead; nothing where each has some. */
void mg_report_idle_ranks(FILE *out, const mg_params_t *params, const mg_plan_t *plan);

/** --version: the program and what it was built with. */
void mg_report_version(FILE *out);

/** The head of the report: problem, machine, levels. Before the solves. */
void mg_report_begin(FILE *out, const mg_report_t *report);

/** The rest: residual histories, performance table, error, order, verification. */
void mg_report_end(FILE *out, const mg_report_t *report);

/** A line on the files of --dump; nothing without any. */
void mg_report_dump(FILE *out, const mg_params_t *params, const mg_dump_stats_t *stats);

/** What --dry-run reports; gathered beforehand. */
typedef struct {
  const mg_params_t *params;
  const mg_plan_t *plan;
  const mg_plan_stats_t *stats; /**< with messages for --json */
  const char *command_line;
} mg_dry_run_t;

/** Levels and bytes per rank of a run that is not allocated. */
void mg_report_dry_run(FILE *out, const mg_dry_run_t *dry_run);

/** Find out before the solve whether the result files can be written. Existing ones stay as they
 *  are, missing ones are not created.
 *  @return MG_OK, MG_ERR_IO (logged), MG_ERR_USAGE (--json without jansson) */
MG_MUST_CHECK mg_status_t mg_report_check_outputs(const mg_params_t *params);

/** Write --json and --csv as far as they are asked for; a file is replaced as a whole or not at
 *  all. Of a FIFO the reader is waited for; a signal to any rank ends the wait. One file that
 * cannot be written does not cost the other. Collective over the world.
 *  @return MG_OK, MG_ERR_INTERRUPTED (the wait), MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_COMM; logged */
MG_MUST_CHECK mg_status_t mg_report_write_files(const mg_report_t *report);
MG_MUST_CHECK mg_status_t mg_report_write_dry_run(const mg_dry_run_t *dry_run);

/** Where the text for people goes: stdout, or stderr where --json=- or --csv=- has that. */
FILE *mg_report_text(const mg_params_t *params);

/** Flush a stream of the report. Of a failure on stdout mg_report_check_stdout() has the reason. */
void mg_report_flush(FILE *out);

/** Flush stdout and see whether everything on it arrived.
 *  @return MG_OK, MG_ERR_IO (logged) */
MG_MUST_CHECK mg_status_t mg_report_check_stdout(void);

/** The text of one file. */
MG_MUST_CHECK mg_status_t mg_report_json(FILE *out, const mg_report_t *report);
MG_MUST_CHECK mg_status_t mg_report_csv(FILE *out, const mg_report_t *report);
MG_MUST_CHECK mg_status_t mg_report_json_dry_run(FILE *out, const mg_dry_run_t *dry_run);

/** Where the finest level's memory is: "host", "device" or "unified". */
static inline const char *mg_report_memory(const mg_params_t *params, const mg_plan_t *plan) {
  if (!mg_place_is_cuda(plan->level[0].place)) return "host";
  return params->memory == MG_MEMORY_UNIFIED ? "unified" : "device";
}

/** Whether there are accounts of the levels to report. */
static inline bool mg_report_has_breakdown(const mg_report_t *report) {
  return report->params->levels_breakdown && report->result->n_profiled > 0;
}

/** Cells of a size. */
static inline double mg_size_dof(const mg_size_result_t *size) {
  const double n = size->n;
  return n * n * n;
}

#endif
