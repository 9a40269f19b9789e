/* Transfers between a level and a coarser one that does not have half its cells in each direction.
 *
 * pairs.h has the rule for which cells become one. A residual is per volume of a whole cell; so a
 * coarse value is the sum of the children that there are, divided by the number of children of a
 * whole coarse cell. */
#ifndef MG_TRANSFER_FORMULAS_H
#define MG_TRANSFER_FORMULAS_H

#include "formulas/index.h"
#include "formulas/stencil.h"

/** Without branches, at which ptxas of CUDA 13.0 fails in large kernels. */
MG_INLINE bool mg_is_single(const mg_singles_t *s, int32_t cell) {
  bool single = false;
  for (int r = 0; r < 2; r++)
    single |= (uint32_t)(cell - s->begin[r]) < (uint32_t)(s->end[r] - s->begin[r]);
  return single;
}

/** Coarse cell of a cell. */
MG_INLINE int32_t mg_parent(const mg_singles_t *s, int32_t cell) {
  const int32_t below = mg_singles_below(s, cell);
  return below + (cell - below) / 2;
}

/** Whether a direction of n cells has fewer on the coarse level. */
MG_INLINE bool mg_has_pairs(const mg_singles_t *s, int32_t n) {
  return mg_coarse_cells(s, n) < n;
}

/** Children of a coarse cell in one direction: the first one, and their number. */
typedef struct {
  int first, n;
} mg_children_t;

/** Indices are in the patches.
 *  @param[in] v  level of the fine patch
 *  @param[in] c  coarse cell */
MG_INLINE mg_children_t mg_children(const mg_view_t *v, const mg_patch_t *fine,
                                    const mg_patch_t *coarse, int d, int c) {
  const mg_singles_t *s = &v->single[d];
  const int32_t first = mg_first_child(s, coarse->lo[d] + c),
                next = mg_first_child(s, coarse->lo[d] + c + 1);
  return (mg_children_t){first - fine->lo[d], (next < v->n[d] ? next : v->n[d]) - first};
}

/** First child of a coarse face in the direction of its normal. */
MG_INLINE int mg_child_face(const mg_singles_t *s, int32_t n, int32_t face) {
  const int32_t child = mg_first_child(s, face);
  return child < n ? child : n;
}

/** 1 / (children of a whole coarse cell). */
MG_INLINE mg_real_t mg_child_weight(const int32_t n[3], const int32_t n_coarse[3]) {
  mg_real_t weight = MG_REAL(1.0);
  for (int d = 0; d < 3; d++)
    weight = n[d] == n_coarse[d] ? weight : MG_REAL(0.5) * weight;
  return weight;
}

/** Sum of the values of some children, in the order of mg_mean8.
 *  @param[in] x           the first one
 *  @param[in] ni, nj, nk  children in i, j, k: 1 or 2 */
MG_INLINE mg_real_t mg_sum_children(const mg_real_t *x, ptrdiff_t js, ptrdiff_t ks, int ni, int nj,
                                    int nk) {
  mg_real_t plane[2] = {MG_REAL(0.0), MG_REAL(0.0)};
  for (int k = 0; k < nk; k++) {
    const mg_real_t *r0 = x + k * ks, *r1 = r0 + (nj - 1) * js;
    const mg_real_t low = ni > 1 ? r0[0] + r0[1] : r0[0], high = ni > 1 ? r1[0] + r1[1] : r1[0];
    plane[k] = nj > 1 ? low + high : low;
  }
  return nk > 1 ? plane[0] + plane[1] : plane[0];
}

/** How the betas of the fine faces of one coarse face make its beta. */
typedef struct mg_face_factor {
  double scale; /**< of their sum, if beta is constant along the normal */
  double
      in_line; /**< distance of the coarse centers by that of the fine ones, along the children */
  double low;  /**< share of the way between the children of the low coarse cell that is on the
                    way between the coarse centers; 0: it has one child */
  double high; /**< the same of the high coarse cell */
} mg_face_factor_t;

/** Beta of a fine face as seen from the centers of the two coarse cells: that of resistances in
 *  line. A coarse cell with an insulator inside has a weak coupling, but its children have one
 *  correction; so the coupling is at least a quarter of what it is without the insulator.
 *  @param[in] beta  the face
 *  @param[in] d     stride along the normal */
