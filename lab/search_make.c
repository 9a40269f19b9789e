/* Candidate programs: enumerated, and mutated at random. */
#include "base/log.h"
#include "lab/search_plan.h"
#include <stdlib.h>
#include <string.h>

static int log2_of(int n) {
  int bits = 0;
  while (n > 1 << bits)
    bits++;
  return bits;
}

static void append(plan_t *p, plan_kind_t kind, int radix, int by) {
  if (p->n_steps < PLAN_MOST_STEPS) p->step[p->n_steps] = (plan_step_t){kind, radix, by};
  p->n_steps++; /* plan_run rejects too many steps */
}

static plan_t empty_plan(plan_goal_t goal, int threads) {
  const plan_t p = {.goal = goal,
                    .threads = threads,
                    .loads = 4,
                    .width = 16,
                    .sums = 1,
                    .grid = GRID_TWO_LAUNCHES};
  return p;
}

/* ---- enumeration ---- */

/* A tree in shared memory of a single radix. A thread overwrites only values that it alone has
 * read, so one barrier per step is enough. */
static plan_t tree(plan_goal_t goal, int threads, int radix, bool barriers_of_warps) {
  plan_t p = empty_plan(goal, threads);
  for (int n = threads; n > 1;) {
    const int step = radix < n ? radix : n;
    append(&p, STEP_STORE, 0, 1);
    append(&p, n <= PLAN_WARP && barriers_of_warps ? STEP_WARP : STEP_BLOCK, 0, 0);
    n /= step;
    append(&p, STEP_LOAD, step, n);
  }
  return p;
}

plan_t plan_tree(plan_goal_t goal, int threads) {
  plan_t p = tree(goal, threads, 2, false);
  p.loads = 1;
  p.width = 8;
  return p;
}

/* Order of shuffles: xor from near to far lanes, xor from far to near, or down. */
typedef enum { NEAR_FIRST, FAR_FIRST, DOWN, N_ORDERS } order_t;

/* A partial program: the sums so far are in every `stride`-th active thread. */
typedef struct {
  plan_t plan;
  int active, stride;
  int shared;    /* number of uses of shared memory */
  bool shuffled; /* the last step was a shuffle */
  order_t order;
} state_t;

typedef struct {
  plan_sink_t sink;
  void *arg;
  int n;
  bool go_on;
} walk_t;

static void take(walk_t *walk, const plan_t *plan) {
  if (!walk->go_on) return;
  walk->n++;
  walk->go_on = walk->sink(plan, walk->arg);
}

static void grow(walk_t *walk, const state_t *s);

/* Combine the 2^bits sums of a warp, `done` bits of them already, in every order of radices. */
static void grow_by_shuffles(walk_t *walk, const state_t *s, int bits, int done) {
  if (done == bits) {
    state_t next = *s;
    next.stride = s->stride << bits;
    next.shuffled = true;
    grow(walk, &next);
    return;
  }
  for (int b = 1; b <= 3 && done + b <= bits; b++) {
    state_t next = *s;
    const int low = s->order == NEAR_FIRST ? done : bits - done - b;
    append(&next.plan, s->order == DOWN ? STEP_DOWN : STEP_XOR, 1 << b, s->stride << low);
    grow_by_shuffles(walk, &next, bits, done + b);
  }
}

/* Combine all values of a warp by the instruction. */
static void grow_by_instruction(walk_t *walk, const state_t *s, int in_warp) {
  state_t next = *s;
  append(&next.plan, STEP_MAX, 0, 0);
  next.stride = s->stride * in_warp;
  next.shuffled = true;
  grow(walk, &next);
}

/* Store the sums in shared memory; fewer threads then combine several each. */
static void grow_by_memory(walk_t *walk, const state_t *s, int radix, plan_kind_t kind) {
  state_t next = *s;
  const int sums = s->active / s->stride;
  const plan_kind_t barrier = s->active <= PLAN_WARP ? STEP_WARP : STEP_BLOCK;
  if (s->shared > 0) append(&next.plan, barrier, 0, 0); /* other threads may still read */
  append(&next.plan, STEP_STORE, 0, s->stride);
  append(&next.plan, barrier, 0, 0);
  append(&next.plan, kind, radix, sums / radix);
  next.active = sums / radix;
  next.stride = 1;
  next.shared++;
  next.shuffled = false;
  grow(walk, &next);
}

static void grow(walk_t *walk, const state_t *s) {
  const int sums = s->active / s->stride;
  if (sums == 1) {
    take(walk, &s->plan);
    return;
  }
  const int in_warp = (s->active < PLAN_WARP ? s->active : PLAN_WARP) / s->stride;
  for (int bits = 1; bits <= log2_of(in_warp) && !s->shuffled; bits++)
    grow_by_shuffles(walk, s, bits, 0);
  if (s->plan.goal == PLAN_NORM && s->order == NEAR_FIRST && in_warp > 1 && !s->shuffled)
    grow_by_instruction(walk, s, in_warp);
  if (s->shared == 2) return;
  /* Radix 1 only gathers the sums of many warps in one. */
  if (s->active > PLAN_WARP && sums <= PLAN_WARP) grow_by_memory(walk, s, 1, STEP_LOAD);
  for (int radix = 2; radix <= PLAN_WARP && radix <= sums; radix *= 2) {
    grow_by_memory(walk, s, radix, STEP_LOAD);
    if (radix <= 8) grow_by_memory(walk, s, radix, STEP_PACKED);
  }
}

