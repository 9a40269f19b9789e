/* Parts of reports that wings add: domains, preflight, profile, files, choices, energy. */
#ifndef MG_REPORT_WINGS_H
#define MG_REPORT_WINGS_H

#include "io/atomic_file.h"
#include "io/report/report.h"

/** Version of the JSON reports: 1 more if a key is removed or changes its meaning. */
enum { MG_REPORT_SCHEMA = 1 };

/** Report the levels and the bytes per rank of a plan instead of running it. Collective over the
 *  world.
 *  @return MG_OK, MG_ERR_MEMORY, or as mg_report_check_outputs and mg_report_write_files */
MG_MUST_CHECK mg_status_t mg_report_dry_run(const mg_params_t *params, const mg_plan_t *plan,
                                            const mg_input_t *input, const char *command_line);

/** Print a line about ranks without cells and rank counts that avoid them, if there are any. */
void mg_report_idle_ranks(FILE *out, const mg_params_t *params, const mg_plan_t *plan);

/** Whether there are per-level timings to report. */
static inline bool mg_report_has_breakdown(const mg_report_t *report) {
  return report->params->levels_breakdown && report->result->n_profiled > 0;
}

/** Gather times, messages and reductions of all levels. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_report_gather_profile(mg_report_t *report, const mg_hierarchy_t *h);
/** Print the tables of levels, with --levels-breakdown or --verbose. */
void mg_report_print_profile(FILE *out, const mg_report_t *report);

/** Print the lengths of a domain that is not the unit cube, and widths that differ; and the range
 *  of betas that are not built in. */
void mg_report_print_domain(FILE *out, const mg_params_t *params);
void mg_report_print_range(FILE *out, const mg_params_t *params, const double beta[2]);
/** mg_report_width of a grid given in cells. */
double mg_report_domain_width(const mg_params_t *params, const int32_t n[3]);

/** Print the choices that the run made by measurement. */
void mg_report_print_choices(FILE *out, const mg_placement_t *placement);

/** Print a table of the energy of the timed solves at h; nothing if none was requested. */
void mg_report_print_energy(FILE *out, const mg_result_t *result);

struct mg_sink;
/** Put the fields of energy in JSON, and its columns in CSV from number `next` on (fields.h). */
void mg_energy_fields(struct mg_sink *s, const mg_result_t *result);
void mg_energy_columns(struct mg_sink *s, const mg_report_t *report, int next);

/** Gather the checksums of the solution and the right-hand side, for the JSON report. Collective
 *  over the world. */
MG_MUST_CHECK mg_status_t mg_report_checksums(mg_report_t *report, const mg_hierarchy_t *h);

/** Write the files of --json, --csv and --dump, and the line about the dump. If one of them fails,
 *  the others are still written. Collective over the world.
 *  @return the worst status: as mg_report_write_files and mg_dump_run */
MG_MUST_CHECK mg_status_t mg_report_write_all(const mg_report_t *report, mg_hierarchy_t *h);

/** Write one file, by the function that makes its text, as mg_report_write_files does.
 *  @param[in] alone  only rank 0 calls; otherwise collective over the world */
MG_MUST_CHECK mg_status_t mg_report_write(const char *option, const char *path, mg_writer_t writer,
                                          const void *report, bool alone);

/** Print where the fields come from, if there are files of --coefficients or --rhs. */
void mg_report_print_input(FILE *out, const mg_params_t *params, const mg_input_t *input);

/** Check before the solve that the result files can be written. Existing files are not changed,
 *  missing ones are not created. Collective over the world.
 *  @return MG_OK, MG_ERR_IO (logged), MG_ERR_USAGE (--json without jansson) */
MG_MUST_CHECK mg_status_t mg_report_check_outputs(const mg_params_t *params);

/** Write the files of --json and --csv if requested. A file is replaced completely or not at
 *  all. If one cannot be written, the other still is.
 *
 *  For a FIFO, this waits for a reader; a signal to any rank ends the wait. Collective over the
 *  world.
 *  @return MG_OK, MG_ERR_INTERRUPTED (the wait), MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_COMM; logged */
MG_MUST_CHECK mg_status_t mg_report_write_files(const mg_report_t *report);

/** Write the text of one file, from the rows of mg_report_fields (fields.h).
 *  @param[in] report  mg_report_t */
MG_MUST_CHECK mg_status_t mg_report_json(FILE *out, const void *report);
MG_MUST_CHECK mg_status_t mg_report_csv(FILE *out, const void *report);

#endif
