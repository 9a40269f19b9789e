/* Candidate programs: drawn and mutated at random. */
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
  if (p->n_steps < PLAN_MAX_STEPS) p->step[p->n_steps] = (plan_step_t){kind, radix, by};
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

/* splitmix64 (Steele, Lea, Flood 2014). */
static int random_below(plan_random_t *r, int below) {
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (int)((z ^ z >> 31) % (uint64_t)below);
}

/* ---- programs at random ---- */

/* Order of shuffles: xor from near to far lanes, xor from far to near, or down. */
typedef enum { NEAR_FIRST, FAR_FIRST, DOWN, N_ORDERS } order_t;

static int min_int(int a, int b) {
  return a < b ? a : b;
}

/* Combine 2^bits values per warp, `stride` lanes apart, in a random order of radices. */
static void append_shuffles(plan_t *p, order_t order, int stride, int bits, plan_random_t *random) {
  for (int done = 0; done < bits;) {
    const int b = 1 + random_below(random, min_int(3, bits - done));
    const int low = order == NEAR_FIRST ? done : bits - done - b;
    append(p, order == DOWN ? STEP_DOWN : STEP_XOR, 1 << b, stride << low);
    done += b;
  }
}

/* Store the values of every `stride`-th of the active threads in shared memory; fewer threads then
 * combine several each.
 *  @return the number of these threads */
static int append_exchange(plan_t *p, int active, int stride, bool again, plan_random_t *random) {
  const int values = active / stride;
  const plan_kind_t barrier = active <= PLAN_WARP ? STEP_WARP : STEP_BLOCK;
  int radix = 1 << random_below(random, 1 + log2_of(min_int(values, PLAN_WARP)));
  /* Radix 1 only gathers the values of many warps in one. */
  if (radix == 1 && (active <= PLAN_WARP || values > PLAN_WARP)) radix = 2;
  const bool packed = radix > 1 && radix <= 8 && random_below(random, 2);
  if (again) append(p, barrier, 0, 0); /* other threads may still read */
  append(p, STEP_STORE, 0, stride);
  append(p, barrier, 0, 0);
  append(p, packed ? STEP_PACKED : STEP_LOAD, radix, values / radix);
  return values / radix;
}

/* Append steps until one value is left. False if that takes a third exchange. */
static bool append_steps(plan_t *p, plan_random_t *random) {
  const order_t order = (order_t)random_below(random, N_ORDERS);
  int active = p->threads, stride = 1, exchanges = 0;
  bool shuffled = false;
  while (active > stride) {
    const int in_warp = min_int(active, PLAN_WARP) / stride;
    const bool can_shuffle = in_warp > 1 && !shuffled;
    if (!can_shuffle && exchanges == 2) return false;
    shuffled = can_shuffle && (exchanges == 2 || random_below(random, 2));
    if (!shuffled) {
      active = append_exchange(p, active, stride, exchanges++ > 0, random);
      stride = 1;
    } else if (p->goal == PLAN_NORM && random_below(random, 3) == 0) {
      append(p, STEP_MAX, 0, 0);
      stride *= in_warp;
    } else {
      const int bits = 1 + random_below(random, log2_of(in_warp));
      append_shuffles(p, order, stride, bits, random);
      stride <<= bits;
    }
  }
  return true;
}

plan_t plan_draw(plan_goal_t goal, int threads, plan_random_t *random) {
  if (random_below(random, 32) == 0)
    return tree(goal, threads, 2 << random_below(random, 5), random_below(random, 2));
  plan_t p;
  do
    p = empty_plan(goal, threads);
  while (!append_steps(&p, random));
  return p;
}

/* Loads, and how the blocks run and end. Half of the programs run as many blocks as fit. */
static void draw_head(plan_t *p, plan_random_t *random) {
  p->loads = 1 << random_below(random, 4);
  p->width = 8 << random_below(random, 2);
  p->sums = 1 << random_below(random, 1 + log2_of(p->loads * p->width / 8));
  p->grid = (plan_grid_t)random_below(random, N_GRIDS);
  p->blocks = random_below(random, 2)
                  ? 1 << random_below(random, 1 + log2_of(PLAN_AT_A_TIME / p->threads))
                  : 0;
}

/* ---- mutation ---- */

static void remove_step(plan_t *p, int at) {
  memmove(&p->step[at], &p->step[at + 1], (size_t)(p->n_steps - at - 1) * sizeof p->step[0]);
  p->n_steps--;
}

static void insert_step(plan_t *p, int at, plan_step_t step) {
  if (p->n_steps >= PLAN_MAX_STEPS) return;
  memmove(&p->step[at + 1], &p->step[at], (size_t)(p->n_steps - at) * sizeof p->step[0]);
  p->step[at] = step;
  p->n_steps++;
}

/* The other kind of the same thing, if there is one. */
static void turn_step(plan_step_t *s) {
  static const plan_kind_t other[N_STEP_KINDS] = {
      [STEP_XOR] = STEP_DOWN,    [STEP_DOWN] = STEP_XOR,   [STEP_STORE] = STEP_STORE,
      [STEP_WARP] = STEP_BLOCK,  [STEP_BLOCK] = STEP_WARP, [STEP_LOAD] = STEP_PACKED,
      [STEP_PACKED] = STEP_LOAD, [STEP_MAX] = STEP_MAX};
  s->kind = other[s->kind];
}

/* A larger radix for a smaller distance, or the reverse. */
static void trade(plan_step_t *s, plan_random_t *random) {
  const bool wider = random_below(random, 2);
  s->radix = wider ? 2 * s->radix : s->radix / 2;
  s->by = wider ? s->by / 2 : 2 * s->by;
}

void plan_mutate(plan_t *p, plan_random_t *random) {
  const int at = p->n_steps > 0 ? random_below(random, p->n_steps) : 0;
  switch (p->n_steps > 0 ? random_below(random, 5) : 0) {
  case 0:
    draw_head(p, random);
    break;
  case 1:
    turn_step(&p->step[at]);
    break;
  case 2:
    trade(&p->step[at], random);
    break;
  case 3:
    remove_step(p, at);
    break;
  default:
    insert_step(p, at, p->step[random_below(random, p->n_steps)]);
  }
}

/* ---- sets of programs ---- */

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
static plan_t pick(plan_goal_t goal, plan_random_t *random) {
  const int threads = 128 << random_below(random, 3);
  plan_t p = plan_draw(goal, threads, random);
  for (int draw = 1; draw < 10; draw++) {
    const plan_t other = plan_draw(goal, threads, random);
    if (other.n_steps < p.n_steps) p = other;
  }
  draw_head(&p, random);
  if (random_below(random, 2))
    for (int times = 1 + random_below(random, 3); times > 0; times--)
      plan_mutate(&p, random);
  return p;
}

/* Hand-written shapes, which the search should beat: dependent shuffles, independent shuffles, one
 * warp that finishes by shuffles or in wide steps. For norms also the solver's shape
 * (src/cuda/steps/reduce.h) and the result of an earlier search for sums. */
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
  plan_random_t random = {seed};
  memset(set, 0, sizeof *set);
  set->plan = malloc(((size_t)tries + 1 + PLAN_KNOWN) * sizeof *set->plan);
  if (!set->plan) return mg_error(MG_ERR_MEMORY, "no memory for %d programs", tries);
  consider_known(set, goal);
  for (int i = 0; i < tries; i++) {
    const plan_t plan = pick(goal, &random);
    consider(set, &plan);
  }
  return MG_OK;
}

void plan_set_free(plan_set_t *set) {
  free(set->plan);
  set->plan = NULL;
  set->n = 0;
}
