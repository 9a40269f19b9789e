/* One level as a rank holds it, and the hierarchy of them. */
#ifndef MG_LEVEL_H
#define MG_LEVEL_H

#include "backend/backend.h"
#include "base/timers.h"
#include "comm/comm.h"
#include "plan/plan.h"
#include "transport/exchange.h"

/** Patches with their memory. */
typedef struct {
  mg_view_t view;
  void *memory;
  size_t bytes;
  const mg_backend_t *owner; /**< who allocated the memory, and in which space */
  mg_space_t space;
} mg_store_t;

/** See profile.h. */
typedef struct mg_profile mg_profile_t;

/** A level. On ranks without cells there the view is empty and every operation returns at once. */
typedef struct {
  int index; /**< 0 = finest */
  const mg_level_plan_t *plan;
  const mg_backend_t *backend;
  mg_comm_t *comm; /**< the ranks that hold cells; NULL on the others */
  mg_store_t store;

  mg_exchange_t *halo;      /**< the ghosts that A reads */
  bool overlaps;            /**< smoothing goes on while the messages of `halo` travel */
  mg_exchange_t *halo_box;  /**< edges and corners too; the same exchange as halo for fv4 */
  mg_exchange_t *halo_deep; /**< all layers, edges and corners too; NULL where there are no more
                                 layers than A reads */
  bool overlaps_fused[MG_MAX_FUSED_SWEEPS + 1]; /**< the same of passes of so many steps and
                                                         `halo_deep` */

  /* Towards the next coarser level. Where its patches are the halves of these, it is used in
   * place; elsewhere an image of it lies beside these cells, filled and emptied by messages. */
  bool has_image;
  mg_store_t image;
  mg_exchange_t *gather;  /**< image to coarse cells */
  mg_exchange_t *scatter; /**< coarse cells to image, ghosts included */

  mg_step_t *steps; /**< of one smooth; n_steps of them */
  int n_steps;
  int steps_per_pass; /**< at the most; 1 where the backend makes them one by one */
  double lambda_max;  /**< Gershgorin bound of Dinv A */
  mg_timers_t timers;
  mg_profile_t *profile; /**< NULL unless one is being taken */
} mg_level_t;

/** The cycles of a solve: the first one, from zero, and those that follow with --rtol, from u on
 * or, as --krylov's preconditioner, from zero. */
typedef enum {
  MG_CYCLE_FIRST,
  MG_CYCLE_NEXT,
  MG_CYCLE_PRECONDITION,
  MG_N_CYCLE_KINDS
} mg_cycle_kind_t;

/** All levels, and the choices that the cycle needs. */
typedef struct {
  mg_plan_t plan;
  mg_params_t params;
  mg_transports_t *transports; /**< of messages between devices */
  int n_levels;
  mg_level_t level[MG_MAX_LEVELS];
  mg_profile_t *profile; /**< NULL unless one is being taken: then every operation is asked for */
  mg_profile_t *prepared_profile; /**< what one is taken with (mg_profile_prepare); NULL: nothing */

  mg_coarse_cycle_t
      *coarse_cycle; /**< the levels from coarse_cycle_first on in one go; NULL: leg by leg */
  int coarse_cycle_first;

  /** Whole cycles from a level down as one piece (mg_graph_capture); NULL: operation by operation.
   */
  mg_graph_t *graph[MG_MAX_LEVELS][MG_N_CYCLE_KINDS];
} mg_hierarchy_t;

/** Allocate every level.
 *
 *  Collective over the world; on failure every rank gets the worst status and nothing is left.
 *  @param[out] out  zeroed vectors; free with mg_hierarchy_free
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_hierarchy_create(const mg_params_t *params, const mg_plan_t *plan,
                                              mg_hierarchy_t **out);

/** Collective over the world. */
void mg_hierarchy_free(mg_hierarchy_t *hierarchy);

/** Drop recorded cycles: they hold numbers, such as smoothers' weights, that have changed. */
void mg_hierarchy_forget(mg_hierarchy_t *hierarchy);

/** Bytes that this rank holds on a level: vectors, image, message buffers. */
int64_t mg_level_bytes(const mg_level_t *level);

/** The vectors' view of a level, and of what stands for the next coarser one on this rank. */
const mg_view_t *mg_level_view(const mg_level_t *level);
const mg_view_t *mg_level_coarse_view(const mg_hierarchy_t *hierarchy, int l);

#endif
