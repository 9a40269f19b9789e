/* The check of an exercise on one CPU thread: results, accesses, and bytes moved.
 *
 * Counted accesses pass through `watch`, which finds those outside of the arrays. The counted
 * kernel gets decoys, arrays of NaN, and `watch` redirects its accesses to the real ones. An access
 * without LOAD or STORE therefore gives another result than the kernel with plain accesses.
 *
 * `watch` also models a cache: 256 lines of 64 bytes, of which the least recently used one is
 * replaced. A line is read from memory when it is loaded, and written to it when it leaves the
 * cache after a store. */
#include "base/log.h"
#include "lab/exercise.h"
#include "lab/lab_cpu.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, LINES = 256, COUNTED_ELEMENTS = 4096 };

typedef struct {
  uintptr_t number;
  bool is_dirty, is_ghost; /* ghosts are not counted */
} line_t;

static struct {
  int number; /* of the exercise */
  const exercise_data_t *decoy, *real;
  exercise_verdict_t *verdict;
  bool is_outside, is_uncounted;
  line_t line[LINES]; /* the most recently used one first */
  int n_lines;
  int64_t bytes;
} state;

static void write_back(const line_t *line) {
  if (line->is_dirty && !line->is_ghost) state.bytes += LINE_BYTES;
}

static void use_line(uintptr_t number, bool is_store, bool is_ghost) {
  line_t line = {number, false, is_ghost};
  int at = 0;
  while (at < state.n_lines && state.line[at].number != number)
    at++;
  if (at < state.n_lines) {
    line = state.line[at];
  } else {
    if (!is_store && !is_ghost) state.bytes += LINE_BYTES;
    if (state.n_lines < LINES)
      state.n_lines++;
    else
      write_back(&state.line[--at]);
  }
  line.is_dirty = line.is_dirty || is_store;
  memmove(&state.line[1], &state.line[0], (size_t)at * sizeof line);
  state.line[0] = line;
}

/* Record the first access outside of the arrays, and redirect all of them. */
static void *refuse(const char *what, const char *array, int64_t i) {
  static double nowhere;
  if (!state.is_outside)
    exercise_wrong(state.number, state.verdict, "the kernel %s %s[%" PRId64 "] (n = %" PRId64 ")",
                   what, array, i, state.decoy->n);
  state.is_outside = true;
  nowhere = NAN;
  return &nowhere;
}

static void *watch(const void *at, size_t bytes, bool is_store) {
  const exercise_info_t *info = &exercise_info[state.number - 1];
  const int64_t n = exercise_elements(state.number, state.decoy);
  const char *verb = is_store ? "writes" : "reads";
  for (int a = 0; a < EXERCISE_ARRAYS && state.decoy->at[a]; a++) {
    const int64_t ghosts = exercise_ghosts(state.number, state.decoy, a),
                  i = ((int64_t)((uintptr_t)at - (uintptr_t)state.decoy->at[a])) /
                      (int64_t)sizeof(double);
    const bool is_ghost = i < 0 || i >= n;
    const char *name = n == state.decoy->n ? info->array[a].name : "cell";
    if (i < -ghosts - EXERCISE_GUARDS || i >= n + ghosts + EXERCISE_GUARDS) continue;
    if (i < -ghosts || i >= n + ghosts || bytes != sizeof(double) || (is_store && is_ghost))
      return refuse(verb, name, i);
    if (is_store && info->array[a].role == EXERCISE_INPUT)
      return refuse("writes the input", name, i);
    use_line((uintptr_t)at / LINE_BYTES, is_store, is_ghost);
    return state.real->at[a] + i;
  }
  return refuse(verb, "an address outside of all arrays, such as array", n);
}

/* Threads of a run, in an order in which none may rely on the work of another. */
typedef struct {
  int threads;
  bool is_strided; /* as on a GPU */
} split_t;

static double run_split(int number, const exercise_form_t *form, exercise_run_t run,
                        const exercise_data_t *d, split_t s) {
  double result = 0.0;
  for (int pass = 0; pass < form->passes; pass++)
    for (int t = 0; t < s.threads; t++) {
      const int64_t me = s.threads - 1 - t;
      const double part = s.is_strided
                              ? run(d, pass, t, d->n, s.threads)
                              : run(d, pass, d->n * me / s.threads, d->n * (me + 1) / s.threads, 1);
      result = exercise_join(exercise_info[number - 1].result, result, part);
    }
  return result;
}

