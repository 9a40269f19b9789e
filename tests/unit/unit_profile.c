/* Profiling: a backend with event timers records the same calls as one timed on the host. No
 * call is lost, however many there are. Timers are paired and read only after a wait, and none
 * are used without profiling. Profilers see a range for each operation, with its name and level.
 * The benchmark creates event timers and captured graphs before it solves. The backend here is the
 * CPU's, with event timers simulated by a counter. */
#include "backend/cycles.h"
#include "backend/sweeps.h"
#include "level/profile.h"
#include "run/benchmark.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_STAMPS = 100000 };
static struct {
  int n, taken, waits, unwaited;
  double now, at[MOST_STAMPS];
} clock_;

static mg_status_t event_timers_create(int n) {
  CHECK(n > 0 && n <= MOST_STAMPS);
  clock_.n = n;
  return MG_OK;
}

static void event_timers_free(void) {
  clock_.n = 0;
}

/* Each event is one second after the previous one. */
static mg_status_t stamp(int number) {
  CHECK(number >= 0 && number < clock_.n);
  clock_.at[number] = clock_.now += 1.0;
  clock_.taken++;
  clock_.unwaited = 1;
  return MG_OK;
}

static mg_status_t event_timers_elapsed(int first, int last, double *seconds) {
  CHECK(!clock_.unwaited);
  *seconds = clock_.at[last] - clock_.at[first];
  return MG_OK;
}

static mg_status_t wait_for_stamps(void) {
  clock_.waits++;
  clock_.unwaited = 0;
  return MG_OK;
}

static void solve(mg_hierarchy_t *h, double f_norm) {
  static mg_history_t history;
  MUST(mg_solve(h, 0, f_norm, &history));
}

/* Inner operations are counted and use no event timers, however many there are. */
static void test_long_operation(mg_hierarchy_t *h) {
  enum { N = 20000 };
  mg_level_t *level = &h->level[0];
  mg_span_t outer, inner;
  MUST(mg_profile_begin(h));
  MUST(mg_span_begin(level, MG_TIME_BOTTOM, &outer));
  for (int i = 0; i < N; i++) {
    MUST(mg_span_begin(level, MG_TIME_SMOOTH, &inner));
    MUST(mg_span_end(level, &inner));
  }
  MUST(mg_span_end(level, &outer));
  MUST(mg_span_begin(level, MG_TIME_RESIDUAL, &inner));
  MUST(mg_span_end(level, &inner));
  MUST(mg_profile_end(h));
  const mg_timers_t *t = &level->timers;
  CHECK_INT(t->calls[MG_TIME_BOTTOM], 1);
  CHECK_INT(t->calls[MG_TIME_RESIDUAL], 1);
  CHECK_INT(t->calls[MG_TIME_SMOOTH], N);
  CHECK(t->seconds[MG_TIME_SMOOTH] == 0.0);
  CHECK(t->seconds[MG_TIME_BOTTOM] == 1.0 && t->seconds[MG_TIME_RESIDUAL] == 1.0);
}

/* Ranges that a profiler sees: number per level and operation, and of cycles. */
static struct {
  int depth, cycles, unknown;
  int n[MG_MAX_LEVELS][MG_N_TIMES];
} seen;

static void range_begin(const char *name) {
  char wanted[MG_RANGE_NAME_SIZE];
  int found = 0;
  for (int l = 0; l < MG_MAX_LEVELS; l++)
    for (int t = 0; t < MG_N_TIMES; t++)
      if (strcmp(name, mg_range_name((mg_time_t)t, l, wanted)) == 0) {
        seen.n[l][t]++;
        found++;
      }
  if (strcmp(name, "first cycle") == 0) {
    CHECK_INT(seen.depth, 0);
    seen.cycles++;
    found++;
  }
  seen.unknown += found != 1;
  seen.depth++;
}

static void range_end(void) {
  seen.depth--;
  CHECK(seen.depth >= 0);
}

/* Every timed operation is a range, also on levels of a backend without ranges: CPU levels. */
static void test_ranges(mg_hierarchy_t *h, double f_norm) {
  const mg_backend_profile_t ranges = {.range_begin = range_begin, .range_end = range_end};
  char name[MG_RANGE_NAME_SIZE];
  CHECK(strcmp(mg_range_name(MG_TIME_HALO, 3, name), "halo exchange 3") == 0);
  for (int l = 0; l < h->n_levels; l++) {
    CHECK(!h->level[l].ranges);
    h->level[l].ranges = &ranges;
  }
  MUST(mg_profile_begin(h));
  solve(h, f_norm);
  MUST(mg_profile_end(h));
  for (int l = 0; l < h->n_levels; l++) {
    for (int t = 0; t < MG_N_TIMES; t++)
      CHECK_INT(seen.n[l][t], h->level[l].timers.calls[t]);
    h->level[l].ranges = NULL;
  }
  CHECK(seen.n[0][MG_TIME_SMOOTH] > 0 && seen.n[h->n_levels - 1][MG_TIME_BOTTOM] > 0);
  CHECK_INT(seen.cycles, 1);
  CHECK_INT(seen.depth, 0);
  CHECK_INT(seen.unknown, 0);
}

/* Requests to a backend that captures graphs. */
static struct {
  int recordings, released, replays;
  int recordings_first, stamps_first; /* when the first cycle was replayed */
} asked;

struct mg_graph {
  int number;
};

static mg_status_t record(void) {
  CHECK_INT(asked.replays, 0);
  return MG_OK;
}