int plan_enumerate(plan_goal_t goal, int threads, plan_sink_t sink, void *arg) {
  walk_t walk = {sink, arg, 0, true};
  for (int radix = 2; radix <= PLAN_WARP; radix *= 2)
    for (int warps = 0; warps < 2; warps++) {
      const plan_t plan = tree(goal, threads, radix, warps == 1);
      take(&walk, &plan);
    }
  for (int order = 0; order < N_ORDERS; order++) {
    const state_t start = {empty_plan(goal, threads), threads, 1, 0, false, (order_t)order};
    grow(&walk, &start);
  }
  return walk.n;
}

/* ---- mutation ---- */

/* splitmix64 (Steele, Lea, Flood 2014). */
int plan_random(plan_random_t *r, int below) {
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (int)((z ^ z >> 31) % (uint64_t)below);
}

static int double_or_half(int n, plan_random_t *random) {
  return plan_random(random, 2) ? 2 * n : n / 2;
}

static void remove_step(plan_t *p, int at) {
  memmove(&p->step[at], &p->step[at + 1], (size_t)(p->n_steps - at - 1) * sizeof p->step[0]);
  p->n_steps--;
}

static void insert_step(plan_t *p, int at, plan_step_t step) {
  if (p->n_steps >= PLAN_MOST_STEPS) return;
  memmove(&p->step[at + 1], &p->step[at], (size_t)(p->n_steps - at) * sizeof p->step[0]);
  p->step[at] = step;
  p->n_steps++;
}

/* Split a shuffle of radix 4 or more in two: the near half of its lanes, then the far half. */
static void split_step(plan_t *p, int at) {
  const plan_step_t whole = p->step[at];
  if ((whole.kind != STEP_XOR && whole.kind != STEP_DOWN) || whole.radix < 4) return;
  const int near = whole.radix / 2;
  p->step[at].radix = 2;
  insert_step(p, at, (plan_step_t){whole.kind, near, whole.by});
  p->step[at + 1].by = near * whole.by;
}

static void turn_step(plan_step_t *s) {
  static const plan_kind_t other[N_STEP_KINDS] = {
      [STEP_XOR] = STEP_DOWN,    [STEP_DOWN] = STEP_XOR,   [STEP_STORE] = STEP_STORE,
      [STEP_WARP] = STEP_BLOCK,  [STEP_BLOCK] = STEP_WARP, [STEP_LOAD] = STEP_PACKED,
      [STEP_PACKED] = STEP_LOAD, [STEP_MAX] = STEP_MAX};
  s->kind = other[s->kind];
}

static void trade(plan_step_t *s, plan_random_t *random) {
  const bool wider = plan_random(random, 2);
  s->radix = wider ? 2 * s->radix : s->radix / 2;
  s->by = wider ? s->by / 2 : 2 * s->by;
}

static void mutate_head(plan_t *p, plan_random_t *random) {
  switch (plan_random(random, 5)) {
  case 0:
    p->loads = double_or_half(p->loads, random);
    break;
  case 3:
    p->blocks = p->blocks ? double_or_half(p->blocks, random) : 1 << plan_random(random, 5);
    break;
  case 1:
    p->width = 24 - p->width;
    break;
  case 2:
    p->sums = double_or_half(p->sums, random);
    break;
  default:
    p->grid = (plan_grid_t)plan_random(random, N_GRIDS);
  }
}

void plan_mutate(plan_t *p, plan_random_t *random) {
  const int what = plan_random(random, 10);
  const int at = p->n_steps > 0 ? plan_random(random, p->n_steps) : 0;
  plan_step_t *s = &p->step[at];
  if (what == 0 || p->n_steps == 0)
    mutate_head(p, random);
  else if (what == 1)
    s->radix = double_or_half(s->radix, random);
  else if (what == 2)
    s->by = double_or_half(s->by, random);
  else if (what == 3)
    turn_step(s);
  else if (what == 4)
    remove_step(p, at);
  else if (what == 5)
    insert_step(p, at, p->step[plan_random(random, p->n_steps)]);
  else if (what == 6 && at + 1 < p->n_steps) {
    const plan_step_t first = s[0];
    s[0] = s[1];
    s[1] = first;
  } else if (what == 7)
    trade(s, random);
  else if (what == 8)
    split_step(p, at);
  else
    insert_step(p, at, (plan_step_t){plan_random(random, 2) ? STEP_BLOCK : STEP_WARP, 0, 0});
}

/* ---- sets of programs ---- */

typedef struct {
  plan_t *plan;
  int n, room;
} list_t;

