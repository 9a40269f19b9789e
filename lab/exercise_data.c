#include "lab/exercise.h"
#include "lab/lab_cpu.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Small arrays are for one thread: starting others would take longer. */
enum { LINE = 8, SMALL = 1 << 14 };

const exercise_info_t exercise_info[EXERCISES] = {
    {.title = "fuse loops",
     .unit = "element",
     .arrays = 3,
     .array = {{"x", EXERCISE_OUTPUT, 0}, {"f", EXERCISE_INPUT, 0}, {"r", EXERCISE_SCRATCH, 0}},
     .result = EXERCISE_MAXIMUM,
     .arrays_per_size = 1,
     .bytes = 24.0},
    {.title = "layout of a structure",
     .unit = "cell",
     .arrays = FIELDS,
     .array = {{"u", EXERCISE_OUTPUT, 0},
               {"f", EXERCISE_INPUT, 0},
               {"r", EXERCISE_INPUT, 0},
               {"alpha", EXERCISE_INPUT, 0},
               {"beta_i", EXERCISE_INPUT, 0},
               {"beta_j", EXERCISE_INPUT, 0},
               {"beta_k", EXERCISE_INPUT, 0},
               {"dinv", EXERCISE_INPUT, 0}},
     .arrays_per_size = 2,
     .bytes = 32.0},
    {.title = "compute instead of load",
     .unit = "cell",
     .arrays = 7,
     .array = {{"before", EXERCISE_OUTPUT, 0},
               {"x", EXERCISE_INPUT, EXERCISE_KS},
               {"f", EXERCISE_INPUT, 0},
               {"dinv", EXERCISE_INPUT, 0},
               {"bi", EXERCISE_INPUT, EXERCISE_KS},
               {"bj", EXERCISE_INPUT, EXERCISE_KS},
               {"bk", EXERCISE_INPUT, EXERCISE_KS}},
     .arrays_per_size = 1,
     .bytes = 56.0},
    {.title = "independent sums",
     .unit = "element",
     .arrays = 1,
     .array = {{"x", EXERCISE_INPUT, 0}},
     .result = EXERCISE_SUM,
     .arrays_per_size = 1,
     .bytes = 8.0,
     .sums = 8},
    {.title = "temporal blocking",
     .unit = "cell",
     .arrays = 4,
     .array = {{"y", EXERCISE_OUTPUT, 0},
               {"t", EXERCISE_SCRATCH, 1},
               {"x", EXERCISE_INPUT, 2},
               {"f", EXERCISE_INPUT, 1}},
     .arrays_per_size = 1,
     .bytes = 24.0},
};

exercise_data_t exercise_shape(int number, int64_t bytes) {
  exercise_data_t d = {.n = bytes / 8 / exercise_info[number - 1].arrays_per_size, .spike = -1};
  for (d.js = LINE; (d.js + LINE) * (d.js + LINE) * (d.js + LINE) <= d.n;)
    d.js += LINE;
  d.ks = d.js * d.js;
  return d;
}

/* Exercise 2 has all arrays in one. */
static bool is_one_array(int number) {
  return number == 2;
}

int64_t exercise_elements(int number, const exercise_data_t *d) {
  return is_one_array(number) ? FIELDS * d->n : d->n;
}

int64_t exercise_ghosts(int number, const exercise_data_t *d, int a) {
  const int ghosts = exercise_info[number - 1].array[a].ghosts;
  return ghosts == EXERCISE_KS ? d->ks : ghosts;
}

/* The norm or sum that all threads return together. */
static double wanted_result(int number, const exercise_data_t *d) {
  double norm = 0.0, sum = 0.0;
  if (exercise_info[number - 1].result == EXERCISE_NO_RESULT) return 0.0;
#pragma omp parallel for reduction(max : norm) reduction(+ : sum) if (d->n > SMALL)
  for (int64_t i = 0; i < d->n; i++) {
    norm =
        fmax(norm, fabs(exercise_start(number, d, 1, i) - 0.5 * exercise_start(number, d, 0, i)));
    sum += exercise_start(number, d, 0, i);
  }
  return exercise_info[number - 1].result == EXERCISE_SUM ? sum : norm;
}

/* Arrays begin at different lines of a page: a store and a later load of another array would
 * otherwise alias in cores that compare 12 address bits. */
