#include "lab/search_plan.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *plan_verdict_name(plan_verdict_t verdict) {
  static const char *const name[N_VERDICTS] = {[PLAN_RIGHT] = "right",
                                               [PLAN_SHAPE] = "invalid shape",
                                               [PLAN_UNWRITTEN] = "read of an unwritten element",
                                               [PLAN_BLOCK_BARRIER] = "race between warps",
                                               [PLAN_WARP_BARRIER] = "race within a warp",
                                               [PLAN_TWICE] = "number counted twice",
                                               [PLAN_LEFT_OUT] = "number left out",
                                               [PLAN_MEMORY] = "out of memory for the proof"};
  return name[verdict];
}

static bool is_power(int n, int min, int max) {
  return n >= min && n <= max && (n & (n - 1)) == 0;
}

static bool step_has_shape(const plan_step_t *s, const plan_t *p) {
  const int threads = p->threads;
  switch (s->kind) {
  case STEP_XOR:
  case STEP_DOWN:
    return is_power(s->radix, 2, PLAN_WARP) && is_power(s->by, 1, PLAN_WARP) &&
           s->radix * s->by <= PLAN_WARP;
  case STEP_STORE:
    return s->radix == 0 && is_power(s->by, 1, threads);
  case STEP_LOAD:
  case STEP_PACKED:
    return is_power(s->radix, 1, PLAN_WARP) && is_power(s->by, 1, threads) &&
           s->radix * s->by <= threads;
  case STEP_MAX:
    return p->goal == PLAN_NORM && s->radix == 0 && s->by == 0;
  default:
    return s->radix == 0 && s->by == 0;
  }
}

static bool plan_has_shape(const plan_t *p) {
  bool fits = is_power(p->threads, PLAN_WARP, PLAN_MAX_THREADS) && is_power(p->loads, 1, 8) &&
              is_power(p->width, 8, 16) && is_power(p->sums, 1, p->loads * p->width / 8) &&
              (p->blocks == 0 || is_power(p->blocks, 1, PLAN_AT_A_TIME / p->threads)) &&
              p->n_steps <= PLAN_MAX_STEPS;
  for (int s = 0; fits && s < p->n_steps; s++)
    fits = step_has_shape(&p->step[s], p);
  return fits;
}

/* ---- running a program ---- */

/* The threads that accessed an element of shared memory, and at which step. Between two block
 * barriers each step reads an element at most once, because loads access distinct elements. */
typedef struct {
  int writer, written; /* thread, step; -1: none */
  int n_reads;
  struct {
    int reader, read;
  } by[PLAN_MAX_STEPS];
} place_t;

typedef struct {
  const plan_t *plan;
  int n;          /* length of the vector that stands for a value */
  int32_t *value; /* [threads][n] */
  int32_t *part;  /* [threads][n]: shared memory */
  int32_t *warp;  /* [PLAN_WARP][n]: values of the lanes before a step */
  place_t *place; /* [threads] */
  int active;     /* threads */
  int block_barrier, warp_barrier[PLAN_MAX_THREADS / PLAN_WARP]; /* last one's step; -1: none */
  plan_verdict_t race;                                           /* PLAN_RIGHT: none */
} run_t;

/* Check for a barrier between the access by thread a at step `at` and the current access by b. A
 * race between warps takes precedence in the report. */
static void see_race(run_t *r, int a, int at, int b) {
  if (a == b || at < r->block_barrier) return;
  if (a / PLAN_WARP != b / PLAN_WARP)
    r->race = PLAN_BLOCK_BARRIER;
  else if (at >= r->warp_barrier[a / PLAN_WARP] && r->race == PLAN_RIGHT)
    r->race = PLAN_WARP_BARRIER;
}

static void touch_to_write(run_t *r, int at, int who, int step) {
  place_t *p = &r->place[at];
  if (p->writer >= 0) see_race(r, p->writer, p->written, who);
  for (int i = 0; i < p->n_reads; i++)
    see_race(r, p->by[i].reader, p->by[i].read, who);
  p->writer = who;
  p->written = step;
  p->n_reads = 0;
}

static bool touch_to_read(run_t *r, int at, int who, int step) {
  place_t *p = &r->place[at];
  if (p->writer < 0) return false;
  p->by[p->n_reads].reader = who;
  p->by[p->n_reads++].read = step;
  see_race(r, p->writer, p->written, who);
  return true;
}

