/* Coefficients and right-hand side of one cell, shared by CPU and GPU.
 *
 * Calls no C library function whose last bit differs between processors. sin() comes from tables
 * filled by the host. tanh() is built here from exact steps and fma(). */
#ifndef MG_COEFFICIENTS_H
#define MG_COEFFICIENTS_H

#include "base/types.h"
#include "formulas/stencil.h"
#include "formulas/view.h"
#include <stdbool.h>

#define MG_TWO_PI 6.283185307179586476925286766559

/** (h[d] / h[0])^2, exactly 1 if all widths are equal. */
MG_INLINE double mg_width_ratio2(const double h[3], int d) {
  const double ratio = h[d] / h[0];
  return ratio * ratio;
}

/** Widths of cells in units of the domain's lengths, in which the built-in problems are given. */
typedef struct {
  double d[3];
} mg_widths_t;

MG_INLINE mg_widths_t mg_unit_widths(const mg_view_t *v) {
  mg_widths_t w;
  for (int d = 0; d < 3; d++)
    w.d[d] = 1.0 / v->n[d];
  return w;
}

/** 1 / (length of the domain)^2 in each direction. */
MG_INLINE mg_widths_t mg_inverse_lengths2(const mg_view_t *v) {
  mg_widths_t w;
  for (int d = 0; d < 3; d++) {
    const double length = v->h[d] * v->n[d];
    w.d[d] = 1.0 / (length * length);
  }
  return w;
}

/** fv2, fv4: factor of S in the average of beta over a face normal to d (mg_beta_fv). */
MG_INLINE double mg_beta_scale(const double h[3], int d) {
  const double tangential =
      0.5 * (mg_width_ratio2(h, (d + 1) % 3) + mg_width_ratio2(h, (d + 2) % 3));
  return 0.25 * (1.0 - MG_TWO_PI * MG_TWO_PI * h[0] * h[0] / 12.0 * tangential);
}

/** fv2, fv4: beta = 1 + S/4 with S = sin sin sin, converted from face point to face average. The
 *  conversion adds h_t^2/24 times the second derivative -(2 pi)^2 S/4 for both tangential
 *  directions t. */
MG_INLINE double mg_beta_fv(double scale, double sx, double sy, double sz) {
  return 1.0 + (scale * (sy * sz)) * sx;
}

/** fv2, fv4: f from its three factors and all three second derivatives.
 *  @param[in] h2  h[0]^2; the second derivatives hold mg_width_ratio2 */
MG_INLINE double mg_rhs_fv(double h2, double x, double y, double z, double xx, double yy,
                           double zz) {
  const double c = h2 / 24.0;
  return x * y * z + c * (xx * y * z + x * (yy * z + y * zz));
}

/** exp(x) for -700 < x <= 0, within 2 ulp. x = n ln 2 + r; a Taylor polynomial in |r| <= 0.35,
 *  whose first neglected term is 4e-18, times an exact power of two. */
MG_SHARED double mg_exp_negative(double x) {
  const double log2_e = 1.4426950408889634, ln2_high = 0.693147180369123816490,
               ln2_low = 1.90821492927058770002e-10;
  const double n = floor(fma(x, log2_e, 0.5));
  const double r = fma(-n, ln2_low, fma(-n, ln2_high, x));
  double sum = 1.0;
  for (int k = 14; k > 0; k--)
    sum = fma(sum * r, 1.0 / k, 1.0);
  return ldexp(sum, (int)n);
}

MG_SHARED double mg_tanh(double x) {
  const double e = mg_exp_negative(-2.0 * fabs(x)), t = (1.0 - e) / (1.0 + e);
  return x < 0.0 ? -t : t;
}

/** Point value of beta and its gradient. 7pt: beta = 5.5 + 4.5 tanh(10 (r - 1/4)), where r is the
 *  distance from the center; 27pt: 1, the constant. */
MG_SHARED double mg_beta_point(bool constant, double x, double y, double z, double gradient[3]) {
  if (constant) {
    gradient[0] = gradient[1] = gradient[2] = 0.0;
    return 1.0;
  }
  const double q[3] = {x - 0.5, y - 0.5, z - 0.5};
  const double r = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  const double t = mg_tanh(10.0 * (r - 0.25));
  for (int d = 0; d < 3; d++)
    gradient[d] = r > 0.0 ? 45.0 * (1.0 - t * t) * q[d] / r : 0.0;
  return 5.5 + 4.5 * t;
}

/** One factor of u = X(x) X(y) X(z) of 7pt and 27pt, and its derivatives. */
typedef struct {
  double value, first, second;
} mg_factor_t;

MG_SHARED mg_factor_t mg_factor(double t, bool periodic) {
  const double t2 = t * t, t3 = t2 * t, t4 = t2 * t2;
  mg_factor_t f;
  f.value = 2.0 * t4 * t2 - 6.0 * t4 * t + 5.0 * t4 - t2 + (periodic ? 1.0 / 21.0 : 0.0);
  f.first = 12.0 * t4 * t - 30.0 * t4 + 20.0 * t3 - 2.0 * t;
  f.second = 60.0 * t4 - 120.0 * t3 + 60.0 * t2 - 2.0;
  return f;
}

/** 7pt, 27pt: f = a u - (grad beta . grad u + beta lap u); b = 1.
 *  @param[in] s  mg_inverse_lengths2 */
MG_SHARED double mg_rhs_point(bool constant, double a, bool periodic, mg_widths_t s, double x,
                              double y, double z) {
  const mg_factor_t X = mg_factor(x, periodic), Y = mg_factor(y, periodic),
                    Z = mg_factor(z, periodic);
  double g[3];
  const double beta = mg_beta_point(constant, x, y, z, g);
  const double laplacian = s.d[0] * (X.second * Y.value * Z.value) +
                           s.d[1] * (X.value * Y.second * Z.value) +
                           s.d[2] * (X.value * Y.value * Z.second);
  const double flux = s.d[0] * (g[0] * X.first * Y.value * Z.value) +
                      s.d[1] * (g[1] * X.value * Y.first * Z.value) +
                      s.d[2] * (g[2] * X.value * Y.value * Z.first);
  return a * (X.value * Y.value * Z.value) - (flux + beta * laplacian);
}

#endif
