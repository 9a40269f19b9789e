/* Sums of one row of A: the diagonal and the Gershgorin sum of the off-diagonals, with walls folded
 * in. Shared by CPU and GPU.
 *
 * The reference probes A with colored vectors: 2 colors per direction for fv2 and 27pt, 4 for fv4.
 * It takes the absolute value of the sum over each color. So neighbors of the same color in a
 * direction are summed before taking the absolute value; for fv4 these are the two at distance 2.
 * This file computes the same sums from the coefficients. */
#ifndef MG_GERSHGORIN_H
#define MG_GERSHGORIN_H

#include "formulas/index.h"
#include "formulas/walls.h"

/** Diagonal and off-diagonal sum of one row of A. */
typedef struct {
  mg_real_t diagonal, off;
} mg_row_sums_t;

/** Sums of one row of a 7-point operator; `at` is patch-local.
 *
 *  The quadratic wall formula adds half of the wall face's beta to the weight of the neighbor
 *  opposite the wall. */
MG_SHARED mg_row_sums_t mg_row_sums_7(const mg_view_t *v, const mg_patch_t *p,
                                      mg_wall_orders_t order, const int at[3]) {
  const mg_real_t *bi = mg_cell(p, MG_BETA_I, at[0], at[1], at[2]),
                  *bj = mg_cell(p, MG_BETA_J, at[0], at[1], at[2]),
                  *bk = mg_cell(p, MG_BETA_K, at[0], at[1], at[2]);
  const mg_real_t beta[3][2] = {{bi[0], bi[1]}, {bj[0], bj[p->jstride]}, {bk[0], bk[p->kstride]}};
  mg_face_weights_t w;
  mg_real_t off = 0.0;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      const mg_wall_t kind = p->wall[d][side];
      const bool at_wall = kind && at[d] == (side == 0 ? 0 : p->n[d] - 1);
      (side == 0 ? w.low : w.high)[d] =
          at_wall ? mg_wall_weight(kind, order.along[d]) : MG_REAL(1.0);
      off += beta[d][side] * (at_wall ? mg_wall_off_diagonal(kind, order.along[d]) : MG_REAL(1.0));
    }
  mg_row_sums_t s;
  const mg_real_t a = mg_a_at(v, p, bi - p->vec[MG_BETA_I]);
  s.diagonal = mg_diagonal_7(bi, bj, bk, p->jstride, p->kstride, w, a, MG_REAL(v->b_h2));
  s.off = off * MG_REAL(v->b_h2);
  return s;
}

/** Sums of one row of 27pt. Neighbors of a color are at the same set of distances, 0 or 1, in each
 *  direction. A ghost outside a wall is a combination of the cell and of the neighbor opposite. */
MG_SHARED mg_row_sums_t mg_row_sums_27(const mg_view_t *v, const mg_patch_t *p,
                                       mg_wall_orders_t order, const int at[3]) {
  const mg_real_t weight[4] = {-128.0, 14.0, 3.0, 1.0}, points[] = MG_WALL_POINTS,
                  linear[] = MG_WALL_LINEAR;
  mg_real_t in_cell[3], in_others[3]; /* of the two values at distance 1 */
  for (int d = 0; d < 3; d++) {
    const int cell = p->lo[d] + at[d],
              ghosts = v->periodic ? 0 : (cell == 0) + (cell == v->n[d] - 1);
    const bool quadratic = order.along[d] == 3;
    in_cell[d] = ghosts * (quadratic ? points[0] : linear[0]);
    in_others[d] = (2 - ghosts) + ghosts * (quadratic ? points[1] : MG_REAL(0.0));
  }
  mg_row_sums_t s;
  s.diagonal = s.off = 0.0;
  for (int color = 0; color < 8; color++) {
    mg_real_t sum = 0.0;
    for (int offset = 0; offset < 8; offset++) { /* bit d: distance in direction d */
      mg_real_t w = weight[(offset & 1) + (offset >> 1 & 1) + (offset >> 2)];
      for (int d = 0; d < 3; d++)
        w *= offset >> d & 1 ? (color >> d & 1 ? in_others[d] : in_cell[d])
                             : MG_REAL(color >> d & 1 ? 0.0 : 1.0);
      sum += w;
    }
    if (color == 0)
      s.diagonal = sum;
    else
      s.off += mg_abs(sum);
  }
  const mg_real_t scale = MG_REAL(v->b_h2) * MG_REAL(1.0 / 30.0);
  const mg_real_t a = mg_a_at(v, p, at[0] + at[1] * p->jstride + at[2] * p->kstride);
  s.diagonal = mg_fma(-scale, s.diagonal, a);
  s.off *= scale;
  return s;
}

/* Weights of one fv4 row by offset, in units of -b/h^2: along the axes, on the edges of planes (d,
 * t). */
typedef struct {
  mg_real_t axis[3][5];
  mg_real_t edge[3][2]
                [2]; /* [plane ij, ik, jk][low or high in the first direction][in the second] */
} mg_row_weights_t;

