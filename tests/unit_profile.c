/* A profile: a backend with stamps gets the same calls on its accounts as one that is timed on the
 * host, none is lost however many there are, stamps are paired and read after a wait, and what is
 * not being profiled takes none. The backend here is the CPU's with stamps from a counter. */
#include "fixture.h"
#include "mg.h"
#include "problem.h"
#include "profile.h"

enum { MOST_STAMPS = 100000 };
static struct {
  int n, taken, waits, unwaited;
  double now, at[MOST_STAMPS];
} clock_;

static mg_status_t stamps_create(int n) {
  CHECK(n > 0 && n <= MOST_STAMPS);
  clock_.n = n;
  return MG_OK;
}

static void stamps_release(void) {
  clock_.n = 0;
}

/* Every stamp is a second after the one before. */
static mg_status_t stamp(int number) {
  CHECK(number >= 0 && number < clock_.n);
  clock_.at[number] = clock_.now += 1.0;
  clock_.taken++;
  clock_.unwaited = 1;
  return MG_OK;
}

static mg_status_t stamps_between(int first, int last, double *seconds) {
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

/* An operation of more operations than there are stamps is on its account, and what finds no room
 * is not lost there. */
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
  CHECK(t->calls[MG_TIME_SMOOTH] > 4096 && t->calls[MG_TIME_SMOOTH] < N);
  CHECK(t->seconds[MG_TIME_BOTTOM] > 2.0 * (double)t->calls[MG_TIME_SMOOTH]);
}

int main(int argc, char **argv) {
  static mg_timers_t plain[MG_MAX_LEVELS];
  double f_norm;
  fixture_begin(&argc, &argv);
  mg_hierarchy_t *h = fixture_create(&fixture_backends[0], 5, 1, "--bottom=smoother --coarsest=3");
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  CHECK(!mg_profile_needed(h));
  MUST(mg_profile_begin(h)); /* clears the accounts alone */
  CHECK(!h->profile);
  solve(h, f_norm);
  MUST(mg_profile_end(h));
  for (int l = 0; l < h->n_levels; l++)
    plain[l] = h->level[l].timers;

  mg_backend_t stamped = mg_backend_cpu;
  stamped.wait = wait_for_stamps;
  stamped.stamps_create = stamps_create;
  stamped.stamps_release = stamps_release;
  stamped.stamp = stamp;
  stamped.stamps_between = stamps_between;
  for (int l = 0; l < h->n_levels; l++)
    h->level[l].backend = &stamped;
  CHECK(mg_profile_needed(h));
  solve(h, f_norm);
  CHECK_INT(clock_.taken, 0);

  const int n_solves = 40; /* more operations than stamps at a time */
  MUST(mg_profile_begin(h));
  for (int s = 0; s < n_solves; s++)
    solve(h, f_norm);
  MUST(mg_profile_end(h));
  int calls = 0;
  for (int l = 0; l < h->n_levels; l++)
    for (int t = 0; t < MG_N_TIMES; t++) {
      const mg_timers_t *timers = &h->level[l].timers;
      CHECK_INT(timers->calls[t], n_solves * plain[l].calls[t]);
      calls += (int)timers->calls[t];
      /* A second each; a bottom solve holds the stamps of what is inside. */
      CHECK(t == MG_TIME_BOTTOM ? timers->seconds[t] >= (double)timers->calls[t]
                                : timers->seconds[t] == (double)timers->calls[t]);
    }
  CHECK_INT(clock_.taken, 2 * calls);
  CHECK(calls > 8192 && clock_.waits >= 2);
  CHECK(!h->profile && clock_.n == 0);
  test_long_operation(h);
  mg_hierarchy_free(h);
  return FIXTURE_END();
}
