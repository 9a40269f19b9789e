/* Medians and verdicts of a health check. */
#include "base/log.h"
#include "base/machine.h"
#include "run/health.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *title;
  bool judged, is_link;
} figures[MG_N_HEALTH_FIGURES] = {
    [MG_HEALTH_RATE_SMALL] = {"dof_per_s_small", "the small problem", true, false},
    [MG_HEALTH_RATE_MEDIUM] = {"dof_per_s_medium", "the medium problem", true, false},
    [MG_HEALTH_BANDWIDTH] = {"bytes_per_s", "memory bandwidth", true, false},
    [MG_HEALTH_HOST_LINK] = {"host_link_bytes_per_s", "the link to the host", true, true},
    [MG_HEALTH_PEER_LINK] = {"peer_link_bytes_per_s", "the GPU link", true, true},
    [MG_HEALTH_MESSAGE] = {"message_bytes_per_s", "messages", true, true},
    [MG_HEALTH_SM_CLOCK] = {"sm_clock_mhz", "", false, false},
    [MG_HEALTH_POWER] = {"watts", "", false, false},
    [MG_HEALTH_ENERGY] = {"joules_per_solve", "", false, false}};

const char *mg_health_figure_name(mg_health_figure_t figure) {
  return figures[figure].name;
}

const char *mg_health_verdict_name(mg_health_verdict_t verdict) {
  static const char *const names[MG_N_HEALTH_VERDICTS] = {"ok", "slow", "wrong", "missing"};
  return names[verdict];
}

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double mg_health_median(double *values, int n) {
  if (n == 0) return NAN;
  qsort(values, (size_t)n, sizeof *values, compare);
  return values[n / 2];
}

static const mg_health_device_t *previous_of(const mg_health_t *health, int r) {
  return &health->device[(r + health->n_ranks - 1) % health->n_ranks];
}

static bool same_problems(const mg_health_device_t *a, const mg_health_device_t *b) {
  for (int p = 0; p < MG_HEALTH_PROBLEMS; p++)
    if (a->problem[p].n != b->problem[p].n) return false;
  return strcmp(a->model, b->model) == 0;
}

static bool has_peer(int f) {
  return f == MG_HEALTH_PEER_LINK || f == MG_HEALTH_MESSAGE;
}

/* Within a host, or between two. */
static bool link_is_inside(const mg_health_device_t *d) {
  return strcmp(d->host, d->peer.host) == 0;
}

/* May the figures of two devices be compared? A link has two ends. */
static bool are_comparable(int f, const mg_health_device_t *a, const mg_health_device_t *b) {
  return same_problems(a, b) && (!has_peer(f) || (strcmp(a->peer.model, b->peer.model) == 0 &&
                                                  link_is_inside(a) == link_is_inside(b)));
}

/* Is it the same device, or the same pair of devices? Cores have no UUID. */
static bool is_same(int f, const mg_health_device_t *a, const mg_health_device_t *b) {
  return a->uuid[0] && strcmp(a->uuid, b->uuid) == 0 &&
         (!has_peer(f) || (a->peer.uuid[0] && strcmp(a->peer.uuid, b->peer.uuid) == 0));
}

/* Median over the ranks that are comparable with rank r. */
static double median_of_job(const mg_health_t *health, int f, int r, double *values) {
  int n = 0;
  for (int other = 0; other < health->n_ranks; other++)
    if (are_comparable(f, &health->device[r], &health->device[other]) &&
        !isnan(health->device[other].value[f]))
      values[n++] = health->device[other].value[f];
  return n > 1 ? mg_health_median(values, n) : NAN;
}

/* Of this device or pair if the baseline has its UUIDs, else of all comparable ones. */
static double median_of_baseline(const mg_health_t *health, int f, int r, double *values,
                                 bool *is_own) {
  const mg_health_device_t *device = &health->device[r];
  for (int own = 1; own >= 0; own--) {
    int n = 0;
    for (int b = 0; b < health->n_baseline; b++) {
      const mg_health_device_t *other = &health->baseline[b];
      const bool counts = own ? same_problems(device, other) && is_same(f, device, other)
                              : are_comparable(f, device, other);
      if (counts && !isnan(other->value[f])) values[n++] = other->value[f];
    }
    *is_own = own && n > 0;
    if (n > 0) return mg_health_median(values, n);
  }
  return NAN;
}

/* The GPU may be visible to several ranks because another one is gone. */
static int first_with_gpu(const mg_health_t *health, int r) {
  int first = 0;
  while (strcmp(health->device[first].uuid, health->device[r].uuid) != 0)
    first++;
  return health->device[r].uuid[0] ? first : r;
}

