/* The report of a run: gathers data from all ranks, then writes everything that the run produces.
 */
#include "base/log.h"
#include "base/machine.h"
#include "device/device_select.h"
#include "io/report/report_wings.h"
#include "wings.h"
#include <math.h>

const char *mg_report_command_line(int argc, char *const argv[]) {
  static char line[4096];
  line[0] = '\0';
  for (int i = 0; i < argc; i++)
    mg_append(line, sizeof line, "%s%s", i > 0 ? " " : "", argv[i]);
  return line;
}

double mg_report_width(const mg_params_t *params, const int32_t n[3]) {
  const double rounding = 1e-12;
  if (!mg_params_has_cells(params)) return 1.0 / n[0];
  const double width = params->length[0] / n[0];
  for (int d = 0; d < 3; d++)
    if (params->face[d] || fabs(params->length[d] / n[d] - width) > rounding * width) return NAN;
  return width;
}

/* Memory and eigenvalue bound of every level. */
static mg_status_t gather_levels(const mg_hierarchy_t *h, mg_report_t *r) {
  const mg_hierarchy_t *cycles = mg_hierarchy_of_cycles(h);
  const int n = cycles->n_levels;
  double bytes[MG_MAX_LEVELS], lambda[MG_MAX_LEVELS], all = 0.0;
  for (int l = 0; l < n; l++) {
    bytes[l] = (double)mg_hierarchy_bytes(h, l);
    lambda[l] = cycles->level[l].lambda_max;
    all += bytes[l];
  }
  MG_TRY(mg_comm_sum(mg_comm_world(), bytes, n));
  MG_TRY(mg_comm_max(mg_comm_world(), lambda, n));
  MG_TRY(mg_comm_max(mg_comm_world(), &all, 1));
  r->bytes_per_rank_max = (int64_t)all;
  for (int l = 0; l < n; l++) {
    r->level_bytes[l] = (int64_t)bytes[l];
    r->lambda_max[l] = lambda[l];
    r->smoothing[l] = mg_smoothing_of(&cycles->level[l]);
    if (h->low) r->smoothing[l].norm = NULL;
  }
  return MG_OK;
}

/* Seconds per solve of each operation of a level. */
static mg_status_t gather_times(const mg_timers_t *timers, double per_solve, int l,
                                mg_report_t *r) {
  double *min = r->time_min[l], *mean = r->time_mean[l], *max = r->time_max[l];
  for (int t = 0; t < MG_N_TIMES; t++)
    min[t] = mean[t] = max[t] = per_solve * timers->seconds[t];
  MG_TRY(mg_comm_min(mg_comm_world(), min, MG_N_TIMES));
  MG_TRY(mg_comm_sum(mg_comm_world(), mean, MG_N_TIMES));
  MG_TRY(mg_comm_max(mg_comm_world(), max, MG_N_TIMES));
  for (int t = 0; t < MG_N_TIMES; t++)
    mean[t] /= r->ranks;
  return MG_OK;
}

/* Messages and reductions per solve of a level, over the ranks that hold its cells. All solves of
 * one grid send the same messages. */
static mg_status_t gather_traffic(const mg_traffic_t *t, bool member, int n_solves, int l,
                                  mg_report_t *r) {
  enum { N = 3 };
  const int64_t mine[N] = {t->messages / n_solves, t->bytes / n_solves, t->reductions / n_solves};
  double min[N], max[N], sum[N + 1];
  for (int i = 0; i < N; i++) {
    max[i] = sum[i] = member ? (double)mine[i] : 0.0;
    min[i] = member ? (double)mine[i] : INFINITY;
  }
  sum[N] = member;
  MG_TRY(mg_comm_min(mg_comm_world(), min, N));
  MG_TRY(mg_comm_max(mg_comm_world(), max, N));
  MG_TRY(mg_comm_sum(mg_comm_world(), sum, N + 1));
  mg_count_t *const out[N] = {&r->messages[l], &r->message_bytes[l], &r->reductions[l]};
  for (int i = 0; i < N; i++)
    *out[i] = (mg_count_t){(int64_t)min[i], (int64_t)max[i], sum[i] / sum[N]};
  return MG_OK;
}

static mg_status_t gather_accounts(const mg_hierarchy_t *h, mg_report_t *r) {
  const mg_hierarchy_t *cycles = mg_hierarchy_of_cycles(h);
  const int n = r->result->n_profiled;
  for (int l = 0; l < cycles->n_levels; l++) {
    const mg_timers_t timers = mg_hierarchy_timers(h, l);
    const bool member = cycles->level[l].comm != NULL;
    MG_TRY(gather_times(&timers, n > 0 ? 1.0 / n : 0.0, l, r));
    MG_TRY(gather_traffic(&timers.traffic, member, n > 0 ? n : 1, l, r));
  }
  return MG_OK;
}

mg_status_t mg_report_begin(mg_report_t *r, const mg_hierarchy_t *h) {
  FILE *out = mg_report_text(r->params);
  r->ranks = mg_comm_size(mg_comm_world());
  r->threads = mg_machine_threads();
  r->host = mg_comm_host();
  r->cpu = mg_machine_cpu();
  r->device = mg_device_text();
  r->transport = mg_transports_name(h->transports);
  r->transport_text = mg_transports_describe(h->transports);
  r->reference = h->reference;
  MG_TRY(gather_levels(h, r));
  mg_progress_clear();
  if (out) mg_report_print_head(out, r);
  /* A closed pipe has caused SIGPIPE, which ends the run like any other signal. */
  return MG_ON_ROOT(mg_machine_signal() == 0 ? mg_report_check_stdout() : MG_OK);
}

mg_status_t mg_report_end(mg_report_t *r, mg_hierarchy_t *h) {
  FILE *out = mg_report_text(r->params);
  mg_status_t status = MG_OK;
  MG_TRY(gather_accounts(h, r));
  if (out) mg_report_print_results(out, r);
  MG_IF_FILES(MG_TRY(mg_report_checksums(r, h)));
  r->fom = mg_report_fom(r);
  MG_IF_FILES(status = mg_report_write_all(r, h));
  if (out && status < MG_ERR_DEVICE) mg_report_print_fom(out, r);
  return status;
}
