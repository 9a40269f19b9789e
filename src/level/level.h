/* One level as stored on a rank, and the hierarchy of all levels. */
#ifndef MG_LEVEL_H
#define MG_LEVEL_H

#include "backend/backend.h"
#include "base/alloc.h"
#include "base/operation_timers.h"
#include "comm/comm.h"
#include "plan/plan.h"
#include "transport/exchange.h"

/** Patches and the memory that holds them. */
typedef struct {
  mg_view_t view;
  void *memory;
  size_t bytes;
  const mg_backend_t *owner; /**< allocated the memory, in `space` */
  mg_space_t space;
  const mg_allocator_t *allocator; /**< allocated it instead, or NULL */
  int value_bytes;                 /**< 8: double cells; 4: float */
} mg_store_t;

/** See profile.h. */
typedef struct mg_profile mg_profile_t;
/** See wall_faces.h. */
typedef struct mg_wall_faces mg_wall_faces_t;
typedef struct mg_solids mg_solids_t; /**< see solver/solids.h */
typedef struct mg_direct mg_direct_t; /**< see solver/direct.c */

/** A sweep, and the vectors whose ghosts it reads. */
typedef struct {
  mg_sweep_t sweep;
  mg_vector_t halo[3]; /**< MG_F first */
  int n_halo;
  mg_view_t grown;     /**< the patches and the ghosts that the sweep computes too, unless it
                          computes a residual; no patches: it computes no ghosts */
  bool resident;       /**< is a resident sweep (backend.h) */
  bool overlaps;       /**< the interior is processed while messages are in flight */
  bool interior_first; /**< the same in one launch */
  bool has_residual;   /**< can also compute the residual of its result */
  bool interpolates;   /**< can also interpolate its input from the next coarser level */
} mg_scheduled_sweep_t;

/** Where the first iterate of a smooth comes from. P: interpolation of the next level's MG_U. */
typedef enum {
  MG_FROM_ZERO,
  MG_FROM_GUESS,      /**< MG_U */
  MG_FROM_COARSE,     /**< P u */
  MG_FROM_CORRECTION, /**< the level's last descent (level->descended) plus P u. MG_F is unchanged
                           since, so that its ghosts are valid */
  MG_N_STARTS
} mg_start_t;

/** The sweeps of one smooth (smooth.h). */
typedef struct {
  mg_scheduled_sweep_t *sweep;
  int n;
  mg_vector_t result; /**< of the last iterate */
  bool is_copy;       /**< `grown` views belong to another schedule */
} mg_schedule_t;

/** A level. On ranks without cells of the level, the view is empty and operations do nothing. */
typedef struct {
  int index; /**< 0 = finest */
  const mg_level_plan_t *plan;
  const mg_backend_t *backend;
  mg_comm_t *comm; /**< ranks that hold cells; NULL on all other ranks */
  mg_store_t store;

  mg_exchange_t *halo;      /**< fills the ghosts that A reads */
  mg_exchange_t *halo_box;  /**< fills edges and corners too; same as halo for fv4 */
  mg_exchange_t *halo_deep; /**< all layers, edges and corners; NULL if A reads all layers */

  /* Link to the next coarser level. If its patches coincide with the coarsened patches of this
   * level, it is used in place. Otherwise an image of it is stored beside these cells, and messages
   * fill and drain the image. */
  bool has_image;
  mg_store_t image;
  mg_exchange_t *gather;  /**< image to coarse cells */
  mg_exchange_t *scatter; /**< coarse cells to image, ghosts included */

  mg_step_t *steps; /**< n_steps steps of one smooth */
  int n_steps;
  int steps_per_pass;                  /**< maximum number of fused steps per sweep; 1: not fused */
  bool one_exchange;                   /**< a smooth exchanges ghosts once (smooth.h) */
  mg_schedule_t schedule[MG_N_STARTS]; /**< the sweeps of a smooth from each start */
  mg_vector_t descended;               /**< result of a descent: MG_U, or MG_TMP so that an ascent,
                                            which swaps the vectors again, ends in MG_U */
  double lambda_max;                   /**< Gershgorin bound of Dinv A */
  mg_direct_t *direct;                 /**< inverse of A on the coarsest level, or NULL */
  mg_timers_t timers;
  mg_profile_t *profile; /**< NULL unless profiling */
  /* Ranges that external profilers see. On CPU levels, too, they are those of the GPU's backend. */
  const struct mg_backend_profile *ranges; /**< NULL: no backend of the hierarchy marks ranges */
  char range_name[MG_N_TIMES][MG_RANGE_NAME_SIZE]; /**< such as "smooth 0" */
} mg_level_t;

/** Kinds of cycle in a solve: the first cycle, from a zero guess, and the later cycles with --rtol.
 *  Later cycles start from u, or from zero as the preconditioner of --krylov. */
typedef enum {
  MG_KIND_FIRST,
  MG_KIND_NEXT,
  MG_KIND_PRECONDITION,
  MG_N_CYCLE_KINDS
} mg_cycle_kind_t;

/** The norm that --rtol is relative to (solver/reference.h). */
typedef struct {
  double least, greatest; /**< u on the sides */
  double u, norm;         /**< one of them or the middle, and max |MG_F - A u| on level 0;
                             norm 0: max |MG_F| */
} mg_reference_t;

/** All levels and the parameters of the cycle.
 *
 *  With --precision=mixed, the levels are the double cells of the grids where solves start: u, f
 * and betas, without a smoother. `low` then has the float levels of all grids, which compute the
 *  corrections (solver/mixed.c). Level l of `low` has the cells of level l. */
