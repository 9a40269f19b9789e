/* The seam: one table of whole-level operations per processor.
 *
 * Entries above the line are required; an optional entry may be NULL and ops.c then composes it
 * from required ones, and the composition is its test oracle. Every entry works on the patches of
 * one rank; none sends messages, prints, or knows about other levels. */
#ifndef MG_BACKEND_H
#define MG_BACKEND_H

#include "base/status.h"
#include "base/sum.h"
#include "formulas/view.h"
#include <stddef.h>

/** Where memory lies. */
typedef enum {
  MG_SPACE_LEVEL,   /**< only the backend's own operations may touch it */
  MG_SPACE_MANAGED, /**< the same, in memory that the driver could move but has no reason to */
  MG_SPACE_SHARED   /**< host code and the backend both may: message buffers, the crossing */
} mg_space_t;

/** Interpolation formulas, tensor products of one-dimensional ones. */
typedef enum {
  MG_INTERPOLATE_P0,
  MG_INTERPOLATE_P1,
  MG_INTERPOLATE_V2,
  MG_INTERPOLATE_V4
} mg_interpolation_t;

/** A part of the cells of a level: those of which no neighbour is a ghost that copies or messages
 * fill, and somewhat fewer; the rest. */
typedef enum { MG_REGION_INTERIOR, MG_REGION_BOUNDARY, MG_REGION_ALL } mg_region_t;

/** One-dimensional factors of separable set-up data; arrays of dim+1 and dim doubles. */
typedef struct {
  const double *beta_face;   /**< sin(2 pi x) at faces 0..dim */
  const double *beta_center; /**< sin(2 pi x) at cell centres */
  const double *f;           /**< right-hand side's factor at cell centres */
  const double *f_xx;        /**< its second derivative */
} mg_tables_t;

/** A list of copies between the patches of two views, or between one and a buffer in shared
 *  memory, which may be NULL when no item names it. */
typedef struct {
  const mg_view_t *src, *dst;
  double *buffer;
  const mg_copy_t *item;
  int n;
} mg_copy_job_t;

/** A list in the form that its backend runs; each backend has its own. */
typedef struct mg_copies mg_copies_t;

enum { MG_MAX_COARSE_CYCLE_LEVELS = 24 };

/** The coarsest levels of a hierarchy, each the halves of the one before it on this rank, and what
 *  a cycle over them needs. The coarsest level is the last. */
typedef struct {
  struct {
    const mg_view_t *view;
    const mg_step_t *step; /**< of one smooth */
    int n_steps;
  } level[MG_MAX_COARSE_CYCLE_LEVELS];
  int n_levels;
  mg_interpolation_t v, f; /**< of corrections, and of an F-cycle's solutions */
  mg_bottom_t bottom;
  int most;         /**< iterations of the bottom solver */
  double reduction; /**< of the residual's maximum norm that ends it */
} mg_coarse_cycle_job_t;

/** The same in the form that its backend runs. */
typedef struct mg_coarse_cycle mg_coarse_cycle_t;

/** Operations to be done again as they are. */
typedef struct mg_graph mg_graph_t;

