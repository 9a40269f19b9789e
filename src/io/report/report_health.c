#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/machine.h"
#include "device/device_select.h"
#include "device/thread_check.h"
#include "io/checksum.h"
#include "io/report/report_health.h"
#include "io/report/report_wings.h"
#include "wings.h"
#include <stddef.h>
#include <string.h>

static bool has_baseline(const mg_params_t *params) {
  return strcmp(params->health, "-") != 0;
}

/* "rank 3 on node7 (GPU-..., 00000000:18:00.0)" */
static const char *name_of(const mg_health_device_t *d, char *name, int size) {
  name[0] = '\0';
  if (d->rank < 0)
    mg_append(name, size, "a GPU of %s", d->host);
  else
    mg_append(name, size, "rank %d on %s", d->rank, d->host);
  if (d->uuid[0]) mg_append(name, size, " (%s%s%s)", d->uuid, d->pci[0] ? ", " : "", d->pci);
  return name;
}

static void print_device(FILE *out, const mg_health_device_t *d) {
  static const struct {
    int width;
    double unit;
  } columns[MG_N_HEALTH_FIGURES] = {{9, 1e6}, {9, 1e6}, {7, 1e9}, {7, 1e9}, {7, 1e9},
                                    {7, 1e9}, {6, 1.0}, {6, 1.0}, {8, 1.0}};
  if (d->rank < 0)
    fprintf(out, "  %4s", "-");
  else
    fprintf(out, "  %4d", d->rank);
  fprintf(out, "  %-12s %-40s %-16s", d->host, d->uuid[0] ? d->uuid : "-",
          d->pci[0] ? d->pci : "-");
  for (int f = 0; f < MG_N_HEALTH_FIGURES; f++)
    if (isnan(d->value[f]))
      fprintf(out, " %*s", columns[f].width, "-");
    else
      fprintf(out, " %*.4g", columns[f].width, d->value[f] / columns[f].unit);
  fprintf(out, "  %s%s%s\n", mg_health_verdict_name(d->verdict), d->reason[0] ? ": " : "",
          d->reason);
}

/* Number of ranks that have the text of rank r at `offset` of their device; 0 if an earlier rank
 * has it, or if it is "". */
static int count_text(const mg_health_t *h, int r, size_t offset) {
  const char *const text = (const char *)&h->device[r] + offset;
  int n = 0;
  for (int other = 0; other < h->n_ranks && text[0]; other++) {
    if (strcmp((const char *)&h->device[other] + offset, text) != 0) continue;
    if (other < r) return 0;
    n++;
  }
  return n;
}

/* One line for each model, and for each reason why a GPU does not store into another one. */
static void print_models_and_links(FILE *out, const mg_health_t *h) {
  for (int r = 0; r < h->n_ranks; r++) {
    const int n = count_text(h, r, offsetof(mg_health_device_t, model));
    if (n > 0) fprintf(out, "  device    %s (%d)\n", h->device[r].model, n);
  }
  for (int r = 0; r < h->n_ranks; r++) {
    const int n = count_text(h, r, offsetof(mg_health_device_t, no_peer_link));
    if (n > 0)
      fprintf(out, "  peer      %d link%s not measured (rank %d to %d): %s\n", n, n == 1 ? "" : "s",
              h->device[r].peer.rank, r, h->device[r].no_peer_link);
  }
}

static void print_report(FILE *out, const mg_health_report_t *r) {
  const mg_health_t *h = r->health;
  const mg_health_device_t *first = &h->device[0];
  fprintf(out, "%s %s: health of %d device%s\n", PACKAGE_NAME, PACKAGE_VERSION, h->n_devices,
          h->n_devices == 1 ? "" : "s");
  if (first->problem[0].n > 0)
    fprintf(out, "  problems  %d^3 and %d^3 cells, fv2 gsrb, F-cycles, each rank alone\n",
            first->problem[0].n, first->problem[1].n);
  print_models_and_links(out, h);
  fprintf(out, "  slow      from %g %% below the median%s%s\n\n", r->params->health_slow,
          has_baseline(r->params) ? " or the baseline " : "",
          has_baseline(r->params) ? r->params->health : "");
  fprintf(out, "  %4s  %-12s %-40s %-16s %9s %9s %7s %7s %7s %7s %6s %6s %8s\n", "", "", "", "",
          "MDOF/s", "MDOF/s", "memory", "host", "peer", "message", "SM", "", "J per");
  fprintf(out, "  %4s  %-12s %-40s %-16s %7d^3 %7d^3 %7s %7s %7s %7s %6s %6s %8s  %s\n", "rank",
          "host", "UUID", "PCI address", first->problem[0].n, first->problem[1].n, "GB/s", "GB/s",
          "GB/s", "GB/s", "MHz", "W", "solve", "verdict");
  for (int d = 0; d < h->n_devices; d++)
    print_device(out, &h->device[d]);
  fprintf(out, "\nHEALTH: %s: %d ok, %d slow, %d wrong, %d missing\n",
          r->passed ? "PASSED" : "FAILED", r->count[MG_HEALTH_OK], r->count[MG_HEALTH_SLOW],
          r->count[MG_HEALTH_WRONG], r->count[MG_HEALTH_MISSING]);
  mg_report_flush(out);
}

