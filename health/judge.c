/* Medians and verdicts. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/machine.h"
#include "health/health.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct health_figure health_figures[HEALTH_FIGURES] = {
    [HEALTH_RATE_SMALL] = {"dof_per_s_small", "the small problem", false, 9, 1e6},
    [HEALTH_RATE_MEDIUM] = {"dof_per_s_medium", "the medium problem", false, 9, 1e6},
    [HEALTH_BANDWIDTH] = {"bytes_per_s", "memory bandwidth", false, 7, 1e9},
    [HEALTH_HOST_LINK] = {"host_link_bytes_per_s", "the link to the host", true, 7, 1e9},
    [HEALTH_PEER_LINK] = {"peer_link_bytes_per_s", "the GPU link", true, 7, 1e9},
    [HEALTH_MESSAGE] = {"message_bytes_per_s", "messages", true, 7, 1e9},
    [HEALTH_SM_CLOCK] = {"sm_clock_mhz", NULL, false, 6, 1.0},
    [HEALTH_POWER] = {"watts", NULL, false, 6, 1.0},
    [HEALTH_ENERGY] = {"joules_per_solve", NULL, false, 8, 1.0}};

const char *const health_verdicts[HEALTH_VERDICTS] = {"ok", "slow", "wrong", "missing"};

static int compare(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double health_median(double *values, int n) {
  if (n == 0) return NAN;
  qsort(values, (size_t)n, sizeof *values, compare);
  return values[n / 2];
}

/* The other end of a rank's links. */
static const health_device_t *previous_of(const health_t *h, int r) {
  return &h->device[(r + h->n_ranks - 1) % h->n_ranks];
}

/* --- medians ---------------------------------------------------------------------------------- */

static bool same_problems(const health_device_t *a, const health_device_t *b) {
  for (int p = 0; p < HEALTH_PROBLEMS; p++)
    if (a->problem[p].n != b->problem[p].n) return false;
  return strcmp(a->name.model, b->name.model) == 0;
}

static bool has_peer(int f) {
  return f == HEALTH_PEER_LINK || f == HEALTH_MESSAGE;
}

/* Within a host, or between two. */
static bool link_is_inside(const health_device_t *d) {
  return strcmp(d->name.host, d->peer.host) == 0;
}

/* May the figures of two devices be compared? A link has two ends. */
static bool are_comparable(int f, const health_device_t *a, const health_device_t *b) {
  return same_problems(a, b) && (!has_peer(f) || (strcmp(a->peer.model, b->peer.model) == 0 &&
                                                  link_is_inside(a) == link_is_inside(b)));
}

/* Is it the same device, or the same pair of devices? Cores have no UUID. */
static bool is_same(int f, const health_device_t *a, const health_device_t *b) {
  return same_problems(a, b) && a->name.uuid[0] && strcmp(a->name.uuid, b->name.uuid) == 0 &&
         (!has_peer(f) || (a->peer.uuid[0] && strcmp(a->peer.uuid, b->peer.uuid) == 0));
}

typedef bool (*match_t)(int f, const health_device_t *a, const health_device_t *b);

/* Median over the devices that match d, if they are `least` or more. */
static double median_of(const health_device_t *list, int n_list, int f, const health_device_t *d,
                        match_t match, int least, double *values) {
  int n = 0;
  for (int i = 0; i < n_list; i++)
    if (match(f, d, &list[i]) && !isnan(list[i].value[f])) values[n++] = list[i].value[f];
  return n < least ? NAN : health_median(values, n);
}

/* Comparable ranks have the same median, so most ranks copy that of the first one. The baseline is
 * that of this device or pair if it has the UUIDs, else of all comparable ones. */
static void find_medians(health_t *h, double *values) {
  for (int r = 0; r < h->n_ranks; r++)
    for (int f = 0; f < HEALTH_FIGURES; f++) {
      health_device_t *d = &h->device[r];
      int first = 0;
      while (!are_comparable(f, d, &h->device[first]))
        first++;
      d->median[f] = first < r ? h->device[first].median[f]
                               : median_of(h->device, h->n_ranks, f, d, are_comparable, 2, values);
      d->baseline[f] = median_of(h->baseline, h->n_baseline, f, d, is_same, 1, values);
      d->is_own[f] = !isnan(d->baseline[f]);
      if (!d->is_own[f])
        d->baseline[f] = median_of(h->baseline, h->n_baseline, f, d, are_comparable, 1, values);
    }
}

