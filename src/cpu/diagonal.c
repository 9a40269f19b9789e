/* 1 / diagonal of A and the Gershgorin bound of Dinv A, walls folded in.
 *
 * The reference probes A with coloured vectors, 2 colours a direction for fv2 and 4 for fv4, and
 * takes the absolute value of what a colour gives in sum: so the two neighbours of a direction
 * count together, for fv4 those at distance two. Here the same sums come from the coefficients. */
#include "cpu.h"
#include "stencil.h"
#include <math.h>

/* Diagonal and off-diagonal sum of one row of A. */
typedef struct {
  double diagonal, off;
} row_sums_t;

/* One row of a 7-point operator. The quadratic wall formula reaches the second cell inward, whose
 * colour is that of the first or which is its neighbour: its half counts off the diagonal. */
static row_sums_t sums_7(const mg_view_t *v, const mg_patch_t *p, int order, const int at[3]) {
  const double *bi = mg_cell(p, MG_BETA_I, at[0], at[1], at[2]),
               *bj = mg_cell(p, MG_BETA_J, at[0], at[1], at[2]),
               *bk = mg_cell(p, MG_BETA_K, at[0], at[1], at[2]);
  const mg_face_weights_t w = mg_cpu_face_weights(p, order, at);
  const double low[3] = {bi[0], bj[0], bk[0]}, high[3] = {bi[1], bj[p->jstride], bk[p->kstride]};
  const double at_wall = order == 1 ? 0.0 : 0.5;
  double off = 0.0;
  for (int d = 0; d < 3; d++) {
    off += low[d] * (w.low[d] == 1.0 ? 1.0 : at_wall);
    off += high[d] * (w.high[d] == 1.0 ? 1.0 : at_wall);
  }
  return (row_sums_t){mg_diagonal_7(bi, bj, bk, p->jstride, p->kstride, w, v->a, v->b_h2),
                      off * v->b_h2};
}

/* Weights of one fv4 row by distance, in units of -b/h^2: along the axes, and on the 4 edges of
 * each plane (d, t). */
typedef struct {
  double axis[3][5];
  double edge[3][2][2]; /* planes ij, ik, jk; low or high in the first, in the second direction */
} weights_t;

static void add_cross(weights_t *w, const double *beta, int d, int t, const ptrdiff_t stride[3]) {
  const int plane = d + t - 1;
  for (int side = 0; side < 2; side++) {
    const double *face = beta + side * stride[d];
    const double gradient = (face[stride[t]] - face[-stride[t]]) / 48.0;
    for (int up = 0; up < 2; up++) {
      const double g = up ? gradient : -gradient;
      const int first = d < t ? side : up, second = d < t ? up : side;
      w->edge[plane][first][second] += g;
      w->axis[t][2 + (up ? 1 : -1)] -= g;
    }
  }
}

static void fv4_weights(const mg_patch_t *p, const int at[3], weights_t *w) {
  static const double low[5] = {-1.0 / 12, 15.0 / 12, -15.0 / 12, 1.0 / 12, 0.0};
  const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
  *w = (weights_t){{{0.0}}, {{{0.0}}}};
  for (int d = 0; d < 3; d++) {
    const double *beta = mg_cell(p, MG_BETA_I + d, at[0], at[1], at[2]);
    for (int o = 0; o < 5; o++)
      w->axis[d][o] += beta[0] * low[o] + beta[stride[d]] * low[4 - o];
    for (int t = 0; t < 3; t++)
      if (t != d) add_cross(w, beta, d, t, stride);
  }
}

/* Away from walls, with a width that 4 divides: colours pair the cells at distance two. */
static row_sums_t sums_interior(const weights_t *w) {
  row_sums_t s = {0.0, 0.0};
  for (int d = 0; d < 3; d++) {
    s.diagonal += w->axis[d][2];
    s.off += fabs(w->axis[d][0] + w->axis[d][4]) + fabs(w->axis[d][1]) + fabs(w->axis[d][3]);
    for (int e = 0; e < 4; e++)
      s.off += fabs(w->edge[d][e >> 1][e & 1]);
  }
  return s;
}

/* A cell of one direction as a combination of cells inside the walls. */
typedef struct {
  int n;
  int cell[4];
  double factor[4];
} fold_t;

static fold_t fold_cell(const mg_view_t *v, int order, int cell) {
  const int n = v->dim;
  if (v->periodic) return (fold_t){1, {(cell + n) % n}, {1.0}};
  if (cell >= 0 && cell < n) return (fold_t){1, {cell}, {1.0}};
  const int depth = cell < 0 ? -cell : cell - n + 1;
  const int wall = cell < 0 ? 0 : n - 1, in = cell < 0 ? 1 : -1;
  fold_t f = {.n = order};
  static const double first[4] = {-77.0 / 12, 43.0 / 12, -17.0 / 12, 3.0 / 12},
                      second[4] = {-505.0 / 12, 335.0 / 12, -145.0 / 12, 27.0 / 12},
                      quadratic[2] = {-2.5, 0.5};
  if (order < 4 && depth == 2) f.n = 0; /* the second ghost of the fallback formulas is 0 */
  for (int c = 0; c < f.n; c++) {
    f.cell[c] = wall + c * in;
    f.factor[c] = order == 4   ? (depth == 1 ? first[c] : second[c])
                  : order == 2 ? quadratic[c]
                               : -1.0;
  }
  return f;
}