static mg_status_t graph_end(mg_graph_t **out) {
  *out = calloc(1, sizeof **out);
  asked.recordings++;
  return *out ? MG_OK : MG_ERR_MEMORY;
}

/* Replay does nothing: the solution is that of the captured cycle, which the CPU also executed. */
static mg_status_t replay(const mg_graph_t *recording) {
  CHECK(recording != NULL);
  if (asked.replays++ > 0) return MG_OK;
  asked.recordings_first = asked.recordings;
  asked.stamps_first = clock_.n;
  return MG_OK;
}

static void graph_free(mg_graph_t *recording) {
  asked.released++;
  free(recording);
}

static const mg_path_t one_launch = {.name = "one launch"};

static mg_status_t bottom(const mg_view_t *v, mg_bottom_t method, bool zero_guess, int most,
                          double reduction) {
  (void)method;
  (void)zero_guess;
  (void)most;
  (void)reduction;
  return mg_backend_cpu.fill(v, MG_U, 0.0);
}

/* The benchmark captures graphs for all sizes, and creates event timers for its breakdown,
 * before its first solve. */
static void test_prepared(const mg_backend_t *stamped) {
  static mg_result_t result;
  mg_backend_t recording = *stamped;
  recording.graph = &(const mg_backend_graph_t){record, graph_end, replay, graph_free};
  mg_backend_fused_t fused = *stamped->fused;
  fused.bottom = bottom;
  recording.fused = &fused;
  mg_hierarchy_t *h = fixture_create(
      &fixture_backends[0], 5, 1,
      "--levels-breakdown --warmup=1 --min-solves=1 --min-time=0 --rtol=1e-30 --max-cycles=2");
  for (int l = 0; l < h->n_levels; l++)
    h->level[l].backend = &recording;
  h->plan.level[h->n_levels - 1].bottom = &one_launch;
  MUST(mg_benchmark(h, NULL, &result));
  CHECK_INT(result.n_sizes, 3);
  CHECK_INT(result.n_profiled, 3);
  if (mg_comm_size(mg_comm_world()) == 1) { /* messages between ranks cannot be captured */
    CHECK_INT(asked.recordings, 6);         /* first cycles and later ones */
    CHECK_INT(asked.recordings_first, 6);
    CHECK(asked.stamps_first > 0);
  }
  CHECK(!h->prepared_profile && clock_.n == 0);
  MUST(mg_profile_prepare(h)); /* prepares event timers only */
  CHECK(h->prepared_profile && !h->profile && clock_.n > 0);
  mg_hierarchy_free(h);
  CHECK_INT(asked.released, asked.recordings);
  CHECK_INT(clock_.n, 0);
}

int main(int argc, char **argv) {
  static mg_timers_t plain[MG_MAX_LEVELS];
  double f_norm;
  fixture_begin(&argc, &argv);
  mg_hierarchy_t *h = fixture_create(&fixture_backends[0], 4, 1, "--bottom=smoother --coarsest=3");
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  CHECK(!mg_profile_needed(h));
  MUST(mg_profile_begin(h)); /* only clears the accounts */
  CHECK(!h->profile);
  solve(h, f_norm);
  MUST(mg_profile_end(h));
  for (int l = 0; l < h->n_levels; l++)
    plain[l] = h->level[l].timers;
  test_ranges(h, f_norm);

  mg_backend_t stamped = mg_backend_cpu;
  stamped.queue.wait = wait_for_stamps;
  stamped.profile = &(const mg_backend_profile_t){.timers_create = event_timers_create,
                                                  .timers_free = event_timers_free,
                                                  .timer_record = stamp,
                                                  .timers_elapsed = event_timers_elapsed};
  for (int l = 0; l < h->n_levels; l++)
    h->level[l].backend = &stamped;
  CHECK(mg_profile_needed(h));
  solve(h, f_norm);
  CHECK_INT(clock_.taken, 0);

  const int n_solves = 900; /* more operations than event timers at a time */
  MUST(mg_profile_begin(h));
  for (int s = 0; s < n_solves; s++)
    solve(h, f_norm);
  MUST(mg_profile_end(h));
  int timed = 0;
  for (int l = 0; l < h->n_levels; l++)
    for (int t = 0; t < MG_N_TIMES; t++) {
      const mg_timers_t *timers = &h->level[l].timers;
      const bool is_coarsest = l == h->n_levels - 1;
      CHECK_INT(timers->calls[t], n_solves * plain[l].calls[t]);
      timed += (int)timers->seconds[t]; /* one second each */
      /* A bottom solve counts as a whole, so that a level's sum counts nothing twice. Halos of the
       * coarsest level are also exchanged for interpolation. */
      if (!is_coarsest || t == MG_TIME_BOTTOM) {
        CHECK(timers->seconds[t] == (double)timers->calls[t]);
      } else if (t != MG_TIME_HALO) {
        CHECK(timers->seconds[t] == 0.0 && plain[l].seconds[t] == 0.0);
      }
    }
  CHECK(h->level[h->n_levels - 1].timers.calls[MG_TIME_SMOOTH] > 0);
  CHECK_INT(clock_.taken, 2 * timed);
  CHECK(timed > 8192 && clock_.waits >= 2);
  CHECK(!h->profile && clock_.n == 0);
  test_long_operation(h);
  mg_hierarchy_free(h);
  test_prepared(&stamped);
  return FIXTURE_END();
}