/* Arrays of NaN. */
static mg_status_t allocate_decoy(int number, const exercise_data_t *d, exercise_memory_t *decoy) {
  *decoy = (exercise_memory_t){.d = {.n = d->n, .js = d->js, .ks = d->ks}};
  MG_TRY(exercise_allocate(number, decoy));
  for (int a = 0; a < EXERCISE_ARRAYS && decoy->room[a]; a++) {
    const int64_t around = exercise_ghosts(number, d, a) + EXERCISE_GUARDS;
    for (int64_t i = -around; i < exercise_elements(number, d) + around; i++)
      decoy->d.at[a][i] = NAN;
  }
  return MG_OK;
}

static double run_counted(int number, const exercise_form_t *form, const exercise_memory_t *decoy,
                          const exercise_memory_t *m, split_t s) {
  exercise_fill(number, form, m);
  state.decoy = &decoy->d;
  state.real = &m->d;
  lab_watch = watch;
  const double result = run_split(number, form, form->counted, &decoy->d, s);
  lab_watch = NULL;
  return result;
}

/* Both compilations of the kernel. The counted one comes first, because its accesses are redirected
 * if they are outside of the arrays. */
static bool is_right(int number, const exercise_form_t *form, const exercise_memory_t *decoy,
                     const exercise_memory_t *m, split_t s, exercise_verdict_t *verdict) {
  char how[96];
  snprintf(how, sizeof how, "n = %" PRId64 ", %d thread%s, step %d", m->d.n, s.threads,
           s.threads == 1 ? "" : "s", s.is_strided ? s.threads : 1);
  double result = run_counted(number, form, decoy, m, s);
  if (state.is_outside) return false;
  const bool counted_is_right = exercise_compare(number, form, m, result, how, verdict);
  exercise_fill(number, form, m);
  result = run_split(number, form, form->run, &m->d, s);
  if (!exercise_compare(number, form, m, result, how, verdict)) return false;
  state.is_uncounted = state.is_uncounted || !counted_is_right;
  verdict->right = true;
  return true;
}

/* No two fields may have the same place. */
static mg_status_t check_places(int number, const exercise_form_t *form, int64_t n,
                                exercise_verdict_t *verdict) {
  char *taken = calloc((size_t)(FIELDS * n), 1);
  if (!taken) return mg_error(MG_ERR_MEMORY, "no memory for %" PRId64 " places", FIELDS * n);
  for (int64_t i = 0; i < n && verdict->right; i++)
    for (int field = 0; field < FIELDS && verdict->right; field++) {
      const int64_t at = form->place(i, field, n);
      if (at < 0 || at >= FIELDS * n)
        exercise_wrong(number, verdict,
                       "place(%" PRId64 ", %d, %" PRId64 ") is %" PRId64
                       ", outside of 0 to %" PRId64,
                       i, field, n, at, FIELDS * n - 1);
      else if (taken[at]++)
        exercise_wrong(number, verdict,
                       "place(%" PRId64 ", %d, %" PRId64 ") is %" PRId64 ", as of another field", i,
                       field, n, at);
    }
  free(taken);
  return MG_OK;
}

/* A size with all splits; some also with an outstanding element at each place. */
static void check_runs(int number, const exercise_form_t *form, const exercise_memory_t *decoy,
                       exercise_memory_t *m, exercise_verdict_t *verdict) {
  static const split_t splits[] = {{1, false}, {3, false}, {5, true}, {64, true}};
  const int64_t n = m->d.n;
  const bool spikes = exercise_info[number - 1].result != EXERCISE_NO_RESULT && (n < 10 || n == 33);
  for (size_t s = 0; s < sizeof splits / sizeof splits[0]; s++)
    for (m->d.spike = -1; m->d.spike < (spikes ? n : 0); m->d.spike++)
      if (!is_right(number, form, decoy, m, splits[s], verdict)) return;
}

