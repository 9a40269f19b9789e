/* Exercises of the laboratory: lab/exercises/exercise_N.h, which a student edits, against
 * answer_N.h. Their data, the check of a result, and what a counted run moves. */
#ifndef LAB_EXERCISE_H
#define LAB_EXERCISE_H

#include "lab/lab.h"
#include <math.h>

enum { EXERCISES = 5, EXERCISE_ARRAYS = 8 };

/** Fields of a cell in exercise 2. */
enum {
  FIELD_U,
  FIELD_F,
  FIELD_R,
  FIELD_ALPHA,
  FIELD_BETA_I,
  FIELD_BETA_J,
  FIELD_BETA_K,
  FIELD_DINV,
  FIELDS
};

/** Arguments of an exercise. Exercise 2 has all its arrays, the fields, in at[0]. */
typedef struct {
  double *at[EXERCISE_ARRAYS]; /**< element 0 of each array; ghosts around it */
  int64_t n, js, ks;           /**< elements, and strides of exercise 3 */
  int64_t spike;               /**< element with an outstanding value, or -1; exercises 1 and 4 */
} exercise_data_t;

/** Elements first, first + step, ... below last, by one thread. Returns its share of a norm or sum.
 */
typedef double (*exercise_run_t)(const exercise_data_t *d, int pass, int64_t first, int64_t last,
                                 int64_t step);

/** One form of an exercise. */
typedef struct {
  exercise_run_t run, counted; /**< the same source with plain and with counted accesses */
  int passes;                  /**< calls by all threads, with a barrier between two */
  int64_t (*place)(int64_t i, int field, int64_t n); /**< exercise 2; NULL: one array per `at` */
} exercise_form_t;
extern const exercise_form_t exercise_yours[EXERCISES], exercise_answers[EXERCISES];

/** Role of an array. SCRATCH may have any values afterwards. */
typedef enum { EXERCISE_INPUT, EXERCISE_OUTPUT, EXERCISE_SCRATCH } exercise_role_t;

typedef enum { EXERCISE_NO_RESULT, EXERCISE_MAXIMUM, EXERCISE_SUM } exercise_result_t;

enum { EXERCISE_KS = -1 };

/** What an exercise works on, and its goals. */
typedef struct {
  const char *title, *unit;
  int arrays;
  struct {
    const char *name;
    exercise_role_t role;
    int ghosts; /**< elements that may be loaded on either side; EXERCISE_KS: ks */
  } array[EXERCISE_ARRAYS];
  exercise_result_t result; /**< what the kernel returns */
  int arrays_per_size;      /**< arrays that have lab_t.bytes together */
  double bytes;             /**< bytes per element that must be moved: the goal */
  int sums;                 /**< independent sums: the goal; 0: none */
} exercise_info_t;
extern const exercise_info_t exercise_info[EXERCISES];

/** Data of exercise 3: betas in quarters, so that their sums are exact in any order. */
MG_SHARED double exercise_beta(int64_t i, int direction) {
  return 1.0 + 0.25 * lab_small(i + 50 * direction);
}

MG_SHARED double exercise_diagonal(const exercise_data_t *d, int64_t i) {
  return 0.5 + exercise_beta(i, 0) + exercise_beta(i + 1, 0) + exercise_beta(i, 1) +
         exercise_beta(i + d->js, 1) + exercise_beta(i, 2) + exercise_beta(i + d->ks, 2);
}

/** Value of element i of array `a`, ghosts included, before the kernel runs. All are chosen such
 *  that arithmetic is exact, except for quotients. */
MG_SHARED double exercise_start(int number, const exercise_data_t *d, int a, int64_t i) {
  const double value = lab_value(i + 100 * a), spike = i == d->spike ? 4096.0 : 0.0;
  if (number == 1) return a == 1 ? value + spike : value;
  if (number == 3 && a == 3) return 1.0 / exercise_diagonal(d, i);
  if (number == 3 && a > 3) return exercise_beta(i, a - 4);
  if (number == 4) return value + spike;
  /* Boundary values of exercise 5 are also those of t. Values beyond them have no meaning. */
  if (number == 5 && a == 1 && (i == -1 || i == d->n)) return lab_value(i + 200);
  if (number == 5 && (i < -1 || i > d->n || (a == 3 && (i < 0 || i == d->n)))) return NAN;
  return value;
}

/** Exercise 5: a step at element i of x. */
MG_SHARED double exercise_relaxed(const exercise_data_t *d, int64_t i) {
  const double center = exercise_start(5, d, 2, i);
  if (i < 0 || i >= d->n) return center;
  const double neighbors = exercise_start(5, d, 2, i - 1) + exercise_start(5, d, 2, i + 1);
  return center + 0.25 * (exercise_start(5, d, 3, i) + neighbors - 2.0 * center);
}

