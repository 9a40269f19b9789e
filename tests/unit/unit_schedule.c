/* unit_schedule: the sweeps of a smooth apply its steps in order, fused or not. Needs no
 * level: the schedule is followed with iterate numbers in place of vectors. */
#include "formulas/smoother_steps.h"
#include "formulas/vectors.h"
#include "level/smooth.h"
#include "plan/path_facts.h"
#include "tests/lib/test.h"
#include <string.h>

enum { MOST_STEPS = 12, UNKNOWN = -9 };

typedef struct {
  int n_steps, most;
  bool in_place, zero_guess, look_back;
} case_t;

/* Number of the iterate in a vector; a vector < 0 is x_0 = 0. */
static int iterate_in(const int *content, int vector) {
  return vector < 0 ? 0 : content[vector];
}

/* Follow one sweep: the n-th step must find iterate n, and n - 1 if it reads two. */
static void follow(const mg_sweep_t *s, const mg_step_t *steps, const case_t *c, int *content) {
  const int first = (int)(s->step - steps), last = first + s->n;
  CHECK_INT(iterate_in(content, s->x), first);
  CHECK(s->x >= 0 || (c->zero_guess && first == 0));
  if (steps[first].c1 != 0.0) CHECK_INT(iterate_in(content, s->previous), first - 1);
  CHECK(s->n >= 1 && s->n <= c->most);
  if (s->n > 1) {
    CHECK(s->dst != s->x && s->dst != s->previous && s->previous_out != s->dst);
    CHECK(s->previous_out < 0 || (s->previous_out != s->x && s->previous_out != s->previous));
  } else {
    CHECK((s->x == s->dst) == (c->in_place && s->x >= 0));
    CHECK(s->previous_out < 0);
  }
  if (s->n == 1 && !c->in_place && s->previous >= 0) CHECK_INT(s->previous, s->dst);
  content[s->dst] = last;
  if (s->previous_out >= 0) content[s->previous_out] = last - 1;
}

/* Ghosts are exchanged of all that a sweep reads: of f once, before the first fused sweep. */
static void check_halo(const mg_scheduled_sweep_t *e, bool is_first) {
  const mg_sweep_t *s = &e->sweep;
  unsigned got = 0, want = 0;
  for (int v = 0; v < e->n_halo; v++)
    got |= 1u << e->halo[v];
  if (s->x >= 0) want |= 1u << s->x;
  if (s->n > 1 && s->previous >= 0) want |= 1u << s->previous;
  if (s->n > 1 && is_first) want |= 1u << MG_F;
  CHECK_INT(got, want);
  if (want & 1u << MG_F) CHECK_INT(e->halo[0], MG_F);
}

static int test_case(const case_t *c) {
  mg_step_t steps[MOST_STEPS];
  int content[MG_N_VECTORS];
  mg_schedule_t schedule;
  for (int s = 0; s < c->n_steps; s++)
    steps[s] = (mg_step_t){
        .colored = c->in_place, .color = s % 2, .c1 = c->look_back && s > 0 ? 0.5 : 0.0, .c2 = 1.0};
  for (int v = 0; v < MG_N_VECTORS; v++)
    content[v] = UNKNOWN;
  if (!c->zero_guess) content[MG_U] = 0;
  CHECK_INT(mg_schedule_create(steps, c->n_steps, c->most, c->in_place, c->zero_guess, &schedule),
            MG_OK);
  for (int q = 0; q < schedule.n; q++) {
    check_halo(&schedule.sweep[q], q == 0);
    follow(&schedule.sweep[q].sweep, steps, c, content);
  }
  CHECK_INT(content[schedule.result], c->n_steps);
  /* From zero, nothing is copied to MG_U at the end. */
  if (c->zero_guess && (c->most == 1 || !c->look_back)) CHECK_INT(schedule.result, MG_U);
  const int n_sweeps = schedule.n;
  mg_schedule_free(&schedule);
  return n_sweeps;
}

/* Layers of one exchange: the sweeps go backwards from one valid layer, and along rows whole 16
 * bytes are computed. */
static void check_ghost_layers(void) {
  static const struct {
    int n_steps, most;
    bool look_back;
    int value_bytes, layers;
  } cases[] = {
      {6, 3, false, 8, 7}, /* 3 + 3 + 1: the first sweep computes 4 layers */
      {6, 3, true, 8, 7},  {6, 3, false, 4, 7},
      {3, 3, false, 8, 5},                      /* 3 + 1: 2 layers along rows */
      {3, 3, false, 4, 7},                      /* 4 layers along rows */
      {2, 3, false, 8, 4}, {6, 2, false, 8, 8}, /* 2 + 2 + 2 + 1: the first computes 6 */
      {7, 3, false, 8, 9}, {9, 3, true, 8, 0},  /* single steps between the sweeps */
      {3, 2, false, 8, 0},                      /* 2 + 1 */
      {1, 3, false, 8, 0},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    CHECK_INT(mg_steps_ghost_layers(cases[c].n_steps, cases[c].most, cases[c].look_back,
                                    cases[c].value_bytes),
              cases[c].layers);
}

int main(void) {
  case_t c;
  check_ghost_layers();
  for (c.n_steps = 1; c.n_steps <= MOST_STEPS; c.n_steps++)
    for (c.most = 1; c.most <= 3; c.most++)
      for (int zero = 0; zero < 2; zero++) {
        const int fewest = (c.n_steps + c.most - 1) / c.most;
        c.zero_guess = zero == 1;
        c.look_back = false;
        c.in_place = true;
        CHECK_INT(test_case(&c), fewest);
        c.in_place = false;
        CHECK_INT(test_case(&c), fewest);
        c.look_back = true;
        /* Only the first and the last sweep are fused if each step reads two iterates. */
        const int fused = c.n_steps < 2 * c.most ? c.n_steps : 2 * c.most;
        const int between = c.most > 1 && c.n_steps > c.most ? c.n_steps - fused + 2 : fewest;
        CHECK_INT(test_case(&c), between);
      }
  return TEST_RESULT();
}
