#include "solver/reference.h"
#include "comm/comm.h"
#include "level/ops.h"
#include "level/wall_faces.h"
#include "params/params_wings.h"
#include <float.h>
#include <math.h>

/* Rounding of MG_F - A c in a cell at up to three walls, by max |MG_F|: each wall adds a term to f
 * and a flux to A c, of a few operations each. */
enum { MAX_ROUNDINGS = 16 };

typedef struct {
  double low, high;
} range_t;

/* max |value of a side - shift| */
static mg_status_t norm_of_values(mg_hierarchy_t *h, int d, int side, double shift, double *norm) {
  mg_level_t *level = &h->level[0];
  MG_TRY(mg_fill(level, MG_U, shift));
  MG_TRY(mg_wall_values_put(h, d, side));
  MG_TRY(mg_shift(level, MG_U, MG_U, -shift));
  return mg_world_norm(level, MG_U, MG_NO_VECTOR, norm);
}

/* The range of values that differ from face to face, from maximum norms, which are those of any
 * ranks. */
static mg_status_t range_of_values(mg_hierarchy_t *h, int d, int side, range_t *range) {
  double largest, above, below;
  MG_TRY(norm_of_values(h, d, side, 0.0, &largest));
  MG_TRY(norm_of_values(h, d, side, -largest, &above));
  MG_TRY(norm_of_values(h, d, side, largest, &below));
  *range = (range_t){largest - below, above - largest};
  return MG_OK;
}

/* Extend the range by u on a side. */
static mg_status_t add_side(mg_hierarchy_t *h, int d, int side, range_t *range) {
  const mg_side_t *c = &h->params.side[d][side];
  range_t of_side = {c->value, c->value};
  if (!(c->u > 0.0)) return MG_OK;
  if (c->varies) MG_TRY(range_of_values(h, d, side, &of_side));
  range->low = fmin(range->low, of_side.low / c->u);
  range->high = fmax(range->high, of_side.high / c->u);
  return MG_OK;
}

mg_status_t mg_reference_choose(mg_hierarchy_t *h) {
  range_t range = {INFINITY, -INFINITY};
  h->reference = (mg_reference_t){0};
  if (!mg_params_has_wall_values(&h->params)) return MG_OK;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      MG_TRY(add_side(h, d, side, &range));
  if (!(range.low <= range.high)) return MG_OK;
  h->reference.least = range.low;
  h->reference.greatest = range.high;
  return MG_OK;
}

/* max |MG_F - A c|, or f_norm = max |MG_F| if that is rounding. */
static mg_status_t norm_of(mg_hierarchy_t *h, double c, double f_norm, double *norm) {
  mg_level_t *level = &h->level[0];
  *norm = f_norm;
  if (c == 0.0) return MG_OK;
  MG_TRY(mg_fill(level, MG_U, c));
  MG_TRY(mg_residual_norm(level, MG_U, MG_F, norm));
  MG_TRY(mg_comm_max(mg_comm_world(), norm, 1));
  if (!(*norm > MAX_ROUNDINGS * DBL_EPSILON * f_norm)) *norm = f_norm;
  return MG_OK;
}

mg_status_t mg_reference_set(mg_hierarchy_t *h) {
  mg_reference_t *r = &h->reference;
  const double middle = 0.5 * r->least + 0.5 * r->greatest, c[] = {r->least, middle, r->greatest};
  const int n = r->least == r->greatest ? 1 : 3;
  double f_norm, least_norm = INFINITY;
  if (!mg_reference_needs_u(h)) return MG_OK;
  MG_TRY(mg_world_norm(&h->level[0], MG_F, MG_NO_VECTOR, &f_norm));
  for (int i = 0; i < n; i++) {
    double norm;
    MG_TRY(norm_of(h, c[i], f_norm, &norm));
    if (norm >= least_norm) continue;
    least_norm = norm;
    r->u = c[i];
  }
  r->norm = r->u == 0.0 ? 0.0 : least_norm;
  return mg_fill(&h->level[0], MG_U, 0.0);
}