static void join(const run_t *r, int32_t *to, const int32_t *from) {
  for (int i = 0; i < r->n; i++)
    if (r->plan->goal == PLAN_SUM)
      to[i] += from[i];
    else if (to[i] < from[i])
      to[i] = from[i];
}

static void shuffle(run_t *r, const plan_step_t *s, int first) {
  const size_t n = (size_t)r->n;
  memcpy(r->warp, r->value + (size_t)first * n, PLAN_WARP * n * sizeof *r->warp);
  for (int lane = 0; lane < PLAN_WARP; lane++)
    for (int m = 1; m < s->radix; m++) {
      const int other = s->kind == STEP_XOR ? lane ^ (m * s->by) : lane + m * s->by;
      const int from = other < PLAN_WARP ? other : lane;
      join(r, r->value + (size_t)(first + lane) * n, r->warp + (size_t)from * n);
    }
}

/* Every lane gets the combination of all lanes. */
static void join_warp(run_t *r, int first) {
  const size_t n = (size_t)r->n;
  int32_t *value = r->value + (size_t)first * n;
  for (size_t lane = 1; lane < PLAN_WARP; lane++)
    join(r, value, value + lane * n);
  for (size_t lane = 1; lane < PLAN_WARP; lane++)
    memcpy(value + lane * n, value, n * sizeof *value);
}

static void store(run_t *r, const plan_step_t *s, int step) {
  const size_t n = (size_t)r->n;
  for (int me = 0; me < r->active; me += s->by) {
    const int at = me / s->by;
    touch_to_write(r, at, me, step);
    memcpy(r->part + (size_t)at * n, r->value + (size_t)me * n, n * sizeof *r->part);
  }
}

static int in_warps(int threads) {
  return (threads + PLAN_WARP - 1) / PLAN_WARP * PLAN_WARP;
}

static plan_verdict_t load(run_t *r, const plan_step_t *s, int step) {
  const size_t n = (size_t)r->n;
  r->active = s->by;
  memset(r->value, 0, (size_t)in_warps(r->active) * n * sizeof *r->value);
  for (int me = 0; me < r->active; me++)
    for (int m = 0; m < s->radix; m++) {
      const int at = s->kind == STEP_LOAD ? me + m * s->by : me * s->radix + m;
      if (!touch_to_read(r, at, me, step)) return PLAN_UNWRITTEN;
      join(r, r->value + (size_t)me * n, r->part + (size_t)at * n);
    }
  return PLAN_RIGHT;
}

static plan_verdict_t run_step(run_t *r, int step) {
  const plan_step_t *s = &r->plan->step[step];
  switch (s->kind) {
  case STEP_STORE:
    store(r, s, step);
    return PLAN_RIGHT;
  case STEP_LOAD:
  case STEP_PACKED:
    return load(r, s, step);
  case STEP_BLOCK:
    r->block_barrier = step;
    return PLAN_RIGHT;
  default:
    for (int first = 0; first < r->active; first += PLAN_WARP)
      if (s->kind == STEP_WARP)
        r->warp_barrier[first / PLAN_WARP] = step;
      else if (s->kind == STEP_MAX)
        join_warp(r, first);
      else
        shuffle(r, s, first);
    return PLAN_RIGHT;
  }
}

static plan_verdict_t run_steps(run_t *r) {
  r->active = r->plan->threads;
  r->block_barrier = -1;
  for (int w = 0; w < PLAN_MAX_THREADS / PLAN_WARP; w++)
    r->warp_barrier[w] = -1;
  for (int t = 0; t < r->plan->threads; t++)
    r->place[t].writer = -1;
  plan_verdict_t verdict = PLAN_RIGHT;
  for (int step = 0; step < r->plan->n_steps && verdict == PLAN_RIGHT; step++)
    verdict = run_step(r, step);
  return verdict == PLAN_RIGHT ? r->race : verdict;
}

plan_verdict_t plan_run(const plan_t *plan, int n, int32_t *value) {
  if (!plan_has_shape(plan)) return PLAN_SHAPE;
  run_t r = {.plan = plan, .n = n, .value = value};
  const size_t threads = (size_t)plan->threads;
  r.part = malloc(threads * (size_t)n * sizeof *r.part);
  r.warp = malloc(PLAN_WARP * (size_t)n * sizeof *r.warp);
  r.place = calloc(threads, sizeof *r.place);
  const plan_verdict_t verdict = r.part && r.warp && r.place ? run_steps(&r) : PLAN_MEMORY;
  free(r.part);
  free(r.warp);
  free(r.place);
  return verdict;
}