/* Of a chain of ranks that wait for each other, only the first one has lost its peer. */
static bool has_lost_peer(const mg_health_t *health, int r) {
  const mg_health_device_t *d = &health->device[r], *previous = previous_of(health, r);
  return d->lost_peer && previous->answered &&
         !(previous->stuck && previous->n_exchanges < d->n_exchanges);
}

static bool is_missing(const mg_health_t *health, int r, char *reason) {
  const mg_health_device_t *d = &health->device[r];
  const int first = first_with_gpu(health, r);
  if (!d->answered && mg_machine_signal() != 0)
    snprintf(reason, MG_HEALTH_TEXT, "no answer before a signal ended the check");
  else if (!d->answered)
    snprintf(reason, MG_HEALTH_TEXT, "no answer within %g s", health->timeout);
  else if (d->failure[0])
    snprintf(reason, MG_HEALTH_TEXT, "no result: %.200s", d->failure);
  else if (first < r)
    snprintf(reason, MG_HEALTH_TEXT,
             "has the GPU of rank %d too: its host shows fewer GPUs than it has ranks", first);
  else if (has_lost_peer(health, r))
    snprintf(reason, MG_HEALTH_TEXT, "no message from rank %d within %g s",
             previous_of(health, r)->rank, 0.25 * health->timeout);
  else
    return false;
  return true;
}

/* Number of ranks whose solution of problem p is the same. */
static int count_equal(const mg_health_t *health, int r, int p) {
  int n = 0;
  for (int other = 0; other < health->n_ranks; other++)
    n += health->device[other].answered && health->device[other].problem[p].n_checked > 0 &&
         health->device[other].problem[p].checksum == health->device[r].problem[p].checksum;
  return n;
}

static bool has_wrong_solution(const mg_health_t *health, int r, char *reason) {
  for (int p = 0; p < MG_HEALTH_PROBLEMS; p++) {
    const mg_health_problem_t *problem = &health->device[r].problem[p];
    if (problem->n_wrong > 0)
      snprintf(reason, MG_HEALTH_TEXT,
               "%d^3: checksum %016llx instead of %016llx, in %d of %d solutions; ranks with this "
               "checksum: %d of %d",
               problem->n, (unsigned long long)problem->checksum,
               (unsigned long long)problem->known, problem->n_wrong, problem->n_checked,
               count_equal(health, r, p), health->n_ranks);
    else if (problem->n_norms > 0)
      snprintf(reason, MG_HEALTH_TEXT,
               "%d^3: the residual norms of equal solutions differ in %d of %d solutions",
               problem->n, problem->n_norms, problem->n_checked);
    else
      continue;
    return true;
  }
  return false;
}

/* The two ends of a link: "rank 0 (GPU-...) to rank 1 (GPU-...)", or the hosts of cores. */
static const char *name_link(const mg_health_device_t *d, char *name, size_t size) {
  snprintf(name, size, "rank %d (%s) to rank %d (%s)", d->peer.rank,
           d->peer.uuid[0] ? d->peer.uuid : d->peer.host, d->rank, d->uuid[0] ? d->uuid : d->host);
  return name;
}

static bool has_wrong_arrivals(const mg_health_device_t *d, const char *what,
                               const mg_health_arrivals_t *arrivals, char *reason) {
  char link[MG_HEALTH_TEXT];
  const mg_word_errors_t *e = &arrivals->errors;
  if (e->n == 0) return false;
  snprintf(reason, MG_HEALTH_TEXT,
           "%s from %.160s: %lld of %lld words differ, the first: %016llx instead of %016llx", what,
           name_link(d, link, sizeof link), (long long)e->n, (long long)arrivals->n_words,
           (unsigned long long)e->found, (unsigned long long)e->expected);
  return true;
}

static bool is_wrong(const mg_health_t *health, int r, char *reason) {
  const mg_health_device_t *d = &health->device[r];
  return has_wrong_solution(health, r, reason) ||
         has_wrong_arrivals(d, "stores", &d->stores, reason) ||
         has_wrong_arrivals(d, "messages", &d->messages, reason);
}

/* Percent below a reference from which a figure is slow. Links vary more. */
static double limit_of(int f, double slow) {
  const double most = 50.0, factor = 10.0;
  return figures[f].is_link ? fmax(slow, fmin(factor * slow, most)) : slow;
}

/* The figure that is furthest below its limit. A pair with its own baseline is not compared with
 * other pairs, which may be joined by other links. */
