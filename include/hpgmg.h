/* libhpgmg: geometric multigrid for a alpha u - b div(beta grad u) = f on structured grids.
 *
 * docs/algorithm.md defines the equation, the operators and the walls; docs/library.md has an
 * example. All functions but hpgmg_version, hpgmg_status_text, hpgmg_boxes, hpgmg_storage,
 * hpgmg_memory and hpgmg_error are collective over the communicator of the solver: every rank calls
 * them in the same order. No function prints, ends the program, or changes signal handlers.
 *
 * There may be several solvers. A solver is for one thread at a time, outside of OpenMP's parallel
 * regions. Different threads may use different solvers at the same time; those on a GPU take turns,
 * on the same GPU, which each call makes the current device of its thread. With several ranks,
 * threads need MPI_THREAD_MULTIPLE, and all calls that create, destroy or use a GPU have the same
 * order on each rank. To create or destroy a solver, the thread must be one that may call MPI.
 *
 * A rank on which a call fails with HPGMG_NO_MEMORY or HPGMG_FAILED returns, but others may wait
 * for it: call MPI_Abort.
 *
 * Results are bit-identical for any ranks, boxes and threads, on CPUs and GPUs. */
#ifndef HPGMG_H
#define HPGMG_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HPGMG_API __attribute__((visibility("default")))
#else
#define HPGMG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HPGMG_VERSION_MAJOR 0
#define HPGMG_VERSION_MINOR 1

/** Result of a call, the same on every rank. */
typedef enum {
  HPGMG_OK = 0,
  HPGMG_NOT_CONVERGED, /**< hpgmg_solve: see the reason */
  HPGMG_BAD_ARGUMENT,  /**< an argument or an option has a value that it may not have */
  HPGMG_UNAVAILABLE,   /**< this build or machine lacks the requested device or transport */
  HPGMG_NO_MEMORY,     /**< of the host or the device */
  HPGMG_FAILED         /**< a device, MPI or the library itself failed; only destroy the solver */
} hpgmg_status_t;

/** Why a solve ended. */
typedef enum {
  HPGMG_CYCLES_DONE = 0, /**< the cycles of the options were done, or one if the words have the size
                              of a cube and no --rtol */
  HPGMG_CONVERGED,  /**< the relative residual is below --rtol; with a guess, perhaps at once */
  HPGMG_MAX_CYCLES, /**< --max-cycles were done before */
  HPGMG_DIVERGED,   /**< the residual grew, or is infinite or NaN */
  HPGMG_STAGNATED   /**< the residual no longer falls: --rtol is below round-off */
} hpgmg_reason_t;

/** What a solve did; the same on every rank. */
typedef struct {
  hpgmg_reason_t reason;
  int cycles;
  double residual; /**< max|f - A u| of u after the last cycle, computed anew with --krylov;
                      times the volume of a cell by the mean one. f is without its mean if u is
                      determined only up to a constant, and holds the values of conditions */
  double relative; /**< residual / max|f - A c|, or the residual if f = 0. The constant c is
                      the least, the middle or the greatest u on the sides, by Dirichlet's values
                      and Robin's values / (factor of u), whichever gives the smallest norm; 0 if
                      no side has a value. If f - A c is round-off: / max|f| */
} hpgmg_info_t;

/** Cells lo .. lo + n - 1 of the grid, in i, j and k. */
typedef struct {
  int32_t lo[3], n[3];
} hpgmg_box_t;

/** Doubles, one per cell or face of a box; NULL if the box is empty.
 *
 *  Element (i, j, k), counted from the first one of the box, is data[i stride[0] + j stride[1] +
 *  k stride[2]]; with strides of 0 an input has one value. In host memory, or in the memory of the
 *  solver's GPU: the library finds out which. */
typedef struct {
  double *data;
  ptrdiff_t stride[3];
  int32_t n[3]; /**< values in i, j and k, which must be those of the box; all 0: not stated */
} hpgmg_array_t;

