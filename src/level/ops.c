#include "level/ops.h"
#include "backend/sweeps.h"
#include "formulas/walls.h"

#define VIEW(level) (&(level)->store.view)

mg_status_t mg_halo(mg_level_t *level, mg_vector_t vec, bool box) {
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_run(box ? level->halo_box : level->halo, vec, vec));
  return MG_OK;
}

mg_status_t mg_halo_deep(mg_level_t *level, mg_vector_t vec) {
  if (!level->halo_deep) return MG_OK;
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_run(level->halo_deep, vec, vec));
  return MG_OK;
}

mg_status_t mg_residual(mg_level_t *level, mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
  if (!level->comm) return MG_OK;
  MG_TRY(mg_halo(level, x, false));
  return mg_residual_inside(level, dst, x, f);
}

mg_status_t mg_residual_inside(mg_level_t *level, mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_RESIDUAL, level->backend->residual(VIEW(level), dst, x, f));
  return MG_OK;
}

/* A reduction on one rank needs no communication and is not counted. */
static void count_reduction(mg_level_t *level) {
  level->timers.traffic.reductions += mg_comm_size(level->comm) > 1;
}

mg_status_t mg_max_over_ranks(mg_level_t *level, double *norm) {
  count_reduction(level);
  MG_TIMED(level, MG_TIME_VECTOR, mg_comm_max(level->comm, norm, 1));
  return MG_OK;
}

mg_status_t mg_residual_norm(mg_level_t *level, mg_vector_t x, mg_vector_t f, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TRY(mg_halo(level, x, false));
  return mg_residual_norm_inside(level, x, f, norm);
}

mg_status_t mg_residual_norm_inside(mg_level_t *level, mg_vector_t x, mg_vector_t f, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  const mg_backend_fused_t *fused = level->backend->fused;
  if (!fused || !fused->residual_norm) {
    const mg_vector_t residual = x == MG_TMP ? MG_U : MG_TMP;
    MG_TRY(mg_residual_inside(level, residual, x, f));
    return mg_max_norm(level, residual, MG_NO_VECTOR, norm);
  }
  MG_TIMED(level, MG_TIME_RESIDUAL, fused->residual_norm(VIEW(level), x, f, norm));
  return mg_max_over_ranks(level, norm);
}

mg_status_t mg_residual_norm_begin(const mg_level_t *level) {
  return level->comm ? level->backend->fused->norm_begin() : MG_OK;
}

mg_status_t mg_residual_norm_end(mg_level_t *level, double *norm) {
  MG_TIMED(level, MG_TIME_SMOOTH, level->backend->fused->norm_end(norm));
  return mg_max_over_ranks(level, norm);
}

mg_status_t mg_copy_once(const mg_backend_t *backend, const mg_copy_job_t *job, mg_vector_t src,
                         mg_vector_t dst) {
  mg_copies_t *copies;
  if (job->n == 0) return MG_OK;
  MG_TRY(backend->prepare_copies(job, &copies));
  mg_status_t status = backend->copy(copies, src, dst);
  /* A copy in flight still reads the list. */
  if (status == MG_OK && backend->queue.wait) status = backend->queue.wait();
  backend->release_copies(copies);
  return status;
}

mg_status_t mg_fill(mg_level_t *level, mg_vector_t dst, double value) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->fill(VIEW(level), dst, value));
  return MG_OK;
}

static mg_status_t combine(mg_level_t *level, mg_combination_t c, mg_vector_t dst, double alpha,
                           mg_vector_t x, double beta, mg_vector_t y) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->combine(VIEW(level), c, dst, alpha, x, beta, y));
  return MG_OK;
}

mg_status_t mg_axpby(mg_level_t *level, mg_vector_t dst, double alpha, mg_vector_t x, double beta,
                     mg_vector_t y) {
  return combine(level, MG_AXPBY, dst, alpha, x, beta, y);
}

mg_status_t mg_shift(mg_level_t *level, mg_vector_t dst, mg_vector_t x, double value) {
  return combine(level, MG_SHIFT, dst, value, x, 0.0, MG_NO_VECTOR);
}

mg_status_t mg_multiply(mg_level_t *level, mg_vector_t dst, mg_vector_t x, mg_vector_t y) {
  return combine(level, MG_MULTIPLY, dst, 0.0, x, 0.0, y);
}

mg_status_t mg_max_norm(mg_level_t *level, mg_vector_t x, mg_vector_t y, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->max_norm(VIEW(level), x, y, norm));
  return mg_max_over_ranks(level, norm);
}

mg_status_t mg_world_norm(mg_level_t *level, mg_vector_t x, mg_vector_t y, double *norm) {
  MG_TRY(mg_max_norm(level, x, y, norm));
  return mg_comm_max(mg_comm_world(), norm, 1);
}

mg_status_t mg_dot(mg_level_t *level, mg_vector_t x, mg_vector_t y, double *dot) {
  *dot = 0.0;
  if (!level->comm) return MG_OK;
  mg_sum_t sum = {{0}};
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->dot(VIEW(level), x, y, &sum));
  count_reduction(level);
  MG_TIMED(level, MG_TIME_VECTOR, mg_comm_sum_exact(level->comm, &sum));
  *dot = mg_sum_value(&sum);
  return MG_OK;
}

mg_status_t mg_mean(mg_level_t *level, mg_vector_t x, double *mean) {
  MG_TRY(mg_dot(level, x, MG_NO_VECTOR, mean));
  const int32_t *n = VIEW(level)->n;
  *mean /= (double)n[0] * n[1] * n[2];
  return MG_OK;
}

/* x += (mean - sum(x weight) / cells) scale */
static mg_status_t set_mean(mg_level_t *level, mg_vector_t x, mg_vector_t weight, mg_vector_t scale,
                            double mean) {
  const mg_backend_t *backend = level->backend;
  const int32_t *n = VIEW(level)->n;
  double sum;
  if (!level->comm) return MG_OK;
  if (backend->queue.set_mean && mg_comm_size(level->comm) == 1) {
    MG_TIMED(level, MG_TIME_VECTOR, backend->queue.set_mean(VIEW(level), x, weight, scale, mean));
    return MG_OK;
  }
  MG_TRY(mg_dot(level, x, weight, &sum));
  const double shift = mean - sum / ((double)n[0] * n[1] * n[2]);
  return scale == MG_NO_VECTOR ? mg_shift(level, x, x, shift)
                               : mg_axpby(level, x, 1.0, x, shift, scale);
}

/* The volumes of cells, where means count them. */
static mg_vector_t volumes_of(const mg_level_t *level) {
  return level->plan->vectors & 1u << MG_ALPHA ? MG_ALPHA : MG_NO_VECTOR;
}

mg_status_t mg_set_mean(mg_level_t *level, mg_vector_t x, double mean) {
  if (!mg_is_singular(VIEW(level))) return MG_OK;
  return set_mean(level, x, volumes_of(level), MG_NO_VECTOR, mean);
}

mg_status_t mg_remove_rhs_mean(mg_level_t *level) {
  return set_mean(level, MG_F, MG_NO_VECTOR, volumes_of(level), 0.0);
}
