/* Walls: how the sides of the domain enter the formulas, shared by CPU and GPU.
 *
 * A ghost outside a wall is a combination of the cells x1, x2, ... inward of it.
 * Dirichlet (u = 0 on the wall): the polynomial through the cells that vanishes on the wall.
 * Neumann (no flux through the wall; 7-point operators only): the mirror image, x1.
 *
 * The face coefficient of a Neumann wall is 0 (solver/problem.c). So A x, its diagonal and its
 * Gershgorin sums do not depend on the ghost there, as long as it is finite: kernels that only
 * apply A use the Dirichlet formulas at all walls. Only interpolation needs the kind. */
#ifndef MG_WALLS_H
#define MG_WALLS_H

#include "formulas/stencil.h"
#include "formulas/view.h"

/* The coefficients of x1, x2, ... in a ghost outside a Dirichlet wall: linear and
 * quadratic in point values; quadratic in cell averages; quartic in cell averages, the first and
 * the second ghost. The quartic ones are integers divided by 12. */
#define MG_WALL_LINEAR                                                                             \
  { -1.0 }
#define MG_WALL_POINTS                                                                             \
  { -2.0, 1.0 / 3.0 }
#define MG_WALL_QUADRATIC                                                                          \
  { -2.5, 0.5 }
#define MG_WALL_QUARTIC(divisor)                                                                   \
  { -77.0 / (divisor), 43.0 / (divisor), -17.0 / (divisor), 3.0 / (divisor) }
#define MG_WALL_QUARTIC_SECOND(divisor)                                                            \
  { -505.0 / (divisor), 335.0 / (divisor), -145.0 / (divisor), 27.0 / (divisor) }

/** Order of a wall formula along each direction. */
typedef struct {
  int along[3];
} mg_wall_orders_t;

/** Ghost next to a wall, by the formula of order 1 or 2. */
MG_INLINE mg_real_t mg_ghost(mg_wall_t kind, int order, mg_real_t x1, mg_real_t x2) {
  const mg_real_t linear[] = MG_WALL_LINEAR, quadratic[] = MG_WALL_QUADRATIC;
  if (kind == MG_WALL_NEUMANN) return x1;
  return order == 1 ? linear[0] * x1 : mg_fma(quadratic[0], x1, quadratic[1] * x2);
}

/** Ghost outside a Dirichlet wall, by the formula of order 3. */
MG_INLINE mg_real_t mg_ghost_3(mg_real_t x1, mg_real_t x2) {
  const mg_real_t points[] = MG_WALL_POINTS;
  return mg_fma(points[0], x1, points[1] * x2);
}

/** Ghost at depth 1 or 2 outside a Dirichlet wall, by the formula of order 4. */
MG_INLINE mg_real_t mg_ghost_4(int depth, mg_real_t x1, mg_real_t x2, mg_real_t x3, mg_real_t x4) {
  const mg_real_t first[] = MG_WALL_QUARTIC(1.0), second[] = MG_WALL_QUARTIC_SECOND(1.0);
  const mg_real_t *w = depth == 1 ? first : second;
  return mg_fma(w[0], x1, mg_fma(w[1], x2, mg_fma(w[2], x3, w[3] * x4))) * MG_REAL(1.0 / 12.0);
}

/** Weight of a wall's face in the diagonal of a 7-point row: 1 - (weight of x1). */
MG_INLINE mg_real_t mg_wall_weight(mg_wall_t kind, int order) {
  const mg_real_t linear[] = MG_WALL_LINEAR, quadratic[] = MG_WALL_QUADRATIC;
  if (kind == MG_WALL_NEUMANN) return 0.0;
  return order == 1 ? MG_REAL(1.0) - linear[0] : MG_REAL(1.0) - quadratic[0];
}

/** Weight of a wall's face in the Gershgorin sum of a 7-point row: |weight of x2|. */
MG_INLINE mg_real_t mg_wall_off_diagonal(mg_wall_t kind, int order) {
  const mg_real_t quadratic[] = MG_WALL_QUADRATIC;
  return order == 1 || kind == MG_WALL_NEUMANN ? MG_REAL(0.0) : quadratic[1];
}

/** Order actually used for a wall formula along direction d. Narrow boxes fall back to a lower
 *  order, and so do levels with narrow cells beside walls. On a general level, each direction
 *  depends on its own number of cells; elsewhere the orders are equal. */
MG_INLINE int mg_wall_order(const mg_view_t *v, int order, int d) {
  if (v->linear_walls) return 1;
  const int cells = v->general ? v->n[d] : v->box_dim, needed = order == 3 ? 2 : order;
  return cells >= needed ? order : cells >= 2 ? 2 : 1;
}

/** The orders along all directions. */
MG_INLINE mg_wall_orders_t mg_wall_orders(const mg_view_t *v, int order) {
  mg_wall_orders_t used;
  for (int d = 0; d < 3; d++)
    used.along[d] = mg_wall_order(v, order, d);
  return used;
}

/** Whether all directions have the same order. */
MG_INLINE bool mg_orders_are_equal(mg_wall_orders_t order) {
  return order.along[0] == order.along[1] && order.along[1] == order.along[2];
}

/** Wall formula order of the operator in wide boxes: 1 for 7pt, 2 for fv2, 4 for fv4. */
static inline int mg_operator_order(const mg_view_t *v) {
  return mg_traits_of(v->op)->wall_order;
}

/** Orders actually used for the operator's wall formula. */
static inline mg_wall_orders_t mg_operator_orders(const mg_view_t *v) {
  return mg_wall_orders(v, mg_operator_order(v));
}

/** Face weights of a cell in the diagonal of the 7-point operators. Use i = -1 for a cell that is
 *  neither the first nor the last of its row.
 *  @param[in] wall  mg_wall_weight of each side */
MG_INLINE mg_face_weights_t mg_face_weights(const mg_patch_t *p, const mg_real_t wall[3][2], int i,
                                            int j, int k) {
  const int at[3] = {i, j, k};
  mg_face_weights_t w;
  for (int d = 0; d < 3; d++) {
    w.low[d] = p->wall[d][0] && at[d] == 0 ? wall[d][0] : MG_REAL(1.0);
    w.high[d] = p->wall[d][1] && at[d] == p->n[d] - 1 ? wall[d][1] : MG_REAL(1.0);
  }
  return w;
}

/** Indices along direction d, range[0] <= index < range[1], of the cells or faces next to which
 * betas are extended outside a wall of another direction. Other ghosts count. */
MG_INLINE void mg_extended_range(const mg_view_t *v, const mg_patch_t *p, int d, bool faces,
                                 int range[2]) {
  range[0] = p->wall[d][0] ? 0 : -v->ghost_layers;
  range[1] = p->n[d] + (p->wall[d][1] ? (int)faces : v->ghost_layers);
}

/** Whether one of the domain's sides is of this kind. */
MG_INLINE bool mg_has_wall(const mg_wall_t side[3][2], mg_wall_t kind) {
  bool any = false;
  for (int d = 0; d < 3; d++)
    any = any || side[d][0] == kind || side[d][1] == kind;
  return any;
}

/** Whether the domain is periodic in direction d. */
MG_INLINE bool mg_is_periodic(const mg_view_t *v, int d) {
  return v->side[d][0] == MG_WALL_NONE;
}

/** Whether A is singular: A x = 0 for constant x. A solution then exists only if the right-hand
 *  side has mean zero, and is unique up to a constant. */
MG_INLINE bool mg_is_singular(const mg_view_t *v) {
  return v->a == 0.0 && !v->alpha_varies && !mg_has_wall(v->side, MG_WALL_DIRICHLET);
}

#endif
