/* What boundary values add to the rows of the cells next to them. */
#ifndef MG_WALL_SHARE_H
#define MG_WALL_SHARE_H

#include "formulas/walls.h"

/** What the condition on a wall adds to the row of the cell next to it. */
typedef struct {
  double alpha, f;
} mg_wall_share_t;

/** For Robin's condition, the value on the wall is eliminated: the flux is k (value / u - x1). The
 *  wall is a Neumann wall then, and k becomes a part of alpha.
 *  @param[in] order   of the wall formula
 *  @param[in] h       width of the cell normal to the wall
 *  @param[in] beta    of the face, before Neumann walls are closed */
MG_INLINE mg_wall_share_t mg_wall_share(const mg_side_t *c, int order, double h, double beta) {
  mg_wall_share_t s = {0.0, 0.0};
  if (c->u == 0.0) {
    s.f = c->value / h;
  } else if (c->flux == 0.0) {
    s.f = beta / (h * h) * (order == 1 ? 2.0 : 3.0) * c->value;
  } else if (beta > 0.0) {
    s.alpha = c->u / (c->flux + 0.5 * c->u * h / beta) / h;
    s.f = s.alpha * c->value / c->u;
  }
  return s;
}

#endif