/** beta and alpha: one array for each box of this rank, in the order of the options.
 *
 *  An array of faces normal to a direction has one more element in that direction than the box has
 *  cells: element 0 is the lower face of the first cell. On a face that two boxes share, the value
 *  of the box above it is used. On a periodic axis the last face of the grid is its first one, and
 *  its value is not used.
 *
 *  With cell_beta, a face has the harmonic mean of its two cells, weighted by their widths, and a
 *  face on a side of the grid the value of its cell.
 *
 *  With --operator=7pt a beta of 0 closes a face, and mask closes all faces of a solid cell. A cell
 *  without an open face, to another cell or on a Dirichlet side, is outside of the problem:
 *  hpgmg_solve does not change its u, and its f and alpha are not used. Each set of cells that open
 *  faces connect is singular by itself if it has neither alpha nor a given cell nor an open face on
 * a Dirichlet or Robin side: then the mean of f is removed in it, and u gets the mean of --mean.
 *
 *  If u is determined only up to a constant, the ratio of two betas above 0 may be at most 1e20:
 *  beyond, round-off of the mean of f grows to a large u behind such faces. */
typedef struct {
  const hpgmg_array_t *beta[3];   /**< on the faces normal to i, j and k, >= 0 (7pt) or > 0 */
  const hpgmg_array_t *alpha;     /**< in cells, >= 0; only and always with varying_alpha */
  const hpgmg_array_t *cell_beta; /**< in cells, >= 0 (7pt) or > 0; instead of beta */
  const hpgmg_array_t *mask; /**< in cells, 7pt: 0 solid, 1 solved, 2 given: hpgmg_solve takes u
                                  of these cells from its u. NULL: all are solved */
} hpgmg_coefficients_t;

/** Values of the conditions on the sides of the grid, low and high, normal to i, j and k, as
 *  --boundary takes them: u, flux, or Robin's value.
 *
 *  One array for each box of this rank, with one element in the direction normal to the side; only
 *  boxes at the side need it. NULL on all ranks: the side keeps its value, which is that of the
 *  words until hpgmg_set_sides has replaced it. */
typedef struct {
  const hpgmg_array_t *values[3][2];
} hpgmg_sides_t;

typedef struct hpgmg_solver hpgmg_solver_t;

/** Takes a message: one line, without line break. It ends with the rank if several ranks may
 *  report it. The library calls the function at the end of the call that has the message. The
 *  function must not call the library, and must return: no longjmp, no C++ exception. */
typedef void (*hpgmg_log_t)(void *data, const char *text);

/** Allocates memory for cells of levels: on the host, or with gpu = 1 on the current GPU, where any
 *  stream may use it at once. Neither this function nor the one below may call the library, and
 *  both must return: a longjmp or a C++ exception leaves the library locked.
 *  @return multiple of 256 bytes; NULL: there is no memory */
typedef void *(*hpgmg_allocate_t)(void *data, size_t bytes, int gpu);

/** Takes such memory back, when no work on the GPU uses it any more. Not called after a failure of
 *  a GPU or of MPI, or of another rank's memory. */
typedef void (*hpgmg_release_t)(void *data, void *memory, size_t bytes, int gpu);

