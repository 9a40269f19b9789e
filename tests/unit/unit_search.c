/* unit_search: the programs of hpgmg-bench's search. Correct programs are proven and give sums.
 * Broken ones are rejected, each for its specific reason. The same seed produces the same
 * programs. */
#include "lab/search_plan.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <string.h>

static plan_t parse(const char *text) {
  plan_t plan;
  char again[PLAN_TEXT];
  CHECK(plan_parse(text, &plan));
  plan_spell(&plan, again);
  CHECK_STRING(again, text);
  return plan;
}

static void check_verdict(const char *text, plan_verdict_t want) {
  const plan_t plan = parse(text);
  const plan_verdict_t got = plan_prove(&plan);
  if (got != want) fprintf(stderr, "%s\n", text);
  CHECK_STRING(plan_verdict_name(got), plan_verdict_name(want));
}

static void check_right(void) {
  check_verdict("256 4x16/2 x4.1x8.4w32Br8.1 two", PLAN_RIGHT);
  check_verdict("256 4x16/2 x8.4x4.1w32Bp8.1 last", PLAN_RIGHT);
  check_verdict("256 1x8/1 d2.16d2.8d2.4d2.2d2.1w32Br1.8d2.4d2.2d2.1 atomics", PLAN_RIGHT);
  check_verdict("256 8x16/16 w1Br8.32x8.4x4.1 last", PLAN_RIGHT);
  check_verdict("256 1x8/1 w1Br32.8w1br8.1 two", PLAN_RIGHT);
  check_verdict("32 1x8/1 x32.1 two", PLAN_RIGHT);
  check_verdict("1024 1x8/1 x32.1w32Br1.32x32.1 two", PLAN_RIGHT);
  /* A thread needs no barrier between its own accesses. */
  check_verdict("64 1x8/1 w1r1.64x32.1Bw32Br2.1 two", PLAN_RIGHT);
}

/* Maxima: a number may count twice, and a warp has an instruction for them. */
static void check_norms(void) {
  check_verdict("max 256@4 4x16/1 mw32Br1.8m atomics", PLAN_RIGHT);
  check_verdict("max 128@16 2x8/2 mw32Bp4.1 last", PLAN_RIGHT);
  check_verdict("max 256@4 4x16/8 x4.1x8.4w16Br8.2w1br2.1 two", PLAN_RIGHT);
  check_verdict("max 256 1x8/1 w1Br8.32m two", PLAN_RIGHT);
  check_verdict("max 32 1x8/1 x32.1x2.1 two", PLAN_RIGHT);
  check_verdict("max 256@4 4x16/1 mw32br1.8m atomics", PLAN_BLOCK_BARRIER);
  check_verdict("max 256@4 4x16/1 mw32Br1.4m atomics", PLAN_LEFT_OUT);
  check_verdict("max 256@4 4x16/1 m atomics", PLAN_LEFT_OUT);
  check_verdict("max 256@4 4x16/1 mw32Br2.8m atomics", PLAN_UNWRITTEN);
  check_verdict("max 256@16 4x16/1 mw32Br1.8m atomics", PLAN_SHAPE);
  check_verdict("max 256@3 4x16/1 mw32Br1.8m atomics", PLAN_SHAPE);
  check_verdict("256@4 4x16/1 mw32Br1.8x8.1 atomics", PLAN_SHAPE);
}

static void check_broken(void) {
  /* A block barrier is missing, or replaced by a warp barrier. */
  check_verdict("256 4x16/2 x4.1x8.4w32r8.1 two", PLAN_BLOCK_BARRIER);
  check_verdict("256 4x16/2 x4.1x8.4w32br8.1 two", PLAN_BLOCK_BARRIER);
  /* A location is overwritten while another warp may still read it. */
  check_verdict("128 1x8/1 w1Bp2.64w1Br32.2w1br2.1 two", PLAN_BLOCK_BARRIER);
  /* Lanes of one warp do not run in lockstep. */
  check_verdict("256 1x8/1 w1Br32.8w1r8.1 two", PLAN_WARP_BARRIER);
  check_verdict("32 1x8/1 w1r32.1 two", PLAN_WARP_BARRIER);
  /* Wrong offsets: lanes combine the same numbers twice, or load beyond the end. */
  check_verdict("256 4x16/2 x4.1x8.2w32Br8.1 two", PLAN_TWICE);
  check_verdict("256 4x16/2 x4.1x8.4w16Br8.2w1br2.1 two", PLAN_TWICE);
  check_verdict("256 4x16/2 x4.1x8.4w32Br16.1 two", PLAN_UNWRITTEN);
  check_verdict("256 4x16/2 Br2.128 two", PLAN_UNWRITTEN);
  /* A repeated step. */
  check_verdict("32 1x8/1 x32.1x2.1 two", PLAN_TWICE);
  /* A radix left out. */
  check_verdict("256 4x16/2 x4.1x4.4w32Br8.1 two", PLAN_LEFT_OUT);
  check_verdict("256 4x16/2 x4.1x8.4w32Br4.1 two", PLAN_LEFT_OUT);
  check_verdict("256 4x16/2 x4.1x8.4 two", PLAN_LEFT_OUT);
  /* Shuffles that leave their warp, and impossible numbers. */
  check_verdict("256 4x16/2 x4.1x8.8w32Br8.1 two", PLAN_SHAPE);
  check_verdict("256 4x16/2 x3.1x8.4w32Br8.1 two", PLAN_SHAPE);
  check_verdict("200 4x16/2 x4.1x8.4w32Br8.1 two", PLAN_SHAPE);
  check_verdict("256 3x16/2 x4.1x8.4w32Br8.1 two", PLAN_SHAPE);
  check_verdict("256 1x8/2 x4.1x8.4w32Br8.1 two", PLAN_SHAPE);
  check_verdict("256 4x16/2 x4.1x8.4w32Br32.16 two", PLAN_SHAPE);
}

