#include "solver/outer.h"
#include "level/ops.h"
#include <math.h>

static mg_status_t copy(mg_level_t *level, mg_vector_t dst, mg_vector_t src) {
  return mg_axpby(level, dst, 1.0, src, 0.0, MG_NO_VECTOR);
}

/* x += a y. */
static mg_status_t add(mg_level_t *level, mg_vector_t x, double a, mg_vector_t y) {
  return mg_axpby(level, x, 1.0, x, a, y);
}

static mg_status_t swap_with_f(mg_level_t *level, mg_vector_t vec) {
  MG_TRY(copy(level, MG_TMP, MG_F));
  MG_TRY(copy(level, MG_F, vec));
  return copy(level, vec, MG_TMP);
}

mg_status_t mg_outer_begin(mg_level_t *level, mg_krylov_method_t method, bool from_zero,
                           mg_outer_t *outer) {
  *outer = (mg_outer_t){.stabilizes = method == MG_KRYLOV_BICGSTAB};
  MG_TRY(copy(level, MG_RHS, MG_F));
  if (from_zero) return mg_fill(level, MG_SOLUTION, 0.0);
  MG_TRY(copy(level, MG_SOLUTION, MG_U));
  return mg_residual(level, MG_F, MG_SOLUTION, MG_RHS);
}

/* Make the preconditioned residual conjugate to the previous direction. This is the Polak-Ribiere
 * formula: z.(r - r_before) / z_before.r_before with r - r_before = -alpha A p. */
static mg_status_t set_direction(mg_level_t *level, const mg_outer_t *cg) {
  double z_dot_ap;
  if (!cg->has_direction) return copy(level, MG_DIRECTION, MG_U);
  MG_TRY(mg_dot(level, MG_U, MG_A_DIRECTION, &z_dot_ap));
  return mg_axpby(level, MG_DIRECTION, 1.0, MG_U, -z_dot_ap / cg->p_dot_ap, MG_DIRECTION);
}

static bool is_usable(double length) {
  return isfinite(length) && length != 0.0;
}

/* Step length along the direction. It minimizes the error in the A-norm if A is positive definite.
 * Uses p.r, not z.r: they are equal only for a constant preconditioner. Sets has_direction if the
 * direction is usable. */
static mg_status_t set_step_length(mg_level_t *level, mg_outer_t *cg, double *alpha) {
  double p_dot_r;
  MG_TRY(mg_residual(level, MG_A_DIRECTION, MG_DIRECTION, MG_NO_VECTOR));
  MG_TRY(mg_dot(level, MG_DIRECTION, MG_A_DIRECTION, &cg->p_dot_ap));
  MG_TRY(mg_dot(level, MG_DIRECTION, MG_F, &p_dot_r));
  cg->has_direction = cg->p_dot_ap > 0.0 && p_dot_r != 0.0; /* 0 / 0 would trap */
  if (!cg->has_direction) return MG_OK;
  *alpha = p_dot_r / cg->p_dot_ap;
  cg->has_direction = is_usable(*alpha);
  return MG_OK;
}

static mg_status_t cg_step(mg_level_t *level, mg_outer_t *cg) {
  const bool had_direction = cg->has_direction;
  double alpha = 1.0;
  MG_TRY(set_direction(level, cg));
  MG_TRY(set_step_length(level, cg, &alpha));
  if (had_direction && !cg->has_direction) {
    MG_TRY(set_direction(level, cg));
    MG_TRY(set_step_length(level, cg, &alpha));
  }
  if (!cg->has_direction) alpha = 1.0;
  MG_TRY(add(level, MG_SOLUTION, alpha, MG_DIRECTION));
  return add(level, MG_F, -alpha, MG_A_DIRECTION);
}

/* a / b if that is usable, otherwise 1, and a restart. */
static double length_of(double a, double b, mg_outer_t *outer) {
  const double length = b != 0.0 ? a / b : 0.0; /* 0 / 0 would trap */
  outer->has_direction = outer->has_direction && is_usable(length);
  return outer->has_direction ? length : 1.0;
}

