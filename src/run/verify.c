/* Expected results of a correct run on any grid, so that untested sizes can be judged too.
 *
 * fv2 and fv4. The right-hand side is sin^7 sin^7 sin^7 = the sum over m of c_m sin(2 pi m1 x)
 * sin(2 pi m2 y) sin(2 pi m3 z), with odd m up to 7. For beta = 1 the contribution of each mode
 * to u_2h - R u_h is therefore known in closed form. It is the product of four factors: c_m;
 * the factor that turns point values into averages; the mean of the 8 children (a product of
 * cosines); and 1/lambda_2h - 1/lambda_h, where lambda is the symbol of the discrete operator.
 * The sum of the modes is largest near a peak of the right-hand side, on the diagonal. On 16
 * cells, mode 7 aliases on the 2h grid and the walls are near. There the sum of the moduli is
 * used, an upper bound wherever the peak is. With the actual beta in [3/4, 5/4], the energy
 * norm of u grows by up to 4/3.
 *
 * 7pt, 27pt. The solution is smooth: error = C h^2, with C approached from below. C was measured
 * with solved problems up to 512^3 (27pt: 128^3) and is a trait (base/operators.c).
 *
 * Is the discrete problem solved? In maximum norms, the algebraic error is at most |A^-1| times
 * the residual. |A^-1| is at most 1 / (6 beta_min (4 pi / 3)^(2/3)) = 0.09 (Talenti's
 * comparison with the ball of the same volume); 0.1 is used. If that product is below a quarter
 * of the expected error, error and order must match the expected values closely. After a single
 * F-cycle the algebraic error is comparable to the discretization error (Trottenberg et al.,
 * Multigrid, 2001, section 2.6.2), with either sign; hence the wider bounds. After a single
 * V-cycle from zero the two errors are unrelated, and only the residual is judged. */
#include "run/verify.h"
#include "base/log.h"
#include "formulas/index.h"
#include "formulas/walls.h"
#include "wings.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

/* Factors on the expected error, and how far the order may be below and above its own. */
typedef struct {
  double low, high, order_slack_low, order_slack_high;
} window_t;

void mg_verify_fail(mg_result_t *result, const char *format, ...) {
  if (!result->passed) return; /* the first reason is the relevant one */
  result->passed = false;
  va_list args;
  va_start(args, format);
  vsnprintf(result->why, sizeof result->why, format, args);
  va_end(args);
}

/* Symbol of -d2/dx2 for mode m on n cells: of the second-order stencil of 7 points, or of the
 * difference of fluxes (15 (u1 - u0) - (u2 - u-1)) / 12 of 25; NaN for others. */
static double symbol(mg_operator_t op, int m, double n) {
  const double half = pi * m / n, s = sin(half);
  if (mg_traits_of(op)->points == 7) return 4.0 * s * s * n * n;
  if (mg_traits_of(op)->points != 25) return NAN;
  return (30.0 * s - 2.0 * sin(3.0 * half)) / 12.0 * 2.0 * s * n * n;
}

static const struct {
  int m;
  double c;
} modes[4] = {{1, 35.0 / 64}, {3, -21.0 / 64}, {5, 7.0 / 64}, {7, -1.0 / 64}};

/* Amplitude of one mode in u_2h - R u_h for beta = 1. */
static double mode_error(const mg_params_t *params, double n, const int index[3]) {
  double c = 1.0, laplace = 0.0;
  double lambda = params->equation == MG_EQUATION_HELMHOLTZ ? 1.0 : 0.0, lambda_2h = lambda;
  for (int d = 0; d < 3; d++) {
    const int m = modes[index[d]].m;
    c *= modes[index[d]].c * cos(pi * m / n);
    laplace += 4.0 * pi * pi * m * m;
    lambda += symbol(params->op, m, n);
    lambda_2h += symbol(params->op, m, n / 2);
  }
  return c * (1.0 - laplace / (24.0 * n * n)) * (1.0 / lambda_2h - 1.0 / lambda);
}

/* Sum of the modes at (x, x, x). */
static double diagonal_error(const double amplitude[64], double x) {
  double sum = 0.0;
  for (int i = 0; i < 64; i++)
    sum += amplitude[i] * sin(2 * pi * modes[i % 4].m * x) * sin(2 * pi * modes[i / 4 % 4].m * x) *
           sin(2 * pi * modes[i / 16].m * x);
  return fabs(sum);
}

/* max |u_2h - R u_h| within a factor of 1/2 to 2 (below n = 64 only an upper bound), or NaN if the
 * operator's is unknown. n is even. */
