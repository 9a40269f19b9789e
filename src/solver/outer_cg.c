#include "solver/outer_cg.h"
#include "level/ops.h"
#include <math.h>

static mg_status_t copy(mg_level_t *level, mg_vector_t dst, mg_vector_t src) {
  return mg_axpby(level, dst, 1.0, src, 0.0, MG_NO_VECTOR);
}

mg_status_t mg_outer_cg_begin(mg_level_t *level, bool from_zero, mg_outer_cg_t *cg) {
  *cg = (mg_outer_cg_t){false, 0.0};
  MG_TRY(copy(level, MG_RHS, MG_F));
  if (from_zero) return mg_fill(level, MG_SOLUTION, 0.0);
  MG_TRY(copy(level, MG_SOLUTION, MG_U));
  return mg_residual(level, MG_F, MG_SOLUTION, MG_RHS);
}

/* Make the preconditioned residual conjugate to the previous direction. This is the Polak-Ribiere
 * formula: z.(r - r_before) / z_before.r_before with r - r_before = -alpha A p. */
static mg_status_t set_direction(mg_level_t *level, const mg_outer_cg_t *cg) {
  double z_dot_ap;
  if (!cg->has_direction) return copy(level, MG_DIRECTION, MG_U);
  MG_TRY(mg_dot(level, MG_U, MG_A_DIRECTION, &z_dot_ap));
  return mg_axpby(level, MG_DIRECTION, 1.0, MG_U, -z_dot_ap / cg->p_dot_ap, MG_DIRECTION);
}

/* Step length along the direction. It minimizes the error in the A-norm if A is positive definite.
 * Uses p.r, not z.r: they are equal only for a constant preconditioner. Sets has_direction if the
 * direction is usable. */
static mg_status_t set_step_length(mg_level_t *level, mg_outer_cg_t *cg, double *alpha) {
  double p_dot_r;
  MG_TRY(mg_residual(level, MG_A_DIRECTION, MG_DIRECTION, MG_NO_VECTOR));
  MG_TRY(mg_dot(level, MG_DIRECTION, MG_A_DIRECTION, &cg->p_dot_ap));
  MG_TRY(mg_dot(level, MG_DIRECTION, MG_F, &p_dot_r));
  cg->has_direction = cg->p_dot_ap > 0.0 && p_dot_r != 0.0; /* 0 / 0 would trap */
  if (!cg->has_direction) return MG_OK;
  *alpha = p_dot_r / cg->p_dot_ap;
  cg->has_direction = isfinite(*alpha) && *alpha != 0.0;
  return MG_OK;
}

mg_status_t mg_outer_cg_step(mg_level_t *level, mg_outer_cg_t *cg, double *norm) {
  const bool had_direction = cg->has_direction;
  double alpha = 1.0;
  if (norm) *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TRY(set_direction(level, cg));
  MG_TRY(set_step_length(level, cg, &alpha));
  if (had_direction && !cg->has_direction) {
    MG_TRY(set_direction(level, cg));
    MG_TRY(set_step_length(level, cg, &alpha));
  }
  if (!cg->has_direction) alpha = 1.0;
  MG_TRY(mg_axpby(level, MG_SOLUTION, 1.0, MG_SOLUTION, alpha, MG_DIRECTION));
  MG_TRY(mg_axpby(level, MG_F, 1.0, MG_F, -alpha, MG_A_DIRECTION));
  return norm ? mg_max_norm(level, MG_F, MG_NO_VECTOR, norm) : MG_OK;
}

/* Swap r and f. */
static mg_status_t swap(mg_level_t *level) {
  MG_TRY(copy(level, MG_TMP, MG_F));
  MG_TRY(copy(level, MG_F, MG_RHS));
  return copy(level, MG_RHS, MG_TMP);
}

mg_status_t mg_outer_cg_show(mg_level_t *level) {
  MG_TRY(copy(level, MG_U, MG_SOLUTION));
  return swap(level);
}

mg_status_t mg_outer_cg_hide(mg_level_t *level) {
  return swap(level);
}

mg_status_t mg_outer_cg_end(mg_level_t *level) {
  MG_TRY(copy(level, MG_U, MG_SOLUTION));
  return copy(level, MG_F, MG_RHS);
}