enum { COLORS = 4 };

typedef struct {
  double diagonal, bin[COLORS][COLORS][COLORS];
  int colors;
  const int *cell; /* the row's own cell, global */
} bins_t;

static void add_folded(bins_t *b, double weight, const fold_t f[3]) {
  for (int z = 0; z < f[2].n; z++)
    for (int y = 0; y < f[1].n; y++)
      for (int x = 0; x < f[0].n; x++) {
        const double w = weight * f[0].factor[x] * f[1].factor[y] * f[2].factor[z];
        const int c[3] = {f[0].cell[x], f[1].cell[y], f[2].cell[z]};
        if (c[0] == b->cell[0] && c[1] == b->cell[1] && c[2] == b->cell[2])
          b->diagonal += w;
        else
          b->bin[c[2] % b->colors][c[1] % b->colors][c[0] % b->colors] += w;
      }
}

/* Near walls, and on the small grids whose colours wrap: fold every weight onto cells inside. */
static row_sums_t sums_folded(const mg_view_t *v, int order, const int cell[3],
                              const weights_t *w) {
  bins_t b = {.diagonal = 0.0, .bin = {{{0.0}}}, .cell = cell};
  b.colors = v->dim < COLORS ? v->dim : COLORS;
  fold_t fold[3][5], f[3];
  for (int d = 0; d < 3; d++)
    for (int o = 0; o < 5; o++)
      fold[d][o] = fold_cell(v, order, cell[d] + o - 2);
  for (int d = 0; d < 3; d++) {
    for (int e = 0; e < 3; e++)
      f[e] = fold[e][2];
    for (int o = 0; o < 5; o++) {
      f[d] = fold[d][o];
      add_folded(&b, w->axis[d][o], f);
    }
  }
  static const int planes[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  for (int q = 0; q < 3; q++)
    for (int e = 0; e < 4; e++) {
      const int d = planes[q][0], t = planes[q][1];
      for (int g = 0; g < 3; g++)
        f[g] = fold[g][2];
      f[d] = fold[d][e >> 1 ? 3 : 1];
      f[t] = fold[t][e & 1 ? 3 : 1];
      add_folded(&b, w->edge[q][e >> 1][e & 1], f);
    }
  row_sums_t s = {b.diagonal, 0.0};
  for (int c = 0; c < COLORS * COLORS * COLORS; c++)
    s.off += fabs((&b.bin[0][0][0])[c]);
  return s;
}

static row_sums_t sums_fv4(const mg_view_t *v, const mg_patch_t *p, int order, const int at[3]) {
  weights_t w;
  int cell[3];
  bool interior = v->dim % COLORS == 0;
  fv4_weights(p, at, &w);
  for (int d = 0; d < 3; d++) {
    cell[d] = p->lo[d] + at[d];
    interior = interior && (v->periodic || (cell[d] >= 2 && cell[d] < v->dim - 2));
  }
  row_sums_t s = interior ? sums_interior(&w) : sums_folded(v, order, cell, &w);
  s.diagonal = fma(-v->b_h2, s.diagonal, v->a);
  s.off *= v->b_h2;
  return s;
}

/* Baker, Falgout, Kolev, Yang, Multigrid smoothers for ultraparallel computing (2011), eq. 6.5
 * with theta = 3/2: the l1 term is added where the diagonal does not dominate. */
static double l1_diagonal(row_sums_t s) {
  return s.diagonal >= 1.5 * s.off ? s.diagonal : s.diagonal + 0.5 * s.off;
}

mg_status_t mg_cpu_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max) {
  const int order = mg_cpu_operator_order(v);
  double largest = 0.0;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)                 \
    reduction(max                                                                                  \
              : largest)
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++)
        for (int i = 0; i < p->n[0]; i++) {
          const int at[3] = {i, j, k};
          const row_sums_t s =
              v->op == MG_OPERATOR_FV4 ? sums_fv4(v, p, order, at) : sums_7(v, p, order, at);
          const double bound = (s.diagonal + s.off) / s.diagonal;
          largest = bound > largest ? bound : largest;
          *mg_cell(p, MG_DINV, i, j, k) = 1.0 / (l1 ? l1_diagonal(s) : s.diagonal);
        }
  }
  *lambda_max = largest;
  return MG_OK;
}
