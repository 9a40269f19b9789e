#include "level/mixed.h"

#define VIEW(level) (&(level)->store.view)

mg_status_t mg_lower(mg_level_t *level, mg_level_t *low, mg_vector_t src, mg_vector_t dst,
                     double scale) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR,
           level->backend->mixed->lower(VIEW(level), src, VIEW(low), dst, scale));
  return MG_OK;
}

mg_status_t mg_raise(mg_level_t *level, mg_level_t *low, double scale, bool add) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR,
           level->backend->mixed->raise(VIEW(level), MG_U, VIEW(low), MG_U, scale, add));
  return MG_OK;
}

mg_status_t mg_lower_residual(mg_level_t *level, mg_level_t *low, double scale, double *norm) {
  if (norm) *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TRY(mg_halo(level, MG_U, false));
  MG_TIMED(level, MG_TIME_RESIDUAL,
           level->backend->mixed->residual(VIEW(level), MG_U, MG_F, VIEW(low), MG_F, scale, norm));
  return norm ? mg_max_over_ranks(level, norm) : MG_OK;
}

mg_status_t mg_lower_guess_residual(mg_level_t *level, mg_level_t *low, const mg_guess_t *guess,
                                    double scale) {
  MG_TIMED(level, MG_TIME_RESIDUAL,
           level->backend->mixed->guess_residual(VIEW(level), guess, MG_F, VIEW(low), MG_F, scale));
  return MG_OK;
}

mg_status_t mg_correct_guess(mg_level_t *level, mg_level_t *low, const mg_guess_t *guess,
                             double scale) {
  MG_TIMED(level, MG_TIME_INTERPOLATE,
           level->backend->mixed->guess_correct(VIEW(level), MG_U, guess, VIEW(low), MG_U, scale));
  return MG_OK;
}

mg_status_t mg_correct_guess_norm(mg_level_t *level, mg_level_t *low, const mg_guess_t *guess,
                                  double scale, double residual_scale) {
  const mg_vector_t r = residual_scale != 0.0 ? MG_F : MG_NO_VECTOR;
  MG_TRY(mg_residual_norm_begin(level));
  MG_TIMED(level, MG_TIME_RESIDUAL,
           level->backend->mixed->guess_correct_residual(VIEW(level), MG_U, guess, VIEW(low), MG_U,
                                                         scale, MG_F, r, residual_scale));
  return MG_OK;
}