static double expected_error(const mg_params_t *params, int n) {
  const double known = mg_traits_of(params->op)->error[mg_params_is_all_periodic(params)];
  if (known > 0.0) return known / n / n;
  double amplitude[64], moduli = 0.0, peak = 0.0;
  for (int i = 0; i < 64; i++) {
    amplitude[i] = mode_error(params, n, (const int[3]){i % 4, i / 4 % 4, i / 16});
    moduli += fabs(amplitude[i]);
  }
  for (int i = 0; i < n / 2; i++)
    peak = fmax(peak, diagonal_error(amplitude, (i + 0.5) / (n / 2)));
  return n < 32 || isnan(moduli) ? moduli : peak;
}

/* Relative residual at which solves stall; for a user's problem a bound that holds for any.
 * A u is a sum of terms of size beta n^2 |u|, each rounded. The factors bound the largest
 * values left after 14 or more cycles on 16^3 to 256^3 cells, for both equations and
 * boundaries. These values were 0.007 to 0.0134 for fv2 and fv4. For 7pt they were 0.030 to
 * 0.052 with walls and 0.013 to 0.026 periodic, where |u| is smaller; for 27pt, up to 128^3, at
 * most 0.112 and 0.048. They grow slowly with n, as a maximum over more cells does. */
static double attainable_rtol(const mg_params_t *params, int n) {
  const bool periodic = mg_params_is_all_periodic(params);
  if (mg_params_solves_once(params)) return DBL_EPSILON;
  return mg_traits_of(params->op)->rounding[periodic] * DBL_EPSILON * n * n;
}

void mg_verify_warn_of_rtol(const mg_params_t *params, const int32_t n[3]) {
  const int32_t longer = n[0] > n[1] ? n[0] : n[1];
  const double attainable = attainable_rtol(params, longer > n[2] ? longer : n[2]);
  if (params->rtol == 0.0 || params->rtol >= attainable) return;
  /* The suggested value is rounded to two digits and still above the limit. */
  mg_warning("--rtol=%g is below round-off: on %s cells max|f-Au| / max|f| stalls near %.2g; use "
             "--rtol=%.2g or more, or the run fails",
             params->rtol, mg_grid(n).text, attainable, 1.05 * attainable);
}

static double last_norm(const mg_size_result_t *size) {
  return size->history.norm[size->history.n_cycles - 1];
}

/* True if the bound on the algebraic error in the difference of two sizes is below a quarter of
 * the expected error. */
static bool is_solved(const mg_result_t *result, int s, double expected) {
  return 0.1 * (last_norm(&result->size[s]) + last_norm(&result->size[s + 1])) < 0.25 * expected;
}

/* The largest relative residual that cycles may leave on n cells per side.
 *
 * The first guess of an F-cycle carries the interpolation error, which A turns into a residual
 * of order h or better. Up to 1.2 h was observed over all operators and smoothers with their
 * usual number of steps. Fewer steps can leave more: one Jacobi sweep on 16^3 cells leaves 5.5
 * h, which is no longer a solution.
 *
 * A V-cycle reduces the residual, except for 7pt: P0 is discontinuous, and A turns its jumps
 * into a residual of order 1/h, up to 0.035 / h. */
static double residual_bound(const mg_params_t *params, int n) {
  if (params->cycle == MG_CYCLE_F) return n > 4 ? 4.0 / n : 1.0;
  return mg_traits_of(params->op)->v == MG_INTERPOLATE_P0 ? fmax(1.0, 0.1 * n) : 1.0;
}

static void check_residuals(const mg_params_t *params, mg_result_t *result) {
  for (int s = 0; s < result->n_sizes; s++) {
    const mg_history_t *hist = &result->size[s].history;
    const mg_grid_text_t grid = mg_grid(result->size[s].n);
    const double rel = hist->rel[hist->n_cycles - 1],
                 bound = residual_bound(params, result->size[s].n[0]);
    if (hist->diverged_level >= 0)
      mg_verify_fail(result, "the solve at %s diverged in cycle %d on level %d", grid.text,
                     hist->n_cycles, hist->diverged_level);
    if (!isfinite(rel)) mg_verify_fail(result, "the residual at %s is not finite", grid.text);
    if (hist->stagnated)
      mg_verify_fail(
          result,
          "relative residual %.3g after %d cycles at %s no longer falls: --rtol=%.3g is below "
          "round-off",
          rel, hist->n_cycles, grid.text, params->rtol);
    if (!hist->converged)
      mg_verify_fail(result, "relative residual %.3g after %d cycle%s at %s, above --rtol=%.3g",
                     rel, hist->n_cycles, hist->n_cycles == 1 ? "" : "s", grid.text, params->rtol);
    if (rel > bound && !mg_params_solves_once(params) && mg_is_cube(result->size[s].n))
      mg_verify_fail(result, "relative residual %.3g after %d cycle%s at %s, expected below %.3g",
                     rel, hist->n_cycles, hist->n_cycles == 1 ? "" : "s", grid.text, bound);
  }
}

