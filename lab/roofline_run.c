/* Operations of the roofline ladder, through the interfaces that a cycle uses. */
#include "lab/roofline.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"

mg_status_t roofline_run(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  mg_level_t *fine = &h->level[0];
  const mg_interpolation_t v = mg_interpolation_of(h->params.op, MG_CYCLE_V),
                           f = mg_interpolation_of(h->params.op, MG_CYCLE_F);
  switch (kind) {
  case ROOFLINE_SMOOTHS:
    return mg_smooth(fine, false);
  case ROOFLINE_FIRST: /* as on the first visit to a level: the guess is in no vector */
    return fine->backend->smooth(
        &fine->store.view, &(mg_sweep_t){&fine->steps[0], 1, MG_NO_VECTOR, -1, MG_U, MG_NO_VECTOR},
        MG_REGION_ALL);
  case ROOFLINE_RESIDUAL:
    return mg_residual(fine, MG_TMP, MG_U, MG_F);
  case ROOFLINE_RESIDUAL_NORM:
    return mg_residual_norm(fine, MG_U, MG_F, number);
  case ROOFLINE_RESTRICTS_RESIDUAL:
    return mg_residual_restrict(h, 0);
  case ROOFLINE_RESTRICTS:
    return mg_restrict(h, 0, MG_U, MG_F);
  case ROOFLINE_CORRECTS:
    return mg_interpolate(h, 0, v, true);
  case ROOFLINE_INTERPOLATES:
    return mg_interpolate(h, 0, f, false);
  case ROOFLINE_AXPBY:
    return mg_axpby(fine, MG_TMP, ROOFLINE_ALPHA, MG_U, ROOFLINE_BETA, MG_F);
  case ROOFLINE_MULTIPLIES:
    return mg_multiply(fine, MG_TMP, MG_U, MG_F);
  case ROOFLINE_SHIFTS:
    return mg_shift(fine, MG_TMP, MG_U, ROOFLINE_ALPHA);
  case ROOFLINE_SCALES:
    return mg_axpby(fine, MG_TMP, ROOFLINE_ALPHA, MG_U, 0.0, MG_NO_VECTOR);
  case ROOFLINE_FILLS:
    return mg_fill(fine, MG_TMP, ROOFLINE_ALPHA);
  case ROOFLINE_MAX_NORM:
    return mg_max_norm(fine, MG_U, MG_NO_VECTOR, number);
  case ROOFLINE_DIFFERENCE:
    return mg_max_norm(fine, MG_U, MG_F, number);
  case ROOFLINE_HALO:
    return mg_halo(fine, MG_U, false);
  case ROOFLINE_DOT:
    return mg_dot(fine, MG_U, MG_F, number);
  case N_ROOFLINE:
    break;
  }
  return MG_ERR_INTERNAL;
}
