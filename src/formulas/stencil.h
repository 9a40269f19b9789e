/* All formulas for one cell, each written once and shared by CPU and GPU.
 *
 * Compiled without FP contraction; fma() is written out where intended. Hence all backends,
 * vectorized or not, fused or not, give bit-identical results. x points at the cell; js and ks are
 * the strides to the next row and plane. */
#ifndef MG_STENCIL_H
#define MG_STENCIL_H

#include "base/inline.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/** Values of a 7-point stencil: the cell, and its low and high neighbors in i, j, k. */
typedef struct {
  double c, low[3], high[3];
} mg_values7_t;

/** A x of the 7-point operators, fv2 and 7pt.
 *
 *       -b/h^2 [ beta_i(i+1)(x(i+1)-x) + beta_i(i)(x(i-1)-x) + the same in j, k ] + a x */
MG_INLINE double mg_apply_values7(mg_values7_t x, const double *bi, const double *bj,
                                  const double *bk, ptrdiff_t js, ptrdiff_t ks, double a,
                                  double b_h2) {
  double s = bi[1] * (x.high[0] - x.c);
  s = fma(bi[0], x.low[0] - x.c, s);
  s = fma(bj[js], x.high[1] - x.c, s);
  s = fma(bj[0], x.low[1] - x.c, s);
  s = fma(bk[ks], x.high[2] - x.c, s);
  s = fma(bk[0], x.low[2] - x.c, s);
  return fma(-b_h2, s, a * x.c);
}

/** A x of the 7-point operators with all neighbors in memory, ghosts included. */
MG_INLINE double mg_apply_7(const double *x, const double *bi, const double *bj, const double *bk,
                            ptrdiff_t js, ptrdiff_t ks, double a, double b_h2) {
  mg_values7_t v;
  v.c = x[0];
  v.low[0] = x[-1];
  v.high[0] = x[1];
  v.low[1] = x[-js];
  v.high[1] = x[js];
  v.low[2] = x[-ks];
  v.high[2] = x[ks];
  return mg_apply_values7(v, bi, bj, bk, js, ks, a, b_h2);
}

/** Weight of each face's beta in the diagonal of a 7-point row. It is 1 at an interior face and
 *  larger at a wall, where the ghost formula uses the cell itself. */
typedef struct {
  double low[3], high[3];
} mg_face_weights_t;

/** Face weight at a wall for a given formula order: 1 - (weight of x1). */
MG_INLINE double mg_wall_weight(int order) {
  return order == 1 ? 2.0 : 3.5;
}

/** Diagonal of A for the 7-point operators. */
MG_INLINE double mg_diagonal_7(const double *bi, const double *bj, const double *bk, ptrdiff_t js,
                               ptrdiff_t ks, mg_face_weights_t w, double a, double b_h2) {
  double s = w.low[0] * bi[0];
  s = s + w.high[0] * bi[1];
  s = s + w.low[1] * bj[0];
  s = s + w.high[1] * bj[js];
  s = s + w.low[2] * bk[0];
  s = s + w.high[2] * bk[ks];
  return fma(b_h2, s, a);
}

/** Values of an fv4 stencil.
 *
 *  c: the cell. axis: offsets -2, -1, 1, 2 in each direction. edge: [plane ij, ik, jk][low or high
 *  in the first direction][in the second]. */
typedef struct {
  double c, axis[3][4], edge[3][2][2];
} mg_values25_t;

/** Betas of an fv4 row.
 *
 *  face: low and high face of the cell in each direction. beside: next to each of these faces, the
 *  low and high neighboring faces, in the first, then in the second tangential direction. */
typedef struct {
  double face[3][2], beside[3][2][2][2];
} mg_betas30_t;

/** Fourth-order fluxes through the low and high face of a cell. */
MG_INLINE double mg_fluxes4(double c, const double axis[4], const double face[2]) {
  return face[0] * fma(15.0, axis[1] - c, axis[2] - axis[0]) +
         face[1] * fma(15.0, axis[2] - c, axis[1] - axis[3]);
}

/** Cross terms of these faces in one tangential direction. `along`: values in that direction;
 *  low_*, high_*: edge values beyond the faces; beside: betas next to the faces. */