typedef void (*with_arrays_t)(int number, const exercise_form_t *form,
                              const exercise_memory_t *decoy, exercise_memory_t *m,
                              exercise_verdict_t *verdict);

/* Call `run` with arrays of a shape, and decoys. */
static mg_status_t with_arrays(int number, const exercise_form_t *form, exercise_data_t d,
                               with_arrays_t run, exercise_verdict_t *verdict) {
  exercise_memory_t m = {.d = d}, decoy = m;
  mg_status_t status = exercise_allocate(number, &m);
  if (status == MG_OK) status = allocate_decoy(number, &m.d, &decoy);
  if (status == MG_OK) run(number, form, &decoy, &m, verdict);
  exercise_free(&decoy);
  exercise_free(&m);
  return status;
}

/* Independent sums: a huge number absorbs what is added to it until its negative follows. With s
 * sums and both in the same one, that is one in s of the elements between them. */
static int count_sums(const exercise_form_t *form, const exercise_data_t *d) {
  const double huge = 0x1p70;
  double most = 0.0;
  for (int64_t end = d->n / 2; end < d->n; end++) {
    for (int64_t i = 0; i < d->n; i++)
      d->at[0][i] = i == 0 ? huge : i == end ? -huge : 1.0;
    const double lost = (double)(d->n - 2) - form->run(d, 0, 0, d->n, 1);
    most = fmax(most, (double)end / (lost + 1.0));
  }
  return (int)most;
}

static void judge(int number, exercise_verdict_t *v, int sums) {
  const exercise_info_t *info = &exercise_info[number - 1];
  if (state.is_uncounted || v->moved < info->bytes) {
    snprintf(v->text, sizeof v->text,
             "exercise %d: not solved yet: not every access is a LOAD or STORE, so bytes are not "
             "counted",
             number);
    return;
  }
  const bool is_fat = v->moved > info->bytes, shows_sums = info->sums > 0 && !is_fat;
  char is[64], goal[16];
  v->solved = !is_fat && sums >= info->sums;
  snprintf(goal, sizeof goal, "%.4g", shows_sums ? (double)info->sums : info->bytes);
  if (shows_sums)
    snprintf(is, sizeof is, "%d independent sum%s", sums, sums == 1 ? "" : "s");
  else
    snprintf(is, sizeof is, "%.4g bytes per %s", v->moved, info->unit);
  snprintf(v->text, sizeof v->text,
           v->solved ? "exercise %d: solved: %s (goal: %s)"
                     : "exercise %d: not solved yet: %s, the goal is %s",
           number, is, goal);
}

static void count(int number, const exercise_form_t *form, const exercise_memory_t *decoy,
                  exercise_memory_t *m, exercise_verdict_t *verdict) {
  state.n_lines = 0;
  state.bytes = lab_bytes_loaded = lab_bytes_stored = 0;
  (void)run_counted(number, form, decoy, m, (split_t){1, false});
  for (int l = 0; l < state.n_lines; l++)
    write_back(&state.line[l]);
  verdict->moved = (double)state.bytes / COUNTED_ELEMENTS;
  verdict->requested = (double)(lab_bytes_loaded + lab_bytes_stored) / COUNTED_ELEMENTS;
  m->d.n = 1024;
  judge(number, verdict, exercise_info[number - 1].sums > 0 ? count_sums(form, &m->d) : 0);
}

mg_status_t exercise_check(int number, const exercise_form_t *form, exercise_verdict_t *verdict) {
  static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 40, 100, 257};
  memset(verdict, 0, sizeof *verdict);
  memset(&state, 0, sizeof state);
  verdict->right = true;
  state.number = number;
  state.verdict = verdict;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && verdict->right; s++) {
    const exercise_data_t d = {.n = sizes[s], .js = 4, .ks = 12, .spike = -1};
    if (form->place) MG_TRY(check_places(number, form, d.n, verdict));
    if (verdict->right) MG_TRY(with_arrays(number, form, d, check_runs, verdict));
  }
  const exercise_data_t counted = {.n = COUNTED_ELEMENTS, .js = 16, .ks = 64, .spike = -1};
  return verdict->right ? with_arrays(number, form, counted, count, verdict) : MG_OK;
}
