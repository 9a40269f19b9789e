#include "ops.h"

#define VIEW(level) (&(level)->store.view)

mg_status_t mg_halo(mg_level_t *level, int vec, bool box) {
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_run(box ? level->halo_box : level->halo, vec, vec));
  return MG_OK;
}

/* GSRB of the 7-point operators updates in place; everything else needs a second iterate. */
static bool in_place(const mg_level_t *level) {
  return level->steps[0].kind == MG_STEP_GSRB && VIEW(level)->op != MG_OPERATOR_FV4;
}

/* One step after a halo exchange; where it pays, the inner cells while the messages travel. GSRB in
 * place may change inner cells then: none of them is sent, nor read by a cell of the rim before its
 * turn, since cells of a colour read only the other. */
static mg_status_t step_with_halo(mg_level_t *level, int x, int previous, int dst,
                                  const mg_step_t *step) {
  const mg_backend_t *backend = level->backend;
  if (!level->overlaps) {
    MG_TRY(mg_halo(level, x, false));
    MG_TIMED(level, MG_TIME_SMOOTH, backend->smooth(VIEW(level), x, previous, dst, step));
    return MG_OK;
  }
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_begin(level->halo, x, x));
  MG_TIMED(level, MG_TIME_SMOOTH,
           backend->smooth_part(VIEW(level), x, previous, dst, step, MG_PART_INNER));
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_finish(level->halo, x, x));
  MG_TIMED(level, MG_TIME_SMOOTH,
           backend->smooth_part(VIEW(level), x, previous, dst, step, MG_PART_RIM));
  return MG_OK;
}

mg_status_t mg_smooth(mg_level_t *level, bool zero_guess) {
  if (!level->comm) return MG_OK;
  int from = MG_U, to = in_place(level) ? MG_U : MG_TMP;
  for (int s = 0; s < level->n_steps; s++) {
    /* x_0 = 0 is x of the first step and the previous iterate of the second. */
    const int x = zero_guess && s == 0 ? -1 : from, previous = zero_guess && s <= 1 ? -1 : to;
    if (x >= 0)
      MG_TRY(step_with_halo(level, x, previous, to, &level->steps[s]));
    else
      MG_TIMED(level, MG_TIME_SMOOTH,
               level->backend->smooth(VIEW(level), x, previous, to, &level->steps[s]));
    const int swap = from;
    from = to;
    to = swap;
  }
  /* An odd number of steps out of place ends in the other vector. The defaults are even. */
  if (from != MG_U) MG_TRY(mg_axpby(level, MG_U, 1.0, from, 0.0, -1));
  return MG_OK;
}

mg_status_t mg_residual(mg_level_t *level, int dst, int x, int f) {
  if (!level->comm) return MG_OK;
  MG_TRY(mg_halo(level, x, false));
  MG_TIMED(level, MG_TIME_RESIDUAL, level->backend->residual(VIEW(level), dst, x, f));
  return MG_OK;
}

/* One rank has nothing to ask the others. */
static void count_reduction(mg_level_t *level) {
  level->timers.traffic.reductions += mg_comm_size(level->comm) > 1;
}

static mg_status_t max_over_ranks(mg_level_t *level, double *norm) {
  count_reduction(level);
  MG_TIMED(level, MG_TIME_VECTOR, mg_comm_max(level->comm, norm, 1));
  return MG_OK;
}

mg_status_t mg_residual_norm(mg_level_t *level, int x, int f, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  if (!level->backend->residual_norm) {
    MG_TRY(mg_residual(level, MG_TMP, x, f));
    return mg_max_norm(level, MG_TMP, -1, norm);
  }
  MG_TRY(mg_halo(level, x, false));
  MG_TIMED(level, MG_TIME_RESIDUAL, level->backend->residual_norm(VIEW(level), x, f, norm));
  return max_over_ranks(level, norm);
}

mg_status_t mg_fill(mg_level_t *level, int dst, double value) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->fill(VIEW(level), dst, value));
  return MG_OK;
}

mg_status_t mg_axpby(mg_level_t *level, int dst, double alpha, int x, double beta, int y) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->axpby(VIEW(level), dst, alpha, x, beta, y));
  return MG_OK;
}

mg_status_t mg_shift(mg_level_t *level, int dst, int x, double value) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->shift(VIEW(level), dst, x, value));
  return MG_OK;
}

mg_status_t mg_multiply(mg_level_t *level, int dst, int x, int y) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->multiply(VIEW(level), dst, x, y));
  return MG_OK;
}

mg_status_t mg_max_norm(mg_level_t *level, int x, int y, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->max_norm(VIEW(level), x, y, norm));
  return max_over_ranks(level, norm);
}

mg_status_t mg_dot(mg_level_t *level, int x, int y, double *dot) {
  *dot = 0.0;
  if (!level->comm) return MG_OK;
  mg_sum_t sum = {{0}};
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->dot(VIEW(level), x, y, &sum));
  count_reduction(level);
  MG_TIMED(level, MG_TIME_VECTOR, mg_comm_sum_exact(level->comm, &sum));
  *dot = mg_sum_value(&sum);
  return MG_OK;
}

mg_status_t mg_mean(mg_level_t *level, int x, double *mean) {
  MG_TRY(mg_dot(level, x, -1, mean));
  const double n = VIEW(level)->dim;
  *mean /= n * n * n;
  return MG_OK;
}