static bool is_slow(const mg_health_device_t *d, double slow, char *reason) {
  char link[MG_HEALTH_TEXT];
  double worst = 0.0;
  for (int f = 0; f < MG_N_HEALTH_FIGURES; f++) {
    for (int base = 0; base < 2 && figures[f].judged; base++) {
      const double reference = base ? d->baseline[f] : d->median[f],
                   below = 100.0 * (1.0 - d->value[f] / reference),
                   excess = below - limit_of(f, slow);
      if (!base && has_peer(f) && d->is_own[f]) continue;
      if (!(excess > worst)) continue; /* also without a reference */
      worst = excess;
      snprintf(reason, MG_HEALTH_TEXT, "%s%s%.160s %.1f %% below the %s", figures[f].title,
               has_peer(f) ? " from " : "", has_peer(f) ? name_link(d, link, sizeof link) : "",
               below, base ? "baseline" : "median");
    }
  }
  const double clock = d->value[MG_HEALTH_SM_CLOCK], usual = d->median[MG_HEALTH_SM_CLOCK];
  if (worst > 0.0 && !isnan(clock) && !isnan(usual))
    mg_append(reason, MG_HEALTH_TEXT, "; SM clock %.0f MHz, median %.0f MHz", clock, usual);
  return worst > 0.0;
}

/* Append a GPU of the baseline whose host is in the job, and that no rank has. */
static void append_if_lost(mg_health_t *health, const mg_health_device_t *known) {
  bool host_is_here = false;
  if (!known->uuid[0]) return;
  for (int d = 0; d < health->n_devices; d++) {
    const mg_health_device_t *device = &health->device[d];
    if (strcmp(device->uuid, known->uuid) == 0) return;
    if (!device->answered && !device->uuid[0]) return; /* could be it */
    host_is_here = host_is_here || strcmp(device->host, known->host) == 0;
  }
  if (!host_is_here) return;
  mg_health_device_t *lost = &health->device[health->n_devices++];
  *lost = *known;
  lost->rank = -1;
  lost->verdict = MG_HEALTH_MISSING;
  for (int f = 0; f < MG_N_HEALTH_FIGURES; f++) {
    lost->baseline[f] = known->value[f];
    lost->value[f] = lost->median[f] = NAN;
  }
  snprintf(lost->reason, sizeof lost->reason, "it is in the baseline, but no rank has it");
}

static void find_peers(mg_health_t *health) {
  for (int r = 0; r < health->n_ranks; r++) {
    const mg_health_device_t *previous = previous_of(health, r);
    mg_health_peer_t *peer = &health->device[r].peer;
    peer->rank = health->n_ranks > 1 ? previous->rank : -1;
    if (peer->rank < 0) continue;
    snprintf(peer->host, sizeof peer->host, "%s", previous->host);
    snprintf(peer->model, sizeof peer->model, "%s", previous->model);
    snprintf(peer->uuid, sizeof peer->uuid, "%s", previous->uuid);
  }
}

/* Comparable ranks have the same median, so most ranks copy that of rank 0. */
static void find_medians(mg_health_t *health, double *values) {
  for (int r = 0; r < health->n_ranks; r++)
    for (int f = 0; f < MG_N_HEALTH_FIGURES; f++) {
      mg_health_device_t *d = &health->device[r];
      int first = 0;
      while (!are_comparable(f, d, &health->device[first]))
        first++;
      d->median[f] =
          first < r ? health->device[first].median[f] : median_of_job(health, f, r, values);
      d->baseline[f] = median_of_baseline(health, f, r, values, &d->is_own[f]);
    }
}

mg_status_t mg_health_judge(mg_health_t *health, double slow_percent) {
  double *values;
  MG_TRY(mg_new(&values, (int64_t)health->n_ranks + health->n_baseline, "figures of devices"));
  find_peers(health);
  find_medians(health, values);
  free(values);
  for (int r = 0; r < health->n_ranks; r++) {
    mg_health_device_t *d = &health->device[r];
    d->reason[0] = '\0';
    d->verdict = is_missing(health, r, d->reason)      ? MG_HEALTH_MISSING
                 : is_wrong(health, r, d->reason)      ? MG_HEALTH_WRONG
                 : is_slow(d, slow_percent, d->reason) ? MG_HEALTH_SLOW
                                                       : MG_HEALTH_OK;
  }
  for (int b = 0; b < health->n_baseline; b++)
    append_if_lost(health, &health->baseline[b]);
  return MG_OK;
}