typedef struct mg_backend {
  const char *name;

  /** Zeroed memory; `bytes` is kept by the caller for release.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*alloc)(size_t bytes, mg_space_t space, void **memory);
  void (*release)(void *memory, size_t bytes, mg_space_t space);

  /** Fill the face betas of every cell and of the faces that close the patch (index n), and f. */
  mg_status_t (*set_problem)(const mg_view_t *v, const mg_tables_t *tables);
  /** Vector `beta` (MG_BETA_I + d) of the fine patches onto vector `dst` of coarse patches, which
   *  are the halves of the fine ones one to one; faces 0..n in direction d. */
  mg_status_t (*restrict_faces)(const mg_view_t *fine, int d, const mg_view_t *coarse, int dst);
  /** fv4: betas one layer outside the walls, tangentially. */
  mg_status_t (*extend_faces)(const mg_view_t *v);
  /** Fill MG_DINV; lambda_max is the local maximum of the Gershgorin bound of Dinv A.
   *  @param[in] l1  the l1-scaled diagonal instead; lambda_max is still that of Dinv A */
  mg_status_t (*set_diagonal)(const mg_view_t *v, bool l1, double *lambda_max);

  /** Fill the ghosts outside the walls, edges and corners as tensor products.
   *  @param[in] order  1, 2 or 4; falls back where boxes are narrower than the formula */
  mg_status_t (*boundary)(const mg_view_t *v, int vec, int order);

  /** One step from iterate x into vector dst with right-hand side MG_F. In place (x == dst) for
   *  GSRB of the 7-point operators, else out of place; only Chebyshev looks at `previous`, the
   *  iterate before x, which is dst. Either is < 0 where it is zero and in no vector: the first
   *  smooth on a coarse level neither fills its guess nor reads it. Halo ghosts of x must be valid;
   *  the backend sees to the walls itself, and may write the ghosts of x. */
  mg_status_t (*smooth)(const mg_view_t *v, int x, int previous, int dst, const mg_step_t *step);
  /** dst = f - A x; f < 0 means dst = A x. The ghosts of x as for smooth. */
  mg_status_t (*residual)(const mg_view_t *v, int dst, int x, int f);

  /** Mean of 8, fine patches onto their halves one to one. */
  mg_status_t (*restrict_cells)(const mg_view_t *fine, int src, const mg_view_t *coarse, int dst);
  /** fine dst = (add ? dst : 0) + P coarse src. All ghosts of src must be valid (none for P0). */
  mg_status_t (*interpolate)(const mg_view_t *coarse, int src, const mg_view_t *fine, int dst,
                             mg_interpolation_t kind, bool add);
  /** Make a list of cuboid copies ready for many runs.
   *
   *  @param[in] job   where the cells lie; the views must outlive the result, the list need not
   *  @param[out] out  what `copy` takes; free with release_copies
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*prepare_copies)(const mg_copy_job_t *job, mg_copies_t **out);
  void (*release_copies)(mg_copies_t *copies);
  /** Move the cuboids of a list from vector src to vector dst. */
  mg_status_t (*copy)(const mg_copies_t *copies, int src, int dst);

  /** dst = value, ghosts too. */
  mg_status_t (*fill)(const mg_view_t *v, int dst, double value);
  /** dst = x + value. */
  mg_status_t (*shift)(const mg_view_t *v, int dst, int x, double value);
  /** dst = alpha x + beta y; y < 0 for none. */
  mg_status_t (*axpby)(const mg_view_t *v, int dst, double alpha, int x, double beta, int y);
  /** dst = x y, cell by cell. */
  mg_status_t (*multiply)(const mg_view_t *v, int dst, int x, int y);

  /** max |x - y| over the cells here, y < 0 for none; NaN when any cell is not finite. */
  mg_status_t (*max_norm)(const mg_view_t *v, int x, int y, double *norm);
  /** Add sum x y over the cells here to `sum`, y < 0 for plain x; see sum.h for the order. */
  mg_status_t (*dot)(const mg_view_t *v, int x, int y, mg_sum_t *sum);

  /* ---- optional: NULL is composed by ops.c, or has nothing to do ---- */

  /** Return when everything that was asked for has been done. A backend whose entries only enqueue
   *  has it; whoever reads or writes shared memory from the host calls it first. */
  mg_status_t (*wait)(void);

  /** Note how far the device has to come, and wait until it is there while it goes on with what was
   *  asked for since. One mark at a time; both or neither. The wait fails, as `wait` does, where a
   *  message did not come. */
  mg_status_t (*event_record)(void);
  mg_status_t (*event_wait)(void);

  /** A second queue for entries that only enqueue, so that messages travel while other entries are
   * done. It begins where the first one has come: from `stream_fork` on entries go to it, after
   * `stream_switch` to the other one of the two, and after `stream_join` to the first again, which
   * goes on when both are done. All three or none. */
  mg_status_t (*stream_fork)(void);
  void (*stream_switch)(void);
  mg_status_t (*stream_join)(void);

  /** smooth on the inner cells, which reads no halo ghosts, and on the rim: together the same. The
   * two may be asked for in any order and in two queues, so that the inner cells are done while
   * messages travel. `sweep_overlaps` says on which levels that pays and may be asked for.
   *  @param[in] host  messages are carried by the host: they take no processors of a device */
  bool (*sweep_overlaps)(const mg_view_t *v, bool host);
  mg_status_t (*smooth_region)(const mg_view_t *v, int x, int previous, int dst,
                               const mg_step_t *step, mg_region_t part);

  /** Several steps of a 7-point smoother in one pass over memory, out of place: from x and
   * previous, either < 0 where it is zero or not looked at, into dst, and the iterate before that
   * one into `before` unless it is < 0. Neither dst nor before is x or previous. Outside the walls,
   * n layers of ghosts of x and n - 1 of previous, MG_F, MG_ALPHA and the betas must be valid.
   *  `can_fuse` says whether a level's steps can be dealt to passes of `most` or fewer that follow
   * each other, fused_sweeps_overlap what sweep_overlaps does, of passes of n steps (NULL:
   * MG_REGION_ALL is all there is). */
  bool (*can_fuse)(const mg_view_t *v, const mg_step_t *steps, int n, int most);
  bool (*fused_sweeps_overlap)(const mg_view_t *v, int n, bool host);
  mg_status_t (*smooth_fused)(const mg_view_t *v, int x, int previous, int dst, int before,
                              const mg_step_t *steps, int n, mg_region_t part);

  /** Stamps on the device's clock, for profiles: stamp notes the time at which all that was asked
   * for so far is done, without a wait; event_timers_elapsed is for two that have been waited for.
   * A backend that only enqueues has these four. */
  mg_status_t (*event_timers_create)(int n);
  void (*event_timers_free)(void);
  mg_status_t (*event_timer_record)(int number);
  mg_status_t (*event_timers_elapsed)(int first, int last, double *seconds);
  /** A name for what is asked for in between, in the eyes of a profiler; ranges nest. */
  void (*range_begin)(const char *name);
  void (*range_end)(void);

  /** Does `interpolate` of this kind make the ghosts outside walls by itself? Then `boundary` need
   *  not come before it. */
  bool (*folds_walls)(mg_interpolation_t kind);
  /** max |f - A x| without storing it. */
  mg_status_t (*residual_norm)(const mg_view_t *v, int x, int f, double *norm);
  /** coarse dst = mean of 8 of f - A x, without storing the residual. */
  mg_status_t (*residual_restrict)(const mg_view_t *fine, int x, int f, const mg_view_t *coarse,
                                   int dst);
  /** A whole Krylov solve of the coarsest level as in bottom.h, on levels that fit: where entries
   *  only enqueue, the composition would wait for the device at every scalar.
   *  @param[in] most       iterations at the most
   *  @param[in] reduction  of the residual's maximum norm that ends it */
  bool (*bottom_fits)(const mg_view_t *v, mg_bottom_t method);
  mg_status_t (*bottom)(const mg_view_t *v, mg_bottom_t method, bool zero_guess, int most,
                        double reduction);
  /** Cycles over the coarsest levels in one go, where separate operations would spend their time in
   *  starting. `coarse_cycle_create` gives NULL when the levels do not fit; the views must outlive
   * the result, the steps need not. `coarse_cycle_run` cycles from level `top` of the job down and
   * back: MG_CYCLE_F from its right-hand side alone, MG_CYCLE_V with a guess or from zero. */
  mg_status_t (*coarse_cycle_create)(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out);
  void (*coarse_cycle_free)(mg_coarse_cycle_t *coarse_cycle);
  mg_status_t (*coarse_cycle_run)(const mg_coarse_cycle_t *coarse_cycle, int top, mg_cycle_t cycle,
                                  bool zero_guess);
  /** Between `graph_begin` and `graph_end` entries that only enqueue are kept instead of done;
   *  `graph_launch` does them, with the same vectors and numbers, as often as wanted. */
  mg_status_t (*graph_begin)(void);
  mg_status_t (*graph_end)(mg_graph_t **out);
  mg_status_t (*graph_launch)(const mg_graph_t *recording);
  void (*graph_free)(mg_graph_t *recording);
} mg_backend_t;

/** The CPU: OpenMP over planes and rows, SIMD along i. */
extern const mg_backend_t mg_backend_cpu;

/** CUDA devices; there in builds with HAVE_CUDA. */
extern const mg_backend_t mg_backend_cuda;

/** The same devices with simple kernels and no optional operation: the oracle of the others. */
extern const mg_backend_t mg_backend_cuda_simple;

/** The CPU's operations on memory that is inaccessible outside of them: an access by any other
 *  layer is a fault. Slow; for tests. */
extern const mg_backend_t mg_backend_guard;

#endif