static void check_texts(void) {
  static const char *const wrong[] = {
      "",
      "256",
      "256 4x16/2",
      "256 4x16/2 x4.1",
      "256 4x16/2 x4 two",
      "256 4x16/2 y4.1 two",
      "256 4x16/2 x4.1 three",
      "256 4x16/2 x4.1 two ",
      "99999 4x16/2 x4.1 two",
      "256@ 4x16/2 x4.1 two",
      "256@0 4x16/2 x4.1 two",
      "min 256 4x16/2 x4.1 two",
      "max  256 4x16/2 x4.1 two",
      "256 4x16/2 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb two", /* one step too many */
  };
  plan_t plan;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    CHECK(!plan_parse(wrong[i], &plan));
}

/* Executes the plan on numbers: the result is the sum or the maximum, and not that of other
 * numbers. Maxima compare bits, starting from 0. */
static void check_numbers(const plan_t *plan) {
  const bool sums = plan->goal == PLAN_SUM;
  int32_t value[PLAN_MAX_THREADS], want = 0;
  for (int t = 0; t < plan->threads; t++) {
    value[t] = t * 7919 % 1021 - (sums ? 400 : 0);
    want = sums ? want + value[t] : value[t] > want ? value[t] : want;
  }
  CHECK_INT(plan_run(plan, 1, value), PLAN_RIGHT);
  CHECK_INT(value[0], want);
}

static int count_of(const plan_t *plan, plan_kind_t kind) {
  int n = 0;
  for (int s = 0; s < plan->n_steps; s++)
    n += plan->step[s].kind == kind;
  return n;
}

/* Every drawn program is right, and all kinds of steps occur. */
static void check_draws(plan_goal_t goal) {
  plan_random_t random = {11};
  int kinds[N_STEP_KINDS] = {0};
  for (int i = 0; i < 500; i++) {
    const plan_t plan = plan_draw(goal, i % 10 == 0 ? 512 : 64, &random);
    CHECK_INT(plan_prove(&plan), PLAN_RIGHT);
    check_numbers(&plan);
    for (int kind = 0; kind < N_STEP_KINDS; kind++)
      kinds[kind] += count_of(&plan, (plan_kind_t)kind) > 0;
  }
  for (int kind = 0; kind < N_STEP_KINDS; kind++)
    CHECK(kind == STEP_MAX && goal == PLAN_SUM ? kinds[kind] == 0 : kinds[kind] > 30);
  const plan_t tree = plan_tree(goal, 256);
  CHECK_INT(plan_prove(&tree), PLAN_RIGHT);
  check_numbers(&tree);
}

/* Removing a block barrier from a program whose threads meet in memory once creates a race. */
static void check_barriers(void) {
  plan_random_t random = {5};
  int seen = 0;
  for (int i = 0; i < 400; i++) {
    const plan_t plan = plan_draw(PLAN_SUM, 64, &random);
    for (int s = 0; s < plan.n_steps && count_of(&plan, STEP_STORE) == 1; s++) {
      if (plan.step[s].kind != STEP_BLOCK) continue;
      plan_t broken = plan;
      memmove(&broken.step[s], &broken.step[s + 1],
              (size_t)(broken.n_steps - s - 1) * sizeof broken.step[0]);
      broken.n_steps--;
      CHECK_INT(plan_prove(&broken), PLAN_BLOCK_BARRIER);
      seen++;
    }
  }
  CHECK(seen > 40);
}