typedef struct mg_hierarchy {
  mg_plan_t plan;
  mg_params_t params;
  mg_transports_t *transports; /**< for messages between devices */
  bool shares_transports;      /**< they belong to another owner, which outlives this hierarchy */
  int n_levels;
  mg_level_t level[MG_MAX_LEVELS];
  struct mg_hierarchy *low; /**< NULL with --precision=double */
  bool inner_cg;            /**< cycles take CG steps on the levels that the plan has them for */
  double low_scale;         /**< scale of residuals on float levels: 1 except in run/rounding.c */
  double low_rhs[2];        /**< range of max |f| whose corrections float cells hold (mixed.c) */
  int residual_level;       /**< MG_F of this float level holds the current residual; -1: of none */
  bool keeps_residual;   /**< further cycles may follow the first one: its residual stays there */
  mg_profile_t *profile; /**< NULL unless profiling; then every operation is timed */
  mg_profile_t *prepared_profile; /**< from mg_profile_prepare; NULL if not prepared */

  struct mg_coarse_cycle *coarse_cycle; /**< runs all levels from coarse_cycle_first on in one
                                           call; NULL: level by level */
  int coarse_cycle_first;
  bool is_slow;       /**< the smoothers have params.slow_degree */
  bool has_smoothers; /**< levels and coarse cycle have those of the parameters */

  /** Captured graphs of whole cycles from a level down (mg_graph_capture). NULL: run operations. */
  struct mg_graph *graph[MG_MAX_LEVELS][MG_N_CYCLE_KINDS];
  mg_wall_faces_t *wall_faces;    /**< saved betas and values of faces on walls, or NULL */
  mg_solids_t *solids;            /**< cells outside of the problem, or NULL */
  struct mg_factors *rhs_factors; /**< of f on level 0 (metric.h), or NULL */
  double *plane_betas;            /**< params.face_beta and plane_beta (solver/method.h), or NULL */
  mg_reference_t reference;       /**< of the current right-hand side */
  bool is_fixed; /**< an application has pointers to the cells of level 0, so they stay there */
  bool captured; /**< an application captures the operations in its own graph: use none of these */
} mg_hierarchy_t;

/** Allocate all levels.
 *
 *  Collective over the world. On failure all memory is released.
 *  @param[in] transports  existing ones (mg_hierarchy_transports), which are not freed with the
 *      hierarchy, and whose windows keep the memory of its exchanges; NULL: create them
 *  @param[out] out  vectors are zeroed; free with mg_hierarchy_free
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM; the worst status of all ranks, on
 *      every rank */
MG_MUST_CHECK mg_status_t mg_hierarchy_create(const mg_params_t *params, const mg_plan_t *plan,
                                              mg_transports_t *transports, mg_hierarchy_t **out);

/** Free all that depends on the plan, and create it for a plan of the same grid.
 *  @param[in] outer  the hierarchy whose `low` it is; NULL: it is none
 *  @return as mg_hierarchy_create */
void mg_hierarchy_release(mg_hierarchy_t *h);
MG_MUST_CHECK mg_status_t mg_hierarchy_fill(mg_hierarchy_t *h, const mg_params_t *params,
                                            const mg_plan_t *plan, const mg_hierarchy_t *outer);

/** Create the transports that a hierarchy of this plan needs. Collective over the world.
 *  @param[out] out  free with mg_transports_free
 *  @return as mg_transports_create */
MG_MUST_CHECK mg_status_t mg_hierarchy_transports(const mg_params_t *params, const mg_plan_t *plan,
                                                  mg_transports_t **out);

/** Collective over the world. */
void mg_hierarchy_free(mg_hierarchy_t *hierarchy);

/** Take an application's memory for the cells of a store, and give it back (given_memory.c).
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_USAGE (its alignment), MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_given_take(mg_store_t *store);
void mg_given_release(const mg_store_t *store);

/** Called by mg_hierarchy_free: release the smoother of a level (smooth.h), its inverse
 *  (solver/direct.c), faces on walls (wall_faces.h), factors (metric.h), solids (solver/solids.h),
 * a profile that was prepared but not used (profile.h), and graphs and the coarse cycle
 * (solver/coarse_cycle.c). */
void mg_smoother_free(mg_level_t *level);
void mg_direct_free(mg_direct_t *direct);
void mg_wall_faces_free(mg_wall_faces_t *faces);
void mg_metric_release(mg_hierarchy_t *h);
void mg_profile_release(mg_hierarchy_t *h);
void mg_solids_free(mg_solids_t *solids);
void mg_cycles_free(mg_hierarchy_t *h);
/** Called at the creation of levels: name their operations for profilers. */
void mg_profile_name_ranges(mg_hierarchy_t *h);

/** Bytes of a level on this rank: vectors, image, message buffers. */
int64_t mg_level_bytes(const mg_level_t *level);

/** The hierarchy whose levels have smoothers and reach down to the coarsest grid: `low` with
 *  --precision=mixed, otherwise the hierarchy itself. */
static inline const mg_hierarchy_t *mg_hierarchy_of_cycles(const mg_hierarchy_t *h) {
  return h->low ? h->low : h;
}

/** Bytes of the double and the float cells of grid l together, on this rank. */
int64_t mg_hierarchy_bytes(const mg_hierarchy_t *h, int l);

/** Add the backends of --device=guard, which are part of the tests (tests/guard/). To be called
 *  before options are read. */
void mg_level_provide_guard(const mg_backend_t *guard, const mg_backend_t *guard_float);

/** Backend of levels of doubles at a place. */
const mg_backend_t *mg_level_backend(mg_place_t place);

/** View of a level; and of this rank's coarsened patches of level l: the image, or level l+1. */
const mg_view_t *mg_level_view(const mg_level_t *level);
const mg_view_t *mg_level_coarse_view(const mg_hierarchy_t *hierarchy, int l);

#endif
