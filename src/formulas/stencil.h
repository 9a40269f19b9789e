/* All formulas for one cell, each written once and shared by CPU and GPU.
 *
 * Compiled without FP contraction; fma() is written out where intended. Hence all backends,
 * vectorized or not, fused or not, give bit-identical results. x points at the cell; js and ks are
 * the strides to the next row and plane. */
#ifndef MG_STENCIL_H
#define MG_STENCIL_H

#include "base/inline.h"
#include "base/operators.h"
#include "formulas/real.h"
#include <stddef.h>
#include <stdint.h>

/** Values of a 7-point stencil: the cell, and its low and high neighbors in i, j, k. */
typedef struct {
  mg_real_t c, low[3], high[3];
} mg_values7_t;

/** A x of the 7-point operators, fv2 and 7pt.
 *
 *       -b/h^2 [ beta_i(i+1)(x(i+1)-x) + beta_i(i)(x(i-1)-x) + the same in j, k ] + a x */
MG_INLINE mg_real_t mg_apply_values7(mg_values7_t x, const mg_real_t *bi, const mg_real_t *bj,
                                     const mg_real_t *bk, ptrdiff_t js, ptrdiff_t ks, mg_real_t a,
                                     mg_real_t b_h2) {
  mg_real_t s = bi[1] * (x.high[0] - x.c);
  s = mg_fma(bi[0], x.low[0] - x.c, s);
  s = mg_fma(bj[js], x.high[1] - x.c, s);
  s = mg_fma(bj[0], x.low[1] - x.c, s);
  s = mg_fma(bk[ks], x.high[2] - x.c, s);
  s = mg_fma(bk[0], x.low[2] - x.c, s);
  return mg_fma(-b_h2, s, a * x.c);
}

/** A x of the 7-point operators with all neighbors in memory, ghosts included. */
MG_INLINE mg_real_t mg_apply_7(const mg_real_t *x, const mg_real_t *bi, const mg_real_t *bj,
                               const mg_real_t *bk, ptrdiff_t js, ptrdiff_t ks, mg_real_t a,
                               mg_real_t b_h2) {
  const mg_values7_t v = {x[0], {x[-1], x[-js], x[-ks]}, {x[1], x[js], x[ks]}};
  return mg_apply_values7(v, bi, bj, bk, js, ks, a, b_h2);
}

/** Weight of each face's beta in the diagonal of a 7-point row. It is 1 at an interior face and
 *  larger at a wall, where the ghost formula uses the cell itself. */
typedef struct {
  mg_real_t low[3], high[3];
} mg_face_weights_t;

/** Diagonal of A for the 7-point operators. */
MG_INLINE mg_real_t mg_diagonal_7(const mg_real_t *bi, const mg_real_t *bj, const mg_real_t *bk,
                                  ptrdiff_t js, ptrdiff_t ks, mg_face_weights_t w, mg_real_t a,
                                  mg_real_t b_h2) {
  mg_real_t s = w.low[0] * bi[0];
  s = s + w.high[0] * bi[1];
  s = s + w.low[1] * bj[0];
  s = s + w.high[1] * bj[js];
  s = s + w.low[2] * bk[0];
  s = s + w.high[2] * bk[ks];
  return mg_fma(b_h2, s, a);
}

/** Values next to a cell along one direction, at offsets -2, -1, 1 and 2. */
typedef struct {
  mg_real_t low2, low, high, high2;
} mg_axis4_t;

/** Edge neighbors of a cell in the plane of two directions, named by the side in the first, then in
 *  the second direction. */
typedef struct {
  mg_real_t low_low, low_high, high_low, high_high;
} mg_edges4_t;

/** Values of an fv4 stencil, here in the plane of i and j:
 *
 *                               j.high2
 *              ij.low_high      j.high      ij.high_high
 *     i.low2      i.low            c           i.high       i.high2
 *              ij.low_low       j.low       ij.high_low
 *                               j.low2
 */
typedef struct {
  mg_real_t c;
  mg_axis4_t i, j, k;
  mg_edges4_t ij, ik, jk;
} mg_values25_t;

/** Betas of the two faces next to a face along one tangential direction. */
typedef struct {
  mg_real_t low, high;
} mg_neighbors2_t;

/** Betas of a face and of its neighbors along both tangential directions. t1 precedes t2 in the
 *  order i, j, k. */
typedef struct {
  mg_real_t c;
  mg_neighbors2_t t1, t2;
} mg_face5_t;

/** Betas of the low and the high face of a cell in one direction. */
typedef struct {
  mg_face5_t low, high;
} mg_faces10_t;

