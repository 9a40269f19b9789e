/* Cell addresses, shared by all backends. */
#ifndef MG_INDEX_H
#define MG_INDEX_H

#include "base/inline.h"
#include "formulas/view.h"
#include <stddef.h>

/** Address of a cell; indices are patch-local and may be ghosts. */
MG_INLINE mg_real_t *mg_cell(const mg_patch_t *p, int vec, int64_t i, int64_t j, int64_t k) {
  return p->vec[vec] + i + j * p->jstride + k * p->kstride;
}

/** A number whose lowest bit is the color of a cell (mg_step_t). */
MG_INLINE int mg_parity(const mg_patch_t *p, int i, int j, int k) {
  return (p->lo[0] + i) ^ (p->lo[1] + j) ^ (p->lo[2] + k);
}

/** a alpha of the cell at offset `at`. */
MG_INLINE mg_real_t mg_a_at(const mg_view_t *v, const mg_patch_t *p, ptrdiff_t at) {
  return v->alpha_varies ? p->vec[MG_ALPHA][at] : MG_REAL(v->a);
}

/** True if n is twice `half` in each direction. */
MG_INLINE bool mg_doubles(const int32_t n[3], const int32_t half[3]) {
  return n[0] == 2 * half[0] && n[1] == 2 * half[1] && n[2] == 2 * half[2];
}

MG_INLINE bool mg_is_cube(const int32_t n[3]) {
  return n[0] == n[1] && n[0] == n[2];
}

/** Width of the bricks that sums are computed in (sum.h). Patches consist of boxes, so bricks that
 *  tile a box tile every decomposition. Patches of a general level begin anywhere. */
MG_INLINE int mg_brick_width(const mg_view_t *v) {
  if (v->general) return 1;
  return v->box_dim % 8 == 0 ? 8 : v->box_dim < 8 ? v->box_dim : 1;
}

#endif
