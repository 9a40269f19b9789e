/* Reports of health checks (run/health.h), and baselines, which are such reports. */
#ifndef MG_REPORT_HEALTH_H
#define MG_REPORT_HEALTH_H

#include "run/health.h"
#include <stdio.h>

/** Version of the JSON lines: 1 more with each change of a key or of its meaning. */
enum { MG_HEALTH_SCHEMA = 2 };

/** What a report of a check may print. */
typedef struct {
  const mg_params_t *params;
  const mg_health_t *health;
  int count[MG_N_HEALTH_VERDICTS]; /**< devices with each verdict */
  bool passed;                     /**< all are ok */
} mg_health_report_t;

/** Check the devices of the job and report: --health. Collective over the world.
 *
 *  If ranks are missing, rank 0 reports and then aborts all ranks with exit code 1.
 *  @param[in,out] params  device is chosen afterwards
 *  @return MG_OK, MG_ERR_DIVERGED (a device is slow, wrong or missing: logged), MG_ERR_IO (baseline
 *          or report), MG_ERR_USAGE (JSON without jansson), or as mg_health_check */
MG_MUST_CHECK mg_status_t mg_report_health(mg_params_t *params);

/** Write the text of the --json file: one line per device, then one for all.
 *  @param[in] report  mg_health_report_t */
MG_MUST_CHECK mg_status_t mg_report_json_health(FILE *out, const void *report);

/** Read the devices with verdict ok from JSON lines of earlier checks. Not collective.
 *  @param[out] health  baseline and n_baseline
 *  @return MG_OK, MG_ERR_IO (unreadable, other content, no such device), MG_ERR_MEMORY,
 *          MG_ERR_USAGE (without jansson); logged */
MG_MUST_CHECK mg_status_t mg_report_read_baseline(const char *path, mg_health_t *health);

#endif
