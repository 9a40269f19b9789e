/* The text of a check, its error lines, and the order of a run. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/machine.h"
#include "comm/comm.h"
#include "device/thread_check.h"
#include "health/health.h"
#include "io/report/report_wings.h"
#include <stddef.h>

/* "rank 3 on node7 (GPU-..., 00000000:18:00.0)" */
static const char *name_of(const health_device_t *d, char *name, int size) {
  name[0] = '\0';
  if (d->name.rank < 0)
    mg_append(name, size, "a GPU of %s", d->name.host);
  else
    mg_append(name, size, "rank %d on %s", d->name.rank, d->name.host);
  if (d->name.uuid[0])
    mg_append(name, size, " (%s%s%s)", d->name.uuid, d->pci[0] ? ", " : "", d->pci);
  return name;
}

static void print_device(FILE *out, const health_device_t *d) {
  const health_name_t *name = &d->name;
  char rank[16] = "-";
  if (name->rank >= 0) snprintf(rank, sizeof rank, "%d", name->rank);
  fprintf(out, "  %4s  %-12s %-40s %-16s", rank, name->host, name->uuid[0] ? name->uuid : "-",
          d->pci[0] ? d->pci : "-");
  for (int f = 0; f < HEALTH_FIGURES; f++)
    if (isnan(d->value[f]))
      fprintf(out, " %*s", health_figures[f].width, "-");
    else
      fprintf(out, " %*.4g", health_figures[f].width, d->value[f] / health_figures[f].unit);
  fprintf(out, "  %s%s%s\n", health_verdicts[d->verdict], d->reason[0] ? ": " : "", d->reason);
}

/* One line for each text at an offset of the devices. Arguments of the format: the text, the number
 * of ranks that have it, "s" if there are several, and the first of them with its peer. */
static void print_each(FILE *out, const health_t *h, size_t offset, const char *format) {
  for (int r = 0; r < h->n_ranks; r++) {
    const char *const text = (const char *)&h->device[r] + offset;
    int n = 0, first = h->n_ranks;
    for (int other = h->n_ranks - 1; other >= 0 && text[0]; other--) {
      if (strcmp((const char *)&h->device[other] + offset, text) != 0) continue;
      first = other;
      n++;
    }
    if (first == r) fprintf(out, format, text, n, n == 1 ? "" : "s", h->device[r].peer.rank, r);
  }
}

static void print_report(FILE *out, const health_t *h) {
  const health_device_t *first = &h->device[0];
  fprintf(out, "%s %s: health of %d device%s\n", PACKAGE_NAME, PACKAGE_VERSION, h->n_devices,
          h->n_devices == 1 ? "" : "s");
  if (first->problem[0].n > 0)
    fprintf(out, "  problems  %d^3 and %d^3 cells, fv2 gsrb, F-cycles, each rank alone\n",
            first->problem[0].n, first->problem[1].n);
  print_each(out, h, offsetof(health_device_t, name.model), "  device    %s (%d)\n");
  print_each(out, h, offsetof(health_device_t, no_peer_link),
             "  peer      %2$d link%3$s not measured (rank %4$d to %5$d): %1$s\n");
  fprintf(out, "  slow      from %g %% below the median%s%s\n\n", h->slow,
          h->baseline_path[0] ? " or the baseline " : "", h->baseline_path);
  fprintf(out, "%78s    MDOF/s    MDOF/s  memory    host    peer message     SM           J per\n",
          "");
  fprintf(out,
          "  rank  %-12s %-40s %-16s %7d^3 %7d^3    GB/s    GB/s    GB/s    GB/s    MHz      W    "
          "solve  verdict\n",
          "host", "UUID", "PCI address", first->problem[0].n, first->problem[1].n);
  for (int d = 0; d < h->n_devices; d++)
    print_device(out, &h->device[d]);
  fprintf(out, "\nHEALTH: %s: %d ok, %d slow, %d wrong, %d missing\n",
          h->count[HEALTH_OK] == h->n_devices ? "PASSED" : "FAILED", h->count[HEALTH_OK],
          h->count[HEALTH_SLOW], h->count[HEALTH_WRONG], h->count[HEALTH_MISSING]);
  mg_report_flush(out);
}

/* One error line for each device that is not ok. They name its rank, not this one. */
static mg_status_t log_devices(const health_t *h) {
  char name[HEALTH_TEXT];
  mg_status_t status = MG_OK;
  mg_log_t log = {.n_ranks = 1, .program = "hpgmg-health"};
  mg_log_t *const before = mg_log_enter(&log);
  for (const health_device_t *d = h->device; d < h->device + h->n_devices; d++)
    if (d->verdict != HEALTH_OK)
      status = mg_error(MG_ERR_DIVERGED, "health: %s is %s: %s", name_of(d, name, sizeof name),
                        health_verdicts[d->verdict], d->reason);
  (void)mg_log_enter(before);
  return status;
}

/* A model that is not in the baseline is compared with the job alone. */
static void warn_of_models(const health_t *h) {
  for (int r = 0; r < h->n_ranks && h->n_baseline > 0; r++) {
    const health_device_t *d = &h->device[r];
    const bool has_rate = d->answered && !isnan(d->value[HEALTH_RATE_SMALL]);
    if (!has_rate || !isnan(d->baseline[HEALTH_RATE_SMALL])) continue;
    mg_warning("health: the baseline has no device '%s' with these problems, as rank %d has",
               d->name.model, d->name.rank);
    return;
  }
}

/* On rank 0. */
static mg_status_t report_devices(health_t *h) {
  FILE *out = mg_report_text(&h->params);
  for (int d = 0; d < h->n_devices; d++)
    h->count[h->device[d].verdict]++;
  if (out) print_report(out, h);
  warn_of_models(h);
  return log_devices(h);
}

mg_status_t health_report(health_t *h) {
  MG_TRY(mg_thread_check());
  MG_TRY(mg_report_check_outputs(&h->params));
  if (h->baseline_path[0]) MG_TRY(MG_ON_ROOT(health_read_baseline(h)));
  MG_TRY(mg_thread_warn_if_crowded());
  mg_machine_catch_signals();
  MG_TRY(health_check(h));
  /* If ranks are missing, no other rank may be needed from here on. */
  const bool alone = h->must_abort && mg_comm_is_root();
  mg_status_t status = alone ? report_devices(h) : MG_ON_ROOT(report_devices(h));
  status = mg_status_worst(status, mg_report_write("json", h->params.json, health_json, h, alone));
  if (!alone) return status;
  status = mg_status_worst(status, mg_report_check_stdout());
  mg_comm_abort(mg_status_exit_code(status));
  return status;
}
