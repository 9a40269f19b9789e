/* Paths: the ways to smooth a level.
 *
 * A fast path is one row, in a file of its own next to the code that runs it. The plan passes the
 * facts of a level to the rows of its place, in order of preference, and uses the first one that
 * can smooth the level. The last row is single steps, which always can. Only rows read facts, and
 * each threshold belongs to a row. Rows of GPUs are plain C, so that a machine without one can plan
 * for it. */
#ifndef MG_PATH_H
#define MG_PATH_H

#include "base/operators.h"
#include "plan/decomp.h"

/** What rows may know about a level. */
typedef struct {
  const mg_layout_t *layout;
  const mg_operator_traits_t *op;
  bool periodic[3]; /**< in each direction */
  bool alpha_varies;
  int value_bytes;        /**< of a cell */
  int sms;                /**< SMs of the GPU; 0: shared with other ranks */
  bool halves;            /**< the next coarser level has half the cells in each direction */
  bool nests_coarse;      /**< its patches are the halves of these */
  int32_t coarse_box_dim; /**< its cells per side of a box; 0: none, or at another place */

  int n_steps;    /**< of a smooth */
  int max_fused;  /**< maximum number of steps of a fused sweep; 1: fuse nothing */
  bool fuse;      /**< mg_steps_fuse */
  bool look_back; /**< mg_steps_look_back */
  bool colored;   /**< each step updates one color */
} mg_level_facts_t;

/** What a path needs and does. */
typedef struct {
  int steps_per_pass; /**< maximum number of steps of a sweep */
  bool resident;      /**< a smooth is one sweep */
  bool residual;      /**< the last sweep may compute the residual, too */
  bool interpolation; /**< the first sweep may interpolate its input */
  bool one_exchange;  /**< a smooth may exchange ghosts once */
  bool previous;      /**< keeps the iterate before the last between sweeps */
  bool reads_dinv;    /**< reads 1 / diagonal also where single steps compute it */
  int ghost_layers;   /**< of the level, if more than the operator reads */
  int coarse_layers;  /**< the same of the next coarser level */
} mg_path_needs_t;

/** A row. */
typedef struct {
  const char *name;                           /**< as reports print it */
  const char *why;                            /**< its gain, and where it was measured */
  bool (*can)(const mg_level_facts_t *level); /**< NULL: always */
  /** @param[in,out] needs  those of single steps at entry */
  void (*needs)(const mg_level_facts_t *level, mg_path_needs_t *needs);
} mg_path_t;

/** The paths of a place. */
typedef struct {
  const mg_path_t *row[3]; /**< in order of preference; the last one is mg_path_steps */
  bool norms;              /**< the place computes the norm of a residual without storing it */
  bool guesses;            /**< and reads guesses that are not stored (can_defer_guess) */
} mg_place_paths_t;

extern const mg_path_t mg_path_steps;         /**< plan/plan_level.c */
extern const mg_path_t mg_path_cpu_pass;      /**< cpu/pass_path.c */
extern const mg_path_t mg_path_cuda_resident; /**< cuda/resident/resident_path.c */
extern const mg_path_t mg_path_cuda_fused;    /**< cuda/fused/fused_path.c */

/** Cells per rank, on average. */
static inline int64_t mg_cells_per_rank(const mg_level_facts_t *level) {
  return mg_layout_n_cells(level->layout) / level->layout->n_ranks;
}

/** Whether some ghosts are copies of cells. */
static inline bool mg_has_halo(const mg_level_facts_t *level) {
  return level->layout->n_ranks > 1 || level->periodic[0] || level->periodic[1] ||
         level->periodic[2];
}

/** Whether the level's numbers of cells have a red-black coloring. An odd one is allowed between
 *  walls. */
static inline bool mg_has_colors(const mg_level_facts_t *level) {
  const mg_layout_t *y = level->layout;
  for (int d = 0; d < 3; d++)
    if (y->n[d] % 2 != 0 && (!y->general || level->periodic[d])) return false;
  return true;
}

/** Whether the steps of a smooth may be one sweep. */
static inline bool mg_smooth_fuses(const mg_level_facts_t *level) {
  return level->max_fused > 1 && level->fuse && level->n_steps > 1;
}

/** Whether the next coarser level allows that the input is interpolated from it. */
static inline bool mg_interpolates(const mg_level_facts_t *level) {
  return (level->op->paths & MG_PATH_INTERPOLATION) && level->coarse_box_dim > 0;
}

#endif
