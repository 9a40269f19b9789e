#include "solver/bottom.h"
#include "backend/sweeps.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "solver/cycle_wings.h"
#include "wings.h"
#include <math.h>

/* Progress of the iteration; `done` is also set on breakdown. */
typedef struct {
  double norm0, reduction;
  bool done;
} progress_t;

static mg_status_t test_convergence(mg_level_t *level, int residual, progress_t *p) {
  double norm;
  MG_TRY(mg_max_norm(level, residual, MG_NO_VECTOR, &norm));
  /* The negated comparison also ends the iteration on NaN. */
  p->done = p->done || !(norm >= p->reduction * p->norm0) || norm == 0.0;
  return MG_OK;
}

/* dst = A Dinv x; leaves Dinv x in MG_TMP. */
static mg_status_t apply_preconditioned(mg_level_t *level, mg_vector_t dst, mg_vector_t x) {
  MG_TRY(mg_multiply(level, MG_TMP, MG_DINV, x));
  return mg_residual(level, dst, MG_TMP, MG_NO_VECTOR);
}

static bool is_unusable(double quotient) {
  return quotient == 0.0 || !isfinite(quotient);
}

/* First half of an iteration: along p. */
static mg_status_t bicgstab_p(mg_level_t *level, double rho, double *alpha, progress_t *progress) {
  double ap_dot_r0;
  MG_TRY(apply_preconditioned(level, MG_KRYLOV_AP, MG_KRYLOV_P));
  MG_TRY(mg_dot(level, MG_KRYLOV_AP, MG_KRYLOV_R0, &ap_dot_r0));
  progress->done = ap_dot_r0 == 0.0;
  if (progress->done) return MG_OK;
  *alpha = rho / ap_dot_r0;
  progress->done = !isfinite(*alpha);
  if (progress->done) return MG_OK;
  MG_TRY(mg_axpby(level, MG_U, 1.0, MG_U, *alpha, MG_TMP));
  MG_TRY(mg_axpby(level, MG_KRYLOV_S, 1.0, MG_KRYLOV_R, -*alpha, MG_KRYLOV_AP));
  return test_convergence(level, MG_KRYLOV_S, progress);
}

/* Second half: the stabilizing step along s. */
static mg_status_t bicgstab_s(mg_level_t *level, double *omega, progress_t *progress) {
  double as_dot_as, as_dot_s;
  MG_TRY(apply_preconditioned(level, MG_KRYLOV_AS, MG_KRYLOV_S));
  MG_TRY(mg_dot(level, MG_KRYLOV_AS, MG_KRYLOV_AS, &as_dot_as));
  MG_TRY(mg_dot(level, MG_KRYLOV_AS, MG_KRYLOV_S, &as_dot_s));
  progress->done = as_dot_as == 0.0;
  if (progress->done) return MG_OK;
  *omega = as_dot_s / as_dot_as;
  progress->done = is_unusable(*omega);
  if (progress->done) return MG_OK;
  MG_TRY(mg_axpby(level, MG_U, 1.0, MG_U, *omega, MG_TMP));
  MG_TRY(mg_axpby(level, MG_KRYLOV_R, 1.0, MG_KRYLOV_S, -*omega, MG_KRYLOV_AS));
  return test_convergence(level, MG_KRYLOV_R, progress);
}

static mg_status_t bicgstab(mg_level_t *level, progress_t *progress) {
  double rho, alpha = 0.0, omega = 0.0;
  MG_TRY(mg_axpby(level, MG_KRYLOV_R0, 1.0, MG_KRYLOV_R, 0.0, MG_NO_VECTOR));
  MG_TRY(mg_axpby(level, MG_KRYLOV_P, 1.0, MG_KRYLOV_R, 0.0, MG_NO_VECTOR));
  MG_TRY(mg_dot(level, MG_KRYLOV_R, MG_KRYLOV_R0, &rho));
  for (int n = 0; n < MG_BOTTOM_MAX_ITERATIONS && !progress->done; n++) {
    MG_TRY(bicgstab_p(level, rho, &alpha, progress));
    if (progress->done) break;
    MG_TRY(bicgstab_s(level, &omega, progress));
    if (progress->done) break;
    double rho_next;
    MG_TRY(mg_dot(level, MG_KRYLOV_R, MG_KRYLOV_R0, &rho_next));
    const double beta = rho_next / rho * (alpha / omega);
    if (is_unusable(beta)) break;
    MG_TRY(mg_axpby(level, MG_KRYLOV_P, 1.0, MG_KRYLOV_P, -omega, MG_KRYLOV_AP));
    MG_TRY(mg_axpby(level, MG_KRYLOV_P, 1.0, MG_KRYLOV_R, beta, MG_KRYLOV_P));
    rho = rho_next;
  }
  return MG_OK;
}