/** Betas of an fv4 row, by the direction of the face normal; here in the plane of i and j:
 *
 *                       i.low.t1.high |              | i.high.t1.high
 *        j.high.t1.low ---------------+-- j.high.c --+--------------- j.high.t1.high
 *                             i.low.c |     cell     | i.high.c
 *         j.low.t1.low ---------------+-- j.low.c ---+--------------- j.low.t1.high
 *                        i.low.t1.low |              | i.high.t1.low
 */
typedef struct {
  mg_faces10_t i, j, k;
} mg_betas30_t;

/** Fourth-order fluxes through the low and the high face normal to a direction; x: values along
 *  it. */
MG_INLINE mg_real_t mg_fluxes4(mg_real_t c, mg_axis4_t x, const mg_faces10_t *beta) {
  return beta->low.c * mg_fma(MG_REAL(15.0), x.low - c, x.high - x.low2) +
         beta->high.c * mg_fma(MG_REAL(15.0), x.high - c, x.low - x.high2);
}

/** s plus the cross terms of the two faces normal to direction d, in tangential direction t: the
 *  difference of beta along t, times that of the difference of x across the face.
 *
 *     dt.low_high             t.high             dt.high_high
 *                  low.high            high.high                    t
 *                     |        cell        |                        |
 *                  low.low             high.low                     +-- d
 *     dt.low_low              t.low              dt.high_low
 *
 *  @param t          values along t
 *  @param dt         edge neighbors
 *  @param low, high  betas along t of the neighbors of the low and the high face */
MG_INLINE mg_real_t mg_crosses4(mg_axis4_t t, mg_edges4_t dt, mg_neighbors2_t low,
                                mg_neighbors2_t high, mg_real_t s) {
  s = mg_fma(low.high - low.low, (dt.low_high - t.high) - (dt.low_low - t.low), s);
  return mg_fma(high.high - high.low, (dt.high_high - t.high) - (dt.high_low - t.low), s);
}

/** Edge neighbors with the two directions exchanged. */
MG_INLINE mg_edges4_t mg_transposed(mg_edges4_t x) {
  const mg_real_t low_high = x.low_high;
  x.low_high = x.high_low;
  x.high_low = low_high;
  return x;
}

/** A x of fv4: fluxes with factor 1/12, tangential variation of beta with factor 1/48.
 *  @ref problem statement in docs/algorithm.md, "Operators" */
MG_INLINE mg_real_t mg_apply_values25(const mg_values25_t *x, const mg_betas30_t *b, mg_real_t a,
                                      mg_real_t b_h2) {
  const mg_real_t fluxes = (mg_fluxes4(x->c, x->i, &b->i) + mg_fluxes4(x->c, x->j, &b->j)) +
                           mg_fluxes4(x->c, x->k, &b->k);
  mg_real_t cross = mg_crosses4(x->j, x->ij, b->i.low.t1, b->i.high.t1, MG_REAL(0.0));
  cross = mg_crosses4(x->k, x->ik, b->i.low.t2, b->i.high.t2, cross);
  cross = mg_crosses4(x->i, mg_transposed(x->ij), b->j.low.t1, b->j.high.t1, cross);
  cross = mg_crosses4(x->k, x->jk, b->j.low.t2, b->j.high.t2, cross);
  cross = mg_crosses4(x->i, mg_transposed(x->ik), b->k.low.t1, b->k.high.t1, cross);
  cross = mg_crosses4(x->j, mg_transposed(x->jk), b->k.low.t2, b->k.high.t2, cross);
  return mg_fma(-b_h2 * MG_REAL(1.0 / 12.0), mg_fma(MG_REAL(0.25), cross, fluxes), a * x->c);
}

/** Load values: along stride d; in the plane of strides d and t; all. */
MG_INLINE mg_axis4_t mg_load_axis4(const mg_real_t *x, ptrdiff_t d) {
  return (mg_axis4_t){x[-2 * d], x[-d], x[d], x[2 * d]};
}
MG_INLINE mg_edges4_t mg_load_edges4(const mg_real_t *x, ptrdiff_t d, ptrdiff_t t) {
  return (mg_edges4_t){x[-d - t], x[-d + t], x[d - t], x[d + t]};
}
MG_INLINE mg_values25_t mg_load_values25(const mg_real_t *x, ptrdiff_t js, ptrdiff_t ks) {
  return (mg_values25_t){x[0],
                         mg_load_axis4(x, 1),
                         mg_load_axis4(x, js),
                         mg_load_axis4(x, ks),
                         mg_load_edges4(x, 1, js),
                         mg_load_edges4(x, 1, ks),
                         mg_load_edges4(x, js, ks)};
}

