/* What rows of smoothers conclude from the facts of a level. */
#ifndef MG_PATH_FACTS_H
#define MG_PATH_FACTS_H

#include "plan/path.h"

/** Give a level at least `layers` ghost layers. */
static inline void mg_deepen(mg_level_plan_t *plan, int layers) {
  if (plan->ghost_layers < layers) plan->ghost_layers = layers;
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

#endif