/* If A is singular, rounding gives the right-hand side a mean. If the rest cancels, the mean
 * dominates. A maps it to nearly 0, and a Krylov method divides by that. */
static mg_status_t remove_mean(mg_level_t *level, mg_vector_t vec) {
  double mean;
  MG_TRY(mg_mean(level, vec, &mean));
  return mg_shift(level, vec, vec, -mean);
}

/* If A is singular, remove the mean of MG_F during the solve and restore MG_F afterwards, because
 * another solve may start from it. */
static mg_status_t solve_by_smoothing(mg_level_t *level, bool zero_guess, progress_t *progress) {
  const bool singular = mg_is_singular(&level->store.view);
  if (singular) MG_TRY(mg_axpby(level, MG_KRYLOV_P, 1.0, MG_F, 0.0, MG_NO_VECTOR));
  if (singular) MG_TRY(remove_mean(level, MG_F));
  for (int n = 0; n < MG_BOTTOM_MAX_ITERATIONS && !progress->done; n++) {
    MG_TRY(mg_smooth(level, zero_guess && n == 0));
    MG_TRY(mg_residual(level, MG_KRYLOV_R, MG_U, MG_F));
    MG_TRY(test_convergence(level, MG_KRYLOV_R, progress));
  }
  return singular ? mg_axpby(level, MG_F, 1.0, MG_KRYLOV_P, 0.0, MG_NO_VECTOR) : MG_OK;
}

/* Initialize MG_U, and its residual in MG_KRYLOV_R. */
static mg_status_t begin(mg_level_t *level, bool zero_guess) {
  if (zero_guess) {
    MG_TRY(mg_fill(level, MG_U, 0.0));
    MG_TRY(mg_axpby(level, MG_KRYLOV_R, 1.0, MG_F, 0.0, MG_NO_VECTOR));
  } else {
    MG_TRY(mg_residual(level, MG_KRYLOV_R, MG_U, MG_F));
  }
  return mg_is_singular(&level->store.view) ? remove_mean(level, MG_KRYLOV_R) : MG_OK;
}

static mg_status_t solve(mg_level_t *level, mg_bottom_t method, bool zero_guess, double reduction) {
  const mg_backend_t *backend = level->backend;
  MG_IF_CHOICES(if (level->direct) return mg_direct_solve(level, zero_guess));
  progress_t progress = {0.0, reduction, false};
  if (level->plan->bottom != &mg_path_bottom && backend->fused && backend->fused->bottom)
    return backend->fused->bottom(&level->store.view, method, zero_guess, MG_BOTTOM_MAX_ITERATIONS,
                                  reduction);
  MG_TRY(begin(level, zero_guess));
  MG_TRY(mg_max_norm(level, MG_KRYLOV_R, MG_NO_VECTOR, &progress.norm0));
  if (progress.norm0 == 0.0) return MG_OK;
  if (method == MG_BOTTOM_SMOOTHER) return solve_by_smoothing(level, zero_guess, &progress);
  return bicgstab(level, &progress);
}

double mg_bottom_reduction(const mg_hierarchy_t *h) {
  const mg_level_plan_t *coarsest = &h->plan.level[h->plan.n_levels - 1];
  if (!coarsest->layout.general || h->params.krylov == MG_KRYLOV_NONE) return 1e-3;
  return coarsest->value_bytes == 4 ? 1e-5 : 1e-10;
}

mg_status_t mg_bottom_solve(mg_level_t *level, mg_bottom_t method, bool zero_guess,
                            double reduction) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_BOTTOM, solve(level, method, zero_guess, reduction));
  return MG_OK;
}
