/* The report of a run: gathers data from all ranks, then writes everything that the run produces.
 */
#include "base/log.h"
#include "base/log_wings.h"
#include "base/machine.h"
#include "device/device_select.h"
#include "io/report/report_wings.h"
#include "wings.h"

const char *mg_report_command_line(int argc, char *const argv[]) {
  static char line[4096];
  line[0] = '\0';
  for (int i = 0; i < argc; i++)
    mg_append(line, sizeof line, "%s%s", i > 0 ? " " : "", argv[i]);
  return line;
}

double mg_report_width(const mg_params_t *params, const int32_t n[3]) {
  MG_IF_DOMAINS(if (mg_params_has_cells(params)) return mg_report_domain_width(params, n));
  (void)params;
  return 1.0 / n[0];
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
    MG_IF_PROFILE(r->smoothing[l] = mg_smoothing_of(&cycles->level[l]));
    if (h->low) r->smoothing[l].norm = NULL;
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
  MG_IF_CONSOLE(mg_progress_clear());
  if (out) mg_report_print_head(out, r);
  /* A closed pipe has caused SIGPIPE, which ends the run like any other signal. */
  return MG_ON_ROOT(mg_machine_signal() == 0 ? mg_report_check_stdout() : MG_OK);
}

mg_status_t mg_report_end(mg_report_t *r, mg_hierarchy_t *h) {
  FILE *out = mg_report_text(r->params);
  mg_status_t status = MG_OK;
  (void)h; /* of wings */
  MG_IF_PROFILE(MG_TRY(mg_report_gather_profile(r, h)));
  if (out) mg_report_print_results(out, r);
  MG_IF_FILES(MG_TRY(mg_report_checksums(r, h)));
  r->fom = mg_report_fom(r);
  MG_IF_FILES(status = mg_report_write_all(r, h));
  if (out && status < MG_ERR_DEVICE) mg_report_print_fom(out, r);
  return status;
}