MG_SHARED void mg_add_cross(mg_row_weights_t *w, const mg_real_t *beta, int d, int t,
                            const ptrdiff_t stride[3]) {
  const int plane = d + t - 1;
  for (int side = 0; side < 2; side++) {
    const mg_real_t *face = beta + side * stride[d];
    const mg_real_t gradient = (face[stride[t]] - face[-stride[t]]) / MG_REAL(48.0);
    for (int up = 0; up < 2; up++) {
      const mg_real_t g = up ? gradient : -gradient;
      const int first = d < t ? side : up, second = d < t ? up : side;
      w->edge[plane][first][second] += g;
      w->axis[t][2 + (up ? 1 : -1)] -= g;
    }
  }
}

MG_SHARED void mg_fv4_weights(const mg_patch_t *p, const int at[3], mg_row_weights_t *w) {
  const mg_real_t low[5] = {-1.0 / 12, 15.0 / 12, -15.0 / 12, 1.0 / 12, 0.0};
  const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
  for (int d = 0; d < 3; d++) {
    for (int o = 0; o < 5; o++)
      w->axis[d][o] = 0.0;
    for (int e = 0; e < 4; e++)
      w->edge[d][e >> 1][e & 1] = 0.0;
  }
  for (int d = 0; d < 3; d++) {
    const mg_real_t *beta = mg_cell(p, MG_BETA_I + d, at[0], at[1], at[2]);
    for (int o = 0; o < 5; o++)
      w->axis[d][o] += beta[0] * low[o] + beta[stride[d]] * low[4 - o];
    for (int t = 0; t < 3; t++)
      if (t != d) mg_add_cross(w, beta, d, t, stride);
  }
}

/* Away from walls, if the width is a multiple of 4: the two cells at distance 2 share a color. */
MG_SHARED mg_row_sums_t mg_sums_interior(const mg_row_weights_t *w) {
  mg_row_sums_t s;
  s.diagonal = s.off = 0.0;
  for (int d = 0; d < 3; d++) {
    s.diagonal += w->axis[d][2];
    s.off += mg_abs(w->axis[d][0] + w->axis[d][4]) + mg_abs(w->axis[d][1]) + mg_abs(w->axis[d][3]);
    for (int e = 0; e < 4; e++)
      s.off += mg_abs(w->edge[d][e >> 1][e & 1]);
  }
  return s;
}

/* A cell of one direction, expressed as a combination of cells inside the walls. */
typedef struct {
  int n;
  int cell[4];
  mg_real_t factor[4];
} mg_ghost_combination_t;

/** @param[in] n  cells in the direction */
MG_SHARED mg_ghost_combination_t mg_fold_cell(const mg_view_t *v, int n, int order, int cell) {
  mg_ghost_combination_t f = {0, {0, 0, 0, 0}, {0.0, 0.0, 0.0, 0.0}};
  if (v->periodic || (cell >= 0 && cell < n)) {
    f.n = 1;
    f.cell[0] = (cell + n) % n;
    f.factor[0] = 1.0;
    return f;
  }
  const int depth = cell < 0 ? -cell : cell - n + 1;
  const int wall = cell < 0 ? 0 : n - 1, in = cell < 0 ? 1 : -1;
  const mg_real_t first[] = MG_WALL_QUARTIC(12), second[] = MG_WALL_QUARTIC_SECOND(12),
                  quadratic[] = MG_WALL_QUADRATIC, linear[] = MG_WALL_LINEAR;
  /* The fallback formulas define the second ghost as 0. */
  f.n = order < 4 && depth == 2 ? 0 : order;
  for (int c = 0; c < f.n; c++) {
    f.cell[c] = wall + c * in;
    f.factor[c] = order == 4   ? (depth == 1 ? first[c] : second[c])
                  : order == 2 ? quadratic[c]
                               : linear[c];
  }
  return f;
}

enum { MG_FV4_COLORS = 4 };

typedef struct {
  mg_real_t diagonal, bin[MG_FV4_COLORS][MG_FV4_COLORS][MG_FV4_COLORS];
  int colors[3];
  const int *cell; /* global index of the row's cell */
} mg_color_sums_t;

MG_SHARED void mg_add_folded(mg_color_sums_t *b, mg_real_t weight,
                             const mg_ghost_combination_t f[3]) {
  for (int z = 0; z < f[2].n; z++)
    for (int y = 0; y < f[1].n; y++)
      for (int x = 0; x < f[0].n; x++) {
        const mg_real_t w = weight * f[0].factor[x] * f[1].factor[y] * f[2].factor[z];
        const int c[3] = {f[0].cell[x], f[1].cell[y], f[2].cell[z]};
        if (c[0] == b->cell[0] && c[1] == b->cell[1] && c[2] == b->cell[2])
          b->diagonal += w;
        else
          b->bin[c[2] % b->colors[2]][c[1] % b->colors[1]][c[0] % b->colors[0]] += w;
      }
}

