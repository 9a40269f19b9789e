/* unit_exercises: hpgmg-bench's check of exercises. The exercises as delivered are not solved, the
 * answers are, and each kind of mistake gets its own verdict. No time is measured. */
#include "lab/exercise.h"
#include "lab/lab_cpu.h"
#include "tests/lib/test.h"

#define LAB_COUNTED
#include "lab/access.h"

static void check_form(int number, const exercise_form_t *form, bool solved, const char *part) {
  exercise_verdict_t verdict;
  CHECK_INT(exercise_check(number, form, &verdict), MG_OK);
  CHECK_INT(verdict.solved, solved);
  CHECK_INT(verdict.right, strstr(verdict.text, "wrong result") == NULL);
  CHECK_CONTAINS(verdict.text, part);
}

static void check_delivered(void) {
  static const char *const yours[] = {
      "exercise 1: not solved yet: 56 bytes per element, the goal is 24",
      "exercise 2: not solved yet: 128 bytes per cell, the goal is 32",
      "exercise 3: not solved yet: 64 bytes per cell, the goal is 56",
      "exercise 4: not solved yet: 1 independent sum, the goal is 8",
      "exercise 5: not solved yet: 48 bytes per cell, the goal is 24"};
  static const char *const answers[] = {"exercise 1: solved: 24 bytes per element (goal: 24)",
                                        "exercise 2: solved: 32 bytes per cell (goal: 32)",
                                        "exercise 3: solved: 56 bytes per cell (goal: 56)",
                                        "exercise 4: solved: 16 independent sums (goal: 8)",
                                        "exercise 5: solved: 24 bytes per cell (goal: 24)"};
  for (int e = 0; e < EXERCISES; e++) {
    check_form(e + 1, &exercise_yours[e], false, yours[e]);
    check_form(e + 1, &exercise_answers[e], true, answers[e]);
  }
}

/* Kernels of this test. KERNEL(name) has the parameters of every kernel. */
#define KERNEL(name)                                                                               \
  static double name(const exercise_data_t *d, int pass, int64_t first, int64_t last, int64_t step)

/* ---- exercise 1: right except for one mistake ---- */

enum {
  NO_MISTAKE,
  STORES_RESIDUAL,
  SKIPS_LAST,
  IGNORES_STEP,
  READS_BEYOND,
  READS_FAR_AWAY,
  STORES_BEYOND,
  STORES_BEFORE,
  STORES_INPUT,
  WRITES_BEYOND,
  WRITES_INPUT,
  WRITES_NAN,
  NORM_SKIPS_FIRST,
  NORM_IS_NAN,
  COUNTS_NOTHING,
  LOADS_UNCOUNTED,
  STORES_UNCOUNTED
};
static int mistake;

static void err(const exercise_data_t *d, int64_t i) {
  double *x = d->at[0], *f = d->at[1], *r = d->at[2];
  if (mistake == STORES_RESIDUAL) STORE(r, i, 1.0);
  if (mistake == READS_BEYOND) (void)LOAD(f, i + 1);
  if (mistake == READS_FAR_AWAY) (void)LOAD(f, i - ((int64_t)1 << 40));
  if (mistake == STORES_BEYOND) STORE(r, i + 1, 1.0);
  if (mistake == STORES_BEFORE) STORE(x, i - 1, 1.0);
  if (mistake == STORES_INPUT) STORE(f, i, LOAD(f, i));
  if (mistake == WRITES_BEYOND) x[d->n] = 1.0;
  if (mistake == WRITES_INPUT) f[i] = 1.0;
  if (mistake == WRITES_NAN) x[i] = NAN;
}

KERNEL(fused) {
  double norm = 0.0, *x = d->at[0], *f = d->at[1];
  (void)pass;
  if (mistake == SKIPS_LAST && last == d->n) last--;
  if (mistake == IGNORES_STEP) step = 1;
  for (int64_t i = first; i < last; i += step) {
    const bool stores = mistake != COUNTS_NOTHING && mistake != STORES_UNCOUNTED,
               loads = mistake != COUNTS_NOTHING && mistake != LOADS_UNCOUNTED;
    const double old = mistake != COUNTS_NOTHING ? LOAD(x, i) : x[i],
                 residual = (loads ? LOAD(f, i) : f[i]) - 0.5 * old;
    if (stores)
      STORE(x, i, old + 0.25 * residual);
    else
      x[i] = old + 0.25 * residual;
    if (mistake != NORM_SKIPS_FIRST || i > 0) norm = fmax(norm, fabs(residual));
    err(d, i);
  }
  return mistake == NORM_IS_NAN ? NAN : norm;
}

static void check_mistakes(void) {
  static const struct {
    int mistake;
    const char *part;
  } cases[] = {
      {NO_MISTAKE, "exercise 1: solved: 24 bytes"},
      {STORES_RESIDUAL, "not solved yet: 32 bytes per element, the goal is 24"},
      {SKIPS_LAST, "wrong result: x[0] is 0, should be 231.75 (n = 1, 1 thread, step 1)"},
      {IGNORES_STEP, "threads, step 5)"},
      {READS_BEYOND, "wrong result: the kernel reads f[1] (n = 1)"},
      {READS_FAR_AWAY, "wrong result: the kernel reads an address outside of all arrays"},
      {STORES_BEYOND, "wrong result: the kernel writes r[1]"},
      {STORES_BEFORE, "wrong result: the kernel writes x[-1]"},
      {STORES_INPUT, "wrong result: the kernel writes the input f[0]"},
      {WRITES_BEYOND, "wrong result: x[1] is 1, should be nan"},
      {WRITES_INPUT, "wrong result: f[0] is 1, should be"},
      {WRITES_NAN, "wrong result: x[0] is nan, should be"},
      {NORM_SKIPS_FIRST, "wrong result: the norm is 0, should be"},
      {NORM_IS_NAN, "wrong result: the norm is nan, should be"},
      {COUNTS_NOTHING, "not solved yet: not every access is a LOAD or STORE"},
      {LOADS_UNCOUNTED, "not solved yet: not every access is a LOAD or STORE"},
      {STORES_UNCOUNTED, "not solved yet: not every access is a LOAD or STORE"},
  };
  const exercise_form_t form = {fused, fused, 1, NULL};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    mistake = cases[c].mistake;
    check_form(1, &form, mistake == NO_MISTAKE, cases[c].part);
  }
}