static bool add_to_list(const plan_t *plan, void *arg) {
  list_t *list = arg;
  if (list->n == list->room) {
    const int room = list->room ? 2 * list->room : 1024;
    plan_t *more = realloc(list->plan, (size_t)room * sizeof *more);
    if (!more) return false;
    list->plan = more;
    list->room = room;
  }
  list->plan[list->n++] = *plan;
  return true;
}

static bool is_there(const plan_set_t *set, const plan_t *plan) {
  char text[PLAN_TEXT], other[PLAN_TEXT];
  plan_spell(plan, text);
  for (int i = 0; i < set->n; i++) {
    plan_spell(&set->plan[i], other);
    if (strcmp(text, other) == 0) return true;
  }
  return false;
}

static void consider(plan_set_t *set, const plan_t *plan) {
  const plan_verdict_t verdict = plan_prove(plan);
  set->verdicts[verdict]++;
  if (verdict != PLAN_RIGHT) return;
  if (is_there(set, plan))
    set->repeated++;
  else
    set->plan[set->n++] = *plan;
}

/* Most programs are long, and most good ones short: take the shortest of a few. */
static plan_t pick(const list_t *list, plan_random_t *random) {
  plan_t p = list->plan[plan_random(random, list->n)];
  for (int draw = 1; draw < 10; draw++) {
    const plan_t *other = &list->plan[plan_random(random, list->n)];
    if (other->n_steps < p.n_steps) p = *other;
  }
  p.loads = 1 << plan_random(random, 4);
  p.width = 8 << plan_random(random, 2);
  p.sums = 1 << plan_random(random, 1 + log2_of(p.loads * p.width / 8));
  p.grid = (plan_grid_t)plan_random(random, N_GRIDS);
  /* The other half runs as many blocks as fit. */
  if (plan_random(random, 2))
    p.blocks = 1 << plan_random(random, 1 + log2_of(PLAN_AT_A_TIME / p.threads));
  if (plan_random(random, 2))
    for (int times = 1 + plan_random(random, 3); times > 0; times--)
      plan_mutate(&p, random);
  return p;
}

/* Hand-written shapes, which the search should beat: dependent shuffles, independent shuffles, one
 * warp that finishes by shuffles or in wide steps. For norms also the solver's shape
 * (src/cuda/reduce.h) and the result of an earlier search for sums. */
static const char *const known[N_PLAN_GOALS][PLAN_KNOWN] = {
    {"256 4x16/1 d2.16d2.8d2.4d2.2d2.1w32Br1.8d2.4d2.2d2.1 last",
     "256 4x16/1 d2.16d2.8d2.4d2.2d2.1w32Br1.8d2.4d2.2d2.1 atomics",
     "256 4x16/1 x4.1x8.4w32Br8.1 last", "256 4x16/1 x4.1x8.4w32Br8.1 atomics",
     "256 4x16/1 w1Br8.32x4.1x8.4 last", "256 4x16/1 w1Br8.32x4.1x8.4 atomics",
     "256 4x16/1 w1Br32.8w1br8.1 last", "256 4x16/1 w1Br8.32w1br8.4w1br4.1 last"},
    {"max 256@4 4x16/1 mw32Br1.8m atomics", "max 256@4 4x16/1 mw32Bp8.1 atomics",
     "max 128@8 4x16/1 mw32Br1.4m atomics", "max 256@4 4x16/1 x4.1x8.4w32Br8.1 atomics",
     "max 256@4 4x16/1 d2.16d2.8d2.4d2.2d2.1w32Br1.8d2.4d2.2d2.1 atomics",
     "max 256@4 4x16/1 w1Br8.32m atomics", "max 256@4 4x16/1 mw32Br1.8m last",
     "max 128@8 4x16/1 x8.1x4.8w32Bp4.1 atomics"}};

static void consider_known(plan_set_t *set, plan_goal_t goal) {
  plan_t plan = plan_tree(goal, 256);
  consider(set, &plan);
  for (int k = 0; k < PLAN_KNOWN; k++)
    if (plan_parse(known[goal][k], &plan)) consider(set, &plan);
}

mg_status_t plan_collect(plan_goal_t goal, uint64_t seed, int tries, plan_set_t *set) {
  list_t list = {NULL, 0, 0};
  plan_random_t random = {seed};
  memset(set, 0, sizeof *set);
  set->plan = malloc(((size_t)tries + 1 + PLAN_KNOWN) * sizeof *set->plan);
  int enumerated = 0;
  for (int threads = 128; threads <= 512; threads *= 2)
    enumerated += plan_enumerate(goal, threads, add_to_list, &list);
  const bool whole = set->plan && list.n == enumerated;
  if (whole) consider_known(set, goal);
  for (int i = 0; whole && i < tries; i++) {
    const plan_t plan = pick(&list, &random);
    consider(set, &plan);
  }
  free(list.plan);
  if (whole) return MG_OK;
  plan_set_free(set);
  return mg_error(MG_ERR_MEMORY, "no memory for %d programs", tries);
}

void plan_set_free(plan_set_t *set) {
  free(set->plan);
  set->plan = NULL;
  set->n = 0;
}
