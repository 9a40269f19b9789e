/* Verdicts of hpgmg-health from figures: medians, limits, baselines, and what makes a device
 * missing.
 */
#include "health/health.h"
#include "tests/lib/test.h"

enum { MAX = 8 };

/* A job of n ranks on one host, each with its own GPU, with equal figures. */
static health_t job(int n) {
  static health_device_t device[2 * MAX], baseline[MAX];
  health_t health = {.n_ranks = n,
                     .n_devices = n,
                     .device = device,
                     .baseline = baseline,
                     .slow = 4.0,
                     .timeout = 60.0};
  memset(device, 0, sizeof device);
  memset(baseline, 0, sizeof baseline);
  for (int r = 0; r < n; r++) {
    health_device_t *d = &device[r];
    d->name.rank = r;
    d->answered = true;
    snprintf(d->name.host, sizeof d->name.host, "a");
    snprintf(d->name.model, sizeof d->name.model, "fast");
    snprintf(d->name.uuid, sizeof d->name.uuid, "GPU-%d", r);
    for (int p = 0; p < HEALTH_PROBLEMS; p++)
      d->problem[p] = (health_problem_t){64 << p, 5, 3, 0, 7, 7, 0};
    for (int f = 0; f < HEALTH_FIGURES; f++)
      d->value[f] = 100.0;
  }
  return health;
}

/* Judge. Returns the verdict of each device: the first letter of its word. */
static const char *judged(health_t *health) {
  static char letters[2 * MAX + 1];
  CHECK_INT(health_judge(health), MG_OK);
  memset(letters, 0, sizeof letters);
  for (int i = 0; i < health->n_devices; i++)
    letters[i] = *health_verdicts[health->device[i].verdict];
  return letters;
}

static void test_equal_devices(void) {
  health_t health = job(3);
  CHECK_STRING(judged(&health), "ooo");
  for (int r = 0; r < 3; r++) {
    CHECK_STRING(health.device[r].reason, "");
    CHECK_NEAR(health.device[r].median[HEALTH_RATE_MEDIUM], 100.0, 0.0);
    CHECK(isnan(health.device[r].baseline[HEALTH_RATE_MEDIUM]));
  }
}

static void test_median(void) {
  double odd[] = {3.0, 1.0, 2.0}, even[] = {4.0, 1.0, 3.0, 2.0};
  CHECK_NEAR(health_median(odd, 3), 2.0, 0.0);
  CHECK_NEAR(health_median(even, 4), 3.0, 0.0);
  CHECK(isnan(health_median(odd, 0)));
}

/* Figures that decide are slow from 4 % on, links from 40 %; the others never are. */
static void test_limits(void) {
  for (int f = 0; f < HEALTH_FIGURES; f++) {
    const bool is_link = f >= HEALTH_HOST_LINK && f <= HEALTH_MESSAGE;
    const double limit = is_link ? 60.0 : 96.0;
    health_t health = job(3);
    health.device[1].value[f] = limit + 0.5;
    CHECK_STRING(judged(&health), "ooo");
    health.device[1].value[f] = limit - 0.5;
    CHECK_STRING(judged(&health), f < HEALTH_SM_CLOCK ? "oso" : "ooo");
    health.device[1].value[f] = NAN;
    CHECK_STRING(judged(&health), "ooo");
  }
}

/* The reason names the figure that is furthest below its limit, and the clock. */
static void test_reason(void) {
  health_t health = job(3);
  health.device[2].value[HEALTH_RATE_SMALL] = 90.0;
  health.device[2].value[HEALTH_BANDWIDTH] = 80.0;
  health.device[2].value[HEALTH_SM_CLOCK] = 70.0;
  CHECK_STRING(judged(&health), "oos");
  CHECK_STRING(health.device[2].reason,
               "memory bandwidth 20.0 % below the median; SM clock 70 MHz, median 100 MHz");
}

/* The slower one of two devices is compared with the faster one. One device has no median. */
static void test_few_devices(void) {
  health_t health = job(2);
  health.device[0].value[HEALTH_RATE_MEDIUM] = 95.0;
  CHECK_STRING(judged(&health), "so");
  health = job(1);
  CHECK_STRING(judged(&health), "o");
  CHECK(isnan(health.device[0].median[HEALTH_RATE_MEDIUM]));
}

/* Only devices of the same model with the same problems are compared. */
static void test_models(void) {
  health_t health = job(4);
  for (int r = 2; r < 4; r++) {
    snprintf(health.device[r].name.model, sizeof health.device[r].name.model, "old");
    health.device[r].value[HEALTH_RATE_MEDIUM] = 50.0;
  }
  CHECK_STRING(judged(&health), "oooo");
  health.device[3].value[HEALTH_RATE_MEDIUM] = 40.0;
  CHECK_STRING(judged(&health), "ooos");
  health.device[3].problem[1].n = 64;
  CHECK_STRING(judged(&health), "oooo");
}