MG_SHARED double exercise_change_3(const exercise_data_t *d, int64_t i) {
  const double c = exercise_start(3, d, 1, i);
  const int64_t to[3] = {1, d->js, d->ks};
  double flux = 0.0;
  for (int s = 0; s < 3; s++)
    flux += exercise_beta(i, s) * (exercise_start(3, d, 1, i - to[s]) - c) +
            exercise_beta(i + to[s], s) * (exercise_start(3, d, 1, i + to[s]) - c);
  return 1.0 / exercise_diagonal(d, i) * (exercise_start(3, d, 2, i) - (0.5 * c - flux));
}

/** Value of element i of array `a` afterwards, computed without the kernel. */
MG_SHARED double exercise_want(int number, const exercise_data_t *d, int a, int64_t i) {
  const double before = exercise_start(number, d, a, i);
  if (number == 1 && a == 0) return before + 0.25 * (exercise_start(1, d, 1, i) - 0.5 * before);
  if (number == 2 && a == FIELD_U)
    return before + exercise_start(2, d, FIELD_DINV, i) * exercise_start(2, d, FIELD_R, i);
  if (number == 3 && a == 0) {
    const double c = exercise_start(3, d, 1, i);
    return c + 0.25 * (c - before) + 0.5 * exercise_change_3(d, i);
  }
  if (number == 5 && a == 0) {
    const double c = exercise_relaxed(d, i);
    return c + 0.25 * (exercise_start(5, d, 3, i) + exercise_relaxed(d, i - 1) +
                       exercise_relaxed(d, i + 1) - 2.0 * c);
  }
  return before;
}

enum { EXERCISE_GUARDS = 64 };

/** Value of element i afterwards, ghosts and EXERCISE_GUARDS elements beyond them included. */
MG_SHARED double exercise_expected(int number, const exercise_data_t *d, int a, int64_t ghosts,
                                   int64_t i) {
  if (i < -ghosts || i >= d->n + ghosts) return NAN;
  return i < 0 || i >= d->n ? exercise_start(number, d, a, i) : exercise_want(number, d, a, i);
}

/** Is a value different? A NaN is right where a NaN is expected. */
MG_SHARED bool exercise_differs(double is, double expected) {
  return is != expected && !(is != is && expected != expected);
}

/** Join the results of two threads. */
MG_SHARED double exercise_join(exercise_result_t kind, double a, double b) {
  if (kind == EXERCISE_SUM) return a + b;
  return b > a || b != b ? b : a;
}

/** Shape of an exercise whose arrays have `bytes` each. */
exercise_data_t exercise_shape(int number, int64_t bytes);

/** Elements of one array in memory: of exercise 2 all fields. */
int64_t exercise_elements(int number, const exercise_data_t *d);
/** Ghosts of an array at each end. */
int64_t exercise_ghosts(int number, const exercise_data_t *d, int a);

/** Verdict on one form of an exercise. */
typedef struct {
  bool right, solved;
  double requested, moved; /**< bytes per element of all accesses, and beyond a cache of 16 KiB */
  char text[256];          /**< without a newline */
} exercise_verdict_t;

/** Check a form on small arrays on one CPU thread: results for several sizes and shares of threads,
 *  accesses outside of the arrays, and the counted goal. Time does not matter.
 *  @return MG_OK (also if not solved), MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t exercise_check(int number, const exercise_form_t *form,
                                         exercise_verdict_t *verdict);

/** Make a verdict of a wrong value. */
void exercise_wrong(int number, exercise_verdict_t *verdict, const char *format, ...)
    MG_PRINTF(3, 4);

/** Memory of an exercise on the host. */
typedef struct {
  exercise_data_t d;
  double *room[EXERCISE_ARRAYS];   /**< NULL from the first unused one on */
  int64_t length[EXERCISE_ARRAYS]; /**< doubles in each room */
} exercise_memory_t;

/** Allocate the arrays of m->d.
 *  @return MG_OK, MG_ERR_MEMORY; release with exercise_free in either case */
MG_MUST_CHECK mg_status_t exercise_allocate(int number, exercise_memory_t *m);
void exercise_free(exercise_memory_t *m);

/** Set all elements to their start, and those around them to NaN. */
void exercise_fill(int number, const exercise_form_t *form, const exercise_memory_t *m);

/** Compare all arrays and the result with the reference. False: the verdict names the first wrong
 *  value, and `how` it was computed. */
bool exercise_compare(int number, const exercise_form_t *form, const exercise_memory_t *m,
                      double result, const char *how, exercise_verdict_t *verdict);

/** Add the rows `yours` and `answer` with their times. If yours is wrong on many threads, it has no
 *  row, and *verdict changes. */
mg_status_t exercise_measure_cpu(lab_t *lab, exercise_verdict_t *verdict,
                                 exercise_verdict_t *answer);
mg_status_t exercise_measure_cuda(lab_t *lab, exercise_verdict_t *verdict,
                                  exercise_verdict_t *answer);

#endif
