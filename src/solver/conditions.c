#include "solver/conditions.h"
#include "backend/domains.h"
#include "level/wall_faces.h"
#include "plan/domain_plan.h"

mg_status_t mg_conditions_add_side(mg_hierarchy_t *h, int d, int side, const mg_side_t *condition,
                                   bool with_alpha, mg_vector_t values) {
  const mg_level_t *level = &h->level[0];
  const int32_t at = side == 0 ? 0 : level->plan->layout.n[d] - 1;
  mg_view_t v = level->store.view;
  if (!level->comm) return MG_OK;
  v.alpha_varies = v.alpha_varies && with_alpha;
  return level->backend->domains->set_wall(
      &v, d, side, condition, mg_plan_width(level->plan, &h->params, 0, d, at), values);
}

static mg_status_t add_condition(mg_hierarchy_t *h, mg_wall_loader_t *load, void *data, int d,
                                 int side, bool with_alpha) {
  const mg_side_t *condition = &h->params.side[d][side];
  if (!condition->varies)
    return mg_conditions_add_side(h, d, side, condition, with_alpha, MG_NO_VECTOR);
  if (load) MG_TRY(load(data, h, d, side));
  if (load) MG_TRY(mg_wall_values_save(h, d, side));
  if (!load) MG_TRY(mg_wall_values_put(h, d, side));
  MG_TRY(mg_conditions_add_side(h, d, side, condition, with_alpha, MG_U));
  return load ? MG_OK : mg_wall_values_restore(h, d, side);
}

mg_status_t mg_conditions_add(mg_hierarchy_t *h, mg_wall_loader_t *load, void *data,
                              bool with_alpha) {
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2 && !mg_params_is_periodic(&h->params, d); side++)
      MG_TRY(add_condition(h, load, data, d, side, with_alpha));
  return MG_OK;
}
