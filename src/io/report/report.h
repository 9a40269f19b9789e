/* Reports of results. Rank 0 writes. Functions are not collective unless stated. */
#ifndef MG_REPORT_H
#define MG_REPORT_H

#include "base/log.h"
#include "io/input.h"
#include "level/smoothing.h"
#include "run/benchmark.h"
#include "run/placement.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/** Statistics over ranks. */
typedef struct {
  double min, mean, max;
} mg_spread_t;

/** What a level's ranks send in a solve. */
typedef enum { MG_COUNT_MESSAGES, MG_COUNT_BYTES, MG_COUNT_REDUCTIONS, MG_N_COUNTS } mg_count_t;

/** Class of a result. docs/rules.md has the rules of each. */
typedef enum {
  MG_RESULT_OFFICIAL,
  MG_RESULT_DOUBLE,
  MG_RESULT_MIXED,
  MG_RESULT_OPEN
} mg_result_class_t;

/** Word of a class: "official", ...; static string. */
const char *mg_result_class_name(mg_result_class_t result_class);

/** Figure of merit of a run. */
typedef struct {
  mg_result_class_t result_class; /**< follows from the parameters alone */
  bool valid;                     /**< verified, and measured as the class requires */
  double dof_per_s;               /**< mg_report_rate of h */
  char why[256];                  /**< reason if not valid, else "" */
} mg_fom_t;

/** Everything that a report may print. */
typedef struct {
  /* Set by the caller. */
  const mg_params_t *params;
  const mg_plan_t *plan;
  const mg_placement_t *placement;
  const mg_result_t *result;
  const mg_input_t *input;
  const char *command_line;
  const struct mg_plan_stats
      *stats; /**< of --dry-run: the report is that of a plan; otherwise NULL */
  /* Set by mg_report_begin. */
  int ranks, threads;
  const char *host, *cpu;                 /**< of rank 0 */
  const char *device;                     /**< description of rank 0's device */
  const char *transport, *transport_text; /**< transports in use between devices, and the reason */
  int64_t level_bytes[MG_MAX_LEVELS];     /**< sum over all ranks */
  int64_t bytes_per_rank_max;
  double lambda_max[MG_MAX_LEVELS];
  mg_smoothing_t smoothing[MG_MAX_LEVELS]; /**< of rank 0 */
  /* Set by mg_report_end. */
  /** seconds of one timed solve of the finest grid, over ranks */
  mg_spread_t seconds[MG_MAX_LEVELS][MG_N_TIMES];
  /** of one such solve, over the ranks that hold cells of a level; least and most are integers */
  mg_spread_t counts[MG_MAX_LEVELS][MG_N_COUNTS];
  bool has_checksums; /**< of u and f at h; with --json, after complete solves */
  uint64_t checksum_u, checksum_f;
  mg_reference_t reference; /**< what --rtol is relative to at h */
  mg_fom_t fom;
} mg_report_t;

/** Most mean seconds of the timed solves of a grid, relative to the fastest one. The mean of more
 *  comes from other work on the machine or from changing clocks. Idle machines: up to 1.25. */
#define MG_MAX_SPREAD 1.5

/** Mean seconds of the timed solves of a grid / the fewest; 1 if it was not timed. */
double mg_report_spread(const mg_size_result_t *size);

/** Width of a cell of n[0] x n[1] x n[2] on the run's domain; NaN if cells are not equal cubes. */
double mg_report_width(const mg_params_t *params, const int32_t n[3]);

/** Judge a verified run by the rules of its class. */
mg_fom_t mg_report_fom(const mg_report_t *report);

/** Join the arguments of main with spaces; at most 4095 characters. Static storage. */
const char *mg_report_command_line(int argc, char *const argv[]);

/** Report a run before its solves: gather sizes, print the head of the text report and check
 *  stdout. Collective over the world.
 *  @return MG_OK, MG_ERR_IO (logged), MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_report_begin(mg_report_t *report, const mg_hierarchy_t *h);

/** Report the results: gather times and messages, print the rest of the text report, and call
 *  mg_report_write_all. Collective over the world.
 *  @return MG_OK, MG_ERR_COMM, or as mg_report_write_all */
MG_MUST_CHECK mg_status_t mg_report_end(mg_report_t *report, mg_hierarchy_t *h);

/** Print the text that --help, --version or --print-config requests, on rank 0. */
void mg_report_print_info(mg_action_t action, const mg_params_t *params);

/** Print the head of the text report: problem, machine, levels. */
void mg_report_print_head(FILE *out, const mg_report_t *report);

/** Print the rest of the text report: residual histories, performance table, error, order,
 *  verification. */
void mg_report_print_results(FILE *out, const mg_report_t *report);

/** Print the end of the text report: HPGMG-FV's summary, if there is a rate, and the line FOM. */
void mg_report_print_fom(FILE *out, const mg_report_t *report);

/** Cells of a box: "16^3", or "50x60x37" with --cells. */
mg_grid_text_t mg_report_box(const mg_layout_t *layout);

/** Whether a path stands for stdout. */
static inline bool mg_report_is_stdout(const char *path) {
  return strcmp(path, "-") == 0;
}

/** Print where each field of the problem comes from, in every run. */
void mg_report_print_problem(FILE *out, const mg_params_t *params, const mg_input_t *input);

/** Stream for the text report: stdout, or stderr if --json=- or --csv=- uses stdout. NULL if this
 *  rank prints none: with --quiet, and on all ranks but 0. */
FILE *mg_report_text(const mg_params_t *params);

/** Flush a stream of the report. mg_report_check_stdout() reports the cause of a failure on
 *  stdout.
 *  @return errno of the first failure on stdout, or 0 */
int mg_report_flush(FILE *out);

/** Flush stdout and check that all output was written.
 *  @return MG_OK, MG_ERR_IO (logged) */
MG_MUST_CHECK mg_status_t mg_report_check_stdout(void);

/** Memory of the finest level: "host", "device" or "unified". */
static inline const char *mg_report_memory(const mg_params_t *params, const mg_plan_t *plan) {
  if (!mg_place_is_cuda(plan->level[0].place)) return "host";
  return params->memory == MG_MEMORY_UNIFIED ? "unified" : "device";
}

/** Number of cells of a grid size. */
static inline double mg_size_dof(const mg_size_result_t *size) {
  return (double)mg_volume(size->n);
}

/** Cells per second of a grid size. NaN, so no rate, if its solves were not timed or the run was
 * not verified. */
static inline double mg_report_rate(const mg_report_t *report, const mg_size_result_t *size) {
  const bool counts = report->result->passed && !report->params->verify_only;
  return counts ? mg_size_dof(size) / size->seconds_mean : NAN;
}

#endif
