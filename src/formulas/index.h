/* Cell addresses and wall formula orders, shared by all backends. */
#ifndef MG_INDEX_H
#define MG_INDEX_H

#include "formulas/stencil.h"
#include "formulas/view.h"

/** Address of a cell; indices are patch-local and may be ghosts. */
MG_INLINE double *mg_cell(const mg_patch_t *p, int vec, int64_t i, int64_t j, int64_t k) {
  return p->vec[vec] + i + j * p->jstride + k * p->kstride;
}

/** a alpha of the cell at offset `at`. */
MG_INLINE double mg_a_at(const mg_view_t *v, const mg_patch_t *p, ptrdiff_t at) {
  return v->varies ? p->vec[MG_ALPHA][at] : v->a;
}

/** Order actually used for a wall formula: narrow boxes fall back to a lower order. */
MG_INLINE int mg_wall_order(const mg_view_t *v, int order) {
  if (order == 4 && v->box_dim < 4) order = 2;
  if (order == 2 && v->box_dim < 2) order = 1;
  return order;
}

/** Wall formula order of the operator: 1 for 7pt, 2 for fv2, 4 for fv4. */
MG_INLINE int mg_operator_order(const mg_view_t *v) {
  return mg_wall_order(v, v->op == MG_OPERATOR_FV4 ? 4 : v->op == MG_OPERATOR_FV2 ? 2 : 1);
}

/** Width of the bricks that sums are computed in (sum.h). Patches consist of boxes, so bricks that
 *  tile a box tile every decomposition. */
MG_INLINE int mg_brick_width(const mg_view_t *v) {
  return v->box_dim % 8 == 0 ? 8 : v->box_dim < 8 ? v->box_dim : 1;
}

/** Face weights of a cell in the diagonal of the 7-point operators. Use i = -1 for a cell that is
 *  neither the first nor the last of its row. */
MG_INLINE mg_face_weights_t mg_face_weights(const mg_patch_t *p, int order, int i, int j, int k) {
  const double wall = mg_wall_weight(order);
  const int at[3] = {i, j, k};
  mg_face_weights_t w;
  for (int d = 0; d < 3; d++) {
    w.low[d] = p->wall[d][0] && at[d] == 0 ? wall : 1.0;
    w.high[d] = p->wall[d][1] && at[d] == p->n[d] - 1 ? wall : 1.0;
  }
  return w;
}

#endif