MG_INLINE double mg_crosses4(const double along[4], double low_down, double low_up,
                             double high_down, double high_up, const double beside[2][2],
                             double s) {
  s = fma(beside[0][1] - beside[0][0], (low_up - along[2]) - (low_down - along[1]), s);
  return fma(beside[1][1] - beside[1][0], (high_up - along[2]) - (high_down - along[1]), s);
}

/** mg_crosses4 of direction d, where d is the first or the second index of `edge`. */
MG_INLINE double mg_crosses4_first(const double along[4], const double edge[2][2],
                                   const double beside[2][2], double s) {
  return mg_crosses4(along, edge[0][0], edge[0][1], edge[1][0], edge[1][1], beside, s);
}
MG_INLINE double mg_crosses4_second(const double along[4], const double edge[2][2],
                                    const double beside[2][2], double s) {
  return mg_crosses4(along, edge[0][0], edge[1][0], edge[0][1], edge[1][1], beside, s);
}

/** A x of fv4: fluxes with factor 1/12, tangential variation of beta with factor 1/48.
 *  @ref problem statement in docs/algorithm.md, "Operators" */
MG_INLINE double mg_apply_values25(const mg_values25_t *x, const mg_betas30_t *b, double a,
                                   double b_h2) {
  const double faces =
      (mg_fluxes4(x->c, x->axis[0], b->face[0]) + mg_fluxes4(x->c, x->axis[1], b->face[1])) +
      mg_fluxes4(x->c, x->axis[2], b->face[2]);
  double cross = mg_crosses4_first(x->axis[1], x->edge[0], b->beside[0][0], 0.0);
  cross = mg_crosses4_first(x->axis[2], x->edge[1], b->beside[0][1], cross);
  cross = mg_crosses4_second(x->axis[0], x->edge[0], b->beside[1][0], cross);
  cross = mg_crosses4_first(x->axis[2], x->edge[2], b->beside[1][1], cross);
  cross = mg_crosses4_second(x->axis[0], x->edge[1], b->beside[2][0], cross);
  cross = mg_crosses4_second(x->axis[1], x->edge[2], b->beside[2][1], cross);
  return fma(-b_h2 * (1.0 / 12.0), fma(0.25, cross, faces), a * x->c);
}

/** Load stencil values from memory: along stride d; the edges of the plane of strides d and t; the
 *  betas normal to d, with tangential strides t and u. */
MG_INLINE void mg_load_axis(const double *x, ptrdiff_t d, double axis[4]) {
  axis[0] = x[-2 * d];
  axis[1] = x[-d];
  axis[2] = x[d];
  axis[3] = x[2 * d];
}
MG_INLINE void mg_load_edges(const double *x, ptrdiff_t d, ptrdiff_t t, double edge[2][2]) {
  edge[0][0] = x[-d - t];
  edge[0][1] = x[-d + t];
  edge[1][0] = x[d - t];
  edge[1][1] = x[d + t];
}
MG_INLINE void mg_load_faces(const double *beta, ptrdiff_t d, ptrdiff_t t, ptrdiff_t u,
                             double face[2], double beside[2][2][2]) {
  face[0] = beta[0];
  face[1] = beta[d];
  beside[0][0][0] = beta[-t];
  beside[0][0][1] = beta[t];
  beside[0][1][0] = beta[d - t];
  beside[0][1][1] = beta[d + t];
  beside[1][0][0] = beta[-u];
  beside[1][0][1] = beta[u];
  beside[1][1][0] = beta[d - u];
  beside[1][1][1] = beta[d + u];
}

MG_INLINE mg_betas30_t mg_load_betas30(const double *bi, const double *bj, const double *bk,
                                       ptrdiff_t js, ptrdiff_t ks) {
  mg_betas30_t b;
  mg_load_faces(bi, 1, js, ks, b.face[0], b.beside[0]);
  mg_load_faces(bj, js, 1, ks, b.face[1], b.beside[1]);
  mg_load_faces(bk, ks, 1, js, b.face[2], b.beside[2]);
  return b;
}

