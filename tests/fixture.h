/* Hierarchies for tests: made from options on a named backend, filled and read as dense fields.
 *
 * A dense field is an array of dim^3 doubles, i fastest, the same on every rank. Cells travel
 * through the backend's own copy, so that a test of an operation never touches level memory. The
 * programs run on any number of ranks; everything here is collective over the world.
 *
 * FIXTURE_BACKEND names the only backend that fixture_each takes, FIXTURE_OPTIONS adds options to
 * every case. */
#ifndef MG_TEST_FIXTURE_H
#define MG_TEST_FIXTURE_H

#include "level/level.h"
#include "tests/random.h"
#include "tests/test.h"

/** Where levels live, as options; `name` is NULL after the last. */
typedef struct {
  const char *name;
  const char *options;
} fixture_backend_t;

/** Every backend that there is here, and each beside levels on the CPU; fixture_begin takes out
 * what has no device. */
extern fixture_backend_t fixture_backends[];

/** A set-up problem: boxes a side of 2^log2_box_dim cells a side, other options as one string
 *  with blanks between ("--operator=fv4 --boundary=periodic"). The files of --coefficients and
 * --rhs are loaded. Ends the test on failure.
 *  @return free with mg_hierarchy_free */
mg_hierarchy_t *fixture_create(const fixture_backend_t *backend, int log2_box_dim, int boxes,
                               const char *options);

/** The same for an equation whose alpha varies: `alpha` is a dense field. */
mg_hierarchy_t *fixture_create_varying(const fixture_backend_t *backend, int log2_box_dim,
                                       int boxes, const char *options, const double *alpha);

/** End the whole test when a call that must succeed does not. */
#define MUST(call) fixture_must((call), __FILE__, __LINE__, #call)
void fixture_must(mg_status_t status, const char *file, int line, const char *what);

/** Threads of the operations from here on; without OpenMP nothing happens.
 *  @return false when there is no OpenMP and n > 1 */
bool fixture_threads(int n);

/** A dense field of n^3 cells, zeroed; ends the test when there is no memory. */
double *field_new(int n);

/** Random values of full precision in [-1, 1); random integers in [-range, range]. They depend on
 *  the cell and the seed. */
void field_random(double *x, int n, uint64_t seed);
void field_integers(double *x, int n, uint64_t seed, int range);

/** A product of three tables of n values, one for each direction. */
void field_product(double *x, int n, const double *fi, const double *fj, const double *fk);

/** Cells of a dense field into a vector of the level and back; ghosts are left alone. */
void field_put(const mg_level_t *level, int vec, const double *x);
void field_get(const mg_level_t *level, int vec, double *x);

/** One patch of a vector of this rank with `rim` layers around it, dense: a copy that the caller
 *  frees, and back. A face vector's closing faces are in the rim. */
double *patch_get(const mg_level_t *level, int patch, int vec, int rim);
void patch_put(const mg_level_t *level, int patch, int vec, int rim, const double *x);

/** A number for the bits of all cells; -0 counts as 0. */
uint64_t field_hash(const double *x, int n);

/** The larger of the two, and NaN once either is. */
static inline double worst_of(double worst, double x) {
  return isnan(worst) || x <= worst ? worst : x;
}

/** max |x|, and max |x - y|; NaN when any is. */
double field_norm(const double *x, int n);
double field_distance(const double *x, const double *y, int n);

/** Sum of x y in long double, so that the error of the sum is far below that of its terms. */
double field_dot(const double *x, const double *y, int n);

/** A grid: boxes a side of 2^log2_box_dim cells a side. Lists end with {0, 0}. */
typedef struct {
  int log2_box_dim, boxes;
} fixture_grid_t;

/** Choices to combine, each a list of words with blanks between. NULL means all operators,
 *  boundaries and equations, and gsrb alone. */
typedef struct {
  const char *operators, *boundaries, *equations, *smoothers;
  const char *more; /**< further options of every case; NULL for none */
} fixture_choices_t;

/** Run `test` on a set-up hierarchy of each combination, every grid on every backend. */
void fixture_each(const fixture_grid_t *grids, fixture_choices_t choices,
                  void (*test)(mg_hierarchy_t *h));

/** CHECK that names the case of fixture_each and both numbers. */
#define CHECK_CASE(ok, got, want)                                                                  \
  ((void)fixture_check((ok), (got), (want), __FILE__, __LINE__, #ok))
#define fixture_check(ok, got, want, file, line, what)                                             \
  (test_count((ok), (file), (line), (what)) || fixture_explain((got), (want)))
bool fixture_explain(double got, double want);

void fixture_begin(int *argc, char ***argv);
void fixture_finalize(void);

/** Ends the program's use of message passing. @return the exit code of main */
#define FIXTURE_END() (fixture_finalize(), TEST_RESULT())

#endif
