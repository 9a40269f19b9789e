#include "level/transfer.h"
#include "backend/sweeps.h"
#include "formulas/walls.h"
#include "level/metric.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "wings.h"
#include <stdlib.h>

mg_interpolation_t mg_interpolation_of(mg_operator_t op, mg_cycle_t cycle) {
  const mg_operator_traits_t *t = mg_traits_of(op);
  return cycle == MG_CYCLE_F ? t->f : t->v;
}

/* Vector of the coarsened patches that holds values of coarse vector `vec`. */
static mg_vector_t half_vector(const mg_level_t *fine, mg_vector_t vec) {
  return fine->has_image ? MG_U : vec;
}

/* Wait before the CPU reads cells that a device wrote in shared memory. The other direction needs
 * no wait: a kernel sees what the host wrote before the launch. The host writes these cells again
 * only after the next restriction, which waits here. */
static mg_status_t wait_for_device(mg_level_t *fine) {
  if (!fine->plan[1].shared || !fine->backend->queue.wait) return MG_OK;
  MG_TIMED(fine, MG_TIME_HALO, fine->backend->queue.wait());
  return MG_OK;
}

/* Send restricted values to the memory of the coarse level. */
static mg_status_t send_to_coarse(mg_level_t *fine, mg_vector_t dst) {
  if (!fine->has_image) return wait_for_device(fine);
  MG_TIMED(fine, MG_TIME_HALO, mg_exchange_run(fine->gather, MG_U, dst));
  return MG_OK;
}

mg_status_t mg_restrict(mg_hierarchy_t *h, int l, mg_vector_t src, mg_vector_t dst) {
  mg_level_t *fine = &h->level[l];
  if (fine->comm)
    MG_TIMED(fine, MG_TIME_RESTRICT,
             fine->backend->restrict_cells(&fine->store.view, src, mg_level_coarse_view(h, l),
                                           half_vector(fine, dst)));
  return send_to_coarse(fine, dst);
}

bool mg_level_restricts_residual(const mg_level_t *level) {
  const mg_backend_fused_t *fused = level->backend->fused;
  return fused && fused->residual_restrict && level->plan->halves;
}

mg_status_t mg_residual_restrict(mg_hierarchy_t *h, int l, mg_vector_t x, bool has_halo) {
  mg_level_t *fine = &h->level[l];
  const mg_view_t *view = &fine->store.view;
  if (fine->comm && !has_halo) MG_TRY(mg_halo(fine, x, false));
  if (!mg_level_restricts_residual(fine)) {
    MG_TRY(mg_residual_inside(fine, mg_other_vector(x), x, MG_F));
    return mg_restrict(h, l, mg_other_vector(x), MG_F);
  }
  if (fine->comm)
    MG_TIMED(fine, MG_TIME_RESIDUAL,
             fine->backend->fused->residual_restrict(view, x, MG_F, mg_level_coarse_view(h, l),
                                                     half_vector(fine, MG_F)));
  return send_to_coarse(fine, MG_F);
}

/* Exchange face values once. Used only in set-up, so the exchange is freed after the run. */
static mg_status_t run_face_exchange(mg_copy_spec_t spec, mg_end_t src, mg_vector_t src_vec,
                                     mg_end_t dst, mg_vector_t dst_vec) {
  mg_exchange_t *exchange;
  MG_TRY(mg_exchange_create(&spec, src, dst, NULL, &exchange));
  mg_status_t status = mg_exchange_run(exchange, src_vec, dst_vec);
  /* Copies in flight still read the lists and buffers freed below. */
  if (status == MG_OK && dst.backend->queue.wait) status = dst.backend->queue.wait();
  mg_exchange_free(exchange);
  return status;
}

/* Restrict the betas normal to d of this rank's patches. */
static mg_status_t restrict_faces(mg_hierarchy_t *h, int l, int d) {
  mg_level_t *fine = &h->level[l];
  mg_face_factor_t *factor = NULL;
  if (!fine->comm) return MG_OK;
  MG_IF_DOMAINS(if (fine->plan->layout.general) MG_TRY(mg_metric_of_faces(h, l, d, &factor)));
  const mg_status_t status = fine->backend->restrict_faces(
      &fine->store.view, d, mg_level_coarse_view(h, l), half_vector(fine, MG_BETA_I + d), factor);
  free(factor);
  return status;
}

mg_status_t mg_restrict_betas(mg_hierarchy_t *h, int l) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  const mg_view_t *v = &fine->store.view;
  for (int d = 0; d < 3; d++) {
    const mg_vector_t beta = MG_BETA_I + d;
    MG_TRY(restrict_faces(h, l, d));
    if (!fine->has_image) {
      MG_TRY(wait_for_device(fine));
      continue;
    }
    const mg_copy_spec_t spec = {
        .src = {.layout = &fine->plan->layout, .halved = true},
        .dst = {.layout = &coarse->plan->layout},
        .interior = true,
        .face_dir = d,
        .periodic = {mg_is_periodic(v, 0), mg_is_periodic(v, 1), mg_is_periodic(v, 2)}};
    MG_TRY(run_face_exchange(spec, (mg_end_t){fine->backend, &fine->image.view, NULL}, MG_U,
                             (mg_end_t){coarse->backend, &coarse->store.view, NULL}, beta));
  }
  return MG_OK;
}