MG_INLINE mg_values25_t mg_load_values25(const double *x, ptrdiff_t js, ptrdiff_t ks) {
  mg_values25_t v;
  v.c = x[0];
  mg_load_axis(x, 1, v.axis[0]);
  mg_load_axis(x, js, v.axis[1]);
  mg_load_axis(x, ks, v.axis[2]);
  mg_load_edges(x, 1, js, v.edge[0]);
  mg_load_edges(x, 1, ks, v.edge[1]);
  mg_load_edges(x, js, ks, v.edge[2]);
  return v;
}

/** A x of fv4 with all neighbors in memory, ghosts included. Reads betas one face outward in both
 *  tangential directions. */
MG_INLINE double mg_apply_fv4(const double *x, const double *bi, const double *bj, const double *bk,
                              ptrdiff_t js, ptrdiff_t ks, double a, double b_h2) {
  const mg_betas30_t b = mg_load_betas30(bi, bj, bk, js, ks);
  const mg_values25_t v = mg_load_values25(x, js, ks);
  return mg_apply_values25(&v, &b, a, b_h2);
}

/** Mean of the 8 children in a fixed order; each argument is the sum of a pair along i. */
MG_INLINE double mg_mean8(double row00, double row10, double row01, double row11) {
  return 0.125 * ((row00 + row10) + (row01 + row11));
}

/** Mean of the 4 fine faces of a coarse face; t1 and t2 are the tangential strides. */
MG_INLINE double mg_mean4(const double *x, ptrdiff_t t1, ptrdiff_t t2) {
  return 0.25 * ((x[0] + x[t1]) + (x[t2] + x[t1 + t2]));
}

/** Ghost values outside a homogeneous Dirichlet wall, from the interior cells x1, x2, ... inward of
 *  it. */
MG_INLINE double mg_wall1(double x1) {
  return -x1;
}
MG_INLINE double mg_wall2(double x1, double x2) {
  return fma(-2.5, x1, 0.5 * x2);
}
MG_INLINE double mg_wall4_first(double x1, double x2, double x3, double x4) {
  return fma(-77.0, x1, fma(43.0, x2, fma(-17.0, x3, 3.0 * x4))) * (1.0 / 12.0);
}
MG_INLINE double mg_wall4_second(double x1, double x2, double x3, double x4) {
  return fma(-505.0, x1, fma(335.0, x2, fma(-145.0, x3, 27.0 * x4))) * (1.0 / 12.0);
}

/** Extrapolate a face beta one layer outside the domain from tangential neighbors inside it. */
MG_INLINE double mg_extend2(double b1, double b2) {
  return fma(2.0, b1, -b2);
}
MG_INLINE double mg_extend3(double b1, double b2, double b3, double b4) {
  return fma(4.0, b1, fma(-6.0, b2, fma(4.0, b3, -b4)));
}
MG_INLINE double mg_extend4(double b1, double b2, double b3, double b4, double b5) {
  return fma(5.0, b1, fma(-10.0, b2, fma(10.0, b3, fma(-5.0, b4, b5))));
}

/** Extrapolation formula for a box width; b points at the first face inside, `in` is the inward
 *  stride. */
MG_INLINE double mg_extended(const double *b, ptrdiff_t in, int box_dim) {
  if (box_dim >= 5) return mg_extend4(b[0], b[in], b[2 * in], b[3 * in], b[4 * in]);
  if (box_dim == 4) return mg_extend3(b[0], b[in], b[2 * in], b[3 * in]);
  if (box_dim >= 2) return mg_extend2(b[0], b[in]);
  return b[0];
}

/** Interpolation in one direction: the child on the low (side -1) or high (side +1) side of a
 *  coarse cell. m2, m1, c, p1, p2 are the coarse cells at offsets -2 .. +2. */
MG_INLINE double mg_interpolate_p1(double m1, double c, double p1, int side) {
  return fma(0.75, c, 0.25 * (side < 0 ? m1 : p1));
}
MG_INLINE double mg_interpolate_v2(double m1, double c, double p1, int side) {
  return fma(side < 0 ? 0.125 : -0.125, m1 - p1, c);
}
MG_INLINE double mg_interpolate_v4(double m2, double m1, double c, double p1, double p2, int side) {
  const double d = fma(22.0 / 128.0, m1 - p1, (-3.0 / 128.0) * (m2 - p2));
  return side < 0 ? c + d : c - d;
}

#endif
