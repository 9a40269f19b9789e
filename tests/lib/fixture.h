/* Test fixture: builds hierarchies from options on a named backend and moves dense fields in and
 * out.
 *
 * A dense field is an array of the cells of a level, i fastest, identical on every rank. Cells
 * travel through the backend's own copy, so tests of operations never touch level memory. Tests run
 * on any number of ranks; every function here is collective over the world.
 *
 * FIXTURE_BACKEND restricts fixture_each to one backend. FIXTURE_OPTIONS adds options to every
 * case. */
#ifndef MG_TEST_FIXTURE_H
#define MG_TEST_FIXTURE_H

#include "level/level.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/cells.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"

/** Placement of the levels, as options. `name` is NULL after the last entry. */
typedef struct {
  const char *name;
  const char *options;
} fixture_backend_t;

/** Every compiled backend, alone and combined with coarse levels on the CPU. fixture_begin
 *  removes the entries that have no device. */
extern fixture_backend_t fixture_backends[];

/** Create a hierarchy that is set up and ready to solve. Ends the test on failure. Loads the files
 *  of --coefficients and --rhs.
 *  @param log2_box_dim  boxes have 2^log2_box_dim cells per side
 *  @param boxes  boxes per side of the domain
 *  @param options  further options, separated by blanks ("--operator=fv4 --boundary=periodic"), and
 *      words that are no options. walls=KKKKKK: kinds of the low and high side in i, j and
 *      k, each `d` (Dirichlet, the default) or `n` (Neumann). boxes=3x2x5: boxes in i, j and k;
 *      `boxes` is ignored, and boxes may be smaller than options accept. With --cells, both numbers
 *      are ignored. wide=i, wide=jk etc.: the domain is four times as long there. residuals,
 *      interpolations: fused sweeps also compute residuals, or interpolate their input, on levels
 *      of any size. passes: a CPU's passes compute ghosts on levels of any size. alpha: a random
 *      alpha of 0.5 to 2.5
 *  @return free with mg_hierarchy_free */
mg_hierarchy_t *fixture_create(const fixture_backend_t *backend, int log2_box_dim, int boxes,
                               const char *options);

/** Like fixture_create, for an equation with variable alpha. `alpha` is a dense field. */
mg_hierarchy_t *fixture_create_varying(const fixture_backend_t *backend, int log2_box_dim,
                                       int boxes, const char *options, const double *alpha);

/** Like fixture_create, with the source's coefficients and right-hand side. */
mg_hierarchy_t *fixture_create_from(const fixture_backend_t *backend, int log2_box_dim, int boxes,
                                    const char *options, const mg_problem_source_t *source);

/** Solve the problem on the finest level.
 *  @return valid until the next call */
const mg_history_t *fixture_solve(mg_hierarchy_t *h);

/** End the whole test if a call that must succeed fails. */
#define MUST(call) fixture_must((call), __FILE__, __LINE__, #call)
void fixture_must(mg_status_t status, const char *file, int line, const char *what);

/** Set the number of threads for all later operations. No effect without OpenMP.
 *  @return false without OpenMP if n > 1 */
bool fixture_threads(int n);

/** Allocate n zeros. Ends the test if out of memory. */
double *field_new(int64_t n);

/** Free all fields that the fixture has allocated. fixture_each does so after each
 * case, fixture_finalize at the end; tests that loop over cases themselves may call it in between.
 */
void fixture_release(void);

/** A new field of this value. */
double *field_constant(int64_t n, double value);

/** A new field of random values of full precision in [-1, 1), or of random integers in [-range,
 *  range]. Values depend only on the cell and the seed. */
double *field_random(int64_t n, uint64_t seed);
double *field_integers(int64_t n, uint64_t seed, int range);

/** Fill with the product of three tables of n[0], n[1] and n[2] values. */
void field_product(double *x, const int32_t n[3], const double *fi, const double *fj,
                   const double *fk);

/** Child c of a coarse cell in a field of n[0] x n[1] x n[2] cells, and the mean of its 8
 * children. */
double field_child(const double *x, const int32_t n[3], const int32_t at[3], int c);
double field_mean8(const double *x, const int32_t n[3], const int32_t at[3]);

/** Copy a dense field into the cells of a level vector, or these into a new field. Ghosts are not
 *  touched. */
void field_put(const mg_level_t *level, mg_vector_t vec, const double *x);
double *field_get(const mg_level_t *level, mg_vector_t vec);

/** Copy one local patch with `rim` ghost layers into a new dense array, and back. The closing faces
 * of a face vector lie in the ghost layers. */