/* Of p in MG_F and r in MG_DIRECTION, make s in MG_F and p in MG_DIRECTION. */
static mg_status_t first_half(mg_level_t *level, mg_outer_t *o) {
  double v_dot_r0;
  if (!o->has_direction) {
    MG_TRY(copy(level, MG_SHADOW, MG_F));
    MG_TRY(copy(level, MG_DIRECTION, MG_F));
    MG_TRY(mg_dot(level, MG_F, MG_SHADOW, &o->rho));
    o->has_direction = true;
  }
  MG_TRY(mg_residual(level, MG_A_DIRECTION, MG_U, MG_NO_VECTOR));
  MG_TRY(mg_dot(level, MG_A_DIRECTION, MG_SHADOW, &v_dot_r0));
  o->alpha = length_of(o->rho, v_dot_r0, o);
  o->is_second = o->has_direction;
  MG_TRY(add(level, MG_SOLUTION, o->alpha, MG_U));
  MG_TRY(add(level, MG_DIRECTION, -o->alpha, MG_A_DIRECTION));
  return swap_with_f(level, MG_DIRECTION);
}

/* Of s in MG_F and p in MG_DIRECTION, make r in MG_F and the next p in MG_DIRECTION. */
static mg_status_t second_half(mg_level_t *level, mg_outer_t *o) {
  double t_dot_s, t_dot_t, r_dot_r0;
  MG_TRY(mg_residual(level, MG_TMP, MG_U, MG_NO_VECTOR));
  MG_TRY(mg_dot(level, MG_TMP, MG_F, &t_dot_s));
  MG_TRY(mg_dot(level, MG_TMP, MG_TMP, &t_dot_t));
  const double omega = length_of(t_dot_s, t_dot_t, o);
  o->is_second = false;
  MG_TRY(add(level, MG_SOLUTION, omega, MG_U));
  MG_TRY(add(level, MG_F, -omega, MG_TMP));
  MG_TRY(mg_dot(level, MG_F, MG_SHADOW, &r_dot_r0));
  const double beta = length_of(r_dot_r0, o->rho, o) * (o->alpha / omega);
  o->rho = r_dot_r0;
  MG_TRY(add(level, MG_DIRECTION, -omega, MG_A_DIRECTION));
  return mg_axpby(level, MG_DIRECTION, 1.0, MG_F, beta, MG_DIRECTION);
}

mg_status_t mg_outer_step(mg_level_t *level, mg_outer_t *outer, double *norm) {
  const bool second = outer->is_second;
  if (norm) *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TRY(!outer->stabilizes ? cg_step(level, outer)
         : second           ? second_half(level, outer)
                            : first_half(level, outer));
  if (norm) MG_TRY(mg_max_norm(level, MG_F, MG_NO_VECTOR, norm));
  return second && outer->has_direction ? swap_with_f(level, MG_DIRECTION) : MG_OK;
}

mg_status_t mg_outer_restart(mg_level_t *level, mg_outer_t *outer) {
  const bool has_p_in_f = outer->stabilizes && outer->has_direction && !outer->is_second;
  outer->has_direction = outer->is_second = false;
  return has_p_in_f && level->comm ? copy(level, MG_F, MG_DIRECTION) : MG_OK;
}

mg_status_t mg_outer_show(mg_level_t *level) {
  MG_TRY(copy(level, MG_U, MG_SOLUTION));
  return swap_with_f(level, MG_RHS);
}

mg_status_t mg_outer_hide(mg_level_t *level) {
  return swap_with_f(level, MG_RHS);
}

mg_status_t mg_outer_end(mg_level_t *level) {
  MG_TRY(copy(level, MG_U, MG_SOLUTION));
  return copy(level, MG_F, MG_RHS);
}