static void check_seeds(plan_goal_t goal) {
  enum { TRIES = 60 };
  plan_set_t a, b, c;
  CHECK_INT(plan_collect(goal, 1, TRIES, &a), MG_OK);
  CHECK_INT(plan_collect(goal, 1, TRIES, &b), MG_OK);
  CHECK_INT(plan_collect(goal, 2, TRIES, &c), MG_OK);
  CHECK_INT(a.n, b.n);
  CHECK(a.n > TRIES / 4);
  int same = 0, tried = 0, at_a_time = 0;
  for (int i = 0; i < a.n; i++) {
    char text[PLAN_TEXT], other[PLAN_TEXT];
    plan_spell(&a.plan[i], text);
    plan_spell(&b.plan[i], other);
    CHECK_STRING(other, text);
    CHECK_INT(plan_prove(&a.plan[i]), PLAN_RIGHT);
    for (int j = 0; j < i; j++) {
      plan_spell(&a.plan[j], other);
      CHECK(strcmp(other, text) != 0);
    }
    at_a_time += i > PLAN_KNOWN && a.plan[i].blocks > 0;
    if (i < c.n) plan_spell(&c.plan[i], other);
    same += i < c.n && strcmp(other, text) == 0;
  }
  CHECK_INT(same, 1 + PLAN_KNOWN); /* the programs that every search starts with */
  CHECK(at_a_time > 0 && at_a_time < a.n - 1 - PLAN_KNOWN);
  for (int v = 0; v < N_VERDICTS; v++)
    tried += a.verdicts[v];
  CHECK_INT(tried, TRIES + 1 + PLAN_KNOWN);
  CHECK_INT(a.verdicts[PLAN_RIGHT], a.n + a.repeated);
  plan_set_free(&a);
  plan_set_free(&b);
  plan_set_free(&c);
}

/* Mutations of any program can be judged, printed and parsed again. */
static void check_mutations(const char *text) {
  plan_random_t random = {7};
  plan_t plan = parse(text);
  int right = 0, wrong = 0, at_a_time = 0;
  for (int i = 0; i < 1000; i++) {
    if (i % 10 == 0) plan = parse(text);
    const int blocks = plan.blocks;
    plan_mutate(&plan, &random);
    at_a_time += plan.blocks != blocks;
    const plan_verdict_t verdict = plan_prove(&plan);
    if (verdict == PLAN_RIGHT) check_numbers(&plan);
    *(verdict == PLAN_RIGHT ? &right : &wrong) += 1;
  }
  CHECK(right > 30);
  CHECK(wrong > 100);
  CHECK(at_a_time > 7);
}

/* The source of a program defines its candidate, and the kernels that the search loads. */
static void check_source(const char *spelt, const char *head, const char *candidate) {
  const plan_t plan = parse(spelt);
  char *text = plan_source(&plan);
  CHECK(text != NULL);
  if (!text) return;
  CHECK_CONTAINS(text, head);
  CHECK_CONTAINS(text, candidate);
  CHECK_CONTAINS(text, "first_launch(");
  CHECK_CONTAINS(text, "last_launch(");
  CHECK_CONTAINS(text, "all_joins(");
  CHECK(strstr(text, "#include") == NULL); /* NVRTC has no headers */
  free(text);
}

static void check_sources(void) {
  check_source("256 2x16/4 x4.1x8.4w32Bp8.1 last", "a sum, as 256 2x16/4 x4.1x8.4w32Bp8.1 last",
               "#define CANDIDATE shape_t<double, 256, 0, 2, 16, 4, LAST_BLOCK, shuffle_xor<4, 1>, "
               "shuffle_xor<8, 4>, store<32>, block_barrier, load_packed<8, 1>>\n");
  check_source("max 128@8 2x16/4 md2.1w32bp4.1r1.1 atomics", "a norm, as max 128@8 2x16/4 m",
               "#define CANDIDATE shape_t<bits_t, 128, 8, 2, 16, 4, ATOMICS, warp_max, "
               "shuffle_down<2, 1>, store<32>, warp_barrier, load_packed<4, 1>, load<1, 1>>\n");
}

int main(void) {
  check_right();
  check_norms();
  check_broken();
  check_texts();
  for (int goal = 0; goal < N_PLAN_GOALS; goal++) {
    check_draws((plan_goal_t)goal);
    check_seeds((plan_goal_t)goal);
  }
  check_barriers();
  check_mutations("64 1x8/1 x4.1x8.4w32Br2.1 two");
  check_mutations("max 64@8 1x8/1 mw32Br2.1 two");
  check_sources();
  return TEST_RESULT();
}