mg_status_t mg_halo_betas(mg_hierarchy_t *h, int l) {
  mg_level_t *level = &h->level[l];
  const mg_view_t *v = &level->store.view;
  const mg_end_t end = {level->backend, v, NULL};
  const mg_distribution_t here = {.layout = &level->plan->layout};
  for (int d = 0; d < 3; d++) {
    const mg_copy_spec_t spec = {
        .src = here,
        .dst = here,
        .depth = level->plan->ghost_layers,
        .face_dir = d,
        .periodic = {mg_is_periodic(v, 0), mg_is_periodic(v, 1), mg_is_periodic(v, 2)}};
    MG_TRY(run_face_exchange(spec, end, MG_BETA_I + d, end, MG_BETA_I + d));
  }
  return MG_OK;
}

mg_status_t mg_fill_coarse_ghosts(mg_hierarchy_t *h, int l, mg_interpolation_t kind,
                                  bool has_ghosts) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  const mg_view_t *half = mg_level_coarse_view(h, l);
  const mg_backend_fused_t *fused = fine->backend->fused;
  if (fine->has_image)
    MG_TIMED(fine, MG_TIME_HALO, mg_exchange_run(fine->scatter, MG_U, MG_U));
  else if (kind != MG_INTERPOLATE_P0 && !has_ghosts)
    MG_TRY(mg_halo(coarse, MG_U, true));
  if (!fine->comm) return MG_OK;
  if (kind != MG_INTERPOLATE_P0 &&
      !(fine->plan->halves && fused && fused->folds_walls && fused->folds_walls(half, kind)))
    MG_TIMED(fine, MG_TIME_INTERPOLATE,
             fine->backend->fill_wall_ghosts(half, MG_U, mg_interpolation_order(kind)));
  return MG_OK;
}

mg_status_t mg_interpolate(mg_hierarchy_t *h, int l, mg_interpolation_t kind, mg_vector_t dst,
                           bool add, bool has_ghosts) {
  mg_level_t *fine = &h->level[l];
  MG_TRY(mg_fill_coarse_ghosts(h, l, kind, has_ghosts));
  if (fine->comm)
    MG_TIMED(fine, MG_TIME_INTERPOLATE,
             fine->backend->interpolate(mg_level_coarse_view(h, l), MG_U, &fine->store.view, dst,
                                        kind, add));
  return MG_OK;
}

/* ---- legs ---- */

/* Interpolate before the smooth, or fill the ghosts that its first sweep reads. It also
 * interpolates to fine ghosts, from all layers of coarse ones. */
static mg_status_t begin_leg(mg_hierarchy_t *h, int l, const mg_leg_t *leg,
                             mg_resident_use_t *use) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  const bool add = leg->start == MG_FROM_CORRECTION;
  if (leg->start < MG_FROM_COARSE) return MG_OK;
  if (!mg_smooth_interpolates(fine))
    return mg_interpolate(h, l, leg->kind, add ? fine->descended : MG_U, add,
                          leg->coarse_is_smoothed && mg_smooth_fills_ghosts(coarse));
  if (fine->has_image)
    MG_TIMED(fine, MG_TIME_HALO, mg_exchange_run(fine->scatter, MG_U, MG_U));
  else if (mg_smooth_is_resident(fine) && !mg_smooth_fills_ghosts(fine))
    ; /* it has no ghosts that are copies */
  else if (coarse->halo_deep)
    MG_TRY(mg_halo_deep(coarse, MG_U));
  else
    MG_TRY(mg_halo(coarse, MG_U, true));
  use->source = mg_level_coarse_view(h, l);
  use->src = MG_U;
  use->kind = leg->kind;
  return MG_OK;
}

mg_status_t mg_leg_run(mg_hierarchy_t *h, int l, const mg_leg_t *leg) {
  mg_level_t *level = &h->level[l];
  mg_resident_use_t use = {.source = NULL};
  MG_TRY(begin_leg(h, l, leg, &use));
  if (leg->end == MG_TO_SOLUTION) return mg_smooth_from(level, leg->start, &use, MG_U);
  use.has_residual = mg_smooth_has_residual(level, leg->start);
  if (leg->end == MG_TO_NORM) {
    use.dst = MG_NO_VECTOR;
    return mg_smooth_from(level, leg->start, &use, MG_U);
  }
  use.coarse = mg_level_coarse_view(h, l);
  use.dst = half_vector(level, MG_F);
  MG_TRY(mg_smooth_from(level, leg->start, &use, level->descended));
  return use.has_residual
             ? send_to_coarse(level, MG_F)
             : mg_residual_restrict(h, l, level->descended, mg_smooth_fills_ghosts(level));
}