MG_INLINE mg_real_t mg_beta_in_line(const mg_real_t *beta, ptrdiff_t d, mg_face_factor_t f) {
  const bool low = f.low > 0.0, high = f.high > 0.0;
  mg_real_t resistance = MG_REAL(1.0);
  if ((low && beta[-d] == MG_REAL(0.0)) || (high && beta[d] == MG_REAL(0.0)))
    return beta[0] * MG_REAL(0.25);
  if (low) resistance = resistance + MG_REAL(f.low) * (beta[0] / beta[-d]);
  if (high) resistance = resistance + MG_REAL(f.high) * (beta[0] / beta[d]);
  const mg_real_t part = MG_REAL(f.in_line) / resistance;
  return beta[0] * (part > MG_REAL(0.25) ? part : MG_REAL(0.25)); /* also if it is not a number */
}

/** Beta of a coarse face normal to d. Reads the faces next to the fine ones.
 *  @param[in] v       level of the fine patch
 *  @param[in] at      the coarse face, in its patch
 *  @param[in] factor  of all faces of the coarse level in direction d */
MG_INLINE mg_real_t mg_restrict_face(const mg_view_t *v, const mg_patch_t *fine,
                                     const mg_patch_t *coarse, int d, const int at[3],
                                     const mg_face_factor_t *factor) {
  const ptrdiff_t stride[3] = {1, fine->jstride, fine->kstride};
  const int e0 = d == 0 ? 1 : 0, e1 = d == 2 ? 1 : 2;
  mg_children_t c[3];
  for (int e = 0; e < 3; e++)
    if (e != d) c[e] = mg_children(v, fine, coarse, e, at[e]);
  const int32_t face = coarse->lo[d] + at[d];
  c[d] = (mg_children_t){mg_child_face(&v->single[d], v->n[d], face) - fine->lo[d], 1};
  mg_face_factor_t f = factor[face];
  if (at[d] == coarse->n[d]) f.high = 0.0; /* a wall, or replaced by the neighbor's face */
  const mg_real_t *x = mg_cell(fine, MG_BETA_I + d, c[0].first, c[1].first, c[2].first);
  mg_real_t sum = MG_REAL(0.0);
  for (int t1 = 0; t1 < c[e1].n; t1++)
    for (int t0 = 0; t0 < c[e0].n; t0++)
      sum = sum + mg_beta_in_line(x + t0 * stride[e0] + t1 * stride[e1], stride[d], f);
  return MG_REAL(f.scale) * sum;
}

/** Where a cell is in its coarse cell: -1 or 1, the low or the high child; 0, it has the place of
 *  the coarse cell.
 *  @param[in] n     cells of the level
 *  @param[in] cell  in the level */
MG_INLINE int mg_child_side(const mg_singles_t *s, int32_t n, int32_t cell) {
  const int32_t below = mg_singles_below(s, cell);
  if (mg_is_single(s, cell)) return 0;
  if ((cell - below) % 2 != 0) return 1;
  return cell == n - 1 ? 0 : -1;
}

/** Coarse cell of a cell, and where the cell is in it (mg_child_side). */
typedef struct {
  int32_t parent;
  int side;
} mg_child_t;

/** Any cell of a direction as a child. Beyond a period, cells repeat; beyond a wall each is alone.
 *  @param[in] cell  in the level; may be a ghost, by less than n cells */
MG_INLINE mg_child_t mg_child(const mg_singles_t *s, int32_t n, bool periodic, int32_t cell) {
  const int32_t n_coarse = mg_coarse_cells(s, n),
                beyond = cell < 0    ? -1
                         : cell >= n ? 1
                                     : 0,
                inside = cell - beyond * n;
  mg_child_t child;
  if (beyond != 0 && !periodic) {
    child.parent = cell < 0 ? cell : cell - n + n_coarse;
    child.side = 0;
    return child;
  }
  child.parent = mg_parent(s, inside) + beyond * n_coarse;
  child.side = mg_child_side(s, n, inside);
  return child;
}

/** P1 or V2 in one direction. */
MG_INLINE mg_real_t mg_interpolate_side(bool p1, mg_real_t low, mg_real_t c, mg_real_t high,
                                        int side) {
  if (side == 0) return c;
  return p1 ? mg_interpolate_p1(low, c, high, side) : mg_interpolate_v2(low, c, high, side);
}

#endif