/** Load betas: next to face `at` along stride t; of the faces normal to stride d, with tangential
 *  strides t1 and t2; all. */
MG_INLINE mg_neighbors2_t mg_load_neighbors2(const mg_real_t *beta, ptrdiff_t at, ptrdiff_t t) {
  return (mg_neighbors2_t){beta[at - t], beta[at + t]};
}
MG_INLINE mg_faces10_t mg_load_faces10(const mg_real_t *beta, ptrdiff_t d, ptrdiff_t t1,
                                       ptrdiff_t t2) {
  return (mg_faces10_t){
      {beta[0], mg_load_neighbors2(beta, 0, t1), mg_load_neighbors2(beta, 0, t2)},
      {beta[d], mg_load_neighbors2(beta, d, t1), mg_load_neighbors2(beta, d, t2)}};
}
MG_INLINE mg_betas30_t mg_load_betas30(const mg_real_t *bi, const mg_real_t *bj,
                                       const mg_real_t *bk, ptrdiff_t js, ptrdiff_t ks) {
  return (mg_betas30_t){mg_load_faces10(bi, 1, js, ks), mg_load_faces10(bj, js, 1, ks),
                        mg_load_faces10(bk, ks, 1, js)};
}

/** A x of fv4 with all neighbors in memory, ghosts included. Reads betas one face outward in both
 *  tangential directions. */
MG_INLINE mg_real_t mg_apply_25(const mg_real_t *x, const mg_real_t *bi, const mg_real_t *bj,
                                const mg_real_t *bk, ptrdiff_t js, ptrdiff_t ks, mg_real_t a,
                                mg_real_t b_h2) {
  const mg_betas30_t b = mg_load_betas30(bi, bj, bk, js, ks);
  const mg_values25_t v = mg_load_values25(x, js, ks);
  return mg_apply_values25(&v, &b, a, b_h2);
}

/** Sum of the 4 edge neighbors in the plane of strides d and t. */
MG_INLINE mg_real_t mg_sum_edges4(const mg_real_t *x, ptrdiff_t d, ptrdiff_t t) {
  return (x[-d - t] + x[-d + t]) + (x[d - t] + x[d + t]);
}

/** A x of 27pt, with beta = 1: the weights of the cell, its 6 faces, 12 edges and 8 corners are
 *  -128, 14, 3 and 1, divided by 30. Reads no betas; the parameters are those of the others. */
MG_INLINE mg_real_t mg_apply_27(const mg_real_t *x, const mg_real_t *bi, const mg_real_t *bj,
                                const mg_real_t *bk, ptrdiff_t js, ptrdiff_t ks, mg_real_t a,
                                mg_real_t b_h2) {
  const mg_real_t faces = ((x[-1] + x[1]) + (x[-js] + x[js])) + (x[-ks] + x[ks]),
                  edges = (mg_sum_edges4(x, 1, js) + mg_sum_edges4(x, 1, ks)) +
                          mg_sum_edges4(x, js, ks),
                  corners = mg_sum_edges4(x - ks, 1, js) + mg_sum_edges4(x + ks, 1, js);
  const mg_real_t s = mg_fma(MG_REAL(-128.0), x[0],
                             mg_fma(MG_REAL(14.0), faces, mg_fma(MG_REAL(3.0), edges, corners)));
  (void)bi;
  (void)bj;
  (void)bk;
  return mg_fma(-b_h2 * MG_REAL(1.0 / 30.0), s, a * x[0]);
}

/** X(points) for each stencil mg_apply_points except that of 7 points, which has more kernels. */
#define MG_OTHER_STENCILS(X) X(27) X(25)

/** Mean of the 8 children in a fixed order; the arguments are the sums of two planes. */
MG_INLINE mg_real_t mg_mean_of_planes(mg_real_t low, mg_real_t high) {
  return MG_REAL(0.125) * (low + high);
}

/** The same; each argument is the sum of a pair along i. */
MG_INLINE mg_real_t mg_mean8(mg_real_t row00, mg_real_t row10, mg_real_t row01, mg_real_t row11) {
  return mg_mean_of_planes(row00 + row10, row01 + row11);
}

/** Mean of the 4 fine faces of a coarse face; t1 and t2 are the tangential strides. */
MG_INLINE mg_real_t mg_mean4(const mg_real_t *x, ptrdiff_t t1, ptrdiff_t t2) {
  return MG_REAL(0.25) * ((x[0] + x[t1]) + (x[t2] + x[t1 + t2]));
}