double *patch_get(const mg_level_t *level, int patch, mg_vector_t vec, int rim);
void patch_put(const mg_level_t *level, int patch, mg_vector_t vec, int rim, const double *x);

/** Hash of the bits of all cells; -0 counts as 0. */
uint64_t field_hash(const double *x, int64_t n);

/** The larger value, or NaN if either is NaN. */
static inline double worst_of(double worst, double x) {
  return isnan(worst) || x <= worst ? worst : x;
}

/** max |x|, and max |x - y|; NaN if any value is NaN. */
double field_norm(const double *x, int64_t n);
double field_distance(const double *x, const double *y, int64_t n);

/** Correct and smooth level l, as an ascent does.
 *  @return max |f - A u| of the result, by the last sweep where it can compute it */
double ascent_norm(mg_hierarchy_t *h, int l, mg_interpolation_t kind);

/** Dot product in long double: the error of the summation is far below that of its terms. */
double field_dot(const double *x, const double *y, int64_t n);

/** Options of fixture_each with levels that may be resident: 16^3 to 64^3 cells of "2x1"; and
 * larger ones, of the 7-point operators on a GPU. */
#define FIXTURE_RESIDENT_CASES                                                                     \
  "boxes=4x4x4 --smoother=gsrb,chebyshev,jacobi --smooths=1,3",                                    \
      "boxes=5x5x5 --smoother=gsrb,chebyshev",                                                     \
      "boxes=6x6x6 --smoother=gsrb --omega=1.15 --smooths=2",                                      \
      "boxes=8x8x8 --smoother=gsrb,jacobi", "boxes=10x10x10 --smoother=gsrb,chebyshev",            \
      "boxes=12x12x12 --smoother=gsrb,chebyshev",                                                  \
      "boxes=16x16x16 --smoother=gsrb,chebyshev,jacobi", "boxes=16x8x12 --smoother=gsrb,chebyshev"
#define FIXTURE_LARGE_RESIDENT_CASES                                                               \
  "boxes=18x18x18 --smoother=gsrb", "boxes=20x20x20 --smoother=gsrb,chebyshev --smooths=1,3",      \
      "boxes=16x32x12 --smoother=gsrb --omega=1.15"

/** Whether a backend runs case `n` of a test that loops over fixture_backends. On several ranks,
 *  one guard runs each case. */
bool fixture_runs(const fixture_backend_t *backend, int n);

/** Whether fixture_each also runs on the guard. It is slow, and its results are the CPU's
 *  (parity_solve). */
extern bool fixture_guard;

/** Run `test` on a hierarchy of each combination of options, for every grid on every backend.
 *  @param grids  "4x1 5x2": one box of 2^4 cells per side, then two boxes of 2^5 per side
 *  @param options  as for fixture_create; of values separated by commas, each is used.
 *      All operators, boundaries and equations unless given, but only gsrb as the smoother.
 *      With three lists or more, the guard, and the CPU on several ranks or with sanitizers, run
 *      half of the combinations. These still have each pair of values of two lists. */
void fixture_each(const char *grids, const char *options, void (*test)(mg_hierarchy_t *h));

/** fixture_each on grids large enough for fused sweeps whose next level does not have half their
 *  cells in each direction: odd numbers of cells, between walls or beside a period; cells that are
 *  wide in i, in j or in k; a stretched axis. Boundaries are given. */
void fixture_each_any_size(const char *options, void (*test)(mg_hierarchy_t *h));

/** Call `run` for each backend that fuses sweeps: the guard, then a CUDA device if there is one; or
 *  only for the backend that FIXTURE_BACKEND names. fixture_each uses that backend meanwhile. */
void fixture_each_fusing(void (*run)(const char *backend));

/** CHECK that reports the current case of fixture_each and both numbers. */
#define CHECK_CASE(ok, got, want)                                                                  \
  ((void)fixture_check((ok), (got), (want), __FILE__, __LINE__, #ok))
#define fixture_check(ok, got, want, file, line, what)                                             \
  (test_count((ok), (file), (line), (what)) || fixture_explain((got), (want)))
bool fixture_explain(double got, double want);

/** CHECK_CASE that two fields are equal. */
#define CHECK_SAME(x, y, n)                                                                        \
  CHECK_CASE(field_distance((x), (y), (n)) == 0.0, field_distance((x), (y), (n)), 0.0)

void fixture_begin(int *argc, char ***argv);
void fixture_finalize(void);

/** Finalize MPI. @return the exit code of main */
#define FIXTURE_END()     (fixture_finalize(), TEST_RESULT())
#define FIXTURE_SKIP(why) (fixture_finalize(), test_skip(why))

#endif
