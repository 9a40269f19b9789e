/* What rows of smoothers conclude from the facts of a level. */
#ifndef MG_PATH_FACTS_H
#define MG_PATH_FACTS_H

#include "formulas/sweeps.h"
#include "plan/path.h"

/** How a level is smoothed, or solved, or run with all coarser ones. */
static inline const mg_path_t *mg_level_path(const mg_level_plan_t *plan) {
  return plan->cycle ? plan->cycle : plan->bottom ? plan->bottom : plan->path;
}

/** Give a level at least `layers` ghost layers. */
static inline void mg_deepen(mg_level_plan_t *plan, int layers) {
  if (plan->ghost_layers < layers) plan->ghost_layers = layers;
}

/** SMs of the GPU, relative to those of an H100 or H200. Unknown if ranks share it: 1. */
static inline double mg_relative_sms(const mg_level_facts_t *level) {
  return level->gpu.sms > 0 ? level->gpu.sms / 132.0 : 1.0;
}

/** Whether some ghosts are copies of cells. */
static inline bool mg_has_halo(const mg_level_facts_t *level) {
  return level->layout->n_ranks > 1 || level->periodic[0] || level->periodic[1] ||
         level->periodic[2];
}

/** Whether the cells have a red-black coloring. An odd number is allowed between walls. */
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

/** Ghost layers that a smooth with one exchange of ghosts reads if it leaves one layer valid at the
 *  end. Its steps are divided evenly among as few fused sweeps as possible; each sweep also
 * computes the ghosts that later ones read.
 *
 *  @param[in] max_fused    maximum number of steps of a sweep, at least 2
 *  @param[in] value_bytes  of a cell: 8 or 4; sweeps may compute more ghosts along rows (view.h)
 *  @return 0 if it is impossible: a sweep has a single step, or steps that read two iterates are
 *      more than two sweeps */
static inline int mg_steps_ghost_layers(int n_steps, int max_fused, bool look_back,
                                        int value_bytes) {
  const int sweeps = (n_steps + max_fused - 1) / max_fused;
  if (n_steps < 2 * sweeps || (look_back && sweeps > 2)) return 0;
  int layers = 0, needed = 1;
  for (int q = sweeps - 1; q >= 0; q--) {
    const int n = n_steps / sweeps + (q < n_steps % sweeps),
              reads = n + mg_row_layers_of_growth(needed, value_bytes);
    layers = reads > layers ? reads : layers;
    needed += n;
  }
  return layers;
}

#endif