/* Messages between hosts are not compared with messages within a host. */
static void test_links(void) {
  health_t health = job(4);
  for (int r = 2; r < 4; r++)
    snprintf(health.device[r].name.host, sizeof health.device[r].name.host, "b");
  health.device[0].value[HEALTH_MESSAGE] = health.device[2].value[HEALTH_MESSAGE] = 10.0;
  CHECK_STRING(judged(&health), "oooo");
  health.device[2].value[HEALTH_MESSAGE] = 5.0;
  CHECK_STRING(judged(&health), "ooso");
  CHECK_CONTAINS(health.device[2].reason,
                 "messages from rank 1 (GPU-1) to rank 2 (GPU-2) 50.0 % below the median");
}

/* A link is comparable if the devices at both ends are. */
static void test_ends_of_links(void) {
  health_t health = job(4);
  snprintf(health.device[3].name.model, sizeof health.device[3].name.model, "old");
  health.device[0].value[HEALTH_PEER_LINK] = 10.0; /* from the old GPU */
  CHECK_STRING(judged(&health), "oooo");
  health.device[1].value[HEALTH_PEER_LINK] = 10.0;
  CHECK_STRING(judged(&health), "osoo");
  CHECK_CONTAINS(health.device[1].reason,
                 "the GPU link from rank 0 (GPU-0) to rank 1 (GPU-1) 90.0 % below");
}

/* Wrong words are more severe than slow devices, and name both ends. */
static void test_wrong_words(void) {
  health_t health = job(3);
  health.device[1].stores = (health_arrivals_t){800, {2, 5, 0xa, 0xb}};
  health.device[2].messages = (health_arrivals_t){400, {400, 0, 0, 1}};
  health.device[2].value[HEALTH_MESSAGE] = 1.0;
  health.device[2].name.uuid[0] = '\0'; /* cores */
  CHECK_STRING(judged(&health), "oww");
  CHECK_STRING(health.device[1].reason,
               "stores from rank 0 (GPU-0) to rank 1 (GPU-1): 2 of 800 words differ, the first: "
               "000000000000000a instead of 000000000000000b");
  CHECK_CONTAINS(health.device[2].reason, "messages from rank 1 (GPU-1) to rank 2 (a): 400 of 400");
}

static void test_wrong(void) {
  health_t health = job(3);
  health.device[1].problem[1].n_wrong = 2;
  health.device[1].problem[1].checksum = 8;
  health.device[1].value[HEALTH_RATE_SMALL] = 1.0;
  health.device[2].problem[0].n_norms = 1;
  CHECK_STRING(judged(&health), "oww");
  CHECK_STRING(health.device[1].reason,
               "128^3: checksum 0000000000000008 instead of 0000000000000007, in 2 of 3 solutions; "
               "ranks with this checksum: 1 of 3");
  CHECK_CONTAINS(health.device[2].reason, "64^3: the residual norms of equal solutions differ");
}

/* Of two ranks that lose messages, only the one that does not answer is missing. */
static void test_missing(void) {
  health_t health = job(4);
  health.device[1].answered = false;
  health.device[2].lost_peer = true;
  snprintf(health.device[3].failure, sizeof health.device[3].failure, "device lost");
  CHECK_STRING(judged(&health), "omom");
  CHECK_STRING(health.device[1].reason, "no answer within 60 s");
  CHECK_STRING(health.device[3].reason, "no result: device lost");
  health.device[1].answered = true;
  CHECK_STRING(judged(&health), "oomm");
  CHECK_STRING(health.device[2].reason, "no message from rank 1 within 15 s");
}

/* A rank that stops waiting lets the ranks after it wait in vain. */
static void test_chain(void) {
  health_t health = job(4);
  for (int r = 0; r < 4; r++) { /* messages from rank 0 to rank 1 are lost */
    health.device[r].stuck = true;
    health.device[r].lost_peer = true;
    health.device[r].n_exchanges = (r + 3) % 4;
  }
  CHECK_STRING(judged(&health), "omoo");
  health.device[0].answered = false;
  CHECK_STRING(judged(&health), "mooo");
}