/** Arguments of hpgmg_create; start from hpgmg_options(). */
typedef struct {
  size_t size;              /**< sizeof(hpgmg_options_t) */
  int32_t cells[3];         /**< cells of the grid in i, j and k; all 0: the words have the size */
  const double *faces[3];   /**< positions of the cells[d] + 1 faces of each axis, increasing, for
                                 cells of any widths; all three, the same on every rank, and without
                                 --lengths, --spacing and --stretch. NULL: equal widths. Copied */
  int32_t n_boxes;          /**< of this rank; 0: none, or on one rank the whole grid */
  const hpgmg_box_t *boxes; /**< The boxes of all ranks are disjoint and cover the grid. Copied */
  const char *words;        /**< options as on the command line of hpgmg-fv, separated by blanks:
                                 "--operator=7pt --lengths=1,1,4 --boundary=neumann --rtol=1e-10". The
                                 last of two equal options counts. Options of files and of the
                                 benchmark are refused, and those that contradict members of this
                                 struct. NULL: none */
  int varying_alpha;        /**< alpha is an array */
  int guess;                /**< hpgmg_solve starts from the values of u, with V-cycles */
  int32_t cycles;           /**< > 0: hpgmg_solve does this number of cycles, for any residual; not
                                 with --krylov or a smaller --max-cycles. 0: cycles until --rtol */
  const void *comm;      /**< const MPI_Comm *, duplicated; any level of thread support. NULL: this
                              process alone, without any call of MPI. If MPI is not initialized, the
                              library does it */
  const int32_t *comm_f; /**< a communicator of Fortran, instead of comm */
  void *stream;    /**< cudaStream_t: arrays in GPU memory are used after the work enqueued on it.
                        NULL: the default stream */
  hpgmg_log_t log; /**< gets errors and warnings; with --quiet no warnings, with --verbose more.
                      NULL: none */
  void *log_data;
  hpgmg_allocate_t allocate; /**< for most of the memory: that of levels, without messages, and not
                                  with --memory=unified; the library does not ask then whether it
                                  fits. NULL: the library allocates */
  hpgmg_release_t release;   /**< with allocate only */
  void *memory_data;
} hpgmg_options_t;

/** Defaults: fv2, Poisson's equation, Dirichlet walls, GSRB; an F-cycle, then V-cycles to
 *  --rtol=1e-8; one process. */
static inline hpgmg_options_t hpgmg_options(void) {
  hpgmg_options_t o = {sizeof(hpgmg_options_t),
                       {0, 0, 0},
                       {NULL, NULL, NULL},
                       0,
                       NULL,
                       NULL,
                       0,
                       0,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL};
  return o;
}

/** "MAJOR.MINOR.PATCH" of the library. */
HPGMG_API const char *hpgmg_version(void);

/** @return static string, never NULL */
HPGMG_API const char *hpgmg_status_text(hpgmg_status_t status);

/** Plan and allocate the levels; beta is 1, and alpha too. With the word --dry-run, only plan: then
 *  hpgmg_memory returns the bytes that the levels need, and the solver cannot solve.
 *  @param[out] solver  to be destroyed, also after an error, which hpgmg_error explains; NULL if
 *                      there is no memory for it, or no options
 *  @return HPGMG_OK, HPGMG_BAD_ARGUMENT, HPGMG_UNAVAILABLE, HPGMG_NO_MEMORY, HPGMG_FAILED */
HPGMG_API hpgmg_status_t hpgmg_create(const hpgmg_options_t *options, hpgmg_solver_t **solver);

/** Replace beta and alpha, and set up the levels.
 *
 *  The values are copied. After HPGMG_BAD_ARGUMENT the solver is as before.
 *  @return HPGMG_OK, HPGMG_BAD_ARGUMENT (values too, by name and place), HPGMG_NO_MEMORY,
 *          HPGMG_FAILED */
HPGMG_API hpgmg_status_t hpgmg_set_coefficients(hpgmg_solver_t *solver,
                                                const hpgmg_coefficients_t *coefficients);

/** Replace the values of conditions, for solves from now on. They are copied, and the levels stay
 *  set up. Not with fv4, nor with a cube of boxes.
 *  @return HPGMG_OK, HPGMG_BAD_ARGUMENT (values too; then all are as before), HPGMG_NO_MEMORY,
 *          HPGMG_FAILED */
HPGMG_API hpgmg_status_t hpgmg_set_sides(hpgmg_solver_t *solver, const hpgmg_sides_t *sides);