/** Extrapolate a face beta one layer outside the domain from tangential neighbors inside it. */
MG_INLINE mg_real_t mg_extrapolate_linear(mg_real_t b1, mg_real_t b2) {
  return mg_fma(MG_REAL(2.0), b1, -b2);
}
MG_INLINE mg_real_t mg_extrapolate_cubic(mg_real_t b1, mg_real_t b2, mg_real_t b3, mg_real_t b4) {
  return mg_fma(MG_REAL(4.0), b1, mg_fma(MG_REAL(-6.0), b2, mg_fma(MG_REAL(4.0), b3, -b4)));
}
MG_INLINE mg_real_t mg_extrapolate_quartic(mg_real_t b1, mg_real_t b2, mg_real_t b3, mg_real_t b4,
                                           mg_real_t b5) {
  return mg_fma(
      MG_REAL(5.0), b1,
      mg_fma(MG_REAL(-10.0), b2, mg_fma(MG_REAL(10.0), b3, mg_fma(MG_REAL(-5.0), b4, b5))));
}

/** Extrapolation formula for a box width; b points at the first face inside, `in` is the inward
 *  stride. */
MG_INLINE mg_real_t mg_extrapolate_face(const mg_real_t *b, ptrdiff_t in, int box_dim) {
  if (box_dim >= 5) return mg_extrapolate_quartic(b[0], b[in], b[2 * in], b[3 * in], b[4 * in]);
  if (box_dim == 4) return mg_extrapolate_cubic(b[0], b[in], b[2 * in], b[3 * in]);
  if (box_dim >= 2) return mg_extrapolate_linear(b[0], b[in]);
  return b[0];
}

/** Interpolation in one direction: the child on the low (side -1) or high (side +1) side of a
 *  coarse cell. m2, m1, c, p1, p2 are the coarse cells at offsets -2 .. +2. */
MG_INLINE mg_real_t mg_interpolate_p1(mg_real_t m1, mg_real_t c, mg_real_t p1, int side) {
  return mg_fma(MG_REAL(0.75), c, MG_REAL(0.25) * (side < 0 ? m1 : p1));
}
MG_INLINE mg_real_t mg_interpolate_v2(mg_real_t m1, mg_real_t c, mg_real_t p1, int side) {
  return mg_fma(MG_REAL(side < 0 ? 0.125 : -0.125), m1 - p1, c);
}
MG_INLINE mg_real_t mg_interpolate_p2(mg_real_t m1, mg_real_t c, mg_real_t p1, int side) {
  const mg_real_t near = side < 0 ? m1 : p1, far = side < 0 ? p1 : m1;
  return mg_fma(MG_REAL(30.0 / 32.0), c,
                mg_fma(MG_REAL(5.0 / 32.0), near, MG_REAL(-3.0 / 32.0) * far));
}
MG_INLINE mg_real_t mg_interpolate_v4(mg_real_t m2, mg_real_t m1, mg_real_t c, mg_real_t p1,
                                      mg_real_t p2, int side) {
  const mg_real_t d = mg_fma(MG_REAL(22.0 / 128.0), m1 - p1, MG_REAL(-3.0 / 128.0) * (m2 - p2));
  return side < 0 ? c + d : c - d;
}

/** The same by P0, P1, P2 or V2. Kernels pass a constant kind. */
MG_INLINE mg_real_t mg_interpolate_3(mg_interpolation_t kind, mg_real_t m1, mg_real_t c,
                                     mg_real_t p1, int side) {
  if (kind == MG_INTERPOLATE_P0) return c;
  if (kind == MG_INTERPOLATE_P1) return mg_interpolate_p1(m1, c, p1, side);
  if (kind == MG_INTERPOLATE_P2) return mg_interpolate_p2(m1, c, p1, side);
  return mg_interpolate_v2(m1, c, p1, side);
}

/** The same by any formula: x has the coarse cells at offsets -2 .. +2, of which it reads those
 *  that the formula needs. */
MG_INLINE mg_real_t mg_interpolate_5(mg_interpolation_t kind, const mg_real_t x[5], int side) {
  if (kind == MG_INTERPOLATE_P0) return x[2];
  if (kind == MG_INTERPOLATE_V4) return mg_interpolate_v4(x[0], x[1], x[2], x[3], x[4], side);
  return mg_interpolate_3(kind, x[1], x[2], x[3], side);
}

#endif