/* Near walls, and on small grids where colors wrap: fold every weight onto cells inside. */
MG_SHARED mg_row_sums_t mg_sums_folded(const mg_view_t *v, int order, const int cell[3],
                                       const mg_row_weights_t *w) {
  mg_color_sums_t b;
  b.diagonal = 0.0;
  b.cell = cell;
  for (int c = 0; c < MG_FV4_COLORS * MG_FV4_COLORS * MG_FV4_COLORS; c++)
    (&b.bin[0][0][0])[c] = 0.0;
  for (int d = 0; d < 3; d++)
    b.colors[d] = v->n[d] < MG_FV4_COLORS ? v->n[d] : MG_FV4_COLORS;
  /* Recompute folded cells: a GPU reserves the stack that stores them for all its threads. */
  mg_ghost_combination_t f[3];
  for (int d = 0; d < 3; d++)
    f[d] = mg_fold_cell(v, v->n[d], order, cell[d]);
  for (int d = 0; d < 3; d++) {
    for (int o = 0; o < 5; o++) {
      f[d] = mg_fold_cell(v, v->n[d], order, cell[d] + o - 2);
      mg_add_folded(&b, w->axis[d][o], f);
    }
    f[d] = mg_fold_cell(v, v->n[d], order, cell[d]);
  }
  for (int t = 1; t < 3; t++)
    for (int d = 0; d < t; d++) {
      for (int e = 0; e < 4; e++) {
        f[d] = mg_fold_cell(v, v->n[d], order, cell[d] + (e >> 1 ? 1 : -1));
        f[t] = mg_fold_cell(v, v->n[t], order, cell[t] + (e & 1 ? 1 : -1));
        mg_add_folded(&b, w->edge[d + t - 1][e >> 1][e & 1], f);
      }
      f[d] = mg_fold_cell(v, v->n[d], order, cell[d]);
      f[t] = mg_fold_cell(v, v->n[t], order, cell[t]);
    }
  mg_row_sums_t s;
  s.diagonal = b.diagonal;
  s.off = 0.0;
  for (int c = 0; c < MG_FV4_COLORS * MG_FV4_COLORS * MG_FV4_COLORS; c++)
    s.off += mg_abs((&b.bin[0][0][0])[c]);
  return s;
}

/** True if colors do not wrap. */
MG_SHARED bool mg_fv4_colors_fit(const mg_view_t *v) {
  return v->n[0] % MG_FV4_COLORS == 0 && v->n[1] % MG_FV4_COLORS == 0 &&
         v->n[2] % MG_FV4_COLORS == 0;
}

/** True if neither walls nor wrapping colors affect an fv4 row. */
MG_SHARED bool mg_row_is_interior(const mg_view_t *v, const mg_patch_t *p, const int at[3]) {
  bool simple = mg_fv4_colors_fit(v);
  for (int d = 0; d < 3; d++) {
    const int cell = p->lo[d] + at[d];
    simple = simple && (v->periodic || (cell >= 2 && cell < v->n[d] - 2));
  }
  return simple;
}

/** Sums of one fv4 row; `at` is patch-local.
 *  @pre betas are valid one layer around the cell
 *  @param[in] simple  result of mg_row_is_interior */
MG_SHARED mg_row_sums_t mg_row_sums_fv4(const mg_view_t *v, const mg_patch_t *p, int order,
                                        const int at[3], bool simple) {
  mg_row_weights_t w;
  mg_row_sums_t s;
  const int cell[3] = {p->lo[0] + at[0], p->lo[1] + at[1], p->lo[2] + at[2]};
  mg_fv4_weights(p, at, &w);
  s = simple ? mg_sums_interior(&w) : mg_sums_folded(v, order, cell, &w);
  const mg_real_t a = mg_a_at(v, p, at[0] + at[1] * p->jstride + at[2] * p->kstride);
  s.diagonal = mg_fma(MG_REAL(-v->b_h2), s.diagonal, a);
  s.off *= MG_REAL(v->b_h2);
  return s;
}

/** Sums of one row of the operator with this number of points; `at` is patch-local. */
MG_SHARED mg_row_sums_t mg_row_sums(int points, const mg_view_t *v, const mg_patch_t *p,
                                    mg_wall_orders_t order, const int at[3]) {
  if (points == 25) return mg_row_sums_fv4(v, p, order.along[0], at, mg_row_is_interior(v, p, at));
  return points == 27 ? mg_row_sums_27(v, p, order, at) : mg_row_sums_7(v, p, order, at);
}

/** l1-scaled diagonal: the l1 term is added if the diagonal does not dominate.
 *  @ref Baker, Falgout, Kolev, Yang, Multigrid smoothers for ultraparallel computing (2011), eq.
 *      6.5 with theta = 3/2 */
MG_SHARED mg_real_t mg_l1_diagonal(mg_row_sums_t s) {
  return s.diagonal >= MG_REAL(1.5) * s.off ? s.diagonal : s.diagonal + MG_REAL(0.5) * s.off;
}

#endif