mg_status_t exercise_allocate(int number, exercise_memory_t *m) {
  const int arrays = is_one_array(number) ? 1 : exercise_info[number - 1].arrays;
  memset(m->room, 0, sizeof m->room);
  for (int a = 0; a < arrays; a++) {
    const int64_t around = (exercise_ghosts(number, &m->d, a) + LINE - 1) / LINE * LINE +
                           EXERCISE_GUARDS,
                  shift = 11 * LINE * a;
    m->length[a] = exercise_elements(number, &m->d) + 2 * around + shift;
    if (!(m->room[a] = lab_doubles(m->length[a]))) return MG_ERR_MEMORY;
    m->d.at[a] = m->room[a] + shift + around;
  }
  return MG_OK;
}

void exercise_free(exercise_memory_t *m) {
  for (int a = 0; a < EXERCISE_ARRAYS; a++)
    free(m->room[a]);
}

static double *element(const exercise_form_t *form, const exercise_memory_t *m, int a, int64_t i) {
  return form->place ? &m->d.at[0][form->place(i, a, m->d.n)] : &m->d.at[a][i];
}

/* Elements around an array and its ghosts. */
static void fill_guards(double *at, int64_t n) {
  for (int64_t g = 1; g <= EXERCISE_GUARDS; g++)
    at[-g] = at[n + g - 1] = NAN;
}

void exercise_fill(int number, const exercise_form_t *form, const exercise_memory_t *m) {
  const exercise_data_t *d = &m->d;
  for (int a = 0; a < exercise_info[number - 1].arrays; a++) {
    const int64_t ghosts = exercise_ghosts(number, d, a);
    if (!form->place || a == 0)
      fill_guards(d->at[a] - ghosts, exercise_elements(number, d) + 2 * ghosts);
#pragma omp parallel for if (d->n > SMALL)
    for (int64_t i = -ghosts; i < d->n + ghosts; i++)
      *element(form, m, a, i) = exercise_start(number, d, a, i);
  }
}

void exercise_wrong(int number, exercise_verdict_t *verdict, const char *format, ...) {
  va_list args;
  const int used =
      snprintf(verdict->text, sizeof verdict->text, "exercise %d: wrong result: ", number);
  va_start(args, format);
  vsnprintf(verdict->text + used, sizeof verdict->text - (size_t)used, format, args);
  va_end(args);
  verdict->right = verdict->solved = false;
}

/* The first wrong element of an array, or INT64_MAX. */
static int64_t find_wrong(int number, const exercise_form_t *form, const exercise_memory_t *m,
                          int a) {
  const exercise_data_t *d = &m->d;
  const int64_t ghosts = exercise_ghosts(number, d, a),
                around = form->place ? 0 : ghosts + EXERCISE_GUARDS;
  const bool is_scratch = exercise_info[number - 1].array[a].role == EXERCISE_SCRATCH;
  int64_t wrong = INT64_MAX;
#pragma omp parallel for reduction(min : wrong) if (d->n > SMALL)
  for (int64_t i = -around; i < d->n + around; i++) {
    if (i >= wrong || (is_scratch && i >= 0 && i < d->n)) continue;
    if (exercise_differs(*element(form, m, a, i), exercise_expected(number, d, a, ghosts, i)))
      wrong = i;
  }
  return wrong;
}

bool exercise_compare(int number, const exercise_form_t *form, const exercise_memory_t *m,
                      double result, const char *how, exercise_verdict_t *verdict) {
  const exercise_info_t *info = &exercise_info[number - 1];
  const exercise_data_t *d = &m->d;
  for (int a = 0; a < info->arrays; a++) {
    const int64_t i = find_wrong(number, form, m, a);
    if (i == INT64_MAX) continue;
    exercise_wrong(number, verdict, "%s[%" PRId64 "] is %.17g, should be %.17g (%s)",
                   info->array[a].name, i, *element(form, m, a, i),
                   exercise_expected(number, d, a, exercise_ghosts(number, d, a), i), how);
    return false;
  }
  for (int64_t g = 1; form->place && g <= EXERCISE_GUARDS; g++)
    if (!isnan(d->at[0][-g]) || !isnan(d->at[0][FIELDS * d->n + g - 1])) {
      exercise_wrong(number, verdict, "an element outside of the array was written (%s)", how);
      return false;
    }
  const double wanted = wanted_result(number, d);
  if (info->result == EXERCISE_NO_RESULT || result == wanted) return true;
  exercise_wrong(number, verdict, "the %s is %.17g, should be %.17g (%s)",
                 info->result == EXERCISE_SUM ? "sum" : "norm", result, wanted, how);
  return false;
}