/* One error line for each device that is not ok. They name its rank, not this one. */
static mg_status_t log_devices(const mg_health_t *health) {
  char name[MG_HEALTH_TEXT];
  mg_status_t status = MG_OK;
  mg_log_t log = {.n_ranks = 1, .program = PACKAGE_NAME};
  mg_log_t *const before = mg_log_enter(&log);
  for (int i = 0; i < health->n_devices; i++) {
    const mg_health_device_t *d = &health->device[i];
    if (d->verdict != MG_HEALTH_OK)
      status = mg_error(MG_ERR_DIVERGED, "health: %s is %s: %s", name_of(d, name, sizeof name),
                        mg_health_verdict_name(d->verdict), d->reason);
  }
  (void)mg_log_enter(before);
  return status;
}

/* A model that is not in the baseline is compared with the job alone. */
static void warn_of_models(const mg_health_t *health) {
  for (int r = 0; r < health->n_ranks && health->n_baseline > 0; r++) {
    const mg_health_device_t *d = &health->device[r];
    if (!d->answered || !isnan(d->baseline[MG_HEALTH_RATE_SMALL]) ||
        isnan(d->value[MG_HEALTH_RATE_SMALL]))
      continue;
    mg_warning("health: the baseline has no device '%s' with these problems, as rank %d has",
               d->model, d->rank);
    return;
  }
}

/* On rank 0. */
static mg_status_t report_devices(const mg_params_t *params, mg_health_report_t *report) {
  FILE *out = mg_report_text(params);
  for (int d = 0; d < report->health->n_devices; d++)
    report->count[report->health->device[d].verdict]++;
  report->passed = report->count[MG_HEALTH_OK] == report->health->n_devices;
  if (out) print_report(out, report);
  warn_of_models(report->health);
  return log_devices(report->health);
}

static mg_status_t write_json(const mg_health_report_t *report, bool alone) {
  (void)report;
  (void)alone;
  MG_IF_FILES(
      return mg_report_write("json", report->params->json, mg_report_json_health, report, alone));
  return MG_OK;
}

/* Ranks are missing: no other rank may be needed from here on. */
static mg_status_t report_and_abort(mg_health_report_t *report) {
  mg_status_t status = report_devices(report->params, report);
  status = mg_status_worst(status, write_json(report, true));
  status = mg_status_worst(status, mg_report_check_stdout());
  mg_comm_abort(mg_status_exit_code(status));
  return status;
}

static mg_status_t read_baseline(const char *path, mg_health_t *health) {
  (void)health;
  MG_IF_FILES(return mg_report_read_baseline(path, health));
  return mg_error(MG_ERR_USAGE,
                  "--health=%s needs the wing 'files', which this program was built without", path);
}

mg_status_t mg_report_health(mg_params_t *params) {
  static mg_health_t health;
  mg_health_report_t report = {.params = params, .health = &health};
  MG_TRY(mg_thread_check());
  MG_IF_FILES(MG_TRY(mg_report_check_outputs(params)));
  if (has_baseline(params)) MG_TRY(MG_ON_ROOT(read_baseline(params->health, &health)));
  MG_TRY(mg_thread_warn_if_crowded());
  mg_machine_catch_signals();
  MG_TRY(mg_health_check(params, mg_field_checksum, &health));
  if (health.must_abort && mg_comm_is_root()) return report_and_abort(&report);
  mg_status_t status = MG_ON_ROOT(report_devices(params, &report));
  status = mg_status_worst(status, write_json(&report, false));
  mg_health_free(&health);
  mg_device_close();
  return status;
}