static void test_shared_gpu(void) {
  health_t health = job(3);
  snprintf(health.device[2].name.uuid, sizeof health.device[2].name.uuid, "GPU-0");
  CHECK_STRING(judged(&health), "oom");
  CHECK_CONTAINS(health.device[2].reason, "has the GPU of rank 0 too");
  health = job(3); /* cores have no UUID */
  for (int r = 0; r < 3; r++)
    health.device[r].name.uuid[0] = '\0';
  CHECK_STRING(judged(&health), "ooo");
}

static void add_to_baseline(health_t *health, const char *uuid, const char *host, double value) {
  health_device_t *d = &health->baseline[health->n_baseline++];
  *d = health->device[0];
  snprintf(d->name.uuid, sizeof d->name.uuid, "%s", uuid);
  snprintf(d->name.host, sizeof d->name.host, "%s", host);
  for (int f = 0; f < HEALTH_FIGURES; f++)
    d->value[f] = value;
}

/* The device itself if it is in the baseline, otherwise its model. */
static void test_baseline(void) {
  health_t health = job(2);
  add_to_baseline(&health, "GPU-0", "a", 100.0);
  add_to_baseline(&health, "GPU-8", "b", 110.0);
  add_to_baseline(&health, "GPU-9", "b", 120.0);
  CHECK_STRING(judged(&health), "os");
  CHECK_NEAR(health.device[0].baseline[HEALTH_BANDWIDTH], 100.0, 0.0);
  CHECK_NEAR(health.device[1].baseline[HEALTH_BANDWIDTH], 110.0, 0.0);
  CHECK(!health.device[1].is_own[HEALTH_BANDWIDTH]);
  CHECK_CONTAINS(health.device[1].reason, "the small problem 9.1 % below the baseline");
  CHECK_INT(health.n_devices, 2); /* host b is not in the job */
}

/* Links have the baseline of their pair, otherwise of links between the same models that are also
 * within a host. A pair with its own baseline is not compared with other pairs. */
static void test_baseline_of_links(void) {
  health_t health = job(4);
  CHECK_STRING(judged(&health), "oooo"); /* sets the peers */
  add_to_baseline(&health, "GPU-1", "a", 100.0);
  health_device_t *known = &health.baseline[0];
  snprintf(known->peer.uuid, sizeof known->peer.uuid, "GPU-0");
  known->value[HEALTH_PEER_LINK] = 10.0;
  for (int r = 0; r < 4; r++)
    health.device[r].value[HEALTH_PEER_LINK] = r == 1 ? 9.0 : 10.0;
  health.device[2].value[HEALTH_PEER_LINK] = 100.0;
  health.device[3].value[HEALTH_PEER_LINK] = 100.0;
  CHECK_STRING(judged(&health), "sooo"); /* device 1: 91 % below the median */
  CHECK(health.device[1].is_own[HEALTH_PEER_LINK]);
  CHECK_NEAR(health.device[1].median[HEALTH_PEER_LINK], 100.0, 0.0);
  CHECK(!health.device[0].is_own[HEALTH_PEER_LINK]);
  CHECK_NEAR(health.device[0].baseline[HEALTH_PEER_LINK], 10.0, 0.0);
  health.device[1].value[HEALTH_PEER_LINK] = 5.0;
  CHECK_STRING(judged(&health), "ssoo");
  CHECK_CONTAINS(health.device[1].reason, "rank 0 (GPU-0) to rank 1 (GPU-1) 50.0 % below the base");
  snprintf(known->peer.host, sizeof known->peer.host, "b"); /* the pair; but not comparable */
  CHECK_STRING(judged(&health), "ssoo");
  CHECK_NEAR(health.device[1].baseline[HEALTH_PEER_LINK], 10.0, 0.0);
  CHECK(isnan(health.device[0].baseline[HEALTH_PEER_LINK]));
  CHECK_NEAR(health.device[0].baseline[HEALTH_BANDWIDTH], 100.0, 0.0);
}

static void test_lost_gpu(void) {
  health_t health = job(2);
  add_to_baseline(&health, "GPU-0", "a", 100.0);
  add_to_baseline(&health, "GPU-7", "a", 100.0);
  add_to_baseline(&health, "", "a", 100.0);
  CHECK_STRING(judged(&health), "oom");
  CHECK_INT(health.n_devices, 3);
  CHECK_INT(health.device[2].name.rank, -1);
  CHECK_STRING(health.device[2].name.uuid, "GPU-7");
}

int main(void) {
  test_equal_devices();
  test_median();
  test_limits();
  test_reason();
  test_few_devices();
  test_models();
  test_links();
  test_ends_of_links();
  test_wrong_words();
  test_wrong();
  test_missing();
  test_chain();
  test_shared_gpu();
  test_baseline();
  test_baseline_of_links();
  test_lost_gpu();
  return TEST_RESULT();
}