static void check_error(const mg_params_t *params, mg_result_t *result) {
  const int n = result->size[0].n[0];
  const double expected = expected_error(params, n);
  const double expected_2h = expected_error(params, n / 2);
  const bool solved = is_solved(result, 0, expected), solved_2h = is_solved(result, 1, expected_2h);
  const mg_operator_traits_t *t = mg_traits_of(params->op);
  const double order = t->order;
  if (isnan(expected)) {
    snprintf(result->note, sizeof result->note, "--operator=%s: only the residual is checked",
             mg_operator_name(params->op));
    return;
  }
  /* One F-cycle with a weak smoother may lose much of the order, and may gain any amount of
   * order where errors cancel. The 7pt interpolation is of low order. Up to 5 times the
   * expected error was observed (80^3, periodic, Jacobi), and an order of 0.2 if errors
   * cancelled on only one of two grids. */
  const bool low_order = t->f == MG_INTERPOLATE_P1;
  window_t w = {0.1, low_order ? 8.0 : 4.0, low_order ? INFINITY : 0.75 * order, INFINITY};
  if (solved) w = (window_t){0.5, 2.0, w.order_slack_low, INFINITY};
  if (solved && solved_2h) w = (window_t){0.5, 2.0, 0.5, 0.5};
  if (!solved && params->cycle != MG_CYCLE_F) {
    snprintf(result->note, sizeof result->note,
             "error and order are not checked after %d V-cycle%s; use --rtol=1e-8 to check them",
             result->size[0].history.n_cycles, result->size[0].history.n_cycles == 1 ? "" : "s");
    return;
  }
  /* Rounding of A u, of size eps n^2 |u|, returns through A^-1 as an error of the solution. |u|
   * is below 0.02 and |A^-1| below 0.1. */
  const double rounding = DBL_EPSILON * n * n * 0.002, highest = w.high * expected + rounding;
  if (!(result->error <= highest))
    mg_verify_fail(result, "error %.3g, expected at most %.3g", result->error, highest);
  const double error_2h = result->error * exp2(result->order);
  if (!(error_2h <= w.high * expected_2h + rounding))
    mg_verify_fail(result, "error %.3g between 2h and 4h, expected at most %.3g", error_2h,
                   w.high * expected_2h);
  /* Below n = 64 the highest mode is not resolved, and only the upper bound is meaningful. */
  if (n < 64 || rounding > expected) {
    snprintf(result->note, sizeof result->note,
             "%s: the error is checked only against an upper bound, the order not at all",
             n < 64 ? "grid below 64^3" : "error at round-off level");
    return;
  }
  if (!(result->error >= w.low * expected))
    mg_verify_fail(result, "error %.3g, expected at least %.3g", result->error, w.low * expected);
  const double expected_order = log2(expected_2h / expected);
  if (!(result->order >= expected_order - w.order_slack_low))
    mg_verify_fail(result, "order %.3f, expected at least %.3f", result->order,
                   expected_order - w.order_slack_low);
  if (!(result->order <= expected_order + w.order_slack_high))
    mg_verify_fail(result, "order %.3f, expected at most %.3f", result->order,
                   expected_order + w.order_slack_high);
}

/* True if the expected errors are known: all sides are Dirichlet walls, or all are periodic. */
static bool has_known_errors(const mg_params_t *params) {
  return mg_params_is_all_periodic(params) || mg_params_count_sides(params, MG_WALL_DIRICHLET) == 6;
}

void mg_verify(const mg_params_t *params, mg_result_t *result) {
  result->error_rounding = result->order_rounding = NAN;
  result->passed = true;
  result->why[0] = result->note[0] = '\0';
  check_residuals(params, result);
  if (result->interrupted && result->n_sizes < result->n_sizes_planned)
    mg_verify_fail(result, "interrupted after %d of %d sizes%s", result->n_sizes,
                   result->n_sizes_planned, result->where);
  else if (result->interrupted)
    mg_verify_fail(result, "interrupted while the last size was timed%s", result->where);
  if (!result->passed) return;
  if (mg_params_solves_once(params)) {
    snprintf(result->note, sizeof result->note, "%s: only the residual is checked",
             mg_params_has_files(params) ? "user-defined problem" : "--cells");
    return;
  }
  if (!has_known_errors(params)) {
    snprintf(result->note, sizeof result->note, "--boundary=%.60s: only the residual is checked",
             mg_boundary_text(params).text);
    return;
  }
  if (!mg_is_cube(result->size[0].n)) {
    snprintf(result->note, sizeof result->note,
             "the grid is not a cube: only convergence is checked");
    return;
  }
  if (result->n_sizes == MG_N_SIZES) {
    MG_IF_MIXED(mg_verify_rounding(params, result));
    check_error(params, result);
  } else
    snprintf(result->note, sizeof result->note,
             "error and order need three levels; this run has %d", result->n_sizes);
}
