/* Coefficients, values of sides and right-hand sides, from the application's arrays to the levels.
 */
#include "api/solver.h"
#include "base/alloc.h"
#include "comm/comm.h"
#include "formulas/walls.h"
#include "level/metric.h"
#include "level/ops.h"
#include "level/wall_faces.h"
#include "solver/cycle_wings.h"
#include "solver/reference.h"
#include "solver/solids.h"
#include "wings.h"
#include <stdlib.h>
#include <string.h>

static double one = 1.0;

static void set_to_1(hpgmg_solver_t *s) {
  for (int f = 0; f < MG_API_F; f++)
    s->field[f] = f >= MG_API_CELL_BETA || (f == MG_API_ALPHA && !s->has_alpha) ? NULL : s->ones;
}

mg_status_t mg_api_create_coefficients(hpgmg_solver_t *s) {
  const int n = mg_boxes_count(s->boxes);
  MG_TRY(mg_comm_agree(mg_new(&s->ones, n, "boxes")));
  for (int box = 0; box < n; box++)
    s->ones[box] = (hpgmg_array_t){.data = &one};
  set_to_1(s);
  return MG_OK;
}

void mg_api_free_coefficients(hpgmg_solver_t *s) {
  free(s->ones);
}

/* Then close the patches by the faces of their neighbors. */
static mg_status_t load_faces(hpgmg_solver_t *s, int d) {
  mg_level_t *level = &s->h->level[0];
  MG_TRY(mg_boxes_store(s->boxes, s->field[d], d, MG_BETA_I + (mg_vector_t)d));
  return level->comm ? mg_halo(level, MG_BETA_I + (mg_vector_t)d, false) : MG_OK;
}

static mg_status_t load_cell_beta(hpgmg_solver_t *s) {
  MG_TRY(mg_boxes_store(s->boxes, s->field[MG_API_CELL_BETA], MG_CELLS, MG_U));
  return mg_metric_average_betas(s->h);
}

static mg_status_t load(void *data, mg_hierarchy_t *h) {
  hpgmg_solver_t *s = data;
  (void)h;
  if (s->by_cells)
    MG_TRY(load_cell_beta(s));
  else
    for (int d = 0; d < 3; d++)
      MG_TRY(load_faces(s, d));
  if (s->has_mask) MG_TRY(mg_boxes_store(s->boxes, s->field[MG_API_MASK], MG_CELLS, MG_U));
  MG_IF_SOLIDS(if (s->has_mask) MG_TRY(mg_solids_take_mask(h)));
  if (!s->has_alpha) return MG_OK;
  return mg_boxes_store(s->boxes, s->field[MG_API_ALPHA], MG_CELLS, MG_ALPHA);
}

mg_status_t mg_api_set_up(hpgmg_solver_t *s) {
  const mg_problem_source_t source = {.load = load, .data = s, .sets_coefficients = true};
  s->ready = s->usable = false; /* until all is set up */
  const mg_allocator_t *const before =
      mg_allocator_enter(s->allocator.allocate ? &s->allocator : NULL);
  const mg_status_t status = mg_problem_set_from(s->h, &source);
  (void)mg_allocator_enter(before);
  MG_TRY(status);
  s->plan = s->h->plan;
  mg_api_note_method(s, &s->h->params);
  MG_IF_CHOICES(MG_TRY(mg_strip_size_choose(&s->params, s->h, &s->placement.strips)));
  MG_IF_COARSE(MG_TRY(mg_comm_agree_or_end(mg_graph_capture(s->h, 0))));
  const bool alone = mg_comm_size(mg_comm_world()) == 1,
             singular = mg_is_singular(&s->h->level[0].store.view);
  s->can_enqueue = s->h->graph[0][MG_KIND_FIRST] && !s->h->params.closes_cells &&
                   (alone || (!singular && mg_boxes_are_local(s->boxes)));
  s->ready = s->usable = true;
  return MG_OK;
}

/* A solver and the right-hand side that it is given. */
typedef struct {
  hpgmg_solver_t *s;
  const hpgmg_array_t *f;
} given_t;

static mg_status_t load_f(void *data, mg_hierarchy_t *h) {
  const given_t *g = data;
  (void)h;
  return mg_boxes_store(g->s->boxes, g->f, MG_CELLS, MG_F);
}

mg_status_t mg_api_set_rhs(hpgmg_solver_t *s, const hpgmg_array_t *f, bool enqueued) {
  given_t given = {s, f};
  return mg_problem_set_rhs(s->h, load_f, &given, enqueued);
}

mg_status_t mg_api_set_coefficients(hpgmg_solver_t *s, const hpgmg_coefficients_t *c) {
  MG_TRY(mg_comm_agree(c ? MG_OK : mg_error(MG_ERR_USAGE, "coefficients is NULL")));
  const hpgmg_array_t *const field[MG_API_F] = {c->beta[0], c->beta[1],   c->beta[2],
                                                c->alpha,   c->cell_beta, c->mask};
  bool by_cells, has_mask;
  MG_TRY(mg_api_check_coefficients(s, field, &by_cells, &has_mask));
  s->by_cells = by_cells;
  s->has_mask = has_mask;
  memcpy(s->field, field, sizeof field);
  const mg_status_t status = mg_api_set_up(s);
  s->by_cells = s->has_mask = false;
  set_to_1(s); /* the caller's arrays may end */
  return status;
}

static mg_status_t set_sides(hpgmg_solver_t *s, const hpgmg_sides_t *sides,
                             const bool given[3][2]) {
  mg_level_t *level = &s->h->level[0];
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      if (!given[d][side]) continue;
      MG_TRY(mg_boxes_store(s->boxes, sides->values[d][side], mg_cells_at(d, side), MG_U));
      MG_TRY(mg_wall_values_save(s->h, d, side));
    }
  MG_TRY(mg_fill(level, MG_U, 0.0));
  return level->backend->queue.wait ? level->backend->queue.wait() : MG_OK;
}

mg_status_t mg_api_set_sides(hpgmg_solver_t *s, const hpgmg_sides_t *sides) {
  bool given[3][2];
  MG_TRY(mg_api_check_sides(s, sides, given));
  s->usable = false;
  MG_TRY(mg_comm_agree_or_end(set_sides(s, sides, given)));
  for (int n = 0; n < 6; n++)
    s->h->params.side[n / 2][n % 2].varies |= given[n / 2][n % 2];
  MG_TRY(mg_comm_agree_or_end(mg_reference_choose(s->h)));
  s->usable = true;
  return MG_OK;
}