/** Solve A u = f.
 *
 *  A call returns when it has finished, with one exception: with options.cycles, f and u in GPU
 *  memory and info = NULL, it only enqueues its work, after that of options.stream; later work on
 *  this stream then waits for u, and values of f are not checked. So it can be captured in a CUDA
 *  graph, which is valid until coefficients or values of sides change or the solver is destroyed.
 *  This needs all levels on GPUs (--cpu-below=0), no closed faces and, on several ranks, boxes of
 *  hpgmg_boxes, messages that need no host (NCCL, or direct stores) and an A that is not singular;
 * captures need one rank. Else the call returns when it has finished, or fails if the stream is
 * being captured. During the capture, and while the graph runs, no other call of the library may
 * use the GPU. Calls with the same solver wait for options.stream.
 *  @param[in]  f     in cells, an array for each box of this rank: averages of fv2 and fv4, values
 *                    at centers of 7pt; not changed
 *  @param[out] u     in cells, an array for each box. Ghosts around a box are not written. Also the
 *                    guess, if the options say so
 *  @param[out] info  may be NULL
 *  @return HPGMG_OK, HPGMG_NOT_CONVERGED (u is that of the last cycle), HPGMG_BAD_ARGUMENT,
 *          HPGMG_NO_MEMORY, HPGMG_FAILED */
HPGMG_API hpgmg_status_t hpgmg_solve(hpgmg_solver_t *solver, const hpgmg_array_t *f,
                                     const hpgmg_array_t *u, hpgmg_info_t *info);

/** The boxes into which the solver itself divides the grid. With them, arrays need no messages
 *  between ranks. A first solver with --dry-run tells them if --agglomerate-below is given, which
 *  is measured otherwise. Not collective.
 *  @param[out] boxes  of this rank, up to `max`
 *  @return number of this rank's boxes; 0 if there is no plan */
HPGMG_API int32_t hpgmg_boxes(const hpgmg_solver_t *solver, hpgmg_box_t *boxes, int32_t max);

/** Arrays of the solver's own memory, which hpgmg_solve uses without a copy, one or both. They are
 *  valid until the solver is destroyed: after this call, new coefficients no longer choose
 *  smoother, cycles and the directions in which levels are coarsened. A solve may change this f,
 *  and all other calls may change both. Not collective.
 *  @param[out] f, u  an array for each box of the options; data is NULL before the levels are set
 *                    up by hpgmg_set_coefficients or a first solve, and unless the box is one of
 *                    hpgmg_boxes, as the whole grid is on one rank with options.cells. Not written
 *                    if the solver was destroyed, or has no boxes */
HPGMG_API void hpgmg_storage(const hpgmg_solver_t *solver, hpgmg_array_t *f, hpgmg_array_t *u);

/** Bytes that the levels of a solver take on this rank, on the host and on the GPU. Created with
 *  --dry-run: that they would take at most. But unless --agglomerate-below is given, ranks measure
 *  which of them hold small levels, and may take more; so may levels whose betas differ between
 *  directions by a factor of 2 and more. Arrays on their way take 8 MiB more, or a few planes of
 *  the grid (docs/library.md). Not collective.
 *  @param[out] bytes  [0]: host, [1]: GPU; 0 if there are no levels */
HPGMG_API void hpgmg_memory(const hpgmg_solver_t *solver, int64_t bytes[2]);

/** Smoother, cycle and solvers that a solver uses, as words, and with --method=auto the reason:
 *  "--smoother=gsrb --smooths=3 --bottom=direct --cycle=f --krylov=none; beta varies by a factor of
 *  1, at most 10; a regular grid". hpgmg_set_coefficients may change it. Not collective.
 *  @return valid until the next call with the solver, never NULL; "" without a solver */
HPGMG_API const char *hpgmg_method(const hpgmg_solver_t *solver);

/** What went wrong in the last call, on any rank; "" if nothing did. Calls with a solver that was
 *  destroyed return HPGMG_BAD_ARGUMENT.
 *  @return valid until the next call with the solver, never NULL */
HPGMG_API const char *hpgmg_error(const hpgmg_solver_t *solver);

/** Free the solver and set it to NULL; no effect if it is NULL. Before MPI_Finalize. */
HPGMG_API void hpgmg_destroy(hpgmg_solver_t **solver);

#ifdef __cplusplus
}
#endif
#endif