static void find_peers(health_t *h) {
  static const health_name_t none = {.rank = -1};
  for (int r = 0; r < h->n_ranks; r++)
    h->device[r].peer = h->n_ranks > 1 ? previous_of(h, r)->name : none;
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* The GPU may be visible to several ranks because another one is gone. */
static int first_with_gpu(const health_t *h, int r) {
  int first = 0;
  while (strcmp(h->device[first].name.uuid, h->device[r].name.uuid) != 0)
    first++;
  return h->device[r].name.uuid[0] ? first : r;
}

/* Of a chain of ranks that wait for each other, only the first one has lost its peer. */
static bool has_lost_peer(const health_t *h, int r) {
  const health_device_t *d = &h->device[r], *previous = previous_of(h, r);
  return d->lost_peer && previous->answered &&
         !(previous->stuck && previous->n_exchanges < d->n_exchanges);
}

static bool is_missing(const health_t *h, int r, char *reason) {
  const health_device_t *d = &h->device[r];
  const int first = first_with_gpu(h, r);
  if (!d->answered && mg_machine_signal() != 0)
    mg_append(reason, HEALTH_TEXT, "no answer before a signal ended the check");
  else if (!d->answered)
    mg_append(reason, HEALTH_TEXT, "no answer within %g s", h->timeout);
  else if (d->failure[0])
    mg_append(reason, HEALTH_TEXT, "no result: %.200s", d->failure);
  else if (first < r)
    mg_append(reason, HEALTH_TEXT,
              "has the GPU of rank %d too: its host shows fewer GPUs than it has ranks", first);
  else if (has_lost_peer(h, r))
    mg_append(reason, HEALTH_TEXT, "no message from rank %d within %g s",
              previous_of(h, r)->name.rank, 0.25 * h->timeout);
  return reason[0] != '\0';
}

/* Number of ranks whose solution of problem p is the same. */
static int count_equal(const health_t *h, int p, uint64_t checksum) {
  int n = 0;
  for (const health_device_t *d = h->device; d < h->device + h->n_ranks; d++)
    n += d->answered && d->problem[p].n_checked > 0 && d->problem[p].checksum == checksum;
  return n;
}

static void find_wrong_solution(const health_t *h, int r, int p, char *reason) {
  const health_problem_t *q = &h->device[r].problem[p];
  if (q->n_wrong > 0)
    mg_append(reason, HEALTH_TEXT,
              "%d^3: checksum %016llx instead of %016llx, in %d of %d solutions; ranks with this "
              "checksum: %d of %d",
              q->n, (unsigned long long)q->checksum, (unsigned long long)q->known, q->n_wrong,
              q->n_checked, count_equal(h, p, q->checksum), h->n_ranks);
  else if (q->n_norms > 0)
    mg_append(reason, HEALTH_TEXT,
              "%d^3: the residual norms of equal solutions differ in %d of %d solutions", q->n,
              q->n_norms, q->n_checked);
}

/* The two ends of a link: "rank 0 (GPU-...) to rank 1 (GPU-...)", or the hosts of cores. */
static const char *name_link(const health_device_t *d, char *name, size_t size) {
  snprintf(name, size, "rank %d (%s) to rank %d (%s)", d->peer.rank,
           d->peer.uuid[0] ? d->peer.uuid : d->peer.host, d->name.rank,
           d->name.uuid[0] ? d->name.uuid : d->name.host);
  return name;
}

static void find_wrong_arrivals(const health_device_t *d, const char *what,
                                const health_arrivals_t *arrivals, char *reason) {
  char link[HEALTH_TEXT];
  const mg_word_errors_t *e = &arrivals->errors;
  if (e->n > 0)
    mg_append(reason, HEALTH_TEXT,
              "%s from %.160s: %lld of %lld words differ, the first: %016llx instead of %016llx",
              what, name_link(d, link, sizeof link), (long long)e->n, (long long)arrivals->n_words,
              (unsigned long long)e->found, (unsigned long long)e->expected);
}

static bool is_wrong(const health_t *h, int r, char *reason) {
  const health_device_t *d = &h->device[r];
  for (int p = 0; p < HEALTH_PROBLEMS && !reason[0]; p++)
    find_wrong_solution(h, r, p, reason);
  if (!reason[0]) find_wrong_arrivals(d, "stores", &d->stores, reason);
  if (!reason[0]) find_wrong_arrivals(d, "messages", &d->messages, reason);
  return reason[0] != '\0';
}

/* The figure that is furthest below its limit. Links vary more. A pair with its own baseline is not
 * compared with other pairs, which may be joined by other links. */
static bool is_slow(const health_device_t *d, double slow, char *reason) {
  const double most = 50.0, factor = 10.0, slow_link = fmax(slow, fmin(factor * slow, most));
  char link[HEALTH_TEXT];
  double worst = 0.0;
  for (int f = 0; f < HEALTH_FIGURES; f++)
    for (int base = 0; base < 2 && health_figures[f].title; base++) {
      const double reference = base ? d->baseline[f] : d->median[f],
                   below = 100.0 * (1.0 - d->value[f] / reference),
                   excess = below - (health_figures[f].is_link ? slow_link : slow);
      if (!base && has_peer(f) && d->is_own[f]) continue;
      if (!(excess > worst)) continue; /* also without a reference */
      worst = excess;
      reason[0] = '\0';
      mg_append(reason, HEALTH_TEXT, "%s%s%.160s %.1f %% below the %s", health_figures[f].title,
                has_peer(f) ? " from " : "", has_peer(f) ? name_link(d, link, sizeof link) : "",
                below, base ? "baseline" : "median");
    }
  const double clock = d->value[HEALTH_SM_CLOCK], usual = d->median[HEALTH_SM_CLOCK];
  if (worst > 0.0 && !isnan(clock) && !isnan(usual))
    mg_append(reason, HEALTH_TEXT, "; SM clock %.0f MHz, median %.0f MHz", clock, usual);
  return worst > 0.0;
}

/* Append a GPU of the baseline whose host is in the job, and that no rank has. */
static void append_if_lost(health_t *h, const health_device_t *known) {
  bool host_is_here = false;
  if (!known->name.uuid[0]) return;
  for (const health_device_t *d = h->device; d < h->device + h->n_devices; d++) {
    if (strcmp(d->name.uuid, known->name.uuid) == 0) return;
    if (!d->answered && !d->name.uuid[0]) return; /* could be it */
    host_is_here = host_is_here || strcmp(d->name.host, known->name.host) == 0;
  }
  if (!host_is_here) return;
  health_device_t *lost = &h->device[h->n_devices++];
  *lost = *known;
  lost->name.rank = -1;
  lost->verdict = HEALTH_MISSING;
  for (int f = 0; f < HEALTH_FIGURES; f++) {
    lost->baseline[f] = known->value[f];
    lost->value[f] = lost->median[f] = NAN;
  }
  snprintf(lost->reason, sizeof lost->reason, "it is in the baseline, but no rank has it");
}

mg_status_t health_judge(health_t *h) {
  double *values;
  MG_TRY(mg_new(&values, (int64_t)h->n_ranks + h->n_baseline, "figures of devices"));
  find_peers(h);
  find_medians(h, values);
  free(values);
  for (int r = 0; r < h->n_ranks; r++) {
    health_device_t *d = &h->device[r];
    d->reason[0] = '\0';
    d->verdict = is_missing(h, r, d->reason)      ? HEALTH_MISSING
                 : is_wrong(h, r, d->reason)      ? HEALTH_WRONG
                 : is_slow(d, h->slow, d->reason) ? HEALTH_SLOW
                                                  : HEALTH_OK;
  }
  for (int b = 0; b < h->n_baseline; b++)
    append_if_lost(h, &h->baseline[b]);
  return MG_OK;
}