plan_verdict_t plan_prove(const plan_t *plan) {
  if (!plan_has_shape(plan)) return PLAN_SHAPE;
  const int n = plan->threads;
  int32_t *value = calloc((size_t)n * (size_t)n, sizeof *value);
  if (!value) return PLAN_MEMORY;
  for (int t = 0; t < n; t++)
    value[(size_t)t * (size_t)n + (size_t)t] = 1;
  plan_verdict_t verdict = plan_run(plan, n, value);
  bool twice = false, left_out = false;
  for (int t = 0; t < n; t++) {
    twice = twice || value[t] > 1;
    left_out = left_out || value[t] < 1;
  }
  free(value);
  if (verdict != PLAN_RIGHT) return verdict;
  return twice ? PLAN_TWICE : left_out ? PLAN_LEFT_OUT : PLAN_RIGHT;
}

/* ---- text ---- */

static const char letters[N_STEP_KINDS + 1] = "xdwbBrpm";
static const char *const grid_names[N_GRIDS] = {"atomics", "last", "two"};
static const char of_norms[] = "max ";

static bool has_radix(plan_kind_t kind) {
  return kind == STEP_XOR || kind == STEP_DOWN || kind == STEP_LOAD || kind == STEP_PACKED;
}

void plan_spell(const plan_t *p, char text[PLAN_TEXT]) {
  int n = snprintf(text, PLAN_TEXT, "%s%d", p->goal == PLAN_NORM ? of_norms : "", p->threads);
  if (p->blocks > 0) n += snprintf(text + n, (size_t)(PLAN_TEXT - n), "@%d", p->blocks);
  n += snprintf(text + n, (size_t)(PLAN_TEXT - n), " %dx%d/%d ", p->loads, p->width, p->sums);
  for (int i = 0; i < p->n_steps && n < PLAN_TEXT; i++) {
    const plan_step_t *s = &p->step[i];
    char *to = text + n;
    const size_t room = (size_t)(PLAN_TEXT - n);
    if (has_radix(s->kind))
      n += snprintf(to, room, "%c%d.%d", letters[s->kind], s->radix, s->by);
    else if (s->kind == STEP_STORE)
      n += snprintf(to, room, "%c%d", letters[s->kind], s->by);
    else
      n += snprintf(to, room, "%c", letters[s->kind]);
  }
  if (n < PLAN_TEXT) snprintf(text + n, (size_t)(PLAN_TEXT - n), " %s", grid_names[p->grid]);
}

/* A number of at most four decimal digits. */
static bool take_number(const char **text, int *n) {
  const char *first = *text;
  for (*n = 0; isdigit((unsigned char)**text) && *text < first + 4; ++*text)
    *n = 10 * *n + (**text - '0');
  return *text > first;
}

static bool take_step(const char **text, plan_step_t *s) {
  const char *letter = strchr(letters, **text);
  if (**text == '\0' || !letter) return false;
  *s = (plan_step_t){(plan_kind_t)(letter - letters), 0, 0};
  ++*text;
  if (s->kind == STEP_STORE) return take_number(text, &s->by);
  if (!has_radix(s->kind)) return true;
  return take_number(text, &s->radix) && *(*text)++ == '.' && take_number(text, &s->by);
}

bool plan_parse(const char *text, plan_t *p) {
  memset(p, 0, sizeof *p);
  if (strncmp(text, of_norms, sizeof of_norms - 1) == 0) {
    p->goal = PLAN_NORM;
    text += sizeof of_norms - 1;
  }
  if (!take_number(&text, &p->threads)) return false;
  if (*text == '@') {
    text++;
    if (!take_number(&text, &p->blocks) || p->blocks == 0) return false;
  }
  if (*text++ != ' ') return false;
  if (!take_number(&text, &p->loads) || *text++ != 'x') return false;
  if (!take_number(&text, &p->width) || *text++ != '/') return false;
  if (!take_number(&text, &p->sums) || *text++ != ' ') return false;
  while (*text != ' ')
    if (p->n_steps == PLAN_MAX_STEPS || !take_step(&text, &p->step[p->n_steps++])) return false;
  for (int g = 0; g < N_GRIDS; g++)
    if (strcmp(text + 1, grid_names[g]) == 0) {
      p->grid = (plan_grid_t)g;
      return true;
    }
  return false;
}
