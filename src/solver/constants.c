#include "backend/sweeps.h"
#include "solver/cycle_wings.h"
#include <math.h>
#include <stdlib.h>

static bool same_constants(const mg_constant_betas_t *a, const mg_constant_betas_t *b) {
  bool same = a->is == b->is;
  for (int d = 0; d < 3; d++)
    same = same && a->inside[d] == b->inside[d] && a->side[d][0] == b->side[d][0] &&
           a->side[d][1] == b->side[d][1];
  return same;
}

/* The constants of bounds over all ranks. */
static mg_constant_betas_t constants_of(const mg_beta_bounds_t *bounds) {
  mg_constant_betas_t c = {.is = true};
  for (int d = 0; d < 3; d++) {
    c.inside[d] = bounds->most[d][0];
    c.is = c.is && isfinite(c.inside[d]) && c.inside[d] == -bounds->minus_least[d][0];
    for (int side = 0; side < 2; side++) {
      const double beta = bounds->most[d][1 + side];
      const bool none = beta == -INFINITY;
      c.is = c.is && (none || beta == -bounds->minus_least[d][1 + side]);
      c.side[d][side] = none ? 0.0 : beta;
    }
  }
  return c.is ? c : (mg_constant_betas_t){.is = false};
}

mg_status_t mg_find_constants(mg_hierarchy_t *h, int l) {
  mg_level_t *level = &h->level[l];
  const mg_backend_fused_t *fused = level->backend->fused;
  mg_view_t *v = &level->store.view;
  mg_beta_bounds_t bounds = mg_no_bounds();
  mg_constant_betas_t c = {.is = false};
  if (level->comm && fused && fused->bound_betas && mg_has_path(v->op, MG_PATH_FUSED_ALL) &&
      !h->params.closes_cells) {
    MG_TRY(fused->bound_betas(v, &bounds));
    MG_TRY(mg_comm_max(level->comm, &bounds.most[0][0], 9));
    MG_TRY(mg_comm_max(level->comm, &bounds.minus_least[0][0], 9));
    c = constants_of(&bounds);
  }
  if (l == 0) h->params.constant_beta = c.is;
  if (same_constants(&c, &v->constant)) return MG_OK;
  h->has_smoothers = false;
  free(v->constant.rows);
  v->constant = c;
  const bool prepares = c.is && fused->constant_rows && !v->alpha_varies &&
                        h->params.smoother != MG_SMOOTHER_L1JACOBI;
  return prepares ? fused->constant_rows(v) : MG_OK;
}