/* ---- exercise 2: places ---- */

static int64_t (*place)(int64_t i, int field, int64_t n);

KERNEL(placed) {
  double *cell = d->at[0];
  (void)pass;
  for (int64_t i = first; i < last; i += step) {
    const double dinv = LOAD(cell, place(i, FIELD_DINV, d->n));
    const double change = dinv * LOAD(cell, place(i, FIELD_R, d->n));
    const int64_t u = place(i, FIELD_U, d->n);
    STORE(cell, u, LOAD(cell, u) + change);
  }
  return 0.0;
}

static int64_t place_outside(int64_t i, int field, int64_t n) {
  return field * n + i + 1;
}

static int64_t place_twice(int64_t i, int field, int64_t n) {
  return field / 2 * n + i;
}

/* The two other fields that the kernel needs lie beside each other. */
static int64_t place_pairs(int64_t i, int field, int64_t n) {
  if (field == FIELD_R) return 2 * i;
  if (field == FIELD_DINV) return 2 * i + 1;
  return field * n + i + (field < FIELD_R ? 2 * n : field < FIELD_DINV ? n : 0);
}

static int64_t place_all_in_reverse(int64_t i, int field, int64_t n) {
  return FIELDS * n - 1 - (field * n + i);
}

static void check_places(void) {
  exercise_form_t form = {placed, placed, 1, NULL};
  static const struct {
    int64_t (*place)(int64_t i, int field, int64_t n);
    bool solved;
    const char *part;
  } cases[] = {
      {place_outside, false, "wrong result: place(0, 7, 1) is 8, outside of 0 to 7"},
      {place_twice, false, "wrong result: place(0, 1, 1) is 0, as of another field"},
      {place_pairs, true, "solved: 32 bytes per cell"},
      {place_all_in_reverse, true, "solved: 32 bytes per cell"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    form.place = place = cases[c].place;
    check_form(2, &form, cases[c].solved, cases[c].part);
  }
}

/* ---- exercise 4: numbers of sums ---- */

static int n_sums;

KERNEL(several_sums) {
  double sum[64] = {0.0}, all = 0.0;
  int64_t k = 0;
  (void)pass;
  for (int64_t i = first; i < last; i += step)
    sum[k++ % n_sums] += LOAD(d->at[0], i);
  for (int s = 0; s < n_sums; s++)
    all += sum[s];
  return all;
}

KERNEL(first_twice) {
  return several_sums(d, pass, first, last, step) + (first == 0 ? LOAD(d->at[0], 0) : 0.0);
}

static void check_sums(void) {
  static const int counts[] = {1, 2, 4, 7, 8, 12, 32, 64};
  const exercise_form_t form = {several_sums, several_sums, 1, NULL},
                        twice = {first_twice, first_twice, 1, NULL};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
    char part[64];
    n_sums = counts[c];
    snprintf(part, sizeof part, ": %d independent sum%s", n_sums, n_sums == 1 ? "" : "s");
    check_form(4, &form, n_sums >= 8, part);
  }
  check_form(4, &twice, false, "wrong result: the sum is");
}

/* ---- exercise 5: one pass ---- */

static double relaxed(double low, double center, double high, double f) {
  return center + 0.25 * (f - (2.0 * center - low - high));
}

/* Steps into the boundary values. */
KERNEL(moves_boundary) {
  double *y = d->at[0], *x = d->at[2], *f = d->at[3];
  (void)pass;
  for (int64_t i = first; i < last; i += step) {
    double t[3];
    for (int o = 0; o < 3; o++)
      t[o] = relaxed(LOAD(x, i + o - 2), LOAD(x, i + o - 1), LOAD(x, i + o), LOAD(f, i + o - 1));
    STORE(y, i, relaxed(t[0], t[1], t[2], LOAD(f, i)));
  }
  return 0.0;
}

/* Right with one thread: reads what other threads have not written yet. */
KERNEL(needs_others) {
  double *y = d->at[0], *t = d->at[1], *x = d->at[2], *f = d->at[3];
  (void)pass;
  for (int64_t i = first; i < last; i += step)
    STORE(t, i, relaxed(LOAD(x, i - 1), LOAD(x, i), LOAD(x, i + 1), LOAD(f, i)));
  for (int64_t i = first; i < last; i += step)
    STORE(y, i, relaxed(LOAD(t, i - 1), LOAD(t, i), LOAD(t, i + 1), LOAD(f, i)));
  return 0.0;
}

static void check_passes(void) {
  const exercise_form_t boundary = {moves_boundary, moves_boundary, 1, NULL},
                        others = {needs_others, needs_others, 1, NULL};
  check_form(5, &boundary, false, "wrong result: y[0] is nan, should be");
  check_form(5, &others, false, "3 threads, step 1)");
}

int main(void) {
  check_delivered();
  check_mistakes();
  check_places();
  check_sums();
  check_passes();
  return TEST_RESULT();
}
