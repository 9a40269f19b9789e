#include "formulas/smoother_steps.h"
#include "base/alloc.h"

/* Chebyshev polynomial of the given degree on [lambda_max/8, lambda_max].
 * Saad, Iterative methods for sparse linear systems (2003), section 12.3 */
static void chebyshev_steps(mg_step_t *step, int degree, double lambda_max) {
  const double beta = lambda_max, alpha = 0.125 * beta;
  const double theta = 0.5 * (beta + alpha), delta = 0.5 * (beta - alpha), sigma = theta / delta;
  double rho = 1.0 / sigma;
  step[0] = (mg_step_t){.c1 = 0.0, .c2 = 1.0 / theta};
  for (int s = 1; s < degree; s++) {
    const double rho_next = 1.0 / (2.0 * sigma - rho);
    step[s] = (mg_step_t){.c1 = rho_next * rho, .c2 = rho_next * 2.0 / delta};
    rho = rho_next;
  }
}

/* Chebyshev polynomial of the fourth kind: of all of its degree, it has nearly the least bound for
 * a V-cycle, and needs no lower end of the spectrum.
 * Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30
 * (2023) */
static void chebyshev4_steps(mg_step_t *step, int degree, double lambda_max) {
  for (int s = 0; s < degree; s++)
    step[s] = (mg_step_t){.c1 = s > 0 ? (2.0 * s - 1.0) / (2.0 * s + 3.0) : 0.0,
                          .c2 = (8.0 * s + 4.0) / ((2.0 * s + 3.0) * lambda_max)};
}

int mg_smoother_steps_once(const mg_params_t *params, double lambda_max,
                           mg_step_t step[MG_MAX_DEGREE]) {
  static const int colors[] = {0, 1, 1, 0}; /* symgs, ssor: forward, then backward */
  const mg_smoother_t smoother = params->smoother;
  const bool colored = smoother != MG_SMOOTHER_JACOBI && smoother != MG_SMOOTHER_L1JACOBI;
  /* With omega = 1, a second step of a color in a row changes (nearly) nothing if its cells do not
   * read each other. */
  const bool idle = params->omega == 1.0 && mg_traits_of(params->op)->in_place,
             two = smoother == MG_SMOOTHER_GSRB || (smoother == MG_SMOOTHER_SYMGS && idle);
  const int n = colored ? 4 - 2 * two : 1;
  if (smoother == MG_SMOOTHER_CHEBYSHEV) chebyshev_steps(step, params->degree, lambda_max);
  if (smoother == MG_SMOOTHER_CHEBYSHEV4) chebyshev4_steps(step, params->degree, lambda_max);
  if (mg_is_polynomial(smoother)) return params->degree;
  for (int s = 0; s < n; s++)
    step[s] = (mg_step_t){.colored = colored,
                          .color = colored ? colors[s] : 0,
                          .c2 = params->omega,
                          .l1 = smoother == MG_SMOOTHER_L1JACOBI};
  return n;
}

int mg_smoother_n_steps(const mg_params_t *params) {
  mg_step_t once[MG_MAX_DEGREE];
  const int n = mg_smoother_steps_once(params, 1.0, once);
  return params->smooths * n + (params->smoother == MG_SMOOTHER_SYMGS && n == 2);
}

mg_status_t mg_smoother_steps(const mg_params_t *params, double lambda_max, mg_step_t **steps,
                              int *n_steps) {
  mg_step_t once[MG_MAX_DEGREE];
  const int n = mg_smoother_steps_once(params, lambda_max, once);
  *n_steps = mg_smoother_n_steps(params);
  MG_TRY(mg_new(steps, *n_steps, "smoother steps"));
  for (int s = 0; s < *n_steps; s++)
    (*steps)[s] = once[s % n];
  return MG_OK;
}

bool mg_steps_fuse(const mg_step_t *steps, int n_steps) {
  bool fuse = true;
  for (int s = 0; s < n_steps; s++)
    fuse = fuse && !steps[s].l1 && steps[s].colored == steps[0].colored &&
           (!steps[s].colored || steps[s].color == (steps[0].color ^ (s & 1)));
  return fuse;
}

bool mg_steps_look_back(const mg_step_t *steps, int n_steps) {
  for (int s = 0; s < n_steps; s++)
    if (steps[s].c1 != 0.0) return true;
  return false;
}

int mg_max_steps_per_pass(const mg_params_t *params) {
  const int most = mg_traits_of(params->op)->max_steps;
  const bool is_less = params->steps_per_pass != MG_STEPS_AUTO && params->steps_per_pass < most;
  return is_less ? (int)params->steps_per_pass : most;
}
